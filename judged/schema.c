/*
 * The schema validator: the walk, and local references.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema_int.h"

#define FEW		6	/* keywords of most schemas */
#define DIALECT		"https://json-schema.org/draft/2020-12/schema"

json_t *
schema_mutable(const json_t *json)
{
	return ((json_t *)(uintptr_t)json);
}

int
schema_bad_word(struct walk *w, const char *key, const char *words)
{
	why_set(w->place.why, "%s.%s: %s", w->place.path, key, words);
	return (-1);
}

int
schema_step(struct walk *w, unsigned steps)
{
	if (w->left >= steps) {
		w->left -= steps;
		return (0);
	}
	w->left = 0;
	w->out = 1;
	why_set(w->place.why, "%s: more work than %d steps of checking",
	    w->place.path, SCHEMA_STEPS_MAX);
	return (-1);
}

/* ---- checks that several keywords share ---- */

int
schema_check_any(struct walk *w, const char *key, const json_t *word)
{
	(void)w;
	(void)key;
	(void)word;
	return (0);
}

int
schema_check_text(struct walk *w, const char *key, const json_t *word)
{
	if (json_is_string(word))
		return (0);
	why_set(w->place.why, "%s.%s: expected string, got %s", w->place.path,
	    key, schema_type_of(word));
	return (-1);
}

int
schema_check_count(struct walk *w, const char *key, const json_t *word)
{
	if (schema_is_integer(word) && json_number_value(word) >= 0)
		return (0);
	return (schema_bad_word(w, key, "not an integer of at least 0"));
}

int
schema_check_schema(struct walk *w, const char *key, const json_t *word)
{
	size_t len = w->place.len;
	int ok;

	place_push_name(&w->place, key, strlen(key));
	ok = schema_check_at(w, word);
	place_pop(&w->place, len);
	return (ok);
}

int
schema_check_list(struct walk *w, const char *key, const json_t *word)
{
	size_t len = w->place.len, inner, i;
	const json_t *schema;
	int ok = 0;

	if (!json_is_array(word) || json_array_size(word) == 0)
		return (schema_bad_word(w, key, "not a list of schemas"));
	place_push_name(&w->place, key, strlen(key));
	inner = w->place.len;
	json_array_foreach(word, i, schema) {
		place_push_index(&w->place, i);
		ok = schema_check_at(w, schema);
		place_pop(&w->place, inner);
		if (ok == -1)
			break;
	}
	place_pop(&w->place, len);
	return (ok);
}

int
schema_check_map(struct walk *w, const char *key, const json_t *word)
{
	size_t len = w->place.len;
	const char *name;
	json_t *schema;
	int ok = 0;

	if (!json_is_object(word)) {
		why_set(w->place.why, "%s.%s: expected object, got %s",
		    w->place.path, key, schema_type_of(word));
		return (-1);
	}
	json_object_foreach(schema_mutable(word), name, schema) {
		place_push_name(&w->place, name, strlen(name));
		ok = schema_check_at(w, schema);
		place_pop(&w->place, len);
		if (ok == -1)
			break;
	}
	return (ok);
}

int
schema_check_names(struct walk *w, const char *key, const json_t *word)
{
	const json_t *name;
	size_t i;

	if (!json_is_array(word))
		return (schema_bad_word(w, key, "not a list of names"));
	json_array_foreach(word, i, name) {
		if (!json_is_string(name))
			return (schema_bad_word(w, key,
			    "not a list of names"));
	}
	return (0);
}

/* ---- references ---- */

/* One step of a JSON pointer (RFC 6901), with the escapes of a URI. */
static int
pointer_step(const char **p, char *step, size_t size)
{
	unsigned byte;
	size_t n = 0;

	for (; **p != '\0' && **p != '/'; (*p)++) {
		if (n + 1 >= size)
			return (-1);
		if (**p == '%') {
			if (sscanf(*p + 1, "%2x", &byte) != 1 || byte == 0)
				return (-1);
			*p += 2;
			step[n++] = (char)byte;
		} else
			step[n++] = **p;
	}
	step[n] = '\0';
	return (0);
}

static void
unescape(char *step)
{
	char *r, *w;

	for (r = w = step; *r != '\0'; r++, w++) {
		*w = *r;
		if (*r == '~' && (r[1] == '0' || r[1] == '1'))
			*w = *++r == '0' ? '~' : '/';
	}
	*w = '\0';
}

