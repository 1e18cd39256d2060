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
	const char	*prefix;
	const json_t	*values;
	int		 limit;		/* enum limit, or -1 */
};

/* ---- reading an element ---- */

static int
read_name(struct element *element, const char *key, const char *text,
    struct why *why)
{
	if (element->name != NULL) {
		why_set(why, "argv: both \"arg\" and \"args\"");
		return (-1);
	}
	element->name = text;
	element->spread = key[3] == 's';
	return (0);
}

static int
read_limit(struct element *element, const char *text, struct why *why)
{
	element->limit = limit_find(text);
	if (element->limit != -1 &&
	    limit_table[element->limit].unit == UNIT_BYTES)
		return (0);
	why_set(why, "argv: \"%s\" is no limit in bytes", text);
	return (-1);
}

static int
read_values(struct element *element, const json_t *value, struct why *why)
{
	const char *name;
	json_t *text;

	element->values = value;
	json_object_foreach((json_t *)(uintptr_t)value, name, text) {
		if (json_is_string(text) || json_is_null(text))
			continue;
		why_set(why, "argv: \"values\": expected strings or null, "
		    "got %s", schema_type_of(text));
		return (-1);
	}
	return (0);
}

static int
read_member(struct element *element, const char *key, const json_t *value,
    struct why *why)
{
	const char *text = json_string_value(value);
	char buf[WHY_NAME_SIZE];

	if (strcmp(key, "values") == 0 && json_is_object(value))
		return (read_values(element, value, why));
	if (text == NULL) {
		why_set(why, "argv: \"%s\": expected string, got %s",
		    why_name(key, strlen(key), buf), schema_type_of(value));
		return (-1);
	}
	if (strcmp(key, "arg") == 0 || strcmp(key, "args") == 0)
		return (read_name(element, key, text, why));
	if (strcmp(key, "limit") == 0)
		return (read_limit(element, text, why));
	if (strcmp(key, "flag") == 0)
		element->flag = text;
	else if (strcmp(key, "prefix") == 0)
		element->prefix = text;
	else {
		why_set(why, "argv: no member \"%s\" is known",
		    why_name(key, strlen(key), buf));
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
	if (element->flag != NULL && element->prefix != NULL) {
		why_set(why, "argv: both \"flag\" and \"prefix\"");
		return (-1);
	}
	return (0);
}

/* ---- checking a template against its schema ---- */

static const json_t *
property_of(const json_t *schema, const char *name)
{
	return (schema_follow(schema, json_object_get(json_object_get(schema,
	    "properties"), name)));
}

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
	return (type_is(schema, "string") || type_is(schema, "integer") ||
	    type_is(schema, "number"));
}

/* Every word of the enumeration stands for something. */
static int
check_values(const struct element *element, const json_t *property,
    struct why *why)
{
	const json_t *words = json_object_get(property, "enum"), *one;
	size_t i;

	if (element->spread || !type_is(property, "string") ||
	    !json_is_array(words)) {
		why_set(why, "argv: \"values\" needs \"arg\" and a string with "
		    "an \"enum\"; \"%s\" is not that", element->name);
		return (-1);
	}
	json_array_foreach(words, i, one) {
		if (json_is_string(one) && json_object_get(element->values,
		    json_string_value(one)) != NULL)
			continue;
		why_set(why, "argv: \"values\" of \"%s\" has not all of its "
		    "\"enum\"", element->name);
		return (-1);
	}
	return (0);
}

static int
check_types(const struct element *element, const json_t *schema,
    const json_t *property, struct why *why)
{
	if (element->values != NULL)
		return (check_values(element, property, why));
	if (element->spread) {
		if (type_is(property, "array") &&
		    scalar(schema_follow(schema,
		    json_object_get(property, "items"))))
			return (0);
		why_set(why, "argv: \"args\" needs an array of strings or "
		    "numbers; \"%s\" is not that", element->name);
		return (-1);
	}
	if (scalar(property) ||
	    (element->flag != NULL && type_is(property, "boolean")))
		return (0);
	why_set(why, "argv: \"arg\" needs a string, a number or, with a "
	    "flag, a boolean; \"%s\" is not that", element->name);
	return (-1);
}

/*
 * Guarantee C1b: before is the text element in front of this one ("" if the
 * one in front is a value), ended is set once a "--" was seen.  Fixed texts
 * are the declaration's own.
 */
