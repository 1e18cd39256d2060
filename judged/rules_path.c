/*
 * Paths of findings, against patterns.
 *
 * Each word of a command is resolved once, whatever the number of rules and of
 * findings, and looked at once by each rule: memory and work have bounds, and
 * what is over them asks where it might have been denied.
 */
#include <stdint.h>
#include <string.h>

#include "judge/subject.h"
#include "rules_glob.h"
#include "rules_int.h"

static void
resolve(struct judging *j, struct rule_path *p, const char *cwd,
    const char *text, unsigned flags)
{
	p->flags = flags;
	p->slash = strchr(text, '/') != NULL;
	if ((p->path = shell_path(j, cwd, text)) == NULL)
		return;
	p->len = strlen(p->path) + 1;
	p->literal = (flags & WORD_GLOB) != 0 ? strcspn(p->path,
	    RULE_SPECIAL) : p->len - 1;
	p->below = judging_strndup(j, p->path, p->len);
	p->below[p->len - 1] = '/';
}

/* One more; there is room for it. */
static void
add(struct judging *j, struct rule_paths *l, const char *cwd,
    const char *text, const struct word *w, size_t at)
{
	struct rule_path *p = &l->v[l->n++];

	memset(p, 0, sizeof(*p));
	p->word = at;
	resolve(j, p, cwd, text, w->flags);
}

static void
empty(struct judging *j, struct rule_paths *l, size_t room)
{
	l->n = 0;
	if (room <= l->room)
		return;
	if (room < l->room * 2)
		room = l->room * 2;
	l->v = judging_alloc(j, room * sizeof(*l->v));
	l->room = room;
}

/* A word, and what stands behind "=" or an option's letter in it. */
static void
add_word(struct judging *j, struct rules_ready *r, size_t i)
{
	const struct word *w = &r->words[i];
	const char *at;

	if (w->text == NULL || strstr(w->text, "://") != NULL)
		return;
	if (w->text[0] != '-')
		add(j, &r->paths, r->cwd, w->text, w, i);
	at = strchr(w->text, '=');
	if (at == NULL && w->text[0] == '-')
		at = strchr(w->text, '/');
	else if (at != NULL)
		at++;
	if (at != NULL && *at != '\0')
		add(j, &r->paths, r->cwd, at, w, i);
}

/*
 * The paths of a command's words.  What a wrapper starts is the tail of its
 * own words: where these are known, so is it.  Returns the number of the
 * command's first word.
 */
static size_t
words_of(struct judging *j, struct rules_ready *r, const struct command *c)
{
	uintptr_t first = (uintptr_t)r->words, at = (uintptr_t)c->argv;
	size_t i;

	if (r->words != NULL && r->cwd == c->cwd && at >= first &&
	    at + c->argc * sizeof(*c->argv) ==
	    first + r->nwords * sizeof(*c->argv))
		return ((at - first) / sizeof(*c->argv));
	r->words = NULL;
	empty(j, &r->paths, 2 * c->argc + 1);
	r->words = c->argv;
	r->nwords = c->argc;
	r->cwd = c->cwd;
	memset(r->last, 0, r->n * sizeof(*r->last));
	for (i = 1; i < c->argc; i++)
		add_word(j, r, i);
	return (0);
}

static const struct rule_paths *
redirects_of(struct judging *j, struct rules_ready *r,
    const struct command *c)
{
	const struct word *w;
	size_t i;

	if (r->redirects_known)
		return (&r->redirects);
	empty(j, &r->redirects, c->nredirects + 1);
	for (i = 0; i < c->nredirects; i++) {
		w = &c->redirects[i].target;
		if (c->redirects[i].op != REDIRECT_DUP && w->text != NULL)
			add(j, &r->redirects, c->cwd, w->text, w, 0);
	}
	r->redirects_known = 1;
	return (&r->redirects);
}

