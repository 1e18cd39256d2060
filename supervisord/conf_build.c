/* Filling the slice: how a profile's neurons are built. */
#include <sys/stat.h>
#include <stdio.h>
#include <string.h>

#include "conf_int.h"

static struct cf_profile *
current(struct parser *ps)
{
	struct slice *s = ps->conf->slice;

	return (&s->profiles[s->nprofiles - 1]);
}

void
set_profile_variant(struct parser *ps, struct pos pos, const char *word)
{
	struct given *given = &ps->given[ps->conf->slice->nprofiles - 1];

	if (given->variant)
		conf_error(ps, pos, "variant was given already in this "
		    "profile");
	given->variant = true;
	if (strcmp(word, "strict") == 0)
		current(ps)->variant = VARIANT_STRICT;
	else if (strcmp(word, "standard") != 0)
		conf_error(ps, pos, "variant is standard or strict, not "
		    "\"%s\"", word);
}

static void
set_sharing(struct parser *ps, struct pos pos, enum cf_sharing sharing)
{
	struct cf_profile *p = current(ps);

	if (p->sharing != SHARING_PRINCIPAL)
		conf_error(ps, pos, "workspace shared or exclusive was given "
		    "already in this profile");
	p->sharing = sharing;
}

void
set_profile_workspace(struct parser *ps, struct pos pos,
    const struct strings *list)
{
	struct cf_profile *p = current(ps);
	const char *word;
	size_t i;

	for (i = 0; i < list->n; i++) {
		word = list->v[i];
		if (strcmp(word, "shared") == 0)
			set_sharing(ps, pos, SHARING_ANY);
		else if (strcmp(word, "exclusive") == 0)
			set_sharing(ps, pos, SHARING_NONE);
		else if (strcmp(word, "read-only") != 0)
			conf_error(ps, pos, "workspace is read-only, shared "
			    "or exclusive in a profile, not \"%s\"", word);
		else {
			if (p->read_only)
				conf_error(ps, pos, "workspace read-only was "
				    "given already in this profile");
			p->read_only = 1;
		}
	}
}

/* ---- directories of the host ---- */

/* Never shown to a neuron, nor anything below them. */
static const char *const never_shown[] = { "/boot", "/dev", "/proc", "/run",
	"/sys", "/var/run" };

/* Nor these, as they are: what lies below may be. */
static const char *const never_whole[] = { "/", "/etc", "/home", "/root",
	"/tmp", "/var", "/var/lib", "/var/tmp" };

/* Where a neuron has something of its own, and what lies below. */
static const char *const taken[] = { "/bin", "/dev", "/etc", "/home/agent",
	"/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin",
	"/sys", "/usr", "/var/run", "/var/tmp" };

#define COUNT(list)	(sizeof(list) / sizeof((list)[0]))

static bool
source_ok(struct parser *ps, struct pos pos, const char *what,
    const char *path)
{
	size_t i;

	if (!path_clean(path) || strlen(path) >= TREE_PATH_MAX) {
		conf_error(ps, pos, "%s \"%s\": an absolute path without "
		    "empty, . or .. parts is needed, of at most %d bytes", what,
		    path, TREE_PATH_MAX - 1);
		return (false);
	}
	for (i = 0; i < COUNT(never_whole); i++)
		if (strcmp(path, never_whole[i]) == 0)
			break;
	if (i == COUNT(never_whole)) {
		for (i = 0; i < COUNT(never_shown); i++)
			if (path_within(path, never_shown[i]))
				break;
		if (i == COUNT(never_shown))
			return (true);
	}
	conf_error(ps, pos, "%s \"%s\": neurons are never shown this directory",
	    what, path);
	return (false);
}

static bool
target_ok(struct parser *ps, struct pos pos, const char *at)
{
	size_t i;

	if (!path_clean(at) || strlen(at) >= TREE_PATH_MAX) {
		conf_error(ps, pos, "mount at \"%s\": an absolute path "
		    "without empty, . or .. parts is needed, of at most %d "
		    "bytes", at, TREE_PATH_MAX - 1);
		return (false);
	}
	/* Below its own /tmp there is room. */
	if (strcmp(at, "/tmp") == 0) {
		conf_error(ps, pos, "mount at \"/tmp\": a neuron has its own; "
		    "say where else with at");
		return (false);
	}
	for (i = 0; i < COUNT(taken); i++) {
		if (!path_within(at, taken[i]) && !path_within(taken[i], at))
			continue;
		conf_error(ps, pos, "mount at \"%s\": a neuron has its own "
		    "%s; say where else with at", at, taken[i]);
		return (false);
	}
	return (true);
}

