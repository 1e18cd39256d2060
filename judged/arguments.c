/*
 * The argument bytes of a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "env.h"
#include "limits.h"
#include "protocol.h"
#include "runblock.h"
#include "schema.h"
#include "without.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define TERM_UNSAID	"xterm"	/* every terminfo(5) has it */

/* ---- JSON ---- */

/*
 * The deepest nesting of the text.  jansson recurses up to 2,048 levels; we
 * want to have said no long before its parser runs.
 */
static unsigned
depth_of(const uint8_t *bytes, size_t size)
{
	unsigned depth = 0, deepest = 0;
	int in_string = 0;
	size_t i;

	for (i = 0; i < size; i++) {
		if (in_string) {
			if (bytes[i] == '\\')
				i++;
			else if (bytes[i] == '"')
				in_string = 0;
			continue;
		}
		switch (bytes[i]) {
		case '"':
			in_string = 1;
			break;
		case '[':
		case '{':
			if (++depth > deepest)
				deepest = depth;
			break;
		case ']':
		case '}':
			if (depth > 0)
				depth--;
			break;
		default:
			break;
		}
	}
	return (deepest);
}

static const struct {
	enum json_error_code	 code;
	const char		*words;
} parse_words[] = {
	{ json_error_duplicate_key, "a member is there twice" },
	{ json_error_null_character, "a NUL (\\u0000) in a string" },
	{ json_error_null_byte_in_key, "a NUL (\\u0000) in a name" },
	{ json_error_invalid_utf8, "bytes that are not UTF-8" },
	{ json_error_numeric_overflow, "a number out of range" },
	{ json_error_out_of_memory, "out of memory" },
	{ json_error_premature_end_of_input, "the text ends too early" },
	{ json_error_end_of_input_expected, "text after its end" },
};

static void
parse_failed(const char *what, const json_error_t *error, struct why *why)
{
	enum json_error_code code = json_error_code(error);
	const char *words = "not JSON";
	size_t i;

	for (i = 0; i < NITEMS(parse_words); i++) {
		if (parse_words[i].code == code)
			words = parse_words[i].words;
	}
	why_set(why, "%s: %s, at line %d column %d", what, words,
	    error->line, error->column);
}

json_t *
json_parse(const char *what, const uint8_t *bytes, size_t size, size_t max,
    int *line, struct why *why)
{
	json_error_t error;
	json_t *root;
	unsigned depth;

	*line = 0;
	if (size > max) {
		why_set(why, "%s: %zu bytes, at most %zu", what, size, max);
		return (NULL);
	}
	if ((depth = depth_of(bytes, size)) > ARGUMENTS_DEPTH_MAX) {
		why_set(why, "%s: %u levels deep, at most %d", what, depth,
		    ARGUMENTS_DEPTH_MAX);
		return (NULL);
	}
	root = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES,
	    &error);
	if (root == NULL) {
		*line = error.line;
		parse_failed(what, &error, why);
	}
	return (root);
}

/* ---- working directory ---- */

/*
 * Trees in which a name is not a place: /proc/self/fd/7 is whatever fd 7 is.
 * PID 1 of the neuron resolves beneath its roots in any case; this refusal
 * is the one with words.
 */
static const char *const no_cwd[] = { "proc", "sys", "dev" };

static int
next_component(const char **p, const char **name, size_t *len)
{
	*name = *p + strspn(*p, "/");
	*len = strcspn(*name, "/");
	*p = *name + *len;
	return (*len > 0);
}

