/*
 * Between call.c and call_end.c: the live calls, and their ends.
 */
#ifndef MYELIN_POLICYD_CALL_LIST_H
#define MYELIN_POLICYD_CALL_LIST_H

#include "call.h"

/* It has an id now, and a sequence for judged. */
void	call_list_begin(struct call *);

/*
 * The one end of a call that was told of: record, CALL_FINISHED, row, kept
 * result; its neuron is let go and its memory freed.  words and end may be
 * NULL.
 */
void	call_finish(struct call *, enum call_state, const char *reason,
	    const char *words, const struct call_end *end);

#endif
