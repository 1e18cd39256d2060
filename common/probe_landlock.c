/*
 * Probing Landlock and the versions of its ABI.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "probe_internal.h"

#define LL_VERSION	1U	/* LANDLOCK_CREATE_RULESET_VERSION */
#define LL_BENEATH	1	/* LANDLOCK_RULE_PATH_BENEATH */
#define LL_READ_DIR	(1ULL << 3)

unsigned
probe_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LL_VERSION);

	return (abi < 0 ? 0 : (unsigned)abi);
}

const char *
probe_landlock(void)
{
	uint64_t handled = LL_READ_DIR;
	struct {
		uint64_t	access;
		int32_t		fd;
	} __attribute__((packed)) rule = { .access = LL_READ_DIR };
	int set;

	if (probe_landlock_abi() == 0) {
		if (errno == 0)
			errno = ENOSYS;
		return ("landlock_create_ruleset");
	}
	set = (int)syscall(SYS_landlock_create_ruleset, &handled,
	    sizeof(handled), 0);
	if (set == -1)
		return ("landlock_create_ruleset");
	if ((rule.fd = open("/", O_PATH | O_CLOEXEC)) == -1)
		return ("/");
	if (syscall(SYS_landlock_add_rule, set, LL_BENEATH, &rule, 0) == -1)
		return ("landlock_add_rule");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		return ("PR_SET_NO_NEW_PRIVS");
	if (syscall(SYS_landlock_restrict_self, set, 0) == -1)
		return ("landlock_restrict_self");
	return (NULL);
}

static const char *
landlock_at_least(unsigned abi)
{
	if (probe_landlock_abi() >= abi)
		return (NULL);
	errno = EOPNOTSUPP;
	return ("Landlock's ABI");
}

const char *
probe_landlock_2(void)
{
	return (landlock_at_least(2));
}

const char *
probe_landlock_3(void)
{
	return (landlock_at_least(3));
}

const char *
probe_landlock_4(void)
{
	return (landlock_at_least(4));
}

const char *
probe_landlock_5(void)
{
	return (landlock_at_least(5));
}

const char *
probe_landlock_6(void)
{
	return (landlock_at_least(6));
}
