/* Persistent neurons: the list, the inventory, idle expiry, destruction. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "audit.h"
#include "home.h"
#include "keys.h"
#include "launch.h"
#include "neuron.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "without.h"

#define STEP_US		60000000	/* of the clock; less is drift */
#define GRACE_US	600000000	/* for the clock to be set at a start */
#define UNCLAIMED_SHOWN	32	/* homes of no neuron whose ids are told */

static struct home_list	homes = TAILQ_HEAD_INITIALIZER(homes);
static struct event	*clock_event;
static uint64_t		 last_stamp;
static uint64_t		 clock_wall, clock_steady;	/* looked at last */

/* What neurond said that there is. */
static struct {
	int		 known;		/* since it was started */
	int		 asked;		/* and has not ended its answer */
	uint64_t	 when;		/* us of the day: asked last */
	unsigned	 unclaimed;	/* homes of no neuron */
	unsigned	 counting;	/* the same, of the answer under way */
	char		 ids[UNCLAIMED_SHOWN][ID_SIZE];
} inventory;

static void	homes_clock(void);
static void	home_save(const struct home *);

const struct home_list *
home_all(void)
{
	return (&homes);
}

struct home *
home_find(const char *id)
{
	struct home *h;

	TAILQ_FOREACH(h, &homes, entry)
		if (strcmp(h->row.id, id) == 0)
			return (h);
	return (NULL);
}

/*
 * A step of the day's clock is no time that nobody used them: they are as idle
 * behind it as before.
 */
static void
clock_look(void)
{
	uint64_t wall = wall_us(), steady = now_us();
	struct home *h;
	int64_t ahead;

	ahead = (int64_t)(wall - clock_wall) - (int64_t)(steady - clock_steady);
	clock_wall = wall;
	clock_steady = steady;
	if ((ahead < STEP_US && ahead > -STEP_US) || WITHOUT(home_clock))
		return;
	log_info("the clock of the day went %lld s ahead",
	    (long long)(ahead / 1000000));
	TAILQ_FOREACH(h, &homes, entry) {
		if ((int64_t)h->row.used + ahead < 0)
			continue;
		h->row.used += (uint64_t)ahead;
		home_save(h);
	}
}

static uint64_t
day_us(void)
{
	clock_look();
	return (wall_us());
}

uint64_t
home_stamp(void)
{
	uint64_t now = day_us();

	last_stamp = now > last_stamp ? now : last_stamp + 1;
	return (last_stamp);
}

static void
home_free(struct home *h)
{
	TAILQ_REMOVE(&homes, h, entry);
	free(h);
}

/* A change that is written again with the next one is not worth an alarm. */
static void
home_save(const struct home *h)
{
	if (store_home_set(&h->row) == -1)
		sync_failed();
	sync_soon();
}

/* ---- start ---- */

struct home *
home_add(const struct home_row *row)
{
	struct home *h;

	if ((h = calloc(1, sizeof(*h))) == NULL)
		fatal("neuron");
	h->row = *row;
	TAILQ_INSERT_HEAD(&homes, h, entry);
	if (row->created > last_stamp)
		last_stamp = row->created;
	homes_clock();
	return (h);
}

static int
homes_keep(void *arg, const struct home_row *row)
{
	(void)arg;
	(void)home_add(row);
	return (0);
}

static void
homes_tick(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	homes_clock();
}

int
homes_start(void)
{
	memset(&inventory, 0, sizeof(inventory));
	clock_wall = wall_us();
	clock_steady = now_us();
	if ((clock_event = evtimer_new(policyd_base(), homes_tick, NULL)) ==
	    NULL || store_homes(homes_keep, NULL) == -1) {
		log_warnx("state.db: persistent neurons can not be read");
		return (-1);
	}
	return (0);
}

void
homes_end(void)
{
	struct home *h;

	while ((h = TAILQ_FIRST(&homes)) != NULL) {
		if (h->neuron != NULL)
			h->neuron->home = NULL;
		home_free(h);
	}
	if (clock_event != NULL)
		event_free(clock_event);
	clock_event = NULL;
}

/* ---- use ---- */

