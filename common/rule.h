/*
 * Rules about calls: an operator's, from the configuration, and a session's
 * own.  A rule is a verdict and conditions, all of which hold where it does.
 */
#ifndef MYELIN_RULE_H
#define MYELIN_RULE_H

#include <stddef.h>
#include <stdint.h>

/* Bounds: judging takes time for each rule and each of its patterns. */
#define RULES_MAX	256	/* of the configuration */
#define RULE_LIST_MAX	32	/* words of a condition */
#define RULE_WORD_MAX	512	/* bytes of a pattern, NUL included */
#define RULE_TEXT_MAX	1024	/* of a rule in its normal form, NUL too */
#define RULE_TESTS_MAX	64	/* match and not match lines of a rule */
#define RULES_OWN_MAX	1024	/* paths of Myelin's own */
#define RULES_SESSION_MAX 32	/* rules that a session brings ... */
#define RULES_JSON_MAX	4096	/* ... and their bytes, as compact JSON */

/*
 * What a rule may ask for, in the order of its normal form.  COMMAND is a
 * program and the words behind it; of the others one of the list has to fit.
 */
enum rule_list {
	RULE_TOOL, RULE_EFFECT, RULE_MARK, RULE_COMMAND, RULE_PATH, RULE_HOST,
	RULE_PRINCIPAL, RULE_WORKSPACE, RULE_LISTS
};

/* A rule's own test: the rule has to hold for it, or has not to. */
struct cf_rule_test {
	struct where	 where;
	int		 negative;
	char		*text;
};

struct cf_rule {
	struct where	 where;
	unsigned	 verdict;	/* VERDICT_ALLOW, ASK or DENY */
	struct strings	 of[RULE_LISTS];	/* empty: whatever it is */
	struct cf_rule_test *tests;	size_t ntests;
};

/* "tool" ... "workspace": the keyword of a condition. */
const char *rule_list_name(enum rule_list);

/*
 * Whether a word may stand in a condition: NULL, or why not in static
 * storage.  An effect and a mark have to be there, the others are patterns:
 * *, ? and [...].
 */
const char *rule_word_bad(enum rule_list, const char *word);

/*
 * The rule in its normal form, as the configuration would say it, without its
 * tests.  Returns the length that it has, as snprintf(3) does.
 */
size_t	rule_text(const struct cf_rule *, char *dst, size_t size);

/* Frees what it holds, not the rule itself. */
void	rule_free(struct cf_rule *);

/* The section of a slice; what is read is bounded and checked. */
struct enc;
struct dec;
struct slice;
void	rules_put(struct enc *, const struct slice *);
void	rules_get(struct dec *, struct slice *);
void	rules_free(struct slice *);

#endif