void
set_profile_mount(struct parser *ps, struct pos pos,
    const struct strings *words)
{
	struct cf_trees *t = &current(ps)->trees;
	const char *path = words->v[0], *at = path;
	size_t n = 1;
	struct cf_mount *m;

	if (words->n > 2 && strcmp(words->v[1], "at") == 0) {
		at = words->v[2];
		n = 3;
	}
	if (words->n != n + 1 || strcmp(words->v[n], "read-only") != 0) {
		conf_error(ps, pos, "mount takes a directory of the host, "
		    "where it is inside (at and a path) if not at the same "
		    "place, and read-only");
		return;
	}
	if (t->nmounts == MOUNTS_MAX) {
		conf_error(ps, pos, "more than %d mounts in one profile",
		    MOUNTS_MAX);
		return;
	}
	if (!source_ok(ps, pos, "mount", path) || !target_ok(ps, pos, at))
		return;
	t->mounts = set_grow(t->mounts, &t->nmounts, sizeof(*m));
	m = &t->mounts[t->nmounts - 1];
	set_where(&m->where, pos);
	m->path = conf_copy(path);
	m->at = conf_copy(at);
}

void
set_profile_root(struct parser *ps, struct pos pos,
    const struct strings *words)
{
	struct cf_trees *t = &current(ps)->trees;

	if (words->n > 2 || (words->n == 2 && strcmp(words->v[1], "overlay") !=
	    0)) {
		conf_error(ps, pos, "root takes a directory of the host, and "
		    "overlay if a neuron may change it for itself");
		return;
	}
	if (t->root != NULL) {
		conf_error(ps, pos, "root was given already in this profile");
		return;
	}
	if (!source_ok(ps, pos, "root", words->v[0]))
		return;
	set_where(&t->where, pos);
	t->root = conf_copy(words->v[0]);
	t->overlay = words->n == 2;
}

static void
check_own(struct parser *ps, const struct where *where, const char *what,
    const char *path)
{
	const struct strings *own = &ps->conf->slice->own;
	size_t i;

	for (i = 0; i < own->n; i++) {
		if (!path_within(path, own->v[i]) &&
		    !path_within(own->v[i], path))
			continue;
		conf_error(ps, set_pos(where), "%s \"%s\" meets \"%s\", "
		    "which is Myelin's own", what, path, own->v[i]);
		return;
	}
}

static void
check_mounts(struct parser *ps, const struct cf_trees *t)
{
	size_t i, k;

	for (i = 0; i < t->nmounts; i++) {
		check_own(ps, &t->mounts[i].where, "mount",
		    t->mounts[i].path);
		for (k = 0; k < i; k++)
			if (path_within(t->mounts[i].at, t->mounts[k].at) ||
			    path_within(t->mounts[k].at, t->mounts[i].at))
				conf_error(ps, set_pos(&t->mounts[i].where),
				    "mount at \"%s\" meets the one at "
				    "\"%s\"", t->mounts[i].at,
				    t->mounts[k].at);
	}
}

void
finish_trees(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	const struct cf_trees *t;
	size_t i;

	for (i = 0; i < s->nprofiles; i++) {
		t = &s->profiles[i].trees;
		if (t->root != NULL)
			check_own(ps, &t->where, "root", t->root);
		check_mounts(ps, t);
	}
}

static void
say_absent(const struct conf_opts *opts, const struct where *where,
    const char *what, const char *path)
{
	char words[2 * PATH_BYTES_MAX + 160];
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
		return;
	(void)snprintf(words, sizeof(words), "%s:%u: warning: %s \"%s\": "
	    "there is no such directory; until there is, no neuron of this "
	    "profile is made", where->file, where->line, what, path);
	opts->report(opts->arg, words);
}

void
conf_check_trees(const struct conf *conf, const struct conf_opts *opts)
{
	const struct slice *s = conf->slice;
	const struct cf_trees *t;
	size_t i, k;

	for (i = 0; i < s->nprofiles; i++) {
		t = &s->profiles[i].trees;
		if (t->root != NULL)
			say_absent(opts, &t->where, "root", t->root);
		for (k = 0; k < t->nmounts; k++)
			say_absent(opts, &t->mounts[k].where, "mount",
			    t->mounts[k].path);
	}
}
