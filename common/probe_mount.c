/*
 * Probing the layers that are mounts, and the walk to what is mounted.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <unistd.h>

#include "probe_internal.h"

#ifndef SYS_listmount
#define SYS_listmount	458
#endif

#define WORK	"/tmp"	/* as neurond/native/template.c has it */

static int
new_tmpfs(void)
{
	int fs, tree = -1;

	if ((fs = fsopen("tmpfs", FSOPEN_CLOEXEC)) == -1)
		return (-1);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		tree = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	return (tree);
}

const char *
probe_read_only_root(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY |
	    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	int host, root;

	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	if ((host = open_tree(AT_FDCWD, "/usr", OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC)) == -1)
		return ("open_tree");
	if ((root = new_tmpfs()) == -1)
		return ("fsopen, fsconfig and fsmount");
	if (mkdirat(root, "usr", 0755) == -1)
		return ("mkdir");
	if (move_mount(root, "", AT_FDCWD, WORK, MOVE_MOUNT_F_EMPTY_PATH) ==
	    -1 || move_mount(host, "", root, "usr",
	    MOVE_MOUNT_F_EMPTY_PATH) == -1)
		return ("move_mount");
	if (fchdir(root) == -1 || syscall(SYS_pivot_root, ".", ".") == -1)
		return ("pivot_root");
	if (umount2(".", MNT_DETACH) == -1 || chdir("/") == -1)
		return ("umount2");
	if (mount_setattr(root, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == -1)
		return ("mount_setattr");
	if (mkdir("/new", 0755) == 0 || errno != EROFS) {
		probe_failed();
		return ("a read-only mount");
	}
	return (NULL);
}

const char *
probe_proc_masks(void)
{
	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	return (mount("/dev/null", "/proc/cmdline", NULL, MS_BIND, NULL) == -1
	    ? "mount" : NULL);
}

/* Each mount of it is an instance of its own. */
const char *
probe_terminals(void)
{
	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	return (mount("devpts", WORK, "devpts", MS_NOSUID | MS_NOEXEC,
	    "newinstance,ptmxmode=0666") == -1 ? "mounting devpts" : NULL);
}

static const char *
proc_option(const char *key, const char *value, const char *both)
{
	int fs;

	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	if ((fs = fsopen("proc", FSOPEN_CLOEXEC)) == -1)
		return ("fsopen");
	if (fsconfig(fs, FSCONFIG_SET_STRING, key, value, 0) == -1)
		return (both);
	return (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1 ?
	    "mounting proc" : NULL);
}

const char *
probe_hidepid(void)
{
	return (proc_option("hidepid", "invisible", "hidepid=invisible"));
}

const char *
probe_proc_pids(void)
{
	return (proc_option("subset", "pid", "subset=pid"));
}

/* A name is bound onto itself, read-only, by its descriptor alone. */
const char *
probe_bind_self(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int fd, tree;

	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	if ((fd = open(WORK, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (WORK);
	tree = open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (tree == -1)
		return ("open_tree");
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == -1)
		return ("mount_setattr");
	return (move_mount(tree, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH |
	    MOVE_MOUNT_T_EMPTY_PATH) == -1 ? "move_mount" : NULL);
}

/* A descriptor that is not there is looked at only by who knows the flag. */
const char *
probe_idmap(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP,
	    .userns_fd = PROBE_NO_FD };

	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	if (mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof(attr)) == -1 &&
	    errno == EBADF)
		return (NULL);
	return ("mount_setattr");
}

const char *
probe_idmap_tmpfs(void)
{
	errno = EOPNOTSUPP;
	return (probe_kernel(6, 3) ? NULL : "tmpfs");
}

const char *
probe_walk(void)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
	    RESOLVE_NO_MAGICLINKS };
	int root;

	if ((root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return ("/");
	return (syscall(SYS_openat2, root, "usr", &how, sizeof(how)) == -1 ?
	    "openat2" : NULL);
}

const char *
probe_listmount(void)
{
	return (syscall(SYS_listmount, NULL, NULL, 0, 0) == -1 &&
	    errno == ENOSYS ? "listmount" : NULL);
}

/* Both load their module where there is one. */
const char *
probe_home_image(void)
{
	if (access("/sbin/mke2fs", X_OK) == -1)
		return ("/sbin/mke2fs");
	if (open("/dev/loop-control", O_RDWR | O_CLOEXEC) == -1)
		return ("/dev/loop-control");
	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	return (fsopen("ext4", FSOPEN_CLOEXEC) == -1 ? "ext4" : NULL);
}

const char *
probe_overlay(void)
{
	if (probe_own_mounts() == -1)
		return ("a mount namespace");
	return (fsopen("overlay", FSOPEN_CLOEXEC) == -1 ? "overlay" : NULL);
}
