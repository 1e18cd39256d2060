/*
 * Server-sent events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "json.h"
#include "log.h"
#include "output.h"
#include "policy.h"
#include "stream.h"
#include "text.h"
#include "without.h"

#define PATIENCE	40	/* ticks that a reader may lie still: 10 min */
#define FIELDS_MAX	512	/* of an event, but its data */

struct session {
	LIST_ENTRY(session)	 entry;
	char			 id[ID_SIZE];
	uint64_t		 last_number;	/* of an event */
	int			 ended;
	char			 reason[32];	/* of the end */
	TAILQ_HEAD(, call)	 calls;		/* latest event first */
	TAILQ_HEAD(, reader)	 readers;
};

struct reader {
	TAILQ_ENTRY(reader)	 entry;
	struct conn		*conn;
	struct call		*call;		/* or session, never both */
	struct session		*session;
	uint64_t		 next;		/* id or number */
	const struct stream_sink *sink;		/* NULL: events */
};

static LIST_HEAD(, session) sessions = LIST_HEAD_INITIALIZER(sessions);

static void	reader_writable(struct conn *, void *);
static void	reader_tick(struct conn *, void *);
static void	reader_gone(struct conn *, void *);

static const struct conn_ops reader_ops = {
	.writable = reader_writable,
	.tick = reader_tick,
	.gone = reader_gone,
	.patience = PATIENCE
};

static const struct conn_ops sink_ops = {
	.writable = reader_writable,
	.gone = reader_gone,
	.patience = PATIENCE
};

/* ---- the wire ---- */

/* One event as one chunk: fields, then the data if it comes on its own. */
static void
put(struct conn *c, const char *fields, size_t n, const char *data)
{
	size_t size = data == NULL ? 0 : strlen(data);
	struct evbuffer *out = conn_output(c);

	evbuffer_add_printf(out, "%zx\r\n", n + size + 2);
	evbuffer_add(out, fields, n);
	if (data != NULL)
		evbuffer_add(out, data, size);
	evbuffer_add(out, "\n\n\r\n", 4);
}

void
stream_put(struct conn *c, const char *fields, size_t n, const char *data)
{
	put(c, fields, n, data);
}

static void
put_output(struct conn *c, const struct call *call,
    const struct event_row *e, uint64_t id)
{
	char head[FIELDS_MAX], size[20];
	struct evbuffer_iovec v;
	size_t n, nsize;
	char *p;

	n = (size_t)snprintf(head, sizeof(head), "id: %llu\nevent: %s\n"
	    "data: {\"call\":\"%s\",\"stream\":\"%s\",\"seq\":%llu,"
	    "\"encoding\":\"%s\",\"data\":\"", (unsigned long long)id,
	    event_name(EVENT_OUTPUT), call->id,
	    e->stream == STREAM_STDOUT ? "stdout" : "stderr",
	    (unsigned long long)e->seq, e->base64 ? "base64" : "utf-8");
	nsize = (size_t)snprintf(size, sizeof(size), "%zx\r\n",
	    n + e->coded + 4);
	if (evbuffer_reserve_space(conn_output(c),
	    (ev_ssize_t)(nsize + n + e->coded + 6 + TEXT_SLACK), &v, 1) < 1)
		fatalx("memory for an event");
	p = v.iov_base;
	memcpy(p, size, nsize);
	memcpy(p + nsize, head, n);
	p += nsize + n;
	if (e->base64)
		p = base64_write(p, e->chunk->data + e->off, e->len);
	else
		p = text_escape(p, e->chunk->data + e->off, e->len);
	memcpy(p, "\"}\n\n\r\n", 6);
	v.iov_len = nsize + n + e->coded + 6;
	evbuffer_commit_space(conn_output(c), &v, 1);
}

