/*
 * A session's rules as apid and judged read them, and a command judged under
 * those that are fine: up to a NUL the rules' JSON, behind it the command.
 * They can only tighten.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "rule_json.h"
#include "rules.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static unsigned
judged(const char *text, size_t size, struct rule_call *call)
{
	static const char *const roots[] = { "/srv/src" };
	const struct judge_context context = {
		.cwd = "/srv/src", .home = "/home/agent", .user = "agent",
		.shell = "/bin/bash", .roots = roots, .nroots = 1,
		.found = rules_found, .rules = call
	};
	struct judging *j = judging_new(&context);
	unsigned verdict;

	if (j == NULL)
		return (VERDICT_DENY);
	judging_run(j, text, size, DIALECT_BASH);
	verdict = judging_decides(j)->verdict;
	judging_free(j);
	call->ready = NULL;
	return (verdict);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
	size_t json = nul == NULL ? size : (size_t)(nul - data), i, n;
	struct rule_call call = {
		.tool = "bash", .principal = "uid:1000", .workspace = ""
	};
	char why[256], text[RULE_TEXT_MAX];
	struct cf_rule *rules;
	json_t *list;
	unsigned plain;

	list = json_loadb((const char *)data, json, JSON_REJECT_DUPLICATES |
	    JSON_DECODE_ANY, NULL);
	if (list == NULL)
		return (0);
	if (rule_json_read(list, &rules, &n, why, sizeof(why)) == 0) {
		for (i = 0; i < n; i++)
			if (rules[i].verdict == VERDICT_ALLOW ||
			    rule_text(&rules[i], text, sizeof(text)) >=
			    sizeof(text))
				abort();
		if (nul != NULL) {
			size -= json + 1;
			plain = judged((const char *)nul + 1, size, &call);
			call.more = rules;
			call.nmore = n;
			if (judged((const char *)nul + 1, size, &call) <
			    plain)
				abort();
		}
		rule_json_free(rules, n);
	} else if (why[0] == '\0')
		abort();
	json_decref(list);
	return (0);
}
