/*
 * The attempts themselves: system calls, without libc between where a libc
 * would try something else when it is refused.
 */
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attempts.h"

/* An attempt without targets, as an expression. */
#define TRY(name, expression)						\
static long								\
try_##name(const struct targets *t)					\
{									\
	(void)t;							\
	return ((long)(expression));					\
}

/* The same for every target: it worked if it did for one. */
#define TRY_PID(name, expression)					\
static long								\
try_##name(const struct targets *t)					\
{									\
	long worked = -1;						\
	size_t i;							\
	pid_t pid;							\
									\
	errno = ESRCH;							\
	for (i = 0; i < t->n; i++) {					\
		pid = t->pid[i];					\
		if ((expression) != -1)					\
			worked = 0;					\
	}								\
	return (worked);						\
}

/* ---- files ---- */

#ifdef SYS_open
TRY(open, syscall(SYS_open, "/etc/passwd", O_RDONLY))
TRY(creat, syscall(SYS_creat, "/tmp/takeover", 0600))
#endif
TRY(openat, syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY))
TRY(openat_up, syscall(SYS_openat, AT_FDCWD, "../../../../../etc/passwd",
    O_RDONLY))
TRY(openat_proc, syscall(SYS_openat, AT_FDCWD, "/proc/1/root/etc/passwd",
    O_RDONLY))
TRY(openat_create, syscall(SYS_openat, AT_FDCWD, "/tmp/takeover",
    O_WRONLY | O_CREAT, 0600))
TRY(mkdirat, syscall(SYS_mkdirat, AT_FDCWD, "/takeover-dir", 0700))
TRY(symlinkat, syscall(SYS_symlinkat, "/etc/passwd", AT_FDCWD,
    "/takeover-link"))
TRY(mknodat, syscall(SYS_mknodat, AT_FDCWD, "/takeover-fifo",
    S_IFIFO | 0600, 0))
TRY(linkat, syscall(SYS_linkat, AT_FDCWD, "/etc/passwd", AT_FDCWD,
    "/etc/takeover", 0))
TRY(renameat2, syscall(SYS_renameat2, AT_FDCWD, "/etc/group", AT_FDCWD,
    "/etc/takeover-moved", 0))
TRY(fchmodat, syscall(SYS_fchmodat, AT_FDCWD, "/etc/passwd", 0600))
TRY(fchownat, syscall(SYS_fchownat, AT_FDCWD, "/etc/passwd", 1, 1, 0))
TRY(truncate, syscall(SYS_truncate, "/etc/passwd", 0))
TRY(unlinkat, syscall(SYS_unlinkat, AT_FDCWD, "/etc/passwd", 0))
TRY(stat, syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd",
    &(struct stat){ 0 }, 0))
TRY(readlinkat, syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe",
    &(char[64]){ 0 }, 64))
TRY(inotify, syscall(SYS_inotify_init1, 0))

static long
try_openat2(const struct targets *t)
{
	struct open_how how = { .flags = O_RDONLY };

	(void)t;
	return (syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how,
	    sizeof(how)));
}

/* ---- programs and processes ---- */

static char *const argv[] = { (char *)(uintptr_t)"true", NULL };
static char *const envp[] = { NULL };

TRY(execve, syscall(SYS_execve, "/usr/bin/true", argv, envp))

/* A program that came over a socket needs no file; who can't make it here
 * may have been sent it. */
static long
try_execveat(const struct targets *t)
{
	static const char script[] = "#!/usr/bin/true\n";
	int fd = memfd_create("x", 0);

	(void)t;
	if (fd != -1 && write(fd, script, sizeof(script) - 1) == -1)
		return (-1);
	return (syscall(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH));
}

static long
try_fork(const struct targets *t)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	(void)t;
	if (pid == 0)
		_exit(0);
	return (pid);
}

static long
try_clone3(const struct targets *t)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	(void)t;
	if (pid == 0)
		_exit(0);
	return (pid);
}

