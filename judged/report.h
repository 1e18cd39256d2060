/*
 * A judging in JSON, as "myelinctl judge" shows it.
 */
#ifndef JUDGED_REPORT_H
#define JUDGED_REPORT_H

#include <jansson.h>

#include "shell/judging.h"

/*
 * {verdict, class, effect, marks, rule, next, command, bytes} of what decided,
 * the worst effect and all marks of the whole; explained, "findings" lists
 * everything that was found, in its order.  NULL when memory is out.
 */
json_t	*report_judging(const struct judging *, int explain);

/*
 * A string of bytes that need not be UTF-8: then each byte over 0x7f is "?".
 * NULL when memory is out.
 */
json_t	*report_text(const char *, size_t len);
/* Marks as a list of their words. */
json_t	*report_marks(uint32_t marks);

#endif
