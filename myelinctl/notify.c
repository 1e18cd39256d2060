/*
 * Starting and ending the operator's notifier.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "notify.h"

void
notify_push(struct notify *n, const char *text)
{
	char *copy;

	if (n->argv == NULL)
		return;
	if (n->queued == NOTIFY_QUEUE || (copy = strdup(text)) == NULL) {
		n->dropped++;
		snprintf(n->said, sizeof(n->said), "%s is too slow: %u "
		    "approvals were not handed to it", n->argv[0],
		    n->dropped);
		return;
	}
	n->queue[n->queued++] = copy;
}

/* A file, not a pipe: whether it is read is nobody's concern here. */
static int
input(const char *text)
{
	size_t len = strlen(text), off = 0;
	ssize_t w;
	int fd;

	if ((fd = memfd_create("approval", MFD_CLOEXEC)) == -1)
		return (-1);
	for (; off < len; off += (size_t)w) {
		if ((w = write(fd, text + off, len - off)) <= 0) {
			close(fd);
			return (-1);
		}
	}
	if (lseek(fd, 0, SEEK_SET) == -1) {
		close(fd);
		return (-1);
	}
	return (fd);
}

/* In the child. */
static void
become(const struct notify *n, int fd)
{
	sigset_t none;
	int null;

	(void)setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(fd, STDIN_FILENO) == -1)
		_exit(127);
	if (n->quiet) {
		null = open("/dev/null", O_WRONLY);
		if (null == -1 || dup2(null, STDOUT_FILENO) == -1 ||
		    dup2(null, STDERR_FILENO) == -1)
			_exit(127);
		close(null);
	}
	/* It has its end also when nobody is left to kill it. */
	(void)alarm(NOTIFY_SECONDS + 1);
	execvp(n->argv[0], n->argv);
	_exit(127);
}

static pid_t
start(struct notify *n, const char *text)
{
	pid_t pid = -1;
	int fd;

	if ((fd = input(text)) != -1) {
		if ((pid = fork()) == 0)
			become(n, fd);
		close(fd);
	}
	if (pid == -1)
		snprintf(n->said, sizeof(n->said), "%s: %s", n->argv[0],
		    strerror(errno));
	return (pid);
}

static void
ended(struct notify *n, int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		snprintf(n->said, sizeof(n->said), "%s can't be run",
		    n->argv[0]);
	else if (WIFEXITED(status))
		snprintf(n->said, sizeof(n->said), "%s failed: exit status %d",
		    n->argv[0], WEXITSTATUS(status));
	else
		snprintf(n->said, sizeof(n->said), "%s was ended by signal %d",
		    n->argv[0], WTERMSIG(status));
}

static void
look(struct notify *n, int64_t now)
{
	size_t i;
	int status;

	for (i = 0; i < NOTIFY_AT_ONCE; i++) {
		if (n->running[i].pid == 0)
			continue;
		if (waitpid(n->running[i].pid, &status, WNOHANG) ==
		    n->running[i].pid) {
			ended(n, status);
			n->running[i].pid = 0;
		} else if (now >= n->running[i].deadline)
			(void)kill(-n->running[i].pid, SIGKILL);
	}
}

void
notify_run(struct notify *n, int64_t now)
{
	pid_t pid;
	size_t i;

	if (n->argv == NULL)
		return;
	look(n, now);
	for (i = 0; i < NOTIFY_AT_ONCE && n->queued > 0; i++) {
		if (n->running[i].pid != 0)
			continue;
		if ((pid = start(n, n->queue[0])) != -1) {
			n->running[i].pid = pid;
			n->running[i].deadline = now + NOTIFY_SECONDS * 1000;
		}
		free(n->queue[0]);
		n->queued--;
		memmove(n->queue, n->queue + 1,
		    n->queued * sizeof(n->queue[0]));
	}
}

void
notify_free(struct notify *n)
{
	while (n->queued > 0)
		free(n->queue[--n->queued]);
}
