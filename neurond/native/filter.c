/*
 * The compiler of F0: a binary search over system call numbers, then a block
 * of instructions for each rule that looks at arguments.
 *
 * A linear program of the same table takes the kernel nine times as long to
 * load, and each PID 1 loads it.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "filter_int.h"
#include "without.h"
#include "../steps.h"

#if defined(__x86_64__)
#define ARCH	AUDIT_ARCH_X86_64
#define X32	0x40000000U
#elif defined(__aarch64__)
#define ARCH	AUDIT_ARCH_AARCH64
#else
#error "F0 knows amd64 and arm64"
#endif

#define SETID	(WITHOUT(seccomp_setid) ? 0 : (uint32_t)(S_ISUID | S_ISGID))
/* O_CREAT and the bit of O_TMPFILE that is not O_DIRECTORY */
#define MAKES	((uint32_t)O_CREAT | 020000000U)
/* CLONE_NEWNS and NEWCGROUP to NEWNET, clone(2) */
#define NEW_NS	(WITHOUT(seccomp_namespaces) ? 0 : 0x7e020000U)

#define ALLOW		SECCOMP_RET_ALLOW
#define ERRNO(e)	(SECCOMP_RET_ERRNO | (uint32_t)(e))

#define SPANS_MAX	512
/* A subtree of this many spans and its island fit in a jump of 8 bits. */
#define NEAR_SPANS	100

struct span {
	uint32_t	start;
	enum filter_act	act;
};

struct prog {
	struct sock_filter *insn;
	size_t		 n;
	size_t		 max;
	int		 full;
	int		 strict;
	/* Jumps to rules, patched when the rule's place is known. */
	size_t		 jump[SPANS_MAX];
	enum filter_act	 jump_to[SPANS_MAX];
	size_t		 njumps;
};

static size_t
emit(struct prog *p, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (p->n >= p->max) {
		p->full = 1;
		return (0);
	}
	p->insn[p->n] = (struct sock_filter){ code, jt, jf, k };
	return (p->n++);
}

static void
ret(struct prog *p, uint32_t value)
{
	emit(p, BPF_RET | BPF_K, value, 0, 0);
}

static void
load(struct prog *p, uint32_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

/*
 * The low half of an argument: the kernel takes ints and modes from there
 * alone, so a set high half must not make a difference.
 */
static void
load_arg(struct prog *p, unsigned arg)
{
	load(p, (uint32_t)(offsetof(struct seccomp_data, args) + 8 * arg));
}

static void
jump_eq(struct prog *p, uint32_t k, uint8_t jt, uint8_t jf)
{
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, k, jt, jf);
}

/* ---- the rules ---- */

/* Allowed if (argument & mask) == 0. */
static void
rule_clear(struct prog *p, unsigned arg, uint32_t mask)
{
	load_arg(p, arg);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0);
	ret(p, ALLOW);
	ret(p, ERRNO(EPERM));
}

static void
rule_equal(struct prog *p, unsigned arg, uint32_t value, int error)
{
	load_arg(p, arg);
	jump_eq(p, value, 0, 1);
	ret(p, ALLOW);
	ret(p, ERRNO(error));
}

/* A value of the list is answered with yes; else the program goes on. */
static void
any_of(struct prog *p, const struct filter_values *values, uint32_t yes)
{
	size_t i;

	for (i = 0; i + 1 < values->n; i++)
		jump_eq(p, values->v[i], (uint8_t)(values->n - i - 1), 0);
	jump_eq(p, values->v[i], 0, 1);
	ret(p, yes);
}

static void
rule_open(struct prog *p, unsigned flags, unsigned mode)
{
	load_arg(p, flags);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, MAKES, 1, 0);
	ret(p, ALLOW);
	rule_clear(p, mode, SETID);
}

