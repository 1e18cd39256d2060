/*
 * tools/list: what policyd says there is, in the words of the declarations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "mcp_internal.h"
#include "policy.h"
#include "text.h"
#include "tools.h"

#define PAGE		64	/* tools; many clients read the first page only */
#define TTL_MS		5000	/* a reload may change what is allowed */
#define CURSOR		"1:"	/* and the last name before the page */
#define CURSOR_MAX	256

/* ---- one tool ---- */

static int
has_mark(const json_t *tool, const char *mark)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(tool, "marks"), i, v)
		if (strcmp(json_string_value(v), mark) == 0)
			return (1);
	return (0);
}

static void
hint(json_t *annotations, const char *name, int value)
{
	json_object_set_new(annotations, name, json_boolean(value));
}

/* Hints, by which nothing is ever decided here. */
static json_t *
annotations(const json_t *tool, json_t *title)
{
	const char *effect = json_string_value(json_object_get(tool,
	    "effect"));
	int reads = effect != NULL && strcmp(effect, "read") == 0;
	int undone = effect != NULL &&
	    strcmp(effect, "mutate-reversible") == 0;
	json_t *j = json_object();

	if (json_is_string(title))
		json_object_set(j, "title", title);
	hint(j, "readOnlyHint", reads);
	hint(j, "destructiveHint", !reads && !undone);
	hint(j, "idempotentHint", reads);
	hint(j, "openWorldHint", has_mark(tool, "network-read") ||
	    has_mark(tool, "network-write") || has_mark(tool, "remote-code"));
	return (j);
}

/*
 * A tool's own result, and with it what the tool printed: some clients show a
 * model nothing but the structured part.
 */
static json_t *
output_schema(json_t *declared)
{
	json_t *schema = json_deep_copy(declared), *properties, *text;

	properties = json_object_get(schema, "properties");
	if (!json_is_object(properties)) {
		properties = json_object();
		json_object_set_new(schema, "properties", properties);
	}
	if (json_object_get(properties, "stdout") == NULL) {
		text = json_object();
		json_object_set_new(text, "type", json_string("string"));
		json_object_set_new(text, "description", json_string(
		    "The text that came back, as in the content."));
		json_object_set_new(properties, "stdout", text);
	}
	return (schema);
}

/* NULL for one that we have no declaration of. */
static json_t *
make_tool(const json_t *tool)
{
	json_t *name = json_object_get(tool, "name"), *mine, *title, *j, *v;

	mine = json_is_string(name) ? tools_find(json_string_value(name)) :
	    NULL;
	if (mine == NULL)
		return (NULL);
	j = json_object();
	title = json_object_get(mine, "title");
	json_object_set(j, "name", name);
	if (json_is_string(title))
		json_object_set(j, "title", title);
	v = json_object_get(mine, "description");
	json_object_set_new(j, "description", json_is_string(v) ?
	    json_incref(v) : json_string(""));
	json_object_set(j, "inputSchema", json_object_get(mine,
	    "input_schema"));
	if ((v = json_object_get(mine, "output_schema")) != NULL)
		json_object_set_new(j, "outputSchema", output_schema(v));
	json_object_set_new(j, "annotations", annotations(tool, title));
	return (j);
}

/* ---- pages ---- */

static const char *
tool_name(const json_t *tool)
{
	const char *name = json_string_value(json_object_get(tool, "name"));

	return (name != NULL ? name : "");
}

static int
by_name(const void *a, const void *b)
{
	return (strcmp(tool_name(*(json_t *const *)a),
	    tool_name(*(json_t *const *)b)));
}

/* Opaque: base64 of CURSOR and a name. */
static json_t *
make_cursor(const char *name)
{
	char plain[CURSOR_MAX], coded[2 * CURSOR_MAX], *end;
	int n;

	n = snprintf(plain, sizeof(plain), CURSOR "%s", name);
	if (n < 0 || (size_t)n >= sizeof(plain))
		return (json_null());
	end = base64_write(coded, (const uint8_t *)plain, (size_t)n);
	return (json_stringn(coded, (size_t)(end - coded)));
}

