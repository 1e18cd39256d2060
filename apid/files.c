/*
 * PUT and GET of files.
 *
 * apid opens nothing: the bytes of a PUT are the input of a write call, those
 * of a GET the output of a read call, which are asked for, judged and run as
 * any other.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "call.h"
#include "conn.h"
#include "file_name.h"
#include "files.h"
#include "json.h"
#include "policy.h"
#include "request.h"
#include "routes.h"
#include "shown.h"
#include "stream.h"
#include "text.h"

#define EXPECT_SIZE	65	/* of a digest in hexadecimal, or "absent" */

static void	get_bytes(struct conn *, struct call *, const uint8_t *,
		    size_t);
static void	get_end(struct conn *, struct call *);
static void	put_end(struct conn *, struct call *);

/* A reader of a file that leaves ends its call; a write goes on. */
static const struct stream_sink get_sink = {
	.bytes = get_bytes,
	.end = get_end,
	.cancels = 1
};

static const struct stream_sink put_sink = {
	.end = put_end
};

/* ---- the request ---- */

/* The path of the URL, decoded; -1 after answering. */
static int
read_path(struct conn *c, char path[PATH_BYTES_MAX])
{
	if (url_path_decode(c->rest, path, PATH_BYTES_MAX) == -1) {
		conn_error(c, API_BAD_REQUEST, "the file's path: a %% without "
		    "two hexadecimal digits, a NUL, or over %d bytes",
		    PATH_BYTES_MAX - 1);
		return (-1);
	}
	return (0);
}

/* As text where it is text, else as its bytes. */
static void
set_path(json_t *args, const char *path)
{
	size_t n = strlen(path);
	json_t *text = json_stringn(path, n);
	char *coded;

	if (text != NULL) {
		json_object_set_new(args, "path", text);
		return;
	}
	if ((coded = malloc(base64_size(n) + 1)) == NULL)
		return;
	*base64_write(coded, (const uint8_t *)path, n) = '\0';
	json_object_set_new(args, "path_base64", json_string(coded));
	free(coded);
}

static json_t *
get_arguments(const struct conn *c, const char *path)
{
	json_t *args = json_object();
	char format[8] = "";

	(void)http_query_text(&c->head, "format", format, sizeof(format));
	set_path(args, path[0] == '\0' ? "." : path);
	if (format[0] != '\0')
		json_object_set_new(args, "tar", json_true());
	else
		json_object_set_new(args, "byte_offset", json_integer(0));
	return (args);
}

static json_t *
put_arguments(const struct conn *c, const char *path)
{
	json_t *args = json_object();
	char expect[EXPECT_SIZE] = "";
	uint64_t parents = 0;

	set_path(args, path);
	(void)http_query_number(&c->head, "parents", &parents);
	if (http_query_text(&c->head, "expect", expect, sizeof(expect)) == 1)
		json_object_set_new(args, "expect", json_string(expect));
	if (parents != 0)
		json_object_set_new(args, "parents", json_true());
	return (args);
}

/* Asks for the call, in the session of the neuron. */
static void
ask(struct conn *c, const char *session, json_t *args, int put)
{
	struct request q = { .input = put ? STDIN_INLINE : STDIN_NONE,
	    .block = !put };
	json_t *all = json_object();
	uint64_t ms = 0;

	(void)http_query_number(&c->head, "timeout_ms", &ms);
	q.timeout_ms = (uint32_t)ms;
	(void)snprintf(q.tool, sizeof(q.tool), "%s", put ? "write" : "read");
	json_object_set_new(all, "args", args);
	q.arguments = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	q.shown = shown_arguments(all);
	json_decref(all);
	if (q.arguments == NULL || q.shown == NULL) {
		conn_error(c, API_INTERNAL, "memory for arguments");
	} else {
		q.arguments_size = strlen(q.arguments);
		q.text = (uint8_t *)c->body;
		q.text_size = c->body_size;
		call_ask_sink(c, session, &q, put ? &put_sink : &get_sink);
	}
	free(q.arguments);
	free(q.shown);
}

/* policyd shows the neurons of who asks alone. */
static void
on_neuron(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	json_t *neuron = json_loadb(json, n, 0, NULL);
	const char *session;
	char path[PATH_BYTES_MAX];
	int put = strcmp(c->head.method, "PUT") == 0;

	(void)status;
	(void)arg;
	session = json_string_value(json_object_get(neuron, "session"));
	if (session == NULL)
		conn_error(c, API_NOT_FOUND, "%s has no live session of yours",
		    c->id);
	else if (read_path(c, path) == 0)
		ask(c, session, put ? put_arguments(c, path) :
		    get_arguments(c, path), put);
	json_decref(neuron);
}

/* -1 after answering. */
static int
check_timeout(struct conn *c)
{
	uint64_t ms = 1;

	if (http_query_number(&c->head, "timeout_ms", &ms) == -1 || ms == 0 ||
	    ms > UINT32_MAX) {
		conn_error(c, API_BAD_REQUEST, "timeout_ms: no such time");
		return (-1);
	}
	return (0);
}

void
route_file_get(struct conn *c)
{
	char path[PATH_BYTES_MAX], format[8];
	int given;

	given = http_query_text(&c->head, "format", format, sizeof(format));
	if (given == -1 || (given == 1 && strcmp(format, "tar") != 0)) {
		conn_error(c, API_BAD_REQUEST, "format: only \"tar\" is known");
		return;
	}
	if (read_path(c, path) == -1 || check_timeout(c) == -1)
		return;
	policy_query(c, QUERY_NEURON, 0, 0, c->id, on_neuron, NULL);
}