static void
rule_mknod(struct prog *p, unsigned mode)
{
	static const uint32_t v[] = { 0, S_IFREG, S_IFIFO, S_IFSOCK };
	static const struct filter_values kinds = { v, 4 };

	load_arg(p, mode);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, SETID, 0, 1);
	ret(p, ERRNO(EPERM));
	emit(p, BPF_ALU | BPF_AND | BPF_K, S_IFMT, 0, 0);
	any_of(p, &kinds, ALLOW);
	ret(p, ERRNO(EPERM));
}

static void
rule_socket(struct prog *p)
{
	static const uint32_t tcp_v[] = { 0, IPPROTO_TCP };
	static const uint32_t udp_v[] = { 0, IPPROTO_UDP };
	static const struct filter_values tcp = { tcp_v, 2 };
	static const struct filter_values udp = { udp_v, 2 };

	if (WITHOUT(seccomp_sockets))
		ret(p, ALLOW);
	load_arg(p, 0);
	jump_eq(p, AF_INET, 6, 0);
	jump_eq(p, AF_INET6, 5, 0);
	jump_eq(p, AF_NETLINK, 1, 0);
	ret(p, ERRNO(EAFNOSUPPORT));
	load_arg(p, 2);
	jump_eq(p, NETLINK_ROUTE, 0, 1);
	ret(p, ALLOW);
	/* Internet; a netlink of another family falls through to a refusal. */
	load_arg(p, 0);
	jump_eq(p, AF_NETLINK, 0, 1);
	ret(p, ERRNO(EPERM));
	load_arg(p, 1);
	emit(p, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
	jump_eq(p, SOCK_STREAM, 2, 0);
	jump_eq(p, SOCK_DGRAM, 6, 0);
	ret(p, ERRNO(EPERM));
	load_arg(p, 2);
	any_of(p, &tcp, ALLOW);
	ret(p, ERRNO(EPERM));
	load_arg(p, 2);
	any_of(p, &udp, ALLOW);
	ret(p, ERRNO(EPERM));
}

static void
rule_ioctl(struct prog *p)
{
	load_arg(p, 1);
	any_of(p, &filter_ioctls, ALLOW);
	any_of(p, &filter_ioctls_bad, WITHOUT(seccomp_ioctl) ? ALLOW :
	    ERRNO(EPERM));
	ret(p, ERRNO(ENOTTY));
}

static void
rule_fcntl(struct prog *p)
{
	load_arg(p, 1);
	jump_eq(p, F_SETPIPE_SZ, 0, 1);
	ret(p, ERRNO(EPERM));
	ret(p, ALLOW);
}

static void
rule_prctl(struct prog *p)
{
	load_arg(p, 0);
	any_of(p, &filter_prctls, ALLOW);
	ret(p, ERRNO(EPERM));
}

static void
rule_personality(struct prog *p)
{
	static const uint32_t v[] = { 0, 0xffffffffU };
	static const struct filter_values values = { v, 2 };

	load_arg(p, 0);
	any_of(p, &values, ALLOW);
	ret(p, ERRNO(EPERM));
}

/* A program may filter itself further: that only narrows. */
static void
rule_seccomp(struct prog *p)
{
	static const uint32_t v[] = { SECCOMP_SET_MODE_STRICT,
	    SECCOMP_SET_MODE_FILTER, SECCOMP_GET_ACTION_AVAIL };
	static const struct filter_values values = { v, 3 };

	load_arg(p, 0);
	any_of(p, &values, ALLOW);
	ret(p, ERRNO(EPERM));
}

static void
rule_ids(struct prog *p, unsigned n)
{
	unsigned arg;

	for (arg = 0; arg < n; arg++) {
		load_arg(p, arg);
		jump_eq(p, AGENT_UID, 2, 0);
		jump_eq(p, 0xffffffffU, 1, 0);
		ret(p, ERRNO(EPERM));
	}
	ret(p, ALLOW);
}

static void
rule(struct prog *p, enum filter_act act)
{
	switch (act) {
	case RULE_CLONE:
		rule_clear(p, 0, NEW_NS);
		break;
	case RULE_MODE1:
		rule_clear(p, 1, SETID);
		break;
	case RULE_MODE2:
		rule_clear(p, 2, SETID);
		break;
	case RULE_MKNOD1:
		rule_mknod(p, 1);
		break;
	case RULE_MKNOD2:
		rule_mknod(p, 2);
		break;
	case RULE_OPEN:
		rule_open(p, 1, 2);
		break;
	case RULE_OPENAT:
		rule_open(p, 2, 3);
		break;
	case RULE_SOCKET:
		rule_socket(p);
		break;
	case RULE_SOCKETPAIR:
		rule_equal(p, 0, AF_UNIX, EAFNOSUPPORT);
		break;
	case RULE_IOCTL:
		rule_ioctl(p);
		break;
	case RULE_FCNTL:
		rule_fcntl(p);
		break;
	case RULE_PRCTL:
		rule_prctl(p);
		break;
	case RULE_PERSONALITY:
		rule_personality(p);
		break;
	case RULE_PRLIMIT:
		rule_equal(p, 0, 0, EPERM);
		break;
	case RULE_SECCOMP:
		rule_seccomp(p);
		break;
	case RULE_IDS1:
	case RULE_IDS2:
	case RULE_IDS3:
		rule_ids(p, (unsigned)(act - RULE_IDS1) + 1);
		break;
	default:
		/* Plain answers are leaves of the tree, not rules. */
		ret(p, ERRNO(ENOSYS));
		break;
	}
}

/* ---- the tree ---- */

/* A branch whose answer stands in its subtree's island. */
struct branch {
	size_t		at;
	int		taken;		/* jt, else jf */
	enum filter_act	act;
};

struct branches {
	struct branch	v[NEAR_SPANS + 1];
	size_t		n;
};

static void
near(struct prog *p, const struct span *s, size_t n, struct branches *out)
{
	size_t mid = n / 2, at;

	at = emit(p, BPF_JMP | BPF_JGE | BPF_K, s[mid].start, 0, 0);
	if (mid == 1)
		out->v[out->n++] = (struct branch){ at, 0, s[0].act };
	else
		near(p, s, mid, out);
	if (n - mid == 1) {
		out->v[out->n++] = (struct branch){ at, 1, s[mid].act };
		return;
	}
	if (!p->full)
		p->insn[at].jt = (uint8_t)(p->n - at - 1);
	near(p, s + mid, n - mid, out);
}

static void
answer(struct prog *p, enum filter_act act)
{
	if (act == ACT_STANDARD)
		act = p->strict && !WITHOUT(strict_filter) ? ACT_EPERM :
		    ACT_ALLOW;
	if (act == ACT_ALLOW)
		ret(p, ALLOW);
	else if (act == ACT_EPERM)
		ret(p, WITHOUT(seccomp_eperm) ? ALLOW : ERRNO(EPERM));
	else if (act == ACT_NOSYS)
		ret(p, ERRNO(ENOSYS));
	else {
		p->jump[p->njumps] = emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
		p->jump_to[p->njumps++] = act;
	}
}

/* The answers of a subtree, each once, in reach of all its jumps. */
static void
island(struct prog *p, const struct branches *b)
{
	struct sock_filter *insn;
	size_t place[ACT_COUNT] = { 0 }, i;
	uint8_t to;

	for (i = 0; i < b->n && !p->full; i++) {
		if (place[b->v[i].act] == 0) {
			place[b->v[i].act] = p->n;
			answer(p, b->v[i].act);
		}
		insn = &p->insn[b->v[i].at];
		to = (uint8_t)(place[b->v[i].act] - b->v[i].at - 1);
		if (b->v[i].taken)
			insn->jt = to;
		else
			insn->jf = to;
	}
}

static void
tree(struct prog *p, const struct span *s, size_t n)
{
	struct branches b = { .n = 0 };
	size_t mid = n / 2, far;

	if (n == 1) {
		answer(p, s->act);
		return;
	}
	if (n <= NEAR_SPANS) {
		near(p, s, n, &b);
		island(p, &b);
		return;
	}
	emit(p, BPF_JMP | BPF_JGE | BPF_K, s[mid].start, 0, 1);
	far = emit(p, BPF_JMP | BPF_JA, 0, 0, 0);
	tree(p, s, mid);
	if (!p->full)
		p->insn[far].k = (uint32_t)(p->n - far - 1);
	tree(p, s + mid, n - mid);
}

static int
row_compare(const void *a, const void *b)
{
	const struct filter_row *x = a, *y = b;

	return ((x->nr > y->nr) - (x->nr < y->nr));
}

/* Runs of numbers with one answer.  0 if the table is wrong. */
static size_t
spans(struct span *out)
{
	struct filter_row rows[SPANS_MAX];
	uint32_t next = 0;
	size_t i, n = 0;

	if (filter_nrows > SPANS_MAX)
		return (0);
	memcpy(rows, filter_rows, filter_nrows * sizeof(rows[0]));
	qsort(rows, filter_nrows, sizeof(rows[0]), row_compare);
	for (i = 0; i < filter_nrows; i++) {
		if (i > 0 && rows[i].nr == rows[i - 1].nr)
			return (0);
		if (n + 2 > SPANS_MAX)
			return (0);
		if ((uint32_t)rows[i].nr > next &&
		    (n == 0 || out[n - 1].act != ACT_NOSYS))
			out[n++] = (struct span){ next, ACT_NOSYS };
		if (n == 0 || out[n - 1].act != rows[i].act)
			out[n++] = (struct span){ (uint32_t)rows[i].nr,
			    rows[i].act };
		next = (uint32_t)rows[i].nr + 1;
	}
	if (n == SPANS_MAX)
		return (0);
	out[n++] = (struct span){ next, ACT_NOSYS };
	return (n);
}

static void
head(struct prog *p)
{
	load(p, offsetof(struct seccomp_data, arch));
	jump_eq(p, ARCH, 1, 0);
	ret(p, WITHOUT(seccomp_abi) ? ALLOW : SECCOMP_RET_KILL_PROCESS);
	load(p, offsetof(struct seccomp_data, nr));
#ifdef X32
	emit(p, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	ret(p, SECCOMP_RET_KILL_PROCESS);
#endif
}

size_t
filter_build(struct sock_filter *insn, size_t max, int strict)
{
	struct prog p = { .insn = insn, .max = max, .strict = strict };
	struct span s[SPANS_MAX];
	size_t place[ACT_COUNT] = { 0 };
	size_t n, i;
	int act;

	if ((n = spans(s)) == 0)
		return (0);
	head(&p);
	tree(&p, s, n);
	for (act = ACT_RULE_FIRST; act < ACT_COUNT && !p.full; act++) {
		place[act] = p.n;
		rule(&p, (enum filter_act)act);
	}
	if (p.full)
		return (0);
	for (i = 0; i < p.njumps; i++)
		insn[p.jump[i]].k =
		    (uint32_t)(place[p.jump_to[i]] - p.jump[i] - 1);
	return (p.n);
}

size_t
filter_build_call(struct sock_filter *insn, size_t max)
{
	struct prog p = { .insn = insn, .max = max };

	if (WITHOUT(seccomp_pointers))
		ret(&p, ALLOW);
	load(&p, offsetof(struct seccomp_data, nr));
	jump_eq(&p, SYS_clone3, 2, 0);
	jump_eq(&p, SYS_openat2, 1, 0);
	ret(&p, ALLOW);
	ret(&p, ERRNO(ENOSYS));
	return (p.full ? 0 : p.n);
}

int
filter_load(const struct sock_filter *insn, size_t n)
{
	struct sock_fprog fprog = {
		.len = (unsigned short)n,
		.filter = (struct sock_filter *)(uintptr_t)insn
	};

	return ((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog));
}
