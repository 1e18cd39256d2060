/* Completing a configuration that was read, and checking it as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"
#include "limit_text.h"
#include "protocol.h"

/* Guarantee C6: what the presets that come with Myelin allow. */
static const struct {
	const char	*name;
	unsigned	 cap;
} shipped[] = {
	{ "readonly",	EFFECT_READ },
	{ "strict",	EFFECT_MUTATE_REVERSIBLE },
	{ "standard",	EFFECT_MUTATE_IRREVERSIBLE },
};

static const struct pos built_in = { "built in", 0 };

/* ---- the instance ---- */

static void
finish_instance(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	const char *dir = ps->opts->private_dir;
	char name[INSTANCE_BYTES_MAX];

	if (s->instance == NULL) {
		(void)strlcpy(name, "main", sizeof(name));
		if (dir != NULL)
			conf_instance_name(dir, name);
		s->instance = conf_copy(name);
	}
	if (dir != NULL && ps->once[ONCE_PRIVATE].file == NULL)
		s->private = 1;
	if (s->state != NULL)
		return;
	if (dir == NULL)
		s->state = conf_copy(MYELIN_STATEDIR);
	else if (asprintf(&s->state, "%s/state", dir) == -1)
		fatalx("out of memory");
}

/*
 * Non-private: the block in the manual.  Private and not configured: the
 * count alone, the block is chosen at the start.
 */
static void
finish_uids(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	uint64_t neurons = s->limits.v[LIMIT_NEURONS];

	if (!ps->conf->uids_given && !s->private)
		s->uids_start = CONF_UIDS_START;
	if (s->uids_count == 0)
		s->uids_count = s->private ? CONF_PRIVATE_COUNT :
		    CONF_UIDS_COUNT;
	if (s->uids_count < neurons + CONF_UIDS_NEURONS)
		conf_error(ps, ps->once[ONCE_UIDS], "uids: a block of %u "
		    "holds %u neurons; neurons is %llu", s->uids_count,
		    s->uids_count - CONF_UIDS_NEURONS,
		    (unsigned long long)neurons);
}

/* ---- sockets ---- */

static void
private_listen(struct parser *ps, enum cf_plane plane, const char *file)
{
	struct slice *s = ps->conf->slice;
	struct cf_listen *l;
	char *path;

	if (asprintf(&path, "%s/%s", ps->opts->private_dir, file) == -1)
		fatalx("out of memory");
	if (strlen(path) > SOCKET_PATH_MAX)
		conf_error(ps, (struct pos){ path, 0 }, "a socket path of "
		    "%zu bytes; the most is %d", strlen(path),
		    SOCKET_PATH_MAX);
	s->listens = set_grow(s->listens, &s->nlistens, sizeof(*l));
	l = &s->listens[s->nlistens - 1];
	set_where(&l->where, built_in);
	l->plane = plane;
	l->path = path;
	l->gid = (gid_t)-1;
	/* Anybody may connect; the principal lines say who may ask. */
	l->mode = 0666;
}

static bool
has_plane(const struct slice *s, enum cf_plane plane)
{
	size_t i;

	for (i = 0; i < s->nlistens; i++) {
		if (s->listens[i].plane == plane &&
		    (s->listens[i].flags & LISTEN_TCP) == 0)
			return (true);
	}
	return (false);
}

static void
finish_listens(struct parser *ps, struct pos whole)
{
	struct slice *s = ps->conf->slice;

	if (ps->opts->private_dir != NULL) {
		if (!has_plane(s, PLANE_AGENT))
			private_listen(ps, PLANE_AGENT, "api.sock");
		if (!has_plane(s, PLANE_OPERATOR))
			private_listen(ps, PLANE_OPERATOR, "operator.sock");
	}
	if (!has_plane(s, PLANE_AGENT))
		conf_error(ps, whole, "no socket to ask on: say listen api "
		    "\"/run/myelin/api.sock\"");
}

/* ---- profiles and presets ---- */

static void
check_pair(struct parser *ps, const struct cf_profile *p, enum limit least,
    enum limit most)
{
	const struct limit_row *a = &limit_table[least];
	const struct limit_row *b = &limit_table[most];
	char va[LIMIT_TEXT_MAX], vb[LIMIT_TEXT_MAX];
	struct pos pos = set_pos(&p->where);

	if (p->limits.v[least] <= p->limits.v[most])
		return;
	/* The built-in profile has what the lines outside of profiles say. */
	if (pos.line == 0)
		pos = ps->limit[least].file != NULL ? ps->limit[least] :
		    ps->limit[most];
	conf_error(ps, pos, "profile \"%s\": %s %s is over %s "
	    "%s", p->name, a->keyword,
	    limit_text(a->unit, p->limits.v[least], va), b->keyword,
	    limit_text(b->unit, p->limits.v[most], vb));
}

