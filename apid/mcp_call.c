/*
 * tools/call: from the message to a call, and while it runs.
 */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "log.h"
#include "mcp_internal.h"
#include "policy.h"
#include "proc.h"
#include "text.h"
#include "tools.h"
#include "without.h"

#define PATIENCE	40	/* CONN_TICKs that a stream may lie unread */
#define QUIET_MS	10000	/* the longest silence of a stream */
#define LOOK_MS		500	/* between looks for progress */
#define LINE_MAX_BYTES	160	/* of output in a progress message */

static void	wait_gone(struct conn *, void *);

static const struct conn_ops wait_ops = {
	.gone = wait_gone,
	.patience = PATIENCE
};

/* ---- the request ---- */

static int
bad_params(struct mcp_problem *p, const char *why)
{
	return (mcp_problem(p, 200, RPC_BAD_PARAMS, "Invalid params: %s",
	    why));
}

/* A header becomes the member of /v1 that says the same, or is refused. */
static int
put_header(const struct mcp *m, enum http_text which, json_t *body,
    const char *member, struct mcp_problem *p)
{
	const char *text = http_text(&m->conn->head, which);
	json_t *v;

	if (text == NULL)
		return (0);
	if ((v = json_string(text)) == NULL)
		return (mcp_problem(p, 200, RPC_BAD_PARAMS, "Invalid params: "
		    "the header for the %s is not UTF-8", member));
	json_object_set_new(body, member, v);
	return (0);
}

static int
put_timeout(const struct mcp *m, json_t *body, struct mcp_problem *p)
{
	const char *text = http_text(&m->conn->head, TEXT_TIMEOUT);

	if (text == NULL)
		return (0);
	if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text) ||
	    strlen(text) > 9)
		return (bad_params(p, "Myelin-Timeout is not a number of "
		    "milliseconds"));
	json_object_set_new(body, "timeout_ms",
	    json_integer(strtoll(text, NULL, 10)));
	return (0);
}

static int
put_read_only(const struct mcp *m, json_t *body, struct mcp_problem *p)
{
	const char *text = http_text(&m->conn->head, TEXT_READ_ONLY);

	if (text == NULL)
		return (0);
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return (bad_params(p, "Myelin-Read-Only is neither true nor "
		    "false"));
	json_object_set_new(body, "read_only",
	    json_boolean(strcmp(text, "true") == 0));
	return (0);
}

static int
read_token(struct mcp *m, struct mcp_problem *p)
{
	json_t *token = json_object_get(m->message.meta, "progressToken");

	if (token != NULL && !json_is_integer(token) &&
	    (!json_is_string(token) ||
	    json_string_length(token) > MCP_ID_MAX))
		return (bad_params(p, "progressToken is neither a whole "
		    "number nor a string of at most 256 bytes"));
	m->token = token;
	return (0);
}

static int
read_session(struct mcp *m, struct mcp_problem *p)
{
	const char *id = http_text(&m->conn->head, TEXT_SESSION);

	if (id == NULL)
		return (0);
	if (!id_ok(ID_SESSION, id))
		return (bad_params(p, "Myelin-Session is not a session's id"));
	memcpy(m->in, id, sizeof(m->in));
	return (0);
}

/* The tool and its arguments, as the members of a body of /v1. */
static json_t *
read_call(struct mcp *m, struct mcp_problem *p)
{
	json_t *name = json_object_get(m->message.params, "name"), *body;
	json_t *args = json_object_get(m->message.params, "arguments");

	if (!json_is_string(name)) {
		bad_params(p, "name is not a string");
		return (NULL);
	}
	/* A reload may bring others while the call runs. */
	m->tool = json_incref(tools_find(json_string_value(name)));
	if (m->tool == NULL || strlen(json_string_value(name)) !=
	    json_string_length(name)) {
		(void)mcp_problem(p, 200, RPC_BAD_PARAMS,
		    "Unknown tool: %.64s", json_string_value(name));
		return (NULL);
	}
	/* Who has nothing to say leaves them out. */
	if (args != NULL && !json_is_null(args) && !json_is_object(args)) {
		bad_params(p, "arguments is not an object");
		return (NULL);
	}
	body = json_object();
	json_object_set(body, "tool", name);
	if (json_is_object(args))
		json_object_set(body, "args", args);
	else
		json_object_set_new(body, "args", json_object());
	return (body);
}

/*
 * Fills the request by the reader of /v1's bodies.  A call of its own takes
 * what a body of POST /v1/calls may say; one in a session that there is, less.
 */
