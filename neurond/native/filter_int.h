/*
 * What filter.c and filter_table.c share.
 */
#ifndef MYELIN_NATIVE_FILTER_INT_H
#define MYELIN_NATIVE_FILTER_INT_H

#include <stddef.h>
#include <stdint.h>

/* Plain answers first, then rules that look at arguments. */
enum filter_act {
	ACT_NOSYS,		/* the default: as if the kernel had it not */
	ACT_ALLOW,
	ACT_EPERM,
	ACT_STANDARD,		/* allowed, but in the strict variant */
	ACT_RULE_FIRST,
	RULE_CLONE = ACT_RULE_FIRST,
	RULE_MODE1,		/* argument 1 is a mode without set-id bits */
	RULE_MODE2,
	RULE_MKNOD1,		/* the same, and no device */
	RULE_MKNOD2,
	RULE_OPEN,		/* flags 1, mode 2 */
	RULE_OPENAT,		/* flags 2, mode 3 */
	RULE_SOCKET,
	RULE_SOCKETPAIR,
	RULE_IOCTL,
	RULE_FCNTL,
	RULE_PRCTL,
	RULE_PERSONALITY,
	RULE_PRLIMIT,
	RULE_SECCOMP,
	RULE_IDS1,		/* ids that change nothing: its own, or -1 */
	RULE_IDS2,
	RULE_IDS3,
	ACT_COUNT
};

struct filter_row {
	int		nr;
	enum filter_act	act;
};

extern const struct filter_row filter_rows[];
extern const size_t filter_nrows;

/* Values of one argument that are allowed, by rule. */
struct filter_values {
	const uint32_t	*v;
	size_t		 n;
};

extern const struct filter_values filter_ioctls;
extern const struct filter_values filter_ioctls_bad;
extern const struct filter_values filter_prctls;

#endif
