/*
 * What names had for addresses, of one neuron, as long as their nameserver
 * said, and not for long.  What comes out is checked as if it were new.
 */
#ifndef EGRESSD_CACHE_H
#define EGRESSD_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "resolve.h"

#define CACHE_NAMES	64
#define CACHE_MS	30000	/* the longest */

struct cache;

struct cache *cache_new(void);		/* NULL when memory is out */
void	cache_free(struct cache *);	/* NULL is fine */
/* How many addresses of it there are; 0: it has to be looked up. */
size_t	cache_get(const struct cache *, const char *name, uint64_t now,
	    struct address [RESOLVE_MAX]);
/* ttl in seconds; with 0 it isn't kept. */
void	cache_put(struct cache *, const char *name, uint64_t now, uint32_t ttl,
	    const struct address *, size_t n);

#endif
