/*
 * Server-sent events: readers of a call's events, or of a session's.
 */
#ifndef APID_STREAM_H
#define APID_STREAM_H

#include <stdint.h>

#include "call.h"

/* One event as one chunk: its fields of n bytes, then data where it is on its
 * own (NULL: it is not). */
void	stream_put(struct conn *, const char *fields, size_t n,
	    const char *data);

/* Begins the answer: events of a call after id `after`, to its end. */
void	stream_call(struct conn *, struct call *, uint64_t after);
/*
 * The same of all calls of a session, until it ends.  latest: from now on;
 * over: it has ended, so that no event behind the last is missing.
 */
void	stream_session(struct conn *, const char *session, int latest,
	    uint64_t after, int over);
/* For a call whose events are gone: a gap and its record. */
void	stream_record(struct conn *, const char *id, const char *json,
	    size_t n);

/*
 * One who is given a call's stdout as it is, and its end; instead of events.
 */
struct stream_sink {
	/* NULL: wants no output. */
	void	(*bytes)(struct conn *, struct call *, const uint8_t *,
		    size_t);
	/* The call is finished: answers, or ends the answer. */
	void	(*end)(struct conn *, struct call *);
	int	 cancels;	/* the call ends when its client leaves */
};
/* Before the first event is gone. */
void	stream_sink(struct conn *, struct call *, const struct stream_sink *);

/* 1 if a reader has taken the event of that id. */
int	stream_has_sent(const struct reader *, uint64_t id);
/* A call has a new event. */
void	stream_wake(struct call *);

/* Sessions, as far as streams need them. */
struct session *session_join(struct call *);
void	session_leave(struct call *);
uint64_t session_number(struct call *);
/*
 * It was ended, for that reason (the first one counts): its streams end with
 * session.ended once its calls have.
 */
void	session_ended(const char *id, const char *reason);
/* policyd is gone, and all sessions with it. */
void	sessions_interrupted(void);

#endif
