/*
 * The configuration as data: encoding, decoding, freeing, looking up.
 *
 * A slice on the wire is a version, the sections it holds, what all processes
 * get, and then each section in the order of its bit.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec.h"
#include "slice.h"
#include "trees.h"

#define SLICE_VERSION	1
#define LIST_MAX	4096		/* entries of any list */

struct slice *
slice_new(void)
{
	struct slice *s;

	if ((s = calloc(1, sizeof(*s))) != NULL)
		limits_init(&s->limits);
	return (s);
}

/* ---- lists of strings ---- */

int
strings_add(struct strings *l, const char *s)
{
	char **v, *copy;

	if ((copy = strdup(s)) == NULL)
		return (-1);
	if ((v = reallocarray(l->v, l->n + 1, sizeof(*v))) == NULL) {
		free(copy);
		return (-1);
	}
	l->v = v;
	l->v[l->n++] = copy;
	return (0);
}

int
strings_has(const struct strings *l, const char *s)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return (1);
	return (0);
}

void
strings_free(struct strings *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	l->v = NULL;
	l->n = 0;
}

/* ---- freeing ---- */

static void
where_free(struct where *w)
{
	free(w->file);
}

static void
profile_free(struct cf_profile *p)
{
	where_free(&p->where);
	trees_free(&p->trees);
	egress_free(&p->egress);
}

static void
principal_free(struct cf_principal *p)
{
	where_free(&p->where);
	free(p->name);
	free(p->owner_name);
	strings_free(&p->profiles);
	strings_free(&p->workspaces);
}

static void
preset_free(struct cf_preset *p)
{
	where_free(&p->where);
	strings_free(&p->allow);
	strings_free(&p->deny);
	strings_free(&p->deny_groups);
}

void
slice_free(struct slice *s)
{
	size_t i;

	if (s == NULL)
		return;
	for (i = 0; i < s->nprofiles; i++)
		profile_free(&s->profiles[i]);
	for (i = 0; i < s->nprincipals; i++)
		principal_free(&s->principals[i]);
	for (i = 0; i < s->noperators; i++) {
		where_free(&s->operators[i].where);
		free(s->operators[i].name);
	}
	for (i = 0; i < s->npresets; i++)
		preset_free(&s->presets[i]);
	for (i = 0; i < s->nlistens; i++) {
		where_free(&s->listens[i].where);
		free(s->listens[i].path);
		free(s->listens[i].group);
		strings_free(&s->listens[i].hosts);
	}
	for (i = 0; i < s->nhooks; i++) {
		where_free(&s->hooks[i].where);
		free(s->hooks[i].path);
	}
	for (i = 0; i < s->nfiles; i++) {
		free(s->files[i].name);
		if (s->files[i].fd != -1)
			close(s->files[i].fd);
	}
	rules_free(s);
	strings_free(&s->env_allow);
	strings_free(&s->sources);
	free(s->profiles);
	free(s->principals);
	free(s->operators);
	free(s->presets);
	free(s->listens);
	free(s->hooks);
	free(s->files);
	free(s->instance);
	free(s->state);
	free(s->cgroup_parent);
	free(s->bad.file);
	free(s->bad_why);
	free(s);
}

/* ---- encoding ---- */

static void
put_where(struct enc *e, const struct where *w)
{
	enc_str(e, w->file);
	enc_u32(e, w->line);
}

static void
put_strings(struct enc *e, const struct strings *l)
{
	size_t i;

	enc_u32(e, (uint32_t)l->n);
	for (i = 0; i < l->n; i++)
		enc_str(e, l->v[i]);
}

static void
put_limits(struct enc *e, const struct limits *l)
{
	size_t i;

	enc_u32(e, LIMIT_COUNT);
	for (i = 0; i < LIMIT_COUNT; i++)
		enc_u64(e, l->v[i]);
}

static void
put_ids(struct enc *e, const struct cf_ids *ids)
{
	size_t i;

	enc_u32(e, ids->uid);
	enc_u32(e, ids->gid);
	enc_u32(e, ids->ngroups);
	for (i = 0; i < ids->ngroups; i++)
		enc_u32(e, ids->groups[i]);
}

