/*
 * Tool declarations, read strictly: a member that is not known is refused,
 * because a wish that is not understood must not be dropped in silence.
 */
#include <sys/types.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "env.h"
#include "groups.h"
#include "protocol.h"
#include "schema.h"
#include "template.h"
#include "tool.h"
#include "without.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

struct member {
	const char	*name;
	int		 required;
	int		(*read)(struct tool *, const json_t *, struct why *);
};

static int
expected(const char *name, const char *what, const json_t *value,
    struct why *why)
{
	why_set(why, "%s: expected %s, got %s", name, what,
	    schema_type_of(value));
	return (-1);
}

static int
read_name(struct tool *tool, const json_t *value, struct why *why)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyz";
	static const char rest[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *name = json_string_value(value);
	size_t len;

	if (name == NULL)
		return (expected("name", "string", value, why));
	len = strlen(name);
	if (len == 0 || len >= sizeof(tool->name) ||
	    strspn(name, first) == 0 || strspn(name, rest) != len) {
		why_set(why, "name: a letter, then letters, digits, \"_\" and "
		    "\"-\", lower case, at most %zu",
		    sizeof(tool->name) - 1);
		return (-1);
	}
	memcpy(tool->name, name, len + 1);
	return (0);
}

static int
read_title(struct tool *tool, const json_t *value, struct why *why)
{
	(void)tool;
	return (json_is_string(value) ? 0 :
	    expected("title", "string", value, why));
}

static int
read_description(struct tool *tool, const json_t *value, struct why *why)
{
	(void)tool;
	return (json_is_string(value) ? 0 :
	    expected("description", "string", value, why));
}

static int
read_effect(struct tool *tool, const json_t *value, struct why *why)
{
	if (!json_is_string(value))
		return (expected("effect", "string", value, why));
	if ((tool->effect = effect_find(json_string_value(value))) == 0) {
		why_set(why, "effect: none of read, mutate-reversible, "
		    "mutate-irreversible, destructive");
		return (-1);
	}
	if (WITHOUT(declared_effect))
		tool->effect = EFFECT_READ;
	return (0);
}

static int
read_marks(struct tool *tool, const json_t *value, struct why *why)
{
	const json_t *name;
	uint32_t bit;
	size_t i;

	if (!json_is_array(value))
		return (expected("marks", "array", value, why));
	json_array_foreach(value, i, name) {
		if (!json_is_string(name))
			return (expected("marks", "strings", name, why));
		if ((bit = mark_find(json_string_value(name))) == 0) {
			why_set(why, "marks: \"%s\" is no mark",
			    json_string_value(name));
			return (-1);
		}
		tool->marks |= bit;
	}
	return (0);
}

static int
read_asks(struct tool *tool, const json_t *value, struct why *why)
{
	if (!json_is_boolean(value))
		return (expected("asks", "boolean", value, why));
	tool->asks = json_is_true(value);
	return (0);
}

static int
read_pty(struct tool *tool, const json_t *value, struct why *why)
{
	if (!json_is_boolean(value))
		return (expected("pty", "boolean", value, why));
	tool->pty = json_is_true(value);
	return (0);
}

static int
read_timeout(struct tool *tool, const json_t *value, struct why *why)
{
	const struct limit_row *row = &limit_table[LIMIT_TIMEOUT_MAX];
	json_int_t ms;

	if (!json_is_integer(value))
		return (expected("timeout_ms", "integer", value, why));
	ms = json_integer_value(value);
	if (ms < (json_int_t)row->min || ms > (json_int_t)row->max) {
		why_set(why, "timeout_ms: %" JSON_INTEGER_FORMAT
		    " is not between %llu and %llu", ms,
		    (unsigned long long)row->min,
		    (unsigned long long)row->max);
		return (-1);
	}
	tool->timeout_ms = (uint32_t)ms;
	return (0);
}

static int
read_schema(struct tool *tool, const json_t *value, struct why *why)
{
	const char *type;

	if (schema_check(value, why) == -1)
		return (-1);
	type = json_string_value(json_object_get(value, "type"));
	if (type == NULL || strcmp(type, "object") != 0 ||
	    !json_is_false(json_object_get(value, "additionalProperties"))) {
		why_set(why, "input_schema: needs \"type\": \"object\" and "
		    "\"additionalProperties\": false");
		return (-1);
	}
	tool->schema = value;
	return (0);
}

