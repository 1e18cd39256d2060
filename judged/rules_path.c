/*
 * Paths of findings, against patterns.
 *
 * Each word of a command is resolved once, whatever the number of rules and of
 * findings: memory has a bound, and what is over it asks where it might have
 * been denied.
 */
#include <string.h>

#include "judge/subject.h"
#include "rules.h"
#include "rules_glob.h"

struct rule_path {
	const char	*path;		/* absolute, or NULL */
	char		*below;		/* the same with a slash behind it */
	unsigned	 flags;		/* WORD_* */
	int		 slash;		/* the word has one itself */
	int		 tree;		/* and all that is below it */
};

/* The paths of one command: its words, their parts and its redirects. */
struct rule_paths {
	const struct command	*of;
	const struct word	*argv;
	size_t			 argc;
	const char		*program;
	struct rule_path	*v;
	size_t			 n;
};

static void
resolve(struct judging *j, struct rule_path *p, const char *cwd,
    const char *text, unsigned flags)
{
	size_t n;

	p->flags = flags;
	p->slash = strchr(text, '/') != NULL;
	p->tree = 0;
	if ((p->path = shell_path(j, cwd, text)) == NULL)
		return;
	n = strlen(p->path);
	p->below = judging_strndup(j, p->path, n + 1);
	p->below[n] = '/';
}

/* A word, and what stands behind "=" or an option's letter in it. */
static void
add_word(struct judging *j, struct rule_paths *l, const struct word *w)
{
	const char *at;

	if (w->text == NULL || strstr(w->text, "://") != NULL)
		return;
	if (w->text[0] != '-')
		resolve(j, &l->v[l->n++], l->of->cwd, w->text, w->flags);
	at = strchr(w->text, '=');
	if (at == NULL && w->text[0] == '-')
		at = strchr(w->text, '/');
	else if (at != NULL)
		at++;
	if (at != NULL && *at != '\0')
		resolve(j, &l->v[l->n++], l->of->cwd, at, w->flags);
}

static const struct rule_paths *
paths_of(struct judging *j, struct rule_call *call, const struct command *c)
{
	struct rule_paths *l = call->paths;
	const struct word *w;
	size_t i;

	if (l != NULL && l->of == c && l->argv == c->argv &&
	    l->argc == c->argc)
		return (l);
	l = judging_alloc(j, sizeof(*l));
	l->of = c;
	l->argv = c->argv;
	l->argc = c->argc;
	l->v = judging_alloc(j, (2 * c->argc + c->nredirects + 1) *
	    sizeof(*l->v));
	if (c->argc > 0 && c->argv[0].text != NULL)
		l->program = shell_path(j, c->cwd, c->argv[0].text);
	for (i = 1; i < c->argc; i++)
		add_word(j, l, &c->argv[i]);
	for (i = 0; i < c->nredirects; i++) {
		w = &c->redirects[i].target;
		if (c->redirects[i].op != REDIRECT_DUP && w->text != NULL)
			resolve(j, &l->v[l->n++], c->cwd, w->text, w->flags);
	}
	return (call->paths = l);
}

const char *
rules_program(struct judging *j, struct rule_call *call,
    const struct command *c)
{
	return (paths_of(j, call, c)->program);
}

/* ---- patterns ---- */

/* A pattern fits what it names and all that lies below. */
static int
names(const char *pattern, const char *below, const struct rule_path *p)
{
	return (shell_match(pattern, p->path) ||
	    shell_match(pattern, p->below) || shell_match(below, p->path));
}

static enum rule_fit
path_fits(const char *pattern, const struct rule_path *p)
{
	int glob = (p->flags & WORD_GLOB) != 0;
	char below[RULE_WORD_MAX + 2];
	size_t n = strlen(pattern);

	if (p->path == NULL || n >= RULE_WORD_MAX)
		return (FIT_NO);
	/* most words of most commands end here */
	if (!p->tree && (p->flags & (WORD_GLOB | WORD_PREFIX | WORD_SPLITS)) ==
	    0 && strncmp(pattern, p->below, strcspn(pattern, "*?[\\")) != 0)
		return (FIT_NO);
	memcpy(below, pattern, n);
	memcpy(below + n, "/*", 3);
	if ((p->flags & (WORD_PREFIX | WORD_SPLITS)) != 0)
		return (p->slash && (glob_overlaps(pattern, p->path, glob,
		    1) || glob_overlaps(below, p->path, glob, 1)) ?
		    FIT_MAYBE : FIT_NO);
	if (names(pattern, below, p) || (glob && (glob_overlaps(pattern,
	    p->path, 1, 0) || glob_overlaps(below, p->path, 1, 0))))
		return (FIT_YES);
	if (!p->tree)
		return (FIT_NO);
	return (glob_overlaps(pattern, p->path[1] == '\0' ? p->path :
	    p->below, glob, 1) ? FIT_YES : FIT_NO);
}

static enum rule_fit
listed(const struct strings *list, const struct rule_path *p)
{
	enum rule_fit fit = FIT_NO, one;
	size_t i;

	for (i = 0; i < list->n && fit != FIT_YES; i++)
		if ((one = path_fits(list->v[i], p)) > fit)
			fit = one;
	return (fit);
}

/* ---- a finding ---- */

/* What is changed: resolved once for all rules, as its finding is. */
static const struct rule_path *
target_of(struct judging *j, struct rule_call *call, const struct finding *f)
{
	const char *cwd = f->command != NULL ? f->command->cwd :
	    judging_context(j)->cwd;

	if (call->target != NULL)
		return (call->target);
	call->target = judging_alloc(j, sizeof(*call->target));
	if (f->path != NULL && f->path->text != NULL)
		resolve(j, call->target, cwd, f->path->text, f->path->flags);
	call->target->tree = (f->flags & FINDING_TREE) != 0;
	return (call->target);
}

enum rule_fit
rules_paths(struct judging *j, struct rule_call *call,
    const struct strings *list, const struct finding *f, int allows)
{
	const struct rule_path *target = target_of(j, call, f);
	const struct rule_paths *l;
	enum rule_fit fit, one;
	struct rule_path only;
	size_t i;

	if (allows) {
		/* the very path, and no other reading of it */
		if (f->path == NULL || word_static(f->path) == NULL)
			return (FIT_NO);
		only = *target;
		only.tree = 0;
		return (listed(list, &only));
	}
	fit = listed(list, target);
	if (f->command == NULL)
		return (fit);
	l = paths_of(j, call, f->command);
	for (i = 0; i < l->n && fit != FIT_YES; i++)
		if ((one = listed(list, &l->v[i])) > fit)
			fit = one;
	return (fit);
}
