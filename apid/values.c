/*
 * The table of registered values' forms.
 */
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "values.h"
#include "without.h"

#define FORMS_MOST	(VALUES_MOST * VALUE_FORMS)
#define BITS		18	/* of the first hash, for the map: 32 KiB */

struct table {
	struct value_key	 key;
	struct value_form	*v;	/* by first hash, the longest first */
	size_t			 n;
	uint64_t		 map[(1 << BITS) / 64];
};

static struct table	*table;		/* in force; NULL: none */
static struct table	*coming;

int
values_any(void)
{
	return (table != NULL && table->n > 0 && !WITHOUT(registered_values));
}

/* The first form of that hash, or NULL. */
static const struct value_form *
find(const struct table *t, uint32_t first)
{
	size_t low = 0, high = t->n, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->v[middle].first < first)
			low = middle + 1;
		else
			high = middle;
	}
	return (low < t->n && t->v[low].first == first ? &t->v[low] : NULL);
}

size_t
values_next(const uint8_t *p, size_t size, size_t from)
{
	const struct table *t = table;
	const uint64_t *map = t->map;
	uint64_t mix = t->key.mix[0], by = t->key.mix[1];
	uint32_t first, bit;

	for (; from + VALUE_WINDOW <= size; from++) {
		first = value_first(mix, by, p + from);
		bit = first >> (24 - BITS);
		if ((map[bit / 64] >> (bit % 64) & 1) != 0 &&
		    find(t, first) != NULL)
			return (from);
	}
	return (size);
}

enum secret_answer
values_at(const uint8_t *p, size_t left, int final, size_t *length)
{
	const struct value_form *f, *end;
	uint8_t mac[VALUE_MAC];
	uint32_t first;

	if (table == NULL || left < VALUE_WINDOW)
		return (SECRET_NO);
	end = table->v + table->n;
	first = value_first(table->key.mix[0], table->key.mix[1], p);
	for (f = find(table, first); f != NULL && f < end &&
	    f->first == first; f++) {
		if (f->length > left) {
			if (!final)
				return (SECRET_MORE);
			continue;
		}
		if (value_whole(&table->key, p, f->length) != f->whole)
			continue;
		value_mac(&table->key, p, f->length, mac);
		if (memcmp(mac, f->mac, sizeof(mac)) == 0) {
			*length = f->length;
			return (SECRET_YES);
		}
	}
	return (SECRET_NO);
}

/* ---- a new table ---- */

static void
table_free(struct table *t)
{
	if (t == NULL)
		return;
	free(t->v);
	freezero(t, sizeof(*t));
}

void
values_abort(void)
{
	table_free(coming);
	coming = NULL;
}

void
values_begin(const struct value_key *key)
{
	values_abort();
	if ((coming = calloc(1, sizeof(*coming))) == NULL)
		fatal("registered values");
	coming->key = *key;
}

int
values_add(const struct value_form *f)
{
	struct value_form *v;

	if (coming == NULL || coming->n == FORMS_MOST ||
	    f->length < VALUE_WINDOW || f->length > VALUE_FORM_MOST ||
	    f->first >> 24 != 0 ||
	    f->whole >> 24 != 0)
		return (-1);
	v = reallocarray(coming->v, coming->n + 1, sizeof(*v));
	if (v == NULL)
		fatal("registered values");
	coming->v = v;
	v[coming->n++] = *f;
	coming->map[(f->first >> (24 - BITS)) / 64] |=
	    (uint64_t)1 << (f->first >> (24 - BITS)) % 64;
	return (0);
}

static int
by_first(const void *a, const void *b)
{
	const struct value_form *x = a, *y = b;

	if (x->first != y->first)
		return (x->first < y->first ? -1 : 1);
	return (x->length > y->length ? -1 : x->length < y->length);
}

int
values_end(uint32_t forms)
{
	if (coming == NULL || coming->n != forms)
		return (-1);
	if (coming->n > 0)
		qsort(coming->v, coming->n, sizeof(*coming->v), by_first);
	table_free(table);
	table = coming;
	coming = NULL;
	return (0);
}
