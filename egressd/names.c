/*
 * Names and the addresses that stand for them inside a neuron.
 *
 * Addresses are given out in turn from all of EGRESS_NAMES_NET, and the last
 * NAMES_MAX names are kept in a ring by when they were new: so that an address
 * whose name was forgotten means nothing, rather than another name.  A name
 * that is asked for again keeps its address while it is known.
 */
#include <stdlib.h>
#include <string.h>

#include "dns.h"

#define BUCKETS		4096
#define HOSTS_OF_NET	(~EGRESS_NAMES_MASK)

struct entry {
	char		*name;		/* NULL: free */
	uint32_t	 address;
	uint32_t	 next;		/* of its bucket: 1 + its place, or 0 */
};

struct names {
	struct entry	 v[NAMES_MAX];
	uint32_t	 buckets[BUCKETS];	/* 1 + a place, or 0 */
	uint32_t	 place;		/* where the next one goes */
	uint32_t	 last;		/* host part given out last */
	uint64_t	 seed;
};

static uint32_t
bucket(const struct names *all, const char *name)
{
	uint64_t h = all->seed;

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
	return ((uint32_t)(h ^ h >> 32) % BUCKETS);
}

struct names *
names_new(void)
{
	struct names *all = calloc(1, sizeof(*all));

	if (all != NULL)
		arc4random_buf(&all->seed, sizeof(all->seed));
	return (all);
}

void
names_free(struct names *all)
{
	size_t i;

	if (all == NULL)
		return;
	for (i = 0; i < NAMES_MAX; i++)
		free(all->v[i].name);
	free(all);
}

static void
forget(struct names *all, uint32_t place)
{
	struct entry *e = &all->v[place];
	uint32_t *link;

	if (e->name == NULL)
		return;
	link = &all->buckets[bucket(all, e->name)];
	while (*link != place + 1)
		link = &all->v[*link - 1].next;
	*link = e->next;
	free(e->name);
	memset(e, 0, sizeof(*e));
}

uint32_t
names_address(struct names *all, const char *name)
{
	uint32_t b = bucket(all, name), at;
	struct entry *e;
	char *copy;

	for (at = all->buckets[b]; at != 0; at = all->v[at - 1].next)
		if (strcmp(all->v[at - 1].name, name) == 0)
			return (all->v[at - 1].address);
	if ((copy = strdup(name)) == NULL)
		return (0);
	forget(all, all->place);
	/* Neither the net's own address nor the one for all in it. */
	all->last = all->last + 1 >= HOSTS_OF_NET ? 1 : all->last + 1;
	e = &all->v[all->place];
	e->name = copy;
	e->address = EGRESS_NAMES_NET | all->last;
	e->next = all->buckets[b];
	all->buckets[b] = all->place + 1;
	all->place = (all->place + 1) % NAMES_MAX;
	return (e->address);
}

const char *
names_name(const struct names *all, uint32_t address)
{
	size_t i;

	if ((address & EGRESS_NAMES_MASK) != EGRESS_NAMES_NET)
		return (NULL);
	for (i = 0; i < NAMES_MAX; i++)
		if (all->v[i].name != NULL && all->v[i].address == address)
			return (all->v[i].name);
	return (NULL);
}
