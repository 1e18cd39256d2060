/*
 * The database: state.db in policyd's directory.  SQLite in WAL mode, locked
 * for this process alone.  A commit is in the file at once and on the disk
 * after the next store_sync().
 */
#ifndef MYELIN_POLICYD_STORE_H
#define MYELIN_POLICYD_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "audit.h"
#include "ids.h"
#include "labels.h"
#include "limits.h"
#include "protocol.h"
#include "seal.h"

struct sqlite3;

/* States of a call, as kept; the words are call_state_name()'s. */
enum call_state {
	CALL_QUEUED = 1, CALL_AWAITING, CALL_RUNNING,
	CALL_COMPLETED, CALL_FAILED, CALL_CANCELLED
};
const char *call_state_name(enum call_state);

/* A call as the database knows it: how it ended, never what it was. */
struct call_row {
	uint64_t	 serial;
	char		 id[ID_SIZE];
	uint32_t	 principal;
	char		 session[ID_SIZE];	/* "": sessionless */
	char		 neuron[ID_SIZE];
	char		 tool[NAME_BYTES_MAX];
	enum call_state	 state;
	char		 reason[24];		/* "" for none */
	int32_t		 exit_code;		/* -1: none */
	int32_t		 signal;		/* 0: none */
	uint64_t	 asked;			/* us of the day */
	uint64_t	 ended;			/* 0: not yet */
	uint64_t	 run_us;
};

struct session_row {
	uint64_t	 serial;
	char		 id[ID_SIZE];
	uint32_t	 principal;
	char		 neuron[ID_SIZE];
	char		 profile[NAME_BYTES_MAX];
	char		 preset[NAME_BYTES_MAX];
	char		*workspace;
	char		*rules;			/* its own, JSON; "": none */
	char		 reason[24];		/* of its end; "" if live */
	uint64_t	 created;
	uint64_t	 expires;
	uint64_t	 ended;			/* 0: live */
	uint64_t	 calls;			/* used */
	uint64_t	 calls_limit;
	uint64_t	 first_call;		/* serials of its calls: from */
	uint64_t	 last_call;		/* to; 0 while live */
};

/* A registered secret, sealed (seal.h). */
struct secret_row {
	char		 name[NAME_BYTES_MAX];
	size_t		 length;	/* of the value */
	uint64_t	 registered;	/* us of the day */
	char		 key[SEAL_KEY_ID];	/* which one sealed it */
	uint8_t		 nonce[SEAL_NONCE];
	const uint8_t	*sealed;	/* valid until the next step alone */
	size_t		 sealed_size;
};

/* A persistent neuron. */
struct home_row {
	char		 id[ID_SIZE];
	uint32_t	 principal;
	char		 name[NAME_BYTES_MAX];	/* "" for none */
	char		 profile[NAME_BYTES_MAX];
	char		 workspace[PATH_BYTES_MAX];	/* "" for none */
	uint32_t	 owner_uid;	/* as asked for, or OWNER_UNSAID */
	uint32_t	 owner_gid;
	int		 read_only;	/* the workspace is to be */
	char		 labels[LABELS_SIZE];
	uint64_t	 created;	/* us of the day; no two are the same */
	uint64_t	 used;		/* last; or created */
	uint64_t	 made;		/* its home, 0: not yet */
	uint64_t	 idle;		/* us, after which it goes */
	char		 reason[24];	/* why it is being destroyed, or "" */
};

#define KEY_HASH	32	/* bytes of a SHA-256 */

/* An API key: never its token. */
struct key_row {
	char		 id[ID_SIZE];
	char		 name[NAME_BYTES_MAX];
	uint8_t		 hash[KEY_HASH];
	uint64_t	 created;	/* us of the day, as the others */
	uint64_t	 expires;	/* 0: never */
	uint64_t	 used;		/* last; 0: not yet */
	uint64_t	 revoked;	/* 0: it is not */
};

/* Before the drop: SQLite's own set-up and its random numbers. */
int	store_preload(void);

/*
 * Opens, checks and migrates the database.  Returns 0; or -1 after saying in
 * clear words what is wrong: damaged, not ours, in use, or newer than this
 * program.
 */
int	store_open(const char *path);
void	store_close(void);

/*
 * Brings a database from its user_version to nsteps, a transaction a step.
 * Returns 0, or -1 and a reason in why.
 */
