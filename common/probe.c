/*
 * Probing the layers of the table.
 *
 * A probe returns NULL, or the step that failed with errno set.  It runs as
 * root in the real thing; somebody else tries in a user namespace, where less
 * is allowed than root may do: only what the kernel does not know at all is
 * missing for sure then.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apparmor.h"
#include "probe.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x00000080
#endif
#ifndef SYS_listmount
#define SYS_listmount	458
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

#define NO_FD		1000000	/* above any limit on open files */
#define SECONDS_MAX	10	/* a probe that hangs is ended */
#define WORK		"/tmp"	/* as neurond/native/template.c has it */

/* What needs a capability is tried by others in a user namespace. */
static int
privileged(void)
{
	return (geteuid() == 0 ? 0 : unshare(CLONE_NEWUSER));
}

static int
own_mounts(void)
{
	if (privileged() == -1 || unshare(CLONE_NEWNS) == -1)
		return (-1);
	return (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

static int
failed(void)
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

/* ---- namespaces ---- */

static const char *
namespace(int flag)
{
	return (privileged() == -1 || unshare(flag) == -1 ? "unshare" : NULL);
}

static const char *
user_ns(void)
{
	return (unshare(CLONE_NEWUSER) == -1 ? "unshare" : NULL);
}

static const char *
mount_ns(void)
{
	return (own_mounts() == -1 ? "unshare and mount" : NULL);
}

static const char *
pid_ns(void)
{
	return (namespace(CLONE_NEWPID));
}

/* A neuron is put into one that another process made. */
static const char *
net_ns(void)
{
	int fd;

	if (namespace(CLONE_NEWNET) != NULL)
		return ("unshare");
	if ((fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) == -1 ||
	    setns(fd, CLONE_NEWNET) == -1)
		return ("setns");
	return (NULL);
}

static const char *
ipc_ns(void)
{
	return (namespace(CLONE_NEWIPC));
}

static const char *
uts_ns(void)
{
	if (namespace(CLONE_NEWUTS) != NULL)
		return ("unshare");
	return (sethostname("neuron", 6) == -1 ? "sethostname" : NULL);
}

static const char *
cgroup_ns(void)
{
	return (namespace(CLONE_NEWCGROUP));
}

static const char *
time_ns(void)
{
	return (access("/proc/self/ns/time", F_OK) == -1 ? "/proc/self/ns" :
	    NULL);
}

/* Opened in a new user namespace, the file is that namespace's own. */
static const char *
ns_limits(void)
{
	if (unshare(CLONE_NEWUSER) == -1)
		return ("unshare");
	return (open("/proc/sys/user/max_user_namespaces", O_WRONLY |
	    O_CLOEXEC) == -1 ? "/proc/sys/user" : NULL);
}

/* ---- mounts ---- */

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

static const char *
read_only_root(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY |
	    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	int host, root;

	if (own_mounts() == -1)
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
		failed();
		return ("a read-only mount");
	}
	return (NULL);
}

static const char *
proc_masks(void)
{
	if (own_mounts() == -1)
		return ("a mount namespace");
	return (mount("/dev/null", "/proc/cmdline", NULL, MS_BIND, NULL) == -1
	    ? "mount" : NULL);
}

/* Each mount of it is an instance of its own. */
static const char *
terminals(void)
{
	if (own_mounts() == -1)
		return ("a mount namespace");
	return (mount("devpts", WORK, "devpts", MS_NOSUID | MS_NOEXEC,
	    "newinstance,ptmxmode=0666") == -1 ? "mounting devpts" : NULL);
}

static const char *
proc_option(const char *key, const char *value, const char *both)
{
	int fs;

	if (own_mounts() == -1)
		return ("a mount namespace");
	if ((fs = fsopen("proc", FSOPEN_CLOEXEC)) == -1)
		return ("fsopen");
	if (fsconfig(fs, FSCONFIG_SET_STRING, key, value, 0) == -1)
		return (both);
	return (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == -1 ?
	    "mounting proc" : NULL);
}

static const char *
hidepid(void)
{
	return (proc_option("hidepid", "invisible", "hidepid=invisible"));
}

static const char *
proc_pids(void)
{
	return (proc_option("subset", "pid", "subset=pid"));
}

/* A name is bound onto itself, read-only, by its descriptor alone. */
static const char *
bind_self(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int fd, tree;

	if (own_mounts() == -1)
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
static const char *
idmap(void)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP,
	    .userns_fd = NO_FD };

	if (own_mounts() == -1)
		return ("a mount namespace");
	if (mount_setattr(AT_FDCWD, "/", 0, &attr, sizeof(attr)) == -1 &&
	    errno == EBADF)
		return (NULL);
	return ("mount_setattr");
}

static const char *
idmap_tmpfs(void)
{
	errno = EOPNOTSUPP;
	return (probe_kernel(6, 3) ? NULL : "tmpfs");
}

static const char *
walk(void)
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

