/*
 * Head and tail of a call's output.
 */
#include "kept.h"

void
kept_init(struct kept *k, uint64_t limit)
{
	int i;

	k->limit = limit;
	for (i = 0; i < STREAMS; i++) {
		seglist_init(&k->stream[i].head);
		seglist_init(&k->stream[i].tail);
		k->stream[i].total = 0;
		k->stream[i].past_head = 0;
	}
}

void
kept_free(struct kept *k)
{
	int i;

	for (i = 0; i < STREAMS; i++) {
		seglist_free(&k->stream[i].head);
		seglist_free(&k->stream[i].tail);
	}
}

static uint64_t
heads(const struct kept *k)
{
	return (k->stream[0].head.bytes + k->stream[1].head.bytes);
}

static uint64_t
tails(const struct kept *k)
{
	return (k->stream[0].tail.bytes + k->stream[1].tail.bytes);
}

uint64_t
kept_bytes(const struct kept *k)
{
	return (heads(k) + tails(k));
}

uint64_t
kept_dropped(const struct kept *k, int stream)
{
	const struct kept_stream *s = &k->stream[stream];

	return (s->total - s->head.bytes - s->tail.bytes);
}

uint64_t
kept_shed(struct kept *k, uint64_t n)
{
	struct seglist *a = &k->stream[0].tail, *b = &k->stream[1].tail;
	uint64_t before = tails(k), part;
	struct seglist *longer;

	/* From the longer tail, until both are as long: a few lines of one
	 * stream survive the flood of the other. */
	while (n > 0 && tails(k) > 0) {
		longer = a->bytes >= b->bytes ? a : b;
		part = longer->bytes - (longer == a ? b->bytes : a->bytes);
		if (part == 0)
			part = (n + 1) / 2;
		if (part > n)
			part = n;
		if (part > longer->bytes)
			part = longer->bytes;
		seglist_drop_front(longer, part);
		n -= part;
	}
	return (before - tails(k));
}

void
kept_add(struct kept *k, int stream, struct chunk *c, uint32_t off,
    uint32_t len)
{
	struct kept_stream *s = &k->stream[stream];
	uint64_t half = k->limit / 2, room;
	uint32_t n = 0;

	s->total += len;
	if (!s->past_head) {
		room = half > heads(k) ? half - heads(k) : 0;
		n = len < room ? len : (uint32_t)room;
		if (seglist_add(&s->head, c, off, n) == -1)
			n = 0;
		if (n < len)
			s->past_head = 1;
	}
	/* Out of memory: dropped, and with them what they would follow. */
	if (seglist_add(&s->tail, c, off + n, len - n) == -1)
		seglist_drop_front(&s->tail, s->tail.bytes);
	if (tails(k) > half)
		kept_shed(k, tails(k) - half);
}

void
kept_skip(struct kept *k, int stream, uint64_t len)
{
	struct kept_stream *s = &k->stream[stream];

	/*
	 * The tail must end where the stream does, and a head that would go
	 * on behind a hole must not.
	 */
	s->total += len;
	s->past_head = 1;
	seglist_drop_front(&s->tail, s->tail.bytes);
}