static long
vm(pid_t pid, long number)
{
	static char byte;
	struct iovec local = { &byte, 1 };
	/* The control's victim is a copy: what is here is there as well. */
	struct iovec remote = { &byte, 1 };

	return (syscall(number, pid, &local, 1, &remote, 1, 0));
}

static long
signal_info(pid_t pid)
{
	siginfo_t info = { .si_signo = SIGUSR1, .si_code = SI_QUEUE };

	return (syscall(SYS_rt_sigqueueinfo, pid, SIGUSR1, &info));
}

TRY_PID(ptrace_attach, ptrace(PTRACE_ATTACH, pid, NULL, NULL))
TRY_PID(ptrace_seize, ptrace(PTRACE_SEIZE, pid, NULL, NULL))
TRY(ptrace_traceme, ptrace(PTRACE_TRACEME, 0, NULL, NULL))
TRY_PID(process_vm_readv, vm(pid, SYS_process_vm_readv))
TRY_PID(process_vm_writev, vm(pid, SYS_process_vm_writev))
TRY_PID(kill, syscall(SYS_kill, pid, SIGTERM))
TRY_PID(tkill, syscall(SYS_tkill, pid, SIGTERM))
/* The one that is allowed, for abort(3): the uids decide. */
TRY_PID(tgkill, syscall(SYS_tgkill, pid, pid, SIGTERM))
TRY_PID(sigqueue, signal_info(pid))
TRY_PID(pidfd_open, syscall(SYS_pidfd_open, pid, 0))
TRY(pidfd_signal, syscall(SYS_pidfd_send_signal, t->pidfd, SIGTERM, NULL, 0))
TRY(pidfd_getfd, syscall(SYS_pidfd_getfd, t->pidfd, 0, 0))
TRY_PID(kcmp, syscall(SYS_kcmp, pid, pid, 0, 0, 0))
TRY_PID(prlimit, syscall(SYS_prlimit64, pid, RLIMIT_NOFILE, NULL,
    &(struct rlimit){ 0 }))
TRY_PID(sched_setaffinity, syscall(SYS_sched_setaffinity, pid, 8,
    &(uint64_t){ 1 }))
TRY_PID(setpriority, syscall(SYS_setpriority, PRIO_PROCESS, pid, 19))

/* Signals by a file's owner need no kill(2). */
static long
fcntl_owner(pid_t pid)
{
	int p[2];

	if (syscall(SYS_pipe2, p, O_NONBLOCK) == -1 ||
	    fcntl(p[0], F_SETOWN, pid) == -1 ||
	    fcntl(p[0], F_SETSIG, SIGTERM) == -1 ||
	    fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK) == -1)
		return (-1);
	if (write(p[1], "", 1) == -1)
		return (-1);
	/* Whether it came is for the targets to show: they live, or not. */
	errno = EPERM;
	return (-1);
}

TRY_PID(sigio, fcntl_owner(pid))

/* ---- sockets ---- */

static const struct sockaddr_un nowhere = {
	.sun_family = AF_UNIX, .sun_path = "\0myelin-takeover"
};

TRY(socket_unix, syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0))
TRY(socket_inet, syscall(SYS_socket, AF_INET, SOCK_STREAM, 0))
TRY(socket_inet6, syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0))
TRY(socket_netlink, syscall(SYS_socket, AF_NETLINK, SOCK_RAW, 0))
TRY(socketpair, syscall(SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0,
    &(int[2]){ 0 }))
TRY(bind, syscall(SYS_bind, SOCKET_FD, &nowhere, sizeof(nowhere)))

/* Something listens there by then, where it may. */
static long
try_connect(const struct targets *t)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };

	(void)t;
	return (syscall(SYS_connect, SOCKET_FD, &none, sizeof(none)));
}

static long
try_listen(const struct targets *t)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)t;
	if (fd != -1)
		(void)bind(fd, (const struct sockaddr *)&nowhere,
		    sizeof(nowhere));
	return (syscall(SYS_listen, fd == -1 ? SOCKET_FD : fd, 1));
}

