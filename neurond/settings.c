/*
 * Checking and keeping neurond's slice.
 */
#include <string.h>

#include "maker.h"
#include "settings.h"

static struct slice *current;

static uint64_t
slots_of(const struct slice *s)
{
	return (s->limits.v[LIMIT_NEURONS] + SLOTS_STOCK + SLOTS_DYING);
}

static int
block_check(struct slice *s)
{
	const struct where none = { 0 };
	uint64_t end = (uint64_t)s->uids_start + s->uids_count;

	if (s->uids_count < KUID_FIRST + slots_of(s))
		return (slice_bad(s, &none, "uids: a block of %u is too small "
		    "for %llu neurons", s->uids_count,
		    (unsigned long long)s->limits.v[LIMIT_NEURONS]));
	if (s->uids_start < 1000 || end > UINT32_MAX)
		return (slice_bad(s, &none, "uids: a block from %u is not for "
		    "neurons", s->uids_start));
	if (s->uids_start < PARKED_START + PARKED_COUNT && end > PARKED_START)
		return (slice_bad(s, &none, "uids: the block meets %u to %u, "
		    "which files of other groups are mapped to", PARKED_START,
		    PARKED_START + PARKED_COUNT - 1));
	return (0);
}

int
settings_check(struct slice *s, const struct slice *old)
{
	const struct where none = { 0 };
	size_t i;

	for (i = 0; i < s->nprofiles; i++)
		if (s->profiles[i].mode != MODE_NATIVE)
			return (slice_bad(s, &s->profiles[i].where,
			    "profile \"%s\": no such mode",
			    s->profiles[i].name));
	if (block_check(s) == -1)
		return (-1);
	if (old != NULL && (old->uids_start != s->uids_start ||
	    old->uids_count != s->uids_count ||
	    slots_of(old) != slots_of(s)))
		return (slice_bad(s, &none, "uids and neurons change only "
		    "when the service is started again"));
	return (0);
}

void
settings_set(struct slice *s)
{
	if (s != current)
		slice_free(current);
	current = s;
}

const struct slice *
settings(void)
{
	return (current);
}

const struct limits *
settings_profile(const char *name)
{
	const struct cf_profile *profile;

	if ((profile = slice_profile(current, name)) != NULL)
		return (&profile->limits);
	return (strcmp(name, "default") == 0 ? &current->limits : NULL);
}

unsigned
settings_slots(void)
{
	return ((unsigned)slots_of(current));
}
