/*
 * The filter of neuron-tool: an allow-list for bodies that only touch files,
 * a short deny-list for the one that executes a program.
 *
 * The list is linear: it has few rows, and the kernel asks it once for each
 * number that is always allowed (seccomp's cache).
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "../native/filter.h"
#include "filter.h"
#include "tool.h"
#include "without.h"

#if defined(__x86_64__)
#define ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH	AUDIT_ARCH_AARCH64
#else
#error "neuron-tool knows amd64 and arm64"
#endif
#define X32	0x40000000U	/* no number of arm64 is so large */

#define ERRNO(e)	(SECCOMP_RET_ERRNO | (uint32_t)(e))

static const int files[] = {
	SYS_read, SYS_pread64, SYS_readv, SYS_write, SYS_pwrite64, SYS_writev,
	SYS_close, SYS_lseek, SYS_openat, SYS_openat2, SYS_fstat,
	SYS_newfstatat, SYS_statx, SYS_getdents64, SYS_readlinkat,
	SYS_linkat, SYS_renameat2, SYS_unlinkat, SYS_mkdirat, SYS_fchmod,
	SYS_fchown, SYS_ftruncate, SYS_fallocate, SYS_faccessat,
	SYS_faccessat2, SYS_flock, SYS_fcntl, SYS_sendfile, SYS_splice,
	SYS_copy_file_range, SYS_fadvise64, SYS_getcwd, SYS_umask,
	SYS_ppoll, SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise,
	SYS_getrandom, SYS_futex, SYS_clock_gettime, SYS_rt_sigaction,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit,
	SYS_exit_group,
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_renameat
	SYS_renameat,	/* what renameat2(2) is without flags, in glibc */
#endif
#ifdef WITH_SANITIZERS
	SYS_sigaltstack, SYS_getpid, SYS_gettid, SYS_sched_yield, SYS_prctl,
	SYS_sysinfo, SYS_set_robust_list, SYS_rseq, SYS_prlimit64, SYS_tgkill,
	SYS_uname, SYS_clock_nanosleep,
#ifdef SYS_readlink
	SYS_readlink, SYS_getrlimit,
#endif
#endif
};

/* Allowed as long as nothing becomes executable. */
static const int maps[] = { SYS_mmap, SYS_mprotect };

/* What a body needs to end a program that it started. */
static const int child[] = { SYS_wait4 };

/*
 * Everywhere refused with EPERM, what is on no list with ENOSYS: one is a
 * decision, the other what an older kernel would say.
 */
static const int refused[] = {
	SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
	SYS_accept, SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
	SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_io_uring_setup,
	SYS_io_uring_enter, SYS_io_uring_register, SYS_ptrace,
	SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd
};
static const int programs[] = {
	SYS_execve, SYS_execveat, SYS_clone, SYS_kill, SYS_tkill,
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
};

#define N(a)		(sizeof(a) / sizeof((a)[0]))
#define PROG_MAX	255	/* so that each jump fits */

struct prog {
	struct sock_filter insn[PROG_MAX];
	size_t	 n;
};

static void
emit(struct prog *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (p->n < PROG_MAX)
		p->insn[p->n] = (struct sock_filter){ code, jt, jf, k };
	p->n++;
}

static void
ret(struct prog *p, uint32_t value)
{
	emit(p, BPF_RET | BPF_K, value, 0, 0);
}

/* A number of the list is answered with value; else the program goes on. */
static void
any_of(struct prog *p, const int *v, size_t n, uint32_t value)
{
	size_t i;

	for (i = 0; i + 1 < n; i++)
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)v[i],
		    (uint8_t)(n - i - 1), 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)v[n - 1], 0, 1);
	ret(p, value);
}

static void
head(struct prog *p)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch),
	    0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
	ret(p, SECCOMP_RET_KILL_PROCESS);
	emit(p, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr),
	    0, 0);
	emit(p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	ret(p, SECCOMP_RET_KILL_PROCESS);
}

static void
only_files(struct prog *p, unsigned flags)
{
	any_of(p, files, N(files), SECCOMP_RET_ALLOW);
	if ((flags & BODY_STARTED) != 0)
		any_of(p, child, N(child), SECCOMP_RET_ALLOW);
	any_of(p, refused, N(refused), ERRNO(EPERM));
	any_of(p, programs, N(programs), ERRNO(EPERM));
	/* What is left: the two that map, or nothing. */
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)maps[0], 2, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)maps[1], 1, 0);
	ret(p, ERRNO(ENOSYS));
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct
	    seccomp_data, args) + 2 * sizeof(uint64_t)), 0, 0);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
	ret(p, SECCOMP_RET_ALLOW);
	ret(p, ERRNO(EPERM));
}

int
tool_filter(unsigned flags)
{
	static const int newest[] = { SYS_clone3 };
	struct prog p = { .n = 0 };

	if (WITHOUT(tool_filter))
		return (0);
	head(&p);
	if ((flags & BODY_EXEC) != 0) {
		any_of(&p, newest, N(newest), ERRNO(ENOSYS));
		any_of(&p, refused, N(refused), ERRNO(EPERM));
		ret(&p, SECCOMP_RET_ALLOW);
	} else
		only_files(&p, flags);
	if (p.n > PROG_MAX) {
		errno = E2BIG;
		return (-1);
	}
	return (filter_load(p.insn, p.n));
}

int
tool_filter_child(void)
{
	struct sock_filter insn[16];
	size_t n = filter_build_call(insn, N(insn));

	return (n == 0 ? -1 : filter_load(insn, n));
}
