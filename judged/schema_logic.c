/*
 * The schema validator: schemas put together.
 */
#include "schema_int.h"

static int
validate_all(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *one;
	size_t i;

	(void)schema;
	json_array_foreach(word, i, one) {
		if (schema_validate_at(w, one, value) == -1)
			return (-1);
	}
	return (0);
}

/* How many fit; stops at `enough`.  -1 without a verdict. */
static int
how_many(struct walk *w, const json_t *list, const json_t *value, int enough)
{
	const json_t *one;
	int n = 0;
	size_t i;

	json_array_foreach(list, i, one) {
		n += schema_fits(w, one, value);
		if (w->out)
			return (-1);
		if (n == enough)
			break;
	}
	return (n);
}

/* The first form's own complaint tells a caller most. */
static int
none_fits(struct walk *w, const json_t *list, const json_t *value,
    const char *key)
{
	struct why *why = w->place.why, first = { "" };

	w->place.why = &first;
	(void)schema_validate_at(w, json_array_get(list, 0), value);
	w->place.why = why;
	why_set(why, "%s: fits none of the %zu forms of %s; the first says: "
	    "%s", w->place.path, json_array_size(list), key, first.text);
	return (-1);
}

static int
validate_any(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	int n;

	(void)schema;
	if ((n = how_many(w, word, value, 1)) == 0)
		return (none_fits(w, word, value, "anyOf"));
	return (n == -1 ? -1 : 0);
}

static int
validate_one(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	int n;

	(void)schema;
	switch (n = how_many(w, word, value, 2)) {
	case 0:
		return (none_fits(w, word, value, "oneOf"));
	case 2:
		why_set(w->place.why, "%s: fits more than one of the %zu "
		    "forms of oneOf", w->place.path, json_array_size(word));
		return (-1);
	default:
		return (n == -1 ? -1 : 0);
	}
}

static int
validate_not(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!schema_fits(w, word, value))
		return (w->out ? -1 : 0);
	why_set(w->place.why, "%s: must not be what it is (not)",
	    w->place.path);
	return (-1);
}

static int
validate_if(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	int fits = schema_fits(w, word, value);
	const json_t *next;

	if (w->out)
		return (-1);
	next = json_object_get(schema, fits ? "then" : "else");
	return (next != NULL ? schema_validate_at(w, next, value) : 0);
}

const struct keyword schema_logic_words[] = {
	{ "allOf",	schema_check_list,	validate_all },
	{ "anyOf",	schema_check_list,	validate_any },
	{ "oneOf",	schema_check_list,	validate_one },
	{ "not",	schema_check_schema,	validate_not },
	{ "if",		schema_check_schema,	validate_if },
	{ "then",	schema_check_schema,	NULL },
	{ "else",	schema_check_schema,	NULL },
};
const size_t schema_logic_nwords = NITEMS(schema_logic_words);