void
route_file_put(struct conn *c)
{
	char path[PATH_BYTES_MAX], expect[EXPECT_SIZE];
	uint64_t parents = 0;

	if (http_query_number(&c->head, "parents", &parents) == -1 ||
	    parents > 1) {
		conn_error(c, API_BAD_REQUEST, "parents: neither 0 nor 1");
		return;
	}
	if (http_query_text(&c->head, "expect", expect, sizeof(expect)) ==
	    -1) {
		conn_error(c, API_BAD_REQUEST, "expect: neither a SHA-256 nor "
		    "\"absent\"");
		return;
	}
	if (read_path(c, path) == -1 || check_timeout(c) == -1)
		return;
	if (path[0] == '\0') {
		conn_error(c, API_BAD_REQUEST, "the file has no name");
		return;
	}
	policy_query(c, QUERY_NEURON, 0, 0, c->id, on_neuron, NULL);
}

/* ---- the answer ---- */

/* What a body refuses, and what that is in HTTP. */
static const struct {
	const char	*code;
	enum api_error	 error;
} body_errors[] = {
	{ "not_found",		API_NOT_FOUND },
	{ "outside",		API_FORBIDDEN },
	{ "permission",		API_FORBIDDEN },
	{ "too_large",		API_TOO_LARGE },
	{ "no_space",		API_NO_SPACE },
	{ "bad_path",		API_BAD_REQUEST },
	{ "bad_argument",	API_BAD_REQUEST },
	{ "not_a_file",		API_CONFLICT },
	{ "is_a_directory",	API_CONFLICT },
	{ "not_a_directory",	API_CONFLICT },
	{ "exists",		API_CONFLICT },
	{ "changed",		API_CONFLICT },
	{ "busy",		API_CONFLICT }
};

static const struct {
	const char	*reason;
	enum api_error	 error;
} reasons[] = {
	{ "denied_by_policy",	API_FORBIDDEN },
	{ "approval_rejected",	API_FORBIDDEN },
	{ "approval_expired",	API_FORBIDDEN },
	{ "invalid_arguments",	API_BAD_REQUEST }
};

static const char *
member(const json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return (s == NULL ? "" : s);
}

/* The call did not do what was asked, and its answer has not begun. */
static void
refuse(struct conn *c, const struct call *call)
{
	json_t *record = json_loads(call->record, JSON_ALLOW_NUL, NULL);
	const json_t *error = json_object_get(json_object_get(record,
	    "result"), "error");
	enum api_error e = API_UNAVAILABLE;
	const char *reason = member(record, "reason");
	size_t i;

	if (error != NULL) {
		e = API_CONFLICT;
		for (i = 0; i < sizeof(body_errors) / sizeof(body_errors[0]);
		    i++)
			if (strcmp(member(error, "code"),
			    body_errors[i].code) == 0)
				e = body_errors[i].error;
	} else {
		error = json_object_get(record, "error");
		for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
			if (strcmp(reason, reasons[i].reason) == 0)
				e = reasons[i].error;
	}
	conn_error(c, e, "%s: %s%s%s", call->id, reason,
	    reason[0] != '\0' ? ": " : "", member(error, "message"));
	json_decref(record);
}

static int
succeeded(const struct call *call)
{
	return (strcmp(call->final, "completed") == 0 &&
	    call->body != NULL && call->body->result != NULL &&
	    json_object_get(call->body->result, "error") == NULL);
}

static void
get_begin(struct conn *c)
{
	char path[PATH_BYTES_MAX], value[DISPOSITION_MAX];
	char fields[DISPOSITION_MAX + 32], format[8];
	int tar = http_query_text(&c->head, "format", format,
	    sizeof(format)) == 1;

	if (url_path_decode(c->rest, path, sizeof(path)) == -1)
		path[0] = '\0';
	disposition(path, tar ? ".tar" : "", value);
	(void)snprintf(fields, sizeof(fields), "Content-Disposition: %s\r\n",
	    value);
	conn_begin_with(c, 200, tar ? "application/x-tar" :
	    "application/octet-stream", -1, fields);
}

static void
get_bytes(struct conn *c, struct call *call, const uint8_t *p, size_t n)
{
	struct evbuffer *out = conn_output(c);

	(void)call;
	if (!c->chunked)
		get_begin(c);
	evbuffer_add_printf(out, "%zx\r\n", n);
	evbuffer_add(out, p, n);
	evbuffer_add(out, "\r\n", 2);
}

static void
get_end(struct conn *c, struct call *call)
{
	if (succeeded(call)) {
		if (!c->chunked)
			get_begin(c);
		conn_end(c);
	} else if (!c->chunked)
		refuse(c, call);
	else
		conn_cut(c);
}

static void
put_end(struct conn *c, struct call *call)
{
	json_t *answer;
	char *text;
	int created;

	if (!succeeded(call)) {
		refuse(c, call);
		return;
	}
	answer = json_copy(call->body->result);
	json_object_set_new(answer, "call", json_string(call->id));
	created = json_is_true(json_object_get(answer, "created"));
	text = json_text(answer);
	json_decref(answer);
	if (text == NULL)
		conn_error(c, API_INTERNAL, "memory for an answer");
	else
		conn_json(c, created ? 201 : 200, text, strlen(text));
	free(text);
}
