/*
 * The books of the pool.  A neuron is in them from its making until it is
 * taken or ends, and never again: whoever takes one takes it out.
 */
#include <string.h>

#include "pool_list.h"
#include "settings.h"

static TAILQ_HEAD(, pooled) pool = TAILQ_HEAD_INITIALIZER(pool);
static unsigned ready, coming;

/*
 * What BUILD tells PID 1 and the kernel once.  The others are a cgroup's,
 * which is written again when somebody takes the neuron, or not a neuron's.
 */
static const enum limit built_in[] = {
	LIMIT_HOME, LIMIT_TMP, LIMIT_INODES, LIMIT_NOFILE, LIMIT_PTY
};

unsigned
pool_wants(const struct slice *s, const struct cf_profile *p)
{
	return (settings_plain(s, p->name, 0) ?
	    (unsigned)p->limits.v[LIMIT_POOL] : 0);
}

unsigned
pool_wanted(const struct slice *s)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < s->nprofiles; i++)
		n += pool_wants(s, &s->profiles[i]);
	return (n);
}

int
pool_same(const struct limits *a, const struct limits *b)
{
	size_t i;

	for (i = 0; i < sizeof(built_in) / sizeof(built_in[0]); i++)
		if (a->v[built_in[i]] != b->v[built_in[i]])
			return (0);
	return (1);
}

void
pool_add(struct pooled *p, struct neuron *n, const struct cf_profile *profile)
{
	p->neuron = n;
	p->ready = 0;
	p->limits = profile->limits;
	memcpy(p->profile, profile->name, sizeof(p->profile));
	TAILQ_INSERT_TAIL(&pool, p, entry);
	coming++;
}

void
pool_mark_ready(struct pooled *p)
{
	if (p->neuron == NULL || p->ready)
		return;
	p->ready = 1;
	coming--;
	ready++;
}

void
pool_remove(struct pooled *p)
{
	if (p->neuron == NULL)
		return;
	TAILQ_REMOVE(&pool, p, entry);
	if (p->ready)
		ready--;
	else
		coming--;
	memset(p, 0, sizeof(*p));
}

struct neuron *
pool_find(const char *profile, const struct limits *limits)
{
	struct pooled *p, *found = NULL;
	struct neuron *n;
	int own;

	TAILQ_FOREACH(p, &pool, entry) {
		if (!p->ready || !pool_same(&p->limits, limits))
			continue;
		own = strcmp(p->profile, profile) == 0;
		if (found == NULL || own)
			found = p;
		if (own)
			break;
	}
	if (found == NULL)
		return (NULL);
	n = found->neuron;
	pool_remove(found);
	return (n);
}

unsigned
pool_ready(void)
{
	return (ready);
}

unsigned
pool_coming(void)
{
	return (coming);
}

/* Those of a profile that are still as it builds them. */
static unsigned
count(const struct cf_profile *profile)
{
	struct pooled *p;
	unsigned n = 0;

	TAILQ_FOREACH(p, &pool, entry)
		n += strcmp(p->profile, profile->name) == 0 &&
		    pool_same(&p->limits, &profile->limits);
	return (n);
}

const struct cf_profile *
pool_lacks(const struct slice *s)
{
	const struct cf_profile *least = NULL;
	unsigned have, had = 0;
	size_t i;

	for (i = 0; i < s->nprofiles; i++) {
		have = count(&s->profiles[i]);
		if (have >= pool_wants(s, &s->profiles[i]) ||
		    (least != NULL && have >= had))
			continue;
		least = &s->profiles[i];
		had = have;
	}
	return (least);
}

struct neuron *
pool_unwanted(const struct slice *s)
{
	const struct cf_profile *profile;
	struct pooled *p;

	TAILQ_FOREACH(p, &pool, entry) {
		profile = slice_profile(s, p->profile);
		if (profile == NULL || !pool_same(&p->limits,
		    &profile->limits) ||
		    count(profile) > pool_wants(s, profile))
			return (p->neuron);
	}
	return (NULL);
}
