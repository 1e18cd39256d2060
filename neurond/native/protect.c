/*
 * Binding protected names.
 *
 * A name that is bound onto itself read-only can't be written; being a mount
 * point, it can't be renamed, replaced or removed (EBUSY), and no more can
 * each directory above it.  The workspace is walked one component at a time
 * and no link is followed: whoever changes it meanwhile has only his own
 * directory bound onto itself.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inside.h"
#include "protect.h"
#include "../protected.h"
#include "without.h"

#define FLAGS	(IN_NOSUID | IN_NODEV | IN_IDMAP)

struct protector {
	const char	*workspace;
	uint32_t	 kuid;
	struct plan	*plan;
	size_t		 first;		/* line of the plan that is ours */
};

static int
open_one(int dir, const char *name)
{
	return (openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

/* 1 if path, as seen inside, has been bound already. */
static int
is_bound(const struct protector *p, const char *path)
{
	size_t i;

	for (i = p->first; i < p->plan->n; i++)
		if (strcmp(p->plan->line[i].path, path) == 0)
			return (1);
	return (0);
}

/* The clone keeps map and flags of the workspace's mount. */
static int
bind_self(const struct protector *p, int fd, const char *name, int read_only)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	char *path;
	int tree, r;

	if (asprintf(&path, "%s/%s", p->workspace, name) == -1)
		return (-1);
	if (is_bound(p, path) || (WITHOUT(protected_parents) && !read_only)) {
		free(path);
		return (0);
	}
	tree = open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (tree == -1)
		return (-1);
	r = read_only ? mount_setattr(tree, "", AT_EMPTY_PATH, &attr,
	    sizeof(attr)) : 0;
	if (r == 0)
		r = move_mount(tree, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH |
		    MOVE_MOUNT_T_EMPTY_PATH);
	close(tree);
	/* The plan keeps the path. */
	return (r == -1 ? -1 : plan_add(p->plan, path, NULL, FLAGS |
	    (read_only ? IN_RO : 0)));
}

/*
 * Where it could be made inside, a placeholder must be there: somebody took it
 * away since, and the neuron would not be protected.
 */
static int
absent(const struct protector *p, int dir)
{
	struct statvfs fs;
	struct stat st;

	if (fstat(dir, &st) == -1 || fstatvfs(dir, &fs) == -1)
		return (-1);
	if (st.st_uid != p->kuid || (fs.f_flag & ST_RDONLY))
		return (0);
	errno = ENOENT;
	return (-1);
}

/*
 * One component of a name in dir.  Returns an fd of it to go on below, -1 with
 * errno 0 if there is nothing below, or -1 with errno.
 */
static int
component(const struct protector *p, int dir, const char *path, int leaf)
{
	const char *name = strrchr(path, '/');
	struct stat st;
	int fd, next = -1, error = 0;

	name = name == NULL ? path : name + 1;
	if ((fd = open_one(dir, name)) == -1) {
		if (errno == ENOENT && absent(p, dir) == 0)
			errno = 0;
		return (-1);
	}
	if (fstat(fd, &st) == -1 || S_ISLNK(st.st_mode)) {
		close(fd);
		errno = ELOOP;
		return (-1);
	}
	if (bind_self(p, fd, path, leaf || !S_ISDIR(st.st_mode)) == -1)
		error = errno;
	else if (!leaf && S_ISDIR(st.st_mode) &&
	    (next = open_one(dir, name)) == -1)
		error = errno;
	close(fd);
	errno = error;
	return (next);
}

static int
protect(const struct protector *p, int ws, const char *path)
{
	char prefix[PROTECTED_NAME_MAX];
	const char *end = path;
	int dir = dup(ws), next;

	while (dir != -1) {
		end = strchrnul(end, '/');
		snprintf(prefix, sizeof(prefix), "%.*s", (int)(end - path),
		    path);
		next = component(p, dir, prefix, *end == '\0');
		close(dir);
		if (next == -1)
			return (errno == 0 ? 0 : -1);
		dir = next;
		end++;
	}
	return (-1);
}

int
protect_names(int ws, const char *path, uint32_t kuid, struct plan *plan)
{
	const struct protector p = { path, kuid, plan, plan->n };
	struct stat st;
	size_t i;
	int git;

	git = fstatat(ws, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
	for (i = 0; i < protected_nnames; i++)
		if ((git || !protected_names[i].git) &&
		    protect(&p, ws, protected_names[i].path) == -1)
			return (-1);
	return (0);
}
