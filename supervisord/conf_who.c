/* Filling the slice: who may ask, and who decides. */
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"

static const struct {
	const char	*word;
	unsigned	 right;
} rights[] = {
	{ "approve",	RIGHT_APPROVE },
	{ "audit",	RIGHT_AUDIT },
	{ "manage",	RIGHT_MANAGE },
};

#define NRIGHTS	(sizeof(rights) / sizeof(rights[0]))

static const char *
who_word(enum cf_who who)
{
	return (who == WHO_USER ? "user" : who == WHO_GROUP ? "group" : "key");
}

/* The id of a user or group, by name or as a number; else UINT32_MAX. */
static bool
resolve(struct parser *ps, struct pos pos, enum cf_who who, const char *name,
    uint32_t *id)
{
	struct cf_ids *ids;
	uint64_t number;
	gid_t gid = 0;
	bool found;

	*id = UINT32_MAX;
	if (set_number(name, 10, UINT32_MAX - 1, &number)) {
		*id = (uint32_t)number;
		return (true);
	}
	if (who == WHO_GROUP) {
		found = ps->opts->names->group(name, &gid) == 0;
		if (found)
			*id = gid;
	} else {
		if ((ids = calloc(1, sizeof(*ids))) == NULL)
			fatalx("out of memory");
		found = ps->opts->names->user(name, ids) == 0;
		if (found)
			*id = ids->uid;
		free(ids);
	}
	if (!found)
		conf_error(ps, pos, "there is no %s \"%s\"", who_word(who),
		    name);
	return (found);
}

/* Adds each word of a list once; tells of the second time. */
static void
add_all(struct parser *ps, struct pos pos, const char *what,
    struct strings *to, const struct strings *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (strings_has(to, list->v[i]))
			conf_error(ps, pos, "%s \"%s\" was given already",
			    what, list->v[i]);
		else if (to->n >= CONF_ENTRIES_MAX)
			conf_error(ps, pos, "more than %d of %s",
			    CONF_ENTRIES_MAX, what);
		else if (strings_add(to, list->v[i]) == -1)
			fatalx("out of memory");
	}
}

/* ---- principals ---- */

static struct cf_principal *
current(struct parser *ps)
{
	struct slice *s = ps->conf->slice;

	return (&s->principals[s->nprincipals - 1]);
}

void
set_principal(struct parser *ps, struct pos pos, enum cf_who who,
    const char *name)
{
	struct slice *s = ps->conf->slice;
	struct cf_principal *p;
	uint32_t id = 0;
	size_t i;

	ps->here = pos;
	ps->has_preset = ps->has_owner = false;
	if (who == WHO_KEY ? set_name_ok(ps, pos, "key", name) :
	    resolve(ps, pos, who, name, &id)) {
		for (i = 0; i < s->nprincipals; i++) {
			p = &s->principals[i];
			if (p->who == who && (who == WHO_KEY ?
			    strcmp(p->name, name) == 0 : p->id == id))
				conf_error(ps, pos, "principal %s \"%s\" was "
				    "given already, at %s:%u", who_word(who),
				    name, p->where.file, p->where.line);
		}
	}
	if (s->nprincipals >= CONF_ENTRIES_MAX) {
		conf_error(ps, pos, "more than %d principals",
		    CONF_ENTRIES_MAX);
		ps->ended = true;
		return;
	}
	s->principals = set_grow(s->principals, &s->nprincipals, sizeof(*p));
	p = current(ps);
	set_where(&p->where, pos);
	p->who = who;
	p->id = id;
	p->name = conf_copy(name);
	p->owner = OWNER_PEER;
}

void
set_principal_preset(struct parser *ps, struct pos pos, const char *name)
{
	if (ps->has_preset)
		conf_error(ps, pos, "preset was given already for this "
		    "principal");
	ps->has_preset = true;
	if (set_name_ok(ps, pos, "preset", name))
		(void)strlcpy(current(ps)->preset, name,
		    sizeof(current(ps)->preset));
}

