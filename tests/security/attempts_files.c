/*
 * Attempts on files, mounts, /proc and /dev.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2	452
#endif

#define NAME	"myelin-attempt"

static int
make(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd != -1)
		close(fd);
	return (fd == -1 ? -1 : 0);
}

void
attempt_readonly(void)
{
	static const char *const dirs[] = { "/usr", "/etc", "/", "/dev",
	    "/run", "/var", "/home", "/usr/bin" };
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };
	char path[64], what[96];
	size_t i;
	int r;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		snprintf(path, sizeof(path), "%s/" NAME, dirs[i]);
		r = make(path, 0600);
		tried(path, r);
		if (r == 0)
			unlink(path);
		snprintf(what, sizeof(what), "remount %s", dirs[i]);
		tried(what, mount(NULL, dirs[i], NULL, MS_REMOUNT | MS_BIND,
		    NULL));
		snprintf(what, sizeof(what), "mount_setattr %s", dirs[i]);
		tried(what, mount_setattr(AT_FDCWD, dirs[i], 0, &attr,
		    sizeof(attr)));
	}
	tried("/etc/passwd", open("/etc/passwd", O_WRONLY | O_CLOEXEC));
	tried("/usr/bin/true", open("/usr/bin/true", O_WRONLY | O_CLOEXEC));
}

void
attempt_hostfiles(void)
{
	static const char *const paths[] = { "/root", "/etc/shadow",
	    "/etc/ssh", "/var/lib", "/var/log", "/run/myelin", "/boot",
	    "/sys", "/etc/hosts.allow", "/var/lib/myelin", "/srv", "/opt",
	    "/etc/ssl/private", "/etc/sudoers", "/root/.ssh",
	    "/proc/1/root/etc/shadow" };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		/* ENOENT, not EACCES: not even that they are there. */
		if (fd == -1 && errno == EACCES) {
			works(paths[i]);
			continue;
		}
		/* /srv or /opt may lead to the workspace, and holds no more. */
		if (fd != -1 && (strcmp(paths[i], "/srv") == 0 ||
		    strcmp(paths[i], "/opt") == 0)) {
			close(fd);
			continue;
		}
		tried(paths[i], fd);
	}
}

static void
by_open(const char *what, long fd)
{
	struct stat st;

	if (fd == -1) {
		denied(what, errno);
		return;
	}
	if (fstat((int)fd, &st) == 0 && (st.st_mode & 06000) == 0)
		denied(what, 0);
	else
		works(what);
	close((int)fd);
	unlink(NAME);
}

void
attempt_setid(void)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 04755 };
	int fd;

	unlink(NAME);
	if ((fd = open(NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0755)) == -1) {
		cannot("a file in the working directory");
		return;
	}
	tried("chmod 6755", chmod(NAME, 06755));
	tried("chmod 4755", chmod(NAME, 04755));
	tried("chmod 2755", chmod(NAME, 02755));
	tried("fchmod", fchmod(fd, 06755));
	tried("fchmodat", fchmodat(AT_FDCWD, NAME, 06755, 0));
	tried("fchmodat2", syscall(SYS_fchmodat2, AT_FDCWD, NAME, 06755, 0));
	close(fd);
	unlink(NAME);
	by_open("open", open(NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 04755));
	by_open("O_TMPFILE", open(".", O_WRONLY | O_TMPFILE | O_CLOEXEC,
	    04755));
	by_open("openat2", syscall(SYS_openat2, AT_FDCWD, NAME, &how,
	    sizeof(how)));
	by_open("creat", creat(NAME, 06755));
	tried("mkdir 2755", mkdir(NAME ".d", 02755));
	rmdir(NAME ".d");
	tried("mkdirat 2755", mkdirat(AT_FDCWD, NAME ".d", 02755));
	rmdir(NAME ".d");
	tried("mknod 4755", mknod(NAME, S_IFREG | 04755, 0));
	unlink(NAME);
}

static int
link_program(void)
{
	int r = link("/usr/bin/true", NAME);

	unlink(NAME);
	return (r);
}

