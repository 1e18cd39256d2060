/*
 * Handlers of routes about calls and what belongs to them.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "feed.h"
#include "json.h"
#include "policy.h"
#include "request.h"
#include "result.h"
#include "routes.h"
#include "stream.h"
#include "transcript.h"

/* Decodes the body; -1 after answering. */
static int
read_body(struct conn *c, unsigned which, struct request *q)
{
	struct http_bad bad;

	if (request_read(q, which, c->body, c->body_size, conns_limits(),
	    &bad) == 0)
		return (0);
	request_free(q);
	conn_error(c, bad.code, "%s", bad.why);
	return (-1);
}

void
route_call_once(struct conn *c)
{
	struct request q;

	if (read_body(c, REQUEST_ONCE, &q) == -1)
		return;
	call_ask(c, NULL, &q);
	request_free(&q);
}

void
route_call_session(struct conn *c)
{
	struct request q;

	if (read_body(c, REQUEST_CALL, &q) == -1)
		return;
	call_ask(c, c->id, &q);
	request_free(&q);
}

void
route_session_open(struct conn *c)
{
	struct request q;

	if (read_body(c, REQUEST_SESSION, &q) == -1)
		return;
	policy_open(c, &q, NULL, NULL);
	request_free(&q);
}

void
route_call_get(struct conn *c)
{
	uint64_t ms = 0, most = conns_limits()->v[LIMIT_WAIT];
	struct call *call;

	if (http_query_number(&c->head, "wait_ms", &ms) == -1 || ms > most) {
		conn_error(c, API_BAD_REQUEST, "wait_ms: not a number up to "
		    "the limit \"%s\", %llu ms",
		    limit_table[LIMIT_WAIT].keyword,
		    (unsigned long long)most);
		return;
	}
	if ((call = call_of(c, c->id)) != NULL)
		result_wait(c, call, (uint32_t)ms);
	else
		policy_query(c, QUERY_CALL, 0, 0, c->id, transcript_answer,
		    NULL);
}

/* ---- events ---- */

/* A word in a record of policyd's: "" if there is none. */
static void
record_word(const char *json, size_t n, const char *name, char *dst,
    size_t size)
{
	json_t *j = json_loadb(json, n, 0, NULL);
	const char *s = json_string_value(json_object_get(j, name));

	dst[0] = '\0';
	if (s != NULL && strlen(s) < size)
		memcpy(dst, s, strlen(s) + 1);
	json_decref(j);
}

static int
is_final(const char *state)
{
	return (strcmp(state, "completed") == 0 ||
	    strcmp(state, "failed") == 0 || strcmp(state, "cancelled") == 0);
}

/* policyd knows the call, we don't: we were started again since. */
static void
events_of_record(struct conn *c, int status, const char *json, size_t n,
    void *arg)
{
	char state[32], *text = NULL;

	(void)status;
	(void)arg;
	if (memchr(json, '\n', n) != NULL) {
		if ((text = transcript_call(json, n)) == NULL) {
			conn_error(c, API_INTERNAL, "a transcript that is "
			    "none");
			return;
		}
		json = text;
		n = strlen(text);
	}
	record_word(json, n, "state", state, sizeof(state));
	if (is_final(state))
		stream_record(c, c->id, json, n);
	else
		conn_error(c, API_CONFLICT,
		    "%s: its events are not here", c->id);
	free(text);
}

void
route_call_events(struct conn *c)
{
	struct call *call = call_of(c, c->id);

	if (call != NULL)
		stream_call(c, call,
		    c->head.has_last_id ? c->head.last_id : 0);
	else
		policy_query(c, QUERY_CALL, 0, 0, c->id, events_of_record,
		    NULL);
}

void
route_call_same(struct conn *c, const char *id, int wants_events,
    uint32_t wait_ms)
{
	struct call *call = call_of(c, id);

	/* from here on it is what the request is about */
	memcpy(c->id, id, sizeof(c->id));
	if (call != NULL && wants_events)
		stream_call(c, call, 0);
	else if (call != NULL)
		result_wait(c, call, wait_ms);
	else
		policy_query(c, QUERY_CALL, 0, 0, id, wants_events ?
		    events_of_record : transcript_answer, NULL);
}

