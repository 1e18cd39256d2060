/*
 * What rules make of a finding.
 */
#include <string.h>
#include <strings.h>

#include "judge/subject.h"
#include "rules_int.h"
#include "without.h"

#define RANK_ASKS	32	/* over those of the classes that ask */
#define RANK_LIFTED	16	/* over those that were allowed anyway */

/* What was decided so far of one finding. */
struct decision {
	const struct cf_rule	*deny, *ask, *maybe, *allow;
};

static void
look(struct judging *j, struct rule_call *call, const struct finding *f,
    struct decision *d)
{
	struct rules_ready *r = rules_ready(j, call);
	struct rule_set set = rules_candidates(r, call, f);
	const struct cf_rule *rule;
	enum rule_fit fit;
	size_t i;

	r->target_known = 0;
	for (i = rule_set_next(&set, 0); i < READY_MAX;
	    i = rule_set_next(&set, i + 1)) {
		fit = rules_fit(j, r, call, i, f);
		if (fit > call->fit)
			call->fit = fit;
		if (fit == FIT_NO)
			continue;
		rule = r->v[i].rule;
		switch (rule->verdict) {
		case VERDICT_DENY:
			if (fit == FIT_YES && d->deny == NULL)
				d->deny = rule;
			else if (fit == FIT_MAYBE && d->maybe == NULL)
				d->maybe = rule;
			break;
		case VERDICT_ASK:
			if (d->ask == NULL)
				d->ask = rule;
			break;
		default:
			if (fit == FIT_YES && d->allow == NULL)
				d->allow = rule;
			break;
		}
	}
}

void
rules_found(struct judging *j, struct finding *f)
{
	struct rule_call *call = judging_context(j)->rules;
	struct decision d = { .deny = NULL };

	if (call == NULL || call->nrules + call->nmore == 0)
		return;
	look(j, call, f, &d);
	/* nothing lifts what the judge itself denies */
	if (f->verdict == VERDICT_DENY && !WITHOUT(rule_hard))
		return;
	if (d.allow != NULL && WITHOUT(rule_order))
		d.deny = d.ask = d.maybe = NULL;
	if (d.deny != NULL && !WITHOUT(rule_deny)) {
		f->verdict = VERDICT_DENY;
		f->rank = 0;
		f->by = d.deny;
	} else if (d.ask != NULL || d.maybe != NULL) {
		f->by = d.ask != NULL ? d.ask : d.maybe;
		f->flags |= d.ask != NULL ? 0 : FINDING_MAYBE;
		f->rank = RANK_ASKS + (f->verdict == VERDICT_ASK ? f->rank :
		    0);
		f->verdict = VERDICT_ASK;
	} else if (d.allow != NULL && (f->verdict == VERDICT_ASK ||
	    WITHOUT(rule_hard))) {
		f->verdict = VERDICT_ALLOW;
		f->rank += RANK_LIFTED;
		f->by = d.allow;
	}
}

void
rules_command(struct judging *j, const struct command *c)
{
	struct finding f = {
		.verdict = VERDICT_ALLOW, .class = "read",
		.effect = EFFECT_READ, .rule = "a command", .next = "",
		.command = c, .from = c->from, .to = c->to
	};
	struct rule_call *call = judging_context(j)->rules;

	if (call == NULL || call->nrules + call->nmore == 0)
		return;
	rules_found(j, &f);
	if (f.verdict != VERDICT_ALLOW)
		judging_find(j, &f);
}

void
rules_variable(struct judging *j, const char *name)
{
	struct rule_call *call = judging_context(j)->rules;
	size_t n = strlen(name);

	if (call == NULL)
		return;
	call->path_changed |= strcmp(name, "PATH") == 0;
	call->proxied |= n > 6 && strcasecmp(name + n - 6, "_proxy") == 0;
}

int
rules_name(struct judging *j, const char *name)
{
	struct rule_call *call = judging_context(j)->rules;
	const struct cf_rule *rule;
	struct rules_ready *r;
	struct rule_set set;
	size_t i;

	if (call == NULL || call->nrules + call->nmore == 0)
		return (0);
	name = base_name(name);
	r = rules_ready(j, call);
	set = rules_of_name(r, name);
	for (i = rule_set_next(&set, 0); i < READY_MAX;
	    i = rule_set_next(&set, i + 1)) {
		rule = r->v[i].rule;
		if (rule->verdict != VERDICT_ALLOW && shell_match(base_name(
		    rule->of[RULE_COMMAND].v[0]), name))
			return (1);
	}
	return (0);
}
