/*
 * The envelope of JSON-RPC 2.0, as strict as it can be told apart: one object,
 * the members that it has and no others, an id that is a string or a whole
 * number.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "mcp_read.h"

int
mcp_problem(struct mcp_problem *p, int status, int code, const char *fmt, ...)
{
	va_list ap;

	p->status = status;
	p->code = code;
	p->data = NULL;
	va_start(ap, fmt);
	(void)vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return (-1);
}

static int
invalid(struct mcp_problem *p, const char *why)
{
	return (mcp_problem(p, 400, RPC_INVALID, "Invalid Request: %s", why));
}

/* Other spellings of a member would be read by one and not by another. */
static int
check_members(const json_t *root, struct mcp_problem *p)
{
	static const char *const known[] = {
		"jsonrpc", "id", "method", "params", "result", "error"
	};
	const char *name;
	json_t *v;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)root, name, v) {
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strcmp(name, known[i]) == 0)
				break;
		if (i == sizeof(known) / sizeof(known[0]))
			return (mcp_problem(p, 400, RPC_INVALID, "Invalid "
			    "Request: \"%.64s\" is no member of a message",
			    name));
	}
	return (0);
}

static int
read_id(struct mcp_message *m, struct mcp_problem *p)
{
	json_t *id = json_object_get(m->root, "id");

	if (id == NULL)
		return (0);
	if (json_is_string(id) && json_string_length(id) > MCP_ID_MAX)
		return (mcp_problem(p, 400, RPC_INVALID, "Invalid Request: "
		    "the id is over %d bytes", MCP_ID_MAX));
	if (!json_is_string(id) && !json_is_integer(id))
		return (invalid(p, "the id is neither a string nor a whole "
		    "number"));
	m->id = id;
	return (0);
}

static int
read_params(struct mcp_message *m, struct mcp_problem *p)
{
	json_t *params = json_object_get(m->root, "params"), *meta;

	if (params == NULL)
		return (0);
	if (!json_is_object(params))
		return (invalid(p, "params is not an object"));
	m->params = params;
	meta = json_object_get(params, "_meta");
	if (meta != NULL && !json_is_object(meta))
		return (mcp_problem(p, 400, RPC_BAD_PARAMS, "Invalid params: "
		    "_meta is not an object"));
	m->meta = meta;
	return (0);
}

/* An answer to us, who never asked: looked at no further. */
static int
read_response(struct mcp_message *m, struct mcp_problem *p)
{
	int result = json_object_get(m->root, "result") != NULL;
	int error = json_object_get(m->root, "error") != NULL;

	if (result == error)
		return (invalid(p, "there is no method"));
	if (m->id == NULL && result)
		return (invalid(p, "an answer without an id"));
	m->kind = MCP_RESPONSE;
	m->method = "";
	return (0);
}

int
mcp_read(struct mcp_message *m, const char *body, size_t size,
    struct mcp_problem *p)
{
	struct http_bad bad;
	json_t *method;

	memset(m, 0, sizeof(*m));
	if ((m->root = json_read_any(body, size, &bad)) == NULL)
		return (mcp_problem(p, 400, RPC_PARSE, "Parse error: %s",
		    bad.why));
	if (json_is_array(m->root))
		return (invalid(p, "a batch; send each message by itself"));
	if (!json_is_object(m->root))
		return (invalid(p, "not an object"));
	if (read_id(m, p) == -1 || check_members(m->root, p) == -1)
		return (-1);
	if (!json_is_string(json_object_get(m->root, "jsonrpc")) ||
	    strcmp(json_string_value(json_object_get(m->root, "jsonrpc")),
	    "2.0") != 0)
		return (invalid(p, "jsonrpc is not \"2.0\""));
	if ((method = json_object_get(m->root, "method")) == NULL)
		return (read_response(m, p));
	if (!json_is_string(method) ||
	    strlen(json_string_value(method)) != json_string_length(method) ||
	    json_object_get(m->root, "result") != NULL ||
	    json_object_get(m->root, "error") != NULL)
		return (invalid(p, "method is not a string, or stands beside "
		    "a result"));
	m->method = json_string_value(method);
	m->kind = m->id != NULL ? MCP_REQUEST : MCP_NOTIFICATION;
	return (read_params(m, p));
}

void
mcp_message_free(struct mcp_message *m)
{
	json_decref(m->root);
	memset(m, 0, sizeof(*m));
}
