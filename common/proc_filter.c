/*
 * The seccomp allow-list of a process: what all need, and its role's rows.
 *
 * What is not listed is ENOSYS, so that a newer libc falls back; what an
 * intruder would reach for first ends the process.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <fcntl.h>

#include "log.h"
#include "proc_internal.h"
#include "sanitize.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define INT32		0xffffffffULL	/* an int: its upper half is noise */
#define PROT_EXEC_BIT	0x4ULL

static const struct proc_syscall shared[] = {
	{ "read",		-1, 0, 0 },
	{ "pread64",		-1, 0, 0 },
	{ "write",		-1, 0, 0 },
	{ "pwrite64",		-1, 0, 0 },	/* memfd_sealed() */
	{ "readv",		-1, 0, 0 },
	{ "writev",		-1, 0, 0 },
	{ "close",		-1, 0, 0 },
	{ "recvmsg",		-1, 0, 0 },
	{ "sendmsg",		-1, 0, 0 },
	{ "sendto",		4, ~0ULL, 0 },	/* no address: send(2) */
	{ "getsockopt",		-1, 0, 0 },
	/* fstat(3) of glibc 2.33 and later; a path would need a flag of 0 */
	{ "newfstatat",		3, INT32, AT_EMPTY_PATH },
	{ "fstat",		-1, 0, 0 },
	{ "fstatfs",		-1, 0, 0 },
	{ "fcntl",		-1, 0, 0 },
	{ "lseek",		-1, 0, 0 },
	{ "dup",		-1, 0, 0 },
	{ "epoll_create1",	-1, 0, 0 },
	{ "epoll_ctl",		-1, 0, 0 },
	{ "epoll_wait",		-1, 0, 0 },
	{ "epoll_pwait",	-1, 0, 0 },
	{ "epoll_pwait2",	-1, 0, 0 },
	{ "eventfd2",		-1, 0, 0 },
	{ "pipe2",		-1, 0, 0 },
	{ "poll",		-1, 0, 0 },
	{ "ppoll",		-1, 0, 0 },
	{ "mmap",		2, PROT_EXEC_BIT, 0 },
	{ "mprotect",		2, PROT_EXEC_BIT, 0 },
	{ "mremap",		-1, 0, 0 },
	{ "munmap",		-1, 0, 0 },
	{ "madvise",		-1, 0, 0 },
	{ "brk",		-1, 0, 0 },
	{ "getrandom",		-1, 0, 0 },
	{ "clock_gettime",	-1, 0, 0 },
	{ "gettimeofday",	-1, 0, 0 },
	{ "clock_nanosleep",	-1, 0, 0 },
	{ "nanosleep",		-1, 0, 0 },
	{ "restart_syscall",	-1, 0, 0 },
	{ "rt_sigaction",	-1, 0, 0 },
	{ "rt_sigprocmask",	-1, 0, 0 },
	{ "rt_sigreturn",	-1, 0, 0 },
	{ "futex",		-1, 0, 0 },
	{ "getpid",		-1, 0, 0 },
	{ "gettid",		-1, 0, 0 },
	{ "getuid",		-1, 0, 0 },
	{ "geteuid",		-1, 0, 0 },
	{ "getgid",		-1, 0, 0 },
	{ "getegid",		-1, 0, 0 },
	/* raise(3) and abort(3); whom it may signal is the kernel's matter,
	 * and no other process has this one's uid */
	{ "tgkill",		-1, 0, 0 },
	{ "prctl",		0, INT32, PR_GET_SECCOMP },
	{ "prctl",		0, INT32, PR_GET_NO_NEW_PRIVS },
	{ "exit",		-1, 0, 0 },
	{ "exit_group",		-1, 0, 0 }
};

/* Ends the process unless its role lists it. */
static const char *const deadly[] = {
	"execve", "execveat", "fork", "vfork", "clone", "clone3", "ptrace",
	"process_vm_readv", "process_vm_writev", "pidfd_getfd", "open",
	"openat", "openat2", "creat", "socket", "connect", "bind", "listen",
	"mount", "umount2", "pivot_root", "chroot", "unshare", "setns",
	"open_tree", "move_mount", "fsopen", "bpf", "userfaultfd",
	"io_uring_setup", "init_module", "finit_module", "kexec_load",
	"keyctl", "add_key", "request_key", "perf_event_open", "setuid",
	"setgid", "setresuid", "setresgid", "setgroups", "capset",
	"open_by_handle_at", "memfd_secret", "personality", "kill",
	"tkill", "pidfd_send_signal", "pidfd_open"
};

static int
listed(const struct proc_syscall *t, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(t[i].name, name) == 0)
			return (1);
	for (i = 0; sanitize_syscalls[i] != NULL; i++)
		if (strcmp(sanitize_syscalls[i], name) == 0)
			return (1);
	return (0);
}

static void
add_row(scmp_filter_ctx ctx, const struct proc_syscall *row)
{
	struct scmp_arg_cmp cmp;
	int nr, error;

	/* A call that this libseccomp or machine does not have stays ENOSYS. */
	if ((nr = seccomp_syscall_resolve_name(row->name)) < 0)
		return;
	if (row->arg < 0) {
		error = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, nr, 0);
	} else {
		cmp = SCMP_CMP((unsigned)row->arg, SCMP_CMP_MASKED_EQ,
		    row->mask, row->value);
		error = seccomp_rule_add_array(ctx, SCMP_ACT_ALLOW, nr, 1,
		    &cmp);
	}
	if (error != 0 && error != -EEXIST)
		fatalx("seccomp: rule for %s: errno %d", row->name, -error);
}

void
proc_filter(const struct proc_syscall *role, size_t n)
{
	scmp_filter_ctx ctx;
	struct proc_syscall row = { .arg = -1 };
	size_t i;
	int nr;

	if ((ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS))) == NULL)
		fatalx("seccomp: no filter");
	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	    SCMP_ACT_KILL_PROCESS) != 0 ||
	    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0)
		fatalx("seccomp: attributes");
	for (i = 0; i < NITEMS(deadly); i++) {
		nr = seccomp_syscall_resolve_name(deadly[i]);
		if (nr >= 0 && !listed(role, n, deadly[i]) &&
		    seccomp_rule_add(ctx, SCMP_ACT_KILL_PROCESS, nr, 0) != 0)
			fatalx("seccomp: rule for %s", deadly[i]);
	}
	/* Whole rows first: one with an argument adds nothing to them. */
	for (i = 0; sanitize_syscalls[i] != NULL; i++) {
		row.name = sanitize_syscalls[i];
		add_row(ctx, &row);
	}
	for (i = 0; i < n; i++)
		add_row(ctx, &role[i]);
	for (i = 0; i < NITEMS(shared); i++)
		add_row(ctx, &shared[i]);
	if (seccomp_load(ctx) != 0)
		fatal("seccomp: load");
	seccomp_release(ctx);
	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
		fatalx("seccomp: the filter is not in force");
}
