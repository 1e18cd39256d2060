/*
 * Names at the top level of a workspace that programs outside of the neuron
 * trust: what git runs, what agents and editors read as settings.  A neuron
 * can't change, replace or make them, nor move a directory above them.
 */
#ifndef MYELIN_NEUROND_PROTECTED_H
#define MYELIN_NEUROND_PROTECTED_H

#include <stddef.h>

/* Of a whole name, with its terminating 0. */
#define PROTECTED_NAME_MAX	48
/* Directories above one, at most; and mounts that all of them come to. */
#define PROTECTED_DEPTH		2
#define PROTECTED_MOUNTS	48

struct protected_name {
	const char	*path;		/* below the workspace */
	/*
	 * What stands for it where it is absent: a file that holds this, or,
	 * NULL, an empty directory.  git says nothing of an empty directory,
	 * and nobody's work is lost by removing one.
	 */
	const char	*text;
	int		 git;		/* only where there is a .git */
};

extern const struct protected_name protected_names[];
extern const size_t protected_nnames;

#endif
