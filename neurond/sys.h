/*
 * System calls that glibc 2.36 has no function for, and constants newer than
 * the headers of the oldest system that Myelin is built on.
 */
#ifndef MYELIN_NEUROND_SYS_H
#define MYELIN_NEUROND_SYS_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <unistd.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP	0x200000000ULL
#endif
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND	0x100000000ULL
#endif

/* linux/landlock.h, ABI 1 to 6 */
#define LL_EXECUTE	(1ULL << 0)
#define LL_WRITE_FILE	(1ULL << 1)
#define LL_READ_FILE	(1ULL << 2)
#define LL_READ_DIR	(1ULL << 3)
#define LL_REMOVE_DIR	(1ULL << 4)
#define LL_REMOVE_FILE	(1ULL << 5)
#define LL_MAKE_CHAR	(1ULL << 6)
#define LL_MAKE_DIR	(1ULL << 7)
#define LL_MAKE_REG	(1ULL << 8)
#define LL_MAKE_SOCK	(1ULL << 9)
#define LL_MAKE_FIFO	(1ULL << 10)
#define LL_MAKE_BLOCK	(1ULL << 11)
#define LL_MAKE_SYM	(1ULL << 12)
#define LL_REFER	(1ULL << 13)	/* ABI 2 */
#define LL_TRUNCATE	(1ULL << 14)	/* ABI 3 */
#define LL_IOCTL_DEV	(1ULL << 15)	/* ABI 5 */
#define LL_SCOPE_ABSTRACT (1ULL << 0)	/* ABI 6 */
#define LL_SCOPE_SIGNAL	(1ULL << 1)	/* ABI 6 */

struct ll_ruleset {
	uint64_t	fs;
	uint64_t	net;		/* ABI 4 */
	uint64_t	scoped;		/* ABI 6 */
};

static inline int
sys_openat2(int dir, const char *path, const struct open_how *how)
{
	return ((int)syscall(SYS_openat2, dir, path, how, sizeof(*how)));
}

/* Returns twice, like fork(2); args must not hold CLONE_VM. */
static inline pid_t
sys_clone3(struct clone_args *args)
{
	return ((pid_t)syscall(SYS_clone3, args, sizeof(*args)));
}

/*
 * With CLONE_VM and CLONE_VFORK, and a stack of the child's own: there it runs
 * fn(arg), which must not return, while we wait for its end or execve(2).  As
 * it shares our memory it may only call what keeps nothing there.  A sanitizer
 * would take its stack for ours, so it has copies; so has any other machine.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SYS_CLONE_SHARES	0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SYS_CLONE_SHARES	0
#endif
#endif
#ifndef SYS_CLONE_SHARES
#if defined(__x86_64__) && defined(__LP64__)
#define SYS_CLONE_SHARES	1
#elif defined(__aarch64__)
#define SYS_CLONE_SHARES	1
#else
#define SYS_CLONE_SHARES	0
#endif
#endif

#if SYS_CLONE_SHARES
static inline pid_t
sys_clone3_shared(struct clone_args *args, void (*fn)(void *), void *arg)
{
	long r;

#if defined(__x86_64__)
	register void (*f)(void *) __asm__("r8") = fn;
	register void *a __asm__("r9") = arg;

	__asm__ volatile(
	    "syscall\n\t"
	    "testq	%%rax, %%rax\n\t"
	    "jnz	1f\n\t"
	    "xorl	%%ebp, %%ebp\n\t"
	    "movq	%%r9, %%rdi\n\t"
	    "call	*%%r8\n\t"
	    "ud2\n"
	    "1:"
	    : "=a"(r)
	    : "0"((long)SYS_clone3), "D"(args), "S"(sizeof(*args)), "r"(f),
	      "r"(a)
	    : "rcx", "r11", "cc", "memory");
#else
	register long x8 __asm__("x8") = SYS_clone3;
	register long x0 __asm__("x0") = (long)args;
	register size_t x1 __asm__("x1") = sizeof(*args);
	register void (*f)(void *) __asm__("x10") = fn;
	register void *a __asm__("x11") = arg;

	__asm__ volatile(
	    "svc	#0\n\t"
	    "cbnz	x0, 1f\n\t"
	    "mov	x29, xzr\n\t"
	    "mov	x30, xzr\n\t"
	    "mov	x0, x11\n\t"
	    "blr	x10\n\t"
	    "brk	#1\n"
	    "1:"
	    : "+r"(x0)
	    : "r"(x8), "r"(x1), "r"(f), "r"(a)
	    : "cc", "memory");
	r = x0;
#endif
	if (r < 0) {
		errno = (int)-r;
		return (-1);
	}
	return ((pid_t)r);
}
#endif

#endif
