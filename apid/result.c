/*
 * The results of calls.
 *
 * A result may be large where its text must be escaped, so it is written as
 * the client takes it; its size is counted first.  It holds the chunks it
 * needs: the call may be forgotten meanwhile.
 */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "call.h"
#include "clean.h"
#include "conn.h"
#include "flat.h"
#include "json.h"
#include "log.h"
#include "proc.h"
#include "result.h"
#include "text.h"

#define NPARTS	(2 * STREAMS + 1)
#define FRONT_MORE	64	/* bytes of what stands before the output */
#define SEALED_MORE	640	/* bytes that a plain record gains at most */

struct waiter {
	TAILQ_ENTRY(waiter)	 entry;
	struct call		*call;
	struct conn		*conn;
	struct event		*timer;
};

/* An answer under way: text, stdout, text, stderr, text. */
struct sending {
	int			 part;
	char			*front;		/* the first text */
	struct seglist		 output[STREAMS];
	int			 base64[STREAMS];
	struct base64_state	 state;
};

static void	sending_gone(struct conn *, void *);
static void	sending_pump(struct conn *, void *);
static void	waiter_gone(struct conn *, void *);

static const struct conn_ops sending_ops = {
	.writable = sending_pump,
	.gone = sending_gone
};

static const struct conn_ops waiter_ops = {
	.gone = waiter_gone
};

/* ---- sealing ---- */

/* Bytes at the front of a tail that continue a character cut off. */
static size_t
cut_front(const struct seglist *l)
{
	uint8_t first[3];
	const struct seg *s;
	size_t n = 0, i;

	TAILQ_FOREACH(s, &l->segs, entry)
		for (i = 0; i < s->len && n < sizeof(first); i++)
			first[n++] = s->chunk->data[s->off + i];
	return (text_continuation(first, n));
}

static void
feed(struct text_state *t, const struct seglist *l, size_t skip)
{
	const struct seg *s;
	size_t n;

	TAILQ_FOREACH(s, &l->segs, entry) {
		n = skip < s->len ? skip : s->len;
		text_feed(t, s->chunk->data + s->off + n, s->len - n);
		skip -= n;
	}
}

/*
 * Text or not is decided for the stream as a whole.  Where bytes were dropped
 * between head and tail, the halves of characters at the cut go too.
 */
static void
seal_stream(struct call *call, int stream)
{
	struct kept_stream *s = &call->kept.stream[stream];
	size_t back = 0, front = 0;
	struct text_state t;

	text_begin(&t);
	feed(&t, &s->head, 0);
	if (kept_dropped(&call->kept, stream) > 0) {
		back = t.npart;
		front = cut_front(&s->tail);
		t.npart = 0;
	}
	feed(&t, &s->tail, front);
	if (t.valid && t.npart == 0) {
		seglist_drop_back(&s->head, back);
		seglist_drop_front(&s->tail, front);
		call->base64[stream] = 0;
		call->coded[stream] = t.escaped;
	} else {
		call->base64[stream] = 1;
		call->coded[stream] =
		    base64_size(s->head.bytes + s->tail.bytes);
	}
}

static json_t *
pair(json_t *out, json_t *err)
{
	json_t *j = json_object();

	json_object_set_new(j, "stdout", out);
	json_object_set_new(j, "stderr", err);
	return (j);
}

static json_t *
count(uint64_t n)
{
	return (json_integer((json_int_t)n));
}

/* Where in the output, as bytes, the dropped ones would stand; or null. */
static json_t *
cut_at(struct call *call, int stream)
{
	if (kept_dropped(&call->kept, stream) == 0)
		return (json_null());
	return (count(call->kept.stream[stream].head.bytes));
}

#define DENIED_BYTES	900	/* of what is told to policyd */

/*
 * A body that would not leave the roots: a denial like any other, which the
 * audit log has as well.
 */
