/*
 * The maker: namespaces ahead of time, listeners in one of them where a neuron
 * has egress, and the walk to a workspace.
 *
 * Each request is a worker process that answers neurond itself: a packet is
 * whole or not there.  The maker only starts them, reaps them, and answers
 * for one that died or took too long (a FUSE or NFS path must hang nobody).
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "helper_main.h"
#include "log.h"
#include "maker.h"

#define WORKERS_MAX	64
#define WORKER_TIME	2000	/* ms */
#define HOME_TIME	8000	/* ms, for what writes to a disk */
/* The most that one look at the clock counts: while a machine stands still, a
 * worker does nothing, and was not too slow. */
#define LOOK		100	/* ms */

struct worker {
	pid_t		 pid;		/* 0: free */
	enum msg_type	 reply;
	uint32_t	 slot;
	uint32_t	 generation;
	uint32_t	 number;	/* of a PLACED as well, if it has a */
	uint32_t	 ticket;	/* ticket; else 0 */
	int		 left;		/* ms */
	int		 answered;	/* by us: it was too slow */
};

static struct channel *channel;
static struct worker workers[WORKERS_MAX];

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

static void
on_child(int sig)
{
	(void)sig;	/* only to end ppoll(2) */
}

static void
refuse(const struct worker *w, int error, const char *words)
{
	channel_send(channel, maker_reply(w->reply, w->slot, w->generation,
	    error, words));
	if (w->ticket != 0)
		channel_send(channel, maker_reply(MSG_PLACED, w->number,
		    w->ticket, error, words));
}

static int
time_of(enum msg_type type)
{
	return (type == MSG_HOME_OPENED || type == MSG_HOME_ERASED ?
	    HOME_TIME : WORKER_TIME);
}

/* 0 in the worker; else the worker was started or its failure answered. */
static int
start(const struct worker *wanted)
{
	struct worker *w = NULL;
	size_t i;
	pid_t pid;

	for (i = 0; i < WORKERS_MAX && w == NULL; i++)
		if (workers[i].pid == 0)
			w = &workers[i];
	if (w == NULL) {
		refuse(wanted, EAGAIN, "too many at once");
		return (1);
	}
	if ((pid = fork()) == -1) {
		refuse(wanted, errno, "fork");
		return (1);
	}
	if (pid == 0) {
		signal(SIGCHLD, SIG_DFL);
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		return (0);
	}
	*w = *wanted;
	w->pid = pid;
	/* The next look counts what was before it, too. */
	w->left = time_of(w->reply) + LOOK;
	return (1);
}

static int
worker_start(enum msg_type type, uint32_t slot, uint32_t generation)
{
	const struct worker w = {
		.reply = type, .slot = slot, .generation = generation
	};

	return (start(&w));
}

static int
on_ns_make(void *arg, struct imsg *m)
{
	static struct walk w;

	(void)arg;
	w.slot = imsg_get_u32(m);
	w.generation = imsg_get_u32(m);
	w.kuid = imsg_get_u32(m);
	w.uid = imsg_get_u32(m);
	w.gid = imsg_get_u32(m);
	if (imsg_end(m) == -1 || w.kuid == 0)
		return (-1);
	FAULT("maker.asked");
	if (worker_start(MSG_NS_MADE, w.slot, w.generation) == 0)
		maker_ns(&w);
	FAULT("maker.forked");
	return (0);
}

static int
on_listen(void *arg, struct imsg *m)
{
	uint32_t slot, generation;
	unsigned which;
	int net_ns;

	(void)arg;
	slot = imsg_get_u32(m);
	generation = imsg_get_u32(m);
	which = imsg_get_u8(m);
	if (imsg_end(m) == -1 || which == 0 || which > LISTENERS_ALL)
		return (-1);
	net_ns = imsg_claim_fd(m, 0);
	FAULT("maker.listen-asked");
	if (worker_start(MSG_LISTENING, slot, generation) == 0)
		maker_listen(slot, generation, which, net_ns);
	close(net_ns);
	FAULT("maker.listen-forked");
	return (0);
}