static void
put_state(struct enc *e, const struct slice *s)
{
	enc_str(e, s->state);
	enc_u8(e, (uint8_t)s->private);
}

static void
put_neurons(struct enc *e, const struct slice *s)
{
	enc_u32(e, s->uids_start);
	enc_u32(e, s->uids_count);
	enc_str(e, s->cgroup_parent);
}

static void
put_profiles(struct enc *e, const struct slice *s)
{
	size_t i;

	enc_u32(e, (uint32_t)s->nprofiles);
	for (i = 0; i < s->nprofiles; i++) {
		put_where(e, &s->profiles[i].where);
		enc_str(e, s->profiles[i].name);
		enc_u8(e, (uint8_t)s->profiles[i].mode);
		enc_u8(e, (uint8_t)s->profiles[i].variant);
		enc_u8(e, (uint8_t)s->profiles[i].sharing);
		enc_u8(e, s->profiles[i].read_only != 0);
		trees_put(e, &s->profiles[i].trees);
		put_limits(e, &s->profiles[i].limits);
		egress_put(e, &s->profiles[i].egress);
	}
}

static void
put_principals(struct enc *e, const struct slice *s)
{
	const struct cf_principal *p;
	size_t i;

	enc_u32(e, (uint32_t)s->nprincipals);
	for (i = 0; i < s->nprincipals; i++) {
		p = &s->principals[i];
		put_where(e, &p->where);
		enc_u8(e, (uint8_t)p->who);
		enc_u32(e, p->id);
		enc_str(e, p->name);
		enc_str(e, p->preset);
		put_strings(e, &p->profiles);
		put_strings(e, &p->workspaces);
		enc_u8(e, (uint8_t)p->owner);
		put_ids(e, &p->ids);
	}
}

static void
put_operators(struct enc *e, const struct slice *s)
{
	size_t i;

	enc_u32(e, (uint32_t)s->noperators);
	for (i = 0; i < s->noperators; i++) {
		put_where(e, &s->operators[i].where);
		enc_u8(e, (uint8_t)s->operators[i].who);
		enc_u32(e, s->operators[i].id);
		enc_str(e, s->operators[i].name);
		enc_u32(e, s->operators[i].rights);
	}
}

static void
put_presets(struct enc *e, const struct slice *s)
{
	const struct cf_preset *p;
	size_t i;

	enc_u32(e, (uint32_t)s->npresets);
	for (i = 0; i < s->npresets; i++) {
		p = &s->presets[i];
		put_where(e, &p->where);
		enc_str(e, p->name);
		enc_u8(e, (uint8_t)p->cap);
		put_strings(e, &p->allow);
		put_strings(e, &p->deny);
		put_strings(e, &p->deny_groups);
		enc_u8(e, (uint8_t)p->elevated);
		enc_u64(e, p->calls_session);
		enc_u64(e, p->hourly);
	}
}

static void
put_listens(struct enc *e, const struct slice *s)
{
	size_t i;

	enc_u32(e, (uint32_t)s->nlistens);
	for (i = 0; i < s->nlistens; i++) {
		put_where(e, &s->listens[i].where);
		enc_u8(e, (uint8_t)s->listens[i].plane);
		enc_str(e, s->listens[i].path);
		enc_u32(e, s->listens[i].gid);
		enc_u32(e, s->listens[i].mode);
		enc_u8(e, (uint8_t)s->listens[i].flags);
		enc_u32(e, s->listens[i].port);
		put_strings(e, &s->listens[i].hosts);
	}
}

static void
put_env(struct enc *e, const struct slice *s)
{
	put_strings(e, &s->env_allow);
	enc_u8(e, s->coerce != 0);
}

static void
put_log(struct enc *e, const struct slice *s)
{
	enc_u8(e, s->verbose == 1);
}

static void
put_hooks(struct enc *e, const struct slice *s)
{
	size_t i;

	enc_u32(e, (uint32_t)s->nhooks);
	for (i = 0; i < s->nhooks; i++) {
		put_where(e, &s->hooks[i].where);
		enc_str(e, s->hooks[i].name);
	}
}