static int
refuse_busy(const struct home *h, struct refusal *r)
{
	const struct session *s = h->neuron->session;

	if (s != NULL)
		return (refuse(r, 409, "neuron_busy", "neuron %s is used by "
		    "session %s; it has one at a time", h->row.id,
		    s->row.id));
	return (refuse_later(r, 409, "neuron_busy", 1, "neuron %s is still "
	    "being left by the session before", h->row.id));
}

struct home *
home_ready(const char *id, const struct ident *ident, struct refusal *r)
{
	struct home *h = id_ok(ID_NEURON, id) ? home_find(id) : NULL;

	if (h == NULL || (h->row.principal != (uint32_t)ident->uid &&
	    !WITHOUT(home_owner)))
		refuse(r, 404, "not_found", "there is no persistent neuron "
		    "\"%s\" of yours", id);
	else if (h->row.reason[0] != '\0')
		refuse(r, 409, "conflict", "neuron %s is being destroyed",
		    id);
	else if (h->neuron != NULL && !WITHOUT(home_busy))
		refuse_busy(h, r);
	else if (!inventory.known)
		refuse_later(r, 503, "unavailable", 1, "neurond has not said "
		    "yet which homes there are; try again");
	else if (h->lost && !WITHOUT(home_lost))
		refuse(r, 409, "conflict", "neuron %s is lost: its home is "
		    "not there any more; destroy it, or put the home back",
		    id);
	else
		return (h);
	return (NULL);
}

void
home_wanted(const struct home *h, struct wanted *w)
{
	memset(w, 0, sizeof(*w));
	strlcpy(w->profile, h->row.profile, sizeof(w->profile));
	strlcpy(w->workspace, h->row.workspace, sizeof(w->workspace));
	w->owner_uid = h->row.owner_uid;
	w->owner_gid = h->row.owner_gid;
	w->read_only = h->row.read_only;
}

uint32_t
home_make_flags(const struct home *h)
{
	if (h == NULL)
		return (0);
	return (MAKE_F_PERSISTENT | (h->row.made != 0 ? MAKE_F_KEPT : 0));
}

void
home_taken(struct home *h, struct neuron *n)
{
	h->neuron = n;
	h->row.used = day_us();
}

void
home_up(struct home *h)
{
	h->row.used = day_us();
	if (h->row.made == 0)
		h->row.made = h->row.used;
	h->seen = 1;
	home_save(h);
}

static void	home_go(struct home *);

void
home_down(struct home *h)
{
	h->neuron = NULL;
	h->row.used = day_us();
	home_save(h);
	if (h->row.reason[0] != '\0')
		home_go(h);
	else
		homes_clock();
}

void
home_was_used(const char *id)
{
	struct home *h = home_find(id);

	if (h == NULL)
		return;
	h->row.used = day_us();
	home_save(h);
}

/* ---- what there is ---- */

static void
inventory_ask(void)
{
	if (inventory.asked || launch_homes() == -1)
		return;
	inventory.asked = 1;
	inventory.counting = 0;
	inventory.when = wall_us();
}

void
homes_launch_up(void)
{
	struct home *h;

	inventory.known = inventory.asked = 0;
	TAILQ_FOREACH(h, &homes, entry)
		h->seen = 0;
	inventory_ask();
}

void
homes_launch_lost(void)
{
	struct refusal r;
	struct home *h;

	inventory.known = inventory.asked = 0;
	TAILQ_FOREACH(h, &homes, entry) {
		h->dropping = 0;
		if (h->ending.api == NULL)
			continue;
		refuse_later(&r, 503, "unavailable", 1, "neurond ended; "
		    "neuron %s is destroyed once it is there again",
		    h->row.id);
		reply_refusal(&h->ending, &r);
		h->ending.api = NULL;
	}
}

int
home_on_home(void *arg, struct imsg *m)
{
	uint64_t bytes, made;
	struct home *h;
	char id[ID_SIZE];

	(void)arg;
	bytes = imsg_get_u64(m);
	made = imsg_get_u64(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || !inventory.asked || !id_ok(ID_NEURON, id))
		return (-1);
	if ((h = home_find(id)) == NULL) {
		if (inventory.counting < UNCLAIMED_SHOWN)
			strlcpy(inventory.ids[inventory.counting], id,
			    ID_SIZE);
		inventory.counting++;
		return (0);
	}
	h->seen = 1;
	h->bytes = bytes;
	if (h->row.made == 0) {
		h->row.made = made != 0 ? made * 1000000 : wall_us();
		home_save(h);
	}
	return (0);
}