static const json_t *
child(const json_t *at, const char *step)
{
	char *end;
	unsigned long i;

	if (json_is_object(at))
		return (json_object_get(at, step));
	if (!json_is_array(at) || *step < '0' || *step > '9')
		return (NULL);
	i = strtoul(step, &end, 10);
	return (*end == '\0' ? json_array_get(at, i) : NULL);
}

/* What "#", or "#/...", leads to; NULL if nothing. */
static const json_t *
resolve(const json_t *root, const char *ref)
{
	const json_t *at = root;
	char step[256];

	if (*ref++ != '#')
		return (NULL);
	while (*ref != '\0' && at != NULL) {
		if (*ref++ != '/' ||
		    pointer_step(&ref, step, sizeof(step)) == -1)
			return (NULL);
		unescape(step);
		at = child(at, step);
	}
	return (at);
}

static int
check_ref(struct walk *w, const char *key, const json_t *word)
{
	const json_t *to;
	struct ref *refs;

	if (!json_is_string(word))
		return (schema_check_text(w, key, word));
	if (json_string_value(word)[0] != '#')
		return (schema_bad_word(w, key, "only references within the "
		    "declaration (\"#/$defs/name\") are supported"));
	if ((to = resolve(w->root, json_string_value(word))) == NULL)
		return (schema_bad_word(w, key, "leads to nothing"));
	refs = reallocarray(w->refs, w->nrefs + 1, sizeof(*refs));
	if (refs == NULL)
		return (schema_bad_word(w, key, "out of memory"));
	w->refs = refs;
	refs[w->nrefs].to = json_string_value(word);
	refs[w->nrefs++].target = to;
	return (0);
}

static int
validate_ref(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *to = resolve(w->root, json_string_value(word));

	(void)schema;
	return (to == NULL ? -1 : schema_validate_at(w, to, value));
}

/* What a reference leads to must have been checked as a schema. */
static int
check_targets(struct walk *w)
{
	size_t i, k;

	for (i = 0; i < w->nrefs; i++) {
		if (json_is_boolean(w->refs[i].target))
			continue;
		for (k = 0; k < w->nmet; k++) {
			if (w->met[k] == w->refs[i].target)
				break;
		}
		if (k == w->nmet) {
			why_set(w->place.why, "%s: $ref \"%.64s\" does not "
			    "lead to a schema", w->place.path, w->refs[i].to);
			return (-1);
		}
	}
	return (0);
}

/* ---- the tables ---- */

static int
check_dialect(struct walk *w, const char *key, const json_t *word)
{
	if (json_is_string(word) &&
	    strcmp(json_string_value(word), DIALECT) == 0)
		return (0);
	return (schema_bad_word(w, key, "must be \"" DIALECT "\""));
}

static int
check_examples(struct walk *w, const char *key, const json_t *word)
{
	return (json_is_array(word) ? 0 :
	    schema_bad_word(w, key, "not a list of values"));
}

static const struct keyword core_words[] = {
	{ "$ref",		check_ref,		validate_ref },
	{ "$defs",		schema_check_map,	NULL },
	{ "$schema",		check_dialect,		NULL },
	{ "$comment",		schema_check_text,	NULL },
	{ "title",		schema_check_text,	NULL },
	{ "description",	schema_check_text,	NULL },
	{ "format",		schema_check_text,	NULL },
	{ "default",		schema_check_any,	NULL },
	{ "examples",		check_examples,		NULL },
	{ "deprecated",		schema_check_any,	NULL },
	{ "readOnly",		schema_check_any,	NULL },
	{ "writeOnly",		schema_check_any,	NULL },
	{ "contentEncoding",	schema_check_text,	NULL },
	{ "contentMediaType",	schema_check_text,	NULL },
	{ "contentSchema",	schema_check_schema,	NULL },
};

/* In the order of checking: what a value is comes before what is in it. */
static const struct {
	const struct keyword	*words;
	const size_t		*n;
} tables[] = {
	{ schema_value_words, &schema_value_nwords },
	{ schema_object_words, &schema_object_nwords },
	{ schema_array_words, &schema_array_nwords },
	{ schema_logic_words, &schema_logic_nwords },
	{ core_words, &(const size_t){ NITEMS(core_words) } },
};