static void
put_sources(struct enc *e, const struct slice *s)
{
	put_strings(e, &s->sources);
}

/* ---- decoding: every list bounded, every number checked ---- */

static char *
get_text(struct dec *d)
{
	return (dec_strdup(d, PATH_BYTES_MAX));
}

/* A text that may be absent: the empty one is NULL. */
static char *
get_optional(struct dec *d)
{
	char *s = get_text(d);

	if (s != NULL && s[0] == '\0') {
		free(s);
		s = NULL;
	}
	return (s);
}

static void
get_where(struct dec *d, struct where *w)
{
	w->file = get_text(d);
	w->line = dec_u32(d);
}

static void
get_strings(struct dec *d, struct strings *l)
{
	uint32_t n = dec_u32(d), i;
	char *s;

	if (n > LIST_MAX)
		d->error = 1;
	for (i = 0; i < n && !d->error; i++) {
		if ((s = get_text(d)) == NULL || strings_add(l, s) == -1)
			d->error = 1;
		free(s);
	}
}

static void
get_limits(struct dec *d, struct limits *l)
{
	size_t i;

	if (dec_u32(d) != LIMIT_COUNT)
		d->error = 1;
	for (i = 0; i < LIMIT_COUNT; i++) {
		l->v[i] = dec_u64(d);
		if (l->v[i] < limit_table[i].min ||
		    l->v[i] > limit_table[i].max)
			d->error = 1;
	}
}

static void
get_ids(struct dec *d, struct cf_ids *ids)
{
	size_t i;

	ids->uid = dec_u32(d);
	ids->gid = dec_u32(d);
	ids->ngroups = dec_u32(d);
	if (ids->ngroups > GROUPS_MAX) {
		ids->ngroups = 0;
		d->error = 1;
	}
	for (i = 0; i < ids->ngroups; i++)
		ids->groups[i] = dec_u32(d);
}

static unsigned
get_choice(struct dec *d, unsigned most)
{
	unsigned v = dec_u8(d);

	if (v < 1 || v > most)
		d->error = 1;
	return (v);
}

/* The same, where 0 is what is meant without a word. */
static unsigned
get_kind(struct dec *d, unsigned most)
{
	unsigned v = dec_u8(d);

	if (v > most)
		d->error = 1;
	return (v);
}

/* Memory for a list of n entries of that size; NULL for none or an error. */
static void *
get_list(struct dec *d, size_t *n, size_t size)
{
	void *v;

	*n = dec_u32(d);
	if (*n > LIST_MAX)
		d->error = 1;
	if (d->error || *n == 0) {
		*n = 0;
		return (NULL);
	}
	if ((v = calloc(*n, size)) == NULL) {
		d->error = 1;
		*n = 0;
	}
	return (v);
}

static void
get_state(struct dec *d, struct slice *s)
{
	s->state = get_text(d);
	s->private = dec_u8(d);
}

static void
get_neurons(struct dec *d, struct slice *s)
{
	s->uids_start = dec_u32(d);
	s->uids_count = dec_u32(d);
	s->cgroup_parent = get_optional(d);
}

static void
get_profiles(struct dec *d, struct slice *s)
{
	struct cf_profile *p;
	size_t i;

	s->profiles = get_list(d, &s->nprofiles, sizeof(*s->profiles));
	for (i = 0; i < s->nprofiles && !d->error; i++) {
		p = &s->profiles[i];
		get_where(d, &p->where);
		dec_str(d, p->name, sizeof(p->name));
		p->mode = get_choice(d, MODE_NATIVE);
		p->variant = get_kind(d, VARIANT_STRICT);
		p->sharing = get_kind(d, SHARING_NONE);
		p->read_only = dec_u8(d) != 0;
		trees_get(d, &p->trees);
		get_limits(d, &p->limits);
		egress_get(d, &p->egress);
	}
}

