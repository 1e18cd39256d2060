/* Workspaces that neurons share. */

#include <string.h>

#include "conf.h"
#include "without.h"
#include "workspace.h"

/* 1 if one path is the other, or lies within it. */
static int
paths_meet(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;

	if (strncmp(a, b, n) != 0)
		return (0);
	return (na == nb || (na < nb ? b[n] : a[n]) == '/');
}

/* The same directory may have several paths, by mounts of the host's. */
static int
meet(const struct neuron *a, const struct neuron *b)
{
	if (b->build.workspace[0] == '\0')
		return (0);
	return (paths_meet(a->build.workspace, b->build.workspace) ||
	    (a->inode != 0 && a->inode == b->inode &&
	    a->device == b->device));
}

static enum cf_sharing
sharing(const struct neuron *n)
{
	const struct cf_profile *p = slice_profile(conf(), n->build.profile);

	return (p != NULL ? p->sharing : SHARING_PRINCIPAL);
}

/*
 * One principal may have several neurons on his workspace: an agent's
 * sessions, a hook beside the call it looks at, a shell to see what goes on.
 * Between principals it would be a way from one's agent to another's, which
 * neither of them asked for.
 */
static int
may_share(const struct neuron *a, const struct neuron *b)
{
	int own = a->ident == b->ident;

	if (a->build.read_only && b->build.read_only)
		return (1);
	if (own && (a->no_egress || b->no_egress))
		return (1);	/* a hook's */
	if (sharing(a) == SHARING_NONE || sharing(b) == SHARING_NONE)
		return (0);
	return (own || (sharing(a) == SHARING_ANY &&
	    sharing(b) == SHARING_ANY));
}

int
workspace_free(const struct neuron *n, struct refusal *r)
{
	const struct neuron *other;

	if (n->build.workspace[0] == '\0' || WITHOUT(workspace_sharing))
		return (0);
	TAILQ_FOREACH(other, neuron_all(), order) {
		if (other == n || other->state == NEURON_NEW ||
		    !meet(n, other) || may_share(n, other))
			continue;
		return (refuse_later(r, 409, "conflict", 5, "the workspace "
		    "\"%s\" is in use, by a neuron that yours may not share "
		    "it with", n->build.workspace));
	}
	return (0);
}
