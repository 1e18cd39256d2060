/*
 * Probing the layers of the table.
 *
 * A probe returns NULL, or the step that failed with errno set.  It runs as
 * root in the real thing; somebody else tries in a user namespace, where less
 * is allowed than root may do: only what the kernel does not know at all is
 * missing for sure then.
 */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe_internal.h"

#define SECONDS_MAX	10	/* a probe that hangs is ended */

int
probe_privileged(void)
{
	return (geteuid() == 0 ? 0 : unshare(CLONE_NEWUSER));
}

int
probe_own_mounts(void)
{
	if (probe_privileged() == -1 || unshare(CLONE_NEWNS) == -1)
		return (-1);
	return (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

int
probe_failed(void)
{
	errno = EPROTO;
	return (-1);
}

int
probe_kernel(int major, int minor)
{
	int has_major = 0, has_minor = 0;
	struct utsname un;

	if (uname(&un) == -1 ||
	    sscanf(un.release, "%d.%d", &has_major, &has_minor) != 2)
		return (0);
	return (has_major > major ||
	    (has_major == major && has_minor >= minor));
}

/* NULL: probe_cgroup() */
static layer_probe *const probe_table[LAYER_COUNT] = {
	[LAYER_USER_NS] = probe_user_ns,
	[LAYER_MOUNT_NS] = probe_mount_ns,
	[LAYER_PID_NS] = probe_pid_ns,
	[LAYER_NET_NS] = probe_net_ns,
	[LAYER_IPC_NS] = probe_ipc_ns,
	[LAYER_UTS_NS] = probe_uts_ns,
	[LAYER_CGROUP_NS] = probe_cgroup_ns,
	[LAYER_TIME_NS] = probe_time_ns,
	[LAYER_NS_LIMITS] = probe_ns_limits,
	[LAYER_ROOT] = probe_read_only_root,
	[LAYER_PROC_MASKS] = probe_proc_masks,
	[LAYER_HIDEPID] = probe_hidepid,
	[LAYER_PROC_PIDS] = probe_proc_pids,
	[LAYER_TERMINALS] = probe_terminals,
	[LAYER_CAPS] = probe_no_caps,
	[LAYER_BOUNDING] = probe_bounding,
	[LAYER_SECUREBITS] = probe_securebits,
	[LAYER_NO_NEW_PRIVS] = probe_no_new_privs,
	[LAYER_RLIMITS] = probe_rlimits,
	[LAYER_CORE] = probe_core,
	[LAYER_KEYRING] = probe_keyring,
	[LAYER_SECCOMP] = probe_seccomp,
	[LAYER_WATCHES] = probe_seccomp,
	[LAYER_LANDLOCK] = probe_landlock,
	[LAYER_LANDLOCK_REFER] = probe_landlock_2,
	[LAYER_LANDLOCK_TRUNCATE] = probe_landlock_3,
	[LAYER_LANDLOCK_NET] = probe_landlock_4,
	[LAYER_LANDLOCK_IOCTL] = probe_landlock_5,
	[LAYER_LANDLOCK_SCOPES] = probe_landlock_6,
	[LAYER_INTO_CGROUP] = probe_into_cgroup,
	[LAYER_PIDFD] = probe_pidfd,
	[LAYER_CLOSED_FDS] = probe_closed_fds,
	[LAYER_SEALS] = probe_seals,
	[LAYER_WALK] = probe_walk,
	[LAYER_IDMAP] = probe_idmap,
	[LAYER_PROTECTED] = probe_bind_self,
	[LAYER_IDMAP_TMPFS] = probe_idmap_tmpfs,
	[LAYER_APPARMOR] = probe_apparmor,
	[LAYER_YAMA] = probe_yama,
	[LAYER_LISTMOUNT] = probe_listmount,
	[LAYER_PEER_PIDFD] = probe_peer_pidfd,
	[LAYER_HOME_IMAGE] = probe_home_image,
	[LAYER_OVERLAY] = probe_overlay
};

/* What a user namespace refuses, root may well be allowed. */
static int
tells_nothing(int error)
{
	return (geteuid() != 0 && error != ENOSYS && error != EOPNOTSUPP &&
	    error != ENOENT && error != ENOSPC && error != EPROTO &&
	    error != ENOPROTOOPT);
}

/* In the child; the parent sees the memory. */
static void
probe_one(enum layer i, struct probe *p)
{
	uid_t user = geteuid();
	const char *step, *words;

	errno = 0;
	step = probe_table[i] != NULL ? probe_table[i]() : probe_cgroup(i);
	if (step == NULL) {
		p->state = PROBE_PRESENT;
		return;
	}
	p->state = user != 0 && tells_nothing(errno) ? PROBE_UNKNOWN :
	    PROBE_MISSING;
	words = strerrordesc_np(errno);
	snprintf(p->detail, sizeof(p->detail), "%s: %s", step,
	    errno == 0 || words == NULL ? "not there" : words);
}

static void
in_child(enum layer i, struct probe *p)
{
	int status = 0;
	pid_t pid;

	p->state = PROBE_MISSING;
	snprintf(p->detail, sizeof(p->detail), "the probe did not end");
	if ((pid = fork()) == -1) {
		p->state = PROBE_UNKNOWN;
		snprintf(p->detail, sizeof(p->detail), "fork: %s",
		    strerrordesc_np(errno));
		return;
	}
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		alarm(SECONDS_MAX);
		probe_one(i, p);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	/* A filter in front of us may end who asks, instead of answering. */
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGALRM)
		snprintf(p->detail, sizeof(p->detail),
		    "the probe was ended by signal %d", WTERMSIG(status));
}

void
probe_layers(struct probe probes[LAYER_COUNT], unsigned flags)
{
	size_t size = sizeof(*probes) * LAYER_COUNT;
	struct probe *shared;
	unsigned i;

	shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < LAYER_COUNT; i++) {
		probes[i].state = PROBE_UNKNOWN;
		probes[i].detail[0] = '\0';
		if (probe_table[i] == NULL && !(flags & PROBE_CGROUPS))
			continue;
		if (shared == MAP_FAILED)
			continue;
		in_child((enum layer)i, &shared[i]);
		probes[i] = shared[i];
		if (probes[i].state == PROBE_PRESENT)
			probes[i].detail[0] = '\0';
	}
	if (shared != MAP_FAILED)
		munmap(shared, size);
}

int
probe_mandatory(enum layer i)
{
	return (layer_table[i].need == LAYER_MANDATORY ||
	    layer_table[i].need == LAYER_WORKSPACE);
}

unsigned
probe_missing(const struct probe probes[LAYER_COUNT],
    void (*say)(const char *), char *names, size_t size)
{
	char line[512];
	unsigned i, n = 0;
	size_t used = 0;

	names[0] = '\0';
	for (i = 0; i < LAYER_COUNT; i++) {
		if (probes[i].state != PROBE_MISSING ||
		    !probe_mandatory((enum layer)i))
			continue;
		snprintf(line, sizeof(line), "the layer %s is missing: %s: %s",
		    layer_table[i].name, probes[i].detail,
		    layer_table[i].remedy);
		say(line);
		if (used < size)
			used += (size_t)snprintf(names + used, size - used,
			    "%s%s", n == 0 ? "" : ", ", layer_table[i].name);
		n++;
	}
	return (n);
}
