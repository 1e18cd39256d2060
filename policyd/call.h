/*
 * The life of a call.
 *
 *	ASK -> checks -> (a slot for its own neuron) -> JUDGE, record, ASKED
 *	    -> VERDICT -> record -> NEURON_MAKE, LAUNCH -> STARTED -> ENDED
 *	    -> record -> CALL_FINISHED
 *
 * Whatever comes in between, CALL_FINISHED is sent exactly once after ASKED.
 */
#ifndef MYELIN_POLICYD_CALL_H
#define MYELIN_POLICYD_CALL_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include <jansson.h>

#include "api.h"
#include "idempotent.h"
#include "judge.h"
#include "neuron.h"
#include "store.h"
#include "text.h"

struct approval;
struct egress_call;
struct hook_run;
struct session;

#define ARGUMENTS_MAX	(4 * 1024 * 1024)	/* a run block has 2 MiB */

/*
 * us that apid may wait for word of a call that was asked or judged, if its
 * client waits for the end: most end by then, and it hears of all at once.
 */
#define CALL_TELL_US	1000

enum call_step {
	STEP_WAITING,		/* for a slot; it has no id yet */
	STEP_JUDGING,
	STEP_HOOKS,		/* hooks look at it */
	STEP_ASKING,		/* its neuron is made, to know the workspace */
	STEP_AWAITING,		/* a person, or a slot once allowed */
	STEP_AGAIN,		/* allowed, and judged once more */
	STEP_LAUNCHED,		/* neurond has it */
	STEP_RUNNING		/* neurond said that the program runs */
};

/* What ENDED says. */
struct call_end {
	unsigned	 cause;
	int32_t		 exit_code;
	int32_t		 signal;
	uint64_t	 cpu_us;
	uint64_t	 peak_bytes;
	uint32_t	 leftover;
	unsigned	 flags;
	uint32_t	 queue_us, start_us, run_us, end_us;
	char		 detail[1024];
};

enum { CALL_ARGS, CALL_STDOUT, CALL_STDERR, CALL_INPUT, CALL_RUN,
	CALL_EXPLANATION, CALL_FDS };

struct call {
	RB_ENTRY(call)	 by_id;
	RB_ENTRY(call)	 by_sequence;
	TAILQ_ENTRY(call) entry;
	enum call_step	 step;
	struct call_row	 row;
	uint64_t	 sequence;	/* towards judged */
	struct ident	*ident;
	char		 who[PEER_WHO];
	struct session	*session;	/* NULL: sessionless */
	struct neuron	*neuron;	/* NULL: not yet, or gone */
	struct build	*build;		/* of a sessionless call's neuron */
	struct neuron_wait wait;
	struct reply_to	 to;		/* ASK's, and where events go */
	uint64_t	 handle;	/* ASK's */
	int		 told;		/* ASKED was sent */
	int		 told_verdict;	/* CALL_JUDGED was */
	char		 own[NAME_BYTES_MAX], preset[NAME_BYTES_MAX];
	char		 profile[NAME_BYTES_MAX]; /* its neuron's */
	struct limits	 limits;	/* of its profile, as they were */
	uint32_t	 timeout;	/* ms */
	uint8_t		 in;		/* STDIN_* */
	uint8_t		 pty;		/* it asked for a terminal */
	uint8_t		 dry_run;	/* only its verdict is wanted */
	uint8_t		 patient;	/* its end is waited for */
	unsigned	 signals;	/* that were sent to it */
	int		 slot;		/* it is one of its neuron's */
	struct hook_run	*hook;		/* that looks at it, or NULL */
	uint64_t	 hooked;	/* the set of hooks that let it pass */
	struct approval	*approval;	/* NULL: none, or let go */
	char		 approved[ID_SIZE];	/* its id, or "" */
	unsigned	 scope;		/* ALLOWED_* that it runs by */
	unsigned	 egress;	/* EGRESS_* of its tool; 0: a neuron's */
	struct egress_call *out;	/* what egress keeps of it, or NULL */
	int		 fds[CALL_FDS];
	char		 digest[SHA_HEX];	/* of the argument bytes */
	struct call_key	 key;
	char		*shown;		/* of them, without secrets; or NULL */
	uint8_t		 shown_cut;
	struct judgement judged;	/* verdict 0: not yet */
	const char	*denied_by;	/* a layer; NULL: judged */
	unsigned	 judgings;	/* times that judged was asked */
	int		 unasked;	/* judged has gone since */
	unsigned	 killing;	/* END_* that KILL said, 0: none */
	uint64_t	 t_ask, t_judge, t_verdict, t_launch;
	uint64_t	 layers;
	uint32_t	 neuron_us;
	unsigned	 gone;		/* GONE_* of its neuron, 0: none */
	char		 gone_why[512];
};

