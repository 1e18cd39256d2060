/*
 * What names had for addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "cache.h"

struct entry {
	char		*name;		/* NULL: free */
	struct address	*v;
	size_t		 n;
	uint64_t	 until;		/* ms */
};

struct cache {
	struct entry	 v[CACHE_NAMES];
};

struct cache *
cache_new(void)
{
	return (calloc(1, sizeof(struct cache)));
}

static void
clear(struct entry *e)
{
	free(e->name);
	free(e->v);
	memset(e, 0, sizeof(*e));
}

void
cache_free(struct cache *c)
{
	size_t i;

	if (c == NULL)
		return;
	for (i = 0; i < CACHE_NAMES; i++)
		clear(&c->v[i]);
	free(c);
}

size_t
cache_get(const struct cache *c, const char *name, uint64_t now,
    struct address v[RESOLVE_MAX])
{
	size_t i;

	for (i = 0; i < CACHE_NAMES; i++) {
		const struct entry *e = &c->v[i];

		if (e->name == NULL || now >= e->until ||
		    strcmp(e->name, name) != 0)
			continue;
		memcpy(v, e->v, e->n * sizeof(*v));
		return (e->n);
	}
	return (0);
}

void
cache_put(struct cache *c, const char *name, uint64_t now, uint32_t ttl,
    const struct address *v, size_t n)
{
	struct entry *e = &c->v[0];
	uint64_t ms = (uint64_t)ttl * 1000;
	size_t i;

	if (ttl == 0 || n == 0)
		return;
	/* Its own place, else a free one, else that which ends first. */
	for (i = 0; i < CACHE_NAMES; i++) {
		if (c->v[i].name != NULL && strcmp(c->v[i].name, name) == 0) {
			e = &c->v[i];
			break;
		}
		if (c->v[i].until < e->until)
			e = &c->v[i];
	}
	clear(e);
	e->name = strdup(name);
	e->v = calloc(n, sizeof(*v));
	if (e->name == NULL || e->v == NULL) {
		clear(e);
		return;
	}
	memcpy(e->v, v, n * sizeof(*v));
	e->n = n;
	e->until = now + (ms < CACHE_MS ? ms : CACHE_MS);
}