/* Checked once the schema is known too. */
static int
read_argv(struct tool *tool, const json_t *value, struct why *why)
{
	(void)why;
	tool->argv = value;
	return (0);
}

/* Of the tool's "result", for whoever shows it; nothing here is held to it. */
static int
read_output(struct tool *tool, const json_t *value, struct why *why)
{
	const char *type;

	(void)tool;
	if (schema_check_as("output_schema", value, why) == -1)
		return (-1);
	type = json_string_value(json_object_get(value, "type"));
	if (type != NULL && strcmp(type, "object") == 0)
		return (0);
	why_set(why, "output_schema: needs \"type\": \"object\"");
	return (-1);
}

static int
read_exactly(struct tool *tool, const json_t *value, struct why *why)
{
	tool->exactly_one = value;
	return (groups_check("exactly_one", value, tool->schema, why));
}

static int
read_most(struct tool *tool, const json_t *value, struct why *why)
{
	tool->at_most_one = value;
	return (groups_check("at_most_one", value, tool->schema, why));
}

/* What neuron-tool has: a slip is found here, not by the first call. */
static const char *const bodies[] = {
	"edit", "find", "grep", "ls", "memory_delete", "memory_list",
	"memory_recall", "memory_store", "read", "write"
};

/* And what egressd has. */
static const struct {
	const char	*name;
	unsigned	 egress;
} bodies_egress[] = {
	{ "fetch",		EGRESS_FETCH },
	{ "request_egress",	EGRESS_GRANT_SESSION }
};

static int
read_tool_body(struct tool *tool, const json_t *value, struct why *why)
{
	const char *name = json_string_value(value);
	size_t i;

	for (i = 0; name != NULL && i < NITEMS(bodies); i++) {
		if (strcmp(name, bodies[i]) == 0) {
			tool->body = name;
			return (0);
		}
	}
	for (i = 0; name != NULL && i < NITEMS(bodies_egress); i++) {
		if (strcmp(name, bodies_egress[i].name) == 0) {
			tool->body = name;
			tool->egress = bodies_egress[i].egress;
			return (0);
		}
	}
	why_set(why, "body: neither neuron-tool nor egressd has such a body");
	return (-1);
}

/* What egressd does at a neuron's wish is bound by rules and by people. */
static int
check_egress(const struct tool *tool, struct why *why)
{
	if (tool->egress == EGRESS_GRANT_SESSION && !tool->asks) {
		why_set(why, "asks: must be true with \"body\": "
		    "\"request_egress\": who may reach what is for people to "
		    "say, or for a profile's \"egress\"");
		return (-1);
	}
	if (tool->egress == EGRESS_FETCH &&
	    (tool->marks & MARK_NETWORK_READ) == 0) {
		why_set(why, "marks: must have \"network-read\" with "
		    "\"body\": \"fetch\"");
		return (-1);
	}
	return (0);
}

/* Guarantee C0: what a tool says can only be stricter. */
static int
read_input(struct tool *tool, const json_t *value, struct why *why)
{
	const char *word = json_string_value(value);

	if (word == NULL)
		return (expected("input", "string", value, why));
	if (strcmp(word, "strict") != 0) {
		why_set(why, "input: a declaration can say \"strict\" alone; "
		    "the configuration's tool-input says the rest");
		return (-1);
	}
	tool->strict = 1;
	return (0);
}

/* Guarantee C1: for a declaration's author as well. */
static int
read_env(struct tool *tool, const json_t *value, struct why *why)
{
	enum env_verdict verdict;
	char buf[WHY_NAME_SIZE];
	const char *name;
	json_t *v;

	if (!json_is_object(value))
		return (expected("env", "object", value, why));
	if (json_object_size(value) > TOOL_ENV_MAX) {
		why_set(why, "env: %zu entries, at most %d",
		    json_object_size(value), TOOL_ENV_MAX);
		return (-1);
	}
	json_object_foreach((json_t *)(uintptr_t)value, name, v) {
		if (!json_is_string(v))
			return (expected("env", "strings", v, why));
		verdict = env_check(name, strlen(name), json_string_value(v));
		if (verdict == ENV_OK || WITHOUT(tool_environment))
			continue;
		why_set(why, "env: \"%s\" %s", why_name(name, strlen(name),
		    buf), env_verdict_words(verdict));
		return (-1);
	}
	tool->env = value;
	return (0);
}

