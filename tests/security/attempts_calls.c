/*
 * Attempts by system calls: processes, namespaces, privileges.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"

#ifndef SYS_statmount
#define SYS_statmount		457
#define SYS_listmount		458
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr	467
#endif

void
attempt_fds(void)
{
	char what[32];
	struct stat st;
	int fd;

	for (fd = 0; fd < 1024; fd++) {
		if (fstat(fd, &st) == -1)
			continue;
		snprintf(what, sizeof(what), "fd %d", fd);
		if (fd > 2) {
			works(what);
			continue;
		}
		/* A pipe, /dev/null, or a sealed memfd as input. */
		if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode) &&
		    !(fd == 0 && S_ISREG(st.st_mode) &&
		    fcntl(fd, F_GET_SEALS) != -1))
			works(what);
	}
	for (fd = 3; fd < 1024; fd++)
		if (fchdir(fd) == 0 || openat(fd, "../..", O_RDONLY |
		    O_CLOEXEC) != -1)
			works("a directory fd");
	denied("fds 3 to 1023", EBADF);
}

void
attempt_signals(void)
{
	long fd;

	if (getpid() == 1 || getppid() == 0)
		cannot("outside of PID 1");
	tried("kill 1", kill(1, SIGKILL));
	tried("kill the parent", getppid() == 1 ? kill(getppid(), SIGKILL) :
	    (errno = ESRCH, -1));
	fd = syscall(SYS_pidfd_open, 1, 0);
	if (fd == -1)
		denied("pidfd_open 1", errno);
	else
		tried("pidfd_send_signal", syscall(SYS_pidfd_send_signal, fd,
		    SIGKILL, NULL, 0));
	/* All that this process may signal: itself is left out. */
	tried("kill -1", kill(-1, SIGCONT) == 0 && kill(1, 0) == 0 ? 0 : -1);
}

void
attempt_trace(void)
{
	char byte[8];
	struct iovec local = { byte, sizeof(byte) };
	struct iovec remote = { (void *)(uintptr_t)0x400000, sizeof(byte) };
	long fd;

	tried("ptrace attach", ptrace(PTRACE_ATTACH, 1, NULL, NULL));
	tried("ptrace seize", ptrace(PTRACE_SEIZE, 1, NULL, NULL));
	tried("ptrace traceme", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
	tried("process_vm_readv", process_vm_readv(1, &local, 1, &remote, 1,
	    0));
	tried("process_vm_writev", process_vm_writev(1, &local, 1, &remote, 1,
	    0));
	fd = syscall(SYS_pidfd_open, 1, 0);
	tried("pidfd_getfd", fd == -1 ? -1 : syscall(SYS_pidfd_getfd, fd, 3,
	    0));
	tried("kcmp", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0));
}

/* In a child, so that what works changes nothing here. */
static void
in_child(const char *what, long (*fn)(uint64_t), uint64_t arg)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn(arg) == -1 ? errno : 0);
	if (pid == -1 || waitpid(pid, &status, 0) == -1) {
		cannot(what);
		return;
	}
	if (WIFSIGNALED(status))
		denied(what, EINTR);
	else if (WEXITSTATUS(status) == 0)
		works(what);
	else
		denied(what, WEXITSTATUS(status));
}

static long
do_unshare(uint64_t flags)
{
	return (unshare((int)flags));
}

static long
do_clone(uint64_t flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return (pid == -1 ? -1 : 0);
}

static long
do_clone3(uint64_t flags)
{
	struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid == 0)
		_exit(0);
	return (pid == -1 ? -1 : 0);
}

/* Flags that another thread sets after a filter might have looked. */
static volatile uint64_t raced;

static void *
race(void *arg)
{
	int i;

	for (i = 0; i < 200000; i++)
		raced = i & 1 ? 0 : CLONE_NEWUSER;
	return (arg);
}

