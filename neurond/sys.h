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

#endif
