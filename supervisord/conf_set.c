/* Filling the slice: the instance, its limits, profiles and presets. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"
#include "env.h"
#include "limit_text.h"
#include "protocol.h"
#include "without.h"

/* ---- small helpers ---- */

void *
set_grow(void *v, size_t *n, size_t size)
{
	char *p;

	if ((p = reallocarray(v, *n + 1, size)) == NULL)
		fatalx("out of memory");
	memset(p + *n * size, 0, size);
	(*n)++;
	return (p);
}

static void
replace(char **slot, const char *text)
{
	free(*slot);
	*slot = conf_copy(text);
}

void
set_where(struct where *where, struct pos pos)
{
	where->file = conf_copy(pos.file);
	where->line = pos.line;
}

struct pos
set_pos(const struct where *where)
{
	return ((struct pos){ where->file, where->line });
}

bool
set_number(const char *text, int base, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return (false);
	errno = 0;
	v = strtoull(text, &end, base);
	if (errno != 0 || *end != '\0' || v > max)
		return (false);
	*value = v;
	return (true);
}

/* Profiles, presets and tools: names that need no quoting anywhere. */
bool
set_name_ok(struct parser *ps, struct pos pos, const char *what,
    const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	if (n == 0 || name[n] != '\0' || name[0] == '-' || name[0] == '_') {
		conf_error(ps, pos, "%s \"%s\": a name is of a-z, 0-9, - and "
		    "_, and begins with a letter or digit", what, name);
		return (false);
	}
	if (n >= NAME_BYTES_MAX) {
		conf_error(ps, pos, "%s: a name of %zu bytes; the most is %d",
		    what, n, NAME_BYTES_MAX - 1);
		return (false);
	}
	return (true);
}

static bool
first_time(struct parser *ps, struct pos pos, struct pos *seen,
    const char *what)
{
	if (seen->file != NULL) {
		conf_error(ps, pos, "%s was given already, at %s:%u", what,
		    seen->file, seen->line);
		return (false);
	}
	*seen = pos;
	return (true);
}

/* ---- the instance ---- */

void
set_instance(struct parser *ps, struct pos pos, const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (!first_time(ps, pos, &ps->once[ONCE_INSTANCE], "instance"))
		return;
	if (n == 0 || name[n] != '\0' || name[0] == '-' ||
	    n >= INSTANCE_BYTES_MAX) {
		conf_error(ps, pos, "instance \"%s\": a name is of a-z, 0-9 "
		    "and -, at most %d bytes", name, INSTANCE_BYTES_MAX - 1);
		return;
	}
	replace(&ps->conf->slice->instance, name);
}

void
set_state(struct parser *ps, struct pos pos, const char *path)
{
	if (!first_time(ps, pos, &ps->once[ONCE_STATE], "state"))
		return;
	if (!path_clean(path) || path[1] == '\0') {
		conf_error(ps, pos, "state \"%s\": an absolute path without "
		    "empty, . or .. parts is needed", path);
		return;
	}
	replace(&ps->conf->slice->state, path);
}

void
set_private(struct parser *ps, struct pos pos, const char *word)
{
	if (!first_time(ps, pos, &ps->once[ONCE_PRIVATE], "private"))
		return;
	if (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0)
		conf_error(ps, pos, "private is yes or no, not \"%s\"", word);
	ps->conf->slice->private = strcmp(word, "yes") == 0;
}

/*
 * Below 65536 are the host's own users; from 4294901760 (65534 and the
 * like, sign-extended) on the kernel's and other programs' special ones.
 */
#define UIDS_LEAST	65536u
#define UIDS_MOST	4294901759u

