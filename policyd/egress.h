/*
 * Egress as the broker sees it: the channel to egressd, which neurons have
 * listeners there, what was granted to them, what was denied, and the calls
 * that egressd itself carries out (fetch, request_egress).
 *
 *	LISTENER (neurond) -> EGRESS_OPEN, EGRESS_GRANT of what is in force,
 *	EGRESS_CALL of what runs
 *
 * A new egressd gets all of that again: neurond is asked for its listeners
 * once more.  While there is none nothing is let out, and calls go on.
 */
#ifndef MYELIN_POLICYD_EGRESS_H
#define MYELIN_POLICYD_EGRESS_H

#include <stdint.h>

#include <jansson.h>

#include "imsg.h"
#include "text.h"

struct call;
struct egress;
struct event_base;
struct judgement;
struct neuron;

#define EGRESS_ONCE_US	UINT64_C(600000000)	/* what is granted once */

extern const struct channel_ops egress_ops;

/* ---- the channel (egress.c) ---- */

void	egress_plumb(int fd, struct event_base *);
/* Forgets the channel; the calls that it carried out end. */
void	egress_lost(void);
int	egress_up(void);
/*
 * Handles what has come from egressd by now: before a call ends, so that no
 * denial comes too late for it.
 */
void	egress_drain(void);

/* LISTENER of neurond's channel. */
int	egress_on_listener(void *, struct imsg *);
/* It is gone, and what is kept of it here. */
void	egress_neuron_gone(struct neuron *);
/* JUDGE_F_EGRESS and JUDGE_F_GRANTS, for a call's neuron, made or not. */
unsigned egress_flags(const struct call *);

/* Writes down what is summed up (egress_log.c): now and then, at the end. */
void	egress_chores(void);

/* ---- calls (egress_run.c) ---- */

/* EGRESS_CALL: neurond is about to have it.  egress_over() is its end, and
 * frees what is kept of egress in a call. */
void	egress_begin(struct call *);
void	egress_over(struct call *);
/* What only a session can have: a verdict that is milder is lifted. */
void	egress_restrict(const struct call *, struct judgement *);
/*
 * Has egressd carry the call out, once its neuron is up.  It is told
 * STEP_LAUNCHED and STEP_RUNNING as others are, and ends in any case.
 */
void	egress_run(struct call *);
void	egress_neuron_up(struct call *);
/* Kills it: it has ended within a second, whatever egressd does. */
void	egress_stop(struct call *, enum end_cause);

/* ---- grants (egress_grant.c) ---- */

/* What this approval granted is taken back. */
void	egress_revoked(const char *approval);

/* ---- showing (egress_show.c) ---- */

/* Of a neuron: {listeners, grants}, or null. */
json_t	*egress_json(const struct neuron *);
/* For status: {state, neurons, grants}. */
json_t	*egress_status(void);
/* Adds what egressd denied while the call ran to its record's "denials", as
 * far as the whole fits into a message. */
void	egress_denials_put(const struct call *, struct text *record);

#endif
