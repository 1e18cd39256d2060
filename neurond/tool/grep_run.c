/*
 * Runs ripgrep.
 *
 * The program is opened before the fork and executed by its fd.  The child
 * gives up everything but reading one root (and what a program needs to
 * start), so that a directory exchanged for a link while it searches leads
 * nowhere; it dies with this process.  This process then loads the filter of
 * a body that only touches files.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../native/landlock.h"
#include "../sys.h"
#include "filter.h"
#include "grep_run.h"
#include "out.h"
#include "tool.h"
#include "without.h"

#define RULE_BENEATH	1	/* LANDLOCK_RULE_PATH_BENEATH */
#define READ		(LL_READ_FILE | LL_READ_DIR)

/* What the child exits with if it can't become rg; which itself has 0 to 2. */
#define NOT_CONFINED	120
#define NOT_EXECUTED	121

#define WAIT_MS		500	/* for its end, once its output has ended */
#define WAIT_STEP_US	200

struct beneath {
	uint64_t	access;
	int32_t		fd;
} __attribute__((packed));

/* ---- the child ---- */

static int
allow(int ruleset, int fd, uint64_t access)
{
	struct beneath rule = { .access = access, .fd = fd };

	return ((int)syscall(SYS_landlock_add_rule, ruleset, RULE_BENEATH,
	    &rule, 0));
}

static int
allow_path(int ruleset, const char *path, uint64_t access, int must)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd == -1)
		return (must ? -1 : 0);
	return (allow(ruleset, fd, access));
}

/* From here on it may read the root, and start a program of /usr. */
static int
confine(int root)
{
	unsigned abi = landlock_abi();
	struct ll_ruleset set = { .fs = landlock_rights(abi) };
	size_t size = sizeof(set);
	int fd;

	if (WITHOUT(grep_landlock))
		return (0);
	if (abi < 6)
		size = abi < 4 ? offsetof(struct ll_ruleset, net) :
		    offsetof(struct ll_ruleset, scoped);
	else
		set.scoped = LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL;
	fd = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
	if (fd == -1 || allow(fd, root, READ) == -1 ||
	    allow_path(fd, "/usr", READ | LL_EXECUTE, 1) == -1 ||
	    allow_path(fd, "/etc/ld.so.cache", LL_READ_FILE, 0) == -1)
		return (-1);
	return ((int)syscall(SYS_landlock_restrict_self, fd, 0));
}

static _Noreturn void
become_rg(const struct rg_run *r, int program, int out, int err, pid_t parent)
{
	static char *const none[] = { NULL };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == -1 ||
	    getppid() != parent)
		_exit(NOT_CONFINED);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	if ((r->file != -1 && dup2(r->file, STDIN_FILENO) == -1) ||
	    dup2(out, STDOUT_FILENO) == -1 || dup2(err, STDERR_FILENO) == -1 ||
	    (r->dir != -1 && fchdir(r->dir) == -1) ||
	    confine(r->root) == -1 || tool_filter_child() == -1)
		_exit(NOT_CONFINED);
	(void)execveat(program, "", (char *const *)(uintptr_t)r->argv, none,
	    AT_EMPTY_PATH);
	_exit(NOT_EXECUTED);
}

/* ---- this process ---- */

static int64_t
now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

/* Messages: the first ones are kept. */
static int
take_message(struct rg_run *r, int fd)
{
	char text[1024];
	ssize_t n = read(fd, text, sizeof(text));
	size_t room = RG_STDERR_MAX - r->nmessage;

	if (n <= 0)
		return (0);
	if ((size_t)n < room)
		room = (size_t)n;
	memcpy(r->message + r->nmessage, text, room);
	r->nmessage += room;
	r->message[r->nmessage] = '\0';
	return (1);
}

/* Reads both pipes until both have ended.  0, or -1 if not understood. */
static int
pump(struct rg_run *r, int out, int err)
{
	static char block[OUT_BLOCK];
	struct pollfd p[2] = { { out, POLLIN, 0 }, { err, POLLIN, 0 } };
	int64_t deadline = now() + r->time_ms, left;
	size_t total = 0;
	ssize_t n;
	int end;

	r->stop = RG_DONE;
	while (p[0].fd != -1 || p[1].fd != -1) {
		left = deadline - now();
		if (left <= 0 || poll(p, 2, (int)left) == 0) {
			r->stop = RG_LATE;
			return (0);
		}
		if (p[1].fd != -1 && p[1].revents != 0 &&
		    take_message(r, err) == 0)
			p[1].fd = -1;
		if (p[0].fd == -1 || p[0].revents == 0)
			continue;
		if ((n = read(out, block, sizeof(block))) <= 0) {
			p[0].fd = -1;
			continue;
		}
		total += (size_t)n;
		if ((end = r->output(r->arg, block, (size_t)n)) == -1)
			return (-1);
		if (end != 0 || total > RG_OUTPUT_MAX) {
			r->stop = end != 0 ? RG_STOPPED : RG_TOO_MUCH;
			return (0);
		}
	}
	return (0);
}

/*
 * Waits for the child, whose pipes are closed by now.  One that does not end
 * is killed by the kernel when this process does.
 */
static int
wait_for(pid_t pid)
{
	const struct timespec step = { .tv_nsec = WAIT_STEP_US * 1000 };
	int waited, status;

	for (waited = 0; waited < WAIT_MS * 1000; waited += WAIT_STEP_US) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return (WIFEXITED(status) ? WEXITSTATUS(status) : -1);
		(void)ppoll(NULL, 0, &step, NULL);
	}
	return (-1);
}

static int
check(struct tool *t, const struct rg_run *r, int understood)
{
	if (r->status == NOT_CONFINED)
		return (tool_fail(t, TOOL_IO, "the search could not be "
		    "confined to what it may read"));
	if (r->status == NOT_EXECUTED)
		return (tool_fail(t, TOOL_IO, "ripgrep (%s) could not be "
		    "executed", RG_PROGRAM));
	if (!understood)
		return (tool_fail(t, TOOL_IO, "ripgrep printed what is not "
		    "understood"));
	return (0);
}

int
rg_run(struct tool *t, struct rg_run *r)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, program, error = -1;
	int understood;
	pid_t pid, parent = getpid();

	program = open(RG_PROGRAM, O_PATH | O_CLOEXEC);
	if (program == -1)
		return (tool_fail(t, TOOL_IO, "ripgrep is not there (%s): "
		    "install the package ripgrep on the host", RG_PROGRAM));
	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(err, O_CLOEXEC) == -1 ||
	    (pid = fork()) == -1) {
		(void)tool_fail_errno(t, errno, "ripgrep can't be started");
		goto done;
	}
	if (pid == 0)
		become_rg(r, program, out[1], err[1], parent);
	(void)close(out[1]);
	(void)close(err[1]);
	out[1] = err[1] = -1;
	if (tool_filter(BODY_STARTED) == -1) {
		(void)tool_fail_errno(t, errno, "the system call filter");
		goto done;
	}
	understood = pump(r, out[0], err[0]) == 0;
	(void)close(out[0]);
	(void)close(err[0]);
	out[0] = err[0] = -1;
	r->status = wait_for(pid);
	error = check(t, r, understood);
done:
	(void)close(program);
	if (out[0] != -1)
		(void)close(out[0]);
	if (out[1] != -1)
		(void)close(out[1]);
	if (err[0] != -1)
		(void)close(err[0]);
	if (err[1] != -1)
		(void)close(err[1]);
	return (error);
}
