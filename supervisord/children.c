/* The processes: this table is the architecture. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor.h"

const struct child_spec child_table[CHILD_COUNT] = {
	[CHILD_APID] = { "apid", "apid", "apid", "_myelin-api", 1,
	    ROOT_EMPTY, SLICE_LISTENS | SLICE_PROFILES, PLANE_AGENT,
	    FILES_LISTEN | FILES_TOOLS, { 256, 8, 2, 0 }, 2000, false, NULL },
	[CHILD_APID_OPERATOR] = { "apid-operator", "apid", "apid",
	    "_myelin-op", 2, ROOT_EMPTY, SLICE_LISTENS, PLANE_OPERATOR,
	    FILES_LISTEN | FILES_TOOLS, { 256, 0, 2, 0 }, 2000, false, NULL },
	[CHILD_POLICYD] = { "policyd", "policyd", "policyd",
	    "_myelin-policy", 4, ROOT_POLICY, SLICE_STATE | SLICE_PROFILES |
	    SLICE_PRINCIPALS | SLICE_OPERATORS | SLICE_PRESETS |
	    SLICE_LISTENS | SLICE_HOOKS | SLICE_SOURCES, 0,
	    FILES_SEAL | FILES_HOOKS, { 256, 8, 2, 0 }, 2000, false, NULL },
	[CHILD_JUDGED] = { "judged", "judged", "judged", "_myelin-judge", 3,
	    ROOT_EMPTY, SLICE_ENV | SLICE_RULES, 0, FILES_TOOLS,
	    { 256, 4, 0, 0 }, 2000, false, NULL },
	[CHILD_EGRESSD] = { "egressd", "egressd", "egressd",
	    "_myelin-egress", 5, ROOT_EMPTY, SLICE_PROFILES, 0, FILES_EGRESS,
	    { 1024, 0, 0, 16 }, 2000, false, "egress" },
	/* A neuron has up to 29: PID 1's channel and pidfd, 4 cgroups, 16
	 * leaves, 4 listeners, 2 of its workspace's place, its home's lock. */
	[CHILD_NEUROND] = { "neurond", "neurond", "neurond", NULL, 0,
	    ROOT_NONE, SLICE_STATE | SLICE_NEURONS | SLICE_PROFILES |
	    SLICE_PRINCIPALS, 0, FILES_HELPERS, { 1024, 8, 0, 32 }, 5000,
	    true, NULL },
};

#define EGRESS_FILES		6	/* of a connection */
#define EGRESS_FILES_MAX	65536

/* Owns persistent homes; no process runs as it. */
#define HOMES_USER	"_myelin-neuron"

void
children_init(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		c->spec = &child_table[i];
		c->sv = sv;
		c->state = CHILD_DOWN;
		c->program = -1;
		c->up_since = -1;
		if (c->spec->plane == 0)
			continue;
		sockets_take(c, sv->conf);
		/* Without a socket there is nothing for it to do. */
		if (c->nsockets == 0)
			c->state = CHILD_ABSENT;
	}
}

static int
user_ids(const char *name, uid_t *uid, gid_t *gid, char *why)
{
	struct passwd *pw;

	if ((pw = getpwnam(name)) == NULL)
		return (why_say(why, "there is no user %s: systemd-sysusers(8) "
		    "makes it from Myelin's sysusers.d file; or say "
		    "\"private yes\"", name));
	if (pw->pw_uid == 0 || pw->pw_gid == 0)
		return (why_say(why, "user %s has uid or gid 0", name));
	*uid = pw->pw_uid;
	*gid = pw->pw_gid;
	return (0);
}

int
children_ids(struct supervisor *sv, char why[WHY_MAX])
{
	struct child *c;
	uid_t uid;
	gid_t gid;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->spec->user == NULL)
			continue;
		if (sv->conf->slice->private) {
			c->uid = sv->uids.start + c->spec->offset;
			c->gid = c->uid;
		} else if (user_ids(c->spec->user, &c->uid, &c->gid, why) ==
		    -1)
			return (-1);
	}
	if (!sv->conf->slice->private &&
	    user_ids(HOMES_USER, &uid, &gid, why) == -1)
		return (-1);
	return (0);
}

static uint64_t
most_of_profiles(const struct slice *s, enum limit limit)
{
	uint64_t most = s->limits.v[limit];
	size_t i;

	for (i = 0; i < s->nprofiles; i++)
		if (s->profiles[i].limits.v[limit] > most)
			most = s->profiles[i].limits.v[limit];
	return (most);
}

/*
 * Two sockets and two pipes for each connection that neurons may have, but no
 * more than what a host has to give: egressd refuses those that are too many.
 */
static uint64_t
nofile_connections(const struct slice *s)
{
	return (s->limits.v[LIMIT_NEURONS] *
	    most_of_profiles(s, LIMIT_EGRESS_CONNECTIONS) * EGRESS_FILES);
}

uint32_t
child_nofile_own(const struct child *c, const struct slice *s)
{
	const uint64_t *v = s->limits.v;
	const uint32_t *n = c->spec->nofile;
	uint64_t sockets = c->nsockets > 1 ? c->nsockets : 1;

	/* a call that waits for a person has its pipes and memfds, too */
	return ((uint32_t)(n[0] + n[1] * (v[LIMIT_RUNNING_HOST] +
	    v[LIMIT_APPROVALS_HOST]) +
	    n[2] * v[LIMIT_CONNECTIONS] * sockets + n[3] * v[LIMIT_NEURONS]));
}

uint32_t
child_nofile(const struct child *c, const struct slice *s)
{
	uint32_t own = child_nofile_own(c, s);
	uint64_t most = 0;

	/* Neurons can have no more than what neurond has. */
	if (c->spec == &child_table[CHILD_NEUROND])
		most = most_of_profiles(s, LIMIT_NOFILE);
	if (c->spec == &child_table[CHILD_EGRESSD])
		most = own + nofile_connections(s);
	if (c->spec == &child_table[CHILD_EGRESSD] && most > EGRESS_FILES_MAX)
		most = EGRESS_FILES_MAX;
	return (own > most ? own : (uint32_t)most);
}

int
child_root(const struct child *c, char *path, size_t size)
{
	static const char *const names[] = {
		[ROOT_EMPTY] = "empty", [ROOT_POLICY] = "policy"
	};
	int n;

	path[0] = '\0';
	if (c->spec->root == ROOT_NONE)
		return (0);
	n = snprintf(path, size, "%s/%s", c->sv->conf->slice->state,
	    names[c->spec->root]);
	return (n < 0 || (size_t)n >= size ? -1 : 0);
}
