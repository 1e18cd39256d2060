/* One child: fork, the descriptors it gets, exec. */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "supervisor.h"
#include "without.h"

/* Descriptors are moved up here first, out of each other's way. */
#define FD_ASIDE	16

/* Behind the fork: said on standard error, as the parent's log is not ours. */
static _Noreturn void
give_up(const struct child *c, const char *what)
{
	dprintf(STDERR_FILENO, "myelind: %s: %s: %s\n", c->spec->name, what,
	    strerror(errno));
	_exit(126);
}

static void
signals_reset(void)
{
	sigset_t none;
	int i;

	for (i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/*
 * Nothing outlives the supervisor: every child ends at its control channel's
 * end, and one that hangs is killed by the kernel.  setresuid(2) forgets this
 * setting, and proc_drop makes it again; neurond, which has to take its neurons
 * down with it, gets a few seconds there.
 */
static void
die_with(const struct child *c, pid_t parent)
{
	if (c->spec->tidies)
		return;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1)
		give_up(c, "parent death signal");
	if (getppid() != parent)
		_exit(126);
}

/* 0 and 1 lead nowhere, 2 stays, then control and log, then nothing. */
static int
descriptors(const struct child *c, int control)
{
	int null, log = -1, program;

	if ((null = open("/dev/null", O_RDWR | O_CLOEXEC)) == -1 ||
	    dup2(null, STDIN_FILENO) == -1 || dup2(null, STDOUT_FILENO) == -1)
		give_up(c, "/dev/null");
	control = fcntl(control, F_DUPFD_CLOEXEC, FD_ASIDE);
	program = fcntl(c->program, F_DUPFD_CLOEXEC, FD_ASIDE);
	if (c->sv->journal != -1)
		log = fcntl(c->sv->journal, F_DUPFD_CLOEXEC, FD_ASIDE);
	if (control == -1 || program == -1 ||
	    (c->sv->journal != -1 && log == -1))
		give_up(c, "descriptors");
	if (dup2(control, PROC_CONTROL_FD) == -1)
		give_up(c, "control channel");
	if (log == -1)
		(void)close(PROC_LOG_FD);
	else if (dup2(log, PROC_LOG_FD) == -1)
		give_up(c, "log");
	if (close_range(PROC_LOG_FD + 1, ~0U, CLOSE_RANGE_CLOEXEC) == -1)
		give_up(c, "close_range");
	return (program);
}

static void
open_files(const struct child *c)
{
	rlim_t most = c->nofile, have;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		give_up(c, "open files");
	/* proc_drop lowers to what START says; only we may still raise. */
	if (rl.rlim_max >= most)
		return;
	have = rl.rlim_max;
	rl.rlim_cur = rl.rlim_max = most;
	/* Where a profile asks for too much, neurond says which. */
	if (setrlimit(RLIMIT_NOFILE, &rl) == -1 && geteuid() == 0 &&
	    have < child_nofile_own(c, c->sv->conf->slice))
		give_up(c, "open files");
}

static _Noreturn void
become(const struct child *c, int control, pid_t parent, bool as_user,
    uid_t uid, gid_t gid)
{
	char name[64];
	char *argv[] = { name, NULL };
	char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char lang[] = "LANG=C.UTF-8";
	char *envp[] = { path, lang, NULL };
	int program;

	(void)strlcpy(name, c->spec->name, sizeof(name));
	/* Ctrl-C on our terminal is for us: we stop the others in order. */
	(void)setpgid(0, 0);
	signals_reset();
	program = descriptors(c, control);
	open_files(c);
	(void)umask(077);
	if (chdir("/") == -1)
		give_up(c, "chdir");
	if (as_user && (setgroups(0, NULL) == -1 ||
	    setresgid(gid, gid, gid) == -1 || setresuid(uid, uid, uid) == -1))
		give_up(c, "user for the check");
	die_with(c, parent);
	/* The file that was checked, whatever is at its path by now. */
	(void)execveat(program, "", argv,
	    WITHOUT(child_environment) ? environ : envp, AT_EMPTY_PATH);
	give_up(c, "exec");
}

int
child_exec(const struct child *c, bool as_user, uid_t uid, gid_t gid,
    pid_t *pid)
{
	pid_t parent = getpid();
	int fds[2], saved;

	if (channel_pair(fds) == -1)
		return (-1);
	switch (*pid = fork()) {
	case -1:
		saved = errno;
		(void)close(fds[0]);
		(void)close(fds[1]);
		errno = saved;
		return (-1);
	case 0:
		become(c, fds[1], parent, as_user, uid, gid);
	default:
		(void)close(fds[1]);
		return (fds[0]);
	}
}

void
child_send_start(const struct child *c, struct channel *control,
    unsigned flags, const char *root)
{
	struct imsg *m = imsg_new(MSG_START);

	imsg_put_u32(m, PROTOCOL_VERSION);
	imsg_put_u32(m, c->uid);
	imsg_put_u32(m, c->gid);
	imsg_put_u32(m, c->nofile);
	imsg_put_u32(m, flags);
	imsg_put_str(m, root);
	imsg_put_str(m, c->sv->conf->slice->instance);
	(void)channel_send(control, m);
}