static const struct keyword *
keyword_find(const char *name, unsigned *order)
{
	size_t t, i;

	for (t = 0; t < NITEMS(tables); t++) {
		for (i = 0; i < *tables[t].n; i++) {
			if (strcmp(name, tables[t].words[i].name) == 0) {
				*order = (unsigned)(t << 8 | i);
				return (&tables[t].words[i]);
			}
		}
	}
	return (NULL);
}

static int
check_words(struct walk *w, const json_t *schema)
{
	const struct keyword *keyword;
	char buf[WHY_NAME_SIZE];
	const char *name;
	unsigned order;
	json_t *word;

	json_object_foreach(schema_mutable(schema), name, word) {
		if ((keyword = keyword_find(name, &order)) == NULL) {
			why_set(w->place.why, "%s: keyword \"%s\" is not "
			    "supported", w->place.path,
			    why_name(name, strlen(name), buf));
			return (-1);
		}
		if (keyword->check(w, name, word) == -1)
			return (-1);
	}
	return (0);
}

int
schema_check_at(struct walk *w, const json_t *schema)
{
	int ok;

	if (json_is_boolean(schema))
		return (0);
	if (!json_is_object(schema)) {
		why_set(w->place.why, "%s: expected a schema (an object), got "
		    "%s", w->place.path, schema_type_of(schema));
		return (-1);
	}
	if (w->depth > SCHEMA_DEPTH_MAX) {
		why_set(w->place.why, "%s: deeper than %d schemas",
		    w->place.path, SCHEMA_DEPTH_MAX);
		return (-1);
	}
	if (w->nmet == SCHEMA_SCHEMAS_MAX) {
		why_set(w->place.why, "%s: more than %d schemas",
		    w->place.path, SCHEMA_SCHEMAS_MAX);
		return (-1);
	}
	w->met[w->nmet++] = schema;
	w->depth++;
	ok = check_words(w, schema);
	w->depth--;
	return (ok);
}

/* A keyword of a schema, and its place in the order of checking. */
struct due {
	unsigned		 order;
	const struct keyword	*keyword;
	const json_t		*word;
};

/* Sorted in; few as they are. */
static size_t
due_add(struct due *due, size_t n, struct due one)
{
	size_t i;

	for (i = n; i > 0 && due[i - 1].order > one.order; i--)
		due[i] = due[i - 1];
	due[i] = one;
	return (n + 1);
}

