/*
 * What a reload can't change: what is made before the first child is started,
 * and what processes that run have built upon.
 */
#include <stdio.h>
#include <string.h>

#include "preflight.h"
#include "supervisor.h"

/* ---- entries that are said once ---- */

static bool
same_text(const char *a, const char *b)
{
	return (a == NULL || b == NULL ? a == b : strcmp(a, b) == 0);
}

static bool
same_instance(const struct slice *a, const struct slice *b)
{
	return (same_text(a->instance, b->instance));
}

static bool
same_state(const struct slice *a, const struct slice *b)
{
	return (same_text(a->state, b->state));
}

static bool
same_private(const struct slice *a, const struct slice *b)
{
	return (a->private == b->private);
}

static bool
same_uids(const struct slice *a, const struct slice *b)
{
	return (a->uids_start == b->uids_start &&
	    a->uids_count == b->uids_count);
}

static bool
same_cgroup(const struct slice *a, const struct slice *b)
{
	return (same_text(a->cgroup_parent, b->cgroup_parent));
}

static const struct {
	const char	*words;
	enum conf_once	 once;
	bool		(*same)(const struct slice *, const struct slice *);
} fixed[] = {
	{ "instance",		ONCE_INSTANCE,	same_instance },
	{ "state",		ONCE_STATE,	same_state },
	{ "private",		ONCE_PRIVATE,	same_private },
	{ "uids",		ONCE_UIDS,	same_uids },
	{ "cgroup parent",	ONCE_CGROUP,	same_cgroup },
};

#define NFIXED	(sizeof(fixed) / sizeof(fixed[0]))

/* Where an entry stands, or would have to. */
static void
say(struct supervisor *sv, const struct conf *conf, const struct where *where,
    const char *words)
{
	if (where != NULL && where->file != NULL && where->line != 0)
		complain(sv, "%s:%u: %s: the service must be started again "
		    "for that", where->file, where->line, words);
	else
		complain(sv, "%s: %s: the service must be started again for "
		    "that", conf->name, words);
}

static int
check_fixed(struct supervisor *sv, const struct conf *conf)
{
	char words[64];
	int result = 0;
	size_t i;

	for (i = 0; i < NFIXED; i++) {
		if (fixed[i].same(sv->conf->slice, conf->slice))
			continue;
		(void)snprintf(words, sizeof(words), "%s is another now",
		    fixed[i].words);
		say(sv, conf, &conf->once[fixed[i].once], words);
		result = -1;
	}
	return (result);
}

/* ---- sockets ---- */

static bool
same_listen(const struct cf_listen *a, const struct cf_listen *b)
{
	size_t i;

	if (a == NULL || b == NULL)
		return (a == b);
	if (a->gid != b->gid || a->mode != b->mode || a->flags != b->flags ||
	    a->port != b->port || a->hosts.n != b->hosts.n ||
	    !same_text(a->path, b->path))
		return (false);
	for (i = 0; i < a->hosts.n; i++) {
		if (!same_text(a->hosts.v[i], b->hosts.v[i]))
			return (false);
	}
	return (true);
}

/* They stay bound, with what the children accept on them. */
static int
check_listens(struct supervisor *sv, const struct conf *conf)
{
	static const enum cf_plane planes[] = { PLANE_AGENT, PLANE_OPERATOR };
	const struct cf_listen *a, *b;
	int result = 0;
	size_t i;

	for (i = 0; i < 2 * LISTENS_MAX; i++) {
		a = conf_listen_n(sv->conf, planes[i % 2], i / 2);
		b = conf_listen_n(conf, planes[i % 2], i / 2);
		if (same_listen(a, b))
			continue;
		say(sv, conf, b == NULL ? NULL : &b->where,
		    planes[i % 2] == PLANE_AGENT ? "listen api is another now" :
		    "listen operator is another now");
		result = -1;
	}
	return (result);
}

/* ---- limits ---- */

/* neurond has as many slots as it made at its start. */
static int
check_neurons(struct supervisor *sv, const struct conf *conf)
{
	if (conf->slice->limits.v[LIMIT_NEURONS] <= sv->neurons)
		return (0);
	say(sv, conf, &conf->limit[LIMIT_NEURONS], "neurons is more than at "
	    "the start");
	return (-1);
}

int
reload_same(struct supervisor *sv, struct conf *conf)
{
	const struct where *where = &conf->limit[LIMIT_RUNNING_HOST];
	char why[WHY_MAX];
	int result;

	/* A block that was chosen at the start is not chosen again. */
	if (conf->slice->private && !conf->uids_given)
		conf->slice->uids_start = sv->conf->slice->uids_start;
	result = check_fixed(sv, conf);
	if (check_listens(sv, conf) == -1 || check_neurons(sv, conf) == -1)
		result = -1;
	if (preflight(conf->slice, why) == -1) {
		complain(sv, "%s:%u: %s", where->file == NULL ? conf->name :
		    where->file, where->line, why);
		result = -1;
	}
	return (result);
}
