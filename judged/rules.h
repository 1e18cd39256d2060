/*
 * Rules at work: the operator's, and what a session added.  They see each
 * finding of a judging, with the command that it is of, and so also what is
 * started through wrappers, by "bash -c" or out of a substitution; raw text
 * they never see.
 *
 * Denying beats asking, and asking allowing, whatever the order.  What nothing
 * lifts stays denied.  A rule that denies and may hold, because a word is not
 * known, asks; one that allows holds only for certain, and lifts the asking of
 * the one finding that it holds for: all that ask in a call have to be lifted.
 */
#ifndef JUDGED_RULES_H
#define JUDGED_RULES_H

#include "shell/judging.h"
#include "slice.h"
#include "why.h"

struct tools;
struct rules_ready;

enum rule_fit { FIT_NO, FIT_MAYBE, FIT_YES };

/* A call, and the rules that it is under. */
struct rule_call {
	const char		*tool;
	const char		*principal;	/* "uid:1000" */
	const char		*workspace;	/* "" for none */
	const struct cf_rule	*rules;		/* the operator's */
	size_t			 nrules;
	const struct cf_rule	*more;		/* the session's */
	size_t			 nmore;
	int			 testing;	/* who, where and by which tool
						 * are taken as they should be */
	int			 path_changed;	/* PATH is another */
	int			 proxied;	/* so is a *_proxy variable */
	int			 looked_up;	/* Myelin's own processes */
	enum rule_fit		 fit;		/* the best of any rule */
	struct rules_ready	*ready;		/* of the judging's memory: NULL
						 * when it starts */
};

/* For judge_context: found and rules. */
void	rules_found(struct judging *, struct finding *);

/*
 * A command that may have no finding of its own, as a wrapper's: what denies
 * it or asks becomes one.
 */
void	rules_command(struct judging *, const struct command *);
/*
 * A variable got a value.  After PATH a bare name may be any program, and
 * what is reached through a proxy need not be elsewhere.
 */
void	rules_variable(struct judging *, const char *name);
/* 1 if a rule denies or asks of a program of that name. */
int	rules_name(struct judging *, const char *name);

/*
 * One rule's tests, run as config() does: 0, or -1 and the line that failed,
 * with words on it.  A test's text is a shell's command, or, where the rule
 * names only tools that take paths, a path.
 */
int	rule_tests_run(const struct cf_rule *, const struct tools *,
	    const struct where **, struct why *);

#endif
