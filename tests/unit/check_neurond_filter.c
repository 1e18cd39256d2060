/*
 * F0: the program itself, run by a small interpreter of BPF over a table of
 * calls and arguments.
 */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <asm/ioctls.h>
#include <string.h>

#include "unit.h"

#include "native/filter.h"
#include "native/filter_int.h"

#ifdef __x86_64__
#define ARCH	AUDIT_ARCH_X86_64
#else
#define ARCH	AUDIT_ARCH_AARCH64
#endif

#define ALLOW	SECCOMP_RET_ALLOW
#define KILL	SECCOMP_RET_KILL_PROCESS
#define NO(e)	(SECCOMP_RET_ERRNO | (e))

static struct sock_filter prog[FILTER_MAX];
static size_t nprog;

/* What the program answers; a jump or load outside it fails the test. */
static uint32_t
run(const struct sock_filter *f, size_t n, const struct seccomp_data *d)
{
	uint32_t a = 0, word;
	size_t pc = 0, steps = 0;

	while (pc < n && steps++ < n) {
		const struct sock_filter *i = &f[pc++];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			ck_assert_uint_le(i->k + 4, sizeof(*d));
			memcpy(&word, (const char *)d + i->k, 4);
			a = word;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += (a & i->k) != 0 ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return (i->k);
		default:
			ck_abort_msg("instruction %#x", i->code);
		}
	}
	ck_abort_msg("the program ran off its end");
}

static uint32_t
answer(long nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct seccomp_data d = {
		.nr = (int)nr, .arch = ARCH, .args = { a0, a1, a2, a3 }
	};

	return (run(prog, nprog, &d));
}

static void
setup(void)
{
	nprog = filter_build(prog, FILTER_MAX, 0);
	ck_assert_uint_gt(nprog, 0);
	ck_assert_uint_lt(nprog, 512);
}