static const char *
listmount(void)
{
	return (syscall(SYS_listmount, NULL, NULL, 0, 0) == -1 &&
	    errno == ENOSYS ? "listmount" : NULL);
}

/* ---- privileges ---- */

struct caps {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct	data[2];
};

static const char *
no_caps(void)
{
	struct caps c = { .head.version = _LINUX_CAPABILITY_VERSION_3 };

	if (privileged() == -1)
		return ("unshare");
	if (syscall(SYS_capset, &c.head, c.data) == -1)
		return ("capset");
	if (syscall(SYS_capget, &c.head, c.data) == -1)
		return ("capget");
	if (c.data[0].effective != 0 || c.data[0].permitted != 0) {
		failed();
		return ("capabilities stay");
	}
	return (NULL);
}

static const char *
bounding(void)
{
	if (privileged() == -1)
		return ("unshare");
	if (prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0) == -1)
		return ("PR_CAPBSET_DROP");
	if (prctl(PR_CAPBSET_READ, CAP_SYS_BOOT, 0, 0, 0) != 0) {
		failed();
		return ("capabilities stay");
	}
	return (NULL);
}

static const char *
securebits(void)
{
	if (privileged() == -1)
		return ("unshare");
	return (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED,
	    0, 0, 0) == -1 ? "PR_SET_SECUREBITS" : NULL);
}

static const char *
no_new_privs(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return ("PR_SET_NO_NEW_PRIVS");
	return (NULL);
}

static const char *
rlimits(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_MSGQUEUE, &rl) == -1)
		return ("getrlimit");
	rl.rlim_cur = rl.rlim_max = 0;
	return (setrlimit(RLIMIT_MSGQUEUE, &rl) == -1 ? "setrlimit" : NULL);
}

/* Where 0 is the hard limit already, only CAP_SYS_RESOURCE gets 1 back. */
static const char *
core(void)
{
	const struct rlimit rl = { 1, 1 };

	return (setrlimit(RLIMIT_CORE, &rl) == -1 ? "setrlimit" : NULL);
}

static const char *
keyring(void)
{
	return (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) == -1 ?
	    "keyctl" : NULL);
}

static const char *
seccomp(void)
{
	struct sock_filter insn[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
	};
	struct sock_fprog prog = { .len = 1, .filter = insn };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return ("PR_SET_NO_NEW_PRIVS");
	return (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == -1 ?
	    "seccomp" : NULL);
}

/* ---- Landlock ---- */

#define LL_VERSION	1U	/* LANDLOCK_CREATE_RULESET_VERSION */
#define LL_BENEATH	1	/* LANDLOCK_RULE_PATH_BENEATH */
#define LL_READ_DIR	(1ULL << 3)

unsigned
probe_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_VERSION);

	return (abi < 0 ? 0 : (unsigned)abi);
}

static const char *
landlock(void)
{
	uint64_t handled = LL_READ_DIR;
	struct {
		uint64_t	access;
		int32_t		fd;
	} __attribute__((packed)) rule = { .access = LL_READ_DIR };
	int set;

	if (probe_landlock_abi() == 0) {
		if (errno == 0)
			errno = ENOSYS;
		return ("landlock_create_ruleset");
	}
	set = (int)syscall(SYS_landlock_create_ruleset, &handled,
	    sizeof(handled), 0);
	if (set == -1)
		return ("landlock_create_ruleset");
	if ((rule.fd = open("/", O_PATH | O_CLOEXEC)) == -1)
		return ("/");
	if (syscall(SYS_landlock_add_rule, set, LL_BENEATH, &rule, 0) == -1)
		return ("landlock_add_rule");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return ("PR_SET_NO_NEW_PRIVS");
	if (syscall(SYS_landlock_restrict_self, set, 0) == -1)
		return ("landlock_restrict_self");
	return (NULL);
}

static const char *
landlock_at_least(unsigned abi)
{
	if (probe_landlock_abi() >= abi)
		return (NULL);
	errno = EOPNOTSUPP;
	return ("Landlock's ABI");
}

static const char *
landlock_2(void)
{
	return (landlock_at_least(2));
}

static const char *
landlock_3(void)
{
	return (landlock_at_least(3));
}

static const char *
landlock_4(void)
{
	return (landlock_at_least(4));
}

static const char *
landlock_5(void)
{
	return (landlock_at_least(5));
}

static const char *
landlock_6(void)
{
	return (landlock_at_least(6));
}

/* ---- processes and descriptors ---- */

/* As with idmap(): EBADF comes from who knows the flag. */
static const char *
into_cgroup(void)
{
	struct clone_args args = { .flags = 0x200000000ULL,
	    .exit_signal = SIGCHLD, .cgroup = NO_FD };

	if (syscall(SYS_clone3, &args, sizeof(args)) == -1 && errno == EBADF)
		return (NULL);
	return ("clone3");
}

