/*
 * The filter of neuron-tool: an allow-list for bodies that only touch files,
 * a short deny-list for the one that executes a program.
 *
 * The program is a binary search.  The kernel runs a filter for each of its
 * system calls when it is loaded (for its cache of those always allowed), so
 * that a list of so many comparisons takes ten times as long to load.
 */
#include "config.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
#define ROWS_MAX	160

/* The answers; each stands once, behind the tree. */
enum act { ACT_ALLOW, ACT_EPERM, ACT_ENOSYS, ACT_KILL, ACT_MAP, ACT_COUNT };

/* All numbers from here to the next row. */
struct row {
	uint32_t	 from;
	enum act	 act;
};

struct prog {
	struct sock_filter insn[PROG_MAX];
	size_t		 n;
	struct row	 row[ROWS_MAX];
	size_t		 nrows;
	/* Jumps whose answer has no place yet. */
	struct {
		size_t	 at;
		int	 taken;		/* jt, else jf */
		enum act act;
	} patch[ROWS_MAX + 1];
	size_t		 npatches;
};

static size_t
emit(struct prog *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (p->n < PROG_MAX)
		p->insn[p->n] = (struct sock_filter){ code, jt, jf, k };
	return (p->n++);
}

static void
ret(struct prog *p, uint32_t value)
{
	emit(p, BPF_RET | BPF_K, value, 0, 0);
}

/* ---- the rows ---- */

static void
add(struct prog *p, const int *v, size_t n, enum act act)
{
	for (; n > 0 && p->nrows < ROWS_MAX; n--)
		p->row[p->nrows++] = (struct row){ (uint32_t)*v++, act };
}

static int
row_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return ((x->from > y->from) - (x->from < y->from));
}

/*
 * Makes runs of numbers of the single ones: what is between them has the
 * answer other.  -1 if they are too many.
 */
static int
runs(struct prog *p, enum act other)
{
	struct row single[ROWS_MAX];
	size_t n = p->nrows, i;
	uint32_t next = 0;

	memcpy(single, p->row, sizeof(single));
	qsort(single, n, sizeof(single[0]), row_compare);
	p->nrows = 0;
	for (i = 0; i < n; i++) {
		if (p->nrows + 4 > ROWS_MAX)
			return (-1);
		if (single[i].from > next)
			p->row[p->nrows++] = (struct row){ next, other };
		if (p->nrows == 0 ||
		    p->row[p->nrows - 1].act != single[i].act)
			p->row[p->nrows++] = single[i];
		next = single[i].from + 1;
	}
	p->row[p->nrows++] = (struct row){ next, other };
	p->row[p->nrows++] = (struct row){ X32, ACT_KILL };
	return (0);
}

/* ---- the tree ---- */

static void
leaf(struct prog *p, size_t at, int taken, enum act act)
{
	p->patch[p->npatches].at = at;
	p->patch[p->npatches].taken = taken;
	p->patch[p->npatches++].act = act;
}

/* At least two rows. */
static void
tree(struct prog *p, const struct row *row, size_t n)
{
	size_t mid = n / 2, at;

	at = emit(p, BPF_JMP | BPF_JGE | BPF_K, row[mid].from, 0, 0);
	if (mid == 1)
		leaf(p, at, 0, row[0].act);
	else
		tree(p, row, mid);
	if (n - mid == 1)
		leaf(p, at, 1, row[mid].act);
	else {
		if (at < PROG_MAX)
			p->insn[at].jt = (uint8_t)(p->n - at - 1);
		tree(p, row + mid, n - mid);
	}
}

static void
answer(struct prog *p, enum act act)
{
	static const uint32_t values[ACT_COUNT] = {
		SECCOMP_RET_ALLOW, ERRNO(EPERM), ERRNO(ENOSYS),
		SECCOMP_RET_KILL_PROCESS, 0
	};

	if (act != ACT_MAP) {
		ret(p, values[act]);
		return;
	}
	emit(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)(offsetof(struct
	    seccomp_data, args) + 2 * sizeof(uint64_t)), 0, 0);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
	ret(p, SECCOMP_RET_ALLOW);
	ret(p, ERRNO(EPERM));
}

static void
answers(struct prog *p)
{
	size_t place[ACT_COUNT], i;
	uint8_t to;
	int act;

	for (act = 0; act < ACT_COUNT; act++) {
		place[act] = p->n;
		answer(p, (enum act)act);
	}
	for (i = 0; i < p->npatches && p->n <= PROG_MAX; i++) {
		to = (uint8_t)(place[p->patch[i].act] - p->patch[i].at - 1);
		if (p->patch[i].taken)
			p->insn[p->patch[i].at].jt = to;
		else
			p->insn[p->patch[i].at].jf = to;
	}
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
}

int
tool_filter(unsigned flags)
{
	static const int newest[] = { SYS_clone3 };
	struct prog p = { .n = 0 };
	enum act other = ACT_ENOSYS;

	if (WITHOUT(tool_filter))
		return (0);
	add(&p, refused, N(refused), ACT_EPERM);
	if ((flags & BODY_EXEC) != 0) {
		other = ACT_ALLOW;
		add(&p, newest, N(newest), ACT_ENOSYS);
	} else {
		add(&p, files, N(files), ACT_ALLOW);
		add(&p, maps, N(maps), ACT_MAP);
		add(&p, programs, N(programs), ACT_EPERM);
		if ((flags & BODY_STARTED) != 0)
			add(&p, child, N(child), ACT_ALLOW);
	}
	errno = E2BIG;
	if (p.nrows == ROWS_MAX || runs(&p, other) == -1)
		return (-1);
	head(&p);
	tree(&p, p.row, p.nrows);
	answers(&p);
	errno = E2BIG;
	return (p.n > PROG_MAX ? -1 : filter_load(p.insn, p.n));
}

int
tool_filter_child(void)
{
	struct sock_filter insn[16];
	size_t n = filter_build_call(insn, N(insn));

	return (n == 0 ? -1 : filter_load(insn, n));
}
