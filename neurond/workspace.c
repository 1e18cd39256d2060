/*
 * Workspaces: the checks that need no file system, and the clone.
 */
#include <sys/mount.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "steps.h"
#include "without.h"
#include "workspace.h"

/* Where a neuron has something of its own, or the host its system. */
static const char *const system_directories[] = {
	"/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64",
	"/libx32", "/lost+found", "/proc", "/run", "/sbin", "/sys", "/usr",
	"/var/backups", "/var/cache", "/var/lib", "/var/lock", "/var/log",
	"/var/mail", "/var/run", "/var/spool", "/var/tmp", AGENT_HOME
};

/* Directories that must stay what they are; below them all is well. */
static const char *const top_directories[] = {
	"/", "/home", "/mnt", "/media", "/opt", "/root", "/srv", "/tmp", "/var"
};

/* 1 if path is dir or below it. */
static int
within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return (strncmp(path, dir, n) == 0 &&
	    (path[n] == '\0' || path[n] == '/'));
}

static int
in_group(const struct owner *o, gid_t gid)
{
	size_t i;

	if (o->gid == gid)
		return (1);
	for (i = 0; i < o->ngroups; i++)
		if (o->groups[i] == gid)
			return (1);
	return (0);
}

static int
same_ids(const struct owner *o, const struct cf_ids *ids)
{
	return (o->uid == ids->uid && o->gid == ids->gid &&
	    o->ngroups == ids->ngroups && memcmp(o->groups, ids->groups,
	    o->ngroups * sizeof(gid_t)) == 0);
}

static const char *
owner_refused(const struct cf_principal *p, const struct owner *o)
{
	if (o->uid == 0)
		return ("can't belong to root");
	switch (p->owner) {
	case OWNER_PEER:
		if (p->who == WHO_KEY)
			return ("needs an owner that the key's line names");
		if (p->who == WHO_USER ? o->uid != p->id :
		    !in_group(o, p->id))
			return ("belongs to somebody whom the principal's "
			    "line does not name");
		return (NULL);
	case OWNER_NAMED:
		if (!same_ids(o, &p->ids))
			return ("has another owner than the principal's line "
			    "names");
		return (NULL);
	case OWNER_ANY:
		if (p->who != WHO_USER || p->id != 0)
			return ("may have any owner for root alone");
		if (o->gid == 0)
			return ("can't belong to root's group");
		return (NULL);
	default:
		return ("has no owner");
	}
}

const char *
workspace_refused(const struct cf_principal *p, const struct owner *o,
    const char *path, const char *state)
{
	size_t i;

	if (!path_clean(path))
		return ("is not an absolute path without \".\" and \"..\"");
	for (i = 0; i < sizeof(top_directories) /
	    sizeof(top_directories[0]); i++)
		if (strcmp(path, top_directories[i]) == 0)
			return ("is a directory of the system");
	for (i = 0; i < sizeof(system_directories) /
	    sizeof(system_directories[0]); i++)
		if (within(path, system_directories[i]))
			return ("is under a directory of the system");
	if (state != NULL && (within(path, state) || within(state, path)))
		return ("meets Myelin's own state");
	if (!path_allowed(&p->workspaces, path) &&
	    !WITHOUT(neurond_workspace))
		return ("is not among the workspaces of the principal's line");
	return (owner_refused(p, o));
}

int
workspace_clone(int dir, int user_ns, int read_only, const char **why)
{
	struct mount_attr attr = {
		.attr_set = (WITHOUT(idmap) ? 0 : MOUNT_ATTR_IDMAP) |
		    (WITHOUT(nosuid) ? 0 : MOUNT_ATTR_NOSUID) |
		    (read_only ? MOUNT_ATTR_RDONLY : 0) | MOUNT_ATTR_NODEV,
		.propagation = MS_PRIVATE,
		.userns_fd = (uint64_t)user_ns
	};
	int tree;

	tree = open_tree(dir, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (tree == -1) {
		*why = "can't be mounted";
		return (-1);
	}
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == 0)
		return (tree);
	*why = errno == EINVAL ? "is on a filesystem that can't map its owner "
	    "(no idmapped mounts)" : "can't be mapped to its owner";
	close(tree);
	return (-1);
}