static long
do_clone3_race(uint64_t flags)
{
	struct clone_args *args = calloc(1, sizeof(*args));
	pthread_t thread;
	long pid, got = -1;
	int i;

	(void)flags;
	if (args == NULL || pthread_create(&thread, NULL, race, NULL) != 0)
		return (-1);
	for (i = 0; i < 1000; i++) {
		args->flags = raced;
		args->exit_signal = SIGCHLD;
		pid = syscall(SYS_clone3, args, sizeof(*args));
		if (pid == 0)
			_exit(0);
		if (pid > 0)
			got = 0;
	}
	return (got);
}

void
attempt_namespaces(void)
{
	static const struct {
		const char	*name;
		uint64_t	 flags;
	} rows[] = {
		{ "user", CLONE_NEWUSER },
		{ "user and mount", CLONE_NEWUSER | CLONE_NEWNS },
		{ "user and net", CLONE_NEWUSER | CLONE_NEWNET },
		{ "mount", CLONE_NEWNS }, { "net", CLONE_NEWNET },
		{ "pid", CLONE_NEWPID }, { "uts", CLONE_NEWUTS },
		{ "ipc", CLONE_NEWIPC }, { "cgroup", CLONE_NEWCGROUP },
		{ "time", CLONE_NEWTIME }
	};
	char what[64];
	size_t i;
	int fd;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(what, sizeof(what), "unshare %s", rows[i].name);
		in_child(what, do_unshare, rows[i].flags);
		if (rows[i].flags != CLONE_NEWTIME) {
			snprintf(what, sizeof(what), "clone %s", rows[i].name);
			in_child(what, do_clone, rows[i].flags);
		}
		snprintf(what, sizeof(what), "clone3 %s", rows[i].name);
		in_child(what, do_clone3, rows[i].flags);
	}
	in_child("clone3 with raced flags", do_clone3_race, 0);
	fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	tried("setns", fd == -1 ? -1 : setns(fd, 0));
}

void
attempt_mountapi(void)
{
	struct mount_attr attr = { 0 };
	char buf[512];

	tried("mount", mount("none", "/tmp", "tmpfs", 0, NULL));
	tried("umount2", umount2("/tmp", MNT_DETACH));
	tried("pivot_root", syscall(SYS_pivot_root, ".", "."));
	tried("chroot", chroot("/usr"));
	tried("open_tree clone", syscall(SYS_open_tree, AT_FDCWD, "/usr",
	    OPEN_TREE_CLONE));
	tried("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/usr", 0));
	tried("move_mount", syscall(SYS_move_mount, AT_FDCWD, "/tmp",
	    AT_FDCWD, "/tmp", 0));
	tried("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
	tried("fsconfig", syscall(SYS_fsconfig, 0, 0, NULL, NULL, 0));
	tried("fsmount", syscall(SYS_fsmount, 0, 0, 0));
	tried("fspick", syscall(SYS_fspick, AT_FDCWD, "/tmp", 0));
	tried("mount_setattr", syscall(SYS_mount_setattr, AT_FDCWD, "/tmp", 0,
	    &attr, sizeof(attr)));
	tried("open_tree_attr", syscall(SYS_open_tree_attr, AT_FDCWD, "/usr",
	    0, &attr, sizeof(attr)));
	memset(buf, 0, sizeof(buf));
	tried("statmount", syscall(SYS_statmount, buf, buf, sizeof(buf), 0));
	tried("listmount", syscall(SYS_listmount, buf, buf, 4, 0));
}

#ifdef __x86_64__
static long
do_int80(uint64_t arg)
{
	long r = 20;	/* getpid of i386 */

	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	return (r > 0 ? 0 : (errno = ENOSYS, -1));
}

static long
do_x32(uint64_t arg)
{
	long r = syscall(0x40000000L | (long)arg);

	return (r > 0 ? 0 : -1);
}
#endif

void
attempt_compat(void)
{
#ifdef __x86_64__
	in_child("int 0x80 getpid", do_int80, 0);
	in_child("x32 getpid", do_x32, SYS_getpid);
#else
	denied("no other architecture here", ENOSYS);
#endif
}