static void
events_of_session(struct conn *c, int status, const char *json, size_t n,
    void *arg)
{
	char state[32], reason[32], id[ID_SIZE];
	int over;

	(void)status;
	(void)arg;
	memcpy(id, c->id, sizeof(id));
	record_word(json, n, "state", state, sizeof(state));
	record_word(json, n, "reason", reason, sizeof(reason));
	over = strcmp(state, "live") != 0;
	stream_session(c, id, !c->head.has_last_id, c->head.last_id, over);
	if (over)
		session_ended(id, reason);
}

void
route_session_events(struct conn *c)
{
	policy_query(c, QUERY_SESSION, 0, 0, c->id, events_of_session, NULL);
}

static void
after_end(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	char reason[32];

	(void)arg;
	record_word(json, n, "reason", reason, sizeof(reason));
	session_ended(c->id, reason);
	conn_json(c, status, json, n);
}

void
route_session_end(struct conn *c)
{
	policy_end(c, c->id, after_end, NULL);
}

/* ---- cancel, stdin, signal, resize ---- */

/* -1 after answering, if a body came that is more than {}. */
static int
check_empty(struct conn *c)
{
	struct http_bad bad;
	json_t *j;
	int n;

	if (c->body_size == 0)
		return (0);
	if ((j = json_read(c->body, c->body_size, &bad)) == NULL) {
		conn_error(c, bad.code, "%s", bad.why);
		return (-1);
	}
	n = json_object_size(j) > 0;
	json_decref(j);
	if (n)
		conn_error(c, API_BAD_REQUEST, "%s takes no members",
		    c->route->path);
	return (n ? -1 : 0);
}

void
route_call_cancel(struct conn *c)
{
	struct call *call;

	if (check_empty(c) == -1)
		return;
	if ((call = call_of(c, c->id)) == NULL) {
		/* What only policyd remembers has ended. */
		policy_query(c, QUERY_CALL, 0, 0, c->id, transcript_answer,
		    NULL);
		return;
	}
	if (call->state < CALL_ENDED) {
		policy_stop(c->handle, STOP_CANCELLED, call->id);
		result_send_state(c, call, 202);
	} else {
		result_send_state(c, call, 200);
	}
}

/* policyd knows the call, we do not: it has ended. */
static void
of_record(struct conn *c, int status, const char *json, size_t n,
    void *arg)
{
	(void)status;
	(void)json;
	(void)n;
	(void)arg;
	conn_error(c, API_CONFLICT, "%s: the call has ended", c->id);
}

void
route_call_stdin(struct conn *c)
{
	struct call *call = call_of(c, c->id);
	uint64_t eof = 0;

	if (http_query_number(&c->head, "eof", &eof) == -1 || eof > 1)
		conn_error(c, API_BAD_REQUEST, "eof: neither 0 nor 1");
	else if (call == NULL)
		policy_query(c, QUERY_CALL, 0, 0, c->id, of_record, NULL);
	else
		feed_request(c, call, eof == 1);
}

/* What we know of it is enough to say no; policyd says yes. */
static void
steer(struct conn *c, enum msg_type type, uint32_t value)
{
	struct call *call = call_of(c, c->id);

	if (call == NULL)
		policy_query(c, QUERY_CALL, 0, 0, c->id, of_record, NULL);
	else if (call->state >= CALL_ENDED)
		conn_error(c, API_CONFLICT, "%s: the call has ended", c->id);
	else if (type == MSG_RESIZE && !call->pty)
		conn_error(c, API_CONFLICT, "%s: the call has no terminal",
		    c->id);
	else
		policy_steer(c, type, value, c->id);
}

void
route_call_signal(struct conn *c)
{
	struct http_bad bad;
	uint32_t sig;

	if (request_signal(c->body, c->body_size, &sig, &bad) == -1)
		conn_error(c, bad.code, "%s", bad.why);
	else
		steer(c, MSG_SIGNAL, sig);
}

void
route_call_resize(struct conn *c)
{
	struct http_bad bad;
	uint32_t size;

	if (request_resize(c->body, c->body_size, &size, &bad) == -1)
		conn_error(c, bad.code, "%s", bad.why);
	else
		steer(c, MSG_RESIZE, size);
}
