/* Slots, and the life of a neuron as seen from the broker. */

#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "call.h"
#include "egress.h"
#include "home.h"
#include "hook.h"
#include "launch.h"
#include "neuron.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "without.h"
#include "workspace.h"

#define WAITS_MAX	1024	/* wishes that wait for a slot */

RB_HEAD(neuron_tree, neuron);

static int neuron_cmp(const struct neuron *, const struct neuron *);
static void	neuron_free(struct neuron *);

RB_PROTOTYPE(neuron_tree, neuron, entry, neuron_cmp)
RB_GENERATE(neuron_tree, neuron, entry, neuron_cmp)

static struct neuron_tree	neurons = RB_INITIALIZER(&neurons);
static struct neuron_list	ordered = TAILQ_HEAD_INITIALIZER(ordered);
static TAILQ_HEAD(, neuron_wait) waits = TAILQ_HEAD_INITIALIZER(waits);
static unsigned			count, nwaits;

static int
neuron_cmp(const struct neuron *a, const struct neuron *b)
{
	return (strcmp(a->id, b->id));
}

/* The limit that stands in the way, or LIMIT_COUNT. */
static enum limit
slot_limit(const struct ident *ident)
{
	if (ident->neurons >= conf_limit(LIMIT_NEURONS_PRINCIPAL) &&
	    !WITHOUT(neuron_cap))
		return (LIMIT_NEURONS_PRINCIPAL);
	if (count >= conf_limit(LIMIT_NEURONS))
		return (LIMIT_NEURONS);
	return (LIMIT_COUNT);
}

static void
slot_refused(const struct ident *ident, struct refusal *r)
{
	enum limit limit = slot_limit(ident);

	if (limit == LIMIT_COUNT)
		limit = LIMIT_NEURONS;
	refuse_later(r, 429, "too_many", 5, "the limit %s is %llu, and all "
	    "are in use; end a session, or try again later",
	    limit_table[limit].keyword,
	    (unsigned long long)conf_limit(limit));
}

static void
wait_end(struct neuron_wait *w)
{
	if (!w->waiting)
		return;
	TAILQ_REMOVE(&waits, w, entry);
	nwaits--;
	event_free(w->timer);
	w->timer = NULL;
	w->waiting = 0;
}

static void
wait_over(int fd, short what, void *arg)
{
	struct neuron_wait *w = arg;
	struct refusal r;

	(void)fd;
	(void)what;
	wait_end(w);
	slot_refused(w->ident, &r);
	w->fn(w->arg, 0, &r);
}

void
neuron_ask(struct neuron_wait *w, struct ident *ident,
    void (*fn)(void *, int, const struct refusal *), void *arg)
{
	struct timeval tv = us_timeval(conf_limit(LIMIT_NEURON_WAIT) * 1000);
	struct refusal r;

	w->ident = ident;
	w->fn = fn;
	w->arg = arg;
	w->waiting = 0;
	if (slot_limit(ident) == LIMIT_COUNT) {
		fn(arg, 1, NULL);
		return;
	}
	if (nwaits >= WAITS_MAX ||
	    (w->timer = evtimer_new(policyd_base(), wait_over, w)) == NULL) {
		slot_refused(ident, &r);
		fn(arg, 0, &r);
		return;
	}
	evtimer_add(w->timer, &tv);
	TAILQ_INSERT_TAIL(&waits, w, entry);
	nwaits++;
	w->waiting = 1;
}

void
neuron_unask(struct neuron_wait *w)
{
	wait_end(w);
}

/*
 * First come first served, but nobody waits for a slot that the one before
 * him may not have.  Runs from the loop, not from inside what freed a slot.
 */
static void
neuron_grant(int fd, short what, void *arg)
{
	struct neuron_wait *w;

	(void)fd;
	(void)what;
	(void)arg;
again:
	TAILQ_FOREACH(w, &waits, entry) {
		if (count >= conf_limit(LIMIT_NEURONS))
			return;
		if (slot_limit(w->ident) != LIMIT_COUNT)
			continue;
		wait_end(w);
		w->fn(w->arg, 1, NULL);
		goto again;	/* fn may have ended other waits */
	}
}

struct neuron *
neuron_new(struct ident *ident, const struct build *build,
    struct home *home)
{
	struct neuron *n;

