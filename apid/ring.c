/*
 * The events of a call.
 */
#include <stdlib.h>

#include "ring.h"

static const char *const names[] = {
	[EVENT_JUDGED]		= "call.judged",
	[EVENT_STARTED]		= "call.started",
	[EVENT_OUTPUT]		= "call.output",
	[EVENT_FINISHED]	= "call.finished",
	[EVENT_ASKING]		= "approval.requested",
	[EVENT_RESOLVED]	= "approval.resolved"
};

const char *
event_name(enum event_kind kind)
{
	return (names[kind]);
}

static void
row_free(struct event_row *e)
{
	chunk_unref(e->chunk);
	free(e->json);
}

static struct event_row *
at(const struct ring *r, size_t i)
{
	return (&r->v[(r->first + i) & (r->size - 1)]);
}

void
ring_free(struct ring *r)
{
	size_t i;

	for (i = 0; i < r->npinned; i++)
		row_free(&r->pinned[i]);
	for (i = 0; i < r->count; i++)
		row_free(at(r, i));
	free(r->v);
}

size_t
ring_cost(uint32_t len)
{
	return (len + sizeof(struct event_row));
}

static int
grow(struct ring *r)
{
	size_t size = r->size == 0 ? 8 : r->size * 2, i;
	struct event_row *v;

	if ((v = reallocarray(NULL, size, sizeof(*v))) == NULL)
		return (-1);
	for (i = 0; i < r->count; i++)
		v[i] = *at(r, i);
	free(r->v);
	r->v = v;
	r->size = size;
	r->first = 0;
	return (0);
}

struct event_row *
ring_add(struct ring *r, const struct event_row *row)
{
	struct event_row copy = *row, *e;

	if (r->count == r->size && grow(r) == -1) {
		row_free(&copy);
		return (NULL);
	}
	copy.id = ++r->last_id;
	e = at(r, r->count++);
	*e = copy;
	if (e->kind == EVENT_OUTPUT)
		r->bytes += ring_cost(e->len);
	return (e);
}

/* Moves events that are not output from the front to where they stay. */
static void
pin_front(struct ring *r)
{
	while (r->count > 0 && at(r, 0)->kind != EVENT_OUTPUT &&
	    r->npinned < RING_PINNED) {
		r->pinned[r->npinned++] = *at(r, 0);
		r->first = (r->first + 1) & (r->size - 1);
		r->count--;
	}
}

uint64_t
ring_oldest(struct ring *r)
{
	pin_front(r);
	return (r->count > 0 && at(r, 0)->kind == EVENT_OUTPUT ?
	    at(r, 0)->id : 0);
}

void
ring_drop(struct ring *r)
{
	struct event_row *e;

	if (ring_oldest(r) == 0)
		return;
	e = at(r, 0);
	r->bytes -= ring_cost(e->len);
	row_free(e);
	r->first = (r->first + 1) & (r->size - 1);
	r->count--;
}

/* Ids and numbers both grow from each event to the next. */
static const struct event_row *
find(const struct ring *r, uint64_t key, int number)
{
	size_t low = 0, high = r->count, middle, i;
	const struct event_row *e;

	for (i = 0; i < r->npinned; i++) {
		e = &r->pinned[i];
		if ((number ? e->number : e->id) >= key)
			return (e);
	}
	while (low < high) {
		middle = low + (high - low) / 2;
		e = at(r, middle);
		if ((number ? e->number : e->id) >= key)
			high = middle;
		else
			low = middle + 1;
	}
	return (low < r->count ? at(r, low) : NULL);
}

const struct event_row *
ring_find(const struct ring *r, uint64_t id)
{
	return (find(r, id, 0));
}

const struct event_row *
ring_find_number(const struct ring *r, uint64_t number)
{
	return (find(r, number, 1));
}
