/* Filling the slice: operators' rules. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"
#include "protocol.h"

static struct cf_rule *
current(struct parser *ps)
{
	struct slice *s = ps->conf->slice;

	return (&s->rules[s->nrules - 1]);
}

/* Too many are not kept; what follows of such a one is passed over. */
void
set_rule(struct parser *ps, struct pos pos, unsigned verdict)
{
	struct slice *s = ps->conf->slice;
	struct cf_rule *r;

	if ((ps->no_rule = s->nrules >= RULES_MAX)) {
		conf_error(ps, pos, "more than %d rules", RULES_MAX);
		return;
	}
	s->rules = set_grow(s->rules, &s->nrules, sizeof(*r));
	r = current(ps);
	set_where(&r->where, pos);
	r->verdict = verdict;
}

void
set_rule_word(struct parser *ps, struct pos pos, enum rule_list which,
    const char *word)
{
	struct strings list = { NULL, 0 };

	if (strings_add(&list, word) == -1)
		fatalx("out of memory");
	set_rule_list(ps, pos, which, &list);
	strings_free(&list);
}

void
set_rule_list(struct parser *ps, struct pos pos, enum rule_list which,
    const struct strings *list)
{
	struct strings *to;
	const char *why;
	size_t i;

	if (ps->no_rule)
		return;
	to = &current(ps)->of[which];
	if (to->n > 0) {
		conf_error(ps, pos, "%s was given already in this rule",
		    rule_list_name(which));
		return;
	}
	if (list->n > RULE_LIST_MAX) {
		conf_error(ps, pos, "%s: %zu words; the most are %d",
		    rule_list_name(which), list->n, RULE_LIST_MAX);
		return;
	}
	for (i = 0; i < list->n; i++) {
		if ((why = rule_word_bad(which, list->v[i])) != NULL)
			conf_error(ps, pos, "%s \"%s\": %s",
			    rule_list_name(which), list->v[i], why);
		else if (strings_add(to, list->v[i]) == -1)
			fatalx("out of memory");
	}
}

void
set_rule_user(struct parser *ps, struct pos pos, const char *name)
{
	struct cf_ids *ids;
	uint64_t number;
	char word[32];

	if ((ids = calloc(1, sizeof(*ids))) == NULL)
		fatalx("out of memory");
	if (set_number(name, 10, UINT32_MAX - 1, &number))
		ids->uid = (uid_t)number;
	else if (ps->opts->names->user(name, ids) == -1) {
		conf_error(ps, pos, "there is no user \"%s\"", name);
		free(ids);
		return;
	}
	(void)snprintf(word, sizeof(word), "uid:%u", (unsigned)ids->uid);
	free(ids);
	set_rule_word(ps, pos, RULE_PRINCIPAL, word);
}

void
set_rule_test(struct parser *ps, struct pos pos, bool negative,
    const char *text)
{
	struct cf_rule_test *t;
	struct cf_rule *r;

	if (ps->no_rule)
		return;
	r = current(ps);
	if (r->ntests >= RULE_TESTS_MAX) {
		conf_error(ps, pos, "more than %d tests of one rule",
		    RULE_TESTS_MAX);
		return;
	}
	r->tests = set_grow(r->tests, &r->ntests, sizeof(*t));
	t = &r->tests[r->ntests - 1];
	set_where(&t->where, pos);
	t->negative = negative;
	t->text = conf_copy(text);
}

void
set_rule_end(struct parser *ps)
{
	char text[1];
	size_t n;

	if (ps->no_rule)
		return;
	/* in its normal form it is shown, and in answers */
	n = rule_text(current(ps), text, sizeof(text));
	if (n >= RULE_TEXT_MAX)
		conf_error(ps, set_pos(&current(ps)->where), "a rule of %zu "
		    "bytes; the most is %d", n, RULE_TEXT_MAX - 1);
}