	if ((n = calloc(1, sizeof(*n))) == NULL ||
	    id_make(ID_NEURON, n->id) == -1)
		fatal("neuron");
	if (home != NULL) {
		strlcpy(n->id, home->row.id, sizeof(n->id));
		n->home = home;
		home_taken(home, n);
	}
	n->state = NEURON_NEW;
	n->ident = ident;
	n->build = *build;
	n->created = home_stamp();
	ident->refs++;
	ident->neurons++;
	count++;
	RB_INSERT(neuron_tree, &neurons, n);
	TAILQ_INSERT_HEAD(&ordered, n, order);
	return (n);
}

struct neuron *
neuron_find(const char *id)
{
	struct neuron key;

	strlcpy(key.id, id, sizeof(key.id));
	return (RB_FIND(neuron_tree, &neurons, &key));
}

const struct neuron_list *
neuron_all(void)
{
	return (&ordered);
}

unsigned
neuron_count(void)
{
	return (count);
}

int
neuron_make(struct neuron *n, struct refusal *r)
{
	if (decide_again(&n->build, r) == -1 || workspace_free(n, r) == -1)
		return (-1);
	n->limits = *conf_profile(n->build.profile);
	if (launch_make(n) == -1)
		return (refuse_later(r, 503, "unavailable", 1,
		    "neurond is being started; try again"));
	n->state = NEURON_MAKING;
	return (0);
}

int
neuron_drop(struct neuron *n)
{
	n->session = NULL;
	n->call = NULL;
	if (n->state == NEURON_GOING)
		return (1);
	if (n->state == NEURON_NEW || launch_drop(n) == -1) {
		neuron_free(n);
		return (0);
	}
	n->state = NEURON_GOING;
	return (1);
}

void
neuron_is_up(struct neuron *n, uint64_t layers, uint32_t us)
{
	struct refusal r;

	n->layers = layers;
	n->made_us = us;
	if (n->state != NEURON_MAKING)
		return;
	if (workspace_free(n, &r) == -1) {
		(void)launch_drop(n);
		neuron_is_gone(n, GONE_BUSY, r.words);
		return;
	}
	n->state = NEURON_UP;
	if (n->home != NULL)
		home_up(n->home);
	audit_append("neuron.made", json_pack("{s:s,s:s,s:s,s:o,s:b,s:i}",
	    "neuron", n->id,
	    "kind", n->home != NULL ? "persistent" : "ephemeral",
	    "profile", n->build.profile,
	    "workspace", json_text_or_null(n->build.workspace),
	    "read_only", n->build.read_only,
	    "owner", (int)n->build.owner.uid));
	sync_soon();
	if (n->session != NULL)
		session_neuron_up(n->session);
	else
		call_neuron_up(n);
}

static const char *
gone_name(unsigned cause)
{
	static const char *const names[] = {
		[GONE_DROPPED] = "dropped",
		[GONE_FAILED] = "failed",
		[GONE_REFUSED] = "refused",
		[GONE_LOST] = "lost",
		[GONE_BUSY] = "busy",
	};

	return (cause >= GONE_DROPPED && cause <= GONE_BUSY ? names[cause] :
	    "lost");
}

void
neuron_is_gone(struct neuron *n, unsigned cause, const char *why)
{
	struct session *session = n->session;

	audit_append("neuron.gone", json_pack("{s:s,s:s,s:o}",
	    "neuron", n->id, "cause", gone_name(cause),
	    "why", json_text_or_null(why)));
	sync_soon();
	n->session = NULL;
	call_neuron_gone(n, cause, why);
	hook_neuron_gone(n, why);
	if (session != NULL)
		session_neuron_gone(session, cause, why);
	session_neuron_freed(n->id);
	neuron_free(n);
}

static void
neuron_free(struct neuron *n)
{
	struct ident *ident = n->ident;

	egress_neuron_gone(n);
	call_forget_neuron(n);
	if (n->home != NULL)
		home_down(n->home);
	RB_REMOVE(neuron_tree, &neurons, n);
	TAILQ_REMOVE(&ordered, n, order);
	count--;
	ident->neurons--;
	free(n);
	ident_put(ident);
	if (!TAILQ_EMPTY(&waits))
		event_base_once(policyd_base(), -1, EV_TIMEOUT, neuron_grant,
		    NULL, NULL);
}

void
neuron_all_lost(void)
{
	struct neuron *n;

	while ((n = TAILQ_FIRST(&ordered)) != NULL)
		neuron_is_gone(n, GONE_LOST, "neurond ended");
}
