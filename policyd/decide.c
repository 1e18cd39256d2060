/* Pure decisions: profile, preset, workspace, owner, tool, time. */

#include <string.h>

#include "decide.h"
#include "without.h"

#define NOBODY	65534

static int	decide_profile(const struct cf_principal *, const char *,
		    char *, struct refusal *);
static int	decide_preset(const struct cf_principal *, const char *,
		    struct build *, struct refusal *);
static int	decide_workspace(const struct cf_principal *,
		    const struct wanted *, struct build *, struct refusal *);
static int	decide_owner(const struct cf_principal *,
		    const struct peer_ids *, const struct wanted *,
		    struct build *, struct refusal *);

int
decide_line(const struct peer_ids *ids, const struct cf_principal **line,
    struct refusal *r)
{
	char words[512];

	if ((*line = peer_principal(conf(), ids)) != NULL)
		return (0);
	peer_missing(conf(), PLANE_AGENT, ids, words, sizeof(words));
	return (refuse(r, 403, "forbidden", "%s", words));
}

static int
decide_profile(const struct cf_principal *line, const char *wanted,
    char *profile, struct refusal *r)
{
	const char *name = wanted;

	if (*name == '\0')
		name = line->profiles.n > 0 ? line->profiles.v[0] : "default";
	else if (line->profiles.n == 0 ? strcmp(name, "default") != 0 :
	    !strings_has(&line->profiles, name))
		return (refuse(r, 403, "forbidden", "the profile \"%s\" is "
		    "not among those of the principal line %s:%u",
		    name, line->where.file, line->where.line));
	if (conf_profile(name) == NULL)
		return (refuse(r, 403, "forbidden",
		    "the profile \"%s\" is no longer configured", name));
	strlcpy(profile, name, NAME_BYTES_MAX);
	return (0);
}

/*
 * Any preset may be asked for, as it is laid over the line's own: a session
 * can be narrower than its principal, never wider.
 */
static int
decide_preset(const struct cf_principal *line, const char *wanted,
    struct build *b, struct refusal *r)
{
	if (*wanted != '\0' && conf_preset(wanted) == NULL)
		return (refuse(r, 403, "forbidden",
		    "there is no preset \"%s\"", wanted));
	if (conf_preset(line->preset) == NULL)
		return (refuse(r, 403, "forbidden",
		    "the preset \"%s\" is no longer configured",
		    line->preset));
	strlcpy(b->own, line->preset, sizeof(b->own));
	strlcpy(b->preset, *wanted != '\0' ? wanted : line->preset,
	    sizeof(b->preset));
	return (0);
}

/* One can't lie in the other: nothing is made in either for the other. */
static int
workspace_meets(const char *profile, const char *workspace,
    struct refusal *r)
{
	const struct cf_profile *p = slice_profile(conf(), profile);
	const char *at;
	size_t i;

	for (i = 0; p != NULL && i < p->trees.nmounts; i++) {
		at = p->trees.mounts[i].at;
		if (path_within(workspace, at) || path_within(at, workspace))
			return (refuse(r, 403, "forbidden", "the workspace "
			    "\"%s\" meets the mount at \"%s\" of the "
			    "profile \"%s\"", workspace, at, profile));
	}
	return (0);
}

static int
decide_workspace(const struct cf_principal *line, const struct wanted *w,
    struct build *b, struct refusal *r)
{
	const struct cf_profile *p = slice_profile(conf(), b->profile);

	/* A request can only tighten. */
	b->read_only = w->read_only || (p != NULL && p->read_only);
	b->workspace[0] = '\0';
	if (w->workspace[0] == '\0')
		return (0);
	if (!path_clean(w->workspace))
		return (refuse(r, 403, "forbidden", "the workspace \"%s\" is "
		    "not an absolute path without empty, \".\" or \"..\" "
		    "parts", w->workspace));
	if (!path_allowed(&line->workspaces, w->workspace) &&
	    !WITHOUT(policyd_workspace))
		return (refuse(r, 403, "forbidden", "the workspace \"%s\" is "
		    "not within those of the principal line %s:%u",
		    w->workspace, line->where.file, line->where.line));
	if (workspace_meets(b->profile, w->workspace, r) == -1)
		return (-1);
	strlcpy(b->workspace, w->workspace, sizeof(b->workspace));
	return (0);
}