void
attempt_hardlink(void)
{
	unlink(NAME);
	tried("link /usr/bin/true", link_program());
	/* Onto itself: where this is allowed nothing changes. */
	tried("rename /usr/bin/true", rename("/usr/bin/true",
	    "/usr/bin/true"));
	tried("rename /etc/hosts", rename("/etc/hosts", "/etc/hosts"));
	if (make(NAME, 0644) == -1) {
		cannot("a file in the working directory");
		return;
	}
	tried("security.capability", setxattr(NAME, "security.capability",
	    "\0\0\0\2\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20, 0));
	tried("trusted.overlay", setxattr(NAME, "trusted.overlay.opaque", "y",
	    1, 0));
	unlink(NAME);
}

/* The host planted "planted", root's, 0666, in the working directory. */
void
attempt_planted(void)
{
	struct stat st;

	if (stat("planted", &st) == -1) {
		cannot("a file \"planted\" of root's in the working directory");
		return;
	}
	tried("write", open("planted", O_WRONLY | O_CLOEXEC));
	tried("truncate", truncate("planted", 0));
	tried("unlink", unlink("planted"));
}

void
attempt_procone(void)
{
	static const char *const names[] = { "environ", "mem", "root", "exe",
	    "fd", "maps", "cwd", "stat", "status", "ns/user", "map_files" };
	char path[64], link[256];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/1/%s", names[i]);
		tried(path, open(path, O_RDONLY | O_CLOEXEC));
	}
	tried("readlink exe", readlink("/proc/1/exe", link, sizeof(link)));
}

void
attempt_procwrite(void)
{
	static const char *const paths[] = {
	    "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
	    "/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname",
	    "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches",
	    "/proc/sys/user/max_user_namespaces",
	    "/proc/sys/net/ipv4/ip_forward", "/proc/self/oom_adj_none",
	    "/proc/1/oom_score_adj", "/proc/irq/default_smp_affinity" };
	size_t i;
	int fd;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		tried(paths[i], open(paths[i], O_WRONLY | O_CLOEXEC));
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	tried("oom_score_adj -1000", fd == -1 ? -1 : write(fd, "-1000", 5));
}

void
attempt_procleaks(void)
{
	static const char *const names[] = { "kcore", "kallsyms", "keys",
	    "key-users", "config.gz", "cmdline", "partitions", "diskstats",
	    "timer_list", "sysvipc/shm", "modules", "interrupts", "softirqs",
	    "sched_debug", "kmsg" };
	char path[64], byte;
	ssize_t n;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%s", names[i]);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd == -1) {
			denied(path, errno);
			continue;
		}
		if ((n = read(fd, &byte, 1)) > 0)
			works(path);
		else
			denied(path, n == -1 ? errno : 0);
		close(fd);
	}
}

void
attempt_mounts(void)
{
	static const char *const types[] = { "proc", "tmpfs", "devpts",
	    "overlay", "binfmt_misc", "sysfs", "cgroup2", "mqueue", "fuse" };
	char what[64];
	size_t i;
	int r;

	(void)mkdir("/tmp/" NAME, 0700);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		snprintf(what, sizeof(what), "mount %s", types[i]);
		r = mount("none", "/tmp/" NAME, types[i], 0,
		    strcmp(types[i], "overlay") == 0 ?
		    "lowerdir=/usr:/etc" : NULL);
		tried(what, r);
		if (r == 0)
			umount2("/tmp/" NAME, MNT_DETACH);
	}
	tried("bind", mount("/usr", "/tmp/" NAME, NULL, MS_BIND, NULL));
	umount2("/tmp/" NAME, MNT_DETACH);
	rmdir("/tmp/" NAME);
}

void
attempt_selfexe(void)
{
	char path[64];
	int fd;

	tried("write /proc/self/exe", open("/proc/self/exe",
	    O_WRONLY | O_CLOEXEC));
	fd = open("/usr/bin/true", O_RDONLY | O_CLOEXEC);
	if (fd == -1) {
		cannot("/usr/bin/true");
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tried("write by /proc/self/fd", open(path, O_WRONLY | O_CLOEXEC));
	close(fd);
}

/* A word that only a host's own path would hold. */
static void
search(const char *path, const char *const *words)
{
	char text[65536], what[128];
	ssize_t n;
	size_t i;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1) {
		denied(path, errno);
		return;
	}
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	for (i = 0; words[i] != NULL; i++) {
		snprintf(what, sizeof(what), "%s in %s", words[i], path);
		if (strstr(text, words[i]) != NULL)
			works(what);
		else
			denied(what, 0);
	}
}

void
attempt_mountinfo(void)
{
	static const char *const mounts[] = { "/var/lib", "/sys/fs/cgroup",
	    "/run/", "docker", "/root", "myelin/neurons", NULL };
	static const char *const cgroups[] = { "myelin", "/n-", ".service",
	    ".scope", ".slice", NULL };

	search("/proc/self/mountinfo", mounts);
	search("/proc/self/cgroup", cgroups);
}

static int
is_known_device(const char *name)
{
	static const char *const known[] = { "null", "zero", "full", "random",
	    "urandom", "fd", "stdin", "stdout", "stderr", "shm", "tty", "pts",
	    "ptmx", ".", ".." };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i], name) == 0)
			return (1);
	return (0);
}

void
attempt_devices(void)
{
	/* The first is there, and nothing to whoever has no terminal. */
	static const char *const absent[] = { "/dev/tty", "/dev/kvm",
	    "/dev/vsock", "/dev/fuse", "/dev/net/tun", "/dev/mem",
	    "/dev/console" };
	struct dirent *d;
	DIR *list;
	size_t i;

	if ((list = opendir("/dev")) == NULL) {
		cannot("/dev");
		return;
	}
	while ((d = readdir(list)) != NULL)
		if (!is_known_device(d->d_name))
			works(d->d_name);
	closedir(list);
	for (i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		tried(absent[i], open(absent[i], O_RDWR | O_CLOEXEC |
		    O_NONBLOCK));
	tried("mknod c 1 3", mknod("/tmp/" NAME, S_IFCHR | 0600,
	    makedev(1, 3)));
	unlink("/tmp/" NAME);
	tried("mknod b 254 0", mknod("/tmp/" NAME, S_IFBLK | 0600,
	    makedev(254, 0)));
	unlink("/tmp/" NAME);
}