static long
do_kernel(uint64_t nr)
{
	return (syscall((long)nr, 0, 0, 0, 0, 0, 0));
}

static long
do_personality(uint64_t arg)
{
	return (syscall(SYS_personality, arg));
}

void
attempt_kernel(void)
{
	static const struct {
		const char	*name;
		long		 nr;
	} rows[] = {
		{ "kexec_load", SYS_kexec_load },
		{ "init_module", SYS_init_module },
		{ "finit_module", SYS_finit_module },
		{ "swapon", SYS_swapon }, { "acct", SYS_acct },
		{ "quotactl", SYS_quotactl }, { "reboot", SYS_reboot },
		{ "bpf", SYS_bpf }, { "userfaultfd", SYS_userfaultfd },
		{ "perf_event_open", SYS_perf_event_open },
		{ "io_uring_setup", SYS_io_uring_setup },
		{ "add_key", SYS_add_key }, { "keyctl", SYS_keyctl },
		{ "request_key", SYS_request_key },
		{ "name_to_handle_at", SYS_name_to_handle_at },
		{ "open_by_handle_at", SYS_open_by_handle_at },
		{ "syslog", SYS_syslog },
#ifdef __x86_64__
		{ "modify_ldt", SYS_modify_ldt }, { "iopl", SYS_iopl },
#endif
	};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		in_child(rows[i].name, do_kernel, (uint64_t)rows[i].nr);
	in_child("personality READ_IMPLIES_EXEC", do_personality, 0x0400000);
	in_child("personality ADDR_NO_RANDOMIZE", do_personality, 0x0040000);
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	tried("NS_GET_USERNS", fd == -1 ? -1 : ioctl(fd, 0xb701));
	tried("NS_GET_PARENT", fd == -1 ? -1 : ioctl(fd, 0xb702));
}

/* The capabilities and flags of this process, as the kernel says. */
static void
look_at_status(void)
{
	static const struct {
		const char	*key;
		unsigned long	 want;
	} rows[] = {
		{ "CapInh:", 0 }, { "CapPrm:", 0 }, { "CapEff:", 0 },
		{ "CapBnd:", 0 }, { "CapAmb:", 0 }, { "NoNewPrivs:", 1 },
		{ "Seccomp:", 2 }
	};
	char line[256];
	size_t i;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) == NULL) {
		cannot("/proc/self/status");
		return;
	}
	while (fgets(line, sizeof(line), f) != NULL)
		for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			if (strncmp(line, rows[i].key,
			    strlen(rows[i].key)) == 0 &&
			    strtoul(line + strlen(rows[i].key), NULL, 16) !=
			    rows[i].want)
				works(rows[i].key);
	fclose(f);
}

static void
run_setuid_program(void)
{
	static const char *const programs[] = { "/usr/bin/su",
	    "/usr/bin/passwd", "/usr/bin/mount", "/usr/bin/newgrp" };
	struct stat st;
	int status, null;
	pid_t pid;
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (stat(programs[i], &st) == 0 && (st.st_mode & S_ISUID))
			break;
	if (i == sizeof(programs) / sizeof(programs[0]))
		return;
	if ((pid = fork()) == 0) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(null, 2);
		/* su to root: asks root for nothing, others for a password. */
		execl("/usr/bin/su", "su", "-c", "exit 42", (char *)NULL);
		_exit(0);
	}
	if (pid != -1 && waitpid(pid, &status, 0) == pid &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 42)
		works("su");
	else
		denied("su", EPERM);
}

/*
 * What was typed by somebody else is what TIOCSTI makes of it.  TIOCCONS is
 * not tried: where it works, the host's console is this terminal.
 */
