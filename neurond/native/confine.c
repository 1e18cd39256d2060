/*
 * Ids, capabilities, keyring and rlimits of a neuron.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <string.h>

#include "../sys.h"
#include "confine.h"
#include "without.h"

#define SECUREBITS	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |		\
	SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |	\
	SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |		\
	SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

struct caps {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct	data[2];
};

static int
lower(int what, rlim_t most)
{
	struct rlimit rl;

	if (getrlimit(what, &rl) == -1)
		return (-1);
	/* Root may lack CAP_SYS_RESOURCE: hard limits only go down. */
	if (rl.rlim_max > most)
		rl.rlim_max = most;
	rl.rlim_cur = rl.rlim_max;
	return (setrlimit(what, &rl));
}

int
confine_rlimits(uint32_t nofile)
{
	const struct {
		int	what;
		rlim_t	most;
	} rows[] = {
		{ RLIMIT_NOFILE, nofile },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_NICE, 0 },
		{ RLIMIT_RTPRIO, 0 },
		{ RLIMIT_SIGPENDING, 4096 }
	};
	/*
	 * 1, not 0: what is a program instead of a file in core_pattern is
	 * started by the kernel on the host, at any limit but 1.
	 */
	const struct rlimit core = { 1, 1 };
	size_t i;

	if (setrlimit(RLIMIT_CORE, &core) == -1)
		return (-1);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (lower(rows[i].what, rows[i].most) == -1)
			return (-1);
	return (0);
}

int
confine_ids(uid_t uid)
{
	if (setresgid(uid, uid, uid) == -1 || setresuid(uid, uid, uid) == -1)
		return (-1);
	return (0);
}

int
confine_keyring(void)
{
	return (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) == -1 ?
	    -1 : 0);
}

static int
bounding_set(void)
{
	int cap, had;

	for (cap = 0; (had = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) >= 0;
	    cap++)
		if (had == 1 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1)
			return (-1);
	return (0);
}

int
confine_caps(void)
{
	struct caps none = { .head.version = _LINUX_CAPABILITY_VERSION_3 };

	if (WITHOUT(caps))
		return (0);
	if (bounding_set() == -1 ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 ||
	    (!WITHOUT(securebits) &&
	    prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0) == -1) ||
	    syscall(SYS_capset, &none.head, none.data) == -1)
		return (-1);
	return (0);
}

static int
no_caps(void)
{
	struct caps got = { .head.version = _LINUX_CAPABILITY_VERSION_3 };
	int cap, had, i;

	if (syscall(SYS_capget, &got.head, got.data) == -1)
		return (0);
	for (i = 0; i < 2; i++)
		if (got.data[i].effective != 0 || got.data[i].permitted != 0 ||
		    got.data[i].inheritable != 0)
			return (0);
	for (cap = 0; (had = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) >= 0; cap++)
		if (had != 0)
			return (0);
	return (1);
}

int
confine_proven(uid_t uid)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (getresuid(&r, &e, &s) == -1 || getresgid(&rg, &eg, &sg) == -1)
		return (-1);
	errno = EPERM;
	if (WITHOUT(caps))
		return (0);
	if (r != uid || e != uid || s != uid || rg != uid || eg != uid ||
	    sg != uid || getgroups(0, NULL) != 0 || !no_caps() ||
	    (!WITHOUT(securebits) &&
	    prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) != SECUREBITS) ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return (-1);
	errno = 0;
	return (0);
}
