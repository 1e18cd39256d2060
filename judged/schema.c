/*
 * The schema validator: one row for each keyword, with what checks the
 * keyword itself (in a declaration) and what checks a value by it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "schema.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define DIALECT		"https://json-schema.org/draft/2020-12/schema"

struct keyword {
	const char	*name;
	/* Of a declaration: is the keyword's own value in order? */
	int	(*check)(struct place *, const char *, const json_t *);
	/* Of a value: does it fit?  NULL where there is nothing to check. */
	int	(*validate)(struct place *, const json_t *schema,
		    const json_t *word, const json_t *value);
};

static int	check_at(struct place *, const json_t *);
static int	validate_at(struct place *, const json_t *, const json_t *);

/* jansson's iterators want what they do not change without const. */
static json_t *
mutable(const json_t *json)
{
	return ((json_t *)(uintptr_t)json);
}

/* ---- types ---- */

static const char *const type_names[] = {
	"object", "array", "string", "integer", "number", "boolean", "null"
};

const char *
schema_type_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return ("object");
	case JSON_ARRAY:
		return ("array");
	case JSON_STRING:
		return ("string");
	case JSON_INTEGER:
		return ("integer");
	case JSON_REAL:
		return ("number");
	case JSON_TRUE:
	case JSON_FALSE:
		return ("boolean");
	case JSON_NULL:
		return ("null");
	}
	return ("nothing");
}

static int
type_fits(const json_t *name, const json_t *value)
{
	const char *want = json_string_value(name);
	const char *have = schema_type_of(value);

	return (strcmp(want, have) == 0 || (strcmp(want, "number") == 0 &&
	    strcmp(have, "integer") == 0));
}

static int
check_type_name(const json_t *name)
{
	size_t i;

	for (i = 0; json_is_string(name) && i < NITEMS(type_names); i++) {
		if (strcmp(json_string_value(name), type_names[i]) == 0)
			return (0);
	}
	return (-1);
}

static int
check_type(struct place *place, const char *key, const json_t *word)
{
	const json_t *name;
	size_t i;

	if (check_type_name(word) == 0)
		return (0);
	if (!json_is_array(word) || json_array_size(word) == 0)
		goto bad;
	json_array_foreach(word, i, name) {
		if (check_type_name(name) == -1)
			goto bad;
	}
	return (0);
bad:
	why_set(place->why, "%s.%s: not the name of a type, or a list of them",
	    place->path, key);
	return (-1);
}

static int
validate_type(struct place *place, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *name;
	size_t i;

	(void)schema;
	if (json_is_string(word)) {
		if (type_fits(word, value))
			return (0);
		why_set(place->why, "%s: expected %s, got %s", place->path,
		    json_string_value(word), schema_type_of(value));
		return (-1);
	}
	json_array_foreach(word, i, name) {
		if (type_fits(name, value))
			return (0);
	}
	why_set(place->why, "%s: expected ", place->path);
	json_array_foreach(word, i, name)
		why_add(place->why, "%s%s", i == 0 ? "" : " or ",
		    json_string_value(name));
	why_add(place->why, ", got %s", schema_type_of(value));
	return (-1);
}

/* ---- objects ---- */

static int
check_properties(struct place *place, const char *key, const json_t *word)
{
	const char *name;
	const json_t *schema;
	size_t len = place->len;
	void *it;
	int ok = 0;

	if (!json_is_object(word)) {
		why_set(place->why, "%s.%s: expected object, got %s",
		    place->path, key, schema_type_of(word));
		return (-1);
	}
	for (it = json_object_iter(mutable(word));
	    it != NULL && ok == 0;
	    it = json_object_iter_next(mutable(word), it)) {
		name = json_object_iter_key(it);
		schema = json_object_iter_value(it);
		place_push_name(place, name, strlen(name));
		ok = check_at(place, schema);
		place_pop(place, len);
	}
	return (ok);
}