static void
get_principals(struct dec *d, struct slice *s)
{
	struct cf_principal *p;
	size_t i;

	s->principals = get_list(d, &s->nprincipals, sizeof(*s->principals));
	for (i = 0; i < s->nprincipals && !d->error; i++) {
		p = &s->principals[i];
		get_where(d, &p->where);
		p->who = get_choice(d, WHO_KEY);
		p->id = dec_u32(d);
		p->name = get_text(d);
		dec_str(d, p->preset, sizeof(p->preset));
		get_strings(d, &p->profiles);
		get_strings(d, &p->workspaces);
		p->owner = get_choice(d, OWNER_ANY);
		get_ids(d, &p->ids);
	}
}

static void
get_operators(struct dec *d, struct slice *s)
{
	size_t i;

	s->operators = get_list(d, &s->noperators, sizeof(*s->operators));
	for (i = 0; i < s->noperators && !d->error; i++) {
		get_where(d, &s->operators[i].where);
		s->operators[i].who = get_choice(d, WHO_GROUP);
		s->operators[i].id = dec_u32(d);
		s->operators[i].name = get_text(d);
		s->operators[i].rights = dec_u32(d);
	}
}

static void
get_presets(struct dec *d, struct slice *s)
{
	struct cf_preset *p;
	size_t i;

	s->presets = get_list(d, &s->npresets, sizeof(*s->presets));
	for (i = 0; i < s->npresets && !d->error; i++) {
		p = &s->presets[i];
		get_where(d, &p->where);
		dec_str(d, p->name, sizeof(p->name));
		p->cap = get_choice(d, 4);
		get_strings(d, &p->allow);
		get_strings(d, &p->deny);
		get_strings(d, &p->deny_groups);
		p->elevated = dec_u8(d);
		if (p->elevated > ELEVATED_ASK)
			d->error = 1;
		p->calls_session = dec_u64(d);
		p->hourly = dec_u64(d);
	}
}

static void
get_listens(struct dec *d, struct slice *s)
{
	size_t i;

	s->listens = get_list(d, &s->nlistens, sizeof(*s->listens));
	for (i = 0; i < s->nlistens && !d->error; i++) {
		get_where(d, &s->listens[i].where);
		s->listens[i].plane = get_choice(d, PLANE_OPERATOR);
		s->listens[i].path = get_text(d);
		s->listens[i].gid = dec_u32(d);
		s->listens[i].mode = dec_u32(d);
		s->listens[i].flags = dec_u8(d);
		s->listens[i].port = dec_u32(d);
		get_strings(d, &s->listens[i].hosts);
		if ((s->listens[i].flags & ~(unsigned)LISTEN_FLAGS) != 0 ||
		    s->listens[i].port > 65535)
			d->error = 1;
	}
}

static void
get_env(struct dec *d, struct slice *s)
{
	get_strings(d, &s->env_allow);
	s->coerce = dec_u8(d) != 0;
}

static void
get_log(struct dec *d, struct slice *s)
{
	s->verbose = dec_u8(d) != 0;
}

static void
get_hooks(struct dec *d, struct slice *s)
{
	size_t i;

	s->hooks = get_list(d, &s->nhooks, sizeof(*s->hooks));
	if (s->nhooks > HOOKS_MAX)
		d->error = 1;
	for (i = 0; i < s->nhooks && !d->error; i++) {
		get_where(d, &s->hooks[i].where);
		dec_str(d, s->hooks[i].name, sizeof(s->hooks[i].name));
	}
}

static void
get_sources(struct dec *d, struct slice *s)
{
	get_strings(d, &s->sources);
}

static const struct {
	unsigned	 bit;
	void		(*put)(struct enc *, const struct slice *);
	void		(*get)(struct dec *, struct slice *);
} sections[] = {
	{ SLICE_STATE,		put_state,	get_state },
	{ SLICE_NEURONS,	put_neurons,	get_neurons },
	{ SLICE_PROFILES,	put_profiles,	get_profiles },
	{ SLICE_PRINCIPALS,	put_principals,	get_principals },
	{ SLICE_OPERATORS,	put_operators,	get_operators },
	{ SLICE_PRESETS,	put_presets,	get_presets },
	{ SLICE_LISTENS,	put_listens,	get_listens },
	{ SLICE_ENV,		put_env,	get_env },
	{ SLICE_LOG,		put_log,	get_log },
	{ SLICE_RULES,		rules_put,	rules_get },
	{ SLICE_HOOKS,		put_hooks,	get_hooks },
	{ SLICE_SOURCES,	put_sources,	get_sources }
};

