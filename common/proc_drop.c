/*
 * The one drop of every process, in one order, each step proven.
 *
 * The bounding set goes before the uid: dropping it needs CAP_SETPCAP, which
 * setresuid(2) takes from a process that stops being root.
 */
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <errno.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "proc_internal.h"
#include "without.h"

/* Memfds count as files here: the largest body, doubled for base64. */
#define FSIZE_MEMFD	(512ULL * 1024 * 1024)

static int
cap_kept(const int *caps, int cap)
{
	for (; caps != NULL && *caps != -1; caps++)
		if (*caps == cap)
			return (1);
	return (0);
}

static void
drop_root_directory(const struct proc_drop *d)
{
	if (d->root[0] == '\0' ||
	    (WITHOUT(drop_chroot) && !(d->flags & PROC_FILES)))
		return;
	if (chroot(d->root) == -1 || chdir("/") == -1)
		fatal("drop: chroot %s", d->root);
}

static void
drop_bounding_set(const struct proc_drop *d)
{
	int cap, had;

	for (cap = 0; (had = prctl(PR_CAPBSET_READ, cap, 0, 0, 0)) >= 0;
	    cap++) {
		if (cap_kept(d->caps, cap) || WITHOUT(drop_bounding_set))
			continue;
		if (had == 1 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == -1)
			fatal("drop: capability %d of the bounding set", cap);
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) != 0)
			fatalx("drop: capability %d is still there", cap);
	}
}

static void
drop_ids(const struct proc_drop *d)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (!WITHOUT(drop_groups) && setgroups(0, NULL) == -1)
		fatal("drop: setgroups");
	if ((d->flags & PROC_ROOT) || WITHOUT(drop_ids))
		return;
	if (d->uid == 0 || d->gid == 0)
		fatalx("drop: to uid %u, gid %u", d->uid, d->gid);
	if (setresgid(d->gid, d->gid, d->gid) == -1 ||
	    setresuid(d->uid, d->uid, d->uid) == -1)
		fatal("drop: to uid %u, gid %u", d->uid, d->gid);
	if (getresuid(&r, &e, &s) == -1 || getresgid(&rg, &eg, &sg) == -1 ||
	    r != d->uid || e != d->uid || s != d->uid ||
	    rg != d->gid || eg != d->gid || sg != d->gid)
		fatalx("drop: the ids did not change");
	if (setresuid(0, 0, 0) != -1 || setresgid(0, 0, 0) != -1 ||
	    seteuid(0) != -1)
		fatalx("drop: the old ids came back");
	if (getgroups(0, NULL) != 0 && !WITHOUT(drop_groups))
		fatalx("drop: groups are left");
}

static void
drop_caps(const struct proc_drop *d)
{
	cap_t want, got;
	cap_value_t v;
	const int *c;

	if (WITHOUT(drop_caps))
		return;
	if ((want = cap_init()) == NULL)
		fatal("drop: cap_init");
	for (c = d->caps; c != NULL && *c != -1; c++) {
		v = *c;
		/* One that the host withholds from us can't be kept. */
		if (prctl(PR_CAPBSET_READ, v, 0, 0, 0) != 1)
			continue;
		if (cap_set_flag(want, CAP_EFFECTIVE, 1, &v, CAP_SET) == -1 ||
		    cap_set_flag(want, CAP_PERMITTED, 1, &v, CAP_SET) == -1)
			fatal("drop: capability %d", v);
	}
	if (cap_set_proc(want) == -1)
		fatal("drop: capabilities");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1)
		fatal("drop: ambient capabilities");
	if ((got = cap_get_proc()) == NULL || cap_compare(want, got) != 0)
		fatalx("drop: capabilities are left");
	cap_free(want);
	cap_free(got);
}

static void
limit(int what, rlim_t most, const char *name)
{
	struct rlimit rl;

	if (getrlimit(what, &rl) == -1)
		fatal("drop: rlimit %s", name);
	/* Hard limits only go down: raising one needs CAP_SYS_RESOURCE. */
	if (rl.rlim_max > most)
		rl.rlim_max = most;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(what, &rl) == -1)
		fatal("drop: rlimit %s", name);
}

static void
drop_rlimits(const struct proc_drop *d)
{
	/* 1 also stops a core handler that is a pipe; neurons inherit it, and
	 * may need CAP_SYS_RESOURCE to get it back from 0. */
	if (!WITHOUT(drop_rlimits))
		limit(RLIMIT_CORE, 1, "core");
	limit(RLIMIT_NOFILE, d->nofile, "nofile");
	if ((d->flags & PROC_ROOT) || WITHOUT(drop_rlimits))
		return;
	limit(RLIMIT_MEMLOCK, 0, "memlock");
	limit(RLIMIT_MSGQUEUE, 0, "msgqueue");
	if (!(d->flags & PROC_FILES))
		limit(RLIMIT_FSIZE, FSIZE_MEMFD, "fsize");
	if (!(d->flags & PROC_FORK))
		limit(RLIMIT_NPROC, 0, "nproc");
}

/* The parent's death, told by the kernel; the next one of these kills. */
static void
on_parent_death(int sig)
{
	(void)signal(sig, SIG_DFL);
	(void)alarm(PROC_GRACE);
}

void
proc_die_with_parent(unsigned flags)
{
	struct sigaction sa = { .sa_handler = on_parent_death,
	    .sa_flags = SA_RESTART };
	int sig = SIGKILL;

	if (flags & PROC_ROOT) {
		sig = SIGALRM;
		if (sigaction(sig, &sa, NULL) == -1)
			fatal("drop: SIGALRM");
	}
	/* A parent that died before this shows as a closed channel. */
	if (prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0) == -1)
		fatal("drop: the parent's death signal");
}

void
proc_drop(const struct proc_drop *d)
{
	if (getuid() != 0 || geteuid() != 0)
		fatalx("drop: not root: this program is started by myelind(8)");
	umask(WITHOUT(file_modes) ? 022 : 077);
	drop_root_directory(d);
	drop_bounding_set(d);
	drop_ids(d);
	drop_caps(d);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		fatal("drop: dumpable");
	if (!WITHOUT(drop_no_new_privs) &&
	    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1))
		fatal("drop: no_new_privs");
	proc_die_with_parent(d->flags);
	drop_rlimits(d);
	if (close_range((unsigned)d->keep_fd + 1, ~0U, 0) == -1)
		fatal("drop: close_range");
	if (!(d->flags & PROC_ROOT) && chroot("/") != -1 &&
	    !WITHOUT(drop_caps))
		fatalx("drop: chroot is still allowed");
	if (d->syscalls != NULL && !WITHOUT(drop_seccomp))
		proc_filter(d->syscalls, d->nsyscalls);
	else if (!(d->flags & PROC_ROOT) && !WITHOUT(drop_seccomp))
		fatalx("drop: %s has no filter", d->name);
}

void
proc_confine(const struct proc_syscall *syscalls, size_t n)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 ||
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		fatal("confine: no_new_privs");
	proc_filter(syscalls, n);
}

void
proc_title(const char *name)
{
	/* 15 bytes of it, prctl(2). */
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
}