static int
validate_properties(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	const json_t *member;
	const char *name;
	size_t len = place->len;
	void *it;
	int ok = 0;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	for (it = json_object_iter(mutable(word));
	    it != NULL && ok == 0;
	    it = json_object_iter_next(mutable(word), it)) {
		name = json_object_iter_key(it);
		if ((member = json_object_get(value, name)) == NULL)
			continue;
		place_push_name(place, name, strlen(name));
		ok = validate_at(place, json_object_iter_value(it), member);
		place_pop(place, len);
	}
	return (ok);
}

static int
check_required(struct place *place, const char *key, const json_t *word)
{
	const json_t *name;
	size_t i;

	if (!json_is_array(word))
		goto bad;
	json_array_foreach(word, i, name) {
		if (!json_is_string(name))
			goto bad;
	}
	return (0);
bad:
	why_set(place->why, "%s.%s: not a list of names", place->path, key);
	return (-1);
}

static int
validate_required(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	const json_t *name;
	size_t i;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_array_foreach(word, i, name) {
		if (json_object_get(value, json_string_value(name)) != NULL)
			continue;
		why_set(place->why, "%s: \"%s\" is required", place->path,
		    json_string_value(name));
		return (-1);
	}
	return (0);
}

/* A schema, or a boolean that stands for "anything" or "nothing". */
static int
check_schema(struct place *place, const char *key, const json_t *word)
{
	size_t len = place->len;
	int ok;

	if (json_is_boolean(word))
		return (0);
	place_push_name(place, key, strlen(key));
	ok = check_at(place, word);
	place_pop(place, len);
	return (ok);
}

static int
validate_additional(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	const json_t *known = json_object_get(schema, "properties");
	const char *name;
	size_t len = place->len;
	void *it;
	int ok = 0;

	if (!json_is_object(value) || json_is_true(word))
		return (0);
	for (it = json_object_iter(mutable(value));
	    it != NULL && ok == 0;
	    it = json_object_iter_next(mutable(value), it)) {
		name = json_object_iter_key(it);
		if (json_object_get(known, name) != NULL)
			continue;
		place_push_name(place, name, strlen(name));
		if (json_is_false(word)) {
			why_set(place->why, "%s: no such property",
			    place->path);
			ok = -1;
		} else
			ok = validate_at(place, word,
			    json_object_iter_value(it));
		place_pop(place, len);
	}
	return (ok);
}

/* ---- arrays ---- */

static int
validate_items(struct place *place, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *item;
	size_t i, len = place->len;
	int ok;

	(void)schema;
	if (!json_is_array(value) || json_is_true(word))
		return (0);
	json_array_foreach(value, i, item) {
		place_push_index(place, i);
		if (json_is_false(word)) {
			why_set(place->why, "%s: no item is allowed here",
			    place->path);
			ok = -1;
		} else
			ok = validate_at(place, word, item);
		place_pop(place, len);
		if (ok == -1)
			return (-1);
	}
	return (0);
}

/* ---- sizes and numbers ---- */

static int
check_count(struct place *place, const char *key, const json_t *word)
{
	if (json_is_integer(word) && json_integer_value(word) >= 0)
		return (0);
	why_set(place->why, "%s.%s: not an integer of at least 0",
	    place->path, key);
	return (-1);
}

static int
check_number(struct place *place, const char *key, const json_t *word)
{
	if (json_is_number(word))
		return (0);
	why_set(place->why, "%s.%s: expected number, got %s", place->path,
	    key, schema_type_of(word));
	return (-1);
}

/* Characters of a string that jansson found to be UTF-8. */
static json_int_t
characters(const json_t *string)
{
	const char *s = json_string_value(string);
	size_t i, len = json_string_length(string);
	json_int_t n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return (n);
}

