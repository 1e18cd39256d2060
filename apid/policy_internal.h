/*
 * What the files of the channel to policyd share: questions under way.
 */
#ifndef APID_POLICY_INTERNAL_H
#define APID_POLICY_INTERNAL_H

#include <sys/queue.h>

#include "imsg.h"
#include "policy.h"

/* A question under way.  It outlives a client that leaves. */
struct pending {
	TAILQ_ENTRY(pending) entry;
	uint32_t	 request;
	struct conn	*conn;		/* NULL: gone, or told 503 */
	unsigned	 ticks;
	policy_fn	*fn;
	void		*arg;
	struct call	*call;		/* of an ASK */
	int		 clean;		/* secrets go from the answer */
	policy_page_fn	*page;		/* is told, whatever comes */
};

/* Holds the connection; NULL after answering. */
struct pending *pending_new(struct conn *, policy_fn *, void *arg);
/* The same for what changes something: policyd is told the request's id. */
struct pending *pending_act(struct conn *, policy_fn *, void *arg);
struct pending *pending_find(uint32_t request);
/* Takes it off the list; its connection, if still there, is released. */
void	pending_done(struct pending *);
/* While there is a question under way there is a channel. */
void	policy_send(struct imsg *);
/* The same for one that goes with the next, or when this turn is over. */
void	policy_send_before(struct imsg *);

/* policyd's words on who is connected (policy_peer.c). */
int	policy_on_peer_ok(void *, struct imsg *);
int	policy_on_peer_no(void *, struct imsg *);
int	policy_on_auth_no(void *, struct imsg *);

/* On calls (policy_call.c). */
int	policy_on_asked(void *, struct imsg *);
int	policy_on_call_same(void *, struct imsg *);
int	policy_on_call_judged(void *, struct imsg *);
int	policy_on_call_started(void *, struct imsg *);
int	policy_on_call_finished(void *, struct imsg *);
int	policy_on_transcribed(void *, struct imsg *);

/* On registered values, and the key to seal with (policy_secrets.c). */
int	policy_on_seal_key(void *, struct imsg *);
int	policy_on_secrets(void *, struct imsg *);
int	policy_on_secret(void *, struct imsg *);
int	policy_on_secrets_end(void *, struct imsg *);

/* On approvals (policy_approval.c). */
int	policy_on_call_asking(void *, struct imsg *);
int	policy_on_call_resolved(void *, struct imsg *);
int	policy_on_approval_shown(void *, struct imsg *);

#endif
