/*
 * The channel to policyd: what apid asks there, and who waits for the answer.
 */
#ifndef APID_POLICY_H
#define APID_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "codec.h"
#include "conn.h"
#include "protocol.h"
#include "request.h"

struct call;

/* A channel's new end: the one before is gone, and all that hung on it. */
void	policy_plumb(enum channel_kind, int fd);
int	policy_up(void);
void	policy_stop_channel(void);
/* The same, when all that was to be said has gone, or a while has passed. */
void	policy_finish_channel(void);
/* Counts channels: what an earlier policyd said of principals is void. */
unsigned policy_generation(void);

/* Asks whose connection it is.  0, or -1. */
int	policy_peer(struct conn *, int fd);
void	policy_peer_gone(uint64_t handle);
/* Asks whose token that is ("" for none), for c->number.  0, or -1. */
int	policy_auth(const struct conn *, const char *token);

/*
 * An answer to a question: JSON of n bytes, valid until it returns.  Called
 * only while the client is still there, and for 2xx only: errors have been
 * answered by then.
 */
typedef void policy_fn(struct conn *, int status, const char *json, size_t n,
	    void *arg);

/*
 * Each holds the connection until the answer; fn NULL passes it on as it is.
 */
void	policy_query(struct conn *, enum query_what, uint64_t cursor,
	    uint32_t most, const char *id, policy_fn *, void *arg);
void	policy_open(struct conn *, const struct request *, policy_fn *,
	    void *arg);
void	policy_end(struct conn *, const char *id, policy_fn *, void *arg);
/* A persistent neuron; those of a name, or with a label ("": any). */
void	policy_home_make(struct conn *, const struct request *);
void	policy_neurons(struct conn *, uint64_t cursor, uint32_t most,
	    const char *name, const char *label);

/* The principal's session of that name, or a new one: its JSON. */
void	policy_open_named(struct conn *, const char *name,
	    const struct request *, policy_fn *, void *arg);
void	policy_end_named(struct conn *, const char *name, policy_fn *,
	    void *arg);
/* The tools that a session or preset ("" for neither) leaves. */
void	policy_tools(struct conn *, const char *session, const char *preset,
	    policy_fn *, void *arg);

/*
 * A page of the audit log for a handle, with no connection held: fn is told
 * once, whatever came (503 where policyd went away).  -1 if it can't be asked.
 */
typedef void policy_page_fn(void *arg, unsigned status, const char *json,
	    size_t n);
int	policy_audit(uint64_t handle, uint64_t after, uint32_t most,
	    policy_page_fn *, void *arg);

/*
 * What is kept of a call: JSON on one line, sent when this turn is over.  -1:
 * it can't be passed on.
 */
int	policy_transcript(uint64_t handle, const char *call,
	    const char *denied, const struct enc *bytes);

/* what: MANAGE_* */
void	policy_manage(struct conn *, unsigned what, uint32_t timeout_ms);

/* what: KEY_*; the answer may have a token. */
void	policy_key(struct conn *, unsigned what, uint32_t seconds,
	    const char *text);

/* what: SECRET_*; the value has n bytes, at most VALUE_MOST. */
void	policy_secret(struct conn *, unsigned what, const char *name,
	    const char *value, size_t n);

/*
 * Asks for a call; session NULL for one in a neuron of its own.  fds are its
 * arguments, stdout, stderr and input (-1 for none), taken over.  When the
 * answer comes, call_asked() or call_refused() is told, whether the client is
 * still there or not.  0, or -1 (fds are closed).
 */
int	policy_ask(struct conn *, struct call *, const char *session,
	    const struct request *, int fds[4]);
/*
 * Sends a signal, or a terminal's new size; the answer is passed on.  type is
 * MSG_SIGNAL or MSG_RESIZE.
 */
void	policy_steer(struct conn *, enum msg_type, uint32_t value,
	    const char *call);
/* why: STOP_* */
void	policy_stop(uint64_t handle, unsigned why, const char *call);


/* what: DECIDE_*; the digest is 32 raw bytes. */
void	policy_decide(struct conn *, unsigned what, const uint8_t digest[32],
	    const char *approval, const char *reason, policy_fn *, void *arg);

#endif