/* Says that a count is out of bounds, with the keyword and its value. */
static int
bad_count(struct place *place, json_int_t have, const char *what,
    const char *key, const json_t *word)
{
	why_set(place->why, "%s: %" JSON_INTEGER_FORMAT " %s, %s is %"
	    JSON_INTEGER_FORMAT, place->path, have, what, key,
	    json_integer_value(word));
	return (-1);
}

static int
too_few(struct place *place, json_int_t have, const char *what,
    const char *key, const json_t *word)
{
	return (have >= json_integer_value(word) ? 0 :
	    bad_count(place, have, what, key, word));
}

static int
too_many(struct place *place, json_int_t have, const char *what,
    const char *key, const json_t *word)
{
	return (have <= json_integer_value(word) ? 0 :
	    bad_count(place, have, what, key, word));
}

static int
validate_min_items(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	return (!json_is_array(value) ? 0 : too_few(place,
	    (json_int_t)json_array_size(value), "items", "minItems", word));
}

static int
validate_max_items(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	return (!json_is_array(value) ? 0 : too_many(place,
	    (json_int_t)json_array_size(value), "items", "maxItems", word));
}

static int
validate_min_length(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	return (!json_is_string(value) ? 0 : too_few(place,
	    characters(value), "characters", "minLength", word));
}

static int
validate_max_length(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	return (!json_is_string(value) ? 0 : too_many(place,
	    characters(value), "characters", "maxLength", word));
}

/* Integers are compared as such: a double has only 53 bits of them. */
static int
compare(const json_t *a, const json_t *b)
{
	json_int_t x, y;
	double f, g;

	if (json_is_integer(a) && json_is_integer(b)) {
		x = json_integer_value(a);
		y = json_integer_value(b);
		return ((x > y) - (x < y));
	}
	f = json_number_value(a);
	g = json_number_value(b);
	return ((f > g) - (f < g));
}

static void
number_words(const json_t *number, char buf[32])
{
	if (json_is_integer(number))
		snprintf(buf, 32, "%" JSON_INTEGER_FORMAT,
		    json_integer_value(number));
	else
		snprintf(buf, 32, "%.17g", json_real_value(number));
}

static int
out_of_range(struct place *place, const char *key, const json_t *word,
    const json_t *value)
{
	char have[32], limit[32];

	number_words(value, have);
	number_words(word, limit);
	why_set(place->why, "%s: %s, %s is %s", place->path, have, key, limit);
	return (-1);
}

static int
validate_minimum(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	if (!json_is_number(value) || compare(value, word) >= 0)
		return (0);
	return (out_of_range(place, "minimum", word, value));
}

static int
validate_maximum(struct place *place, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	if (!json_is_number(value) || compare(value, word) <= 0)
		return (0);
	return (out_of_range(place, "maximum", word, value));
}

/* ---- values ---- */

static int
check_enum(struct place *place, const char *key, const json_t *word)
{
	if (json_is_array(word) && json_array_size(word) > 0)
		return (0);
	why_set(place->why, "%s.%s: not a list of values", place->path, key);
	return (-1);
}

static int
check_nothing(struct place *place, const char *key, const json_t *word)
{
	(void)place;
	(void)key;
	(void)word;
	return (0);
}

/* A value of the declaration (not of the caller) for a sentence. */
static void
add_value(struct why *why, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	why_add(why, "%s", text == NULL ? "?" : text);
	free(text);
}

static int
validate_enum(struct place *place, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *one;
	size_t i;

	(void)schema;
	json_array_foreach(word, i, one) {
		if (json_equal(one, value))
			return (0);
	}
	why_set(place->why, "%s: must be one of ", place->path);
	json_array_foreach(word, i, one) {
		if (i != 0)
			why_add(place->why, ", ");
		add_value(place->why, one);
	}
	return (-1);
}

static int
validate_const(struct place *place, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (json_equal(word, value))
		return (0);
	why_set(place->why, "%s: must be ", place->path);
	add_value(place->why, word);
	return (-1);
}

