/*
 * Which directory may be a workspace, and its mount.
 */
#ifndef MYELIN_NEUROND_WORKSPACE_H
#define MYELIN_NEUROND_WORKSPACE_H

#include <sys/types.h>
#include <stddef.h>

#include "slice.h"

struct owner {
	uid_t		 uid;
	gid_t		 gid;
	size_t		 ngroups;
	gid_t		 groups[GROUPS_MAX];
};

/*
 * NULL if the principal line allows this path and owner; else why not, in
 * words that follow the path.  state is Myelin's own directory.
 */
const char *workspace_refused(const struct cf_principal *,
	    const struct owner *, const char *path, const char *state);

/*
 * Clones the tree at dir as a detached mount: nosuid, nodev, private, its
 * owner mapped by user_ns.  Returns an fd, or -1 and why.
 */
int	workspace_clone(int dir, int user_ns, int read_only, const char **why);

#endif