/*
 * A home that was made while neurond looked need not be in its answer, nor
 * one that lives be visible.
 */
static void
home_look(struct home *h)
{
	int lost = !h->seen && h->neuron == NULL && h->row.made != 0 &&
	    h->row.made < inventory.when;

	h->seen = 0;
	if (lost == h->lost)
		return;
	h->lost = lost;
	if (lost) {
		h->bytes = 0;
		log_warnx("neuron %s is lost: its home is not there any more",
		    h->row.id);
	} else
		log_info("neuron %s is there again", h->row.id);
	audit_append(lost ? "neuron.lost" : "neuron.found", json_pack(
	    "{s:s,s:o}", "neuron", h->row.id, "principal",
	    principal_json(h->row.principal)));
	sync_soon();
}

int
home_on_end(void *arg, struct imsg *m)
{
	struct home *h, *next;
	uint32_t count;

	(void)arg;
	count = imsg_get_u32(m);
	if (imsg_end(m) == -1 || !inventory.asked)
		return (-1);
	TAILQ_FOREACH(h, &homes, entry)
		home_look(h);
	if (inventory.counting > 0 &&
	    inventory.counting != inventory.unclaimed)
		log_warnx("%u of %u homes are no neuron's, the first %s; they "
		    "are kept", inventory.counting, (unsigned)count,
		    inventory.ids[0]);
	inventory.unclaimed = inventory.counting;
	inventory.asked = 0;
	inventory.known = 1;
	/* what was begun before neurond, or this process, was started */
	TAILQ_FOREACH_SAFE(h, &homes, entry, next)
		if (h->row.reason[0] != '\0')
			home_go(h);
	homes_clock();
	return (0);
}

void
homes_chores(void)
{
	struct home *h;

	clock_look();
	TAILQ_FOREACH(h, &homes, entry)
		if (h->row.reason[0] != '\0')
			home_go(h);
	/* sizes, and what somebody has removed by hand */
	if (inventory.known && !TAILQ_EMPTY(&homes))
		inventory_ask();
}

/* ---- the end ---- */

/* Goes on with a destruction: its session, its neuron, its home. */
static void
home_go(struct home *h)
{
	if (h->neuron != NULL) {
		if (h->neuron->session != NULL)
			session_destroyed(h->neuron->session);
		return;		/* home_down() comes back here */
	}
	if (h->dropping || !inventory.known || launch_home_drop(h->row.id) ==
	    -1)
		return;
	h->dropping = 1;
}

static json_t *
destroyed_json(const struct home *h)
{
	return (json_pack("{s:s,s:s,s:s}", "neuron", h->row.id,
	    "state", "destroyed", "reason", h->row.reason));
}

int
home_on_dropped(void *arg, struct imsg *m)
{
	char id[ID_SIZE], why[1024];
	struct refusal r;
	struct home *h;
	uint32_t error;

	(void)arg;
	error = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	get_words(m, why, sizeof(why));
	if (imsg_end(m) == -1)
		return (-1);
	if ((h = home_find(id)) == NULL || !h->dropping)
		return (0);
	h->dropping = 0;
	if (error == 0 || error == ENOENT) {
		if (store_home_delete(id) == -1)
			sync_failed();
		sync_soon();
		reply_json(&h->ending, 200, destroyed_json(h));
		home_free(h);
		return (0);
	}
	log_warnx("neuron %s can not be destroyed yet: %s", id, why);
	refuse_later(&r, 503, "unavailable", 60, "neuron %s can not be "
	    "destroyed yet, which is tried again: %s", id, why);
	reply_refusal(&h->ending, &r);
	h->ending.api = NULL;
	return (0);
}