static void
look_at_terminal(const char *name, int fd)
{
	static const unsigned long more = 1UL << 32;
	int discipline = 27;	/* N_NULL: there without a module */
	char what[64], byte = 3;
	char linux_call[2] = { 6, 0 };	/* the shift state */

	snprintf(what, sizeof(what), "TIOCSTI on %s", name);
	tried(what, syscall(SYS_ioctl, fd, (unsigned long)TIOCSTI, &byte));
	snprintf(what, sizeof(what), "TIOCSTI and 1<<32 on %s", name);
	tried(what, syscall(SYS_ioctl, fd, TIOCSTI | more, &byte));
	snprintf(what, sizeof(what), "TIOCLINUX on %s", name);
	tried(what, syscall(SYS_ioctl, fd, (unsigned long)TIOCLINUX,
	    linux_call));
	snprintf(what, sizeof(what), "TIOCSETD on %s", name);
	tried(what, syscall(SYS_ioctl, fd, (unsigned long)TIOCSETD,
	    &discipline));
}

void
attempt_terminal(void)
{
	int master, slave, locked = 0, fd;
	char name[16];

	for (fd = 0; fd <= 2; fd++) {
		if (!isatty(fd))
			continue;
		snprintf(name, sizeof(name), "fd %d", fd);
		look_at_terminal(name, fd);
	}
	/* One of its own, which any program may make. */
	if ((master = open("/dev/ptmx", O_RDWR | O_NOCTTY)) == -1 ||
	    ioctl(master, TIOCSPTLCK, &locked) == -1 ||
	    (slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY)) == -1) {
		cannot("a terminal of its own");
		return;
	}
	look_at_terminal("its own", slave);
	look_at_terminal("its own, before it", master);
	if (setsid() != -1 && ioctl(slave, TIOCSCTTY, 0) == 0)
		look_at_terminal("the controlling one", slave);
}

void
attempt_privileges(void)
{
	struct __user_cap_header_struct head = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct data[2] = {
		{ 1U << CAP_SYS_ADMIN, 1U << CAP_SYS_ADMIN, 0 }, { 0, 0, 0 }
	};
	gid_t group = 0;

	tried("setuid 0", syscall(SYS_setuid, 0));
	tried("setgid 0", syscall(SYS_setgid, 0));
	tried("setresuid 0", syscall(SYS_setresuid, 0, 0, 0));
	tried("setreuid 0", syscall(SYS_setreuid, 0, 0));
	tried("setuid 1", syscall(SYS_setuid, 1));
	tried("setgroups", syscall(SYS_setgroups, 1, &group));
	tried("capset", syscall(SYS_capset, &head, data));
	tried("PR_SET_KEEPCAPS", prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0));
	tried("PR_SET_SECUREBITS", prctl(PR_SET_SECUREBITS, 0, 0, 0, 0));
	tried("PR_CAP_AMBIENT", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE,
	    CAP_NET_RAW, 0, 0));
	look_at_status();
	run_setuid_program();
}

/* Over any limit of processes that a test sets, and no harm without one. */
#define BOMB	4000

static void *
sleeper(void *arg)
{
	pause();
	return (arg);
}

void
attempt_forkbomb(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	pid_t *pids = calloc(BOMB, sizeof(*pids));
	int n, threads, i;
	char what[64];

	if (pids == NULL) {
		cannot("memory");
		return;
	}
	for (n = 0; n < BOMB; n++) {
		if ((pids[n] = fork()) == 0) {
			pause();
			_exit(0);
		}
		if (pids[n] == -1)
			break;
	}
	snprintf(what, sizeof(what), "%d processes", n);
	if (n == BOMB)
		works(what);
	else
		denied(what, EAGAIN);
	for (i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (threads = 0; threads < BOMB; threads++)
		if (pthread_create(&thread, &attr, sleeper, NULL) != 0)
			break;
	snprintf(what, sizeof(what), "%d threads", threads);
	if (threads == BOMB)
		works(what);
	else
		denied(what, EAGAIN);
	free(pids);
}

const struct attempt attempts[] = {
#define ROW(name, words)	{ #name, words, attempt_##name },
	ATTEMPTS(ROW)
#undef ROW
};

const size_t nattempts = sizeof(attempts) / sizeof(attempts[0]);
