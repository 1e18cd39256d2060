/*
 * A rule's own tests.
 */
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "shell/shell.h"
#include "tool.h"

#define TEST_HOME	"/home/agent"

/* 1 if every tool that the rule names takes paths: so do its tests. */
static int
takes_paths(const struct cf_rule *rule, const struct tools *tools)
{
	const struct strings *names = &rule->of[RULE_TOOL];
	size_t i, k, n = 0;

	if (rule->of[RULE_COMMAND].n > 0)
		return (0);
	for (i = 0; i < names->n; i++) {
		for (k = 0; k < tools->n; k++) {
			if (!shell_match(names->v[i], tools->v[k].name))
				continue;
			if (tools->v[k].judges != JUDGES_NOTHING)
				return (0);
			n++;
		}
	}
	return (n > 0);
}

static void
find_one(struct judging *j, void *arg)
{
	judging_find(j, arg);
}

/* Whether the rule holds for a text; FIT_MAYBE too where memory is out. */
static enum rule_fit
holds(const struct cf_rule *rule, int path, const char *text)
{
	struct rule_call call = {
		.tool = "", .principal = "", .workspace = "", .rules = rule,
		.nrules = 1, .testing = 1
	};
	struct judge_context context = {
		.cwd = TEST_HOME, .home = TEST_HOME, .user = "agent",
		.shell = "/bin/bash", .found = rules_found, .rules = &call
	};
	struct word word = { .text = text, .len = strlen(text) };
	struct finding f = {
		.verdict = VERDICT_ASK, .class = "read", .rule = "a path",
		.effect = EFFECT_READ, .next = "", .path = &word
	};
	struct judging *j;

	if ((j = judging_new(&context)) == NULL)
		return (FIT_MAYBE);
	if (path)
		judging_run_with(j, find_one, &f);
	else
		judging_run(j, text, strlen(text), DIALECT_BASH);
	judging_free(j);
	return (call.fit);
}

int
rule_tests_run(const struct cf_rule *rule, const struct tools *tools,
    const struct where **where, struct why *why)
{
	int path = takes_paths(rule, tools);
	const struct cf_rule_test *t;
	char buf[WHY_NAME_SIZE];
	enum rule_fit fit;
	size_t i;

	for (i = 0; i < rule->ntests; i++) {
		t = &rule->tests[i];
		fit = holds(rule, path, t->text);
		if (fit == (t->negative ? FIT_NO : FIT_YES))
			continue;
		*where = &t->where;
		why_set(why, "%smatch \"%s\": the rule of line %u %s",
		    t->negative ? "not " : "", why_name(t->text,
		    strlen(t->text), buf), rule->where.line,
		    fit == FIT_YES ? "holds for it" : fit == FIT_NO ?
		    "does not hold for it" : "may hold for it, as a word is "
		    "not known before it runs");
		return (-1);
	}
	return (0);
}
