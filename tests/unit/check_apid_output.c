/*
 * What is kept of output, and the ring of events.
 */
#include <stdlib.h>
#include <string.h>

#include "kept.h"
#include "ring.h"
#include "unit.h"

static uint8_t	counter;

/* n bytes that count on, into what is kept. */
static void
add(struct kept *k, int stream, uint32_t n)
{
	struct chunk *c = chunk_new(n);

	while (c->used < n)
		c->data[c->used++] = counter++;
	kept_add(k, stream, c, 0, n);
	chunk_unref(c);
}

static size_t
flat(const struct seglist *l, uint8_t *dst)
{
	const struct seg *s;
	size_t n = 0;

	TAILQ_FOREACH(s, &l->segs, entry) {
		memcpy(dst + n, s->chunk->data + s->off, s->len);
		n += s->len;
	}
	ck_assert_uint_eq(n, l->bytes);
	return (n);
}

START_TEST(all_is_kept)
{
	struct kept k;
	uint8_t buf[100];
	size_t n;

	kept_init(&k, 100);
	add(&k, 0, 30);
	add(&k, 0, 40);
	add(&k, 0, 30);
	ck_assert_uint_eq(kept_dropped(&k, 0), 0);
	n = flat(&k.stream[0].head, buf);
	ck_assert_uint_eq(n, 50);
	n += flat(&k.stream[0].tail, buf + n);
	ck_assert_uint_eq(n, 100);
	ck_assert_uint_eq(buf[99], 99);
	kept_free(&k);
}
END_TEST

START_TEST(head_and_tail)
{
	struct kept k;
	uint8_t buf[100];
	int i;

	kept_init(&k, 20);
	for (i = 0; i < 50; i++)
		add(&k, 0, 3);
	ck_assert_uint_eq(k.stream[0].total, 150);
	ck_assert_uint_eq(kept_dropped(&k, 0), 130);
	ck_assert_uint_eq(flat(&k.stream[0].head, buf), 10);
	ck_assert_uint_eq(buf[0], 0);
	ck_assert_uint_eq(flat(&k.stream[0].tail, buf), 10);
	ck_assert_uint_eq(buf[9], 149);
	ck_assert_uint_eq(buf[0], 140);
	kept_free(&k);
}
END_TEST

START_TEST(streams_share)
{
	struct kept k;

	kept_init(&k, 40);
	add(&k, 0, 200);
	add(&k, 1, 5);
	add(&k, 0, 200);
	ck_assert_uint_eq(kept_dropped(&k, 1), 0);
	ck_assert_uint_eq(kept_bytes(&k), 40);
	/* Both flood: both keep half of the tail. */
	add(&k, 1, 200);
	ck_assert_uint_eq(kept_bytes(&k), 40);
	ck_assert_uint_ge(k.stream[0].tail.bytes, 9);
	ck_assert_uint_ge(k.stream[1].tail.bytes, 9);
	kept_free(&k);
}
END_TEST

START_TEST(shed_and_skip)
{
	struct kept k;
	uint8_t buf[100];

	kept_init(&k, 100);
	add(&k, 0, 80);
	ck_assert_uint_eq(kept_shed(&k, 10), 10);
	ck_assert_uint_eq(kept_dropped(&k, 0), 10);
	ck_assert_uint_eq(kept_shed(&k, 100), 20);
	ck_assert_uint_eq(kept_shed(&k, 1), 0);
	add(&k, 0, 5);
	/* A hole: the tail starts anew behind it. */
	kept_skip(&k, 0, 7);
	add(&k, 0, 4);
	ck_assert_uint_eq(k.stream[0].total, 96);
	ck_assert_uint_eq(flat(&k.stream[0].tail, buf), 4);
	ck_assert_uint_eq(buf[3], 88);
	ck_assert_uint_eq(kept_dropped(&k, 0), 96 - 54);
	kept_free(&k);
}
END_TEST

static void
event(struct ring *r, enum event_kind kind, uint32_t len)
{
	struct event_row e;

	memset(&e, 0, sizeof(e));
	e.kind = (uint8_t)kind;
	e.number = (r->last_id + 1) * 3;
	if (kind == EVENT_OUTPUT) {
		e.chunk = chunk_new(len);
		e.len = len;
	} else {
		e.json = strdup("{}");
	}
	ck_assert_ptr_nonnull(ring_add(r, &e));
}

START_TEST(ring_order)
{
	struct ring r = { 0 };
	const struct event_row *e;
	uint64_t id;
	int i;

	event(&r, EVENT_JUDGED, 0);
	event(&r, EVENT_STARTED, 0);
	for (i = 0; i < 100; i++)
		event(&r, EVENT_OUTPUT, 10);
	for (id = 1; id <= 102; id++) {
		ck_assert_uint_eq(ring_find(&r, id)->id, id);
		ck_assert_uint_eq(ring_find_number(&r, id * 3)->id, id);
		ck_assert_uint_eq(ring_find_number(&r, id * 3 - 2)->id, id);
	}
	ck_assert_ptr_null(ring_find(&r, 103));
	ck_assert_uint_eq(ring_oldest(&r), 3);
	for (i = 0; i < 60; i++)
		ring_drop(&r);
	event(&r, EVENT_FINISHED, 0);
	/* What is not output stays; output from 63 on is there. */
	ck_assert_uint_eq(ring_find(&r, 1)->kind, EVENT_JUDGED);
	ck_assert_uint_eq(ring_find(&r, 2)->kind, EVENT_STARTED);
	e = ring_find(&r, 3);
	ck_assert_uint_eq(e->id, 63);
	ck_assert_uint_eq(ring_find_number(&r, 9)->id, 63);
	ck_assert_uint_eq(ring_find(&r, 103)->kind, EVENT_FINISHED);
	while (ring_oldest(&r) != 0)
		ring_drop(&r);
	ck_assert_uint_eq(r.bytes, 0);
	ck_assert_uint_eq(ring_find(&r, 3)->kind, EVENT_FINISHED);
	ring_free(&r);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("apid_output");
	TCase *t = tcase_create("output");

	tcase_add_test(t, all_is_kept);
	tcase_add_test(t, head_and_tail);
	tcase_add_test(t, streams_share);
	tcase_add_test(t, shed_and_skip);
	tcase_add_test(t, ring_order);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
