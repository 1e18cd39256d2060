/*
 * Idempotency keys: whoever asks again with the key of a call of theirs, and
 * asks for the same, is given that call: while it waits or runs, and for as
 * long as its result is kept.  A key is the principal's, and the session's
 * that the call is in; it is in the database, so that a call that was
 * interrupted stays that call.
 *
 * What counts as the same: tool, argument bytes, inline input, time, terminal
 * and, without a session, profile, workspace, preset and owner.  How the
 * answer is wanted does not.
 */
#ifndef MYELIN_POLICYD_IDEMPOTENT_H
#define MYELIN_POLICYD_IDEMPOTENT_H

#include <stdint.h>

#include "api.h"

#define KEY_SHA		32	/* bytes of a SHA-256 */
#define KEY_MORE	8	/* who ask for a call that waits for a neuron */

struct asked;
struct call;
struct refusal;

/* Of a call that was asked with one. */
struct call_key {
	int		 keyed;
	uint8_t		 key[KEY_SHA];	/* of principal, session and key */
	uint8_t		 same[KEY_SHA];	/* of what is asked */
	struct reply_to	 more[KEY_MORE];
	unsigned	 nmore;
};

/*
 * Looks at the key of a call whose principal and session are known.  0: a new
 * call, or no key; 1: it is another one, whose asker was or will be answered;
 * -1: refused.
 */
int	idempotent_look(struct call *, const struct asked *,
	    struct refusal *);
/* The call is there, or refused: who asked meanwhile learns it too. */
void	idempotent_asked(const struct call *);
void	idempotent_refused(const struct call *, const struct refusal *);
/* 1 if a call that waits for its neuron is the same as to what it is. */
int	idempotent_matches(const struct call *, const struct call_key *);
/* Forgets some keys of results that are no longer kept. */
void	idempotent_sweep(void);

#endif