void
set_uids(struct parser *ps, struct pos pos, const char *start,
    const char *count)
{
	struct slice *s = ps->conf->slice;
	uint64_t first, n = 0;

	if (!first_time(ps, pos, &ps->once[ONCE_UIDS], "uids"))
		return;
	if (!set_number(start, 10, UIDS_MOST, &first) || first < UIDS_LEAST) {
		conf_error(ps, pos, "uids \"%s\": the first uid is outside "
		    "its range, %u to %u", start, UIDS_LEAST, UIDS_MOST);
		return;
	}
	if (count != NULL &&
	    (!set_number(count, 10, CONF_UIDS_COUNT, &n) ||
	    n < CONF_UIDS_NEURONS)) {
		conf_error(ps, pos, "uids: the count \"%s\" is outside its "
		    "range, %u to %u", count, CONF_UIDS_NEURONS,
		    CONF_UIDS_COUNT);
		return;
	}
	if (first + (n == 0 ? CONF_UIDS_COUNT : n) > UIDS_MOST) {
		conf_error(ps, pos, "uids: the block ends above %u",
		    UIDS_MOST);
		return;
	}
	if (first < CONF_PARKED_START + CONF_PARKED_COUNT &&
	    first + (n == 0 ? CONF_UIDS_COUNT : n) > CONF_PARKED_START) {
		conf_error(ps, pos, "uids: %u to %u are kept for parked "
		    "groups", CONF_PARKED_START,
		    CONF_PARKED_START + CONF_PARKED_COUNT - 1);
		return;
	}
	s->uids_start = (uint32_t)first;
	s->uids_count = (uint32_t)n;
	ps->conf->uids_given = 1;
}

void
set_cgroup(struct parser *ps, struct pos pos, const char *path)
{
	if (!first_time(ps, pos, &ps->once[ONCE_CGROUP], "cgroup parent"))
		return;
	if (!path_clean(path)) {
		conf_error(ps, pos, "cgroup parent \"%s\": an absolute path "
		    "below the cgroup file system is needed", path);
		return;
	}
	replace(&ps->conf->slice->cgroup_parent, path);
}

void
set_log(struct parser *ps, struct pos pos, const char *word)
{
	if (!first_time(ps, pos, &ps->once[ONCE_LOG], "log"))
		return;
	if (strcmp(word, "verbose") != 0 && strcmp(word, "brief") != 0 &&
	    strcmp(word, "normal") != 0)
		conf_error(ps, pos, "log is verbose or brief, not \"%s\"",
		    word);
	ps->conf->verbose = strcmp(word, "verbose") == 0;
}

void
set_tool(struct parser *ps, struct pos pos, const char *path)
{
	struct conf *conf = ps->conf;
	struct cf_tool *t;

	if (!path_clean(path)) {
		conf_error(ps, pos, "tool \"%s\": the absolute path of a "
		    "declaration is needed, or of a directory of them", path);
		return;
	}
	if (conf->ntools >= CONF_ENTRIES_MAX) {
		conf_error(ps, pos, "more than %d tools", CONF_ENTRIES_MAX);
		return;
	}
	conf->tools = set_grow(conf->tools, &conf->ntools,
	    sizeof(*conf->tools));
	t = &conf->tools[conf->ntools - 1];
	set_where(&t->where, pos);
	t->path = conf_copy(path);
}

/* Guarantee C0. */
void
set_tool_input(struct parser *ps, struct pos pos, const char *word)
{
	if (!first_time(ps, pos, &ps->once[ONCE_TOOL_INPUT], "tool-input"))
		return;
	if (strcmp(word, "strict") != 0 && strcmp(word, "coerce") != 0)
		conf_error(ps, pos, "tool-input is strict or coerce, not "
		    "\"%s\"", word);
	ps->conf->slice->coerce = strcmp(word, "coerce") == 0;
}

/*
 * Guarantee C1: a name that may not reach a neuron is dropped even where the
 * configuration lists it, and that is said.
 */
void
set_environment(struct parser *ps, struct pos pos, const struct strings *list)
{
	struct strings *allow = &ps->conf->slice->env_allow;
	enum env_verdict verdict;
	size_t i;

	for (i = 0; i < list->n; i++) {
		verdict = env_check(list->v[i], strlen(list->v[i]), "");
		if (verdict == ENV_BAD_NAME)
			conf_error(ps, pos, "environment: \"%s\" is not a "
			    "variable's name", list->v[i]);
		else if (verdict != ENV_OK)
			conf_warn(ps, pos, "environment: %s %s and never "
			    "passed on; dropped", list->v[i],
			    env_verdict_words(verdict));
		else if (allow->n >= CONF_ENTRIES_MAX)
			conf_error(ps, pos, "environment: more than %d names",
			    CONF_ENTRIES_MAX);
		else if (!strings_has(allow, list->v[i]) &&
		    strings_add(allow, list->v[i]) == -1)
			fatalx("out of memory");
	}
}

