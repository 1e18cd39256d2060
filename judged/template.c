/*
 * Argv templates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runblock.h"
#include "schema.h"
#include "template.h"
#include "without.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/* One element of a template, taken apart. */
struct element {
	const char	*text;		/* a string, or NULL */
	const char	*name;		/* of the argument */
	int		 spread;	/* {"args"} */
	const char	*flag;
	int		 limit;		/* enum limit, or -1 */
};

/* ---- reading an element ---- */

static int
read_member(struct element *element, const char *key, const json_t *value,
    struct why *why)
{
	const char *text = json_string_value(value);

	if (text == NULL) {
		why_set(why, "argv: \"%s\": expected string, got %s", key,
		    schema_type_of(value));
		return (-1);
	}
	if (strcmp(key, "arg") == 0 || strcmp(key, "args") == 0) {
		if (element->name != NULL) {
			why_set(why, "argv: both \"arg\" and \"args\"");
			return (-1);
		}
		element->name = text;
		element->spread = key[3] == 's';
	} else if (strcmp(key, "flag") == 0) {
		element->flag = text;
	} else if (strcmp(key, "limit") == 0) {
		element->limit = limit_find(text);
		if (element->limit == -1 ||
		    limit_table[element->limit].unit != UNIT_BYTES) {
			why_set(why, "argv: \"%s\" is no limit in bytes", text);
			return (-1);
		}
	} else {
		why_set(why, "argv: no member \"%s\" is known", key);
		return (-1);
	}
	return (0);
}

/* Unknown members are refused: 0, or -1 and why. */
static int
read_element(struct element *element, json_t *json, struct why *why)
{
	const char *key;
	json_t *value;

	memset(element, 0, sizeof(*element));
	element->limit = -1;
	if ((element->text = json_string_value(json)) != NULL)
		return (0);
	if (!json_is_object(json)) {
		why_set(why, "argv: expected string or object, got %s",
		    schema_type_of(json));
		return (-1);
	}
	json_object_foreach(json, key, value) {
		if (read_member(element, key, value, why) == -1)
			return (-1);
	}
	if (element->name == NULL) {
		why_set(why, "argv: an object without \"arg\" or \"args\"");
		return (-1);
	}
	return (0);
}

/* ---- checking a template against its schema ---- */

static int
is_required(const json_t *schema, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(schema, "required"), i, one) {
		if (strcmp(json_string_value(one), name) == 0)
			return (1);
	}
	return (0);
}

static int
type_is(const json_t *schema, const char *type)
{
	const char *have = json_string_value(json_object_get(schema, "type"));

	return (have != NULL && strcmp(have, type) == 0);
}

static int
scalar(const json_t *schema)
{
	return (type_is(schema, "string") || type_is(schema, "integer"));
}

static int
check_types(const struct element *element, const json_t *property,
    struct why *why)
{
	if (element->spread) {
		if (type_is(property, "array") && element->flag == NULL &&
		    scalar(json_object_get(property, "items")))
			return (0);
		why_set(why, "argv: \"args\" needs an array of strings or "
		    "integers and no flag; \"%s\" is not that", element->name);
		return (-1);
	}
	if (scalar(property) ||
	    (element->flag != NULL && type_is(property, "boolean")))
		return (0);
	why_set(why, "argv: \"arg\" needs a string, an integer or, with a "
	    "flag, a boolean; \"%s\" is not that", element->name);
	return (-1);
}

/*
 * Guarantee C1b: before is the text element in front of this one ("" if the
 * one in front is a value), ended is set once a "--" was seen.
 */
static int
check_position(const struct element *element, size_t i, size_t count,
    const char *before, int ended, struct why *why)
{
	if (i == 0) {
		if (element->spread && count == 1)
			return (0);
		why_set(why, "argv: begins with the path of a program, or is "
		    "one \"args\" alone");
		return (-1);
	}
	if (WITHOUT(template_options) || ended ||
	    (element->flag != NULL && element->flag[0] == '-') ||
	    (!element->spread && before[0] == '-'))
		return (0);
	why_set(why, "argv: \"%s\" could be read as an option: put \"--\" or "
	    "an option that takes it before it", element->name);
	return (-1);
}

static int
check_element(const struct element *element, const json_t *schema,
    struct why *why)
{
	const json_t *property;

	property = json_object_get(json_object_get(schema, "properties"),
	    element->name);
	if (property == NULL) {
		why_set(why, "argv: input_schema has no property \"%s\"",
		    element->name);
		return (-1);
	}
	if (element->flag == NULL && !is_required(schema, element->name)) {
		why_set(why, "argv: \"%s\" is not required, so it needs a "
		    "flag", element->name);
		return (-1);
	}
	return (check_types(element, property, why));
}

