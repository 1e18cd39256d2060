/*
 * The classes that a command falls into, and what each means where no rule
 * says otherwise.
 */
#ifndef JUDGE_CLASS_H
#define JUDGE_CLASS_H

#include "subject.h"

enum class_id {
	CLASS_READ,
	CLASS_MUTATE,		/* mutate-reversible */
	CLASS_LOSE,		/* mutate-irreversible, where it is allowed */
	CLASS_NET_READ,
	CLASS_UNPARSABLE,
	CLASS_OPAQUE,
	CLASS_DESTROY,
	CLASS_ELEVATED,
	CLASS_NET_WRITE,
	CLASS_REMOTE,
	/* hard denies: nothing lifts them */
	HARD_WIPE,
	HARD_DISK,
	HARD_FORKBOMB,
	HARD_BOOT,
	HARD_KERNEL,
	HARD_ACCOUNT,
	HARD_SNAPSHOT,
	HARD_PERM,
	HARD_SELF,
	CLASS_COUNT
};
#define CLASS_IS_HARD(id)	((id) >= HARD_WIPE)

/* What the class is called in answers: "read" ... "hard:wipe". */
const char *class_name(enum class_id);

/* Adds a finding of that class on the subject; rule says what decided. */
void	class_find(const struct subject *, enum class_id, const char *rule);

/* The same with a word of the command in the rule, where "%s" stands. */
void	class_findf(const struct subject *, enum class_id, const char *words,
	    const struct word *);

#endif
