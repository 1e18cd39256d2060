/*
 * Among the files of the rules.
 *
 * A text may hold tens of thousands of commands and findings, and there may be
 * hundreds of rules.  What of a rule is the same for a whole judging is found
 * out once, what is the same for all findings of a command once for that
 * command; and most rules that name a program are not looked at for others.
 */
#ifndef JUDGED_RULES_INT_H
#define JUDGED_RULES_INT_H

#include <stdint.h>

#include "rules.h"

#define READY_MAX	(RULES_MAX + RULES_SESSION_MAX)
#define READY_SETS	((READY_MAX + 63) / 64)
#define READY_BUCKETS	64	/* a power of two */

/*
 * Words and patterns that are compared in a judging.  Over it a rule that
 * denies or asks and names the program may hold, and so asks.  Short commands
 * count nothing, so that no number of others hides them.
 */
#define RULES_WORK_MAX	(64 * 1024 * 1024)
#define RULES_WORK_WORD	4	/* what a word counts against a command */
#define RULES_WORK_FREE	64	/* words that cost nothing */

/* Which rules, a bit each. */
struct rule_set {
	uint64_t	bits[READY_SETS];
};

struct rule_ready {
	const struct cf_rule	*rule;
	uint32_t		 marks;		/* listed; 0: none are */
	unsigned		 effects;	/* bit e: effect e fits */
	int			 allows;
	uint16_t		*literal;	/* bytes of a path's pattern that
						 * stand for themselves */
};

/* Bytes of a pattern that may stand for others. */
#define RULE_SPECIAL	"*?[\\"

#define FIT_UNKNOWN	0xff		/* not looked at so far */

/* A path that a word may name, or the target of a finding. */
struct rule_path {
	const char	*path;		/* absolute, or NULL */
	char		*below;		/* the same with a slash behind it */
	size_t		 len;		/* of below */
	size_t		 literal;	/* bytes of path that are what they are */
	unsigned	 flags;		/* WORD_* */
	int		 slash;		/* the word has one itself */
	int		 tree;		/* and all that is below it */
	size_t		 word;		/* of the command, counted from 0 */
};

/* Those of many words. */
struct rule_paths {
	struct rule_path	*v;
	size_t			 n;
	size_t			 room;
};

/* The last of those whose paths a rule's fit, and the fit. */
struct rule_last {
	uint32_t	 yes, maybe;	/* behind that word; 0: none */
	uint8_t		 known;
};

struct rules_ready {
	struct rule_ready	*v;
	size_t			 n;
	struct rule_set		 active;	/* this call's */
	struct rule_set		 plain;		/* name no program */
	struct rule_set		 globbed;	/* name it by a pattern ... */
	struct rule_set		 slashed;	/* ... or by its path */
	struct rule_set		 by_name[READY_BUCKETS];
	struct rule_set		 hosted;	/* list hosts */
	struct rule_set		 pathed;	/* list paths */
	uint64_t		 work;

	/* of the last command */
	const struct command	*of;
	const struct word	*argv;
	size_t			 argc;
	int			 path_changed;
	struct rule_set		 candidates;
	uint8_t			*command_fit;	/* of each rule: its words ... */
	uint8_t			*redirect_fit;	/* ... and where they go to */
	int			 program_known;
	const char		*program;	/* its absolute path, or NULL */
	int			 redirects_known;
	struct rule_paths	 redirects;

	/* of the last words, which other commands may be the tail of */
	const struct word	*words;
	size_t			 nwords;
	const char		*cwd;
	struct rule_paths	 paths;
	struct rule_last	*last;		/* of each rule */

	/* of the finding at hand */
	int			 target_known;
	struct rule_path	 target;
};

/* All that is known of the call's rules; of the judging's memory. */
struct rules_ready *rules_ready(struct judging *, struct rule_call *);
/* The rules that may hold for a finding. */
struct rule_set rules_candidates(struct rules_ready *,
	    const struct rule_call *, const struct finding *);
/* Those that may name a program so, whatever the call is. */
struct rule_set rules_of_name(const struct rules_ready *, const char *name);
/* 1 if so many words may be looked at as well, at a cost each. */
int	rules_afford(struct rules_ready *, size_t words, size_t cost);

/* The next of a set from i on, or READY_MAX. */
size_t	rule_set_next(const struct rule_set *, size_t i);

/* ---- of rules_match.c: whether a condition holds ---- */

/* 1 if who asks, where and by which tool are those of the rule. */
int	rules_call_fits(const struct rule_call *, const struct cf_rule *);
enum rule_fit rules_fit(struct judging *, struct rules_ready *,
	    const struct rule_call *, size_t i, const struct finding *);

/* ---- of rules_path.c ---- */

/* Whether a path that a finding is about fits one that a rule lists. */
enum rule_fit rules_paths(struct judging *, struct rules_ready *, size_t i,
	    const struct finding *);
/* The absolute path of a command's first word, or NULL. */
const char *rules_program(struct judging *, struct rules_ready *,
	    const struct command *);

#endif
