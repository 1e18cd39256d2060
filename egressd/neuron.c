/*
 * The neurons that have egress, and what each may use.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "clock.h"
#include "conn.h"
#include "dnsd.h"
#include "log.h"
#include "neuron.h"
#include "proc.h"
#include "run.h"

#define REFILL_MS	20

#define BUCKETS		256

static LIST_HEAD(, neuron) table[BUCKETS];
static const struct slice *slice;

static void	on_refill(evutil_socket_t, short, void *);
static void	on_resume(evutil_socket_t, short, void *);

static struct timeval
timeval_of(uint64_t ms)
{
	return ((struct timeval){ (time_t)(ms / 1000),
	    (suseconds_t)(ms % 1000 * 1000) });
}

/* ---- the table ---- */

static void
configure(struct neuron *n)
{
	const struct cf_profile *p = slice_profile(slice, n->profile);

	n->egress = p != NULL && p->egress.on ? &p->egress : NULL;
	n->limits = p != NULL ? &p->limits : &slice->limits;
}

void
neurons_configure(const struct slice *s)
{
	struct neuron *n;
	size_t i;

	slice = s;
	for (i = 0; i < BUCKETS; i++) {
		LIST_FOREACH(n, &table[i], entry) {
			configure(n);
			conns_judge_again(n);
		}
	}
}

static size_t
bucket(const char *id)
{
	size_t hash = 5381;

	for (; *id != '\0'; id++)
		hash = hash * 33 + (unsigned char)*id;
	return (hash % BUCKETS);
}

struct neuron *
neuron_find(const char *id)
{
	struct neuron *n;

	LIST_FOREACH(n, &table[bucket(id)], entry)
		if (strcmp(n->id, id) == 0)
			return (n);
	return (NULL);
}

struct neuron *
neuron_open(const char *id, const char *profile)
{
	struct neuron *n;
	size_t i;

	if ((n = neuron_find(id)) == NULL) {
		if ((n = calloc(1, sizeof(*n))) == NULL)
			return (NULL);
		n->grants = grants_new();
		n->names = names_new();
		n->cache = cache_new();
		if (n->grants == NULL || n->names == NULL ||
		    n->cache == NULL) {
			grants_free(n->grants);
			names_free(n->names);
			cache_free(n->cache);
			free(n);
			return (NULL);
		}
		(void)strlcpy(n->id, id, sizeof(n->id));
		for (i = 0; i < LISTENERS; i++)
			n->listeners[i].fd = -1;
		TAILQ_INIT(&n->conns);
		TAILQ_INIT(&n->runs);
		TAILQ_INIT(&n->waiters);
		evtimer_assign(&n->refill, proc_base(), on_refill, n);
		evtimer_assign(&n->resume, proc_base(), on_resume, n);
		denials_init(&n->denials, n);
		LIST_INSERT_HEAD(&table[bucket(n->id)], n, entry);
	}
	(void)strlcpy(n->profile, profile, sizeof(n->profile));
	configure(n);
	return (n);
}

static void
listener_close(struct listener *l)
{
	if (l->fd == -1)
		return;
	event_del(&l->ev);
	close(l->fd);
	l->fd = -1;
}

void
neuron_close(struct neuron *n)
{
	size_t i;

	for (i = 0; i < LISTENERS; i++)
		listener_close(&n->listeners[i]);
	runs_close(n);
	conns_close(n, EGRESS_END_REVOKED);
	event_del(&n->refill);
	event_del(&n->resume);
	denials_free(&n->denials);
	LIST_REMOVE(n, entry);
	grants_free(n->grants);
	names_free(n->names);
	cache_free(n->cache);
	free(n);
}

void
neurons_close(void)
{
	struct neuron *n;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		while ((n = LIST_FIRST(&table[i])) != NULL)
			neuron_close(n);
}

void
neurons_each(void (*fn)(struct neuron *))
{
	struct neuron *n;
	size_t i;

	for (i = 0; i < BUCKETS; i++)
		LIST_FOREACH(n, &table[i], entry)
			fn(n);
}

/* ---- listeners ---- */

static void
on_listener(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)fd;
	(void)what;
	if (l->which == LISTENER_DNS)
		dnsd_serve(l->neuron, l->fd);
	else
		conns_accept(l->neuron, l->which, l->fd);
}

void
neuron_listen(struct neuron *n, unsigned which, int fd)
{
	struct listener *l = &n->listeners[__builtin_ctz(which)];

	listener_close(l);
	if (fd == -1)
		return;
	l->neuron = n;
	l->which = which;
	l->fd = fd;
	(void)evutil_make_socket_nonblocking(fd);
	event_assign(&l->ev, proc_base(), fd, EV_READ | EV_PERSIST,
	    on_listener, l);
	if (!n->paused)
		event_add(&l->ev, NULL);
}

