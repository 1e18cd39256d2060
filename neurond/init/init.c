/*
 * PID 1 of a neuron.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"
#include "imsg.h"
#include "../native/build.h"
#include "init.h"
#include "pty.h"
#include "run.h"

/*
 * Ends of pipes to the relays of terminals, one for each run: above all that
 * comes with a message or is open for a moment, below the least limit on open
 * files.
 */
#define ORDERS_FIRST	16

struct running {
	pid_t		 pid;		/* the leader; 0: free */
	uint32_t	 run;
	pid_t		 relay;		/* of its terminal; 0: none, or gone */
	int		 orders;	/* to the relay; -1: none */
	int		 told;		/* that it started */
	uint64_t	 started;	/* us */
	int		 ended;		/* the leader has, with: */
	int		 status;
	uint64_t	 peak;		/* bytes */
};

/*
 * us until it is told that a run started.  What has ended by then is told in
 * one message: each costs three processes a turn, and most calls are short.
 */
#define TELL_AFTER	1000

static struct init {
	const struct native	*native;
	struct channel		*channel;
	const struct build_request *built;
	struct running		 running[NEURON_RUNNING_MAX];
} init;

static uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
}

static void
on_child(int sig)
{
	(void)sig;	/* only to end ppoll(2) */
}

static struct running *
find(uint32_t run)
{
	size_t i;

	for (i = 0; i < NEURON_RUNNING_MAX; i++)
		if (init.running[i].pid != 0 && init.running[i].run == run)
			return (&init.running[i]);
	return (NULL);
}

static struct running *
find_free(void)
{
	size_t i;

	for (i = 0; i < NEURON_RUNNING_MAX; i++)
		if (init.running[i].pid == 0)
			return (&init.running[i]);
	return (NULL);
}

static void
failed(uint32_t run, const struct run_failure *failure)
{
	struct imsg *m = imsg_new(MSG_RUN_FAILED);

	imsg_put_u32(m, run);
	imsg_put_u32(m, failure->where);
	imsg_put_u32(m, failure->error);
	channel_send(init.channel, m);
}

/*
 * The place of its own for what the relay is told by.  Can't fail: the number
 * is below the limit on open files.
 */
static void
keep_orders(struct running *r, struct run_request *req)
{
	r->orders = -1;
	if (req->orders == -1)
		return;
	r->orders = ORDERS_FIRST + (int)(r - init.running);
	(void)dup3(req->orders, r->orders, O_CLOEXEC);
}

static int
on_run(void *arg, struct imsg *m)
{
	struct run_failure failure = { RUN_AT_BUSY, EBUSY };
	struct run_request req;
	struct running *r;
	uint32_t run;
	pid_t pid = -1;

	(void)arg;
	run = imsg_get_u32(m);
	imsg_get_str(m, req.neuron, sizeof(req.neuron));
	imsg_get_str(m, req.session, sizeof(req.session));
	imsg_get_str(m, req.call, sizeof(req.call));
	if (imsg_end(m) == -1)
		return (-1);
	FAULT("init.run");
	req.block = imsg_claim_fd(m, 0);
	req.out = imsg_claim_fd(m, 1);
	req.err = imsg_claim_fd(m, 2);
	req.leaf = imsg_claim_fd(m, 3);
	req.in = imsg_claim_fd(m, 4);
	req.egress = init.built->egress;
	req.apparmor = build_apparmor(init.native, init.built);
	if ((r = find_free()) != NULL)
		pid = run_start(init.native, &req, init.built->workspace,
		    &failure);
	if (pid != -1)
		keep_orders(r, &req);
	/* Nothing of a call stays here, the ends of its pipes least of all. */
	close_range(RULES_FD + 1, ORDERS_FIRST - 1, 0);
	close_range(ORDERS_FIRST + NEURON_RUNNING_MAX, ~0U, 0);
	if (pid == -1) {
		failed(run, &failure);
		return (0);
	}
	FAULT("init.cloned");
	r->pid = pid;
	r->run = run;
	r->relay = req.relay;
	r->told = r->ended = 0;
	r->started = now_us();
	return (0);
}

static int
on_run_signal(void *arg, struct imsg *m)
{
	struct running *r;
	uint32_t run, sig;

	(void)arg;
	run = imsg_get_u32(m);
	sig = imsg_get_u32(m);
	if (imsg_end(m) == -1 || sig == 0 || sig >= NSIG)
		return (-1);
	if ((r = find(run)) == NULL)
		return (0);
	/* What is still on its way to the reader has had its time. */
	if (r->ended)
		(void)kill(r->relay, SIGKILL);
	else if (r->orders != -1)
		pty_order(r->orders, PTY_SIGNAL, sig);
	/* The leader is not reaped yet, so the number is still its own. */
	else if (kill(-r->pid, (int)sig) == -1)
		(void)kill(r->pid, (int)sig);
	return (0);
}