static void
note_denial(struct call *call, json_t *record)
{
	const json_t *error = json_object_get(json_object_get(record,
	    "result"), "error");
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *what = json_string_value(json_object_get(error,
	    "message"));

	if (code == NULL || what == NULL || strcmp(code, "outside") != 0)
		return;
	json_array_append_new(json_object_get(record, "denials"),
	    json_pack("{s:s,s:s,s:s,s:s}", "layer", "jail", "what", what,
	    "rule", "home and workspace are the roots of all files",
	    "next", "name a file in home or workspace"));
	call->denied = strndup(what, DENIED_BYTES);
}

static const char *
code_name(const struct call *call, int stream)
{
	return (call->base64[stream] ? "base64" : "utf-8");
}

/* ---- a plain record: text, to which more of it is added ---- */

int
result_is_plain(const char *json, size_t n)
{
	static const char *const names[] = { "state", "stdout", "stderr" };
	struct flat_value v[3];

	return (flat_read(json, n, names, v, 3) == 0 && v[0].p != NULL &&
	    v[1].p == NULL && v[2].p == NULL);
}

/*
 * Copies the record without its last brace, and without what is not ours to
 * take from there; returns how many bytes that are, n - 1 at most.
 */
static size_t
copy_record(char *text, const char *json, size_t n)
{
	static const char name[] = ",\"transcript\":";
	const char *v;
	size_t size, front;

	v = flat_member(json, n, "transcript", &size);
	/* the first member is the call's id, so a comma is before it */
	if (v == NULL || v - json < (ptrdiff_t)sizeof(name)) {
		memcpy(text, json, n - 1);
		return (n - 1);
	}
	front = (size_t)(v - json) - (sizeof(name) - 1);
	memcpy(text, json, front);
	n -= (size_t)(v + size - json);
	memcpy(text + front, v + size, n - 1);
	return (front + n - 1);
}

static void
cut_text(const struct call *call, int stream, char text[24])
{
	if (kept_dropped(&call->kept, stream) == 0)
		(void)strlcpy(text, "null", 24);
	else
		(void)snprintf(text, 24, "%llu", (unsigned long long)
		    call->kept.stream[stream].head.bytes);
}

static void
seal_plain(struct call *call, char *reason, size_t size)
{
	const struct kept *k = &call->kept;
	char *json = call->plain, *text, cut[STREAMS][24];
	size_t n = strlen(json), used;
	int i, more;

	flat_string(json, n, "state", call->final, sizeof(call->final));
	if (call->final[0] == '\0')
		(void)strlcpy(call->final, "failed", sizeof(call->final));
	flat_string(json, n, "reason", reason, size);
	for (i = 0; i < STREAMS; i++)
		cut_text(call, i, cut[i]);
	if ((text = malloc(n + SEALED_MORE)) == NULL)
		fatalx("call %s: memory for its record", call->id);
	used = copy_record(text, json, n);
	more = snprintf(text + used, SEALED_MORE,
	    ",\"encoding\":{\"stdout\":\"%s\",\"stderr\":\"%s\"}"
	    ",\"bytes\":{\"stdout\":%llu,\"stderr\":%llu}"
	    ",\"redacted\":{\"stdout\":%llu,\"stderr\":%llu}"
	    ",\"dropped\":{\"stdout\":%llu,\"stderr\":%llu}"
	    ",\"cut\":{\"stdout\":%s,\"stderr\":%s}}",
	    code_name(call, 0), code_name(call, 1),
	    (unsigned long long)call->out[0].came,
	    (unsigned long long)call->out[1].came,
	    (unsigned long long)call->out[0].redacted,
	    (unsigned long long)call->out[1].redacted,
	    (unsigned long long)kept_dropped(k, 0),
	    (unsigned long long)kept_dropped(k, 1), cut[0], cut[1]);
	if (more < 0 || more >= SEALED_MORE)
		fatalx("call %s: its record is too long", call->id);
	/* what it has more than it needs is kept as long as the call */
	if ((call->record = realloc(text, used + (size_t)more + 1)) == NULL)
		call->record = text;
	free(call->plain);
	call->plain = NULL;
}

/* ---- any other ---- */

