/*
 * Chunks of output and lists of their parts.
 */
#include <stdlib.h>

#include "chunk.h"

struct chunk *
chunk_new(size_t cap)
{
	struct chunk *c;

	if ((c = malloc(sizeof(*c) + cap)) == NULL)
		return (NULL);
	c->refs = 1;
	c->used = 0;
	c->cap = (uint32_t)cap;
	return (c);
}

struct chunk *
chunk_ref(struct chunk *c)
{
	c->refs++;
	return (c);
}

void
chunk_unref(struct chunk *c)
{
	if (c != NULL && --c->refs == 0)
		free(c);
}

void
seglist_init(struct seglist *l)
{
	TAILQ_INIT(&l->segs);
	l->bytes = 0;
}

static void
seg_remove(struct seglist *l, struct seg *s)
{
	TAILQ_REMOVE(&l->segs, s, entry);
	chunk_unref(s->chunk);
	free(s);
}

void
seglist_free(struct seglist *l)
{
	struct seg *s;

	while ((s = TAILQ_FIRST(&l->segs)) != NULL)
		seg_remove(l, s);
	l->bytes = 0;
}

int
seglist_add(struct seglist *l, struct chunk *c, uint32_t off, uint32_t len)
{
	struct seg *s = TAILQ_LAST(&l->segs, seghead);

	if (len == 0)
		return (0);
	if (s != NULL && s->chunk == c && s->off + s->len == off) {
		s->len += len;
	} else {
		if ((s = malloc(sizeof(*s))) == NULL)
			return (-1);
		s->chunk = chunk_ref(c);
		s->off = off;
		s->len = len;
		TAILQ_INSERT_TAIL(&l->segs, s, entry);
	}
	l->bytes += len;
	return (0);
}

void
seglist_drop_front(struct seglist *l, uint64_t n)
{
	struct seg *s;

	while (n > 0 && (s = TAILQ_FIRST(&l->segs)) != NULL) {
		if (s->len > n) {
			s->off += (uint32_t)n;
			s->len -= (uint32_t)n;
			l->bytes -= n;
			return;
		}
		n -= s->len;
		l->bytes -= s->len;
		seg_remove(l, s);
	}
}

void
seglist_drop_back(struct seglist *l, uint64_t n)
{
	struct seg *s;

	while (n > 0 && (s = TAILQ_LAST(&l->segs, seghead)) != NULL) {
		if (s->len > n) {
			s->len -= (uint32_t)n;
			l->bytes -= n;
			return;
		}
		n -= s->len;
		l->bytes -= s->len;
		seg_remove(l, s);
	}
}

int
seglist_copy(struct seglist *dst, const struct seglist *src)
{
	const struct seg *s;

	TAILQ_FOREACH(s, &src->segs, entry)
		if (seglist_add(dst, s->chunk, s->off, s->len) == -1)
			return (-1);
	return (0);
}