static const char *
pidfd(void)
{
	int fd = -1;
	struct clone_args args = { .flags = CLONE_PIDFD,
	    .exit_signal = SIGCHLD, .pidfd = (uint64_t)(uintptr_t)&fd };
	long pid, r;
	int saved;

	if ((pid = syscall(SYS_clone3, &args, sizeof(args))) == -1)
		return ("clone3");
	if (pid == 0) {
		pause();
		_exit(0);
	}
	r = syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	saved = errno;
	if (r == -1)
		kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
	errno = saved;
	return (r == -1 ? "pidfd_send_signal" : NULL);
}

static const char *
closed_fds(void)
{
	return (close_range(NO_FD, NO_FD, 0) == -1 ? "close_range" : NULL);
}

static const char *
seals(void)
{
	int fd = memfd_create("probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd == -1)
		return ("memfd_create");
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK |
	    F_SEAL_GROW) == -1)
		return ("F_ADD_SEALS");
	if (write(fd, "x", 1) != -1) {
		failed();
		return ("a seal");
	}
	return (NULL);
}

static const char *
peer_pidfd(void)
{
	socklen_t len = sizeof(int);
	int fds[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		return ("socketpair");
	return (getsockopt(fds[0], SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == -1 ?
	    "SO_PEERPIDFD" : NULL);
}

/* ---- other security modules ---- */

static const char *
apparmor(void)
{
	errno = EOPNOTSUPP;
	if (!apparmor_on())
		return ("this kernel's AppArmor");
	return (apparmor_test(APPARMOR_PROFILE) == -1 ?
	    "the profile " APPARMOR_PROFILE :
	    NULL);
}

static const char *
yama(void)
{
	return (access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == -1 ?
	    "/proc/sys/kernel/yama" : NULL);
}

/* Both load their module where there is one. */
static const char *
home_image(void)
{
	if (access("/sbin/mke2fs", X_OK) == -1)
		return ("/sbin/mke2fs");
	if (open("/dev/loop-control", O_RDWR | O_CLOEXEC) == -1)
		return ("/dev/loop-control");
	if (own_mounts() == -1)
		return ("a mount namespace");
	return (fsopen("ext4", FSOPEN_CLOEXEC) == -1 ? "ext4" : NULL);
}

static const char *
overlay(void)
{
	if (own_mounts() == -1)
		return ("a mount namespace");
	return (fsopen("overlay", FSOPEN_CLOEXEC) == -1 ? "overlay" : NULL);
}

/* ---- the whole ---- */

/* NULL: probe_cgroup() */
static const char *(*const probe_table[LAYER_COUNT])(void) = {
	[LAYER_USER_NS] = user_ns,
	[LAYER_MOUNT_NS] = mount_ns,
	[LAYER_PID_NS] = pid_ns,
	[LAYER_NET_NS] = net_ns,
	[LAYER_IPC_NS] = ipc_ns,
	[LAYER_UTS_NS] = uts_ns,
	[LAYER_CGROUP_NS] = cgroup_ns,
	[LAYER_TIME_NS] = time_ns,
	[LAYER_NS_LIMITS] = ns_limits,
	[LAYER_ROOT] = read_only_root,
	[LAYER_PROC_MASKS] = proc_masks,
	[LAYER_HIDEPID] = hidepid,
	[LAYER_PROC_PIDS] = proc_pids,
	[LAYER_TERMINALS] = terminals,
	[LAYER_CAPS] = no_caps,
	[LAYER_BOUNDING] = bounding,
	[LAYER_SECUREBITS] = securebits,
	[LAYER_NO_NEW_PRIVS] = no_new_privs,
	[LAYER_RLIMITS] = rlimits,
	[LAYER_CORE] = core,
	[LAYER_KEYRING] = keyring,
	[LAYER_SECCOMP] = seccomp,
	[LAYER_WATCHES] = seccomp,
	[LAYER_LANDLOCK] = landlock,
	[LAYER_LANDLOCK_REFER] = landlock_2,
	[LAYER_LANDLOCK_TRUNCATE] = landlock_3,
	[LAYER_LANDLOCK_NET] = landlock_4,
	[LAYER_LANDLOCK_IOCTL] = landlock_5,
	[LAYER_LANDLOCK_SCOPES] = landlock_6,
	[LAYER_INTO_CGROUP] = into_cgroup,
	[LAYER_PIDFD] = pidfd,
	[LAYER_CLOSED_FDS] = closed_fds,
	[LAYER_SEALS] = seals,
	[LAYER_WALK] = walk,
	[LAYER_IDMAP] = idmap,
	[LAYER_PROTECTED] = bind_self,
	[LAYER_IDMAP_TMPFS] = idmap_tmpfs,
	[LAYER_APPARMOR] = apparmor,
	[LAYER_YAMA] = yama,
	[LAYER_LISTMOUNT] = listmount,
	[LAYER_PEER_PIDFD] = peer_pidfd,
	[LAYER_HOME_IMAGE] = home_image,
	[LAYER_OVERLAY] = overlay
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
