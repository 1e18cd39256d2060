/*
 * Session rules, decoded.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "rule_json.h"
#include "without.h"

struct reading {
	size_t	 at;		/* the rule */
	char	*why;
	size_t	 size;
};

static int	bad(const struct reading *, const char *, ...)
		    __attribute__((__format__(__printf__, 2, 3)));

/* Says what is wrong with a rule; returns -1 for the caller to return. */
static int
bad(const struct reading *r, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(r->why, r->size, "rules[%zu]", r->at);
	va_start(ap, fmt);
	(void)vsnprintf(r->why + n, r->size - (size_t)n, fmt, ap);
	va_end(ap);
	return (-1);
}

static int
read_verdict(const struct reading *r, struct cf_rule *rule, const json_t *v)
{
	const char *word = json_string_value(v);

	if (word != NULL && strcmp(word, "allow") == 0 &&
	    !WITHOUT(rule_tighten))
		return (bad(r, ".verdict: a session's rules can deny and ask, "
		    "and not allow: that is the operator's to say"));
	if (word != NULL && strcmp(word, "deny") == 0)
		rule->verdict = VERDICT_DENY;
	else if (word != NULL && strcmp(word, "ask") == 0)
		rule->verdict = VERDICT_ASK;
	else if (WITHOUT(rule_tighten))
		rule->verdict = VERDICT_ALLOW;
	else
		return (bad(r, ".verdict: not \"deny\" or \"ask\""));
	return (0);
}

static int
read_word(const struct reading *r, struct cf_rule *rule, enum rule_list which,
    const json_t *v)
{
	const char *word = json_string_value(v), *why;

	if (word == NULL || strlen(word) != json_string_length(v))
		return (bad(r, ".%s: not a string or a list of strings",
		    rule_list_name(which)));
	if ((why = rule_word_bad(which, word)) != NULL)
		return (bad(r, ".%s: %s", rule_list_name(which), why));
	if (strings_add(&rule->of[which], word) == -1)
		return (bad(r, ": out of memory"));
	return (0);
}

static int
read_list(const struct reading *r, struct cf_rule *rule, enum rule_list which,
    const json_t *v)
{
	const json_t *one;
	size_t i;

	if (!json_is_array(v))
		return (read_word(r, rule, which, v));
	if (json_array_size(v) == 0 || json_array_size(v) > RULE_LIST_MAX)
		return (bad(r, ".%s: a list of %zu; it can have 1 to %d",
		    rule_list_name(which), json_array_size(v),
		    RULE_LIST_MAX));
	json_array_foreach(v, i, one)
		if (read_word(r, rule, which, one) == -1)
			return (-1);
	return (0);
}

static int
read_member(const struct reading *r, struct cf_rule *rule, const char *name,
    const json_t *v)
{
	size_t i;

	if (strcmp(name, "verdict") == 0)
		return (read_verdict(r, rule, v));
	for (i = 0; i < RULE_LISTS; i++)
		if (i != RULE_PRINCIPAL && i != RULE_WORKSPACE &&
		    strcmp(name, rule_list_name((enum rule_list)i)) == 0)
			return (read_list(r, rule, (enum rule_list)i, v));
	return (bad(r, ".%.64s: there is no such member; there are verdict, "
	    "tool, effect, mark, command, path and host", name));
}

static int
read_rule(const struct reading *r, struct cf_rule *rule, const json_t *v)
{
	const char *name;
	char text[1];
	json_t *value;

	if (!json_is_object(v))
		return (bad(r, ": not an object"));
	json_object_foreach((json_t *)(uintptr_t)v, name, value)
		if (read_member(r, rule, name, value) == -1)
			return (-1);
	if (rule->verdict == 0)
		return (bad(r, ".verdict: missing"));
	if (json_object_size(v) < 2)
		return (bad(r, ": without a condition it would stop "
		    "everything"));
	if (rule_text(rule, text, sizeof(text)) >= RULE_TEXT_MAX)
		return (bad(r, ": over the most bytes that a rule has, which "
		    "are %d", RULE_TEXT_MAX - 1));
	return (0);
}

int
rule_json_read(const json_t *list, struct cf_rule **rules, size_t *n,
    char *why, size_t size)
{
	struct reading r = { .why = why, .size = size };

	*rules = NULL;
	*n = 0;
	if (!json_is_array(list)) {
		(void)snprintf(why, size, "rules: not a list");
		return (-1);
	}
	if (json_array_size(list) > RULES_SESSION_MAX) {
		(void)snprintf(why, size, "rules: %zu of them; the most are "
		    "%d", json_array_size(list), RULES_SESSION_MAX);
		return (-1);
	}
	if (json_dumpb(list, NULL, 0, JSON_COMPACT) > RULES_JSON_MAX) {
		(void)snprintf(why, size, "rules: over the limit of %d bytes, "
		    "as compact JSON", RULES_JSON_MAX);
		return (-1);
	}
	if (json_array_size(list) == 0)
		return (0);
	*rules = calloc(json_array_size(list), sizeof(**rules));
	if (*rules == NULL) {
		(void)snprintf(why, size, "rules: out of memory");
		return (-1);
	}
	for (r.at = 0; r.at < json_array_size(list); r.at++) {
		(*n)++;
		if (read_rule(&r, &(*rules)[r.at], json_array_get(list,
		    r.at)) == -1) {
			rule_json_free(*rules, *n);
			*rules = NULL;
			*n = 0;
			return (-1);
		}
	}
	return (0);
}

void
rule_json_free(struct cf_rule *rules, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		rule_free(&rules[i]);
	free(rules);
}
