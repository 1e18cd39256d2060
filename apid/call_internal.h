/*
 * What call.c (the table and the end) and ask.c (the beginning) share.
 */
#ifndef APID_CALL_INTERNAL_H
#define APID_CALL_INTERNAL_H

#include <jansson.h>

#include "call.h"

void	 call_free(struct call *);
/*
 * The record of a call whose end policyd could not tell: failed, for that
 * reason; why: words for a person, or "".
 */
json_t	*call_failure(const struct call *, const char *reason,
	    const char *why);
char	*call_failure_text(const struct call *, const char *reason,
	    const char *why);

#endif