/* The ids must be those that the line gives, if the request names any. */
static int
owner_matches(const struct peer_ids *owner, const struct wanted *w,
    struct refusal *r)
{
	if (w->owner_uid != OWNER_UNSAID && w->owner_uid != owner->uid)
		return (refuse(r, 403, "forbidden", "the owner uid %u is not "
		    "yours to name: here it is %u", w->owner_uid,
		    (unsigned)owner->uid));
	if (w->owner_gid != OWNER_UNSAID &&
	    !peer_in_group(owner, w->owner_gid))
		return (refuse(r, 403, "forbidden", "the owner gid %u is not "
		    "yours to name: uid %u is not in that group",
		    w->owner_gid, (unsigned)owner->uid));
	return (0);
}

static int
owner_any(const struct peer_ids *ids, const struct wanted *w,
    struct build *b, struct refusal *r)
{
	if (ids->uid != 0)
		return (refuse(r, 403, "forbidden",
		    "\"owner any\" is for root alone; you are uid %u",
		    (unsigned)ids->uid));
	if (w->owner_uid == OWNER_UNSAID || w->owner_gid == OWNER_UNSAID)
		return (refuse(r, 400, "bad_request", "root must name the "
		    "workspace's owner, uid and gid, in the request"));
	if (w->owner_uid == 0 || w->owner_gid == 0)
		return (refuse(r, 403, "forbidden", "the owner of a workspace "
		    "is never root, and its group never root's"));
	memset(&b->owner, 0, sizeof(b->owner));
	b->owner.uid = w->owner_uid;
	b->owner.gid = w->owner_gid;
	return (0);
}

static int
decide_owner(const struct cf_principal *line, const struct peer_ids *ids,
    const struct wanted *w, struct build *b, struct refusal *r)
{
	b->owner = *ids;
	if (ids->key[0] != '\0')
		b->owner.uid = b->owner.gid = NOBODY; /* a number is no uid */
	if (b->workspace[0] == '\0')
		return (0);	/* nothing is owned outside */
	switch (line->owner) {
	case OWNER_ANY:
		return (owner_any(ids, w, b, r));
	case OWNER_NAMED:
		b->owner.uid = line->ids.uid;
		b->owner.gid = line->ids.gid;
		b->owner.ngroups = line->ids.ngroups;
		memcpy(b->owner.groups, line->ids.groups,
		    sizeof(b->owner.groups));
		break;
	case OWNER_PEER:
		if (ids->key[0] == '\0')
			break;
		return (refuse(r, 403, "forbidden", "a key has no uid that "
		    "could own a workspace: the principal line %s:%u needs "
		    "\"owner NAME\"", line->where.file, line->where.line));
	}
	if (b->owner.uid == 0)
		return (refuse(r, 403, "forbidden", "the owner of a workspace "
		    "is never root: the principal line %s:%u needs "
		    "\"owner NAME\" or \"owner any\"", line->where.file,
		    line->where.line));
	return (owner_matches(&b->owner, w, r));
}

int
decide_build(const struct cf_principal *line, const struct peer_ids *ids,
    const struct wanted *w, struct build *b, struct refusal *r)
{
	b->generation = conf()->generation;
	b->line = (uint32_t)(line - conf()->principals);
	b->peer = *ids;
	strlcpy(b->said_profile, w->profile, sizeof(b->said_profile));
	strlcpy(b->said_preset, w->preset, sizeof(b->said_preset));
	b->said_uid = w->owner_uid;
	b->said_gid = w->owner_gid;
	b->said_read_only = w->read_only;
	if (decide_profile(line, w->profile, b->profile, r) == -1 ||
	    decide_preset(line, w->preset, b, r) == -1 ||
	    decide_workspace(line, w, b, r) == -1 ||
	    decide_owner(line, ids, w, b, r) == -1)
		return (-1);
	return (0);
}