int
template_check(const json_t *argv, const json_t *schema, struct why *why)
{
	struct element element;
	const char *before = "";
	json_t *json;
	size_t i, count = json_array_size(argv);
	int ended = 0;

	if (!json_is_array(argv) || count == 0) {
		why_set(why, "argv: not a list of at least one element");
		return (-1);
	}
	json_array_foreach(argv, i, json) {
		if (read_element(&element, json, why) == -1)
			return (-1);
		if (element.text != NULL) {
			if (i == 0 && element.text[0] != '/') {
				why_set(why, "argv: \"%s\" is not an absolute "
				    "path", element.text);
				return (-1);
			}
			ended |= strcmp(element.text, "--") == 0;
			before = element.text;
			continue;
		}
		if (check_position(&element, i, count, before, ended,
		    why) == -1 || check_element(&element, schema, why) == -1)
			return (-1);
		before = "";
	}
	return (0);
}

/* ---- building ---- */

static int
push(struct argv *argv, const char *text, struct why *why)
{
	if (argv->n == RUNBLOCK_ARGS_MAX) {
		why_set(why, "args: more than %d arguments of a program",
		    RUNBLOCK_ARGS_MAX);
		return (-1);
	}
	if ((argv->v[argv->n] = strdup(text)) == NULL) {
		why_set(why, "args: out of memory");
		return (-1);
	}
	argv->n++;
	return (0);
}

/* The text of a value: its own, or in buf. */
static const char *
text_of(const json_t *value, char buf[32], size_t *len)
{
	if (json_is_string(value)) {
		*len = json_string_length(value);
		return (json_string_value(value));
	}
	*len = (size_t)snprintf(buf, 32, "%" JSON_INTEGER_FORMAT,
	    json_integer_value(value));
	return (buf);
}

/* index is -1 for a value that is no item of an array. */
static int
push_value(struct argv *argv, const struct element *element,
    const json_t *value, ssize_t index, const struct limits *limits,
    struct why *why)
{
	int limit = element->limit;
	char buf[32];
	const char *text;
	size_t len;

	text = text_of(value, buf, &len);
	if (limit == -1 || limits->v[limit] > limits->v[LIMIT_ARGUMENT])
		limit = LIMIT_ARGUMENT;
	if (len > limits->v[limit]) {
		why_set(why, "args.%s", element->name);
		if (index >= 0)
			why_add(why, "[%zd]", index);
		why_add(why, ": %zu bytes, the limit \"%s\" is %llu", len,
		    limit_table[limit].keyword,
		    (unsigned long long)limits->v[limit]);
		return (-1);
	}
	return (push(argv, text, why));
}

static int
push_element(struct argv *argv, const struct element *element,
    const json_t *args, const struct limits *limits, struct why *why)
{
	const json_t *value, *item;
	size_t i;

	if (element->text != NULL)
		return (push(argv, element->text, why));
	if ((value = json_object_get(args, element->name)) == NULL ||
	    json_is_false(value))
		return (0);
	if (element->flag != NULL && push(argv, element->flag, why) == -1)
		return (-1);
	if (json_is_true(value))
		return (0);
	if (!element->spread)
		return (push_value(argv, element, value, -1, limits, why));
	json_array_foreach(value, i, item) {
		if (push_value(argv, element, item, (ssize_t)i, limits,
		    why) == -1)
			return (-1);
	}
	return (0);
}

int
template_build(const json_t *template, const json_t *args,
    const struct limits *limits, struct argv *argv, struct why *why)
{
	struct element element;
	json_t *json;
	size_t i;

	argv->n = 0;
	argv->v = calloc(RUNBLOCK_ARGS_MAX + 1, sizeof(*argv->v));
	if (argv->v == NULL) {
		why_set(why, "args: out of memory");
		return (-1);
	}
	json_array_foreach(template, i, json) {
		if (read_element(&element, json, why) == -1 ||
		    push_element(argv, &element, args, limits, why) == -1)
			return (-1);
	}
	if (argv->n == 0 || argv->v[0][0] == '\0') {
		why_set(why, "args: the program has no name");
		return (-1);
	}
	return (0);
}

void
argv_free(struct argv *argv)
{
	uint32_t i;

	for (i = 0; i < argv->n; i++)
		free(argv->v[i]);
	free(argv->v);
	argv->v = NULL;
	argv->n = 0;
}