static const struct {
	long		nr;
	uint64_t	a[4];
	uint32_t	want;
} cases[] = {
	{ SYS_read, { 0 }, ALLOW },
	{ SYS_execve, { 0 }, ALLOW },
	{ SYS_mount, { 0 }, NO(EPERM) },
	{ SYS_unshare, { 0 }, NO(EPERM) },
	{ SYS_setns, { 0 }, NO(EPERM) },
	{ SYS_ptrace, { 0 }, NO(EPERM) },
	{ SYS_bpf, { 0 }, NO(EPERM) },
	{ SYS_keyctl, { 0 }, NO(EPERM) },
	{ SYS_io_uring_setup, { 0 }, NO(EPERM) },
	{ SYS_name_to_handle_at, { 0 }, NO(EPERM) },
	{ 467, { 0 }, NO(EPERM) },		/* open_tree_attr */
	{ 457, { 0 }, NO(EPERM) },		/* statmount */
	{ 335, { 0 }, NO(ENOSYS) },
	{ 9999, { 0 }, NO(ENOSYS) },
	{ SYS_mq_open, { 0 }, NO(ENOSYS) },
	{ SYS_clone, { SIGCHLD }, ALLOW },
	{ SYS_clone, { CLONE_VM | CLONE_VFORK | SIGCHLD }, ALLOW },
	{ SYS_clone, { CLONE_NEWUSER }, NO(EPERM) },
	{ SYS_clone, { CLONE_NEWNS }, NO(EPERM) },
	{ SYS_clone, { CLONE_NEWNET | 0xff00000000ULL }, NO(EPERM) },
	{ SYS_fchmod, { 3, 0755 }, ALLOW },
	{ SYS_fchmod, { 3, 04755 }, NO(EPERM) },
	{ SYS_fchmod, { 3, 02755 }, NO(EPERM) },
	{ SYS_fchmod, { 3, 01777 }, ALLOW },
	{ SYS_fchmodat, { 0, 0, 06755 }, NO(EPERM) },
	{ 452, { 0, 0, 06755 }, NO(EPERM) },	/* fchmodat2 */
	{ 452, { 0, 0, 0644 }, ALLOW },
	{ SYS_mkdirat, { 0, 0, 02755 }, NO(EPERM) },
	{ SYS_openat, { 0, 0, O_RDONLY, 04755 }, ALLOW },
	{ SYS_openat, { 0, 0, O_CREAT, 0644 }, ALLOW },
	{ SYS_openat, { 0, 0, O_CREAT, 04755 }, NO(EPERM) },
	{ SYS_openat, { 0, 0, O_TMPFILE, 04755 }, NO(EPERM) },
	{ SYS_mknodat, { 0, 0, S_IFIFO | 0600 }, ALLOW },
	{ SYS_mknodat, { 0, 0, S_IFREG | 0600 }, ALLOW },
	{ SYS_mknodat, { 0, 0, 0600 }, ALLOW },
	{ SYS_mknodat, { 0, 0, S_IFCHR | 0600 }, NO(EPERM) },
	{ SYS_mknodat, { 0, 0, S_IFBLK | 0600 }, NO(EPERM) },
	{ SYS_mknodat, { 0, 0, S_IFIFO | 04600 }, NO(EPERM) },
	{ SYS_socket, { AF_INET, SOCK_STREAM, 0 }, ALLOW },
	{ SYS_socket, { AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 6 }, ALLOW },
	{ SYS_socket, { AF_INET, SOCK_DGRAM, 17 }, ALLOW },
	{ SYS_socket, { AF_INET, SOCK_STREAM, 262 }, NO(EPERM) },
	{ SYS_socket, { AF_INET, SOCK_DGRAM, 136 }, NO(EPERM) },
	{ SYS_socket, { AF_INET, SOCK_RAW, 1 }, NO(EPERM) },
	{ SYS_socket, { AF_INET, SOCK_DGRAM, 1 }, NO(EPERM) },
	{ SYS_socket, { AF_NETLINK, SOCK_RAW, 0 }, ALLOW },
	{ SYS_socket, { AF_NETLINK, SOCK_RAW, 16 }, NO(EPERM) },
	{ SYS_socket, { AF_UNIX, SOCK_STREAM, 0 }, NO(EAFNOSUPPORT) },
	{ SYS_socket, { AF_VSOCK, SOCK_STREAM, 0 }, NO(EAFNOSUPPORT) },
	{ SYS_socket, { AF_PACKET, SOCK_RAW, 0 }, NO(EAFNOSUPPORT) },
	{ SYS_socket, { AF_ALG, SOCK_SEQPACKET, 0 }, NO(EAFNOSUPPORT) },
	{ SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0 }, ALLOW },
	{ SYS_socketpair, { 40, SOCK_STREAM, 0 }, NO(EAFNOSUPPORT) },
	{ SYS_ioctl, { 0, TCGETS }, ALLOW },
	{ SYS_ioctl, { 0, FIONREAD }, ALLOW },
	{ SYS_ioctl, { 0, TIOCSTI }, NO(EPERM) },
	{ SYS_ioctl, { 0, TIOCSTI | 1ULL << 32 }, NO(EPERM) },
	{ SYS_ioctl, { 0, TIOCLINUX }, NO(EPERM) },
	{ SYS_ioctl, { 0, TIOCSETD }, NO(EPERM) },
	{ SYS_ioctl, { 0, 0xb702 }, NO(ENOTTY) },
	{ SYS_ioctl, { 0, 0x40086602 }, NO(ENOTTY) },
	{ SYS_fcntl, { 0, F_GETFL }, ALLOW },
	{ SYS_fcntl, { 0, F_SETPIPE_SZ }, NO(EPERM) },
	{ SYS_prctl, { PR_SET_NAME }, ALLOW },
	{ SYS_prctl, { PR_SET_NO_NEW_PRIVS }, ALLOW },
	{ SYS_prctl, { PR_SET_KEEPCAPS }, NO(EPERM) },
	{ SYS_prctl, { PR_SET_SECUREBITS }, NO(EPERM) },
	{ SYS_prctl, { PR_CAP_AMBIENT }, NO(EPERM) },
	{ SYS_prctl, { PR_SET_MM }, NO(EPERM) },
	{ SYS_personality, { 0 }, ALLOW },
	{ SYS_personality, { 0xffffffff }, ALLOW },
	{ SYS_personality, { 0x0040000 }, NO(EPERM) },
	{ SYS_prlimit64, { 0 }, ALLOW },
	{ SYS_prlimit64, { 1 }, NO(EPERM) },
	{ SYS_seccomp, { SECCOMP_SET_MODE_FILTER }, ALLOW },
	{ SYS_seccomp, { SECCOMP_GET_NOTIF_SIZES }, NO(EPERM) },
	{ SYS_setuid, { 1000 }, ALLOW },
	{ SYS_setuid, { 0 }, NO(EPERM) },
	{ SYS_setresuid, { (uint32_t)-1, 1000, (uint32_t)-1 }, ALLOW },
	{ SYS_setresuid, { 1000, 1000, 0 }, NO(EPERM) },
	{ SYS_setregid, { 1000, 1001 }, NO(EPERM) },
	{ SYS_setgroups, { 0 }, NO(EPERM) },