TRY(setsockopt, syscall(SYS_setsockopt, SOCKET_FD, SOL_SOCKET, SO_PASSCRED,
    &(int){ 1 }, sizeof(int)))

/* ---- ids and capabilities ---- */

TRY(setuid, syscall(SYS_setuid, 0))
TRY(setgid, syscall(SYS_setgid, 0))
TRY(setresuid, syscall(SYS_setresuid, 0, 0, 0))
TRY(setresgid, syscall(SYS_setresgid, 0, 0, 0))
TRY(setgroups, syscall(SYS_setgroups, 1, &(gid_t){ 0 }))

/* Its result is the id before, or an error below zero. */
static long
try_setfsuid(const struct targets *t)
{
	(void)t;
	return (syscall(SYS_setfsuid, 0));
}

static long
try_capset(const struct targets *t)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[2] = {
		{ .effective = 1 << CAP_SYS_ADMIN,
		  .permitted = 1 << CAP_SYS_ADMIN }
	};

	(void)t;
	return (syscall(SYS_capset, &header, data));
}

TRY(dumpable, syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0))
TRY(name, syscall(SYS_prctl, PR_SET_NAME, "myelind", 0, 0, 0))
TRY(rlimit_nofile, syscall(SYS_prlimit64, 0, RLIMIT_NOFILE,
    &(struct rlimit){ 1 << 19, 1 << 19 }, NULL))
TRY(rlimit_nproc, syscall(SYS_prlimit64, 0, RLIMIT_NPROC,
    &(struct rlimit){ 100, 100 }, NULL))
TRY(personality, syscall(SYS_personality, 0x0400000))

/* ---- roots, mounts, namespaces ---- */

TRY(chroot, syscall(SYS_chroot, "/"))
TRY(mount, syscall(SYS_mount, "none", "/", "tmpfs", 0, NULL))
TRY(umount, syscall(SYS_umount2, "/tmp", MNT_DETACH))
TRY(pivot_root, syscall(SYS_pivot_root, "/tmp", "/tmp"))
TRY(open_tree, syscall(SYS_open_tree, AT_FDCWD, "/", 1))
TRY(move_mount, syscall(SYS_move_mount, AT_FDCWD, "/tmp", AT_FDCWD, "/tmp",
    0))
TRY(fsopen, syscall(SYS_fsopen, "tmpfs", 0))
TRY(unshare_user, syscall(SYS_unshare, CLONE_NEWUSER))
TRY(unshare_net, syscall(SYS_unshare, CLONE_NEWNET))

static long
try_setns(const struct targets *t)
{
	(void)t;
	return (syscall(SYS_setns, t->pidfd, CLONE_NEWUTS));
}

/* ---- into the kernel ---- */

TRY(bpf, syscall(SYS_bpf, 0, &(uint32_t[32]){ 2, 4, 4, 1 }, 128))
TRY(io_uring, syscall(SYS_io_uring_setup, 1, &(struct io_uring_params){ 0 }))
TRY(userfaultfd, syscall(SYS_userfaultfd, 1))
TRY(keyctl, syscall(SYS_keyctl, 0, -3, 1))
TRY(add_key, syscall(SYS_add_key, "user", "takeover", "x", 1, -3))
TRY(memfd_secret, syscall(447, 0))
TRY(open_by_handle, syscall(SYS_open_by_handle_at, AT_FDCWD, NULL, 0))
TRY(init_module, syscall(SYS_init_module, NULL, 0, ""))
TRY(kexec, syscall(SYS_kexec_load, 0, 0, NULL, 0))

