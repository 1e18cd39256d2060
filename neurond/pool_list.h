/*
 * Which neurons are ready ahead of time, for which profile: the books of the
 * pool, without anything that is done for it.
 */
#ifndef MYELIN_NEUROND_POOL_LIST_H
#define MYELIN_NEUROND_POOL_LIST_H

#include <sys/queue.h>

#include "limits.h"
#include "slice.h"

struct neuron;

/* A neuron's entry; all zero while it is in no pool. */
struct pooled {
	TAILQ_ENTRY(pooled) entry;
	struct neuron	*neuron;	/* whose entry it is; NULL: in no pool */
	int		 ready;		/* it may be taken */
	char		 profile[NAME_BYTES_MAX];
	struct limits	 limits;	/* it was built by */
};

/* How many of them a profile wants ready; 0 for one that can't have any. */
unsigned pool_wants(const struct slice *, const struct cf_profile *);
/* All profiles together. */
unsigned pool_wanted(const struct slice *);
/* 1 if limits of both give the same neuron: what can't be changed later. */
int	pool_same(const struct limits *, const struct limits *);

/* On its way up, and up. */
void	pool_add(struct pooled *, struct neuron *, const struct cf_profile *);
void	pool_mark_ready(struct pooled *);
/* It is nobody's to take any more; nothing if it is in no pool. */
void	pool_remove(struct pooled *);
/*
 * Takes out the one that was ready first of those that these limits would
 * build, its profile's own before others'.  NULL if there is none.
 */
struct neuron *pool_find(const char *profile, const struct limits *);

unsigned pool_ready(void);
unsigned pool_coming(void);
/* The profile that has least of what it wants; NULL if none lacks any. */
const struct cf_profile *pool_lacks(const struct slice *);
/* One that no profile wants so, or that is over its number; or NULL. */
struct neuron *pool_unwanted(const struct slice *);

#endif