static int
read_request(struct mcp *m, struct mcp_problem *p)
{
	unsigned which = m->in[0] != '\0' ? REQUEST_CALL : REQUEST_ONCE;
	struct http_bad bad;
	json_t *body;
	int error = -1;

	if ((body = read_call(m, p)) == NULL)
		return (-1);
	if (put_timeout(m, body, p) == -1)
		goto out;
	if (which == REQUEST_ONCE &&
	    (put_header(m, TEXT_PROFILE, body, "profile", p) == -1 ||
	    put_header(m, TEXT_PRESET, body, "preset", p) == -1 ||
	    put_header(m, TEXT_WORKSPACE, body, "workspace", p) == -1 ||
	    put_read_only(m, body, p) == -1))
		goto out;
	m->has_request = 1;
	error = request_take(&m->request, which, body, conns_limits(), &bad);
	if (error == -1)
		(void)mcp_problem(p, 200, bad.code == API_INTERNAL ?
		    RPC_INTERNAL : RPC_BAD_PARAMS, "Invalid params: %s",
		    bad.why);
	m->request.with_asker = m->era == MCP_MODERN;
	m->request.asks_with_asker = 1;
out:
	json_decref(body);
	return (error);
}

/* ---- asking ---- */

/* The Myelin session of one of MCP's is there. */
static void
opened(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	json_t *j = json_loadb(json, n, 0, NULL);
	const char *id = json_string_value(json_object_get(j, "session"));
	struct mcp *m = arg;

	(void)status;
	if (id == NULL || !id_ok(ID_SESSION, id)) {
		json_decref(j);
		conn_error(c, API_INTERNAL, "policyd named no session");
		return;
	}
	memcpy(m->in, id, sizeof(m->in));
	json_decref(j);
	call_ask(c, m->in, &m->request);
}

static int
read_all(struct mcp *m, struct mcp_problem *p)
{
	if (read_token(m, p) == -1 || read_session(m, p) == -1 ||
	    read_request(m, p) == -1)
		return (-1);
	mcp_held_subject(m);
	return (0);
}

void
mcp_tools_call(struct mcp *m)
{
	struct mcp_problem p;
	struct call *call;

	m->begun = call_now();
	if (read_all(m, &p) == -1 || mcp_held_find(m, &call, &p) == -1)
		mcp_fail(m, &p);
	else if (call != NULL)
		mcp_call_begun(m->conn, m, call);
	else if (m->in[0] != '\0')
		call_ask(m->conn, m->in, &m->request);
	else if (m->era == MCP_LEGACY)
		policy_open_named(m->conn, m->session.name, &m->request,
		    opened, m);
	else
		call_ask(m->conn, NULL, &m->request);
}

/* The result, for good: nobody else will be given it. */
static void
give(struct mcp *m, struct call *call)
{
	if (!WITHOUT(mcp_state_once))
		mcp_held_free(call);
	mcp_call_result(m, call);
}

/* ---- while it runs ---- */

/* The end of the latest output, if it is text: a line of it. */
static json_t *
last_line(const struct call *call)
{
	const struct event_row *e = NULL;
	const char *text, *end, *p;
	size_t i;

	for (i = call->ring.count; i > 0 && e == NULL; i--) {
		e = &call->ring.v[(call->ring.first + i - 1) &
		    (call->ring.size - 1)];
		if (e->kind != EVENT_OUTPUT || e->base64)
			e = NULL;
	}
	if (e == NULL)
		return (NULL);
	text = (const char *)e->chunk->data + e->off;
	for (end = text + e->len; end > text && (end[-1] == '\n' ||
	    end[-1] == '\r'); end--)
		continue;
	for (p = end; p > text && p[-1] != '\n' && p[-1] != '\r' &&
	    end - p < LINE_MAX_BYTES; p--)
		continue;
	/* Not in the middle of a character. */
	while (p < end && ((unsigned char)*p & 0xc0) == 0x80)
		p++;
	return (json_stringn(p, (size_t)(end - p)));
}

static void
put_progress(struct mcp *m, const struct call *call)
{
	json_t *j = json_object(), *params = json_object(), *line;
	double seconds = (double)(call_now() - m->begun) / 1000;
	char words[100];

	line = last_line(call);
	if (line == NULL) {
		if (call->state == CALL_AWAITING)
			(void)snprintf(words, sizeof(words), "waiting for "
			    "approval %s, %.1f s", call->approval, seconds);
		else
			(void)snprintf(words, sizeof(words), "%s, %.1f s",
			    call_state_name(call), seconds);
		line = json_string(words);
	}
	json_object_set(params, "progressToken", m->token);
	/* It must grow, and time is all that surely does. */
	json_object_set_new(params, "progress", json_real(seconds));
	json_object_set_new(params, "message", line);
	json_object_set_new(j, "jsonrpc", json_string("2.0"));
	json_object_set_new(j, "method",
	    json_string("notifications/progress"));
	json_object_set_new(j, "params", params);
	m->told = call->ring.last_id;
	mcp_stream_put(m, j);
}