static int
check_cwd(const json_t *value, const char **cwd, struct why *why)
{
	const char *p, *name;
	size_t len, i;
	int first;

	if (!json_is_string(value)) {
		why_set(why, "cwd: expected string, got %s",
		    schema_type_of(value));
		return (-1);
	}
	*cwd = p = json_string_value(value);
	first = *p == '/';
	if (json_string_length(value) >= PATH_BYTES_MAX) {
		why_set(why, "cwd: %zu bytes, at most %d",
		    json_string_length(value), PATH_BYTES_MAX - 1);
		return (-1);
	}
	if (*p == '\0') {
		why_set(why, "cwd: empty; leave it out for the working "
		    "directory");
		return (-1);
	}
	while (next_component(&p, &name, &len)) {
		if (len == 1 && name[0] == '.')
			continue;
		if (len == 2 && name[0] == '.' && name[1] == '.') {
			why_set(why, "cwd: \"..\" is not allowed in it");
			return (-1);
		}
		for (i = 0; first && i < NITEMS(no_cwd); i++) {
			if (len == strlen(no_cwd[i]) &&
			    memcmp(name, no_cwd[i], len) == 0) {
				why_set(why, "cwd: no directory under /%s may "
				    "be one", no_cwd[i]);
				return (-1);
			}
		}
		first = 0;
	}
	return (0);
}

/* ---- environment ---- */

/*
 * Appends one refused entry to the sentence, so that the caller learns of all
 * of them at once.  The value is never shown.
 */
static void
refuse_entry(struct why *why, unsigned nbad, const char *name,
    enum env_verdict verdict)
{
	char buf[WHY_NAME_SIZE];

	why_add(why, "%s\"%s\" %s", nbad == 0 ? "" : "; ",
	    why_name(name, strlen(name), buf), env_verdict_words(verdict));
}

static int
add_entry(struct arguments *arguments, const char *name, const char *value)
{
	char *entry;

	if (asprintf(&entry, "%s=%s", name, value) == -1)
		return (-1);
	arguments->env[arguments->nenv++] = entry;
	return (0);
}

static int
check_env(struct arguments *arguments, json_t *env, struct why *why)
{
	enum env_verdict verdict;
	char buf[WHY_NAME_SIZE];
	const char *name;
	json_t *value;
	unsigned nbad = 0;

	if (!json_is_object(env)) {
		why_set(why, "env: expected object, got %s",
		    schema_type_of(env));
		return (-1);
	}
	/* A terminal's type makes one more. */
	if (json_object_size(env) > RUNBLOCK_ENV_MAX - 1) {
		why_set(why, "env: %zu entries, at most %d",
		    json_object_size(env), RUNBLOCK_ENV_MAX - 1);
		return (-1);
	}
	arguments->env = calloc(json_object_size(env) + 2,
	    sizeof(*arguments->env));
	if (arguments->env == NULL)
		goto nomem;
	why_set(why, "env: ");
	json_object_foreach(env, name, value) {
		if (!json_is_string(value)) {
			why_set(why, "env[\"%s\"]: expected string, got %s",
			    why_name(name, strlen(name), buf),
			    schema_type_of(value));
			return (-1);
		}
		verdict = env_check(name, strlen(name),
		    json_string_value(value));
		if (verdict != ENV_OK && !WITHOUT(judged_environment))
			refuse_entry(why, nbad++, name, verdict);
		else if (nbad == 0 && add_entry(arguments, name,
		    json_string_value(value)) == -1)
			goto nomem;
	}
	return (nbad == 0 ? 0 : -1);
nomem:
	why_set(why, "env: out of memory");
	return (-1);
}

/* ---- terminal ---- */

static int
check_side(const json_t *pty, const char *name, uint32_t *side,
    struct why *why)
{
	const json_t *value = json_object_get(pty, name);
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 1 || n > PTY_SIZE_MAX) {
		why_set(why, "pty.%s: not a whole number from 1 to %d", name,
		    PTY_SIZE_MAX);
		return (-1);
	}
	*side = (uint32_t)n;
	return (0);
}