/* What presets deny together; spelled as their names are. */
static int
read_group(struct tool *tool, const json_t *value, struct why *why)
{
	const char *name = json_string_value(value);
	size_t n = name == NULL ? 0 : strspn(name,
	    "abcdefghijklmnopqrstuvwxyz0123456789-_");

	if (n == 0 || name[n] != '\0' || n >= sizeof(tool->group) ||
	    name[0] == '-' || name[0] == '_') {
		why_set(why, "group: a name of a-z, 0-9, - and _ that begins "
		    "with a letter or digit, of at most %d bytes",
		    NAME_BYTES_MAX - 1);
		return (-1);
	}
	memcpy(tool->group, name, n + 1);
	return (0);
}

/* {"shell": "command"}: the argument that is a command, and of which kind. */
static int
read_judge(struct tool *tool, const json_t *value, struct why *why)
{
	static const struct {
		const char	*name;
		enum tool_judges is;
		const char	*type;		/* of the argument */
	} kinds[] = {
		{ "shell", JUDGES_SHELL, "string" },
		{ "argv", JUDGES_VECTOR, "array" },
		{ "python", JUDGES_PYTHON, "string" }
	};
	const json_t *property;
	const char *type;
	size_t i;

	for (i = 0; json_object_size(value) == 1 && i < NITEMS(kinds); i++) {
		tool->judged_argument = json_string_value(json_object_get(
		    value, kinds[i].name));
		if (tool->judged_argument == NULL)
			continue;
		property = json_object_get(json_object_get(tool->schema,
		    "properties"), tool->judged_argument);
		type = json_string_value(json_object_get(property, "type"));
		if (type == NULL || strcmp(type, kinds[i].type) != 0)
			break;
		tool->judges = kinds[i].is;
		return (0);
	}
	why_set(why, "judge: must be {\"shell\": NAME}, {\"argv\": NAME} or "
	    "{\"python\": NAME}, and NAME a property that is a string, or an "
	    "array for argv");
	return (-1);
}

static const struct member members[] = {
	{ "name",		1, read_name },
	{ "title",		1, read_title },
	{ "description",	1, read_description },
	{ "effect",		1, read_effect },
	{ "marks",		1, read_marks },
	{ "asks",		1, read_asks },
	{ "pty",		0, read_pty },
	{ "timeout_ms",		0, read_timeout },
	{ "input_schema",	1, read_schema },
	{ "exactly_one",	0, read_exactly },
	{ "at_most_one",	0, read_most },
	{ "output_schema",	0, read_output },
	{ "body",		0, read_tool_body },
	{ "argv",		0, read_argv },
	{ "env",		0, read_env },
	{ "judge",		0, read_judge },
	{ "group",		0, read_group },
	{ "input",		0, read_input },
};

static int
known_members(const json_t *root, struct why *why)
{
	char buf[WHY_NAME_SIZE];
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)(uintptr_t)root, key, value) {
		for (i = 0; i < NITEMS(members); i++) {
			if (strcmp(key, members[i].name) == 0)
				break;
		}
		if (i == NITEMS(members)) {
			why_set(why, "no member \"%s\" is known",
			    why_name(key, strlen(key), buf));
			return (-1);
		}
	}
	return (0);
}

static int
read_members(struct tool *tool, struct why *why)
{
	const json_t *value;
	size_t i;

	if (!json_is_object(tool->root)) {
		why_set(why, "expected object, got %s",
		    schema_type_of(tool->root));
		return (-1);
	}
	if (known_members(tool->root, why) == -1)
		return (-1);
	for (i = 0; i < NITEMS(members); i++) {
		value = json_object_get(tool->root, members[i].name);
		if (value == NULL && !members[i].required)
			continue;
		if (value == NULL) {
			why_set(why, "\"%s\" is required", members[i].name);
			return (-1);
		}
		if (members[i].read(tool, value, why) == -1)
			return (-1);
	}
	if (tool->body == NULL && tool->argv == NULL) {
		why_set(why, "\"argv\" is required, or \"body\"");
		return (-1);
	}
	if (tool->body != NULL && tool->argv != NULL) {
		why_set(why, "both \"argv\" and \"body\"");
		return (-1);
	}
	return (tool->body != NULL ? check_egress(tool, why) :
	    template_check(tool->argv, tool->schema, why));
}

