/*
 * The schema validator: what a value is, texts and numbers.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema_int.h"


/* ---- types ---- */

static const char *const type_names[] = {
	"object", "array", "string", "integer", "number", "boolean", "null"
};

const char *
schema_type_of(const json_t *value)
{
	if (value == NULL)
		return ("nothing");
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

/* 1.0 is one. */
int
schema_is_integer(const json_t *value)
{
	return (json_is_integer(value) || (json_is_real(value) &&
	    floor(json_real_value(value)) == json_real_value(value)));
}

static int
type_fits(const json_t *name, const json_t *value)
{
	const char *want = json_string_value(name);

	if (strcmp(want, "integer") == 0)
		return (schema_is_integer(value));
	if (strcmp(want, "number") == 0)
		return (json_is_number(value));
	return (strcmp(want, schema_type_of(value)) == 0);
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
check_type(struct walk *w, const char *key, const json_t *word)
{
	static const char words[] =
	    "not the name of a type, or a list of them";
	const json_t *name;
	size_t i;

	if (check_type_name(word) == 0)
		return (0);
	if (!json_is_array(word) || json_array_size(word) == 0)
		return (schema_bad_word(w, key, words));
	json_array_foreach(word, i, name) {
		if (check_type_name(name) == -1)
			return (schema_bad_word(w, key, words));
	}
	return (0);
}

static int
validate_type(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *name;
	size_t i;

	(void)schema;
	if (json_is_string(word)) {
		if (type_fits(word, value))
			return (0);
		why_set(w->place.why, "%s: expected %s, got %s",
		    w->place.path, json_string_value(word),
		    schema_type_of(value));
		return (-1);
	}
	json_array_foreach(word, i, name) {
		if (type_fits(name, value))
			return (0);
	}
	why_set(w->place.why, "%s: expected ", w->place.path);
	json_array_foreach(word, i, name)
		why_add(w->place.why, "%s%s", i == 0 ? "" : " or ",
		    json_string_value(name));
	why_add(w->place.why, ", got %s", schema_type_of(value));
	return (-1);
}

/* ---- equality ---- */

/* Integers are compared as such: a double has only 53 bits of them. */
static int
compare(const json_t *a, const json_t *b)
{
	long double f, g;
	json_int_t x, y;

	if (json_is_integer(a) && json_is_integer(b)) {
		x = json_integer_value(a);
		y = json_integer_value(b);
		return ((x > y) - (x < y));
	}
	f = json_is_integer(a) ? (long double)json_integer_value(a) :
	    (long double)json_real_value(a);
	g = json_is_integer(b) ? (long double)json_integer_value(b) :
	    (long double)json_real_value(b);
	return ((f > g) - (f < g));
}

int
schema_equal(const json_t *a, const json_t *b)
{
	const char *name;
	json_t *v;
	size_t i;

	if (json_is_number(a) && json_is_number(b))
		return (compare(a, b) == 0);
	if (json_typeof(a) != json_typeof(b))
		return (0);
	if (json_is_array(a)) {
		if (json_array_size(a) != json_array_size(b))
			return (0);
		json_array_foreach(a, i, v) {
			if (!schema_equal(v, json_array_get(b, i)))
				return (0);
		}
		return (1);
	}
	if (!json_is_object(a))
		return (json_equal(a, b));
	if (json_object_size(a) != json_object_size(b))
		return (0);
	json_object_foreach(schema_mutable(a), name, v) {
		if (json_object_get(b, name) == NULL ||
		    !schema_equal(v, json_object_get(b, name)))
			return (0);
	}
	return (1);
}

/* The same with one form for each number, so that texts can be compared. */
static json_t *
normal(const json_t *v)
{
	const char *name;
	json_t *copy, *one;
	double d;
	size_t i;

	if (json_is_real(v)) {
		d = json_real_value(v);
		if (floor(d) == d && fabs(d) < 9.2e18)
			return (json_integer((json_int_t)d));
	} else if (json_is_array(v)) {
		copy = json_array();
		json_array_foreach(v, i, one)
			json_array_append_new(copy, normal(one));
		return (copy);
	} else if (json_is_object(v)) {
		copy = json_object();
		json_object_foreach(schema_mutable(v), name, one)
			json_object_set_new(copy, name, normal(one));
		return (copy);
	}
	return (json_incref(schema_mutable(v)));
}

static int
text_cmp(const void *a, const void *b)
{
	return (strcmp(*(char *const *)a, *(char *const *)b));
}

/* Sorted, so that a long list does not take its square. */
int
schema_unique(struct walk *w, const json_t *array)
{
	size_t n = json_array_size(array), i;
	char **texts;
	json_t *one;
	int unique = 1;

	if (schema_step(w, (unsigned)n) == -1)
		return (0);
	if ((texts = calloc(n + 1, sizeof(*texts))) == NULL)
		return (0);
	for (i = 0; i < n; i++) {
		one = normal(json_array_get(array, i));
		texts[i] = json_dumps(one, JSON_COMPACT | JSON_SORT_KEYS |
		    JSON_ENCODE_ANY);
		json_decref(one);
		if (texts[i] == NULL)
			unique = 0;
	}
	if (unique)
		qsort(texts, n, sizeof(*texts), text_cmp);
	for (i = 1; i < n && unique; i++)
		unique = strcmp(texts[i - 1], texts[i]) != 0;
	for (i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
	return (unique);
}

static int
check_enum(struct walk *w, const char *key, const json_t *word)
{
	if (json_is_array(word) && json_array_size(word) > 0)
		return (0);
	return (schema_bad_word(w, key, "not a list of values"));
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
validate_enum(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *one;
	size_t i;

	(void)schema;
	json_array_foreach(word, i, one) {
		if (schema_step(w, 1) == -1)
			return (-1);
		if (schema_equal(one, value))
			return (0);
	}
	why_set(w->place.why, "%s: must be one of ", w->place.path);
	json_array_foreach(word, i, one) {
		if (i != 0)
			why_add(w->place.why, ", ");
		add_value(w->place.why, one);
	}
	return (-1);
}

static int
validate_const(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (schema_equal(word, value))
		return (0);
	why_set(w->place.why, "%s: must be ", w->place.path);
	add_value(w->place.why, word);
	return (-1);
}

/* ---- texts ---- */

/* Characters of a string that jansson found to be UTF-8. */
static size_t
characters(const json_t *string)
{
	const char *s = json_string_value(string);
	size_t i, len = json_string_length(string), n = 0;

	for (i = 0; i < len; i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return (n);
}

static int
validate_min_length(struct walk *w, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	if (!json_is_string(value) ||
	    (double)characters(value) >= json_number_value(word))
		return (0);
	why_set(w->place.why, "%s: %zu characters, minLength is %.0f",
	    w->place.path, characters(value), json_number_value(word));
	return (-1);
}

static int
validate_max_length(struct walk *w, const json_t *schema,
    const json_t *word, const json_t *value)
{
	(void)schema;
	if (!json_is_string(value) ||
	    (double)characters(value) <= json_number_value(word))
		return (0);
	why_set(w->place.why, "%s: %zu characters, maxLength is %.0f",
	    w->place.path, characters(value), json_number_value(word));
	return (-1);
}

static int
check_pattern(struct walk *w, const char *key, const json_t *word)
{
	if (!json_is_string(word))
		return (schema_check_text(w, key, word));
	return (schema_pattern_check(w, key, json_string_value(word)));
}

static int
validate_pattern(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!json_is_string(value))
		return (0);
	switch (schema_pattern_match(w, json_string_value(word),
	    json_string_value(value), json_string_length(value))) {
	case 1:
		return (0);
	case 0:
		why_set(w->place.why, "%s: does not match the pattern %s",
		    w->place.path, json_string_value(word));
		break;
	default:
		break;
	}
	return (-1);
}

/* ---- numbers ---- */

static int
check_number(struct walk *w, const char *key, const json_t *word)
{
	if (json_is_number(word))
		return (0);
	why_set(w->place.why, "%s.%s: expected number, got %s",
	    w->place.path, key, schema_type_of(word));
	return (-1);
}

static int
check_above_zero(struct walk *w, const char *key, const json_t *word)
{
	if (json_is_number(word) && json_number_value(word) > 0)
		return (0);
	return (schema_bad_word(w, key, "not a number above 0"));
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
out_of_range(struct walk *w, const char *key, const json_t *word,
    const json_t *value)
{
	char have[32], limit[32];

	number_words(value, have);
	number_words(word, limit);
	why_set(w->place.why, "%s: %s, %s is %s", w->place.path, have, key,
	    limit);
	return (-1);
}

static int
validate_minimum(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	return (!json_is_number(value) || compare(value, word) >= 0 ? 0 :
	    out_of_range(w, "minimum", word, value));
}

static int
validate_maximum(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	return (!json_is_number(value) || compare(value, word) <= 0 ? 0 :
	    out_of_range(w, "maximum", word, value));
}

static int
validate_above(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	return (!json_is_number(value) || compare(value, word) > 0 ? 0 :
	    out_of_range(w, "exclusiveMinimum", word, value));
}

static int
validate_below(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	return (!json_is_number(value) || compare(value, word) < 0 ? 0 :
	    out_of_range(w, "exclusiveMaximum", word, value));
}

/*
 * Exact for integers; else a multiple is one that is as near to the value as
 * a double can be: 0.0075 is 75 times 0.0001.
 */
static int
is_multiple(const json_t *value, const json_t *of)
{
	double v = json_number_value(value), m = json_number_value(of), q;

	if (json_is_integer(value) && json_is_integer(of))
		return (json_integer_value(value) % json_integer_value(of) ==
		    0);
	if (floor(v) == v && floor(m) == m)
		return (fmod(v, m) == 0);
	q = round(v / m);
	if (!isfinite(q))
		return (0);
	return (fabs(q * m - v) <= 2 * DBL_EPSILON * fabs(v));
}

static int
validate_multiple(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	return (!json_is_number(value) || is_multiple(value, word) ? 0 :
	    out_of_range(w, "multipleOf", word, value));
}

const struct keyword schema_value_words[] = {
	{ "type",		check_type,		validate_type },
	{ "const",		schema_check_any,	validate_const },
	{ "enum",		check_enum,		validate_enum },
	{ "minLength",		schema_check_count,	validate_min_length },
	{ "maxLength",		schema_check_count,	validate_max_length },
	{ "pattern",		check_pattern,		validate_pattern },
	{ "minimum",		check_number,		validate_minimum },
	{ "maximum",		check_number,		validate_maximum },
	{ "exclusiveMinimum",	check_number,		validate_above },
	{ "exclusiveMaximum",	check_number,		validate_below },
	{ "multipleOf",		check_above_zero,	validate_multiple },
};
const size_t schema_value_nwords = NITEMS(schema_value_words);
