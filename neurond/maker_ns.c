/*
 * Making namespaces.
 *
 * The network namespace is made first, in the host's user namespace, so that
 * a neuron has no power over it.  The user namespace maps one id and counts
 * no namespace within it: nesting gets ENOSPC even without a filter.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "maker.h"
#include "steps.h"
#include "sys.h"
#include "without.h"

static int
write_file(int dir, const char *name, const char *text)
{
	size_t size = strlen(text);
	ssize_t n;
	int fd, saved;

	if ((fd = openat(dir, name, O_WRONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = write(fd, text, size);
	saved = errno;
	close(fd);
	errno = saved;
	return (n == (ssize_t)size ? 0 : -1);
}

/* Waits until the maps are written, then does its part. */
static _Noreturn void
userns_child(int go, int (*inside)(void))
{
	char byte;
	int r;

	if (read(go, &byte, 1) != 1)
		_exit(EPIPE);
	FAULT("worker.userns-child");
	errno = EIO;
	r = inside == NULL ? 0 : inside();
	_exit(r == 0 ? 0 : errno);
}

static int
proc_dir(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return (open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int
write_maps(int dir, const char *uids, const char *gids, const char **step)
{
	*step = "setgroups";
	if (write_file(dir, "setgroups", "deny") == -1)
		return (-1);
	*step = "uid_map";
	if (write_file(dir, "uid_map", uids) == -1)
		return (-1);
	*step = "gid_map";
	return (write_file(dir, "gid_map", gids));
}

int
userns_make(const char *uids, const char *gids, int (*inside)(void),
    const char **step)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER,
		.exit_signal = SIGCHLD
	};
	int go[2], dir, ns = -1, status = 0, saved;
	pid_t pid;

	*step = "a user namespace";
	if (pipe2(go, O_CLOEXEC) == -1)
		return (-1);
	/* Without CAP_SYS_PTRACE its namespace can be opened only if it is
	 * dumpable; it runs nothing but this. */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if ((pid = sys_clone3(&args)) == 0) {
		close(go[1]);
		userns_child(go[0], inside);
	}
	saved = errno;
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	close(go[0]);
	if (pid == -1) {
		close(go[1]);
		errno = saved;
		return (-1);
	}
	FAULT("worker.userns-parent");
	if ((dir = proc_dir(pid)) != -1 &&
	    write_maps(dir, uids, gids, step) == 0 &&
	    write(go[1], "", 1) == 1)
		ns = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	saved = errno;
	close(dir);
	close(go[1]);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	if (ns != -1 && status != 0) {
		*step = "the limits of a user namespace";
		saved = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
		close(ns);
		ns = -1;
	}
	errno = saved;
	return (ns);
}

static int
no_namespaces(void)
{
	static const char *const kinds[] = {
		"user", "pid", "uts", "ipc", "net", "mnt", "cgroup", "time"
	};
	char name[48];
	size_t i;
	int dir;

	dir = open("/proc/sys/user", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir == -1)
		return (-1);
	if (WITHOUT(ns_limits))
		return (0);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(name, sizeof(name), "max_%s_namespaces", kinds[i]);
		if (write_file(dir, name, "0") == -1)
			return (-1);
	}
	return (0);
}

static int
loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd, r = -1, saved;

	if ((fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1)
		return (-1);
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0) {
		ifr.ifr_flags = (short)(ifr.ifr_flags | IFF_UP);
		r = ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	saved = errno;
	close(fd);
	errno = saved;
	return (r);
}

_Noreturn void
maker_ns(const struct walk *w)
{
	const char *step = "a network namespace", *ignored;
	struct imsg *m;
	char map[48];
	int net = -1, user = -1, owner = -1;

	if (unshare(CLONE_NEWNET) == 0 && loopback_up() == 0 &&
	    (net = open("/proc/thread-self/ns/net",
	    O_RDONLY | O_CLOEXEC)) != -1) {
		FAULT("worker.netns");
		snprintf(map, sizeof(map), "%d %u 1", AGENT_UID, w->kuid);
		user = userns_make(map, map, no_namespaces, &step);
	}
	if (user == -1)
		maker_answer(maker_reply(MSG_NS_MADE, w->slot, w->generation,
		    errno, step));
	FAULT("worker.made");
	m = maker_reply(MSG_NS_MADE, w->slot, w->generation, 0, "");
	imsg_put_fd(m, user);
	imsg_put_fd(m, net);
	/* Where it can't be made, the walk to the workspace says why. */
	if (w->uid != 0 && (owner = walk_map(w, &ignored)) != -1)
		imsg_put_fd(m, owner);
	maker_answer(m);
}
