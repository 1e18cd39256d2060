/*
 * What a message of MCP says that HTTP wants in its head.
 */
#include <stdio.h>
#include <string.h>

#include "mcp.h"

#define META	"io.modelcontextprotocol/"

/* The member of params that Mcp-Name repeats. */
static const struct {
	const char	*method;
	const char	*member;
} named[] = {
	{ "tools/call",		"name" },
	{ "prompts/get",	"name" },
	{ "resources/read",	"uri" },
	{ "tasks/get",		"taskId" },
	{ "tasks/update",	"taskId" },
	{ "tasks/cancel",	"taskId" },
};

void
mcp_parse(struct post *post)
{
	const json_t *params, *meta;
	const char *method;

	post->method = "";
	post->root = json_loadb(post->body, post->len, JSON_ALLOW_NUL, NULL);
	if (!json_is_object(post->root))
		return;
	post->id = json_object_get(post->root, "id");
	method = json_string_value(json_object_get(post->root, "method"));
	if (method == NULL) {
		/* An answer to what was never asked. */
		post->id = NULL;
		return;
	}
	post->method = method;
	params = json_object_get(post->root, "params");
	meta = json_object_get(params, "_meta");
	post->version = json_string_value(json_object_get(meta,
	    META "protocolVersion"));
	post->calls = strcmp(method, "tools/call") == 0;
	post->initializes = strcmp(method, "initialize") == 0 &&
	    post->version == NULL;
}

/* ---- header lines ---- */

struct lines {
	char	 text[8 * MCP_VALUE_MAX];
	size_t	 len;
};

/* As it is: visible, without blanks at its ends, no sentinel itself. */
static int
is_plain(const char *value)
{
	size_t len = strlen(value), i;

	if (len == 0 || value[0] == ' ' || value[len - 1] == ' ' ||
	    strncmp(value, "=?base64?", 9) == 0)
		return (0);
	for (i = 0; i < len; i++)
		if (value[i] < ' ' || value[i] > '~')
			return (0);
	return (1);
}

static void
base64(char *dst, const char *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)value;
	size_t len = strlen(value);
	unsigned v;

	for (; len > 0; p += 3, len -= len < 3 ? len : 3) {
		v = (unsigned)p[0] << 16;
		if (len > 1)
			v |= (unsigned)p[1] << 8;
		if (len > 2)
			v |= p[2];
		*dst++ = letters[v >> 18];
		*dst++ = letters[v >> 12 & 63];
		*dst++ = len > 1 ? letters[v >> 6 & 63] : '=';
		*dst++ = len > 2 ? letters[v & 63] : '=';
	}
	*dst = '\0';
}

/* One that is too long is left out, and the service says that it misses it. */
static void
put(struct lines *l, const char *name, const char *value)
{
	char coded[MCP_VALUE_MAX / 3 * 4 + 8];
	int n;

	if (value == NULL || strlen(value) > MCP_VALUE_MAX / 4 * 3 - 20)
		return;
	if (is_plain(value))
		n = snprintf(l->text + l->len, sizeof(l->text) - l->len,
		    "%s: %s\r\n", name, value);
	else {
		base64(coded, value);
		n = snprintf(l->text + l->len, sizeof(l->text) - l->len,
		    "%s: =?base64?%s?=\r\n", name, coded);
	}
	if (n > 0 && (size_t)n < sizeof(l->text) - l->len)
		l->len += (size_t)n;
	l->text[l->len] = '\0';
}

static void
put_modern(struct lines *l, const struct post *post)
{
	const json_t *params = json_object_get(post->root, "params");
	size_t i;

	put(l, "MCP-Protocol-Version", post->version);
	put(l, "Mcp-Method", post->method);
	for (i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(post->method, named[i].method) == 0)
			put(l, "Mcp-Name", json_string_value(json_object_get(
			    params, named[i].member)));
}

const char *
mcp_headers(const struct bridge *b, const struct post *post)
{
	static struct lines l;
	char ms[16];

	l.len = 0;
	l.text[0] = '\0';
	if (post->version != NULL) {
		put_modern(&l, post);
	} else if (!post->initializes) {
		if (b->mcp_version[0] != '\0')
			put(&l, "MCP-Protocol-Version", b->mcp_version);
		if (b->mcp_session[0] != '\0')
			put(&l, "Mcp-Session-Id", b->mcp_session);
	}
	put(&l, "Myelin-Preset", b->options->preset);
	if (post->calls) {
		put(&l, "Myelin-Session", b->id);
		if (b->options->timeout_ms != 0) {
			snprintf(ms, sizeof(ms), "%u",
			    b->options->timeout_ms);
			put(&l, "Myelin-Timeout", ms);
		}
	}
	return (l.text);
}