static int
check_text(struct place *place, const char *key, const json_t *word)
{
	if (json_is_string(word))
		return (0);
	why_set(place->why, "%s.%s: expected string, got %s", place->path,
	    key, schema_type_of(word));
	return (-1);
}

static int
check_dialect(struct place *place, const char *key, const json_t *word)
{
	if (json_is_string(word) &&
	    strcmp(json_string_value(word), DIALECT) == 0)
		return (0);
	why_set(place->why, "%s.%s: must be \"" DIALECT "\"", place->path,
	    key);
	return (-1);
}

/*
 * The order is the order of checking: what a value is comes before what is
 * in it, so that a message names the first thing to mend.
 */
static const struct keyword keywords[] = {
	{ "type",		check_type,	  validate_type },
	{ "const",		check_nothing,	  validate_const },
	{ "enum",		check_enum,	  validate_enum },
	{ "required",		check_required,	  validate_required },
	{ "additionalProperties", check_schema,	  validate_additional },
	{ "properties",		check_properties, validate_properties },
	{ "minItems",		check_count,	  validate_min_items },
	{ "maxItems",		check_count,	  validate_max_items },
	{ "items",		check_schema,	  validate_items },
	{ "minLength",		check_count,	  validate_min_length },
	{ "maxLength",		check_count,	  validate_max_length },
	{ "minimum",		check_number,	  validate_minimum },
	{ "maximum",		check_number,	  validate_maximum },
	{ "$schema",		check_dialect,	  NULL },
	{ "$comment",		check_text,	  NULL },
	{ "title",		check_text,	  NULL },
	{ "description",	check_text,	  NULL },
	{ "default",		check_nothing,	  NULL },
	{ "examples",		check_enum,	  NULL },
};

static const struct keyword *
keyword_find(const char *name)
{
	size_t i;

	for (i = 0; i < NITEMS(keywords); i++) {
		if (strcmp(name, keywords[i].name) == 0)
			return (&keywords[i]);
	}
	return (NULL);
}

static int
check_at(struct place *place, const json_t *schema)
{
	const struct keyword *keyword;
	char buf[WHY_NAME_SIZE];
	const char *name;
	void *it;

	if (!json_is_object(schema)) {
		why_set(place->why, "%s: expected a schema (an object), got %s",
		    place->path, schema_type_of(schema));
		return (-1);
	}
	if (place->depth > SCHEMA_DEPTH_MAX) {
		why_set(place->why, "%s: deeper than %d schemas", place->path,
		    SCHEMA_DEPTH_MAX);
		return (-1);
	}
	for (it = json_object_iter(mutable(schema)); it != NULL;
	    it = json_object_iter_next(mutable(schema), it)) {
		name = json_object_iter_key(it);
		if ((keyword = keyword_find(name)) == NULL) {
			why_set(place->why, "%s: keyword \"%s\" is not "
			    "supported", place->path,
			    why_name(name, strlen(name), buf));
			return (-1);
		}
		if (keyword->check(place, name,
		    json_object_iter_value(it)) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_at(struct place *place, const json_t *schema, const json_t *value)
{
	const json_t *word;
	size_t i;

	for (i = 0; i < NITEMS(keywords); i++) {
		if (keywords[i].validate == NULL ||
		    (word = json_object_get(schema, keywords[i].name)) == NULL)
			continue;
		if (keywords[i].validate(place, schema, word, value) == -1)
			return (-1);
	}
	return (0);
}

int
schema_check_as(const char *name, const json_t *schema, struct why *why)
{
	struct place place = { .why = why };

	place_push(&place, name);
	return (check_at(&place, schema));
}

int
schema_check(const json_t *schema, struct why *why)
{
	return (schema_check_as("input_schema", schema, why));
}

int
schema_validate(const json_t *schema, const json_t *value, const char *name,
    struct why *why)
{
	struct place place = { .why = why };

	place_push(&place, name);
	return (validate_at(&place, schema, value));
}
