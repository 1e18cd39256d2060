/*
 * The schema validator: arrays.
 */
#include "schema_int.h"

static int
validate_item(struct walk *w, const json_t *schema, size_t i,
    const json_t *item)
{
	size_t len = w->place.len;
	int ok;

	place_push_index(&w->place, i);
	if (json_is_false(schema)) {
		why_set(w->place.why, "%s: no item is allowed here",
		    w->place.path);
		ok = -1;
	} else
		ok = schema_validate_at(w, schema, item);
	place_pop(&w->place, len);
	return (ok);
}

/* Those behind the ones that prefixItems has a word on. */
static int
validate_items(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	size_t i, n = json_array_size(value);

	if (json_is_true(word))
		return (0);
	for (i = json_array_size(json_object_get(schema, "prefixItems"));
	    i < n; i++) {
		if (validate_item(w, word, i, json_array_get(value, i)) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_prefix(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	size_t i, n = json_array_size(value), most = json_array_size(word);

	(void)schema;
	for (i = 0; i < n && i < most; i++) {
		if (validate_item(w, json_array_get(word, i), i,
		    json_array_get(value, i)) == -1)
			return (-1);
	}
	return (0);
}

static int
validate_contains(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	const json_t *least = json_object_get(schema, "minContains");
	const json_t *most = json_object_get(schema, "maxContains");
	double min = least != NULL ? json_number_value(least) : 1;
	size_t i, found = 0;
	json_t *item;

	if (!json_is_array(value))
		return (0);
	json_array_foreach(value, i, item) {
		found += (unsigned)schema_fits(w, word, item);
		if (w->out)
			return (-1);
	}
	if ((double)found < min) {
		why_set(w->place.why, "%s: %zu items are as contains says, "
		    "at least %.0f must be", w->place.path, found, min);
		return (-1);
	}
	if (most != NULL && (double)found > json_number_value(most)) {
		why_set(w->place.why, "%s: %zu items are as contains says, "
		    "maxContains is %.0f", w->place.path, found,
		    json_number_value(most));
		return (-1);
	}
	return (0);
}

static int
validate_min_items(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!json_is_array(value) ||
	    (double)json_array_size(value) >= json_number_value(word))
		return (0);
	why_set(w->place.why, "%s: %zu items, minItems is %.0f",
	    w->place.path, json_array_size(value), json_number_value(word));
	return (-1);
}

static int
validate_max_items(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!json_is_array(value) ||
	    (double)json_array_size(value) <= json_number_value(word))
		return (0);
	why_set(w->place.why, "%s: %zu items, maxItems is %.0f",
	    w->place.path, json_array_size(value), json_number_value(word));
	return (-1);
}

static int
check_boolean(struct walk *w, const char *key, const json_t *word)
{
	return (json_is_boolean(word) ? 0 :
	    schema_bad_word(w, key, "neither true nor false"));
}

static int
validate_unique(struct walk *w, const json_t *schema, const json_t *word,
    const json_t *value)
{
	(void)schema;
	if (!json_is_array(value) || !json_is_true(word) ||
	    schema_unique(w, value))
		return (0);
	if (!w->out)
		why_set(w->place.why, "%s: an item is there twice",
		    w->place.path);
	return (-1);
}

const struct keyword schema_array_words[] = {
	{ "minItems",		schema_check_count,	validate_min_items },
	{ "maxItems",		schema_check_count,	validate_max_items },
	{ "prefixItems",	schema_check_list,	validate_prefix },
	{ "items",		schema_check_schema,	validate_items },
	{ "contains",		schema_check_schema,	validate_contains },
	{ "minContains",	schema_check_count,	NULL },
	{ "maxContains",	schema_check_count,	NULL },
	{ "uniqueItems",	check_boolean,		validate_unique },
};
const size_t schema_array_nwords = NITEMS(schema_array_words);
