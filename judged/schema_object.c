/*
 * The schema validator: objects.
 */
#include <string.h>

#include "schema_int.h"

/* A member by a schema, with its name in the path. */
static int
validate_member(struct walk *w, const json_t *schema, const char *name,
    const json_t *member)
{
	size_t len = w->place.len;
	int ok;

	place_push_name(&w->place, name, strlen(name));
	ok = schema_validate_at(w, schema, member);
	place_pop(&w->place, len);
	return (ok);
}

static int
validate_properties(struct walk *w, const json_t *schema,
    const json_t *word, const json_t *value)
{
	const json_t *member;
	const char *name;
	json_t *of;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_object_foreach(schema_mutable(word), name, of) {
		if ((member = json_object_get(value, name)) != NULL &&
		    validate_member(w, of, name, member) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_required(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *name;
	size_t i;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_array_foreach(word, i, name) {
		if (json_object_get(value, json_string_value(name)) != NULL)
			continue;
		why_set(w->place.why, "%s: \"%s\" is required",
		    w->place.path, json_string_value(name));
		return (-1);
	}
	return (0);
}

/* ---- patterns for names ---- */

static int
check_patterns(struct walk *w, const char *key, const json_t *word)
{
	const char *pattern;
	json_t *schema;

	if (json_is_object(word)) {
		json_object_foreach(schema_mutable(word), pattern, schema) {
			if (schema_pattern_check(w, key, pattern) == -1)
				return (-1);
		}
	}
	return (schema_check_map(w, key, word));
}

static int
validate_patterns(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const char *pattern, *name;
	json_t *of, *member;
	int match;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_object_foreach(schema_mutable(word), pattern, of) {
		json_object_foreach(schema_mutable(value), name, member) {
			match = schema_pattern_match(w, pattern, name,
			    strlen(name));
			if (match == -1 || (match == 1 &&
			    validate_member(w, of, name, member) == -1))
				return (-1);
		}
	}
	return (0);
}

/* 1 if patternProperties has a word on it, -1 undecided. */
static int
has_pattern(struct walk *w, const json_t *patterns, const char *name)
{
	const char *pattern;
	json_t *of;
	int match;

	json_object_foreach(schema_mutable(patterns), pattern, of) {
		match = schema_pattern_match(w, pattern, name, strlen(name));
		if (match != 0)
			return (match);
	}
	return (0);
}

static int
validate_additional(struct walk *w, const json_t *schema,
    const json_t *word, const json_t *value)
{
	const json_t *known = json_object_get(schema, "properties");
	const json_t *patterns = json_object_get(schema, "patternProperties");
	size_t len = w->place.len;
	const char *name;
	json_t *member;
	int match;

	if (!json_is_object(value) || json_is_true(word))
		return (0);
	json_object_foreach(schema_mutable(value), name, member) {
		if (schema_step(w, 1) == -1)
			return (-1);
		if (json_object_get(known, name) != NULL)
			continue;
		if ((match = has_pattern(w, patterns, name)) == -1)
			return (-1);
		if (match)
			continue;
		if (json_is_false(word)) {
			place_push_name(&w->place, name, strlen(name));
			why_set(w->place.why, "%s: no such property",
			    w->place.path);
			place_pop(&w->place, len);
			return (-1);
		}
		if (validate_member(w, word, name, member) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_names(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const char *name;
	json_t *member, *text;
	int ok = 0;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_object_foreach(schema_mutable(value), name, member) {
		if ((text = json_string(name)) == NULL)
			return (-1);
		ok = validate_member(w, word, name, text);
		json_decref(text);
		if (ok == -1)
			break;
	}
	return (ok);
}

/* ---- how many ---- */

static int
validate_min(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!json_is_object(value) ||
	    (double)json_object_size(value) >= json_number_value(word))
		return (0);
	why_set(w->place.why, "%s: %zu properties, minProperties is %.0f",
	    w->place.path, json_object_size(value), json_number_value(word));
	return (-1);
}

static int
validate_max(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!json_is_object(value) ||
	    (double)json_object_size(value) <= json_number_value(word))
		return (0);
	why_set(w->place.why, "%s: %zu properties, maxProperties is %.0f",
	    w->place.path, json_object_size(value), json_number_value(word));
	return (-1);
}

/* ---- what depends on a name ---- */

static int
check_dependent(struct walk *w, const char *key, const json_t *word)
{
	const char *name;
	json_t *names;

	if (!json_is_object(word))
		return (schema_bad_word(w, key, "not lists of names by name"));
	json_object_foreach(schema_mutable(word), name, names) {
		if (schema_check_names(w, key, names) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_dependent(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const char *name;
	json_t *names, *one;
	size_t i;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_object_foreach(schema_mutable(word), name, names) {
		if (json_object_get(value, name) == NULL)
			continue;
		json_array_foreach(names, i, one) {
			if (json_object_get(value, json_string_value(one)) !=
			    NULL)
				continue;
			why_set(w->place.why, "%s: \"%s\" is required beside "
			    "\"%s\"", w->place.path, json_string_value(one),
			    name);
			return (-1);
		}
	}
	return (0);
}

static int
validate_dependent_schemas(struct walk *w, const json_t *schema,
    const json_t *word, const json_t *value)
{
	const char *name;
	json_t *of;

	(void)schema;
	if (!json_is_object(value))
		return (0);
	json_object_foreach(schema_mutable(word), name, of) {
		if (json_object_get(value, name) != NULL &&
		    schema_validate_at(w, of, value) == -1)
			return (-1);
	}
	return (0);
}

const struct keyword schema_object_words[] = {
	{ "required",		schema_check_names,	validate_required },
	{ "dependentRequired",	check_dependent,	validate_dependent },
	{ "additionalProperties", schema_check_schema,	validate_additional },
	{ "properties",		schema_check_map,	validate_properties },
	{ "patternProperties",	check_patterns,		validate_patterns },
	{ "propertyNames",	schema_check_schema,	validate_names },
	{ "minProperties",	schema_check_count,	validate_min },
	{ "maxProperties",	schema_check_count,	validate_max },
	{ "dependentSchemas",	schema_check_map,
	    validate_dependent_schemas },
};
const size_t schema_object_nwords = NITEMS(schema_object_words);
