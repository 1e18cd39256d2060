/*
 * The mounts that a neuron must have, no more and no fewer: each step that
 * mounts adds a line, and PID 1 compares the lines with /proc/self/mountinfo
 * before it says that it is ready.
 */
#ifndef MYELIN_NATIVE_PLAN_H
#define MYELIN_NATIVE_PLAN_H

#include <stddef.h>

#include "../protected.h"

#define PLAN_MAX	(64 + PROTECTED_MOUNTS)

struct plan_line {
	const char	*path;		/* as seen inside; not copied */
	const char	*type;		/* filesystem, NULL for any */
	unsigned	 flags;		/* IN_RO ... IN_IDMAP of inside.h */
};

struct plan {
	struct plan_line line[PLAN_MAX];
	size_t		 n;
};

/* 0, or -1 with ENOSPC. */
int	plan_add(struct plan *, const char *path, const char *type,
	    unsigned flags);

/* Forgets all but the mount at path and those below it. */
void	plan_only(struct plan *, const char *path);

/*
 * 0 if text, of /proc/self/mountinfo, is the plan exactly and nothing in it
 * is shared or a slave; else -1 and *why says what differs.  Changes text.
 */
int	plan_check(const struct plan *, char *text, const char **why);

#endif