int	store_migrate(struct sqlite3 *, const char *const *steps,
	    size_t nsteps, char *why, size_t size);
extern const char *const store_steps[];
extern const size_t store_nsteps;

/*
 * All of these are one transaction each, but for calls and their ends.  -1
 * after saying why; the disk may be full.
 */
/*
 * A copy of the database beside it, as it was at one moment: begun, then some
 * pages at a time, calls between.  store_copy_step() returns 1 when it is
 * whole, 0 if more is left, -1 after saying why.
 */
int	store_copy_begin(const char *path);
int	store_copy_step(void);
void	store_copy_end(void);

/* ---- calls (store_call.c) ---- */

/*
 * A call and its end wait for the next store_sync(), or for who reads: all
 * below does.  -1 where so many wait that they had to be written, and can't
 * be.
 */
int	store_call_add(const struct call_row *);
void	store_call_end(const struct call_row *);
/* Writes what waits.  0, or -1 after saying why; it waits on then. */
int	store_flush(void);

/* ---- sessions, the mark ---- */

int	store_session_add(const struct session_row *);
int	store_session_end(const struct session_row *);

/* The mark, and the serial below which no call is live any more. */
int	store_mark_get(struct audit_mark *, uint64_t *live_from);
/* Writes what waits and the mark, both or neither, and syncs the database. */
int	store_sync(const struct audit_mark *, uint64_t live_from);

/* A serial of one's own for a call or session; the last call's. */
uint64_t store_next_call(void);
uint64_t store_last_call(void);
uint64_t store_next_session(void);

/* Reading: fn returns 0 to go on.  0, or -1. */
typedef int	store_call_fn(void *, const struct call_row *);
typedef int	store_session_fn(void *, const struct session_row *);

/*
 * Calls with serials in [from, before), newest first, of one principal (or
 * all: any), of one session (or all: "").
 */
struct store_range {
	int		 any;
	uint32_t	 principal;
	uint64_t	 from;
	uint64_t	 before;
	const char	*session;
	unsigned	 most;
};
int	store_calls(const struct store_range *, store_call_fn *, void *);
int	store_sessions(const struct store_range *, store_session_fn *, void *);
int	store_call(const char *id, store_call_fn *, void *);
int	store_session(const char *id, store_session_fn *, void *);
/* A session's calls with serials in (after, last], oldest first. */
int	store_calls_after(const char *session, uint64_t after, uint64_t last,
	    unsigned most, store_call_fn *, void *);

/* Live calls from a serial on, live sessions: what a dead process left. */
int	store_live_calls(uint64_t from, store_call_fn *, void *);
int	store_live_sessions(store_session_fn *, void *);

/* Starts since a second, by principal and second: the sliding hours. */
int	store_starts(uint64_t since, void (*fn)(void *, uint32_t principal,
	    uint64_t second, uint32_t count), void *);

/* Deletes some of what ended before; 1 if there may be more. */
int	store_trim(uint64_t before);

/* ---- the index of the transcripts (store_transcript.c) ---- */

/*
 * Where a call's transcript is: in the file that the serial gives, two lines
 * of JSON, our record and what apid sent.
 */
struct transcript_row {
	uint64_t	 serial;
	char		 call[ID_SIZE];
	char		 tool[NAME_BYTES_MAX];
	uint64_t	 time;		/* us of the day: when it was kept */
	uint64_t	 offset;
	uint64_t	 record;	/* bytes of the first line */
	uint64_t	 length;	/* of both, newlines included */
};
typedef int	store_transcript_fn(void *, const struct transcript_row *);

/* It waits along with its call, if that does.  -1 if there is one already. */
int	store_transcript_add(const struct transcript_row *);
/* 1 if there is one, 0 if not, -1. */
int	store_transcript(uint64_t serial, struct transcript_row *);
/* With serials over `after`, in their order. */
int	store_transcripts(uint64_t after, unsigned most,
	    store_transcript_fn *, void *);
/* With serials in [from, before), in the order of their offsets. */
int	store_transcripts_placed(uint64_t from, uint64_t before,
	    store_transcript_fn *, void *);
/* Deletes them in one transaction. */
int	store_transcripts_delete(const uint64_t *serials, size_t n);
/* How many there are with serials in [from, before); -1. */
int64_t	store_transcripts_within(uint64_t from, uint64_t before);
/* All of them. */
int	store_transcripts_sum(uint64_t *count, uint64_t *bytes);

