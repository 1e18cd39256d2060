/*
 * Approvals: the question to a person about one exact call.
 *
 *	ask -> (its neuron is made, where a workspace is to be known)
 *	    -> remembered: it starts
 *	    -> APPROVAL_PENDING, record, CALL_ASKING
 *	    -> DECIDE, record, sync -> (a slot) -> JUDGE once more -> it starts
 *
 * Whoever asked may leave meanwhile; a call ends for all the reasons that it
 * would otherwise, and its approval is cancelled then.  A call that waits for
 * a person is in no slot of its neuron.
 */
#ifndef MYELIN_POLICYD_APPROVAL_H
#define MYELIN_POLICYD_APPROVAL_H

#include <stdint.h>
#include <sys/queue.h>

#include <jansson.h>

#include "judge.h"
#include "store.h"

#define APPROVAL_DIGEST	32	/* bytes of a SHA-256 */
#define APPROVAL_LONG	4096	/* bytes that are too long to be overlooked */
#define APPROVAL_SEEN	16	/* operators that have seen it whole */
#define REMEMBERED_MAX	256	/* in force in a session */

struct api;
struct call;
struct event;
struct imsg;
struct peer;
struct query;
struct refusal;
struct reply_to;

/* What is approved: all of a call that its digest is of. */
struct approval_subject {
	const char	*principal;
	const char	*session;	/* "": sessionless */
	const char	*neuron;
	const char	*tool;
	const uint8_t	*declaration;	/* APPROVAL_DIGEST bytes */
	const uint8_t	*arguments;
	size_t		 arguments_size;
	const uint8_t	*run;		/* the run block */
	size_t		 run_size;
	const uint8_t	*input;		/* NULL: none */
	size_t		 input_size;
	uint64_t	 device;	/* of the workspace; both 0: none */
	uint64_t	 inode;
	uint32_t	 timeout;	/* ms */
	const struct limits *limits;
};

/*
 * Its SHA-256.  Without limits it is what a remembered approval is matched
 * by, and is no digest of the other kind.
 */
void	approval_digest(const struct approval_subject *, int with_limits,
	    uint8_t digest[APPROVAL_DIGEST]);

struct approval {
	TAILQ_ENTRY(approval) entry;
	struct approval_row row;
	struct call	*call;		/* NULL: it has started or is over */
	uint8_t		 digest[APPROVAL_DIGEST];
	uint8_t		 memory[APPROVAL_DIGEST];	/* without limits */
	uint64_t	 since;		/* on the steady clock */
	uint64_t	 deadline;
	struct event	*timer;
	int		 wants;		/* allowed, and waits for a slot */
	uid_t		 seen[APPROVAL_SEEN];
	unsigned	 nseen;
};
TAILQ_HEAD(approval_list, approval);

/* ---- asking (approval.c) ---- */

/* The verdict on the call is ask. */
void	approval_ask(struct call *);
/* The neuron that was made to know its workspace is up. */
void	approval_ready(struct call *);
/* The call ends: what still waits is cancelled.  Its approval is let go. */
void	approval_over(struct call *);
/* Nothing of a session is remembered any more. */
void	approvals_session_over(const char *session);
/* All that waits is cancelled: no new call begins while draining. */
void	approvals_drain(void);
/* What the process before left pending has expired.  0, or -1. */
int	approvals_recover(void);
/* This process ends; no call is left. */
void	approvals_end(void);

/* ---- among the files of approvals ---- */

const struct approval_list *approvals_all(void);
struct approval *approval_find(const char *id);
/* Both digests of a call as it is now, and the bytes that a person is shown;
 * any may be NULL.  0, or -1 if it can't be: its tool is gone, or too large. */
int	approval_digests(const struct call *, uint8_t digest[APPROVAL_DIGEST],
	    uint8_t memory[APPROVAL_DIGEST], uint64_t *bytes);
/* The state is in the row: written down, told to apid. */
void	approval_written(struct approval *);
void	approval_tell(const struct approval *);
/* It is no longer its call's; it stays if it is remembered. */
void	approval_detach(struct approval *);
/* Its time is over. */
void	approval_expire(struct approval *);
/* Its timer, anew. */
void	approval_arm(struct approval *);

/* ---- starting what was allowed (approval_start.c) ---- */

void	approval_start(struct call *);
/* The second verdict; the fds become the call's. */
void	approval_judged(struct call *, const struct judgement *, int run_fd,
	    int explanation_fd);
/* Calls that hold no slot of the host's. */
unsigned approvals_held(void);
/* A call has ended: whoever was allowed and waits for a slot may have it. */
void	approvals_slot(void);

/* ---- deciding (approval_decide.c) ---- */

/* DECIDE: arg is the operator's struct api. */
int	approval_on_decide(void *, struct imsg *);

/* ---- looking (approval_query.c) ---- */

/* As the API shows it; a may be NULL. */
json_t	*approval_json(const struct approval_row *, const struct approval *a);
json_t	*query_approvals(const struct query *, struct refusal *);
/* One: by APPROVAL_SHOWN while it waits (*q->answered is set then). */
json_t	*query_approval(const struct query *, struct refusal *);
/* For status: {pending, oldest_s}. */
json_t	*approvals_status(void);

#endif