#ifdef __x86_64__
	{ SYS_open, { 0, O_CREAT, 04755 }, NO(EPERM) },
	{ SYS_open, { 0, O_CREAT, 0755 }, ALLOW },
	{ SYS_creat, { 0, 02755 }, NO(EPERM) },
	{ SYS_chmod, { 0, 04755 }, NO(EPERM) },
	{ SYS_mkdir, { 0, 02755 }, NO(EPERM) },
	{ SYS_mknod, { 0, S_IFCHR | 0600 }, NO(EPERM) },
	{ SYS_modify_ldt, { 0 }, NO(EPERM) },
	{ 0x40000000 | SYS_getpid, { 0 }, KILL },
#endif
};

START_TEST(test_cases)
{
	uint32_t got = answer(cases[_i].nr, cases[_i].a[0], cases[_i].a[1],
	    cases[_i].a[2], cases[_i].a[3]);

	ck_assert_msg(got == cases[_i].want, "case %d, call %ld: %#x, not %#x",
	    _i, cases[_i].nr, got, cases[_i].want);
}
END_TEST

/* Every plain row of the table gets its own answer, the rest the default. */
START_TEST(test_table)
{
	uint32_t want[600];
	size_t i;

	for (i = 0; i < 600; i++)
		want[i] = NO(ENOSYS);
	for (i = 0; i < filter_nrows; i++) {
		ck_assert_int_lt(filter_rows[i].nr, 600);
		want[filter_rows[i].nr] =
		    filter_rows[i].act == ACT_ALLOW ? ALLOW :
		    filter_rows[i].act == ACT_EPERM ? NO(EPERM) : 0;
	}
	for (i = 0; i < 600; i++)
		if (want[i] != 0)
			ck_assert_uint_eq(answer((long)i, 0, 0, 0, 0),
			    want[i]);
}
END_TEST

START_TEST(test_architecture)
{
	struct seccomp_data d = { .nr = SYS_read, .arch = AUDIT_ARCH_I386 };

	ck_assert_uint_eq(run(prog, nprog, &d), KILL);
	d.arch = AUDIT_ARCH_ARM;
	ck_assert_uint_eq(run(prog, nprog, &d), KILL);
}
END_TEST

START_TEST(test_call_filter)
{
	struct sock_filter f[16];
	size_t n = filter_build_call(f, 16);
	struct seccomp_data d = { .nr = SYS_clone3, .arch = ARCH };

	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(run(f, n, &d), NO(ENOSYS));
	d.nr = SYS_openat2;
	ck_assert_uint_eq(run(f, n, &d), NO(ENOSYS));
	d.nr = SYS_clone;
	ck_assert_uint_eq(run(f, n, &d), ALLOW);
}
END_TEST

START_TEST(test_too_small)
{
	struct sock_filter f[64];

	ck_assert_uint_eq(filter_build(f, 64, 0), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("neurond filter");
	TCase *tc = tcase_create("F0");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_cases, 0,
	    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tc, test_table);
	tcase_add_test(tc, test_architecture);
	tcase_add_test(tc, test_call_filter);
	tcase_add_test(tc, test_too_small);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