/* ---- limits ---- */

bool
set_limit_value(struct parser *ps, struct pos pos, int limit,
    const char *text, uint64_t *value)
{
	const struct limit_row *row = &limit_table[limit];
	char min[LIMIT_TEXT_MAX], max[LIMIT_TEXT_MAX];
	const char *why;

	if (limit_parse((enum limit)limit, text, value, &why) == -1) {
		conf_error(ps, pos, "%s \"%s\": %s", row->keyword, text, why);
		return (false);
	}
	if (*value < row->min || *value > row->max) {
		conf_error(ps, pos, "%s %s is outside its range, %s to %s",
		    row->keyword, text, limit_text(row->unit, row->min, min),
		    limit_text(row->unit, row->max, max));
		return (false);
	}
	return (true);
}

void
set_limit(struct parser *ps, struct pos pos, int limit, const char *text)
{
	uint64_t value;

	if (first_time(ps, pos, &ps->limit[limit], limit_table[limit].keyword)
	    && set_limit_value(ps, pos, limit, text, &value))
		ps->conf->slice->limits.v[limit] = value;
}

/* ---- profiles ---- */

void
set_profile(struct parser *ps, struct pos pos, const char *name)
{
	struct slice *s = ps->conf->slice;
	const struct cf_profile *old;
	struct cf_profile *p;
	size_t n = s->nprofiles;

	if (set_name_ok(ps, pos, "profile", name) &&
	    (old = slice_profile(s, name)) != NULL)
		conf_error(ps, pos, "profile \"%s\" was given already, at "
		    "%s:%u", name, old->where.file, old->where.line);
	if (s->nprofiles >= CONF_ENTRIES_MAX - 1) {
		conf_error(ps, pos, "more than %d profiles",
		    CONF_ENTRIES_MAX - 1);
		ps->ended = true;
		return;
	}
	ps->given = set_grow(ps->given, &n, sizeof(*ps->given));
	s->profiles = set_grow(s->profiles, &s->nprofiles, sizeof(*p));
	p = &s->profiles[s->nprofiles - 1];
	set_where(&p->where, pos);
	(void)strlcpy(p->name, name, sizeof(p->name));
	p->mode = MODE_NATIVE;
}

void
set_profile_mode(struct parser *ps, struct pos pos, const char *word)
{
	struct given *given = &ps->given[ps->conf->slice->nprofiles - 1];
	static const char *const later[] = { "docker", "oci", "microvm" };
	size_t i;

	if (given->mode)
		conf_error(ps, pos, "mode was given already");
	given->mode = true;
	if (strcmp(word, "native") == 0 || WITHOUT(mode_refusal))
		return;
	for (i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (strcmp(word, later[i]) == 0) {
			conf_error(ps, pos, "mode %s is not in this version; "
			    "native is", word);
			return;
		}
	}
	conf_error(ps, pos, "there is no mode \"%s\"; native is one", word);
}

void
set_profile_limit(struct parser *ps, struct pos pos, int limit,
    const char *text)
{
	struct slice *s = ps->conf->slice;
	struct given *given = &ps->given[s->nprofiles - 1];
	uint64_t value;

	if (limit_table[limit].scope == SCOPE_HOST) {
		conf_error(ps, pos, "%s holds for the host, not for a "
		    "profile: give it outside", limit_table[limit].keyword);
		return;
	}
	if (given->limit[limit])
		conf_error(ps, pos, "%s was given already in this profile",
		    limit_table[limit].keyword);
	given->limit[limit] = true;
	if (set_limit_value(ps, pos, limit, text, &value))
		s->profiles[s->nprofiles - 1].limits.v[limit] = value;
}

/* ---- presets ---- */