/* Most schemas have few keywords, and lists of values one such each. */
static int
validate_few(struct walk *w, const json_t *schema, const json_t *value)
{
	struct due due[FEW];
	const char *name;
	unsigned order;
	json_t *word;
	size_t n = 0, i;

	json_object_foreach(schema_mutable(schema), name, word) {
		const struct keyword *k = keyword_find(name, &order);

		if (k != NULL && k->validate != NULL)
			n = due_add(due, n, (struct due){ order, k, word });
	}
	for (i = 0; i < n; i++) {
		if (due[i].keyword->validate(w, schema, due[i].word,
		    value) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_words(struct walk *w, const json_t *schema, const json_t *value)
{
	const struct keyword *keyword;
	const json_t *word;
	size_t t, i;

	if (json_object_size(schema) <= FEW)
		return (validate_few(w, schema, value));
	for (t = 0; t < NITEMS(tables); t++) {
		for (i = 0; i < *tables[t].n; i++) {
			keyword = &tables[t].words[i];
			if (keyword->validate == NULL || (word =
			    json_object_get(schema, keyword->name)) == NULL)
				continue;
			if (keyword->validate(w, schema, word, value) == -1)
				return (-1);
		}
	}
	return (0);
}

int
schema_validate_at(struct walk *w, const json_t *schema, const json_t *value)
{
	int ok;

	if (json_is_true(schema))
		return (0);
	if (json_is_false(schema)) {
		why_set(w->place.why, "%s: nothing is allowed here",
		    w->place.path);
		return (-1);
	}
	if (schema_step(w, 1) == -1)
		return (-1);
	if (w->depth == SCHEMA_REF_DEPTH_MAX) {
		w->out = 1;
		why_set(w->place.why, "%s: deeper than %d schemas",
		    w->place.path, SCHEMA_REF_DEPTH_MAX);
		return (-1);
	}
	w->depth++;
	ok = validate_words(w, schema, value);
	w->depth--;
	return (ok);
}

int
schema_fits(struct walk *w, const json_t *schema, const json_t *value)
{
	struct why *why = w->place.why, scratch;
	int ok;

	w->place.why = &scratch;
	ok = schema_validate_at(w, schema, value) == 0;
	w->place.why = why;
	/* without a verdict nothing may follow from it */
	if (w->out)
		why_set(why, "%s", scratch.text);
	return (ok && !w->out);
}

int
schema_check(const json_t *schema, struct why *why)
{
	return (schema_check_as("input_schema", schema, why));
}

int
schema_check_as(const char *name, const json_t *schema, struct why *why)
{
	struct walk w = { .place = { .why = why }, .root = schema };
	int ok = -1;

	place_push(&w.place, name);
	if ((w.met = calloc(SCHEMA_SCHEMAS_MAX, sizeof(*w.met))) == NULL)
		why_set(why, "%s: out of memory", name);
	else if (schema_check_at(&w, schema) == 0)
		ok = check_targets(&w);
	free(w.met);
	free(w.refs);
	return (ok);
}

int
schema_validate_part(const json_t *whole, const json_t *part,
    const json_t *value, const char *name, struct why *why)
{
	struct walk w = { .place = { .why = why }, .root = whole,
	    .left = SCHEMA_STEPS_MAX };

	place_push(&w.place, name);
	return (schema_validate_at(&w, part, value) == 0 && !w.out ? 0 : -1);
}

int
schema_validate(const json_t *schema, const json_t *value, const char *name,
    struct why *why)
{
	return (schema_validate_part(schema, schema, value, name, why));
}

const json_t *
schema_follow(const json_t *whole, const json_t *part)
{
	const json_t *ref;
	unsigned n;

	for (n = 0; n < SCHEMA_DEPTH_MAX &&
	    (ref = json_object_get(part, "$ref")) != NULL; n++)
		part = resolve(whole, json_string_value(ref));
	return (part);
}

/* ---- coercion ---- */

static int
wants(const json_t *schema, const char *type)
{
	const json_t *word = json_object_get(schema, "type"), *one;
	size_t i;

	if (json_is_string(word))
		return (strcmp(json_string_value(word), type) == 0);
	json_array_foreach(word, i, one) {
		if (strcmp(json_string_value(one), type) == 0)
			return (1);
	}
	return (0);
}

/* The scalar that a text is, if one of that type is asked for; or NULL. */
static json_t *
coerced(const json_t *schema, const json_t *text)
{
	const char *s = json_string_value(text);
	size_t n = json_string_length(text);
	json_t *v;

	if (wants(schema, "string") || n == 0 ||
	    json_object_get(schema, "type") == NULL)
		return (NULL);
	/* the scalar, and nothing around it */
	if (s[strcspn(s, " \t\r\n")] != '\0')
		return (NULL);
	v = json_loadb(s, n, JSON_DECODE_ANY, NULL);
	if ((json_is_number(v) && (wants(schema, "number") ||
	    (wants(schema, "integer") && schema_is_integer(v)))) ||
	    (json_is_boolean(v) && wants(schema, "boolean")) ||
	    (json_is_null(v) && wants(schema, "null")))
		return (v);
	json_decref(v);
	return (NULL);
}

static unsigned
coerce_at(const json_t *root, const json_t *schema, json_t *value,
    unsigned depth)
{
	const json_t *properties, *items;
	const char *name;
	json_t *member, *v;
	unsigned n = 0;
	void *next;
	size_t i;

	schema = schema_follow(root, schema);
	if (!json_is_object(schema) || depth > SCHEMA_REF_DEPTH_MAX)
		return (0);
	properties = json_object_get(schema, "properties");
	items = schema_follow(root, json_object_get(schema, "items"));
	json_object_foreach_safe(value, next, name, member) {
		const json_t *of = schema_follow(root, json_object_get(
		    properties, name));

		if (json_is_string(member) &&
		    (v = coerced(of, member)) != NULL) {
			json_object_set_new(value, name, v);
			n++;
		} else
			n += coerce_at(root, of, member, depth + 1);
	}
	json_array_foreach(value, i, member) {
		if (json_is_string(member) &&
		    (v = coerced(items, member)) != NULL) {
			json_array_set_new(value, i, v);
			n++;
		} else
			n += coerce_at(root, items, member, depth + 1);
	}
	return (n);
}

unsigned
schema_coerce(const json_t *schema, json_t *value)
{
	return (coerce_at(schema, schema, value, 0));
}