static int
on_walk(void *arg, struct imsg *m)
{
	static struct walk w;
	struct worker job = { .reply = MSG_WALKED };
	const uint8_t *groups;
	size_t size, i;

	(void)arg;
	w.slot = imsg_get_u32(m);
	w.generation = imsg_get_u32(m);
	w.kuid = imsg_get_u32(m);
	w.uid = imsg_get_u32(m);
	w.gid = imsg_get_u32(m);
	w.number = imsg_get_u32(m);
	w.ticket = imsg_get_u32(m);
	w.mapped = imsg_get_u8(m) != 0;
	groups = imsg_get_bytes(m, &size);
	if (size % 4 != 0 || size / 4 > GROUPS_MAX)
		return (-1);
	for (i = 0; i < size / 4; i++)
		w.groups[i] = (gid_t)groups[4 * i] |
		    (gid_t)groups[4 * i + 1] << 8 |
		    (gid_t)groups[4 * i + 2] << 16 |
		    (gid_t)groups[4 * i + 3] << 24;
	w.ngroups = size / 4;
	imsg_get_str(m, w.path, sizeof(w.path));
	if (imsg_end(m) == -1 || w.kuid == 0 || w.uid == 0 ||
	    imsg_fds(m) != (w.ticket != 0 ? 1U : 0U))
		return (-1);
	w.record = imsg_claim_fd(m, 0);
	FAULT("maker.walk-asked");
	job.slot = w.slot;
	job.generation = w.generation;
	job.number = w.number;
	job.ticket = w.ticket;
	if (start(&job) == 0)
		maker_walk(&w);
	if (w.record != -1)
		close(w.record);
	FAULT("maker.walk-forked");
	return (0);
}

static int
on_place(void *arg, struct imsg *m)
{
	uint32_t number, ticket;
	int record, dir;

	(void)arg;
	number = imsg_get_u32(m);
	ticket = imsg_get_u32(m);
	if (imsg_end(m) == -1)
		return (-1);
	record = imsg_claim_fd(m, 0);
	dir = imsg_claim_fd(m, 1);
	FAULT("maker.place-asked");
	if (worker_start(MSG_PLACED, number, ticket) == 0)
		maker_place(number, ticket, record, dir);
	close(record);
	close(dir);
	return (0);
}

static int
on_clear(void *arg, struct imsg *m)
{
	uint32_t number;
	int record, dir;

	(void)arg;
	number = imsg_get_u32(m);
	if (imsg_end(m) == -1)
		return (-1);
	record = imsg_claim_fd(m, 0);
	dir = imsg_claim_fd(m, 1);
	FAULT("maker.clear-asked");
	if (worker_start(MSG_CLEARED, number, 0) == 0)
		maker_clear(number, record, dir);
	close(record);
	if (dir != -1)
		close(dir);
	return (0);
}

static int
on_home_open(void *arg, struct imsg *m)
{
	static struct home h;
	int homes;

	(void)arg;
	h.slot = imsg_get_u32(m);
	h.generation = imsg_get_u32(m);
	h.kuid = imsg_get_u32(m);
	h.owner = imsg_get_u32(m);
	h.kept = imsg_get_u8(m) != 0;
	h.bytes = imsg_get_u64(m);
	h.inodes = imsg_get_u64(m);
	imsg_get_str(m, h.neuron, sizeof(h.neuron));
	if (imsg_end(m) == -1 || h.kuid == 0 || h.owner == 0 ||
	    !id_ok(ID_NEURON, h.neuron))
		return (-1);
	homes = imsg_claim_fd(m, 0);
	FAULT("maker.home-asked");
	if (worker_start(MSG_HOME_OPENED, h.slot, h.generation) == 0)
		maker_home(&h, homes);
	close(homes);
	return (0);
}

static int
on_home_erase(void *arg, struct imsg *m)
{
	char neuron[ID_SIZE];
	uint32_t ticket;
	int homes;

	(void)arg;
	ticket = imsg_get_u32(m);
	imsg_get_str(m, neuron, sizeof(neuron));
	if (imsg_end(m) == -1 || !id_ok(ID_NEURON, neuron))
		return (-1);
	homes = imsg_claim_fd(m, 0);
	FAULT("maker.erase-asked");
	if (worker_start(MSG_HOME_ERASED, ticket, 0) == 0)
		maker_erase(ticket, neuron, homes);
	close(homes);
	return (0);
}