/* What names an entry of terminfo(5), and no path. */
static int
check_term(const json_t *value, struct why *why)
{
	const char *term = json_string_value(value);
	size_t len = term == NULL ? 0 : strlen(term);

	if (len > 0 && len < PTY_TERM_MAX && strspn(term,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789+-._") == len && term[0] != '.')
		return (0);
	why_set(why, "pty.term: not a terminal's name of 1 to %d letters, "
	    "digits, \"+\", \"-\", \".\" and \"_\"", PTY_TERM_MAX - 1);
	return (-1);
}

static int
has_entry(const struct arguments *arguments, const char *name)
{
	size_t len = strlen(name);
	uint32_t i;

	for (i = 0; i < arguments->nenv; i++)
		if (strncmp(arguments->env[i], name, len) == 0 &&
		    arguments->env[i][len] == '=')
			return (1);
	return (0);
}

/* After the environment: a TERM there is the caller's own. */
static int
check_pty(struct arguments *arguments, json_t *pty, struct why *why)
{
	char buf[WHY_NAME_SIZE];
	const char *name, *term = TERM_UNSAID;
	uint32_t rows, cols;
	json_t *value;

	if (!json_is_object(pty)) {
		why_set(why, "pty: expected object, got %s",
		    schema_type_of(pty));
		return (-1);
	}
	json_object_foreach(pty, name, value) {
		if (strcmp(name, "rows") == 0 || strcmp(name, "cols") == 0)
			continue;
		if (strcmp(name, "term") != 0) {
			why_set(why, "pty: no member \"%s\" is known",
			    why_name(name, strlen(name), buf));
			return (-1);
		}
		if (check_term(value, why) == -1)
			return (-1);
		term = json_string_value(value);
	}
	if (check_side(pty, "rows", &rows, why) == -1 ||
	    check_side(pty, "cols", &cols, why) == -1)
		return (-1);
	arguments->pty = PTY_SIZE(rows, cols);
	if (arguments->env == NULL)
		arguments->env = calloc(2, sizeof(*arguments->env));
	if (arguments->env == NULL || (!has_entry(arguments, "TERM") &&
	    add_entry(arguments, "TERM", term) == -1)) {
		why_set(why, "pty: out of memory");
		return (-1);
	}
	return (0);
}

/* ---- all of it ---- */

static int
check_members(struct arguments *arguments, struct why *why)
{
	char buf[WHY_NAME_SIZE];
	const char *name;
	json_t *value, *env = NULL, *pty = NULL;

	if (!json_is_object(arguments->root)) {
		why_set(why, "arguments: expected object, got %s",
		    schema_type_of(arguments->root));
		return (-1);
	}
	json_object_foreach(arguments->root, name, value) {
		if (strcmp(name, "args") == 0)
			arguments->args = value;
		else if (strcmp(name, "env") == 0)
			env = value;
		else if (strcmp(name, "pty") == 0)
			pty = value;
		else if (strcmp(name, "cwd") == 0) {
			if (check_cwd(value, &arguments->cwd, why) == -1)
				return (-1);
		} else {
			why_set(why, "arguments: no member \"%s\" is known",
			    why_name(name, strlen(name), buf));
			return (-1);
		}
	}
	if (arguments->args == NULL) {
		why_set(why, "arguments: \"args\" is required");
		return (-1);
	}
	if (!json_is_object(arguments->args)) {
		why_set(why, "args: expected object, got %s",
		    schema_type_of(arguments->args));
		return (-1);
	}
	if (env != NULL && check_env(arguments, env, why) == -1)
		return (-1);
	return (pty == NULL ? 0 : check_pty(arguments, pty, why));
}

int
arguments_parse(struct arguments *arguments, const uint8_t *bytes,
    size_t size, size_t max, struct why *why)
{
	int line;

	memset(arguments, 0, sizeof(*arguments));
	arguments->cwd = "";
	arguments->root = json_parse("arguments", bytes, size, max, &line, why);
	if (arguments->root == NULL)
		return (-1);
	return (check_members(arguments, why));
}

void
arguments_free(struct arguments *arguments)
{
	uint32_t i;

	for (i = 0; i < arguments->nenv; i++)
		free(arguments->env[i]);
	free(arguments->env);
	json_decref(arguments->root);
	memset(arguments, 0, sizeof(*arguments));
}
