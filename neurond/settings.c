/*
 * Checking and keeping neurond's slice.
 */
#include <sys/resource.h>
#include <stdio.h>
#include <string.h>

#include "maker.h"
#include "proc.h"
#include "settings.h"
#include "without.h"

static struct slice *current, *before;
static uint64_t slots;		/* made at the start */

static uint64_t
slots_of(const struct slice *s)
{
	return (s->limits.v[LIMIT_NEURONS] + SLOTS_STOCK + SLOTS_DYING +
	    SLOTS_POOL);
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

/*
 * The most open files that a neuron can have: it inherits from us.  Who only
 * checks a configuration may have less than the service will.
 */
static unsigned long long
nofile_most(void)
{
	unsigned long long most = 0;
	struct rlimit rl;
	FILE *f;

	if (!(proc_flags() & PROC_F_CHECK))
		return (getrlimit(RLIMIT_NOFILE, &rl) == -1 ? 0 : rl.rlim_max);
	if ((f = fopen("/proc/sys/fs/nr_open", "re")) == NULL)
		return (~0ULL);
	if (fscanf(f, "%llu", &most) != 1)
		most = ~0ULL;
	fclose(f);
	return (most);
}

static int
nofile_check(struct slice *s)
{
	static const char words[] = "%s%s%snofile %llu: the host allows the "
	    "service %llu (fs.nr_open, LimitNOFILE=)";
	const struct where none = { 0 };
	unsigned long long most = nofile_most(), want;
	size_t i;

	for (i = 0; i < s->nprofiles; i++) {
		want = s->profiles[i].limits.v[LIMIT_NOFILE];
		if (want > most)
			return (slice_bad(s, &s->profiles[i].where, words,
			    "profile \"", s->profiles[i].name, "\": ", want,
			    most));
	}
	want = s->limits.v[LIMIT_NOFILE];
	if (want > most)
		return (slice_bad(s, &none, words, "", "", "", want, most));
	return (0);
}

/* A profile that names a pool has one; all together no more than slots. */
static int
pool_check(struct slice *s)
{
	uint64_t all = 0, n;
	size_t i;

	for (i = 0; i < s->nprofiles; i++) {
		n = s->profiles[i].limits.v[LIMIT_POOL];
		if (settings_plain(s, s->profiles[i].name, 0)) {
			all += n;
			if (all > SLOTS_POOL)
				return (slice_bad(s, &s->profiles[i].where,
				    "profile \"%s\": pool %llu: of all "
				    "profiles together %llu, the most is %d",
				    s->profiles[i].name, (unsigned long long)n,
				    (unsigned long long)all, SLOTS_POOL));
		} else if (n > 0 &&
		    strcmp(s->profiles[i].name, "default") != 0)
			return (slice_bad(s, &s->profiles[i].where,
			    "profile \"%s\": pool %llu: neurons with egress, "
			    "mounts, a root or the variant strict can't be "
			    "made before they are asked for",
			    s->profiles[i].name, (unsigned long long)n));
	}
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
	if (block_check(s) == -1 || nofile_check(s) == -1 ||
	    pool_check(s) == -1)
		return (-1);
	if (old != NULL && (old->uids_start != s->uids_start ||
	    old->uids_count != s->uids_count))
		return (slice_bad(s, &none, "uids change only when the "
		    "service is started again"));
	if (old != NULL && slots_of(s) > slots)
		return (slice_bad(s, &none, "neurons: more than at the start "
		    "of neurond"));
	return (0);
}

void
settings_set(struct slice *s)
{
	settings_forget();
	before = current;
	current = s;
	if (slots == 0)
		slots = slots_of(s);
}

void
settings_forget(void)
{
	slice_free(before);
	before = NULL;
}

const struct slice *
settings(void)
{
	return (current);
}

const struct slice *
settings_of(uint32_t generation)
{
	if (current != NULL && current->generation == generation)
		return (current);
	if (before != NULL && before->generation == generation)
		return (before);
	return (NULL);
}

const struct limits *
settings_profile(const struct slice *s, const char *name)
{
	const struct cf_profile *profile;

	if ((profile = slice_profile(s, name)) != NULL)
		return (&profile->limits);
	return (strcmp(name, "default") == 0 ? &s->limits : NULL);
}

int
settings_read_only(const struct slice *s, const char *name)
{
	const struct cf_profile *profile = slice_profile(s, name);

	return (profile != NULL && profile->read_only &&
	    !WITHOUT(workspace_read_only));
}

const struct cf_trees *
settings_trees(const struct slice *s, const char *name)
{
	const struct cf_profile *profile = slice_profile(s, name);

	return (profile == NULL ? NULL : &profile->trees);
}

int
settings_shows(const struct slice *s, const char *name, const char *workspace)
{
	const struct cf_trees *t = settings_trees(s, name);
	size_t i;

	for (i = 0; t != NULL && i < t->nmounts; i++)
		if (path_within(workspace, t->mounts[i].at) ||
		    path_within(t->mounts[i].at, workspace))
			return (1);
	return (0);
}

unsigned
settings_listeners(const struct slice *s, const char *name)
{
	const struct cf_profile *profile = slice_profile(s, name);

	if (WITHOUT(egress_asked_for))
		return (LISTENERS_ALL);
	return (profile == NULL ? 0 : egress_listeners(&profile->egress));
}

int
settings_plain(const struct slice *s, const char *name, int no_egress)
{
	const struct cf_trees *t = settings_trees(s, name);

	return ((no_egress || settings_listeners(s, name) == 0) &&
	    !settings_strict(s, name) && (t == NULL ||
	    (t->root == NULL && t->nmounts == 0)));
}

int
settings_strict(const struct slice *s, const char *name)
{
	const struct cf_profile *profile = slice_profile(s, name);

	return (profile != NULL && profile->variant == VARIANT_STRICT);
}

unsigned
settings_slots(void)
{
	return ((unsigned)slots);
}