static unsigned
count_lines(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		n++;
	return (n);
}

static int
on_trees(void *arg, struct imsg *m)
{
	static struct trees_request req;

	(void)arg;
	req.slot = imsg_get_u32(m);
	req.generation = imsg_get_u32(m);
	req.kuid = imsg_get_u32(m);
	req.n = imsg_get_u8(m);
	req.root = imsg_get_u8(m);
	imsg_get_str(m, req.paths, sizeof(req.paths));
	if (imsg_end(m) == -1 || req.n == 0 || req.n > 1 + MOUNTS_MAX ||
	    count_lines(req.paths) != req.n)
		return (-1);
	FAULT("maker.trees-asked");
	if (worker_start(MSG_TREES_MADE, req.slot, req.generation) == 0)
		maker_trees(&req);
	FAULT("maker.trees-forked");
	return (0);
}

/* ---- the loop ---- */

static void
reap(void)
{
	int status;
	pid_t pid;
	size_t i;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < WORKERS_MAX; i++) {
			if (workers[i].pid != pid)
				continue;
			workers[i].pid = 0;
			if (!workers[i].answered && (!WIFEXITED(status) ||
			    WEXITSTATUS(status) != 0))
				refuse(&workers[i], ECHILD, "a worker died");
		}
	}
}

/* ms since the last look. */
static int
passed(void)
{
	static int64_t last;
	int64_t now = now_ms(), ms = now - last;

	last = now;
	return (ms > LOOK ? LOOK : (int)ms);
}

/* Kills what is too slow; ms until the next look, -1 without one. */
static int
expire(void)
{
	int ms = passed(), next = -1;
	size_t i;

	for (i = 0; i < WORKERS_MAX; i++) {
		if (workers[i].pid == 0 || workers[i].answered)
			continue;
		workers[i].left -= ms;
		if (workers[i].left <= 0) {
			kill(workers[i].pid, SIGKILL);
			workers[i].answered = 1;
			refuse(&workers[i], workers[i].reply == MSG_WALKED ||
			    workers[i].reply == MSG_PLACED ? WALK_REFUSED :
			    ETIMEDOUT, time_of(workers[i].reply) == HOME_TIME ?
			    "nothing within 8 s" : "did not answer within 2 s");
		} else
			next = LOOK;
	}
	return (next);
}

static const struct channel_handler handlers[] = {
	{ MSG_NS_MAKE,	on_ns_make },
	{ MSG_LISTEN,	on_listen },
	{ MSG_WALK,	on_walk },
	{ MSG_PLACE,	on_place },
	{ MSG_CLEAR,	on_clear },
	{ MSG_HOME_OPEN, on_home_open },
	{ MSG_HOME_ERASE, on_home_erase },
	{ MSG_TREES,	on_trees }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0])
};

static void
serve(void)
{
	struct pollfd pfd = { .fd = channel_fd(channel) };
	struct timespec ts;
	sigset_t none;
	int ms;

	sigemptyset(&none);
	for (;;) {
		ms = expire();
		ts.tv_sec = ms / 1000;
		ts.tv_nsec = (long)(ms % 1000) * 1000000;
		pfd.events = (short)(POLLIN |
		    (channel_queued(channel) > 0 ? POLLOUT : 0));
		if (ppoll(&pfd, 1, ms < 0 ? NULL : &ts, &none) == -1 &&
		    errno != EINTR)
			fatal("poll");
		if (channel_queued(channel) > 0)
			channel_flush_wait(channel, 0);
		if (channel_dispatch(channel, 0) == -1)
			return;
		reap();
	}
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_child };
	sigset_t block;

	channel = helper_start(argc, argv, "maker", CH_MAKER, &ops);
	/* What it makes is stock: calls that run go first. */
	(void)setpriority(PRIO_PROCESS, 0, 5);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &block, NULL) == -1 ||
	    sigaction(SIGCHLD, &sa, NULL) == -1)
		fatal("signals");
	maker_channel(channel);
	FAULT("maker.start");
	helper_up(channel, 0, 0, NULL);
	serve();
	return (0);
}