/* The name in a cursor: 0, or -1. */
static int
read_cursor(const char *cursor, char name[CURSOR_MAX])
{
	size_t n = strlen(cursor), skip = strlen(CURSOR), used;
	char plain[CURSOR_MAX];

	name[0] = '\0';
	if (n == 0)
		return (0);
	if (n / 4 * 3 >= sizeof(plain) ||
	    base64_read((uint8_t *)plain, cursor, n, &used) == -1 ||
	    used <= skip || memcmp(plain, CURSOR, skip) != 0 ||
	    memchr(plain, '\0', used) != NULL)
		return (-1);
	memcpy(name, plain + skip, used - skip);
	name[used - skip] = '\0';
	return (0);
}

json_t *
mcp_tools_page(const json_t *tools, const char *cursor, size_t most)
{
	json_t *result, *list, *made, **sorted;
	size_t i, n = json_array_size(tools), count = 0;
	char after[CURSOR_MAX];

	if (read_cursor(cursor, after) == -1)
		return (NULL);
	if ((sorted = calloc(n + 1, sizeof(*sorted))) == NULL)
		fatal("a list of tools");
	for (i = 0; i < n; i++)
		sorted[i] = json_array_get(tools, i);
	qsort(sorted, n, sizeof(*sorted), by_name);
	result = json_object();
	list = json_array();
	json_object_set_new(result, "tools", list);
	for (i = 0; i < n; i++) {
		if (strcmp(tool_name(sorted[i]), after) <= 0)
			continue;
		if (count == most) {
			json_object_set_new(result, "nextCursor",
			    make_cursor(tool_name(sorted[i - 1])));
			break;
		}
		if ((made = make_tool(sorted[i])) != NULL)
			json_array_append_new(list, made);
		count++;
	}
	free(sorted);
	return (result);
}

static void
answer(struct conn *c, int status, const char *json, size_t n, void *arg)
{
	json_t *j = json_loadb(json, n, 0, NULL), *result;
	const char *cursor;
	struct mcp_problem p;
	struct mcp *m = arg;

	(void)c;
	(void)status;
	cursor = json_string_value(json_object_get(m->message.params,
	    "cursor"));
	result = mcp_tools_page(json_object_get(j, "tools"),
	    cursor != NULL ? cursor : "", PAGE);
	json_decref(j);
	if (result == NULL) {
		(void)mcp_problem(&p, 200, RPC_BAD_PARAMS,
		    "Invalid params: cursor is none of this server's");
		mcp_fail(m, &p);
		return;
	}
	if (m->era == MCP_MODERN) {
		json_object_set_new(result, "ttlMs", json_integer(TTL_MS));
		json_object_set_new(result, "cacheScope",
		    json_string("private"));
	}
	mcp_result(m, result);
}

void
mcp_tools_list(struct mcp *m)
{
	const char *session = http_text(&m->conn->head, TEXT_SESSION);
	const char *preset = http_text(&m->conn->head, TEXT_PRESET);
	json_t *cursor = json_object_get(m->message.params, "cursor");
	struct mcp_problem p;

	if (cursor != NULL && !json_is_string(cursor)) {
		(void)mcp_problem(&p, 200, RPC_BAD_PARAMS,
		    "Invalid params: cursor is not a string");
		mcp_fail(m, &p);
		return;
	}
	/* "" means neither to policyd, and more than was asked for. */
	if ((session != NULL && !id_ok(ID_SESSION, session)) ||
	    (preset != NULL && preset[0] == '\0')) {
		(void)mcp_problem(&p, 200, RPC_BAD_PARAMS, "Invalid params: "
		    "Myelin-Session or Myelin-Preset names none");
		mcp_fail(m, &p);
		return;
	}
	policy_tools(m->conn, session != NULL ? session : "",
	    preset != NULL ? preset : "", answer, m);
}
