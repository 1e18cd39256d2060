/*
 * Lines of standard output: the service's answers, and ours where it gave
 * none.
 */
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp.h"

#define RPC_PARSE	(-32700)
#define RPC_INTERNAL	(-32603)
#define ANSWER		"{\"jsonrpc\":"	/* how the service's begin */

void
mcp_put(struct bridge *b, const char *line, size_t len)
{
	(void)sink_put(&b->out, line, len);
	(void)sink_put(&b->out, "\n", 1);
}

static void
put_json(struct bridge *b, json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);

	if (text == NULL)
		errx(EXIT_FAILED, "out of memory");
	mcp_put(b, text, strlen(text));
	free(text);
	json_decref(json);
}

/* A result that the model reads: it can do something about it. */
static json_t *
as_result(const struct post *post, const char *words)
{
	json_t *result;

	result = json_pack("{s:[{s:s,s:s}],s:b}", "content", "type", "text",
	    "text", words, "isError", 1);
	if (result != NULL && post->version != NULL)
		json_object_set_new(result, "resultType",
		    json_string("complete"));
	return (json_pack("{s:s,s:O,s:o}", "jsonrpc", "2.0", "id", post->id,
	    "result", result));
}

void
mcp_put_failure(struct bridge *b, struct post *post, const char *fmt, ...)
{
	json_t *json;
	va_list ap;
	char *words;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&words, fmt, ap);
	va_end(ap);
	if (n == -1)
		err(EXIT_FAILED, NULL);
	complain("%s", words);
	if (!post->answered && !post->dropped &&
	    (post->id != NULL || post->root == NULL)) {
		if (post->calls)
			json = as_result(post, words);
		else if (post->root == NULL)
			json = json_pack("{s:s,s:{s:i,s:s}}", "jsonrpc",
			    "2.0", "error", "code", RPC_PARSE, "message",
			    words);
		else
			json = json_pack("{s:s,s:O,s:{s:i,s:s}}", "jsonrpc",
			    "2.0", "id", post->id, "error", "code",
			    RPC_INTERNAL, "message", words);
		put_json(b, json);
	}
	post->answered = 1;
	free(words);
}

/* A refusal of /v1's kind: whoever asks is nobody here, or asks too much. */
static void
put_refusal(struct bridge *b, struct post *post)
{
	const struct http_response *r = &post->link->conn.r;
	json_t *json = json_loadb(post->got.p != NULL ? post->got.p : "",
	    post->got.len, 0, NULL);
	const json_t *error = json_object_get(json, "error");
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *why = json_string_value(json_object_get(error,
	    "message"));

	if (code == NULL)
		mcp_put_failure(b, post, "the service answered %d and "
		    "nothing that can be understood", r->status);
	else
		mcp_put_failure(b, post, "%s%s%s (%d)", why != NULL ? why :
		    code, why != NULL ? ": " : "", why != NULL ? code : "",
		    r->status);
	json_decref(json);
}

/* What later messages of the handshake era need. */
static void
after_initialize(struct bridge *b, const struct post *post)
{
	const struct http_response *r = &post->link->conn.r;
	json_t *json = json_loadb(post->got.p, post->got.len, JSON_ALLOW_NUL,
	    NULL);
	const char *version = json_string_value(json_object_get(
	    json_object_get(json, "result"), "protocolVersion"));

	if (version != NULL && strlen(version) < sizeof(b->mcp_version)) {
		memcpy(b->mcp_version, version, strlen(version) + 1);
		memcpy(b->mcp_session, r->session, sizeof(b->mcp_session));
	}
	json_decref(json);
}

int
mcp_is_answer(const struct post *post)
{
	const struct api_body *got = &post->got;

	return (got->len >= strlen(ANSWER) &&
	    memcmp(got->p, ANSWER, strlen(ANSWER)) == 0 &&
	    memchr(got->p, '\n', got->len) == NULL);
}

void
mcp_put_answer(struct bridge *b, struct post *post)
{
	const struct http_response *r = &post->link->conn.r;
	struct api_body *got = &post->got;

	if (!mcp_is_answer(post)) {
		if (r->status >= 300 || got->len > 0)
			put_refusal(b, post);
		else if (post->id != NULL)
			mcp_put_failure(b, post, "the service gave no "
			    "answer");
		return;
	}
	if (post->initializes)
		after_initialize(b, post);
	if (post->id != NULL || post->root == NULL ||
	    r->status >= 300) {
		if (!post->dropped && !post->answered)
			mcp_put(b, got->p, got->len);
		post->answered = 1;
	}
}
