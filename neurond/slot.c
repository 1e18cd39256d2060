/*
 * The stock: one thing is made at a time, after the replies, unless somebody
 * waits for it.
 */
#include <event2/event.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "helper.h"
#include "imsg.h"
#include "log.h"
#include "neuron.h"
#include "pool.h"
#include "proc.h"
#include "settings.h"
#include "slot.h"
#include "without.h"

#define STOCK		SLOTS_STOCK
#define PAUSE_US	2000		/* before more stock is made */
#define RETRY_US	200000		/* after a failure */
#define LOW		2		/* stock that is made at any cost */
#define AT_ONCE		4		/* makings while somebody waits */
#define SPENT_MOST	4		/* that wait for a quiet moment */
#define DEFER_MOST	25		/* pauses for the sake of others */
#define UNWANTED_MOST	8		/* before nobody is expected any more */

static struct {
	struct cg_base	*base;
	struct slot	*v;
	unsigned	 n;
	unsigned	 ready;
	unsigned	 making;
	unsigned	 spent;
	unsigned	 deferred;
	unsigned	 next;		/* round robin: a uid rests longest */
	uid_t		 uid;		/* who is expected, 0: nobody */
	gid_t		 gid;
	unsigned	 unwanted;	/* made for him in vain, in a row */
	struct event	*timer;
} slots;

struct cg_base *
slots_base(void)
{
	return (slots.base);
}

unsigned
slots_ready(void)
{
	return (slots.ready);
}

unsigned
slots_making(void)
{
	return (slots.making);
}

struct slot *
slot_find(uint32_t n, uint32_t generation)
{
	if (n >= slots.n || slots.v[n].generation != generation)
		return (NULL);
	return (&slots.v[n]);
}

static void
arm(long us)
{
	struct timeval tv = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };

	if (!evtimer_pending(slots.timer, NULL))
		event_add(slots.timer, &tv);
}

static void
close_namespaces(struct slot *s)
{
	int *const fds[] = { &s->user_ns, &s->net_ns, &s->map_ns };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] != -1)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/* Back to empty, whatever was made of it. */
static void
unmake(struct slot *s)
{
	close_namespaces(s);
	if (cg_remove(slots.base, &s->cg) == -1)
		log_warn("cgroup of slot %u", s->n);
	s->generation++;
	s->state = SLOT_EMPTY;
}

/* 0 if its cgroups are gone, -1 if they have to be tried again. */
static int
clear(struct slot *s)
{
	if (cg_remove(slots.base, &s->cg) == -1)
		return (-1);
	FAULT("slot.cleared");
	s->generation++;
	s->state = SLOT_EMPTY;
	slots.spent--;
	return (0);
}

/* As many of those that are spent as there may not be. */
static void
clear_some(unsigned leave)
{
	unsigned i;

	for (i = 0; i < slots.n && slots.spent > leave; i++)
		if (slots.v[i].state == SLOT_SPENT)
			(void)clear(&slots.v[i]);
}

/* 1 if others are at work whom it would slow; not for ever. */
static int
defer(void)
{
	if (!neurons_busy() || slots.deferred >= DEFER_MOST) {
		slots.deferred = 0;
		return (0);
	}
	slots.deferred++;
	return (1);
}

static int
make(struct slot *s)
{
	const struct limits *limits = settings_profile(settings(),
	    "default");
	const char *failed = "";
	char name[32];
	struct imsg *m;

	snprintf(name, sizeof(name), "n-%u-%u", s->n, s->generation);
	/* Most neurons run one call at a time: see call.c for the others. */
	if (cg_make(slots.base, &s->cg, name, s->kuid, 1) == -1) {
		log_warn("cgroup %s", name);
		return (-1);
	}
	if (cg_limit(slots.base, &s->cg, limits, &failed) == -1) {
		log_warn("cgroup %s: %s", name, failed);
		unmake(s);
		return (-1);
	}
	FAULT("slot.cgroups");
	s->limits = *limits;
	m = imsg_new(MSG_NS_MAKE);
	imsg_put_u32(m, s->n);
	imsg_put_u32(m, s->generation);
	imsg_put_u32(m, s->kuid);
	imsg_put_u32(m, s->map_uid = slots.uid);
	imsg_put_u32(m, s->map_gid = slots.gid);
	if (helper_send(HELPER_MAKER, m) == -1) {
		unmake(s);
		return (-1);
	}
	s->state = SLOT_MAKING;
	slots.making++;
	FAULT("slot.asked");
	return (0);
}

