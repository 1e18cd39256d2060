/*
 * Probing the layers that bind a process: its privileges, how it is started
 * and ended, what its descriptors can do, and the modules that watch it.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "apparmor.h"
#include "probe_internal.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD	77
#endif

/* ---- privileges ---- */

struct caps {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct	data[2];
};

const char *
probe_no_caps(void)
{
	struct caps c = { .head.version = _LINUX_CAPABILITY_VERSION_3 };

	if (probe_privileged() == -1)
		return ("unshare");
	if (syscall(SYS_capset, &c.head, c.data) == -1)
		return ("capset");
	if (syscall(SYS_capget, &c.head, c.data) == -1)
		return ("capget");
	if (c.data[0].effective != 0 || c.data[0].permitted != 0) {
		probe_failed();
		return ("capabilities stay");
	}
	return (NULL);
}

const char *
probe_bounding(void)
{
	if (probe_privileged() == -1)
		return ("unshare");
	if (prctl(PR_CAPBSET_DROP, CAP_SYS_BOOT, 0, 0, 0) == -1)
		return ("PR_CAPBSET_DROP");
	if (prctl(PR_CAPBSET_READ, CAP_SYS_BOOT, 0, 0, 0) != 0) {
		probe_failed();
		return ("capabilities stay");
	}
	return (NULL);
}

const char *
probe_securebits(void)
{
	if (probe_privileged() == -1)
		return ("unshare");
	return (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED,
	    0, 0, 0) == -1 ? "PR_SET_SECUREBITS" : NULL);
}

const char *
probe_no_new_privs(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return ("PR_SET_NO_NEW_PRIVS");
	return (NULL);
}

const char *
probe_rlimits(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_MSGQUEUE, &rl) == -1)
		return ("getrlimit");
	rl.rlim_cur = rl.rlim_max = 0;
	return (setrlimit(RLIMIT_MSGQUEUE, &rl) == -1 ? "setrlimit" : NULL);
}

/* Where 0 is the hard limit already, only CAP_SYS_RESOURCE gets 1 back. */
const char *
probe_core(void)
{
	const struct rlimit rl = { 1, 1 };

	return (setrlimit(RLIMIT_CORE, &rl) == -1 ? "setrlimit" : NULL);
}

const char *
probe_keyring(void)
{
	return (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) == -1 ?
	    "keyctl" : NULL);
}

const char *
probe_seccomp(void)
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

/* ---- processes and descriptors ---- */

/* As with idmap(): EBADF comes from who knows the flag. */
const char *
probe_into_cgroup(void)
{
	struct clone_args args = { .flags = 0x200000000ULL,
	    .exit_signal = SIGCHLD, .cgroup = PROBE_NO_FD };

	if (syscall(SYS_clone3, &args, sizeof(args)) == -1 && errno == EBADF)
		return (NULL);
	return ("clone3");
}

const char *
probe_pidfd(void)
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

const char *
probe_closed_fds(void)
{
	return (close_range(PROBE_NO_FD, PROBE_NO_FD, 0) == -1 ?
	    "close_range" : NULL);
}

const char *
probe_seals(void)
{
	int fd = memfd_create("probe", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd == -1)
		return ("memfd_create");
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK |
	    F_SEAL_GROW) == -1)
		return ("F_ADD_SEALS");
	if (write(fd, "x", 1) != -1) {
		probe_failed();
		return ("a seal");
	}
	return (NULL);
}

const char *
probe_peer_pidfd(void)
{
	socklen_t len = sizeof(int);
	int fds[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == -1)
		return ("socketpair");
	return (getsockopt(fds[0], SOL_SOCKET, SO_PEERPIDFD, &fd, &len) == -1 ?
	    "SO_PEERPIDFD" : NULL);
}

/* ---- other security modules ---- */

const char *
probe_apparmor(void)
{
	errno = EOPNOTSUPP;
	if (!apparmor_on())
		return ("this kernel's AppArmor");
	return (apparmor_test(APPARMOR_PROFILE) == -1 ?
	    "the profile " APPARMOR_PROFILE :
	    NULL);
}

const char *
probe_yama(void)
{
	return (access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == -1 ?
	    "/proc/sys/kernel/yama" : NULL);
}
