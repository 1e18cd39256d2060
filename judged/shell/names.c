/*
 * Hashes of names, made when a table is first asked.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define NAME_BYTES	32

static const char *
name_of(const struct names *t, size_t i)
{
	return (*(const char *const *)((const char *)t->rows + i * t->size));
}

/* Of the first bytes: no table has names that are longer. */
static size_t
hash(const char *name)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < NAME_BYTES && name[i] != '\0'; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return ((h ^ h >> 15) & (NAMES_ROOM - 1));
}

/* The first two bytes: enough to tell that most names are not in a table. */
static size_t
begins(const char *name)
{
	return (((unsigned char)name[0] * 37u + (name[0] == '\0' ? 0 :
	    (unsigned char)name[1])) & (NAMES_BEGINS - 1));
}

static void
make(struct names *t)
{
	const char *name;
	size_t i, at;

	/* Half of it stays free, so that looking always ends soon. */
	if (t->n > NAMES_ROOM / 2)
		abort();
	for (i = 0; i < t->n && (name = name_of(t, i)) != NULL; i++) {
		for (at = hash(name); t->place[at] != 0;
		    at = (at + 1) & (NAMES_ROOM - 1))
			if (strcmp(name_of(t, t->place[at] - 1u), name) == 0)
				break;
		if (t->place[at] == 0)
			t->place[at] = (uint16_t)(i + 1);
		t->begins[begins(name) / 64] |= (uint64_t)1 << begins(name) %
		    64;
	}
	t->made = 1;
}

const void *
names_find(struct names *t, const char *name)
{
	size_t at, i, begin = begins(name);

	if (!t->made)
		make(t);
	if ((t->begins[begin / 64] >> begin % 64 & 1) == 0)
		return (NULL);
	for (at = hash(name); t->place[at] != 0;
	    at = (at + 1) & (NAMES_ROOM - 1)) {
		i = t->place[at] - 1u;
		if (same_name(name_of(t, i), name))
			return ((const char *)t->rows + i * t->size);
	}
	return (NULL);
}