/* ---- idempotency keys (store_idempotent.c) ---- */

#define IDEMPOTENT_KEY	32	/* bytes of a key, and of a request's digest */

struct idempotent_row {
	uint8_t		 same[IDEMPOTENT_KEY];
	char		 call[ID_SIZE];
};

/*
 * The call of a key: 1 if there is one that has not ended, or not longer than
 * kept ago (us, on the clock of the day), 0 if not, -1.
 */
int	store_idempotent(const uint8_t key[IDEMPOTENT_KEY], uint64_t now,
	    uint64_t kept, struct idempotent_row *);
/* store_call_add() and the call's key, which takes another's place, as one. */
int	store_call_add_keyed(const struct call_row *,
	    const uint8_t key[IDEMPOTENT_KEY], const uint8_t same[IDEMPOTENT_KEY]);
/* Deletes keys of calls that ended longer than kept ago. */
int	store_idempotent_trim(uint64_t now, uint64_t kept);

/* Secrets: all of them, oldest first; one by its name.  0, or -1. */
int	store_secrets(int (*)(void *, const struct secret_row *), void *);
int	store_secret_set(const struct secret_row *);
int	store_secret_delete(const char *name);


/* ---- approvals (store_approval.c) ---- */

enum approval_scope { ALLOWED_NOT, ALLOWED_ONCE, ALLOWED_SESSION };

/* An approval as the database knows it. */
struct approval_row {
	uint64_t	 serial;
	char		 id[ID_SIZE];
	char		 call[ID_SIZE];
	char		 session[ID_SIZE];	/* "": sessionless */
	char		 neuron[ID_SIZE];
	char		 principal[NAME_BYTES_MAX + 8];
	char		 tool[NAME_BYTES_MAX];
	char		 workspace[PATH_BYTES_MAX];	/* "" for none */
	char		 class[64];
	unsigned	 effect;
	uint32_t	 marks;
	char		 rule[256];
	char		 where[512];
	char		 reason[1024];
	char		 command[1024];
	uint32_t	 from, to;
	unsigned	 state;			/* enum approval_state */
	unsigned	 scope;			/* enum approval_scope */
	char		 decided_by[NAME_BYTES_MAX + 8];
	char		 decision_reason[DECIDE_REASON_MAX + 1];
	uint64_t	 created;		/* us of the day */
	uint64_t	 decided;		/* 0: not yet */
	char		 digest[SHA_HEX];
	uint64_t	 bytes;			/* of arguments and input */
	unsigned	 rememberable;
	unsigned	 remembered;		/* it is in force */
	unsigned	 revoked;
};
typedef int	store_approval_fn(void *, const struct approval_row *);

uint64_t store_next_approval(void);
int	store_approval_add(const struct approval_row *);
/* What a decision, an end or a revocation changes. */
int	store_approval_set(const struct approval_row *);
int	store_approval(const char *id, store_approval_fn *, void *);
/* Which approvals: all, those that wait, that are over, that are in force. */
enum store_list { LIST_ALL, LIST_PENDING, LIST_DECIDED, LIST_REMEMBERED };
/* With serials below `before`, newest first. */
int	store_approvals(enum store_list, uint64_t before, unsigned most,
	    store_approval_fn *, void *);
/* None of a session ("": of any) is in force any more. */
int	store_approvals_forget(const char *session);
/* ---- keys (store_keys.c) ---- */

/* All, oldest first; writing one; deleting one.  0, or -1. */
int	store_keys(int (*)(void *, const struct key_row *), void *);
int	store_key_set(const struct key_row *);
/* Both or none. */
int	store_keys_set(const struct key_row *, const struct key_row *);
int	store_key_delete(const char *id);
/* The numbers of names, in their order. */
int	store_key_names(int (*)(void *, uint32_t number, const char *name),
	    void *);
int	store_key_name_add(uint32_t number, const char *name);

/* ---- persistent neurons (store_home.c) ---- */

/* All, oldest first; writing one; deleting one.  0, or -1. */
int	store_homes(int (*)(void *, const struct home_row *), void *);
int	store_home_set(const struct home_row *);
int	store_home_delete(const char *id);

#endif