void
neuron_pause(struct neuron *n, unsigned ms)
{
	struct timeval tv = timeval_of(ms);
	size_t i;

	if (n->paused)
		return;
	n->paused = 1;
	for (i = 0; i < LISTENERS; i++)
		if (n->listeners[i].fd != -1)
			event_del(&n->listeners[i].ev);
	evtimer_add(&n->resume, &tv);
}

static void
on_resume(evutil_socket_t fd, short what, void *arg)
{
	struct neuron *n = arg;
	size_t i;

	(void)fd;
	(void)what;
	n->paused = 0;
	for (i = 0; i < LISTENERS; i++)
		if (n->listeners[i].fd != -1)
			event_add(&n->listeners[i].ev, NULL);
}

/* ---- calls ---- */

void
neuron_call(struct neuron *n, const char *call, int begins, int writes)
{
	struct running *r;
	size_t i;

	for (i = 0; i < n->ncalls; i++)
		if (strcmp(n->calls[i].id, call) == 0)
			break;
	if (!begins) {
		if (i < n->ncalls)
			n->calls[i] = n->calls[--n->ncalls];
		return;
	}
	/* Its first refusal is told at once, whatever came before. */
	denials_begin(&n->denials);
	if (i == NEURON_RUNNING_MAX)
		return;
	r = &n->calls[i];
	if (i == n->ncalls) {
		n->ncalls++;
		r->bytes = 0;
		(void)strlcpy(r->id, call, sizeof(r->id));
	}
	r->writes = writes;
}

static int
writes(const struct neuron *n)
{
	size_t i;

	for (i = 0; i < n->ncalls; i++)
		if (n->calls[i].writes)
			return (1);
	return (0);
}

enum refusal
neuron_judge(struct neuron *n, const struct host *host, uint16_t port,
    const char *method, int *once, struct host_verdict *v)
{
	struct want want = {
		.host = host, .port = port, .method = method,
		.writes = writes(n)
	};

	hosts_judge(n->egress, n->grants, &want, now_ms(), v);
	if (v->why == REFUSE_NOT && neuron_over(n)) {
		v->why = REFUSE_BYTES;
		(void)strlcpy(v->rule, refusal_word(v->why), sizeof(v->rule));
	}
	if (once == NULL)
		return (v->why);
	*once = v->why == REFUSE_NOT && v->grant != NULL &&
	    grants_use(n->grants, v->grant);
	v->grant = NULL;
	if (*once)
		report_spent(n, host->name, port);
	return (v->why);
}

/* ---- bytes ---- */

size_t
neuron_allowance(struct neuron *n, size_t want)
{
	uint64_t rate = neuron_limit(n, LIMIT_EGRESS_BANDWIDTH), now, more;

	if (rate == 0)
		return (want);
	now = now_ms();
	if (n->filled == 0)
		n->filled = now - REFILL_MS;
	more = rate * (now - n->filled) / 1000;
	if (more > 0) {
		n->tokens += more;
		n->filled = now;
	}
	/* No more than a tenth of a second's worth at once. */
	if (n->tokens > rate / 10 + 1)
		n->tokens = rate / 10 + 1;
	return (n->tokens < want ? (size_t)n->tokens : want);
}

void
neuron_wait(struct neuron *n, struct waiter *w)
{
	struct timeval tv = timeval_of(REFILL_MS);

	if (!w->waits)
		TAILQ_INSERT_TAIL(&n->waiters, w, entry);
	w->waits = 1;
	if (!evtimer_pending(&n->refill, NULL))
		evtimer_add(&n->refill, &tv);
}

void
neuron_wait_end(struct neuron *n, struct waiter *w)
{
	if (w->waits)
		TAILQ_REMOVE(&n->waiters, w, entry);
	w->waits = 0;
}

/*
 * Only those that waited as it began: one that has to wait again goes to the
 * end, and its turn comes with the next refill.
 */
static void
on_refill(evutil_socket_t fd, short what, void *arg)
{
	struct neuron *n = arg;
	struct waiter *w;
	size_t left = 0;

	(void)fd;
	(void)what;
	TAILQ_FOREACH(w, &n->waiters, entry)
		left++;
	while (left-- > 0 && (w = TAILQ_FIRST(&n->waiters)) != NULL) {
		neuron_wait_end(n, w);
		w->wake(w->arg);
	}
}

int
neuron_over(const struct neuron *n)
{
	uint64_t most = neuron_limit(n, LIMIT_EGRESS_CALL);
	size_t i;

	if (n->bytes > neuron_limit(n, LIMIT_EGRESS_SESSION))
		return (1);
	for (i = 0; i < n->ncalls; i++)
		if (n->calls[i].bytes > most)
			return (1);
	return (0);
}

int
neuron_moved(struct neuron *n, size_t bytes)
{
	size_t i;

	n->bytes += bytes;
	n->tokens -= n->tokens < bytes ? n->tokens : bytes;
	for (i = 0; i < n->ncalls; i++)
		n->calls[i].bytes += bytes;
	return (neuron_over(n) ? -1 : 0);
}
