/*
 * The rules that a session brings: a JSON list of objects like
 *
 *	{"verdict": "deny", "command": ["git", "push"]}
 *
 * They can only tighten: a verdict is "deny" or "ask".  The conditions are
 * those of rule.h, each a string or a list of them, but for the principal and
 * the workspace, which are the session's.
 */
#ifndef MYELIN_RULE_JSON_H
#define MYELIN_RULE_JSON_H

#include <jansson.h>

#include "slice.h"

/*
 * 0, or -1 and a sentence that says which rule is wrong and why.  At most
 * RULES_SESSION_MAX rules, of at most RULES_JSON_MAX bytes as compact JSON,
 * each within the bounds of rule.h.
 */
int	rule_json_read(const json_t *, struct cf_rule **, size_t *n,
	    char *why, size_t size);
void	rule_json_free(struct cf_rule *, size_t n);

#endif