static long
try_perf(const struct targets *t)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK
	};

	(void)t;
	return (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

static long
try_map_exec(const struct targets *t)
{
	(void)t;
	return (mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
}

static long
try_protect_exec(const struct targets *t)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)t;
	return (mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

#ifdef __x86_64__
/* openat(2) by the i386's number and gate, and by the x32's. */
static long
try_i386(const struct targets *t)
{
	long r;

	(void)t;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory",
	    "r8", "r9", "r10", "r11");
	if (r < 0) {
		errno = (int)-r;
		return (-1);
	}
	return (r);
}

TRY(x32, syscall(0x40000000 | SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY))
#endif

const struct attempt attempts[] = {
#define ROW(name)	{ #name, try_##name }
#ifdef SYS_open
	ROW(open), ROW(creat),
#endif
	ROW(openat), ROW(openat_up), ROW(openat_proc), ROW(openat_create),
	ROW(openat2), ROW(mkdirat), ROW(symlinkat), ROW(mknodat), ROW(linkat),
	ROW(renameat2), ROW(fchmodat), ROW(fchownat), ROW(truncate),
	ROW(unlinkat), ROW(stat), ROW(readlinkat), ROW(inotify),
	ROW(execve), ROW(execveat), ROW(fork), ROW(clone3),
	ROW(ptrace_attach), ROW(ptrace_seize), ROW(ptrace_traceme),
	ROW(process_vm_readv), ROW(process_vm_writev),
	ROW(kill), ROW(tkill), ROW(tgkill), ROW(sigqueue), ROW(sigio),
	ROW(pidfd_open), ROW(pidfd_signal), ROW(pidfd_getfd), ROW(kcmp),
	ROW(prlimit), ROW(sched_setaffinity), ROW(setpriority),
	ROW(socket_unix), ROW(socket_inet), ROW(socket_inet6),
	ROW(socket_netlink), ROW(socketpair), ROW(bind), ROW(connect),
	ROW(listen), ROW(setsockopt),
	ROW(setuid), ROW(setgid), ROW(setresuid), ROW(setresgid),
	ROW(setgroups), ROW(setfsuid), ROW(capset), ROW(dumpable), ROW(name),
	ROW(rlimit_nofile), ROW(rlimit_nproc), ROW(personality),
	ROW(chroot), ROW(mount), ROW(umount), ROW(pivot_root), ROW(open_tree),
	ROW(move_mount), ROW(fsopen), ROW(unshare_user), ROW(unshare_net),
	ROW(setns),
	ROW(bpf), ROW(io_uring), ROW(userfaultfd), ROW(keyctl), ROW(add_key),
	ROW(memfd_secret), ROW(open_by_handle), ROW(init_module), ROW(kexec),
	ROW(perf), ROW(map_exec), ROW(protect_exec),
#ifdef __x86_64__
	ROW(i386), ROW(x32),
#endif
#undef ROW
};
const size_t nattempts = sizeof(attempts) / sizeof(attempts[0]);

/* ---- running one ---- */

struct outcome {
	int	began;
	int	ended;
	int	worked;
	int	error;
};

static const char *
error_name(int error)
{
	const char *name = strerrorname_np(error);

	return (name == NULL ? "?" : name);
}

static void
put_outcome(const struct outcome *o, int status, char *result, size_t size)
{
	if (o->ended && o->worked)
		snprintf(result, size, "WORKED");
	else if (o->ended)
		snprintf(result, size, "denied %s", error_name(o->error));
	else if (!o->began)
		snprintf(result, size, "broken before it began, status %#x",
		    (unsigned)status);
	else if (WIFSIGNALED(status))
		snprintf(result, size, "SIG%s",
		    sigabbrev_np(WTERMSIG(status)));
	else	/* it became another program, which ended */
		snprintf(result, size, "WORKED");
}

void
attempt_run(const struct attempt *a, const struct targets *t,
    void (*before)(void *), void *arg, char *result, size_t size)
{
	struct outcome *o;
	int status = 0;
	pid_t pid;
	long r;

	o = mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (o == MAP_FAILED || (pid = fork()) == -1) {
		snprintf(result, size, "broken: %s", error_name(errno));
		return;
	}
	if (pid == 0) {
		if (before != NULL)
			before(arg);
		o->began = 1;
		r = a->fn(t);
		o->error = errno;
		o->worked = r != -1;
		o->ended = 1;
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		continue;
	put_outcome(o, status, result, size);
	munmap(o, sizeof(*o));
}
