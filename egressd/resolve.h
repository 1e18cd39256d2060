/*
 * Names to addresses: one lookup of both families, asked of the nameservers
 * that the configuration brought, with one time-out over all.
 *
 * What was found is kept for a while, for each neuron apart: what one of them
 * looked up is none of another's business.
 */
#ifndef EGRESSD_RESOLVE_H
#define EGRESSD_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "refusal.h"
#include "resolvconf.h"

#define RESOLVE_MAX	64	/* addresses of a name; more are a failure */

struct event_base;
struct resolve;

/*
 * Told once, never from inside resolve_start(): REFUSE_NOT and at least one
 * address, in the order in which they came; or REFUSE_UNRESOLVED or
 * REFUSE_TIMEOUT.  The resolve is gone after that.
 */
typedef void resolve_cb(void *arg, enum refusal, const struct address *,
	    size_t n, uint32_t ttl);

/* Before the drop: what c-ares reads of the host, it reads here.  0, or -1. */
int	resolve_preload(void);
void	resolve_attach(struct event_base *);
/* From now on these are asked; lookups under way are asked again. */
void	resolve_servers(const struct resolvconf *);

/* NULL when memory is out. */
struct resolve *resolve_start(const char *name, uint64_t ms, resolve_cb *,
	    void *arg);
void	resolve_cancel(struct resolve *);	/* NULL is fine */
void	resolve_stop(void);

#endif
