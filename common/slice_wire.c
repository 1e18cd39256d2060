/*
 * The configuration as bytes: encoding a slice and decoding it.
 *
 * A slice on the wire is a version, the sections it holds, what all processes
 * get, and then each section in the order of its bit.
 */
#include <stdlib.h>

#include "codec.h"
#include "slice.h"
#include "trees.h"

#define SLICE_VERSION	1
#define LIST_MAX	4096		/* entries of any list */

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
