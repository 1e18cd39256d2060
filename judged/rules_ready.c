/*
 * Rules made ready for a judging: see rules_int.h.
 */
#include <stdlib.h>
#include <string.h>

#include "judge/subject.h"
#include "rules_int.h"

static void
set_add(struct rule_set *s, size_t i)
{
	s->bits[i / 64] |= (uint64_t)1 << i % 64;
}

size_t
rule_set_next(const struct rule_set *s, size_t i)
{
	uint64_t rest;

	for (; i < READY_MAX; i = (i / 64 + 1) * 64) {
		rest = s->bits[i / 64] >> i % 64;
		if (rest != 0)
			return (i + (size_t)__builtin_ctzll(rest));
	}
	return (READY_MAX);
}

static size_t
bucket(const char *name)
{
	unsigned h = 5381;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return ((h ^ h >> 8) & (READY_BUCKETS - 1));
}

/* Where a rule is looked for, by the program that it names. */
static void
index_rule(struct rules_ready *r, size_t i)
{
	const struct strings *list = &r->v[i].rule->of[RULE_COMMAND];
	const char *name;

	if (r->v[i].rule->of[RULE_HOST].n > 0)
		set_add(&r->hosted, i);
	if (r->v[i].rule->of[RULE_PATH].n > 0)
		set_add(&r->pathed, i);
	if (list->n == 0) {
		set_add(&r->plain, i);
		return;
	}
	name = base_name(list->v[0]);
	if (strchr(list->v[0], '/') != NULL)
		set_add(&r->slashed, i);
	if (name[strcspn(name, RULE_SPECIAL)] != '\0')
		set_add(&r->globbed, i);
	else
		set_add(&r->by_name[bucket(name)], i);
}

static unsigned
effects_of(const struct strings *list)
{
	unsigned e, effects = 0;
	size_t i;

	if (list->n == 0)
		return (~0u);
	for (e = EFFECT_READ; e <= EFFECT_DESTRUCTIVE; e++)
		for (i = 0; i < list->n; i++)
			if (shell_match(list->v[i], effect_name(e)))
				effects |= 1u << e;
	return (effects);
}

static void
add_rule(struct judging *j, struct rules_ready *r,
    const struct rule_call *call, const struct cf_rule *rule)
{
	const struct strings *paths = &rule->of[RULE_PATH];
	struct rule_ready *one = &r->v[r->n];
	size_t i;

	one->rule = rule;
	one->allows = rule->verdict == VERDICT_ALLOW;
	one->effects = effects_of(&rule->of[RULE_EFFECT]);
	for (i = 0; i < rule->of[RULE_MARK].n; i++)
		one->marks |= mark_find(rule->of[RULE_MARK].v[i]);
	one->literal = judging_alloc(j, paths->n * sizeof(*one->literal) + 1);
	for (i = 0; i < paths->n; i++)
		one->literal[i] = (uint16_t)strcspn(paths->v[i], RULE_SPECIAL);
	if (rules_call_fits(call, rule))
		set_add(&r->active, r->n);
	index_rule(r, r->n);
	r->n++;
}

struct rules_ready *
rules_ready(struct judging *j, struct rule_call *call)
{
	size_t i, n = call->nrules + call->nmore;
	struct rules_ready *r;

	if (call->ready != NULL)
		return (call->ready);
	/* Where they come from has bounds. */
	if (n > READY_MAX)
		abort();
	r = judging_alloc(j, sizeof(*r));
	r->v = judging_alloc(j, n * sizeof(*r->v) + 1);
	r->command_fit = judging_alloc(j, n + 1);
	r->redirect_fit = judging_alloc(j, n + 1);
	r->last = judging_alloc(j, n * sizeof(*r->last) + 1);
	for (i = 0; i < call->nrules; i++)
		add_rule(j, r, call, &call->rules[i]);
	for (i = 0; i < call->nmore; i++)
		add_rule(j, r, call, &call->more[i]);
	return (call->ready = r);
}

int
rules_afford(struct rules_ready *r, size_t words, size_t cost)
{
	uint64_t work = (uint64_t)words * cost;

	if (words <= RULES_WORK_FREE)
		return (1);
	if (work > RULES_WORK_MAX || r->work > RULES_WORK_MAX - work) {
		r->work = RULES_WORK_MAX;
		return (0);
	}
	r->work += work;
	return (1);
}

struct rule_set
rules_of_name(const struct rules_ready *r, const char *name)
{
	struct rule_set s = r->by_name[bucket(name)];
	size_t i;

	for (i = 0; i < READY_SETS; i++)
		s.bits[i] |= r->globbed.bits[i];
	return (s);
}

static void
set_remove(struct rule_set *s, const struct rule_set *gone)
{
	size_t i;

	for (i = 0; i < READY_SETS; i++)
		s->bits[i] &= ~gone->bits[i];
}

/* By the program, where it is known for certain: else any may hold. */
static void
of_command(struct rules_ready *r, const struct command *c)
{
	const char *text = NULL;
	struct rule_set s = r->plain;
	size_t i;

	r->candidates = r->active;
	if (c != NULL && c->argc > 0 &&
	    (text = word_static(&c->argv[0])) == NULL)
		return;
	if (text != NULL) {
		s = rules_of_name(r, base_name(text));
		for (i = 0; i < READY_SETS; i++)
			s.bits[i] |= r->plain.bits[i];
	}
	/* by another name for it, perhaps */
	if (text != NULL && strchr(text, '/') != NULL)
		for (i = 0; i < READY_SETS; i++)
			s.bits[i] |= r->slashed.bits[i];
	for (i = 0; i < READY_SETS; i++)
		r->candidates.bits[i] &= s.bits[i];
}

struct rule_set
rules_candidates(struct rules_ready *r, const struct rule_call *call,
    const struct finding *f)
{
	const struct command *c = f->command;
	struct rule_set s;

	if (c == NULL || r->of != c || r->argv != c->argv ||
	    r->argc != c->argc || r->path_changed != call->path_changed) {
		r->of = c;
		r->argv = c == NULL ? NULL : c->argv;
		r->argc = c == NULL ? 0 : c->argc;
		r->path_changed = call->path_changed;
		r->program_known = r->redirects_known = 0;
		memset(r->command_fit, FIT_UNKNOWN, r->n);
		memset(r->redirect_fit, FIT_UNKNOWN, r->n);
		of_command(r, c);
	}
	s = r->candidates;
	if (f->hosts == NULL)
		set_remove(&s, &r->hosted);
	if (f->path == NULL && (c == NULL || (c->argc < 2 &&
	    c->nredirects == 0)))
		set_remove(&s, &r->pathed);
	return (s);
}
