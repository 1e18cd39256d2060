/*
 * Answers of MCP: a JSON body, or the last message of a stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "json.h"
#include "log.h"
#include "mcp_internal.h"
#include "text.h"

#define PART	(48 * 1024)	/* of a blob at a time: a multiple of 3 */

/* An answer with a blob, under way. */
struct sending {
	char			*before;
	char			*after;
	struct seglist		 bytes;
	struct base64_state	 state;
	int			 streaming;
};

static void	sending_gone(struct conn *, void *);
static void	sending_pump(struct conn *, void *);

static const struct conn_ops sending_ops = {
	.writable = sending_pump,
	.gone = sending_gone
};

/* ---- messages ---- */

static json_t *
message(json_t *id)
{
	json_t *j = json_object();

	json_object_set_new(j, "jsonrpc", json_string("2.0"));
	if (id != NULL)
		json_object_set(j, "id", id);
	return (j);
}

static char *
text_of(json_t *j)
{
	char *text = json_text(j);

	if (text == NULL)
		fatalx("memory for an answer");
	json_decref(j);
	return (text);
}

/* What every result of an era has. */
static void
complete(struct mcp *m, json_t *result)
{
	json_t *meta;

	if (m->era != MCP_MODERN)
		return;
	if (json_object_get(result, "resultType") == NULL)
		json_object_set_new(result, "resultType",
		    json_string("complete"));
	if ((meta = json_object_get(result, "_meta")) == NULL) {
		meta = json_object();
		json_object_set_new(result, "_meta", meta);
	}
	json_object_set_new(meta, "io.modelcontextprotocol/serverInfo",
	    mcp_server_info());
}

/* ---- streams ---- */

void
mcp_stream_begin(struct mcp *m)
{
	if (m->streaming)
		return;
	m->streaming = 1;
	m->spoke = call_now();
	conn_header(m->conn, "X-Accel-Buffering", "no");
	conn_begin(m->conn, 200, "text/event-stream", -1);
}

static void
put_chunk(struct conn *c, const char *before, const char *text,
    const char *after)
{
	struct evbuffer *out = conn_output(c);

	evbuffer_add_printf(out, "%zx\r\n%s", strlen(before) + strlen(text) +
	    strlen(after), before);
	evbuffer_add(out, text, strlen(text));
	evbuffer_add_printf(out, "%s\r\n", after);
}

void
mcp_stream_comment(struct mcp *m)
{
	m->spoke = call_now();
	put_chunk(m->conn, ":", "", "\n\n");
}

void
mcp_stream_put(struct mcp *m, json_t *j)
{
	char *text = text_of(j);

	m->spoke = call_now();
	put_chunk(m->conn, "data: ", text, "\n\n");
	free(text);
}

/* ---- the last word ---- */

static void
put_text(struct mcp *m, int status, char *text)
{
	if (m->streaming) {
		put_chunk(m->conn, "data: ", text, "\n\n");
		conn_end(m->conn);
	} else {
		conn_json(m->conn, status, text, strlen(text));
	}
	free(text);
}

/* The result of a call as that of its task. */
static json_t *
in_task(struct mcp *m, json_t *result)
{
	json_t *task = m->task;

	m->task = NULL;
	json_object_set_new(result, "resultType", json_string("complete"));
	json_object_set_new(task, "result", result);
	return (task);
}

void
mcp_result(struct mcp *m, json_t *result)
{
	json_t *j = message(m->message.id);

	if (m->task != NULL)
		result = in_task(m, result);
	complete(m, result);
	json_object_set_new(j, "result", result);
	put_text(m, 200, text_of(j));
}

static json_t *
problem_json(json_t *id, struct mcp_problem *p)
{
	json_t *j = message(id), *error = json_object();
	char *s;

	/* Words that quote what somebody sent. */
	for (s = p->why; *s != '\0'; s++)
		if ((unsigned char)*s >= 0x7f || (unsigned char)*s < ' ')
			*s = '?';
	json_object_set_new(error, "code", json_integer(p->code));
	json_object_set_new(error, "message", json_string(p->why));
	if (p->data != NULL)
		json_object_set_new(error, "data", p->data);
	json_object_set_new(j, "error", error);
	return (j);
}

void
mcp_fail(struct mcp *m, struct mcp_problem *p)
{
	log_debug("mcp: %d: %s", p->code, p->why);
	put_text(m, p->status, text_of(problem_json(m->message.id, p)));
}