#define NSECTIONS	(sizeof(sections) / sizeof(sections[0]))

int
slice_encode(const struct slice *s, unsigned which)
{
	struct enc *e;
	size_t i;
	int fd;

	if ((e = enc_new(SLICE_MAX)) == NULL)
		return (-1);
	enc_u32(e, SLICE_VERSION);
	enc_u32(e, which);
	enc_str(e, s->instance);
	put_limits(e, &s->limits);
	for (i = 0; i < NSECTIONS; i++)
		if (which & sections[i].bit)
			sections[i].put(e, s);
	fd = enc_memfd(e, "slice");
	enc_free(e);
	return (fd);
}

struct slice *
slice_decode(const uint8_t *data, size_t size, const char **why)
{
	struct slice *s;
	struct dec d;
	unsigned which;
	size_t i;

	if ((s = slice_new()) == NULL) {
		*why = "no memory for the slice";
		return (NULL);
	}
	s->verbose = -1;
	dec_init(&d, data, size);
	if (dec_u32(&d) != SLICE_VERSION) {
		*why = "a slice of another version";
		slice_free(s);
		return (NULL);
	}
	which = dec_u32(&d);
	s->instance = get_text(&d);
	get_limits(&d, &s->limits);
	for (i = 0; i < NSECTIONS; i++)
		if (which & sections[i].bit)
			sections[i].get(&d, s);
	if (dec_end(&d) == 0)
		return (s);
	*why = "a slice that breaks its format";
	slice_free(s);
	return (NULL);
}

/* ---- the rest ---- */

int
slice_bad(struct slice *s, const struct where *w, const char *fmt, ...)
{
	va_list ap;

	free(s->bad.file);
	free(s->bad_why);
	s->bad.file = NULL;
	s->bad.line = 0;
	if (w != NULL) {
		s->bad.file = w->file == NULL ? NULL : strdup(w->file);
		s->bad.line = w->line;
	}
	va_start(ap, fmt);
	if (vasprintf(&s->bad_why, fmt, ap) == -1)
		s->bad_why = NULL;
	va_end(ap);
	return (-1);
}

const struct cf_profile *
slice_profile(const struct slice *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nprofiles; i++)
		if (strcmp(s->profiles[i].name, name) == 0)
			return (&s->profiles[i]);
	return (NULL);
}

void
slice_unsaid(const struct slice *s, const char *profile, struct limits *limits)
{
	*limits = s->limits;
	if (strcmp(profile, "default") != 0)
		limits->v[LIMIT_POOL] = 0;
}

const struct cf_preset *
slice_preset(const struct slice *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->npresets; i++)
		if (strcmp(s->presets[i].name, name) == 0)
			return (&s->presets[i]);
	return (NULL);
}

int
slice_claim(struct slice *s, const char *name)
{
	size_t i;
	int fd;

	for (i = 0; i < s->nfiles; i++)
		if (strcmp(s->files[i].name, name) == 0) {
			fd = s->files[i].fd;
			s->files[i].fd = -1;
			return (fd);
		}
	return (-1);
}

int
path_clean(const char *path)
{
	const char *p;
	size_t len;

	if (path[0] != '/')
		return (0);
	if (path[1] == '\0')
		return (1);
	for (p = path; *p != '\0'; p += len) {
		p++;
		len = strcspn(p, "/");
		if (len == 0 || (len == 1 && p[0] == '.') ||
		    (len == 2 && p[0] == '.' && p[1] == '.'))
			return (0);
	}
	return (1);
}

int
path_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return (1);	/* "/" */
	return (strncmp(path, dir, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/'));
}

int
path_allowed(const struct strings *patterns, const char *path)
{
	size_t i;

	if (!path_clean(path))
		return (0);
	for (i = 0; i < patterns->n; i++)
		if (fnmatch(patterns->v[i], path, FNM_NOESCAPE) == 0)
			return (1);
	return (0);
}