void
set_principal_profiles(struct parser *ps, struct pos pos,
    const struct strings *list)
{
	add_all(ps, pos, "profile", &current(ps)->profiles, list);
}

void
set_principal_workspaces(struct parser *ps, struct pos pos,
    const struct strings *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (!path_clean(list->v[i]))
			conf_error(ps, pos, "workspace \"%s\": an absolute "
			    "pattern without empty, . or .. parts is needed",
			    list->v[i]);
	}
	add_all(ps, pos, "workspace", &current(ps)->workspaces, list);
}

void
set_principal_owner(struct parser *ps, struct pos pos, const char *name)
{
	struct cf_principal *p = current(ps);

	if (ps->has_owner)
		conf_error(ps, pos, "owner was given already for this "
		    "principal");
	ps->has_owner = true;
	if (name == NULL) {
		p->owner = OWNER_ANY;
		if (p->who != WHO_USER || p->id != 0)
			conf_error(ps, pos, "owner any is for \"principal "
			    "user root\" alone; name one");
		return;
	}
	p->owner = OWNER_NAMED;
	free(p->owner_name);
	p->owner_name = conf_copy(name);
	if (ps->opts->names->user(name, &p->ids) == -1)
		conf_error(ps, pos, "there is no user \"%s\"", name);
	else if (p->ids.uid == 0 || p->ids.gid == 0)
		conf_error(ps, pos, "owner \"%s\": a workspace belongs to "
		    "nobody of uid 0 or gid 0", name);
}

void
set_principal_end(struct parser *ps)
{
	struct cf_principal *p = current(ps);

	if (!ps->has_preset)
		conf_error(ps, ps->here, "principal %s \"%s\" has no preset",
		    who_word(p->who), p->name);
	if (p->who == WHO_USER && p->id == 0 && !ps->has_owner &&
	    p->workspaces.n > 0)
		conf_error(ps, ps->here, "principal user \"%s\" has "
		    "workspaces, which root can't own: say owner NAME or "
		    "owner any", p->name);
	if (p->who == WHO_KEY && !ps->has_owner && p->workspaces.n > 0)
		conf_error(ps, ps->here, "principal key \"%s\" has "
		    "workspaces and no uid that could own files in them: say "
		    "owner NAME", p->name);
}

/* ---- operators ---- */

void
set_operator(struct parser *ps, struct pos pos, enum cf_who who,
    const char *name, const struct strings *list)
{
	struct slice *s = ps->conf->slice;
	struct cf_operator *o;
	unsigned all = 0;
	uint32_t id;
	size_t i, j;

	for (i = 0; i < list->n; i++) {
		for (j = 0; j < NRIGHTS; j++) {
			if (strcmp(list->v[i], rights[j].word) == 0)
				break;
		}
		if (j == NRIGHTS)
			conf_error(ps, pos, "there is no right \"%s\"; they "
			    "are approve, audit, manage", list->v[i]);
		else
			all |= rights[j].right;
	}
	if (resolve(ps, pos, who, name, &id)) {
		for (i = 0; i < s->noperators; i++) {
			o = &s->operators[i];
			if (o->who == who && o->id == id)
				conf_error(ps, pos, "operator %s \"%s\" was "
				    "given already, at %s:%u", who_word(who),
				    name, o->where.file, o->where.line);
		}
	}
	if (s->noperators >= CONF_ENTRIES_MAX) {
		conf_error(ps, pos, "more than %d operators",
		    CONF_ENTRIES_MAX);
		return;
	}
	s->operators = set_grow(s->operators, &s->noperators, sizeof(*o));
	o = &s->operators[s->noperators - 1];
	set_where(&o->where, pos);
	o->who = who;
	o->id = id;
	o->name = conf_copy(name);
	o->rights = all;
}
