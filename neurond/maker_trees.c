/*
 * The directories of the host that a profile names: opened as they are named,
 * by no link, and cloned as mounts that nothing can be written through.
 */
#include <sys/mount.h>
#include <sys/vfs.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "maker.h"
#include "sys.h"
#include "without.h"

/* Where files are the kernel's own, whatever directory they are mounted on. */
static const long kernels[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC,
	CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
	SECURITYFS_MAGIC, BPF_FS_MAGIC, DEVPTS_SUPER_MAGIC, EFIVARFS_MAGIC };

/* path is absolute and clean: the configuration's reader has seen to that. */
static int
open_named(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = WITHOUT(shown_links) ? 0 : RESOLVE_NO_SYMLINKS |
		    RESOLVE_NO_MAGICLINKS
	};

	return (sys_openat2(AT_FDCWD, path, &how));
}

static const char *
open_words(int error)
{
	switch (error) {
	case ELOOP:
		return ("has a symbolic link in its path");
	case ENOENT:
		return ("does not exist");
	case ENOTDIR:
		return ("is not a directory");
	default:
		return ("can't be opened");
	}
}

static const char *
unfit(int fd)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs) == -1)
		return ("can't be examined");
	for (i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if ((long)fs.f_type == kernels[i])
			return ("holds files of the kernel");
	return (NULL);
}

/*
 * Root's own files become the neuron's in what it may change for itself, all
 * others nobody's.
 */
static int
image_ns(uint32_t kuid)
{
	const char *step;
	char map[96];

	snprintf(map, sizeof(map), "0 %u 1\n1 %u %u\n", kuid,
	    PARKED_START + 1, PARKED_COUNT - 1);
	return (userns_make(map, map, NULL, &step));
}

/* A detached mount; -1 with *why, which is what errno says if it is NULL. */
static int
clone_named(const char *path, uint32_t kuid, const char **why)
{
	struct mount_attr attr = {
		.attr_set = (WITHOUT(shown_read_only) ? 0 :
		    MOUNT_ATTR_RDONLY) | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		.propagation = MS_PRIVATE
	};
	int dir, tree, r;

	if ((dir = open_named(path)) == -1) {
		*why = open_words(errno);
		return (-1);
	}
	if ((*why = unfit(dir)) != NULL) {
		errno = EINVAL;
		return (-1);
	}
	*why = "can't be mounted";
	tree = open_tree(dir, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	close(dir);
	if (tree == -1)
		return (-1);
	if (kuid != 0) {
		attr.attr_set |= MOUNT_ATTR_IDMAP;
		if ((r = image_ns(kuid)) == -1)
			return (-1);
		attr.userns_fd = (uint64_t)r;
	}
	r = mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr));
	if (r == -1 && errno == EINVAL && kuid != 0)
		*why = "is on a filesystem that can't map its owner (no "
		    "idmapped mounts)";
	return (r == -1 ? -1 : tree);
}

_Noreturn void
maker_trees(const struct trees_request *req)
{
	char words[PATH_BYTES_MAX + 128];
	const char *p = req->paths, *end, *why;
	int fd[1 + MOUNTS_MAX];
	struct imsg *m;
	unsigned i;

	for (i = 0; i < req->n; i++, p = end + 1) {
		char path[PATH_BYTES_MAX];

		end = strchrnul(p, '\n');
		snprintf(path, sizeof(path), "%.*s", (int)(end - p), p);
		fd[i] = clone_named(path, i == 0 && req->root ? req->kuid : 0,
		    &why);
		if (fd[i] != -1)
			continue;
		snprintf(words, sizeof(words), "%s %.160s %s", i == 0 &&
		    req->root ? "root" : "mount", path, why);
		maker_answer(maker_reply(MSG_TREES_MADE, req->slot,
		    req->generation, errno == 0 ? EINVAL : errno, words));
	}
	FAULT("worker.trees");
	m = maker_reply(MSG_TREES_MADE, req->slot, req->generation, 0, "");
	for (i = 0; i < req->n; i++)
		imsg_put_fd(m, fd[i]);
	maker_answer(m);
}