static void
finish_profiles(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	struct limits unsaid;
	struct cf_profile *p;
	size_t i, l, n = s->nprofiles;

	if (slice_profile(s, "default") == NULL) {
		ps->given = set_grow(ps->given, &n, sizeof(*ps->given));
		s->profiles = set_grow(s->profiles, &s->nprofiles,
		    sizeof(*p));
		p = &s->profiles[s->nprofiles - 1];
		set_where(&p->where, built_in);
		(void)strlcpy(p->name, "default", sizeof(p->name));
		p->mode = MODE_NATIVE;
	}
	for (i = 0; i < s->nprofiles; i++) {
		p = &s->profiles[i];
		slice_unsaid(s, p->name, &unsaid);
		for (l = 0; l < LIMIT_COUNT; l++) {
			if (!ps->given[i].limit[l])
				p->limits.v[l] = unsaid.v[l];
		}
		check_pair(ps, p, LIMIT_TIMEOUT, LIMIT_TIMEOUT_MAX);
		check_pair(ps, p, LIMIT_OUTPUT_KEPT, LIMIT_OUTPUT_KEPT_ALL);
	}
}

/* A shipped preset means the same on every host: its name is taken. */
static void
finish_presets(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	const struct cf_preset *old;
	struct cf_preset *p;
	size_t i;

	for (i = 0; i < sizeof(shipped) / sizeof(shipped[0]); i++) {
		if ((old = slice_preset(s, shipped[i].name)) != NULL) {
			conf_error(ps, set_pos(&old->where), "preset \"%s\" "
			    "comes with Myelin and can't be changed; give "
			    "yours another name", shipped[i].name);
			continue;
		}
		s->presets = set_grow(s->presets, &s->npresets, sizeof(*p));
		p = &s->presets[s->npresets - 1];
		set_where(&p->where, built_in);
		(void)strlcpy(p->name, shipped[i].name, sizeof(p->name));
		p->cap = shipped[i].cap;
		p->elevated = ELEVATED_OFF;
	}
}

/* ---- principals ---- */

static void
finish_principal(struct parser *ps, struct cf_principal *p)
{
	struct slice *s = ps->conf->slice;
	struct pos pos = set_pos(&p->where);
	size_t i;

	if (p->preset[0] != '\0' && slice_preset(s, p->preset) == NULL)
		conf_error(ps, pos, "principal \"%s\": there is no preset "
		    "\"%s\"", p->name, p->preset);
	if (p->profiles.n == 0 && strings_add(&p->profiles, "default") == -1)
		fatalx("out of memory");
	for (i = 0; i < p->profiles.n; i++) {
		if (slice_profile(s, p->profiles.v[i]) == NULL)
			conf_error(ps, pos, "principal \"%s\": there is no "
			    "profile \"%s\"", p->name, p->profiles.v[i]);
	}
}

/* ---- what no call may touch ---- */

static void
add_own(struct parser *ps, const char *path)
{
	struct strings *own = &ps->conf->slice->own;

	if (path == NULL || path[0] != '/' || path[1] == '\0' ||
	    own->n >= RULES_OWN_MAX || strings_has(own, path))
		return;
	if (strings_add(own, path) == -1)
		fatalx("out of memory");
}

/*
 * This instance's own files, by their paths: those of every instance the
 * judge knows by itself.
 */
static void
finish_own(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	char *real;
	size_t i;

	add_own(ps, s->state);
	add_own(ps, ps->opts->private_dir);
	for (i = 0; i < s->nlistens; i++)
		add_own(ps, s->listens[i].path);
	for (i = 0; i < ps->names.n && !ps->opts->no_include; i++) {
		add_own(ps, ps->names.v[i]);
		real = realpath(ps->names.v[i], NULL);
		add_own(ps, real);
		free(real);
	}
}

void
conf_finish(struct parser *ps)
{
	struct slice *s = ps->conf->slice;
	struct pos whole = { ps->names.n > 0 ? ps->names.v[0] : NULL, 0 };
	size_t i;

	finish_instance(ps);
	finish_uids(ps);
	finish_listens(ps, whole);
	finish_presets(ps);
	finish_profiles(ps);
	for (i = 0; i < s->nprincipals; i++)
		finish_principal(ps, &s->principals[i]);
	finish_own(ps);
	finish_trees(ps);
}