int
decide_again(struct build *b, struct refusal *r)
{
	const struct cf_principal *line;
	struct build fresh;
	struct wanted w;

	if (b->generation == conf()->generation)
		return (0);
	if (decide_line(&b->peer, &line, r) == -1)
		return (-1);
	memset(&w, 0, sizeof(w));
	strlcpy(w.profile, b->said_profile, sizeof(w.profile));
	strlcpy(w.preset, b->said_preset, sizeof(w.preset));
	strlcpy(w.workspace, b->workspace, sizeof(w.workspace));
	w.read_only = b->said_read_only;
	w.owner_uid = b->said_uid;
	w.owner_gid = b->said_gid;
	if (decide_build(line, &b->peer, &w, &fresh, r) == -1)
		return (-1);
	*b = fresh;
	return (0);
}

int
preset_allows(const struct cf_preset *preset, const char *tool,
    const char *group, unsigned effect)
{
	if (group[0] != '\0' && strings_has(&preset->deny_groups, group) &&
	    !WITHOUT(preset_groups))
		return (0);
	if (WITHOUT(preset_cap))
		return (1);
	if (strings_has(&preset->deny, tool))
		return (0);
	return (effect <= preset->cap || strings_has(&preset->allow, tool));
}

int
decide_tool(const char *own, const char *name, const char *tool,
    const char *group, unsigned effect, struct refusal *r)
{
	const struct cf_preset *preset;
	const char *names[2];
	size_t i;

	names[0] = own;
	names[1] = name;
	for (i = 0; i < 2; i++) {
		if ((preset = conf_preset(names[i])) == NULL)
			return (refuse(r, 403, "forbidden", "the preset "
			    "\"%s\" is no longer configured", names[i]));
		if (preset_allows(preset, tool, group, effect))
			continue;
		if (group[0] != '\0' &&
		    strings_has(&preset->deny_groups, group))
			return (refuse(r, 403, "forbidden", "the preset "
			    "\"%s\" denies the group \"%s\", which the tool "
			    "\"%s\" is of", names[i], group, tool));
		if (strings_has(&preset->deny, tool))
			return (refuse(r, 403, "forbidden", "the preset "
			    "\"%s\" denies the tool \"%s\"", names[i], tool));
		return (refuse(r, 403, "forbidden", "the preset \"%s\" stops "
		    "at %s; the tool \"%s\" is %s", names[i],
		    effect_name(preset->cap), tool, effect_name(effect)));
	}
	return (0);
}

/* A preset that is gone lets nothing through. */
enum cf_elevated
decide_elevated(const char *own, const char *name, const char **off)
{
	const struct cf_preset *preset;
	const char *names[2];
	size_t i;

	names[0] = own;
	names[1] = name;
	for (i = 0; i < 2; i++) {
		*off = names[i];
		if (((preset = conf_preset(names[i])) == NULL ||
		    preset->elevated == ELEVATED_OFF) &&
		    !WITHOUT(elevated_off))
			return (ELEVATED_OFF);
	}
	return (ELEVATED_ASK);
}

int
decide_timeout(const struct limits *limits, uint32_t asked, uint32_t tool,
    uint32_t *ms, struct refusal *r)
{
	uint64_t most = limits->v[LIMIT_TIMEOUT_MAX];
	uint64_t least = limit_table[LIMIT_TIMEOUT].min;

	if (asked == 0) {
		asked = tool != 0 ? tool : (uint32_t)limits->v[LIMIT_TIMEOUT];
		*ms = asked < most ? asked : (uint32_t)most;
		return (0);
	}
	if (asked == TIMEOUT_MOST) {
		*ms = (uint32_t)most;
		return (0);
	}
	if (asked > most)
		return (refuse(r, 400, "bad_request", "timeout_ms is %u, over "
		    "the limit timeout-max, which is %llu ms", asked,
		    (unsigned long long)most));
	if (asked < least)
		return (refuse(r, 400, "bad_request", "timeout_ms is %u; the "
		    "least is %llu ms", asked, (unsigned long long)least));
	*ms = asked;
	return (0);
}
