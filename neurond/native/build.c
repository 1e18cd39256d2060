/*
 * The steps from a clone of the spawner to PID 1.
 *
 * The clone is still real root until it joins the user namespace: what it
 * mounts belongs to the host's, so the neuron has no power over it.
 */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apparmor.h"
#include "fault.h"
#include "imsg.h"
#include "layers.h"
#include "log.h"
#include "../init/init.h"
#include "../steps.h"
#include "../sys.h"
#include "build_int.h"
#include "confine.h"
#include "filter.h"
#include "inside.h"
#include "landlock.h"
#include "protect.h"
#include "without.h"

#define TERMINALS_MAX	32	/* of one neuron */
/* Bytes; each line of a workspace may hold its path twice, escaped. */
#define MOUNTINFO_MAX	(2 * 1024 * 1024)

/* "" and NEW_ROOT are all that prefix can be: this never truncates. */
const char *
build_at(const struct builder *b, const char *path)
{
	static char buf[PATH_BYTES_MAX + sizeof(NEW_ROOT)];

	snprintf(buf, sizeof(buf), "%s%s", b->prefix, path);
	return (buf);
}

static int
step_signals(struct builder *b)
{
	sigset_t none;
	int sig;

	(void)b;
	/* CLONE_CLEAR_SIGHAND keeps what is ignored. */
	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) == -1)
		return (-1);
	umask(0);
	(void)prctl(PR_SET_NAME, "neuron-init", 0, 0, 0);
	return (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

/* By itself: a parent that writes a pid waits for an RCU grace period. */
static int
step_tasks(struct builder *b)
{
	int i;

	for (i = 0; i < b->req->ntasks; i++)
		if (write(b->req->tasks[i], "0", 1) != 1)
			return (-1);
	return (0);
}

/* Once more, else /proc/self/cgroup shows where the v1 cgroups hang. */
static int
step_cgroup_ns(struct builder *b)
{
	if (b->req->ntasks > 0 && !WITHOUT(cgroup_ns) &&
	    unshare(CLONE_NEWCGROUP) == -1)
		return (-1);
	/* All from the one clone that made this process. */
	b->layers |= LAYER_BIT(MOUNT_NS) | LAYER_BIT(PID_NS) |
	    LAYER_BIT(IPC_NS) | LAYER_BIT(UTS_NS) | LAYER_BIT(CGROUP_NS) |
	    LAYER_BIT(INTO_CGROUP);
	return (0);
}

static int
step_net_ns(struct builder *b)
{
	if (!WITHOUT(net_ns) && setns(b->req->net_ns, CLONE_NEWNET) == -1)
		return (-1);
	b->layers |= LAYER_BIT(NET_NS);
	return (0);
}

static int
step_uts(struct builder *b)
{
	(void)b;
	if (WITHOUT(uts_ns))
		return (0);	/* it would be the host's */
	if (sethostname("neuron", 6) == -1 || setdomainname("", 0) == -1)
		return (-1);
	return (0);
}

static int
tmpfs_at(struct builder *b, const char *path, uint64_t size, uint32_t id,
    unsigned mode)
{
	char options[160];

	snprintf(options, sizeof(options),
	    "size=%llu,nr_inodes=%llu,uid=%u,gid=%u,mode=%04o",
	    WITHOUT(tmpfs_bounds) ? 0ULL : (unsigned long long)size,
	    WITHOUT(tmpfs_bounds) ? 0ULL :
	    (unsigned long long)b->req->inodes, id, id, mode);
	if (mount("tmpfs", build_at(b, path), "tmpfs", SAFE, options) == -1)
		return (-1);
	return (plan_add(&b->native->plan, path, "tmpfs", SAFE_FLAGS));
}

/* Bounds, owner and flags came with the mount. */
static int
kept_home(struct builder *b)
{
	if (move_mount(b->req->home, "", AT_FDCWD, build_at(b, AGENT_HOME),
	    MOVE_MOUNT_F_EMPTY_PATH) == -1)
		return (-1);
	b->layers |= LAYER_BIT(HOME_IMAGE);
	return (plan_add(&b->native->plan, AGENT_HOME, "ext4",
	    SAFE_FLAGS | IN_IDMAP));
}

static int
step_mounts(struct builder *b)
{
	const struct build_request *req = b->req;
	char options[64];

	snprintf(options, sizeof(options), "%s%s",
	    req->strict && !WITHOUT(strict_proc) ? "subset=pid," : "",
	    WITHOUT(hidepid) ? "hidepid=off" : "hidepid=invisible");
	if (mount("proc", build_at(b, "/proc"), "proc", SAFE | MS_NOEXEC,
	    options) == -1 ||
	    plan_add(&b->native->plan, "/proc", "proc",
	    SAFE_FLAGS | IN_NOEXEC) == -1)
		return (-1);
	b->layers |= LAYER_BIT(HIDEPID);
	/* A kernel may take the option, and not know it. */
	if (req->strict && (WITHOUT(strict_proc) ||
	    access(build_at(b, "/proc/stat"), F_OK) == -1))
		b->layers |= LAYER_BIT(PROC_PIDS);
	if (tmpfs_at(b, "/tmp", req->tmp_bytes, 0, 01777) == -1 ||
	    tmpfs_at(b, "/dev/shm", req->tmp_bytes, 0, 01777) == -1)
		return (-1);
	if (req->home != -1)
		return (kept_home(b));
	return (tmpfs_at(b, AGENT_HOME, req->home_bytes, req->kuid, 0700));
}

/*
 * An instance of devpts that no other neuron has: /dev/ptmx leads into it.
 * What opens one owns it; the bound keeps the host's own number of terminals
 * (kernel.pty.max) out of one neuron's reach.
 */
static int
step_terminals(struct builder *b)
{
	char options[128];

	if (!b->req->pty)
		return (0);
	snprintf(options, sizeof(options), "newinstance,ptmxmode=0666,"
	    "mode=0600,uid=%u,gid=%u,max=%d", b->req->kuid, b->req->kuid,
	    TERMINALS_MAX);
	/* The template has one then, which all neurons share. */
	if (!WITHOUT(own_terminals) && mount("devpts", build_at(b, "/dev/pts"),
	    "devpts", MS_NOSUID | MS_NOEXEC, options) == -1)
		return (errno == ENODEV ? 0 : -1);	/* it lacks them */
	b->layers |= LAYER_BIT(TERMINALS);
	return (plan_add(&b->native->plan, "/dev/pts", "devpts", IN_NOSUID |
	    IN_NOEXEC));
}

static int
step_workspace(struct builder *b)
{
	int root, point, r;

	if (b->req->tree == -1)
		return (0);
	root = open(NEW_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	point = root == -1 ? -1 : root_point(root, b->req->workspace);
	if (point == -1)
		return (-1);
	r = move_mount(b->req->tree, "", point, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	close(point);
	close(root);
	if (r == -1)
		return (-1);
	b->layers |= LAYER_BIT(IDMAP);
	return (plan_add(&b->native->plan, b->req->workspace, NULL,
	    SAFE_FLAGS | IN_IDMAP | (b->req->read_only ? IN_RO : 0)));
}

/* The way there is in the new root, which nobody else has yet. */
static int
step_protect(struct builder *b)
{
	int ws, r;

	if (b->req->tree == -1)
		return (0);
	b->layers |= LAYER_BIT(PROTECTED);
	/* Nothing in one that is read-only needs it. */
	if (b->req->read_only || WITHOUT(protected_names))
		return (0);
	ws = open(build_at(b, b->req->workspace), O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (ws == -1)
		return (-1);
	r = protect_names(ws, b->req->workspace, b->req->kuid,
	    &b->native->plan);
	close(ws);
	return (r);
}

static int
step_masks(struct builder *b)
{
	static char inside[sizeof(uint64_t) * 8][32];
	char from[64];
	size_t i;

	for (i = 0; i < mask_nrows && !WITHOUT(proc_masks); i++) {
		snprintf(inside[i], sizeof(inside[0]), "/proc/%s",
		    mask_rows[i].path);
		/* The template's /run: an image's may be written to. */
		snprintf(from, sizeof(from), "%s%s",
		    mask_rows[i].dir ? "" : b->prefix,
		    mask_rows[i].dir ? "/run" : "/dev/null");
		if (mount(from, build_at(b, inside[i]), NULL, MS_BIND, NULL) == -1) {
			if (errno == ENOENT)
				continue;	/* this kernel has it not */
			return (-1);
		}
		if (plan_add(&b->native->plan, inside[i], NULL,
		    IN_RO | IN_NOSUID) == -1)
			return (-1);
	}
	b->layers |= LAYER_BIT(PROC_MASKS);
	return (0);
}

static int
step_pivot(struct builder *b)
{
	if (!root_is_own(b->req))
		return (chdir("/"));
	if (chdir(NEW_ROOT) == -1 || syscall(SYS_pivot_root, ".", ".") == -1 ||
	    umount2(".", MNT_DETACH) == -1 || chdir("/") == -1)
		return (-1);
	b->prefix = "";
	return (0);
}

/*
 * PID 1 keeps 0 to 2 on its own /dev/null and the control channel as 3, and
 * never executes: close-on-exec would close nothing.  The user namespace is
 * joined by the next steps and closed there.
 */
static int
step_fds(struct builder *b)
{
	int null, user_ns, tool;

	if ((user_ns = fcntl(b->req->user_ns, F_DUPFD_CLOEXEC, 64)) == -1 ||
	    dup3(b->req->control, 65, O_CLOEXEC) == -1 ||
	    (tool = fcntl(b->native->tool, F_DUPFD_CLOEXEC, 66)) == -1 ||
	    (null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1 ||
	    dup2(null, 0) == -1 || dup2(null, 1) == -1 || dup2(null, 2) == -1 ||
	    dup3(65, CONTROL_FD, O_CLOEXEC) == -1 ||
	    dup3(tool, TOOL_FD, O_CLOEXEC) == -1 ||
	    dup3(user_ns, TOOL_FD + 1, O_CLOEXEC) == -1 ||
	    close_range(TOOL_FD + 2, ~0U, 0) == -1)
		return (-1);
	b->req->control = CONTROL_FD;
	b->req->user_ns = TOOL_FD + 1;
	log_init("init", -1, 0);
	return (0);
}

static int
step_rlimits(struct builder *b)
{
	if (!WITHOUT(rlimits) && confine_rlimits(b->req->nofile) == -1)
		return (-1);
	b->layers |= LAYER_BIT(RLIMITS) | LAYER_BIT(CORE);
	return (0);
}

/*
 * The maker wrote the limits of namespaces: here they are read back, or tried
 * where there is nothing to be read.
 */
static int
no_namespaces(void)
{
	char most[2] = "";
	int fd;

	if (WITHOUT(ns_limits))
		return (1);
	fd = open("/proc/sys/user/max_user_namespaces", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return (unshare(CLONE_NEWUSER) == -1 && errno == ENOSPC);
	if (read(fd, most, 2) != 2)
		most[0] = '\0';
	close(fd);
	return (most[0] == '0' && most[1] == '\n');
}

static int
step_user_ns(struct builder *b)
{
	if (setns(b->req->user_ns, CLONE_NEWUSER) == -1)
		return (-1);
	close(b->req->user_ns);
	b->layers |= LAYER_BIT(USER_NS);
	if (no_namespaces())
		b->layers |= LAYER_BIT(NS_LIMITS);
	return (0);
}

static int
step_ids(struct builder *b)
{
	(void)b;
	if (confine_ids(AGENT_UID) == -1)
		return (-1);
	return (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

static int
step_keyring(struct builder *b)
{
	if (confine_keyring() == -1)
		return (-1);
	b->layers |= LAYER_BIT(KEYRING);
	return (0);
}

/* setresuid cleared it; a parent that died meanwhile shows as EOF later. */
static int
step_death(struct builder *b)
{
	(void)b;
	return (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

static int
step_caps(struct builder *b)
{
	if (confine_caps() == -1)
		return (-1);
	b->layers |= LAYER_BIT(CAPS) | LAYER_BIT(BOUNDING) |
	    LAYER_BIT(SECUREBITS);
	return (0);
}

static int
step_no_new_privs(struct builder *b)
{
	if (!WITHOUT(no_new_privs) &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return (-1);
	b->layers |= LAYER_BIT(NO_NEW_PRIVS);
	return (0);
}

static int
step_assert_mounts(struct builder *b)
{
	const char *why;
	size_t have = 0;
	ssize_t n;
	char *text;
	int fd, r = -1;

	/* PID 1 keeps nothing of it. */
	text = mmap(NULL, MOUNTINFO_MAX, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED)
		return (-1);
	fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return (-1);
	while ((n = read(fd, text + have, MOUNTINFO_MAX - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	if (n == 0 && (plan_check(&b->native->plan, text, &why) == 0 ||
	    WITHOUT(mount_plan)))
		r = 0;
	else if (n == 0)
		errno = ENOTRECOVERABLE;
	(void)munmap(text, MOUNTINFO_MAX);
	return (r);
}

static int
step_assert_fds(struct builder *b)
{
	struct dirent *d;
	DIR *list;
	int n, wrong = 0, found = 0;

	if ((list = opendir("/proc/self/fd")) == NULL)
		return (-1);
	while ((d = readdir(list)) != NULL) {
		if (d->d_name[0] == '.')
			continue;
		n = atoi(d->d_name);
		if (n > TOOL_FD && n != dirfd(list))
			wrong = 1;
		found++;
	}
	closedir(list);
	/* 0 to the last of ours, and the list itself. */
	if (wrong || found != TOOL_FD + 2) {
		errno = EBADF;
		return (-1);
	}
	b->layers |= LAYER_BIT(CLOSED_FDS);
	return (0);
}

static int
step_assert_ids(struct builder *b)
{
	(void)b;
	return (confine_proven(AGENT_UID));
}

const char *
build_apparmor(const struct native *native, const struct build_request *req)
{
	if (!native->apparmor)
		return (NULL);
	return (req->overlay ? APPARMOR_OVERLAY : APPARMOR_PROFILE);
}

/* Programs change to it; that they may is known from here on. */
static int
step_apparmor(struct builder *b)
{
	const char *profile = build_apparmor(b->native, b->req);

	if (profile == NULL)
		return (0);
	if (apparmor_test(profile) == -1)
		return (-1);
	b->layers |= LAYER_BIT(APPARMOR);
	return (0);
}

static int
step_landlock(struct builder *b)
{
	return (landlock_neuron(b->native->abi, b->req, &b->layers));
}

static int
step_seccomp(struct builder *b)
{
	int strict = b->req->strict;

	if (!WITHOUT(seccomp) && filter_load(b->native->filter[strict],
	    b->native->nfilter[strict]) == -1)
		return (-1);
	b->layers |= LAYER_BIT(SECCOMP) | (strict ? LAYER_BIT(WATCHES) : 0);
	return (0);
}

static int (*const steps[STEP_COUNT])(struct builder *) = {
	[STEP_SIGNALS] = step_signals,
	[STEP_TASKS] = step_tasks,
	[STEP_CGROUP_NS] = step_cgroup_ns,
	[STEP_NET_NS] = step_net_ns,
	[STEP_UTS] = step_uts,
	[STEP_OWN_ROOT] = root_make,
	[STEP_MOUNTS] = step_mounts,
	[STEP_TERMINALS] = step_terminals,
	[STEP_WORKSPACE] = step_workspace,
	[STEP_SHOWN] = root_mounts,
	[STEP_PROTECT] = step_protect,
	[STEP_READ_ONLY] = root_read_only,
	[STEP_MASKS] = step_masks,
	[STEP_PIVOT] = step_pivot,
	[STEP_FDS] = step_fds,
	[STEP_RLIMITS] = step_rlimits,
	[STEP_USER_NS] = step_user_ns,
	[STEP_IDS] = step_ids,
	[STEP_KEYRING] = step_keyring,
	[STEP_DEATH] = step_death,
	[STEP_CAPS] = step_caps,
	[STEP_NO_NEW_PRIVS] = step_no_new_privs,
	[STEP_ASSERT_MOUNTS] = step_assert_mounts,
	[STEP_ASSERT_FDS] = step_assert_fds,
	[STEP_ASSERT_IDS] = step_assert_ids,
	[STEP_APPARMOR] = step_apparmor,
	[STEP_LANDLOCK] = step_landlock,
	[STEP_SECCOMP] = step_seccomp
};

static _Noreturn void
build_failed(int control, unsigned step, int error)
{
	static const struct channel_ops ops = { 0 };
	struct channel *ch;
	struct imsg *m;

	ch = channel_new(control, CH_INIT, END_B, &ops, NULL);
	if (ch != NULL) {
		m = imsg_new(MSG_INIT_BAD);
		imsg_put_u32(m, step);
		imsg_put_u32(m, (uint32_t)error);
		channel_send(ch, m);
		channel_flush_wait(ch, 1000);
	}
	_exit(1);
}

_Noreturn void
build_child(struct native *native, struct build_request *req)
{
	struct builder b = { .native = native, .req = req, .prefix = "" };
	unsigned i;

	for (i = 0; i < STEP_COUNT; i++) {
		FAULT_STEP("build", i);
		if (steps[i](&b) == -1)
			build_failed(req->control, i, errno);
	}
	init_main(native, req, b.layers);
}