/* A name, and no text: a colon follows. */
static int
is_member(const uint8_t *p, size_t left)
{
	while (left > 0 && (*p == ' ' || *p == '\t' || *p == '\n' ||
	    *p == '\r')) {
		p++;
		left--;
	}
	return (left > 0 && *p == ':');
}

/*
 * The line of the member that a sentence is about: it begins with the
 * member's name, or says that there is no such member.  1 where none can be
 * found, as with one that is missing.
 */
static int
line_of(const uint8_t *bytes, size_t size, const char *sentence)
{
	static const char unknown[] = "no member \"";
	char name[NAME_BYTES_MAX + 2] = "\"";
	size_t n, i, depth = 0;
	int line = 1, in_string = 0;

	if (strncmp(sentence, unknown, strlen(unknown)) == 0)
		sentence += strlen(unknown);
	n = strspn(sentence, "abcdefghijklmnopqrstuvwxyz_");
	if (n == 0 || n > NAME_BYTES_MAX - 2)
		return (1);
	memcpy(name + 1, sentence, n);
	name[n + 1] = '"';
	for (i = 0; i < size; i++) {
		if (bytes[i] == '\n')
			line++;
		if (in_string) {
			if (bytes[i] == '\\')
				i++;
			else if (bytes[i] == '"')
				in_string = 0;
			continue;
		}
		if (bytes[i] == '{' || bytes[i] == '[')
			depth++;
		else if (bytes[i] == '}' || bytes[i] == ']')
			depth -= depth > 0;
		else if (bytes[i] == '"') {
			if (depth == 1 && size - i > n + 2 &&
			    memcmp(bytes + i, name, n + 2) == 0 &&
			    is_member(bytes + i + n + 2, size - i - n - 2))
				return (line);
			in_string = 1;
		}
	}
	return (1);
}

int
tool_parse(struct tool *tool, const char *name, const uint8_t *bytes,
    size_t size, int *line, struct why *why)
{
	SHA2_CTX ctx;

	memset(tool, 0, sizeof(*tool));
	tool->root = json_parse("declaration", bytes, size, DECLARATION_MAX,
	    line, why);
	if (tool->root == NULL)
		return (-1);
	if (read_members(tool, why) == -1)
		goto bad;
	/* The name is where an operator looks for it. */
	if (strcmp(tool->name, name) != 0) {
		why_set(why, "name: \"%s\" in a file for \"%s\"", tool->name,
		    name);
		goto bad;
	}
	SHA256Init(&ctx);
	SHA256Update(&ctx, bytes, size);
	SHA256Final(tool->sha256, &ctx);
	return (0);
bad:
	*line = line_of(bytes, size, why->text);
	tool_free(tool);
	return (-1);
}

void
tool_free(struct tool *tool)
{
	json_decref(tool->root);
	memset(tool, 0, sizeof(*tool));
}

int
tools_add(struct tools *tools, struct tool *tool)
{
	struct tool *v;

	v = reallocarray(tools->v, tools->n + 1, sizeof(*v));
	if (v == NULL)
		return (-1);
	tools->v = v;
	v[tools->n++] = *tool;
	return (0);
}

const struct tool *
tools_find(const struct tools *tools, const char *name)
{
	size_t i;

	for (i = 0; i < tools->n; i++) {
		if (strcmp(tools->v[i].name, name) == 0)
			return (&tools->v[i]);
	}
	return (NULL);
}

void
tools_free(struct tools *tools)
{
	size_t i;

	for (i = 0; i < tools->n; i++)
		tool_free(&tools->v[i]);
	free(tools->v);
	tools->v = NULL;
	tools->n = 0;
}
