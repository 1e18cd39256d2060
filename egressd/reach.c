/*
 * Resolving once, checking every address, dialling what was checked: no
 * second look-up can give another answer.
 */
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "clock.h"
#include "dial.h"
#include "proc.h"
#include "reach.h"
#include "resolve.h"
#include "without.h"

struct reach {
	struct neuron	*neuron;
	reach_cb	*cb;
	void		*arg;
	uint16_t	 port;
	unsigned	 flags;
	uint64_t	 until;		/* ms */
	struct resolve	*resolve;
	struct dial	*dial;
	struct event	 soon;		/* an answer that is there already */
	struct reached	 result;
	char		 name[EGRESS_NAME_MAX + 1];
};

static void
finish(struct reach *r)
{
	struct reached result = r->result;
	reach_cb *cb = r->cb;
	void *arg = r->arg;

	reach_cancel(r);
	cb(arg, &result);
}

void
reach_cancel(struct reach *r)
{
	if (r == NULL)
		return;
	resolve_cancel(r->resolve);
	dial_cancel(r->dial);
	event_del(&r->soon);
	free(r);
}

static void
on_soon(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	finish(arg);
}

static void
on_dialled(void *arg, enum refusal why, int fd, const struct address *address)
{
	struct reach *r = arg;

	r->dial = NULL;
	r->result.why = why;
	r->result.fd = fd;
	if (fd != -1)
		address_text(address, r->result.address);
	finish(r);
}

/* 0, or -1 with the result filled: one that is bad speaks for the name. */
static int
check(struct reach *r, const struct address *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (address_allowed(&v[i], r->flags) ||
		    WITHOUT(egress_addresses))
			continue;
		r->result.why = REFUSE_ADDRESS;
		address_text(&v[i], r->result.address);
		(void)snprintf(r->result.detail, sizeof(r->result.detail),
		    "%.100s has the address %s, which is %s", r->name,
		    r->result.address, address_class_name(
		    address_class(&v[i])));
		return (-1);
	}
	return (0);
}

/* 0, or -1 with the result filled. */
static int
dial(struct reach *r, const struct address *v, size_t n)
{
	uint64_t now = now_ms();

	if (check(r, v, n) == -1)
		return (-1);
	r->dial = dial_start(proc_base(), v, n, r->port,
	    r->until > now ? r->until - now : 1, on_dialled, r);
	if (r->dial == NULL)
		r->result.why = REFUSE_INTERNAL;
	return (r->dial == NULL ? -1 : 0);
}

static void
on_resolved(void *arg, enum refusal why, const struct address *v, size_t n,
    uint32_t ttl)
{
	struct reach *r = arg;

	r->resolve = NULL;
	if (why == REFUSE_NOT) {
		cache_put(r->neuron->cache, r->name, now_ms(), ttl, v, n);
		if (dial(r, v, n) == 0)
			return;
	} else
		r->result.why = why;
	finish(r);
}

struct reach *
reach_start(struct neuron *n, const struct host *host, uint16_t port,
    unsigned flags, reach_cb *cb, void *arg)
{
	static const struct timeval now = { 0, 0 };
	struct address v[RESOLVE_MAX];
	struct reach *r;
	size_t known;
	int failed = 0;

	if ((r = calloc(1, sizeof(*r))) == NULL)
		return (NULL);
	r->neuron = n;
	r->cb = cb;
	r->arg = arg;
	r->port = port;
	r->flags = flags;
	r->result.fd = -1;
	r->until = now_ms() + neuron_limit(n, LIMIT_EGRESS_CONNECT);
	(void)strlcpy(r->name, host->name, sizeof(r->name));
	evtimer_assign(&r->soon, proc_base(), on_soon, r);
	if (host->is_address)
		failed = dial(r, &host->address, 1) == -1;
	else if ((known = cache_get(n->cache, r->name, now_ms(), v)) > 0)
		failed = dial(r, v, known) == -1;
	else {
		r->resolve = resolve_start(r->name,
		    neuron_limit(n, LIMIT_EGRESS_CONNECT), on_resolved, r);
		if (r->resolve == NULL) {
			r->result.why = REFUSE_INTERNAL;
			failed = 1;
		}
	}
	if (failed)
		evtimer_add(&r->soon, &now);
	return (r);
}
