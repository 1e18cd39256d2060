/*
 * Calls: what apid knows of each, from its asking until its result is
 * forgotten.
 */
#ifndef APID_CALL_H
#define APID_CALL_H

#include <sys/queue.h>
#include <jansson.h>
#include <stdint.h>

#include "ids.h"
#include "kept.h"
#include "limits.h"
#include "ring.h"

struct body;
struct conn;
struct feed;
struct reader;
struct request;
struct mcp;
struct mcp_held;
struct scan;
struct session;
struct stream_sink;
struct strip;
struct waiter;

enum call_state {
	CALL_ASKED,		/* policyd has not answered: no id yet */
	CALL_QUEUED,
	CALL_AWAITING,		/* a person's decision */
	CALL_RUNNING,
	CALL_ENDED,		/* but its pipes are not empty yet */
	CALL_FINISHED
};

/* The read end of a pipe of a call's. */
struct output {
	struct call	*call;
	int		 stream;
	int		 fd;		/* -1: at its end */
	struct event	*ev;
	int		 paused;	/* flow "block": the ring is full */
	struct scan	*scan;
	struct strip	*strip;		/* NULL: as it comes */
	struct event	*idle;		/* what is held is to go out */
	struct chunk	*chunk;		/* being filled */
	uint32_t	 held;		/* bytes at its end, for the scanner */
	uint32_t	 gone;		/* of those, went out */
	int		 broken;	/* nothing more may go out */
	uint64_t	 came;		/* bytes of the program's */
	uint64_t	 told;		/* bytes that are in events */
	uint64_t	 redacted;	/* secrets, once it is at its end */
};

/* How the one consumer of flow "block" fares. */
enum consumer { CONSUMER_AWAITED, CONSUMER_HERE, CONSUMER_LEFT };

struct call {
	TAILQ_ENTRY(call)	 entry;		/* live, or finished by age */
	LIST_ENTRY(call)	 hashed;
	TAILQ_ENTRY(call)	 in_session;	/* latest event first */
	uint64_t		 last_number;	/* in its session */
	char			 id[ID_SIZE];
	char			 session_id[ID_SIZE];	/* "" for none */
	char			 tool[NAME_BYTES_MAX];
	char			 approval[ID_SIZE];	/* "" for none */
	int64_t			 asked_until;	/* ms: it expires about then */
	struct session		*session;
	enum call_state		 state;

	/* Whose. */
	uint64_t		 handle;	/* of who asked */
	uint32_t		 principal;
	char			*who;
	unsigned		 generation;	/* of the channel */

	/* How the asker wants to be answered. */
	int			 wants_events;
	int			 with_asker;	/* ends when the asker leaves */
	int			 asks_with_asker;
	int			 deserted;	/* and that one left */
	uint32_t		 wait_ms;
	int			 patient;	/* by its result, later */
	const struct stream_sink *sink;	/* instead of both; or NULL */

	/* Output. */
	struct output		 out[STREAMS];
	struct kept		 kept;
	struct ring		 ring;
	uint64_t		 killed;	/* bytes that stop it */
	int			 stopped;
	int			 block;
	int			 pty;		/* it has a terminal */
	int			 strip;
	int			 watched;	/* its pipes are, by the loop */
	TAILQ_ENTRY(call)	 unwatched;
	int			 is_unwatched;
	enum consumer		 consumer_state;
	struct reader		*consumer;
	TAILQ_HEAD(, reader)	 readers;
	TAILQ_HEAD(, waiter)	 waiters;
	uint64_t		 charge;	/* against output-kept-all */

	struct feed		*feed;		/* streamed stdin, or NULL */
	struct body		*body;		/* its stderr; or NULL */
	char			*shown;		/* its arguments, redacted */
	char			*denied;	/* what a body refused; or NULL */
	size_t			 arguments_size;
	struct mcp		*mcp;		/* a tools/call that waits, or NULL */
	struct mcp_held		*held;		/* one may come back; or NULL */

	/* The end. */
	json_t			*ended;		/* policyd's record */
	int			 is_clean;	/* that has no secrets */
	char			*plain;		/* it is this text, or NULL */
	struct event		*drain;
	char			*record;	/* the same, sealed */
	json_t			*result;	/* the tool's own, or NULL */
	int			 transcript;	/* 1 kept, 0 not, -1 unknown */
	TAILQ_ENTRY(call)	 unsent;
	int			 is_unsent;	/* its transcript is to go */
	char			 final[16];	/* its state at the end */
	int			 base64[STREAMS];
	uint64_t		 coded[STREAMS]; /* bytes of JSON */
	int64_t			 since;		/* ms; asked, then finished */
};

/* What policyd says when it takes a call. */
struct call_terms {
	uint32_t	 principal;
	uint64_t	 kept;
	uint64_t	 killed;
	char		 id[ID_SIZE];
	char		 session[ID_SIZE];
};

/* Monotonic milliseconds. */
int64_t	call_now(void);

/* Makes pipes and memfds and asks policyd; answers errors itself. */
void	call_ask(struct conn *, const char *session, const struct request *);
/* The same for one whose output and end a sink takes. */
void	call_ask_sink(struct conn *, const char *session,
	    const struct request *, const struct stream_sink *);

/* policyd's words on a call, in this order. */
void	call_asked(struct call *, const struct call_terms *, struct conn *);
void	call_refused(struct call *);
/* The verdict is an object, and changed. */
void	call_judged(struct call *, json_t *verdict);
/* The same of text that is plain and clean; 0 if it is not. */
int	call_judged_plain(struct call *, const char *, size_t);
/*
 * It waits for a person, for ms at most: the event's data is JSON of n bytes.
 */
void	call_asking(struct call *, const char *approval, uint32_t ms,
	    const char *json, size_t n);
/* outcome: APPROVAL_*; reason: "" for none. */
void	call_resolved(struct call *, unsigned outcome, const char *approval,
	    const char *reason);
void	call_started(struct call *);
void	call_ended(struct call *, const char *json, size_t);
/* policyd says whether it could keep the transcript. */
void	call_transcribed(struct call *, int kept);
/* Transcripts that wait for their turn are sent now. */
void	calls_send(void);
/* policyd went away: every live call ends as interrupted. */
void	calls_interrupt(void);

struct call *call_find(const char *id);
/* The call, if it is the connection's principal's; else NULL. */
struct call *call_of(const struct conn *, const char *id);
const char *call_state_name(const struct call *);

/* ---- among call*.c, output.c, stream.c ---- */

void	calls_config(const struct limits *);
/* Adds an event of JSON text (taken over) and tells the readers. */
void	call_event(struct call *, enum event_kind, char *json);
void	call_announce(struct call *, struct event_row *);
/* Keeps output for the result as far as all calls' bound allows. */
void	call_keep(struct call *, int stream, struct chunk *, uint32_t off,
	    uint32_t len);
/* The same for a body's result, of which more came; 0 if there's no room. */
int	call_keep_result(struct call *);
void	call_output_end(struct call *);	/* a pipe is at its end */
/* The last: sums up, tells the readers and those who wait. */
void	call_finish(struct call *);

#endif
