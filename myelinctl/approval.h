/*
 * Approvals, as the operator's commands know them.
 */
#ifndef MYELINCTL_APPROVAL_H
#define MYELINCTL_APPROVAL_H

#include <jansson.h>
#include <stddef.h>

#include "ctl.h"

#define APPROVAL_REASON_MAX	512	/* bytes of a decision's reason */

/* A member's text, "" where it is none. */
const char *approval_text(const json_t *, const char *member);
int	approval_pending(const json_t *);
/* Whether it can be allowed for its session, if it has one. */
int	approval_rememberable(const json_t *);

/*
 * "allowed for the session by uid:1001 (ann) at ...: reason", "expired: ...":
 * fresh memory, safe for a terminal, never NULL.
 */
char	*approval_outcome(const json_t *);

/* "uid:1000 (ann)"; the same. */
char	*approval_principal(const char *principal);

/* What it is about in one line: the command, or else the tool. */
char	*approval_what(const json_t *);

/* "4:12", or "1:02:03"; of milliseconds, from 0 on. */
void	approval_left(char *, size_t, json_int_t ms);

/* ---- all of it, for a person ---- */

/*
 * Lines of text that is safe for a terminal.  One that does not fit goes on
 * below, behind hang columns whose last but one is mark.  What a call brought
 * along stands behind a margin, so that no line of it passes for one of ours.
 */
struct line {
	char	*text;
	size_t	 hang;
	char	 mark;
};

struct lines {
	struct line	*v;
	size_t		 n;
	size_t		 room;
};

/*
 * Who asks for what, why it is asked, and all that would run.  brief leaves
 * out what names it (call, neuron, digest) and how it stands.
 */
void	lines_of_approval(struct lines *, const json_t *, int brief);
/* Takes over text, which malloc(3) gave. */
void	lines_add(struct lines *, char *text, size_t hang, char mark);
void	lines_free(struct lines *);

/*
 * How many bytes of safe text fit into so many columns: one character at
 * least, and 0 at its end.
 */
size_t	lines_fit(const char *text, size_t columns);

/* ---- the service ---- */

/* The target of requests about it, or NULL after a complaint. */
const char *approval_target(const struct options *, const char *command,
	    const char *id);

/* The body of a decision on what was shown; reason may be NULL. */
json_t	*approval_decision(const char *decision, const json_t *shown,
	    const char *reason);

#endif