static void
put_event(struct reader *r, const struct call *call,
    const struct event_row *e)
{
	uint64_t id = r->session != NULL ? e->number : e->id;
	char fields[FIELDS_MAX];
	size_t n;

	if (r->sink != NULL) {
		if (e->kind == EVENT_OUTPUT && e->stream == STREAM_STDOUT &&
		    r->sink->bytes != NULL)
			r->sink->bytes(r->conn, r->call, e->chunk->data +
			    e->off, e->len);
		return;
	}
	if (e->kind == EVENT_OUTPUT) {
		put_output(r->conn, call, e, id);
		return;
	}
	n = (size_t)snprintf(fields, sizeof(fields),
	    "id: %llu\nevent: %s\ndata: ", (unsigned long long)id,
	    event_name(e->kind));
	put(r->conn, fields, n, e->json);
}

/* Events from r->next up to, not including, `to` are gone. */
static void
put_gap(struct reader *r, uint64_t to)
{
	char fields[FIELDS_MAX];
	size_t n;

	/* Its id lets a reader that comes back go on behind it. */
	n = (size_t)snprintf(fields, sizeof(fields),
	    "id: %llu\nevent: call.gap\ndata: {\"call\":%s%s%s,%s%s%s"
	    "\"from\":%llu,\"to\":%llu}", (unsigned long long)(to - 1),
	    r->call != NULL ? "\"" : "",
	    r->call != NULL ? r->call->id : "null",
	    r->call != NULL ? "\"" : "",
	    r->session != NULL ? "\"session\":\"" : "",
	    r->session != NULL ? r->session->id : "",
	    r->session != NULL ? "\"," : "",
	    (unsigned long long)r->next, (unsigned long long)(to - 1));
	put(r->conn, fields, n, NULL);
}

/* ---- sessions ---- */

static struct session *
session_find(const char *id)
{
	struct session *s;

	LIST_FOREACH(s, &sessions, entry)
		if (strcmp(s->id, id) == 0)
			return (s);
	return (NULL);
}

static struct session *
session_get(const char *id)
{
	struct session *s;

	if ((s = session_find(id)) != NULL)
		return (s);
	if ((s = calloc(1, sizeof(*s))) == NULL)
		fatal("session");
	(void)snprintf(s->id, sizeof(s->id), "%s", id);
	TAILQ_INIT(&s->calls);
	TAILQ_INIT(&s->readers);
	LIST_INSERT_HEAD(&sessions, s, entry);
	return (s);
}

static void
session_check(struct session *s)
{
	if (!TAILQ_EMPTY(&s->calls) || !TAILQ_EMPTY(&s->readers))
		return;
	LIST_REMOVE(s, entry);
	free(s);
}

struct session *
session_join(struct call *call)
{
	struct session *s = session_get(call->session_id);

	TAILQ_INSERT_HEAD(&s->calls, call, in_session);
	return (s);
}

void
session_leave(struct call *call)
{
	struct session *s = call->session;

	if (s == NULL)
		return;
	TAILQ_REMOVE(&s->calls, call, in_session);
	call->session = NULL;
	session_check(s);
}

uint64_t
session_number(struct call *call)
{
	struct session *s = call->session;

	if (s == NULL)
		return (0);
	call->last_number = ++s->last_number;
	if (TAILQ_FIRST(&s->calls) != call) {
		TAILQ_REMOVE(&s->calls, call, in_session);
		TAILQ_INSERT_HEAD(&s->calls, call, in_session);
	}
	return (call->last_number);
}

static int
session_is_over(const struct session *s)
{
	const struct call *call;

	if (!s->ended)
		return (0);
	TAILQ_FOREACH(call, &s->calls, in_session)
		if (call->state != CALL_FINISHED)
			return (0);
	return (1);
}

/* The first event from a number on, of any of its calls. */
static const struct event_row *
session_next(const struct session *s, uint64_t number, struct call **of)
{
	const struct event_row *e, *first = NULL;
	struct call *call;

	TAILQ_FOREACH(call, &s->calls, in_session) {
		/* Latest first: none behind it has one either. */
		if (call->last_number < number)
			break;
		e = ring_find_number(&call->ring, number);
		if (e != NULL &&
		    (first == NULL || e->number < first->number)) {
			first = e;
			*of = call;
		}
	}
	return (first);
}

