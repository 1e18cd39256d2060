/*
 * Plain JSON against jansson: what is called plain is an object there, and
 * each of its members is the same.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flat.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
same(const char *json, size_t n, const char *name, const json_t *value)
{
	char *text, word[64];
	const char *v;
	size_t size;
	json_t *found;

	/* only plain names can be asked for */
	if ((v = flat_member(json, n, name, &size)) == NULL || v < json ||
	    v + size > json + n)
		abort();
	if ((text = strndup(v, size)) == NULL)
		abort();
	found = json_loads(text, JSON_DECODE_ANY, NULL);
	if (found == NULL || !json_equal(found, value))
		abort();
	flat_string(json, n, name, word, sizeof(word));
	if (json_is_string(value) ? strncmp(word, json_string_value(value),
	    sizeof(word) - 1) != 0 : word[0] != '\0')
		abort();
	json_decref(found);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "a", "state", "" };
	const char *json = (const char *)data, *name;
	struct flat_value v[3];
	json_t *j, *value;
	size_t i, n;

	if (size == 0)
		return (0);
	/* all at once, or one after the other */
	if (flat_ok(json, size) != (flat_read(json, size, names, v, 3) == 0))
		abort();
	if (!flat_ok(json, size))
		return (0);
	for (i = 0; i < 3; i++)
		if (flat_member(json, size, names[i], &n) != v[i].p ||
		    (v[i].p != NULL && n != v[i].n))
			abort();
	/* the first of a name counts in the one, the last in the other */
	j = json_loadb(json, size, JSON_REJECT_DUPLICATES, NULL);
	if (j == NULL) {
		j = json_loadb(json, size, 0, NULL);
		if (!json_is_object(j))
			abort();
		json_decref(j);
		return (0);
	}
	if (!json_is_object(j))
		abort();
	json_object_foreach(j, name, value)
		same(json, size, name, value);
	if (json_object_get(j, "no such name") == NULL &&
	    flat_member(json, size, "no such name", &size) != NULL)
		abort();
	json_decref(j);
	return (0);
}