const char *
rules_program(struct judging *j, struct rules_ready *r,
    const struct command *c)
{
	if (!r->program_known) {
		r->program = c->argv[0].text == NULL ? NULL :
		    shell_path(j, c->cwd, c->argv[0].text);
		r->program_known = 1;
	}
	return (r->program);
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
path_fits_slow(const char *pattern, const struct rule_path *p)
{
	int glob = (p->flags & WORD_GLOB) != 0;
	char below[RULE_WORD_MAX + 2];
	size_t n = strlen(pattern);

	if (n >= RULE_WORD_MAX)
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

/* literal: bytes of the pattern that stand for themselves. */
static enum rule_fit
path_fits(const char *pattern, size_t literal, const struct rule_path *p)
{
	if (p->path == NULL)
		return (FIT_NO);
	/* most words of most commands end here */
	if (!p->tree && (p->flags & (WORD_GLOB | WORD_PREFIX |
	    WORD_SPLITS)) == 0 && (literal > p->len ||
	    memcmp(pattern, p->below, literal) != 0))
		return (FIT_NO);
	if (memcmp(pattern, p->path, literal < p->literal ? literal :
	    p->literal) != 0)
		return (FIT_NO);
	return (path_fits_slow(pattern, p));
}

static enum rule_fit
listed(struct rules_ready *r, size_t rule, const struct rule_path *p)
{
	const struct strings *list = &r->v[rule].rule->of[RULE_PATH];
	enum rule_fit fit = FIT_NO, one;
	size_t i;

	for (i = 0; i < list->n && fit != FIT_YES; i++)
		if ((one = path_fits(list->v[i], r->v[rule].literal[i], p)) >
		    fit)
			fit = one;
	return (fit);
}

/* ---- a finding ---- */

/* What is changed: resolved once for all rules, as its finding is. */
static const struct rule_path *
target_of(struct judging *j, struct rules_ready *r, const struct finding *f)
{
	const char *cwd = f->command != NULL ? f->command->cwd :
	    judging_context(j)->cwd;

	if (r->target_known)
		return (&r->target);
	memset(&r->target, 0, sizeof(r->target));
	if (f->path != NULL && f->path->text != NULL)
		resolve(j, &r->target, cwd, f->path->text, f->path->flags);
	r->target.tree = (f->flags & FINDING_TREE) != 0;
	r->target_known = 1;
	return (&r->target);
}

/*
 * The last words whose paths fit for certain, and perhaps: with them it is
 * known of each tail of the words whether one of it fits.
 */
static const struct rule_last *
last_of(struct rules_ready *r, size_t rule)
{
	struct rule_last *last = &r->last[rule];
	const struct rule_path *p;
	enum rule_fit fit;
	size_t i;

	if (last->known)
		return (last);
	last->known = 1;
	if (!rules_afford(r, r->paths.n, r->v[rule].rule->of[RULE_PATH].n)) {
		/* what was not looked at may fit */
		last->maybe = UINT32_MAX;
		return (last);
	}
	for (i = r->paths.n; i > 0 && last->yes == 0; i--) {
		p = &r->paths.v[i - 1];
		fit = listed(r, rule, p);
		if (fit == FIT_YES)
			last->yes = (uint32_t)p->word + 1;
		else if (fit == FIT_MAYBE && last->maybe == 0)
			last->maybe = (uint32_t)p->word + 1;
	}
	return (last);
}

static enum rule_fit
redirects_fit(struct judging *j, struct rules_ready *r, size_t rule,
    const struct command *c)
{
	const struct rule_paths *l;
	enum rule_fit fit = FIT_NO, one;
	size_t i;

	if (r->redirect_fit[rule] != FIT_UNKNOWN)
		return (r->redirect_fit[rule]);
	l = redirects_of(j, r, c);
	if (!rules_afford(r, l->n, r->v[rule].rule->of[RULE_PATH].n))
		fit = FIT_MAYBE;
	else
		for (i = 0; i < l->n && fit != FIT_YES; i++)
			if ((one = listed(r, rule, &l->v[i])) > fit)
				fit = one;
	r->redirect_fit[rule] = (uint8_t)fit;
	return (fit);
}

/* Whether any path of the command does, in its words or redirects. */
static enum rule_fit
command_paths(struct judging *j, struct rules_ready *r, size_t rule,
    const struct command *c)
{
	enum rule_fit fit = c->nredirects == 0 ? FIT_NO :
	    redirects_fit(j, r, rule, c);
	const struct rule_last *last;
	size_t first;

	if (fit == FIT_YES || c->argc < 2)
		return (fit);
	first = words_of(j, r, c);
	last = last_of(r, rule);
	/* the program itself is none of them */
	if (last->yes > first + 1)
		return (FIT_YES);
	return (last->maybe > first + 1 ? FIT_MAYBE : fit);
}

enum rule_fit
rules_paths(struct judging *j, struct rules_ready *r, size_t rule,
    const struct finding *f)
{
	const struct rule_path *target = target_of(j, r, f);
	struct rule_path only;
	enum rule_fit fit, one;

	if (r->v[rule].allows) {
		/* the very path, and no other reading of it */
		if (f->path == NULL || word_static(f->path) == NULL)
			return (FIT_NO);
		only = *target;
		only.tree = 0;
		return (listed(r, rule, &only));
	}
	fit = listed(r, rule, target);
	if (f->command == NULL || fit == FIT_YES)
		return (fit);
	one = command_paths(j, r, rule, f->command);
	return (one > fit ? one : fit);
}
