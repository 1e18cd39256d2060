/*
 * Dialling: the addresses that were checked, one after the other, the next a
 * moment after the one before; the first that answers is it.
 */
#ifndef EGRESSD_DIAL_H
#define EGRESSD_DIAL_H

#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "refusal.h"

#define DIAL_MAX	8	/* addresses that are tried */

struct event_base;
struct dial;

/*
 * Told once, never from inside dial_start().  REFUSE_NOT: fd is the caller's,
 * connected to that address, not blocking.  Else REFUSE_UNREACHABLE,
 * REFUSE_REFUSED or REFUSE_TIMEOUT and -1.  The dial is gone after that.
 */
typedef void dial_cb(void *arg, enum refusal, int fd, const struct address *);

/* NULL when memory is out. */
struct dial *dial_start(struct event_base *, const struct address *, size_t n,
	    uint16_t port, uint64_t ms, dial_cb *, void *arg);
void	dial_cancel(struct dial *);	/* NULL is fine */

#endif
