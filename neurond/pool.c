/*
 * Filling the pool, one neuron at a time and never before somebody who waits;
 * and serving from it.
 */
#include <event2/event.h>
#include <stddef.h>

#include "fault.h"
#include "imsg.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "pool.h"
#include "pool_list.h"
#include "proc.h"
#include "settings.h"
#include "slot.h"

#define PAUSE_US	2000		/* after a reply, before another */
#define RETRY_US	200000		/* after a failure, then twice as long */
#define RETRY_MOST_US	10000000
#define DEFER_MOST	25		/* pauses for the sake of others */
#define REPORT_US	100000		/* news for policyd, at most so often */

static struct {
	struct event	*timer;
	struct event	*report;
	unsigned	 deferred;
	long		 retry;		/* us, 0 while it goes well */
	uint64_t	 hits;
	uint64_t	 misses;
} self;

static void
arm(struct event *ev, long us)
{
	struct timeval tv = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };

	if (ev != NULL && !evtimer_pending(ev, NULL))
		event_add(ev, &tv);
}

static void
news(void)
{
	arm(self.report, REPORT_US);
}

void
pool_report(void)
{
	struct imsg *m;

	if (settings() == NULL || !launch_is_up())
		return;
	m = imsg_new(MSG_POOL);
	imsg_put_u32(m, pool_wanted(settings()));
	imsg_put_u32(m, pool_ready());
	imsg_put_u64(m, self.hits);
	imsg_put_u64(m, self.misses);
	launch_send(m);
}

static void
on_report(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	pool_report();
}

/* ---- filling ---- */

static void
end_unwanted(void)
{
	struct neuron *n;

	while ((n = pool_unwanted(settings())) != NULL)
		neuron_end(n, GONE_DROPPED, "no profile builds it so");
}

/* 1 if others are at work whom it would slow; not for ever. */
static int
defer(void)
{
	if (neurons_waiting() == 0 && (!neurons_busy() ||
	    self.deferred >= DEFER_MOST)) {
		self.deferred = 0;
		return (0);
	}
	self.deferred++;
	return (1);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	const struct cf_profile *profile;
	struct slot *slot;

	(void)fd;
	(void)what;
	(void)arg;
	/* Each of these pokes when it comes. */
	if (!launch_is_up() || !helper_is_up(HELPER_SPAWNER) ||
	    pool_coming() > 0 ||
	    (profile = pool_lacks(settings())) == NULL)
		return;
	if (defer()) {
		arm(self.timer, PAUSE_US);
		return;
	}
	/* What is low is kept for who asks; its making pokes. */
	if ((slot = slot_take_spare()) == NULL) {
		slots_poke();
		return;
	}
	FAULT("ahead.build");
	neuron_ahead(profile, slot);
}

void
pool_poke(void)
{
	arm(self.timer, self.retry > 0 ? self.retry : PAUSE_US);
}

void
pool_reload(void)
{
	if (self.timer == NULL)
		return;
	end_unwanted();
	self.retry = 0;
	pool_poke();
	pool_report();
}

void
pool_is_up(struct neuron *n)
{
	self.retry = 0;
	pool_mark_ready(&n->pooled);
	FAULT("ahead.up");
	news();
	pool_poke();
}

void
pool_is_over(struct neuron *n)
{
	if (n->pooled.neuron == NULL)
		return;
	if (n->cause == GONE_FAILED) {
		self.retry = self.retry == 0 ? RETRY_US : self.retry * 2;
		if (self.retry > RETRY_MOST_US)
			self.retry = RETRY_MOST_US;
	}
	pool_remove(&n->pooled);
	news();
	pool_poke();
}

/* ---- serving ---- */

/* Nothing of its own is in it but what the pool's have as well. */
static int
is_plain(const struct neuron_request *req, const struct slice *s)
{
	return (req->workspace[0] == '\0' &&
	    req->persistent == HOME_NONE &&
	    settings_plain(s, req->profile, req->no_egress));
}

/* 1 if some profile keeps what these limits would build. */
static int
is_kept(const struct slice *s, const struct limits *limits)
{
	size_t i;

	for (i = 0; i < s->nprofiles; i++)
		if (pool_wants(s, &s->profiles[i]) > 0 &&
		    pool_same(&s->profiles[i].limits, limits))
			return (1);
	return (0);
}

int
pool_serve(const struct neuron_request *req, const struct slice *s,
    const struct limits *limits)
{
	struct neuron *n;

	if (!is_plain(req, s))
		return (0);
	while ((n = pool_find(req->profile, limits)) != NULL) {
		if (neuron_take(n, req, limits) == 0)
			break;
		neuron_end(n, GONE_LOST, "it could not be taken");
	}
	if (n != NULL)
		self.hits++;
	else if (is_kept(s, limits))
		self.misses++;
	else
		return (0);
	news();
	pool_poke();
	return (n != NULL);
}

void
pool_init(void)
{
	self.timer = evtimer_new(proc_base(), on_timer, NULL);
	self.report = evtimer_new(proc_base(), on_report, NULL);
	if (self.timer == NULL || self.report == NULL)
		fatalx("pool");
	pool_poke();
}