static void
seal_built(struct call *call, char *reason, size_t size)
{
	const struct kept *k = &call->kept;
	json_t *j = call->ended;
	const char *why = json_string_value(json_object_get(j, "reason"));

	(void)strlcpy(reason, why == NULL ? "" : why, size);
	if (call->body != NULL)
		body_seal(call->body, j);
	if (!call->is_clean)
		clean_values(j);
	if (call->body != NULL)
		note_denial(call, j);
	(void)snprintf(call->final, sizeof(call->final), "%s",
	    json_string_length(json_object_get(j, "state")) == 0 ? "failed" :
	    json_string_value(json_object_get(j, "state")));
	(void)json_object_del(j, "stdout");
	(void)json_object_del(j, "stderr");
	(void)json_object_del(j, "transcript");
	json_object_set_new(j, "encoding", pair(
	    json_string(code_name(call, 0)),
	    json_string(code_name(call, 1))));
	json_object_set_new(j, "bytes", pair(count(call->out[0].came),
	    count(call->out[1].came)));
	json_object_set_new(j, "redacted", pair(
	    count(call->out[0].redacted), count(call->out[1].redacted)));
	json_object_set_new(j, "dropped", pair(count(kept_dropped(k, 0)),
	    count(kept_dropped(k, 1))));
	json_object_set_new(j, "cut", pair(cut_at(call, 0),
	    cut_at(call, 1)));
	if ((call->record = json_text(j)) == NULL)
		fatalx("call %s: memory for its record", call->id);
	call->result = json_incref(json_object_get(j, "result"));
	json_decref(j);
	call->ended = NULL;
}

void
result_seal(struct call *call, char *reason, size_t size)
{
	int i;

	for (i = 0; i < STREAMS; i++)
		seal_stream(call, i);
	if (call->plain != NULL)
		seal_plain(call, reason, size);
	else
		seal_built(call, reason, size);
}

/* ---- sending ---- */

static void
sending_free(struct sending *s)
{
	int i;

	for (i = 0; i < STREAMS; i++)
		seglist_free(&s->output[i]);
	free(s->front);
	free(s);
}

static void
sending_gone(struct conn *c, void *arg)
{
	(void)c;
	sending_free(arg);
}

static struct sending *
sending_new(const struct call *call)
{
	struct sending *s;
	size_t n = strlen(call->record);
	int i;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	for (i = 0; i < STREAMS; i++) {
		s->base64[i] = call->base64[i];
		seglist_init(&s->output[i]);
	}
	/* The record without its last brace. */
	if ((s->front = malloc(n + FRONT_MORE)) == NULL)
		goto fail;
	memcpy(s->front, call->record, n - 1);
	(void)snprintf(s->front + n - 1, FRONT_MORE,
	    ",\"transcript\":%s,\"stdout\":\"", call->transcript == -1 ?
	    "null" : call->transcript ? "true" : "false");
	for (i = 0; i < STREAMS; i++)
		if (seglist_copy(&s->output[i],
		    &call->kept.stream[i].head) == -1 ||
		    seglist_copy(&s->output[i],
		    &call->kept.stream[i].tail) == -1)
			goto fail;
	return (s);
fail:
	sending_free(s);
	return (NULL);
}

static const char *
text_of(const struct sending *s, int i)
{
	static const char *const texts[STREAMS + 1] = { NULL,
	    "\",\"stderr\":\"", "\"}" };

	return (i == 0 ? s->front : texts[i]);
}

/* A part of the output, which goes from the list. */
static void
put_segment(struct evbuffer *out, struct sending *s, int stream)
{
	struct seglist *l = &s->output[stream];
	struct seg *g = TAILQ_FIRST(&l->segs);
	const uint8_t *data = g->chunk->data + g->off;
	struct evbuffer_iovec v;
	struct text_scan scan;
	size_t room;
	char *end;

	if (s->base64[stream]) {
		room = base64_size(g->len + 2);
	} else {
		text_scan(data, g->len, &scan);
		room = scan.escaped + TEXT_SLACK;
	}
	if (evbuffer_reserve_space(out, (ev_ssize_t)room, &v, 1) < 1)
		fatalx("memory for a result");
	if (s->base64[stream])
		end = base64_feed(&s->state, v.iov_base, data, g->len);
	else
		end = text_escape(v.iov_base, data, g->len);
	v.iov_len = (size_t)(end - (char *)v.iov_base);
	evbuffer_commit_space(out, &v, 1);
	seglist_drop_front(l, g->len);
}