/* ms until a client has waited enough for a person; 0: now; -1: it may. */
static int64_t
asking_left(const struct mcp *m)
{
	int64_t left = m->begun + (int64_t)conns_limits()->v[LIMIT_WAIT] -
	    call_now();

	if (m->call->state != CALL_AWAITING)
		return (-1);
	return (left > 0 ? left : 0);
}

static void
set_timer(struct mcp *m)
{
	int64_t ms = m->token != NULL ? LOOK_MS : QUIET_MS;
	int64_t left = asking_left(m);
	struct timeval tv;

	if (left != -1 && left < ms)
		ms = left;
	tv.tv_sec = ms / 1000;
	tv.tv_usec = ms % 1000 * 1000;
	evtimer_add(m->timer, &tv);
}

void
mcp_call_asking(struct call *call)
{
	set_timer(call->mcp);
}

/*
 * A client that takes no stream waits for its answer in silence, as one of
 * /v1 does.
 */
static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct mcp *m = arg;
	int64_t quiet;

	(void)fd;
	(void)what;
	if (asking_left(m) == 0) {
		mcp_hand_out(m);
		return;
	}
	set_timer(m);
	if (!m->conn->head.wants_events || !conn_room(m->conn))
		return;
	mcp_stream_begin(m);
	quiet = call_now() - m->spoke;
	if (m->token != NULL && (m->told != m->call->ring.last_id ||
	    quiet >= QUIET_MS - LOOK_MS))
		put_progress(m, m->call);
	else if (m->token == NULL)
		mcp_stream_comment(m);
}

void
mcp_call_begun(struct conn *c, void *arg, struct call *call)
{
	struct mcp *m = arg;

	/* What was asked is asked, and may be large: the call may take long. */
	conn_body_done(c);
	request_free(&m->request);
	(void)json_object_del(m->message.params, "arguments");
	if (call->state == CALL_FINISHED) {
		give(m, call);
		return;
	}
	m->call = call;
	call->mcp = m;
	conn_hold(c, &wait_ops, m);
	if ((m->timer = evtimer_new(proc_base(), on_timer, m)) == NULL)
		fatalx("memory");
	set_timer(m);
	if (m->token != NULL && c->head.wants_events) {
		mcp_stream_begin(m);
		put_progress(m, call);
	}
	if (m->cancelled)
		policy_stop(c->handle, STOP_CANCELLED, call->id);
}

/* ---- its end ---- */

static void
detach(struct mcp *m)
{
	if (m->timer != NULL)
		event_free(m->timer);
	m->timer = NULL;
	if (m->call != NULL)
		m->call->mcp = NULL;
	m->call = NULL;
}

void
mcp_call_finished(struct call *call)
{
	struct mcp *m = call->mcp;

	detach(m);
	conn_release(m->conn);
	give(m, call);
}

/*
 * In the modern era a stream that is closed is a call that is cancelled.  In
 * the other it is not; but what is allowed once nobody is there any more must
 * not run by itself, unless it was said that one can come back for it.
 */
static void
wait_gone(struct conn *c, void *arg)
{
	struct mcp *m = arg;
	struct call *call = m->call;

	if (call == NULL)
		return;
	if (m->era == MCP_MODERN ? !WITHOUT(mcp_close) :
	    call->state == CALL_AWAITING && call->held == NULL &&
	    !WITHOUT(mcp_deserted))
		policy_stop(c->handle, STOP_CANCELLED, call->id);
	call->deserted = call->held == NULL;
}

void
mcp_leave(struct mcp *m)
{
	detach(m);
}

static int
same_session(const struct mcp *a, const struct mcp *b)
{
	return (strcmp(a->session.name, b->session.name) == 0 &&
	    strcmp(a->conn->who, b->conn->who) == 0);
}

/*
 * Ids are chosen by clients, who all count from the same number: one means
 * something beside its session and principal only.
 */
void
mcp_cancel(struct mcp *m)
{
	json_t *id = json_object_get(m->message.params, "requestId");
	struct mcp *other;

	if (m->session.name[0] == '\0' || id == NULL)
		return;
	TAILQ_FOREACH(other, &mcps, entry) {
		if (other == m || !other->has_request ||
		    other->era != MCP_LEGACY ||
		    (!same_session(other, m) && !WITHOUT(mcp_ids)) ||
		    !json_equal(other->message.id, id))
			continue;
		if (other->call != NULL)
			policy_stop(m->conn->handle, STOP_CANCELLED,
			    other->call->id);
		else
			other->cancelled = 1;
	}
}
