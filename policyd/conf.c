/* The configuration in force; the presets that need no configuration. */

#include <string.h>

#include "conf.h"
#include "protocol.h"

/* Guarantee C6: what every installation starts with. */
static const struct cf_preset builtin[] = {
	{ .name = "readonly", .cap = EFFECT_READ, .elevated = ELEVATED_OFF },
	{ .name = "strict", .cap = EFFECT_MUTATE_REVERSIBLE,
	    .elevated = ELEVATED_OFF },
	{ .name = "standard", .cap = EFFECT_MUTATE_IRREVERSIBLE,
	    .elevated = ELEVATED_OFF },
};

static const struct slice *current;

static const struct cf_preset *
preset_of(const struct slice *s, const char *name)
{
	const struct cf_preset *preset;
	size_t i;

	if ((preset = slice_preset(s, name)) != NULL)
		return (preset);
	for (i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++) {
		if (strcmp(builtin[i].name, name) == 0)
			return (&builtin[i]);
	}
	return (NULL);
}

static int
principal_check(struct slice *s, const struct cf_principal *line)
{
	size_t i;

	if (preset_of(s, line->preset) == NULL)
		return (slice_bad(s, &line->where,
		    "there is no preset \"%s\"", line->preset));
	for (i = 0; i < line->profiles.n; i++) {
		if (strcmp(line->profiles.v[i], "default") != 0 &&
		    slice_profile(s, line->profiles.v[i]) == NULL)
			return (slice_bad(s, &line->where,
			    "there is no profile \"%s\"",
			    line->profiles.v[i]));
	}
	if (line->owner == OWNER_NAMED && line->ids.uid == 0)
		return (slice_bad(s, &line->where,
		    "the owner of a workspace is never root"));
	if (line->who == WHO_KEY && line->owner == OWNER_PEER &&
	    line->workspaces.n > 0)
		return (slice_bad(s, &line->where, "a key has no uid that "
		    "could own a workspace: say owner NAME"));
	if (line->owner == OWNER_ANY &&
	    (line->who != WHO_USER || line->id != 0))
		return (slice_bad(s, &line->where,
		    "\"owner any\" is for the user root alone"));
	return (0);
}

int
conf_check(struct slice *s)
{
	size_t i;

	for (i = 0; i < s->nprincipals; i++) {
		if (principal_check(s, &s->principals[i]) == -1)
			return (-1);
	}
	for (i = 0; i < s->npresets; i++) {
		if (s->presets[i].cap < EFFECT_READ ||
		    s->presets[i].cap > EFFECT_DESTRUCTIVE)
			return (slice_bad(s, &s->presets[i].where,
			    "preset \"%s\" names no effect as its cap",
			    s->presets[i].name));
	}
	return (0);
}

void
conf_set(const struct slice *s)
{
	current = s;
}

const struct slice *
conf(void)
{
	return (current);
}

uint64_t
conf_limit(enum limit limit)
{
	return (current->limits.v[limit]);
}

const struct limits *
conf_profile(const char *name)
{
	const struct cf_profile *profile;

	if ((profile = slice_profile(current, name)) != NULL)
		return (&profile->limits);
	if (strcmp(name, "default") == 0)
		return (&current->limits);
	return (NULL);
}

const struct cf_preset *
conf_preset(const char *name)
{
	return (preset_of(current, name));
}

uint64_t
conf_calls_session(const struct cf_preset *preset)
{
	return (preset->calls_session != 0 ? preset->calls_session :
	    conf_limit(LIMIT_CALLS_SESSION));
}

uint64_t
conf_hourly(const struct cf_preset *preset)
{
	return (preset->hourly != 0 ? preset->hourly :
	    conf_limit(LIMIT_HOURLY));
}