/* 0 started, 1 no empty slot, -1 failed. */
static int
make_one(void)
{
	struct slot *s;
	unsigned i;

	for (i = 0; i < slots.n; i++) {
		s = &slots.v[(slots.next + i) % slots.n];
		if (s->state != SLOT_EMPTY)
			continue;
		slots.next = (s->n + 1) % slots.n;
		return (make(s));
	}
	return (1);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	if (slots.spent > 0) {
		if (!defer())
			clear_some(slots.spent - 1);
		arm(PAUSE_US);
	}
	if (!helper_is_up(HELPER_MAKER) || slots.making > 0 ||
	    slots.ready >= STOCK)
		return;
	/* Both need the kernel's one cgroup lock: a start goes first. */
	if (slots.ready > LOW && neurons_busy()) {
		arm(PAUSE_US);
		return;
	}
	if (make_one() == -1)
		arm(RETRY_US);
}

void
slots_poke(void)
{
	unsigned waiting = neurons_waiting();
	int r = 0;

	if (slots.v == NULL || !helper_is_up(HELPER_MAKER))
		return;
	/* Who waits while there is stock waits for something else. */
	while (r == 0 && slots.making < waiting && slots.making < AT_ONCE &&
	    slots.ready + slots.making < STOCK)
		if ((r = make_one()) == 1 && slots.spent > 0) {
			clear_some(0);
			r = make_one();
		}
	if (slots.making == 0 && slots.ready < STOCK)
		arm(r == -1 ? RETRY_US : PAUSE_US);
}

struct slot *
slot_take(void)
{
	unsigned i;

	for (i = 0; i < slots.n && slots.ready > 0; i++) {
		if (slots.v[i].state != SLOT_READY)
			continue;
		slots.v[i].state = SLOT_USED;
		slots.ready--;
		return (&slots.v[i]);
	}
	return (NULL);
}

struct slot *
slot_take_spare(void)
{
	return (slots.ready > LOW ? slot_take() : NULL);
}

void
slots_expect(uid_t uid, gid_t gid)
{
	slots.uid = uid;
	slots.gid = gid;
	slots.unwanted = 0;
}

int
slot_is_mapped(const struct slot *s, uid_t uid, gid_t gid)
{
	return (s->map_ns != -1 && s->map_uid == uid && s->map_gid == gid);
}

void
slot_unmap(struct slot *s)
{
	if (s->map_ns == -1)
		return;
	close(s->map_ns);
	s->map_ns = -1;
	if (++slots.unwanted == UNWANTED_MOST)
		slots_expect(0, 0);
}

void
slot_free(struct slot *s)
{
	close_namespaces(s);
	s->state = SLOT_SPENT;
	slots.spent++;
	clear_some(SPENT_MOST);
	arm(PAUSE_US);
	slots_poke();
}

int
slot_on_ns_made(void *arg, struct imsg *m)
{
	uint32_t n, generation, error;
	char step[128];
	struct slot *s;

	(void)arg;
	n = imsg_get_u32(m);
	generation = imsg_get_u32(m);
	error = imsg_get_u32(m);
	imsg_get_str(m, step, sizeof(step));
	if (imsg_end(m) == -1 || (error != 0 ? imsg_fds(m) != 0 :
	    imsg_fds(m) < 2))
		return (-1);
	if ((s = slot_find(n, generation)) == NULL ||
	    s->state != SLOT_MAKING)
		return (0);	/* asked for before the maker died */
	slots.making--;
	if (error != 0) {
		errno = (int)error;
		log_warn("namespaces for slot %u: %s", n, step);
		unmake(s);
		arm(RETRY_US);
		return (0);
	}
	FAULT("slot.made");
	s->user_ns = imsg_claim_fd(m, 0);
	s->net_ns = imsg_claim_fd(m, 1);
	s->map_ns = s->map_uid == 0 ? -1 : imsg_claim_fd(m, 2);
	s->state = SLOT_READY;
	slots.ready++;
	neurons_poke();
	slots_poke();
	pool_poke();
	proc_check_ready();
	return (0);
}

void
slots_maker_down(void)
{
	unsigned i;

	for (i = 0; i < slots.n; i++)
		if (slots.v[i].state == SLOT_MAKING)
			unmake(&slots.v[i]);
	slots.making = 0;
}

void
slots_init(struct cg_base *base, unsigned n)
{
	unsigned i;

	slots.base = base;
	slots.n = n;
	slots.v = calloc(n, sizeof(*slots.v));
	slots.timer = evtimer_new(proc_base(), on_timer, NULL);
	if (slots.v == NULL || slots.timer == NULL)
		fatal("slots");
	for (i = 0; i < n; i++) {
		slots.v[i].n = i;
		slots.v[i].user_ns = slots.v[i].net_ns = -1;
		slots.v[i].map_ns = -1;
		slots.v[i].kuid = settings()->uids_start + KUID_FIRST +
		    (WITHOUT(own_uid) ? 0 : i);
	}
	slots_poke();
}
