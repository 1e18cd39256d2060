/*
 * The rules that sessions bring: what is taken, what is refused and how, and
 * that at work they never soften what holds without them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "rule_json.h"
#include "rules.h"
#include "unit.h"

static json_t *
parsed(const char *text)
{
	json_t *list = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL,
	    NULL);

	ck_assert_msg(list != NULL, "%s", text);
	return (list);
}

/* ---- what is read ---- */

static const struct {
	const char	*json;
	const char	*text;		/* its normal form */
} good[] = {
	{ "[{\"verdict\":\"deny\",\"command\":[\"git\",\"push\"]}]",
	    "deny command \"git\" \"push\"" },
	{ "[{\"mark\":[\"elevated\",\"opaque\"],\"verdict\":\"ask\"}]",
	    "ask mark \"elevated\", \"opaque\"" },
	{ "[{\"verdict\":\"deny\",\"tool\":\"w*\",\"path\":\"/srv/*\"}]",
	    "deny tool \"w*\" path \"/srv/*\"" },
	{ "[{\"verdict\":\"ask\",\"effect\":\"destructive\",\"host\":"
	    "\"*.example\"}]", "ask effect \"destructive\" host "
	    "\"*.example\"" },
	{ "[{\"verdict\":\"deny\",\"command\":\"a\\\"b\\\\\"}]",
	    "deny command \"a\\\"b\\\\\"" },
};

START_TEST(is_read)
{
	char why[256], text[RULE_TEXT_MAX];
	json_t *list = parsed(good[_i].json);
	struct cf_rule *rules;
	size_t n;

	ck_assert_int_eq(rule_json_read(list, &rules, &n, why, sizeof(why)),
	    0);
	ck_assert_uint_eq(n, 1);
	(void)rule_text(&rules[0], text, sizeof(text));
	ck_assert_str_eq(text, good[_i].text);
	rule_json_free(rules, n);
	json_decref(list);
}
END_TEST

static const struct {
	const char	*json;
	const char	*why;		/* a part of it */
} bad[] = {
	{ "7", "not a list" },
	{ "{}", "not a list" },
	{ "[[]]", "rules[0]: not an object" },
	{ "[{\"command\":\"x\"}]", "rules[0].verdict: missing" },
	{ "[{\"verdict\":\"deny\"}]", "rules[0]: without a condition" },
	{ "[{\"verdict\":\"allow\",\"tool\":\"x\"}]", "not allow" },
	{ "[{\"verdict\":\"Deny\",\"tool\":\"x\"}]", "rules[0].verdict" },
	{ "[{\"verdict\":3,\"tool\":\"x\"}]", "rules[0].verdict" },
	{ "[{\"verdict\":\"deny\",\"tool\":\"x\"},{\"verdict\":\"deny\","
	    "\"tool\":\"\"}]", "rules[1].tool: an empty word" },
	{ "[{\"verdict\":\"deny\",\"tool\":[]}]", "a list of 0" },
	{ "[{\"verdict\":\"deny\",\"tool\":{}}]", "not a string" },
	{ "[{\"verdict\":\"deny\",\"tool\":[[\"x\"]]}]", "not a string" },
	{ "[{\"verdict\":\"deny\",\"tool\":\"a\\u0000b\"}]",
	    "not a string" },
	{ "[{\"verdict\":\"deny\",\"effect\":\"big\"}]", "no such effect" },
	{ "[{\"verdict\":\"deny\",\"mark\":\"big\"}]", "no such mark" },
	{ "[{\"verdict\":\"deny\",\"path\":\"rel\"}]", "begins with /" },
	{ "[{\"verdict\":\"deny\",\"host\":\"[[:alpha:]]\"}]", "classes" },
	{ "[{\"verdict\":\"deny\",\"principal\":\"uid:0\"}]",
	    "no such member" },
	{ "[{\"verdict\":\"deny\",\"workspace\":\"/x\"}]",
	    "no such member" },
	{ "[{\"verdict\":\"deny\",\"match\":\"x\"}]", "no such member" },
};

START_TEST(is_refused)
{
	json_t *list = parsed(bad[_i].json);
	struct cf_rule *rules;
	char why[256] = "";
	size_t n;

	ck_assert_int_eq(rule_json_read(list, &rules, &n, why, sizeof(why)),
	    -1);
	ck_assert_msg(strstr(why, bad[_i].why) != NULL, "%s", why);
	ck_assert_ptr_null(rules);
	ck_assert_uint_eq(n, 0);
	json_decref(list);
}
END_TEST

static json_t *
many(size_t n, size_t words, size_t bytes)
{
	json_t *list = json_array(), *rule, *tools;
	char word[RULE_WORD_MAX + 8];
	size_t i;

	ck_assert(bytes < sizeof(word));
	memset(word, 'x', bytes);
	word[bytes] = '\0';
	while (n-- > 0) {
		tools = json_array();
		for (i = 0; i < words; i++)
			json_array_append_new(tools, json_string(word));
		rule = json_pack("{s:s,s:o}", "verdict", "deny", "tool",
		    tools);
		json_array_append_new(list, rule);
	}
	return (list);
}

