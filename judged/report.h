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

#endif