/* ---- readers ---- */

static void
reader_free(struct reader *r)
{
	struct call *call = r->call;

	if (r->session != NULL) {
		TAILQ_REMOVE(&r->session->readers, r, entry);
		session_check(r->session);
	} else {
		TAILQ_REMOVE(&call->readers, r, entry);
		if (call->consumer == r) {
			call->consumer = NULL;
			call->consumer_state = CONSUMER_LEFT;
			output_resume(call);
		}
	}
	free(r);
}

/*
 * The last event of a session's stream.  It has the number behind all others,
 * which a reader may come back with.
 */
static void
put_session_end(struct reader *r)
{
	struct session *s = r->session;
	char fields[FIELDS_MAX];
	size_t n;

	if (r->next > s->last_number + 1)
		return;
	n = (size_t)snprintf(fields, sizeof(fields), "id: %llu\nevent: "
	    "session.ended\ndata: {\"session\":\"%s\",\"reason\":\"%s\"}",
	    (unsigned long long)s->last_number + 1, s->id, s->reason);
	put(r->conn, fields, n, NULL);
}

static int
reader_at_end(const struct reader *r)
{
	if (r->session != NULL)
		return (session_is_over(r->session));
	return (r->call->state == CALL_FINISHED);
}

/* The sink answers: from here on the connection is nobody's. */
static void
end_sink(struct conn *c, struct call *call, const struct stream_sink *sink)
{
	conn_release(c);
	sink->end(c, call);
}

/* Sends as much as there is and the client may have. */
static void
reader_pump(struct reader *r)
{
	const struct event_row *e;
	struct conn *c = r->conn;
	const struct stream_sink *sink = r->sink;
	struct call *call = r->call;
	int progress = 0;

	while (conn_room(c)) {
		e = r->session != NULL ?
		    session_next(r->session, r->next, &call) :
		    ring_find(&call->ring, r->next);
		if (e == NULL) {
			if (!reader_at_end(r))
				break;
			if (r->session != NULL)
				put_session_end(r);
			reader_free(r);
			if (sink == NULL)
				conn_end(c);
			else
				end_sink(c, call, sink);
			return;
		}
		if (sink == NULL && (r->session != NULL ? e->number : e->id) > r->next)
			put_gap(r, r->session != NULL ? e->number : e->id);
		put_event(r, call, e);
		r->next = (r->session != NULL ? e->number : e->id) + 1;
		progress = 1;
	}
	if (progress && r->call != NULL && r->call->consumer == r)
		output_resume(r->call);
}

static void
reader_writable(struct conn *c, void *arg)
{
	(void)c;
	reader_pump(arg);
}

static void
reader_tick(struct conn *c, void *arg)
{
	struct reader *r = arg;
	char fields[FIELDS_MAX];
	size_t n;

	/* One that reads nothing is not given more. */
	if (evbuffer_get_length(conn_output(c)) > 0)
		return;
	n = (size_t)snprintf(fields, sizeof(fields),
	    "event: ping\ndata: {\"%s\":\"%s\"}",
	    r->call != NULL ? "call" : "session",
	    r->call != NULL ? r->call->id : r->session->id);
	put(c, fields, n, NULL);
}

static void
reader_gone(struct conn *c, void *arg)
{
	struct reader *r = arg;

	if (r->sink != NULL && r->sink->cancels &&
	    r->call->state < CALL_ENDED)
		policy_stop(c->handle, STOP_CANCELLED, r->call->id);
	reader_free(r);
}

/* Flow "block" waits for one reader, and holds up the program for it. */
static void
reader_join(struct reader *r, struct call *call)
{
	r->call = call;
	TAILQ_INSERT_TAIL(&call->readers, r, entry);
	if (call->block && call->consumer_state == CONSUMER_AWAITED) {
		call->consumer = r;
		call->consumer_state = CONSUMER_HERE;
	}
	reader_pump(r);
}