static int
reads(json_t *list)
{
	struct cf_rule *rules;
	char why[256];
	size_t n;
	int ok;

	ok = rule_json_read(list, &rules, &n, why, sizeof(why));
	rule_json_free(rules, n);
	json_decref(list);
	return (ok);
}

/* At each bound, and one over it. */
START_TEST(bounds)
{
	ck_assert_int_eq(reads(many(0, 0, 0)), 0);
	ck_assert_int_eq(reads(many(RULES_SESSION_MAX, 1, 1)), 0);
	ck_assert_int_eq(reads(many(RULES_SESSION_MAX + 1, 1, 1)), -1);
	ck_assert_int_eq(reads(many(1, RULE_LIST_MAX, 1)), 0);
	ck_assert_int_eq(reads(many(1, RULE_LIST_MAX + 1, 1)), -1);
	ck_assert_int_eq(reads(many(1, 1, RULE_WORD_MAX - 1)), 0);
	ck_assert_int_eq(reads(many(1, 1, RULE_WORD_MAX)), -1);
	/* deny tool "...", "..." of 1023 bytes */
	ck_assert_int_eq(reads(many(1, 2, 503)), 0);
	ck_assert_int_eq(reads(many(1, 3, 503)), -1);
	/* [{"tool":["..."],"verdict":"deny"},...] of 4096 bytes */
	ck_assert_int_eq(reads(many(9, 1, 424)), 0);
	ck_assert_int_eq(reads(many(9, 1, 425)), -1);
}
END_TEST

/* ---- at work ---- */

static unsigned
verdict(const char *json, const char *command, const struct cf_rule *own,
    size_t nown)
{
	static const char *const roots[] = { "/srv/ws" };
	struct rule_call call = {
		.tool = "bash", .principal = "uid:1000",
		.workspace = "/srv/ws", .rules = own, .nrules = nown
	};
	struct judge_context context = {
		.cwd = "/srv/ws", .home = "/home/agent", .user = "agent",
		.shell = "/bin/bash", .roots = roots, .nroots = 1,
		.found = rules_found, .rules = &call
	};
	struct judging *j = judging_new(&context);
	json_t *list = parsed(json);
	struct cf_rule *rules;
	char why[256];
	unsigned v;

	ck_assert_ptr_nonnull(j);
	ck_assert_int_eq(rule_json_read(list, &rules, &call.nmore, why,
	    sizeof(why)), 0);
	call.more = rules;
	judging_run(j, command, strlen(command), DIALECT_BASH);
	v = judging_decides(j)->verdict;
	judging_free(j);
	rule_json_free(rules, call.nmore);
	json_decref(list);
	return (v);
}

#define DENY_PUSH "[{\"verdict\":\"deny\",\"command\":[\"git\",\"push\"]}]"
#define ASK_LS "[{\"verdict\":\"ask\",\"command\":\"ls\"}]"
#define ASK_ALL "[{\"verdict\":\"ask\",\"tool\":\"*\"}]"

static const struct {
	const char	*json;
	const char	*command;
	unsigned	 verdict;
} work[] = {
	{ "[]", "git push", VERDICT_ASK },
	{ DENY_PUSH, "git push", VERDICT_DENY },
	{ DENY_PUSH, "sh -c 'git -C x push'", VERDICT_DENY },
	{ DENY_PUSH, "git pull /srv/x", VERDICT_ALLOW },
	{ DENY_PUSH, "git $x", VERDICT_ASK },
	{ ASK_LS, "ls", VERDICT_ASK },
	{ ASK_LS, "true; ls -l", VERDICT_ASK },
	{ ASK_LS, "cat x", VERDICT_ALLOW },
	/* what is denied stays so */
	{ ASK_ALL, "rm -rf ~", VERDICT_DENY },
	{ ASK_ALL, "echo x", VERDICT_ASK },
};

START_TEST(at_work)
{
	ck_assert_uint_eq(verdict(work[_i].json, work[_i].command, NULL, 0),
	    work[_i].verdict);
}
END_TEST

/* An operator who allows does not lift what the session keeps back. */
START_TEST(beside_an_operators)
{
	struct cf_rule own = { .verdict = VERDICT_ALLOW };

	ck_assert_int_eq(strings_add(&own.of[RULE_COMMAND], "git"), 0);
	ck_assert_uint_eq(verdict("[]", "git push", &own, 1), VERDICT_ALLOW);
	ck_assert_uint_eq(verdict(DENY_PUSH, "git push", &own, 1),
	    VERDICT_DENY);
	ck_assert_uint_eq(verdict(ASK_ALL, "git push", &own, 1), VERDICT_ASK);
	strings_free(&own.of[RULE_COMMAND]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("rule_json");
	TCase *tc = tcase_create("rule_json");

	tcase_add_loop_test(tc, is_read, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, is_refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, bounds);
	tcase_add_loop_test(tc, at_work, 0, sizeof(work) / sizeof(work[0]));
	tcase_add_test(tc, beside_an_operators);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