static void
put_part(struct evbuffer *out, struct sending *s)
{
	int stream = s->part / 2;
	char rest[4];

	if (s->part % 2 == 0) {
		evbuffer_add(out, text_of(s, stream),
		    strlen(text_of(s, stream)));
		s->part++;
	} else if (!TAILQ_EMPTY(&s->output[stream].segs)) {
		put_segment(out, s, stream);
	} else {
		if (s->base64[stream])
			evbuffer_add(out, rest, (size_t)(base64_end(&s->state,
			    rest) - rest));
		s->part++;
	}
}

static void
sending_pump(struct conn *c, void *arg)
{
	struct sending *s = arg;

	while (s->part < NPARTS && conn_room(c))
		put_part(conn_output(c), s);
	if (s->part < NPARTS)
		return;
	sending_free(s);
	conn_end(c);
}

void
result_send(struct conn *c, struct call *call)
{
	struct sending *s;
	uint64_t size;

	if ((s = sending_new(call)) == NULL) {
		conn_error(c, API_INTERNAL, "memory for a result");
		return;
	}
	size = strlen(text_of(s, 0)) + call->coded[0] +
	    strlen(text_of(s, 1)) + call->coded[1] + strlen(text_of(s, 2));
	conn_hold(c, &sending_ops, s);
	conn_begin(c, 200, "application/json", (int64_t)size);
	sending_pump(c, s);
}

void
result_send_state(struct conn *c, const struct call *call, int status)
{
	const char *quote = call->approval[0] != '\0' ? "\"" : "";
	char text[240];
	int n;

	n = snprintf(text, sizeof(text), "{\"call\":\"%s\","
	    "\"session\":%s%s%s,\"state\":\"%s\",\"approval\":%s%s%s}", call->id,
	    call->session_id[0] != '\0' ? "\"" : "",
	    call->session_id[0] != '\0' ? call->session_id : "null",
	    call->session_id[0] != '\0' ? "\"" : "", call_state_name(call),
	    quote, call->approval[0] != '\0' ? call->approval : "null",
	    quote);
	conn_json(c, status, text, (size_t)n);
}

/* ---- waiting ---- */

static void
waiter_free(struct waiter *w)
{
	TAILQ_REMOVE(&w->call->waiters, w, entry);
	event_free(w->timer);
	free(w);
}

static void
waiter_gone(struct conn *c, void *arg)
{
	(void)c;
	waiter_free(arg);
}

static void
on_waited(evutil_socket_t fd, short what, void *arg)
{
	struct waiter *w = arg;
	struct call *call = w->call;
	struct conn *c = w->conn;

	(void)fd;
	(void)what;
	waiter_free(w);
	conn_release(c);
	result_send_state(c, call, 202);
}

void
result_wait(struct conn *c, struct call *call, uint32_t ms)
{
	struct timeval tv = { .tv_sec = ms / 1000,
	    .tv_usec = (suseconds_t)(ms % 1000) * 1000 };
	struct waiter *w;

	if (call->state == CALL_FINISHED) {
		result_send(c, call);
		return;
	}
	if (ms == 0) {
		result_send_state(c, call, 202);
		return;
	}
	if ((w = calloc(1, sizeof(*w))) == NULL ||
	    (w->timer = evtimer_new(proc_base(), on_waited, w)) == NULL)
		fatal("one who waits");
	w->call = call;
	w->conn = c;
	TAILQ_INSERT_TAIL(&call->waiters, w, entry);
	evtimer_add(w->timer, &tv);
	conn_hold(c, &waiter_ops, w);
}

void
result_wake(struct call *call)
{
	struct waiter *w;
	struct conn *c;

	while ((w = TAILQ_FIRST(&call->waiters)) != NULL) {
		c = w->conn;
		waiter_free(w);
		conn_release(c);
		result_send(c, call);
	}
}