/* On the disk before it has an effect: what goes does not come back. */
static int
destroy_record(struct home *h, const char *reason, const char *by,
    const struct reply_to *to)
{
	if (WITHOUT(home_record)) {
		strlcpy(h->row.reason, reason, sizeof(h->row.reason));
		return (0);
	}
	audit_append_for(to, "neuron.destroyed", json_pack("{s:s,s:o,s:s,s:o}",
	    "neuron", h->row.id,
	    "principal", principal_json(h->row.principal),
	    "reason", reason, "by", json_text_or_null(by)));
	if (sync_now() == -1)
		return (-1);
	strlcpy(h->row.reason, reason, sizeof(h->row.reason));
	if (store_home_set(&h->row) == 0 && sync_now() == 0)
		return (0);
	h->row.reason[0] = '\0';
	sync_failed();
	return (-1);
}

void
home_destroy(struct home *h, const char *reason, const char *by,
    const struct reply_to *to)
{
	struct refusal r;

	if (h->row.reason[0] != '\0' && (to == NULL ||
	    h->ending.api != NULL)) {
		if (to == NULL)
			return;
		refuse(&r, 409, "conflict", "neuron %s is being destroyed",
		    h->row.id);
		reply_refusal(to, &r);
		return;
	}
	if (h->row.reason[0] == '\0' &&
	    destroy_record(h, reason, by, to) == -1) {
		refuse_later(&r, 503, "unavailable", 1, "store_full: that it "
		    "is destroyed can not be recorded");
		if (to != NULL)
			reply_refusal(to, &r);
		return;
	}
	if (to != NULL)
		h->ending = *to;
	log_info("neuron %s is destroyed: %s", h->row.id, reason);
	home_go(h);
}

/* ---- idle expiry ---- */

/*
 * When it goes.  Behind a start not at once, though, whatever the time is: a
 * host's clock may be years ahead until it has been set.
 */
static uint64_t
home_due(const struct home *h, uint64_t now)
{
	uint64_t due = h->row.used + h->row.idle, grace;

	grace = h->row.idle < GRACE_US ? h->row.idle : GRACE_US;
	if (policyd_uptime() < grace && due < now + grace - policyd_uptime())
		due = now + grace - policyd_uptime();
	return (due);
}

/*
 * Destroys those that nobody used for their time, and comes again when the
 * next one is due.  None goes before neurond has said which there are.
 */
static void
homes_clock(void)
{
	uint64_t now = day_us(), next = UINT64_MAX, due;
	struct home *h, *after;
	struct timeval tv;

	if (clock_event == NULL || !inventory.known)
		return;
	TAILQ_FOREACH_SAFE(h, &homes, entry, after) {
		if (h->neuron != NULL || h->row.reason[0] != '\0')
			continue;
		due = home_due(h, now);
		if (due <= now)
			home_destroy(h, "expired", NULL, NULL);
		if (due <= now)	/* if it could not be recorded, soon again */
			due = now + 10000000;
		if (due < next)
			next = due;
	}
	if (next == UINT64_MAX)
		return;
	/* the clock of the day may be set: an hour is as far as it reaches */
	next -= now;
	tv = us_timeval(next < 3600000000 ? next + 1000 : 3600000000);
	evtimer_add(clock_event, &tv);
}

/* ---- status ---- */

json_t *
homes_status(void)
{
	unsigned count = 0, live = 0, lost = 0, i;
	json_t *ids = json_array();
	uint64_t bytes = 0;
	struct home *h;

	TAILQ_FOREACH(h, &homes, entry) {
		count++;
		live += h->neuron != NULL;
		lost += h->lost != 0;
		bytes += h->bytes;
	}
	for (i = 0; i < inventory.unclaimed && i < UNCLAIMED_SHOWN; i++)
		json_array_append_new(ids, json_string(inventory.ids[i]));
	return (json_pack("{s:i,s:I,s:i,s:i,s:I,s:i,s:o,s:b}",
	    "count", (int)count,
	    "limit", (json_int_t)conf_limit(LIMIT_HOMES),
	    "live", (int)live, "lost", (int)lost,
	    "bytes", (json_int_t)bytes,
	    "unclaimed", (int)inventory.unclaimed, "unclaimed_ids", ids,
	    "known", inventory.known));
}