static int
check_position(const struct element *element, size_t i, size_t count,
    const char *before, int ended, struct why *why)
{
	if (i == 0) {
		if (element->spread && count == 1 && element->flag == NULL &&
		    element->prefix == NULL)
			return (0);
		why_set(why, "argv: begins with the path of a program, or is "
		    "one \"args\" alone");
		return (-1);
	}
	if (WITHOUT(template_options) || ended || element->values != NULL ||
	    (element->flag != NULL && element->flag[0] == '-') ||
	    (element->prefix != NULL && element->prefix[0] == '-') ||
	    (!element->spread && element->flag == NULL &&
	    element->prefix == NULL && before[0] == '-'))
		return (0);
	why_set(why, "argv: \"%s\" could be read as an option: put \"--\" or "
	    "an option that takes it before it", element->name);
	return (-1);
}

/*
 * Without a value the place of what follows would change its meaning: so it
 * has one, or it takes its flag with it, or nothing follows.
 */
static int
check_missing(const struct element *element, const json_t *schema,
    const json_t *property, int last, struct why *why)
{
	const json_t *fallback = json_object_get(property, "default");
	struct why words;

	if (fallback != NULL && schema_validate_part(schema, property,
	    fallback, element->name, &words) == -1) {
		why_set(why, "argv: the default does not fit: %s",
		    words.text);
		return (-1);
	}
	if (element->flag != NULL || element->prefix != NULL ||
	    is_required(schema, element->name) || fallback != NULL || last)
		return (0);
	why_set(why, "argv: \"%s\" is not required, so it needs a flag, a "
	    "prefix or a default, or the last place behind \"--\"",
	    element->name);
	return (-1);
}

static int
check_element(const struct element *element, const json_t *schema, int last,
    struct why *why)
{
	const json_t *property;

	property = property_of(schema, element->name);
	if (!json_is_object(property)) {
		why_set(why, "argv: input_schema has no property \"%s\"",
		    element->name);
		return (-1);
	}
	if (check_missing(element, schema, property, last, why) == -1)
		return (-1);
	return (check_types(element, schema, property, why));
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
		    why) == -1 || check_element(&element, schema,
		    ended && i == count - 1, why) == -1)
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
	double d = json_real_value(value);

	if (json_is_string(value)) {
		*len = json_string_length(value);
		return (json_string_value(value));
	}
	if (json_is_integer(value))
		*len = (size_t)snprintf(buf, 32, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(value));
	else if (d > -1e15 && d < 1e15 && (double)(long long)d == d)
		*len = (size_t)snprintf(buf, 32, "%lld", (long long)d);
	else
		*len = (size_t)snprintf(buf, 32, "%.17g", d);
	return (buf);
}

/* index is -1 for a value that is no item of an array. */
static int
push_value(struct argv *argv, const struct element *element,
    const json_t *value, ssize_t index, const struct limits *limits,
    struct why *why)
{
	int limit = element->limit, ok;
	const char *text;
	char buf[32], *joined;
	size_t len;

	text = text_of(value, buf, &len);
	if (limit == -1 || limits->v[limit] > limits->v[LIMIT_ARGUMENT])
		limit = LIMIT_ARGUMENT;
	if (element->prefix != NULL)
		len += strlen(element->prefix);
	if (len > limits->v[limit]) {
		why_set(why, "args.%s", element->name);
		if (index >= 0)
			why_add(why, "[%zd]", index);
		why_add(why, ": %zu bytes, the limit \"%s\" is %llu", len,
		    limit_table[limit].keyword,
		    (unsigned long long)limits->v[limit]);
		return (-1);
	}
	if (element->flag != NULL && push(argv, element->flag, why) == -1)
		return (-1);
	if (element->prefix == NULL)
		return (push(argv, text, why));
	if (asprintf(&joined, "%s%s", element->prefix, text) == -1) {
		why_set(why, "args: out of memory");
		return (-1);
	}
	ok = push(argv, joined, why);
	free(joined);
	return (ok);
}

/* The fixed text that a word stands for, or nothing. */
static int
push_fixed(struct argv *argv, const struct element *element,
    const json_t *value, const struct limits *limits, struct why *why)
{
	const json_t *text = json_object_get(element->values,
	    json_string_value(value));

	if (!json_is_string(text))
		return (0);
	return (push_value(argv, element, text, -1, limits, why));
}

static int
push_element(struct argv *argv, const struct element *element,
    const json_t *schema, const json_t *args, const struct limits *limits,
    struct why *why)
{
	const json_t *value, *item;
	size_t i;

	if (element->text != NULL)
		return (push(argv, element->text, why));
	if ((value = json_object_get(args, element->name)) == NULL)
		value = json_object_get(property_of(schema, element->name),
		    "default");
	if (value == NULL || json_is_false(value))
		return (0);
	if (json_is_true(value))
		return (push(argv, element->flag, why));
	if (element->values != NULL)
		return (push_fixed(argv, element, value, limits, why));
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
template_build(const json_t *template, const json_t *schema,
    const json_t *args, const struct limits *limits, struct argv *argv,
    struct why *why)
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
		    push_element(argv, &element, schema, args, limits,
		    why) == -1)
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
