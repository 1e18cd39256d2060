/*
 * Slots, and the trail of their changes.
 */
#include <string.h>

#include "judging_internal.h"
#include "names.h"
#include "scope.h"

#define BUCKETS		64	/* a power of two */
#define SLOTS_FEW	16

struct slot {
	struct slot	*next;
	struct slot	*all;		/* the one made before it */
	enum slot_kind	 kind;
	const char	*name;
	const void	*data;
	const void	*side;		/* of one branch, in a join */
	unsigned	 stamp;
};

struct change {
	struct slot	*slot;
	const void	*data;
};

void
scope_init(struct scope *s, struct judging *j)
{
	memset(s, 0, sizeof(*s));
	s->j = j;
	s->table = judging_alloc(j, BUCKETS * sizeof(*s->table));
}

static size_t
bucket(enum slot_kind kind, const char *name)
{
	unsigned h = 5381 + (unsigned)kind;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return (h & (BUCKETS - 1));
}

static struct slot *
find(struct scope *s, enum slot_kind kind, const char *name)
{
	struct slot *slot;

	for (slot = s->table[bucket(kind, name)]; slot != NULL;
	    slot = slot->next)
		if (slot->kind == kind && same_name(slot->name, name))
			return (slot);
	return (NULL);
}

const void *
scope_get(struct scope *s, enum slot_kind kind, const char *name)
{
	struct slot *slot = find(s, kind, name);

	return (slot == NULL ? NULL : slot->data);
}

static struct slot *
add(struct scope *s, enum slot_kind kind, const char *name)
{
	struct slot **head, *slot;

	/* More names than that stay unknown, and that asks. */
	if (kind != SLOT_STATE && s->nslots >= JUDGE_VARIABLES_MAX) {
		if (s->nslots++ == JUDGE_VARIABLES_MAX)
			judging_bound(s->j,
			    "more variables than are followed", NULL);
		return (NULL);
	}
	slot = judging_alloc(s->j, sizeof(*slot));
	slot->kind = kind;
	slot->name = judging_strndup(s->j, name, strlen(name));
	head = &s->table[bucket(kind, name)];
	slot->next = *head;
	*head = slot;
	slot->all = s->all;
	s->all = slot;
	if (kind != SLOT_STATE)
		s->nslots++;
	return (slot);
}

static void
put(struct scope *s, struct slot *slot, const void *data)
{
	struct change *more;
	size_t max;

	if (slot->data == data)
		return;
	if (s->ntrail == s->maxtrail) {
		max = s->maxtrail == 0 ? 64 : s->maxtrail * 2;
		more = judging_alloc(s->j, max * sizeof(*more));
		if (s->ntrail > 0)
			memcpy(more, s->trail, s->ntrail * sizeof(*more));
		s->trail = more;
		s->maxtrail = max;
	}
	s->trail[s->ntrail++] = (struct change){ slot, slot->data };
	slot->data = data;
	s->version++;
}

void
scope_set(struct scope *s, enum slot_kind kind, const char *name,
    const void *data)
{
	struct slot *slot = find(s, kind, name);

	if (slot == NULL && (slot = add(s, kind, name)) == NULL)
		return;
	put(s, slot, data);
}

size_t
scope_mark(const struct scope *s)
{
	return (s->ntrail);
}

void
scope_rollback(struct scope *s, size_t mark)
{
	while (s->ntrail > mark) {
		s->ntrail--;
		s->trail[s->ntrail].slot->data = s->trail[s->ntrail].data;
		s->version++;
	}
}

void
scope_take(struct scope *s, size_t mark, struct changes *out)
{
	struct slot *slot;
	size_t i;

	s->stamp++;
	out->n = 0;
	out->v = s->ntrail == mark ? NULL :
	    judging_alloc(s->j, (s->ntrail - mark) * sizeof(*out->v));
	for (i = s->ntrail; i > mark; i--) {
		slot = s->trail[i - 1].slot;
		if (slot->stamp == s->stamp)
			continue;
		slot->stamp = s->stamp;
		out->v[out->n++] = (struct change){ slot, slot->data };
	}
	scope_rollback(s, mark);
}

void
scope_apply(struct scope *s, const struct changes *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		put(s, c->v[i].slot, c->v[i].data);
}

void
scope_leave(struct scope *s, size_t mark)
{
	struct changes changes;
	size_t i;

	scope_take(s, mark, &changes);
	for (i = 0; i < changes.n; i++)
		if (changes.v[i].slot->kind == SLOT_FILE)
			put(s, changes.v[i].slot, changes.v[i].data);
}

static const void *
join(struct scope *s, enum slot_kind kind, const void *a, const void *b)
{
	struct function *f;

	if (a == b)
		return (a);
	switch (kind) {
	case SLOT_FUNCTION:
		f = judging_alloc(s->j, sizeof(*f));
		*f = *(const struct function *)(a != NULL ? a : b);
		if (a != NULL && b != NULL)
			f->other = b;
		else
			f->maybe = 1;
		return (f);
	case SLOT_FILE:
		return (stream_join(s->j, a, b));
	case SLOT_ALIAS:
		/* That it may be none is asked each time anyway. */
		if (a == NULL || b == NULL)
			return (a != NULL ? a : b);
		return (value_join(s->j, a, b));
	default:
		return (value_join(s->j, a, b));
	}
}

static int
join_slot(struct scope *s, struct slot *slot, const void *a, const void *b)
{
	const void *was = slot->data;

	put(s, slot, join(s, slot->kind, a, b));
	return (slot->data != was);
}

int
scope_join(struct scope *s, const struct changes *a, const struct changes *b)
{
	static const struct changes none;
	struct slot *slot;
	unsigned of_a = ++s->stamp, done = ++s->stamp;
	size_t i;
	int changed = 0;

	if (b == NULL)
		b = &none;
	for (i = 0; i < a->n; i++) {
		a->v[i].slot->stamp = of_a;
		a->v[i].slot->side = a->v[i].data;
	}
	/* Slots of both are joined with each other, not with what was. */
	for (i = 0; i < b->n; i++) {
		slot = b->v[i].slot;
		changed |= join_slot(s, slot, slot->stamp == of_a ?
		    slot->side : slot->data, b->v[i].data);
		slot->stamp = done;
	}
	for (i = 0; i < a->n; i++) {
		slot = a->v[i].slot;
		if (slot->stamp == of_a)
			changed |= join_slot(s, slot, slot->data,
			    a->v[i].data);
	}
	return (changed);
}

int
scope_widen(struct scope *s, const struct changes *c)
{
	const struct value *v;
	size_t i;
	int changed = 0;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].slot->kind != SLOT_VARIABLE &&
		    c->v[i].slot->kind != SLOT_STATE)
			continue;
		v = c->v[i].slot->data;
		if (join(s, c->v[i].slot->kind, v, c->v[i].data) == v)
			continue;
		put(s, c->v[i].slot, value_join(s->j, v,
		    value_unknown(s->j, 0)));
		changed = 1;
	}
	return (changed);
}

int
scope_affords(struct scope *s)
{
	/* A few are of no weight. */
	if (s->nslots <= SLOTS_FEW ||
	    judging_afford(s->j, s->nslots * sizeof(struct slot)))
		return (1);
	judging_bound(s->j, "more variables than are followed", NULL);
	return (0);
}

void
scope_each(struct scope *s, enum slot_kind kind, void (*fn)(struct scope *,
    const char *, const void *, void *), void *arg)
{
	struct slot *slot;

	for (slot = s->all; slot != NULL; slot = slot->all)
		if (slot->kind == kind && slot->data != NULL)
			fn(s, slot->name, slot->data, arg);
}