/* ---- asking ---- */

/* A call with no fds yet, to be filled by the agent's handlers. */
struct call *call_new(void);
void	call_free(struct call *);
/*
 * Checks budgets, caps and the store, and starts the call or has it wait.
 * Answers; consumes the call whatever happens.
 */
void	call_ask(struct call *);
/* Answers with a refusal, which is recorded, and consumes the call. */
void	call_refuse(struct call *, const struct refusal *);
/* SHA-256 of its argument bytes into digest; -1 if there are too many. */
int	call_digest(struct call *);
/* How its neuron was built, or would be. */
const struct build *call_build(const struct call *);
/* The workspace that it has or would have, "" for none. */
const char *call_workspace(const struct call *);

/* ---- what happens to it ---- */

struct call *call_find(const char *id);
struct call *call_by_sequence(uint64_t);
/* The one with that idempotency key that waits for a neuron, or NULL. */
struct call *call_waiting_with(const struct call_key *);
/* The fds become the call's; -1 for one that was not sent. */
void	call_judged(struct call *, const struct judgement *, int run_fd,
	    int explanation_fd);
/* The hooks have let it pass, or one of them has denied it. */
void	call_hooked(struct call *);
/* A line of the verbose log, with its ids. */
void	call_log(const struct call *, const char *what, const char *more);
void	call_started(struct call *);
void	call_ended(struct call *, const struct call_end *);
/* STOP, the end of a session, the loss of a reader: the cause stays. */
void	call_stop(struct call *, enum end_cause);
/* Its neuron is up, or gone. */
void	call_neuron_up(struct neuron *);
void	call_neuron_gone(struct neuron *, unsigned cause, const char *why);
void	call_forget_neuron(const struct neuron *);
/* Tells fn of each live call of a neuron (NULL: of any), which may end it. */
void	call_each_in(const struct neuron *, void (*fn)(struct call *, void *),
	    void *);
/* Kills all that a principal runs. */
void	call_end_of(uint32_t principal);
/* Kills all that runs in a session. */
void	call_session_ended(struct session *);

/* The death of a channel, and of this process. */
void	call_agent_lost(void);
void	call_judge_lost(void);
/* judged is there again: what its death left is asked once more. */
void	call_judge_up(void);
void	call_launch_lost(void);
void	call_all_interrupted(void);

/* ---- counting ---- */

unsigned call_count(void);	/* live, waiting ones too */
/* The serial below which no call is live. */
uint64_t call_live_from(void);

/* ---- results (call_result.c) ---- */

/* How a cause ends a call. */
struct call_outcome {
	enum call_state	 state;
	const char	*reason;	/* NULL: none */
};
struct call_outcome call_outcome(unsigned cause);
/* "KILL" of 9; "SIG64" where there is no name. */
void	signal_text(int number, char *dst, size_t size);
/* 9 of "KILL"; 0 of what is no such text. */
int	signal_number(const char *text);
/* The record of a call that ended; end may be NULL where nothing ran. */
void	call_result(struct text *, const struct call *,
	    const struct call_end *, const char *reason, const char *words);
/* A live call's record, and one from the database. */
json_t	*call_live(const struct call *);
json_t	*call_row_json(const struct call_row *);

/*
 * Finished results are kept for a while (call_kept.c), as compact JSON.  What
 * no apid will send a transcript of is kept on disk at once, without one.
 */
void	kept_add(const struct call *, const char *json);
const char *kept_find(const char *id, uint32_t *principal);
/*
 * What apid sent of a call that has ended (NULL: it can't be read): kept if it
 * is this apid's, asked by this handle, and the first.  Returns 1 if it is, 0
 * if it can't be, -1 if apid may not send it again.
 */
int	kept_transcript(const char *id, unsigned generation, uint64_t handle,
	    const uint8_t *bytes, size_t size);
/* The apid is gone: what it has not sent will not come any more. */
void	kept_reader_lost(void);
/* Frees those whose time is over; all of them. */
void	kept_expire(void);
void	kept_clear(void);

#endif
