/* Filling the slice: how a profile's neurons are built. */
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