static int
on_run_resize(void *arg, struct imsg *m)
{
	struct running *r;
	uint32_t run, size;

	(void)arg;
	run = imsg_get_u32(m);
	size = imsg_get_u32(m);
	if (imsg_end(m) == -1 || !PTY_SIZE_OK(size))
		return (-1);
	if ((r = find(run)) != NULL && r->orders != -1)
		pty_order(r->orders, PTY_RESIZE, size);
	return (0);
}

static void
told(struct running *r)
{
	r->told = 1;
	FAULT("init.started");
}

/* The leader and its relay are gone: all that it wrote is with the reader. */
static void
ended(struct running *r)
{
	struct imsg *m = imsg_new(r->told ? MSG_RUN_ENDED : MSG_RUN_RAN);

	imsg_put_u32(m, r->run);
	imsg_put_i32(m, WIFEXITED(r->status) ? WEXITSTATUS(r->status) : -1);
	imsg_put_i32(m, WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0);
	imsg_put_u64(m, r->peak);
	if (!r->told)
		imsg_put_u32(m, (uint32_t)(now_us() - r->started));
	channel_send(init.channel, m);
	if (!r->told)
		told(r);
	r->pid = 0;
}

static void
hang_up(struct running *r)
{
	if (r->orders != -1)
		close(r->orders);
	r->orders = -1;
}

static void
gone(struct running *r, pid_t pid, int status, const struct rusage *ru)
{
	if (pid == r->relay) {
		r->relay = 0;
		hang_up(r);
	} else {
		r->ended = 1;
		r->status = status;
		r->peak = (uint64_t)ru->ru_maxrss << 10;
		hang_up(r);
	}
	if (!r->ended || r->relay != 0)
		return;
	FAULT("init.reaped");
	ended(r);
	FAULT("init.ended");
}

/* A child that is traced shows stops here as well: they are no end. */
static void
reap(void)
{
	struct running *r;
	struct rusage ru;
	int status;
	pid_t pid;
	size_t i;

	while ((pid = wait4(-1, &status, WNOHANG, &ru)) > 0) {
		if (!WIFEXITED(status) && !WIFSIGNALED(status))
			continue;
		for (i = 0; i < NEURON_RUNNING_MAX; i++) {
			r = &init.running[i];
			if (r->pid == 0 || (pid != r->relay &&
			    (pid != r->pid || r->ended)))
				continue;
			gone(r, pid, status, &ru);
			break;
		}
	}
}

/* What runs for long enough.  Returns ms until more will, -1 for none. */
static int
tell_started(void)
{
	uint64_t now = 0, age;
	struct running *r;
	struct imsg *m;
	int ms = -1;
	size_t i;

	for (i = 0; i < NEURON_RUNNING_MAX; i++) {
		r = &init.running[i];
		if (r->pid == 0 || r->told)
			continue;
		if (now == 0)
			now = now_us();
		age = now - r->started;
		if (age < TELL_AFTER) {
			ms = (int)(TELL_AFTER - age + 999) / 1000;
			continue;
		}
		m = imsg_new(MSG_RUN_STARTED);
		imsg_put_u32(m, r->run);
		channel_send(init.channel, m);
		told(r);
	}
	return (ms);
}

static const struct channel_handler handlers[] = {
	{ MSG_RUN,		on_run },
	{ MSG_RUN_SIGNAL,	on_run_signal },
	{ MSG_RUN_RESIZE,	on_run_resize }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0])
};

static void
serve(void)
{
	struct pollfd pfd = { .fd = channel_fd(init.channel) };
	struct timespec ts = { .tv_sec = 0 };
	sigset_t none;
	int ms;

	sigemptyset(&none);
	for (;;) {
		ms = tell_started();
		ts.tv_nsec = (long)ms * 1000000;
		pfd.events = (short)(POLLIN |
		    (channel_queued(init.channel) > 0 ? POLLOUT : 0));
		if (ppoll(&pfd, 1, ms == -1 ? NULL : &ts, &none) == -1 &&
		    errno != EINTR)
			return;
		if (channel_queued(init.channel) > 0)
			channel_flush_wait(init.channel, 0);
		if (channel_dispatch(init.channel, 0) == -1)
			return;
		reap();
	}
}

_Noreturn void
init_main(const struct native *native, const struct build_request *built,
    uint64_t layers)
{
	struct sigaction sa = { .sa_handler = on_child };
	sigset_t block;
	struct imsg *m;

	init.native = native;
	init.built = built;
	init.channel = channel_new(built->control, CH_INIT, END_B, &ops, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	if (init.channel == NULL || run_prepare(native) == -1 ||
	    sigprocmask(SIG_BLOCK, &block, NULL) == -1 ||
	    sigaction(SIGCHLD, &sa, NULL) == -1)
		_exit(1);
	FAULT("init.built");
	m = imsg_new(MSG_INIT_READY);
	imsg_put_u64(m, layers);
	channel_send(init.channel, m);
	FAULT("init.ready");
	serve();
	/* neurond is gone or wants us gone: the kernel kills the rest. */
	_exit(0);
}
