/*
 * Between call.c and call_end.c: the live calls, and their ends.
 */
#ifndef MYELIN_POLICYD_CALL_LIST_H
#define MYELIN_POLICYD_CALL_LIST_H

#include "call.h"

/* It has an id now, and a sequence for judged. */
void	call_list_begin(struct call *);
/* Another sequence: what judged said so far is of no call any more. */
void	call_list_again(struct call *);

/* A call that waits for a person is in none of its neuron's slots. */
void	call_slot_take(struct call *);
void	call_slot_leave(struct call *);

/* A verdict as preset and declaration have it. */
void	call_restrict(struct call *, struct judgement *);
/* Once: where it is told again, nothing is sent. */
void	call_tell_judged(struct call *);
/* Its neuron is made, where it is not yet, and it is launched. */
void	call_grant(struct call *);

/*
 * The one end of a call that was told of: record, CALL_FINISHED, row, kept
 * result; its neuron is let go and its memory freed.  words and end may be
 * NULL.
 */
void	call_finish(struct call *, enum call_state, const char *reason,
	    const char *words, const struct call_end *end);

#endif
