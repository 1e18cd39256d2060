/*
 * Takes a process over from inside, for tests alone.
 *
 * The programs of Myelin hold no test code.  A takeover build is linked of the
 * same objects and this file, with the linker's --wrap for a few functions
 * that one of our files calls in another:
 *
 *	proc_drop	before it, what to do is read from the tree's directory
 *			takeover/ and a page is mapped for what came of it.
 *			"attempts" makes a copy of the process for each attempt
 *			(attempts.c), which drops as the process itself does
 *			and then tries; the process then goes on as if nothing
 *			had been.
 *	channel_new	tells which descriptor is which channel.
 *	channel_send	sees READY: a moment later, in the event loop, dropped
 *			and plumbed, the script (scripts.c) runs.
 *	runblock_encode	judged's answer, made hostile.
 *
 * What came of it is in takeover/NAME.out, line by line, written through the
 * shared page: a process that is killed has still said it.
 */
#include <sys/socket.h>
#include <dirent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "imsg.h"
#include "log.h"
#include "proc.h"
#include "attempts.h"
#include "takeover.h"

#define KINDS		9

void	__real_proc_drop(const struct proc_drop *);
void	__wrap_proc_drop(const struct proc_drop *);
struct channel *__real_channel_new(int, enum channel_kind, enum channel_end,
	    const struct channel_ops *, void *);
struct channel *__wrap_channel_new(int, enum channel_kind, enum channel_end,
	    const struct channel_ops *, void *);
int	__real_channel_send(struct channel *, struct imsg *);
int	__wrap_channel_send(struct channel *, struct imsg *);

static int channels[KINDS] = { -1, -1, -1, -1, -1, -1, -1, -1, -1 };

int
takeover_channel(enum channel_kind kind)
{
	return (channels[__builtin_ctz(kind)]);
}

/* ---- before the drop ---- */

/* The supervisor, its children and neurond's helpers, but not this one. */
static int
is_ours(const char *comm)
{
	static const char *const names[] = { "myelind", "apid",
	    "apid-operator", "judged", "policyd", "egressd", "neurond",
	    "maker", "spawner" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(comm, names[i]) == 0)
			return (1);
	return (0);
}

static int
stat_of(pid_t pid, char comm[32], pid_t *parent)
{
	char path[64], text[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return (-1);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return (sscanf(text, "%*d (%31[^)]) %*c %d", comm, parent) == 2 ? 0 :
	    -1);
}

static void
find_targets(struct targets *t)
{
	pid_t pid, parent, grand, sup = getppid();
	struct dirent *d;
	char comm[32], other[32];
	DIR *proc;

	memset(t, 0, sizeof(*t));
	t->pid[t->n++] = sup;
	if ((proc = opendir("/proc")) == NULL)
		return;
	while ((d = readdir(proc)) != NULL && t->n < TARGETS_MAX) {
		pid = atoi(d->d_name);
		if (pid <= 1 || pid == getpid() ||
		    stat_of(pid, comm, &parent) == -1 || !is_ours(comm))
			continue;
		if (parent == sup || (stat_of(parent, other, &grand) == 0 &&
		    grand == sup))
			t->pid[t->n++] = pid;
	}
	closedir(proc);
}

static void
drop_copy(void *arg)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd != SOCKET_FD)
		(void)dup2(fd, SOCKET_FD);
	__real_proc_drop(arg);
}

static void
try_all(const struct proc_drop *d)
{
	struct proc_drop copy = *d;
	struct targets t;
	char result[128];
	size_t i;

	find_targets(&t);
	takeover_say("targets %zu\n", t.n);
	for (i = 0; i < nattempts; i++) {
		attempt_run(&attempts[i], &t, drop_copy, &copy, result,
		    sizeof(result));
		takeover_say("%s %s\n", attempts[i].name, result);
	}
	takeover_say("end\n");
}

void
__wrap_proc_drop(const struct proc_drop *d)
{
	takeover_begin(d->name);
	if (strcmp(takeover_script(), "attempts") == 0)
		try_all(d);
	__real_proc_drop(d);
}

/* ---- after READY ---- */

struct channel *
__wrap_channel_new(int fd, enum channel_kind kind, enum channel_end end,
    const struct channel_ops *ops, void *arg)
{
	channels[__builtin_ctz(kind)] = fd;
	return (__real_channel_new(fd, kind, end, ops, arg));
}

static void
run_script(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	takeover_say("begins\n");
	script_run(takeover_script());
	takeover_say("end\n");
}

int
__wrap_channel_send(struct channel *ch, struct imsg *m)
{
	static const struct timeval soon = { 0, 100000 };
	int ready = imsg_type(m) == MSG_READY;
	int r = __real_channel_send(ch, m);

	if (ready && script_known(takeover_script()) &&
	    event_base_once(proc_base(), -1, EV_TIMEOUT, run_script, NULL,
	    &soon) == -1)
		fatalx("takeover: timer");
	return (r);
}