void
set_preset(struct parser *ps, struct pos pos, const char *name)
{
	struct slice *s = ps->conf->slice;
	const struct cf_preset *old;
	struct cf_preset *p;

	ps->has_cap = ps->has_elevated = false;
	if (set_name_ok(ps, pos, "preset", name) &&
	    (old = slice_preset(s, name)) != NULL)
		conf_error(ps, pos, "preset \"%s\" was given already, at "
		    "%s:%u", name, old->where.file, old->where.line);
	if (s->npresets >= CONF_ENTRIES_MAX - 3) {
		conf_error(ps, pos, "more than %d presets",
		    CONF_ENTRIES_MAX - 3);
		ps->ended = true;
		return;
	}
	s->presets = set_grow(s->presets, &s->npresets, sizeof(*p));
	p = &s->presets[s->npresets - 1];
	set_where(&p->where, pos);
	(void)strlcpy(p->name, name, sizeof(p->name));
	p->cap = EFFECT_READ;
}

static struct cf_preset *
preset_current(struct parser *ps)
{
	struct slice *s = ps->conf->slice;

	return (&s->presets[s->npresets - 1]);
}

void
set_preset_cap(struct parser *ps, struct pos pos, const char *word)
{
	unsigned effect = effect_find(word);

	if (ps->has_cap)
		conf_error(ps, pos, "cap was given already in this preset");
	ps->has_cap = true;
	if (effect == 0)
		conf_error(ps, pos, "there is no effect \"%s\"; they are "
		    "read, mutate-reversible, mutate-irreversible, "
		    "destructive", word);
	else
		preset_current(ps)->cap = effect;
}

void
set_preset_tools(struct parser *ps, struct pos pos, bool allow,
    const struct strings *list)
{
	struct cf_preset *p = preset_current(ps);
	struct strings *to = allow ? &p->allow : &p->deny;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!set_name_ok(ps, pos, "tool", list->v[i]))
			continue;
		if (strings_has(&p->allow, list->v[i]) ||
		    strings_has(&p->deny, list->v[i]))
			conf_error(ps, pos, "tool \"%s\" was given already in "
			    "this preset", list->v[i]);
		else if (to->n >= CONF_ENTRIES_MAX)
			conf_error(ps, pos, "more than %d tools",
			    CONF_ENTRIES_MAX);
		else if (strings_add(to, list->v[i]) == -1)
			fatalx("out of memory");
	}
}

void
set_preset_groups(struct parser *ps, struct pos pos, bool allow,
    const struct strings *list)
{
	struct strings *to = &preset_current(ps)->deny_groups;
	size_t i;

	if (allow) {
		conf_error(ps, pos, "a preset denies groups of tools, and "
		    "allows tools by their names alone");
		return;
	}
	for (i = 0; i < list->n; i++) {
		if (!set_name_ok(ps, pos, "group", list->v[i]))
			continue;
		if (strings_has(to, list->v[i]))
			conf_error(ps, pos, "group \"%s\" was given already in "
			    "this preset", list->v[i]);
		else if (to->n >= CONF_ENTRIES_MAX)
			conf_error(ps, pos, "more than %d groups",
			    CONF_ENTRIES_MAX);
		else if (strings_add(to, list->v[i]) == -1)
			fatalx("out of memory");
	}
}

/* Guarantee C6: there is no "on". */
void
set_preset_elevated(struct parser *ps, struct pos pos, const char *word)
{
	if (ps->has_elevated)
		conf_error(ps, pos, "elevated was given already in this "
		    "preset");
	ps->has_elevated = true;
	if (strcmp(word, "ask") == 0)
		preset_current(ps)->elevated = ELEVATED_ASK;
	else if (strcmp(word, "off") != 0)
		conf_error(ps, pos, "elevated is off or ask, not \"%s\"",
		    word);
}

void
set_preset_limit(struct parser *ps, struct pos pos, int limit,
    const char *text)
{
	struct cf_preset *p = preset_current(ps);
	uint64_t *slot;

	switch (limit) {
	case LIMIT_CALLS_SESSION:
		slot = &p->calls_session;
		break;
	case LIMIT_HOURLY:
		slot = &p->hourly;
		break;
	default:
		conf_error(ps, pos, "%s is no preset's; calls-session and "
		    "hourly are", limit_table[limit].keyword);
		return;
	}
	if (*slot != 0)
		conf_error(ps, pos, "%s was given already in this preset",
		    limit_table[limit].keyword);
	(void)set_limit_value(ps, pos, limit, text, slot);
}