static struct reader *
reader_new(struct conn *c, uint64_t after)
{
	struct reader *r;

	if ((r = calloc(1, sizeof(*r))) == NULL)
		fatal("reader");
	r->conn = c;
	r->next = WITHOUT(event_resume) ? 1 : after + 1;
	conn_hold(c, &reader_ops, r);
	conn_begin(c, 200, "text/event-stream", -1);
	return (r);
}

void
stream_call(struct conn *c, struct call *call, uint64_t after)
{
	struct reader *r;

	if (after > call->ring.last_id) {
		conn_error(c, API_BAD_REQUEST, "Last-Event-ID: %s has only "
		    "come to event %llu", call->id,
		    (unsigned long long)call->ring.last_id);
		return;
	}
	r = reader_new(c, after);
	reader_join(r, call);
}

void
stream_sink(struct conn *c, struct call *call, const struct stream_sink *sink)
{
	struct reader *r;

	if ((r = calloc(1, sizeof(*r))) == NULL)
		fatal("reader");
	r->conn = c;
	r->next = 1;
	r->sink = sink;
	conn_hold(c, &sink_ops, r);
	reader_join(r, call);
}

void
stream_session(struct conn *c, const char *id, int latest, uint64_t after,
    int over)
{
	struct session *s = session_get(id);
	struct reader *r;

	if (!latest && after > s->last_number && !over) {
		conn_error(c, API_BAD_REQUEST, "Last-Event-ID: %s has only "
		    "come to event %llu", id,
		    (unsigned long long)s->last_number);
		session_check(s);
		return;
	}
	r = reader_new(c, latest ? s->last_number : after);
	r->session = s;
	TAILQ_INSERT_TAIL(&s->readers, r, entry);
	reader_pump(r);
}

void
stream_record(struct conn *c, const char *id, const char *json, size_t n)
{
	char fields[FIELDS_MAX], *record;
	size_t size;

	if ((record = strndup(json, n)) == NULL)
		fatal("record");
	conn_begin(c, 200, "text/event-stream", -1);
	size = (size_t)snprintf(fields, sizeof(fields),
	    "event: call.gap\ndata: {\"call\":\"%s\",\"from\":1,"
	    "\"to\":null}", id);
	put(c, fields, size, NULL);
	size = (size_t)snprintf(fields, sizeof(fields), "event: %s\ndata: ",
	    event_name(EVENT_FINISHED));
	put(c, fields, size, record);
	free(record);
	conn_end(c);
}

int
stream_has_sent(const struct reader *r, uint64_t id)
{
	return (r->next > id);
}

/* The last reader that ends may take the session with it. */
static void
wake_session(struct session *s)
{
	struct reader *r, *next;

	for (r = TAILQ_FIRST(&s->readers); r != NULL; r = next) {
		next = TAILQ_NEXT(r, entry);
		reader_pump(r);
	}
}

void
stream_wake(struct call *call)
{
	struct reader *r, *next;

	for (r = TAILQ_FIRST(&call->readers); r != NULL; r = next) {
		next = TAILQ_NEXT(r, entry);
		reader_pump(r);
	}
	if (call->session != NULL)
		wake_session(call->session);
}

static void
end_session(struct session *s, const char *reason)
{
	if (s->ended)
		return;
	s->ended = 1;
	/* a word of ours: it goes into JSON as it is */
	(void)snprintf(s->reason, sizeof(s->reason), "%s",
	    *reason != '\0' && reason[strspn(reason,
	    "abcdefghijklmnopqrstuvwxyz_")] == '\0' ? reason : "ended");
	wake_session(s);
}

void
session_ended(const char *id, const char *reason)
{
	struct session *s = session_find(id);

	if (s != NULL)
		end_session(s, reason);
}

void
sessions_interrupted(void)
{
	struct session *s, *next;

	for (s = LIST_FIRST(&sessions); s != NULL; s = next) {
		next = LIST_NEXT(s, entry);
		end_session(s, "interrupted");
	}
}
