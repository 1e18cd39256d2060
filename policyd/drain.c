/* Draining: the flag, and who waits for the last call's end. */

#include <sys/queue.h>

#include <stdlib.h>

#include <event2/event.h>

#include "approval.h"
#include "audit.h"
#include "call.h"
#include "drain.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"

#define WAITERS_MAX	64
#define RETRY_S		5	/* for those who are refused meanwhile */

struct waiter {
	TAILQ_ENTRY(waiter) entry;
	struct reply_to	 to;
	struct event	*timer;
};

static TAILQ_HEAD(, waiter) waiters = TAILQ_HEAD_INITIALIZER(waiters);
static unsigned	nwaiters;
static int	draining;
static int	told;		/* that no call is left */

int
drain_on(void)
{
	return (draining);
}

int
drain_refuse(struct refusal *r)
{
	return (refuse_later(r, 503, "unavailable", RETRY_S, "the service is "
	    "draining: it takes no new calls and sessions"));
}

static json_t *
state_json(void)
{
	return (json_pack("{s:b,s:{s:i},s:{s:i}}", "draining", draining,
	    "calls", "running", (int)call_count(),
	    "sessions", "live", (int)session_count()));
}

static void
answer(const struct reply_to *to)
{
	reply_json(to, call_count() == 0 ? 200 : 202, state_json());
}

static void
waiter_free(struct waiter *w)
{
	TAILQ_REMOVE(&waiters, w, entry);
	nwaiters--;
	event_free(w->timer);
	free(w);
}

static void
answer_all(void)
{
	struct waiter *w;

	while ((w = TAILQ_FIRST(&waiters)) != NULL) {
		answer(&w->to);
		waiter_free(w);
	}
}

static void
time_over(int fd, short what, void *arg)
{
	struct waiter *w = arg;

	(void)fd;
	(void)what;
	answer(&w->to);
	waiter_free(w);
}

static void
wait_for_calls(const struct reply_to *to, uint32_t ms)
{
	struct timeval tv = us_timeval((uint64_t)ms * 1000);
	struct waiter *w;

	if (ms == 0 || nwaiters == WAITERS_MAX) {
		answer(to);
		return;
	}
	if ((w = calloc(1, sizeof(*w))) == NULL ||
	    (w->timer = evtimer_new(policyd_base(), time_over, w)) == NULL)
		fatal("drain");
	w->to = *to;
	evtimer_add(w->timer, &tv);
	TAILQ_INSERT_TAIL(&waiters, w, entry);
	nwaiters++;
}

void
drain_begin(const struct reply_to *to, const struct peer *peer, uint32_t ms)
{
	if (!draining) {
		draining = 1;
		told = 0;
		log_info_of(&(struct log_about){ .request = to->id },
		    "draining: %u calls run", call_count());
		audit_append_for(to, "drain.started", json_pack("{s:s,s:i}",
		    "operator", peer->who, "calls", (int)call_count()));
		sync_now();
	}
	approvals_drain();
	if (call_count() == 0)
		drain_idle();
	if (call_count() == 0)
		answer(to);
	else
		wait_for_calls(to, ms);
}

void
drain_idle(void)
{
	if (!draining)
		return;
	if (!told) {
		told = 1;
		log_info("drained: no call is left");
		audit_append("drain.done", NULL);
		sync_soon();
	}
	answer_all();
}

void
drain_resume(const struct reply_to *to, const struct peer *peer)
{
	struct refusal r;
	struct waiter *w;

	if (draining) {
		draining = 0;
		log_info_of(&(struct log_about){ .request = to->id },
		    "draining ended");
		audit_append_for(to, "drain.ended", json_pack("{s:s}",
		    "operator", peer->who));
		sync_now();
	}
	while ((w = TAILQ_FIRST(&waiters)) != NULL) {
		refuse(&r, 409, "conflict", "the draining was ended");
		reply_refusal(&w->to, &r);
		waiter_free(w);
	}
	reply_json(to, 200, state_json());
}

void
drain_end(void)
{
	while (!TAILQ_EMPTY(&waiters))
		waiter_free(TAILQ_FIRST(&waiters));
	draining = 0;
}