void
mcp_fail_conn(struct conn *c, json_t *id, struct mcp_problem *p)
{
	char *text = text_of(problem_json(id, p));

	conn_json(c, p->status, text, strlen(text));
	free(text);
}

/* ---- with a blob ---- */

static void
sending_free(struct sending *s)
{
	seglist_free(&s->bytes);
	free(s->before);
	free(s->after);
	free(s);
}

static void
sending_gone(struct conn *c, void *arg)
{
	(void)c;
	sending_free(arg);
}

static void
put_part(struct evbuffer *out, struct sending *s)
{
	struct seg *g = TAILQ_FIRST(&s->bytes.segs);
	struct evbuffer_iovec v;
	size_t n = g->len > PART ? PART : g->len;
	char *end;

	if (evbuffer_reserve_space(out, (ev_ssize_t)base64_size(n + 2), &v,
	    1) < 1)
		fatalx("memory for a result");
	end = base64_feed(&s->state, v.iov_base, g->chunk->data + g->off, n);
	v.iov_len = (size_t)(end - (char *)v.iov_base);
	evbuffer_commit_space(out, &v, 1);
	seglist_drop_front(&s->bytes, n);
}

static void
sending_pump(struct conn *c, void *arg)
{
	struct evbuffer *out = conn_output(c);
	struct sending *s = arg;
	char rest[4];

	while (!TAILQ_EMPTY(&s->bytes.segs)) {
		if (!conn_room(c))
			return;
		put_part(out, s);
	}
	evbuffer_add(out, rest, (size_t)(base64_end(&s->state, rest) - rest));
	evbuffer_add(out, s->after, strlen(s->after));
	if (s->streaming)
		evbuffer_add(out, "\n\n\r\n", 4);
	sending_free(s);
	conn_end(c);
}

/* The text before the blob and behind it. */
static struct sending *
sending_new(struct mcp *m, json_t *result, struct mcp_blob *blob)
{
	json_t *content = json_incref(json_object_get(result, "content"));
	struct sending *s;
	char *id, *items, *members, *task = NULL;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		fatal("an answer");
	(void)json_object_del(result, "content");
	items = text_of(content);
	members = text_of(result);
	id = json_dumps(m->message.id, JSON_COMPACT | JSON_ENCODE_ANY);
	if (m->task != NULL) {
		/* "{...}" without its last bracket */
		task = text_of(json_incref(m->task));
		task[strlen(task) - 1] = '\0';
	}
	if (id == NULL || asprintf(&s->before, "{\"jsonrpc\":\"2.0\","
	    "\"id\":%s,\"result\":%s%s{\"content\":[%s", id,
	    task != NULL ? task : "", task != NULL ? ",\"result\":" : "",
	    blob->head) == -1 ||
	    /* "[...]" and "{...}" without their first bracket */
	    asprintf(&s->after, "%s%s%s%s%s}%s", blob->tail,
	    strcmp(items, "[]") == 0 ? "" : ",", items + 1,
	    strcmp(members, "{}") == 0 ? "" : ",", members + 1,
	    task != NULL ? "}" : "") == -1)
		fatal("an answer");
	free(task);
	s->streaming = m->streaming;
	/* Not copied as it is: a list's head points into itself. */
	seglist_init(&s->bytes);
	if (seglist_copy(&s->bytes, &blob->bytes) == -1)
		fatal("an answer");
	seglist_free(&blob->bytes);
	free(blob->head);
	free(id);
	free(items);
	free(members);
	return (s);
}

void
mcp_result_blob(struct mcp *m, json_t *result, struct mcp_blob *blob)
{
	struct conn *c = m->conn;
	struct sending *s;
	size_t size;

	if (m->task != NULL)
		json_object_set_new(result, "resultType",
		    json_string("complete"));
	complete(m, m->task != NULL ? m->task : result);
	s = sending_new(m, result, blob);
	size = strlen(s->before) + base64_size(s->bytes.bytes) +
	    strlen(s->after);
	conn_hold(c, &sending_ops, s);
	if (m->streaming)
		evbuffer_add_printf(conn_output(c), "%zx\r\ndata: ",
		    size + strlen("data: ") + 2);
	else
		conn_begin(c, 200, "application/json", (int64_t)size);
	evbuffer_add(conn_output(c), s->before, strlen(s->before));
	sending_pump(c, s);
}
