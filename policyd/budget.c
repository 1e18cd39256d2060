/* Identities and their sliding hours. */

#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "util.h"
#include "without.h"

#define REFUSALS_MINUTE	30	/* that get a record, of an identity */
#define MINUTE_US	UINT64_C(60000000)

RB_HEAD(ident_tree, ident);

static int ident_cmp(const struct ident *, const struct ident *);

RB_PROTOTYPE(ident_tree, ident, entry, ident_cmp)
RB_GENERATE(ident_tree, ident, entry, ident_cmp)

static struct ident_tree idents = RB_INITIALIZER(&idents);

static int
ident_cmp(const struct ident *a, const struct ident *b)
{
	return (a->uid < b->uid ? -1 : a->uid > b->uid);
}

/* Moves the hour on to now, emptying the seconds that left it. */
static uint64_t
hour_advance(struct hour *h, uint64_t now)
{
	uint64_t second;

	if (now <= h->last)
		return (h->last);
	if (now - h->last >= HOUR_SECONDS) {
		memset(h->slots, 0, sizeof(h->slots));
		h->total = 0;
	} else {
		for (second = h->last + 1; second <= now; second++) {
			h->total -= h->slots[second % HOUR_SECONDS];
			h->slots[second % HOUR_SECONDS] = 0;
		}
	}
	h->last = now;
	return (now);
}

void
hour_add(struct hour *h, uint64_t now, uint32_t count)
{
	now = hour_advance(h, now);
	h->slots[now % HOUR_SECONDS] += count;
	h->total += count;
}

uint64_t
hour_total(struct hour *h, uint64_t now)
{
	hour_advance(h, now);
	return (h->total);
}

uint32_t
hour_wait(struct hour *h, uint64_t now, uint64_t limit)
{
	uint64_t left;
	uint32_t wait;

	now = hour_advance(h, now);
	left = h->total;
	for (wait = 0; left >= limit && wait < HOUR_SECONDS; wait++)
		left -= h->slots[(now + wait + 1) % HOUR_SECONDS];
	return (wait);
}

struct ident *
ident_get(uid_t uid)
{
	struct ident key, *ident;

	key.uid = uid;
	if ((ident = RB_FIND(ident_tree, &idents, &key)) == NULL) {
		if ((ident = calloc(1, sizeof(*ident))) == NULL)
			return (NULL);
		ident->uid = uid;
		RB_INSERT(ident_tree, &idents, ident);
	}
	ident->refs++;
	return (ident);
}

/* Whole minutes of the clock that never jumps. */
static uint64_t
minutes(void)
{
	return (now_us() / MINUTE_US);
}

static void
ident_forget(struct ident *ident)
{
	if (ident->refs != 0 || (ident->hour != NULL &&
	    hour_total(ident->hour, wall_seconds()) != 0))
		return;
	if (ident->dry != 0 && ident->dry_minute == minutes())
		return;
	RB_REMOVE(ident_tree, &idents, ident);
	free(ident->hour);
	free(ident);
}

void
ident_put(struct ident *ident)
{
	if (ident == NULL)
		return;
	ident->refs--;
	ident_forget(ident);
}

int
ident_spend(struct ident *ident, uint64_t second, uint32_t count)
{
	if (ident->hour == NULL &&
	    (ident->hour = calloc(1, sizeof(*ident->hour))) == NULL)
		return (-1);
	hour_add(ident->hour, second, count);
	return (0);
}

uint32_t
ident_wait(struct ident *ident, uint64_t limit)
{
	if (ident->hour == NULL || WITHOUT(hourly_budget))
		return (0);
	return (hour_wait(ident->hour, wall_seconds(), limit));
}

uint64_t
ident_spent(struct ident *ident)
{
	if (ident->hour == NULL)
		return (0);
	return (hour_total(ident->hour, wall_seconds()));
}

int
ident_refused(struct ident *ident)
{
	uint64_t minute = wall_seconds() / 60;

	if (minute != ident->minute) {
		ident->minute = minute;
		ident->refused = 0;
	}
	return (ident->refused++ < REFUSALS_MINUTE);
}

uint32_t
ident_dry(struct ident *ident, uint64_t limit)
{
	uint64_t minute = minutes();

	if (minute != ident->dry_minute) {
		ident->dry_minute = minute;
		ident->dry = 0;
	}
	if (ident->dry >= limit && !WITHOUT(dry_runs))
		return ((uint32_t)(((minute + 1) * MINUTE_US - now_us()) /
		    1000000) + 1);
	ident->dry++;
	return (0);
}

void
ident_sweep(void)
{
	struct ident *ident, *next;

	RB_FOREACH_SAFE(ident, ident_tree, &idents, next)
		ident_forget(ident);
}
