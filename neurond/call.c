/*
 * Running calls: leaf, clock, kill.
 *
 * A call ends when its leader exits.  What is left in its leaf is counted and
 * killed, and awaited for a second; a neuron whose leaf will not empty is
 * retired.
 */
#include <sys/stat.h>
#include <event2/event.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "call_end.h"
#include "fault.h"
#include "imsg.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "proc.h"
#include "without.h"

#define GRACE		500	/* ms from TERM to KILL */
/*
 * What we waited, look by look, and not what a clock says: while a machine
 * stands still nothing can end.
 */
#define GIVE_UP		1000	/* ms from KILL to retiring the neuron */
#define LOOK		50	/* ms, of these */
#define DRAIN		1000	/* ms for leftovers to be gone */

enum stage { STAGE_DEADLINE, STAGE_GRACE, STAGE_GIVE_UP };

static uint32_t next_run;

static void
set_clock(struct call *c, unsigned ms)
{
	struct timeval tv = {
		.tv_sec = ms / 1000,
		.tv_usec = (suseconds_t)(ms % 1000) * 1000
	};

	event_add(c->clock, &tv);
}

static int
leaf_fd(const struct call *c)
{
	return (c->neuron->slot->cg.leaf[c->leaf]);
}

static struct call *
find_run(struct neuron *n, uint32_t run)
{
	struct call *c;

	TAILQ_FOREACH(c, &n->calls, entry)
		if (c->run == run && c->state != CALL_QUEUED)
			return (c);
	return (NULL);
}

/* ---- the end of a call ---- */

static void
call_free(struct call *c)
{
	struct neuron *n = c->neuron;

	TAILQ_REMOVE(&n->calls, c, entry);
	n->ncalls--;
	if (c->leaf != -1)
		n->leaves &= ~(1U << c->leaf);
	call_request_close(&c->req);
	event_free(c->clock);
	free(c);
}

/* Says how it ended; the next one may have its leaf. */
static void
finish(struct call *c)
{
	struct neuron *n = c->neuron;
	unsigned leaf = (unsigned)c->leaf;
	int killed = c->leaf != -1 && c->killed;

	FAULT("run.drained");
	call_report(c);
	FAULT("run.reported");
	call_free(c);
	if (n->state != NEURON_UP_)
		return;
	if (killed && !WITHOUT(leftover_kill)) {
		n->cpu[leaf] = 0;
		if (cg_leaf_again(&n->slot->cg, n->slot->kuid, leaf) == -1) {
			log_warn("neuron %s: a leaf", n->id);
			neuron_end(n, GONE_LOST, "a call's cgroup could not "
			    "be made again");
			return;
		}
	}
	calls_start(n);
}

static void
retire(struct call *c)
{
	struct neuron *n = c->neuron;

	c->flags |= ENDED_F_RETIRED;
	call_report(c);
	call_free(c);
	neuron_end(n, GONE_LOST, "processes of a call would not go away");
}

/* Nothing may be left in the leaf before it is used again. */
static void
drain(struct call *c)
{
	int populated = cg_populated(leaf_fd(c));

	if (populated == 0 || WITHOUT(leftover_kill)) {
		finish(c);
		return;
	}
	if (c->waited >= DRAIN) {
		retire(c);
		return;
	}
	if (c->waited == 0)
		c->leftovers = WITHOUT(leftover_count) ? 0 :
		    (uint32_t)cg_processes(leaf_fd(c));
	c->killed = 1;
	(void)cg_kill(leaf_fd(c));
	c->wait = c->wait == 0 ? 1 : c->wait < 32 ? c->wait * 2 : 32;
	c->waited += c->wait;
	set_clock(c, c->wait);
}

/* The leader is gone. */
static void
leader_gone(struct call *c)
{
	c->exited = now_us();
	c->state = CALL_DRAINING;
	c->waited = 0;
	event_del(c->clock);
	drain(c);
}

/* ---- the clock ---- */

static void
send_signal(struct call *c, int sig)
{
	struct imsg *m = imsg_new(MSG_RUN_SIGNAL);

	imsg_put_u32(m, c->run);
	imsg_put_u32(m, (uint32_t)sig);
	channel_send(c->neuron->channel, m);
}

static void
kill_leaf(struct call *c)
{
	c->killed = 1;
	(void)cg_kill(leaf_fd(c));
	FAULT("run.killed");
	c->stage = STAGE_GIVE_UP;
	c->waited = 0;
	set_clock(c, LOOK);
}

static void
on_clock(evutil_socket_t fd, short what, void *arg)
{
	struct call *c = arg;

	(void)fd;
	(void)what;
	if (c->state == CALL_DRAINING) {
		drain(c);
		return;
	}
	if (WITHOUT(timeout))
		return;
	switch ((enum stage)c->stage) {
	case STAGE_DEADLINE:
		c->cause = END_TIMED_OUT;
		snprintf(c->detail, sizeof(c->detail), "the time limit of %u "
		    "ms", c->req.timeout);
		send_signal(c, SIGTERM);
		c->stage = STAGE_GRACE;
		set_clock(c, GRACE);
		break;
	case STAGE_GRACE:
		kill_leaf(c);
		break;
	case STAGE_GIVE_UP:
	default:
		c->waited += LOOK;
		if (c->waited < GIVE_UP) {
			/* The kernel may have let by what was on its way. */
			(void)cg_kill(leaf_fd(c));
			set_clock(c, LOOK);
			break;
		}
		c->exited = now_us();
		retire(c);
		break;
	}
}

/* ---- the start ---- */

/* The first, so that those are used again which are there. */
static int
free_leaf(const struct neuron *n)
{
	unsigned i;

	for (i = 0; i < n->limits.v[LIMIT_RUNNING]; i++)
		if ((n->leaves & (1U << i)) == 0)
			return ((int)i);
	return (-1);
}

/* Others that run share the neuron's counters. */
static void
count_before(struct call *c)
{
	struct neuron *n = c->neuron;
	struct call *other;
	unsigned running = 0;

	TAILQ_FOREACH(other, &n->calls, entry) {
		if (other == c || other->state == CALL_QUEUED)
			continue;
		other->flags |= ENDED_F_SHARED;
		running++;
	}
	if (running > 0) {
		c->flags |= ENDED_F_SHARED;
		cg_counters(slots_base(), &n->slot->cg, &n->counts);
	}
	c->before = n->counts;
}

/*
 * The program may open its own pipes again by name (/dev/stdout), so they are
 * its user's.  A memfd is opened once more, for reading, at its start: the
 * offset of the one that came is shared with whoever made it.
 */
static const char *
own_fds(struct call_request *req, uint32_t kuid)
{
	struct stat st;
	char path[32];
	int fd;

	if (fchown(req->out, kuid, kuid) == -1 ||
	    fchown(req->err, kuid, kuid) == -1)
		return ("its output pipes can't be handed over");
	if (req->in == -1)
		return (NULL);
	if (fstat(req->in, &st) == -1)
		return ("its input can't be examined");
	if (S_ISFIFO(st.st_mode))
		return (fchown(req->in, kuid, kuid) == -1 ?
		    "its input pipe can't be handed over" : NULL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", req->in);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return ("its input can't be opened");
	close(req->in);
	req->in = fd;
	return (NULL);
}

static void
start(struct call *c, int leaf)
{
	struct neuron *n = c->neuron;
	struct imsg *m;
	const char *why;

	if ((why = own_fds(&c->req, n->slot->kuid)) == NULL &&
	    cg_leaves(&n->slot->cg, n->slot->kuid, (unsigned)leaf + 1) == -1)
		why = "a cgroup for it can't be made";
	if (why != NULL) {
		c->cause = END_LAUNCH_FAILED;
		snprintf(c->detail, sizeof(c->detail), "%s", why);
		finish(c);
		return;
	}
	FAULT("run.run");
	c->leaf = leaf;
	n->leaves |= 1U << leaf;
	c->run = ++next_run;
	count_before(c);
	c->sent = now_us();
	c->state = CALL_SENT;
	m = imsg_new(MSG_RUN);
	imsg_put_u32(m, c->run);
	imsg_put_str(m, n->id);
	imsg_put_str(m, c->req.session);
	imsg_put_str(m, c->req.call);
	imsg_put_fd(m, c->req.block);
	imsg_put_fd(m, c->req.out);
	imsg_put_fd(m, c->req.err);
	imsg_put_fd(m, dup(leaf_fd(c)));
	if (c->req.in != -1)
		imsg_put_fd(m, c->req.in);
	c->req.block = c->req.out = c->req.err = c->req.in = -1;
	c->stage = STAGE_DEADLINE;
	set_clock(c, c->req.timeout);
	/* A failure is the channel's death, which ends the neuron. */
	channel_send(n->channel, m);
	FAULT("run.sent");
}

static struct call *
first_queued(struct neuron *n)
{
	struct call *c;

	TAILQ_FOREACH(c, &n->calls, entry)
		if (c->state == CALL_QUEUED)
			return (c);
	return (NULL);
}

void
calls_start(struct neuron *n)
{
	struct call *c;
	int leaf;

	while ((c = first_queued(n)) != NULL && (leaf = free_leaf(n)) != -1)
		start(c, leaf);
}

void
call_launch(struct call_request *req)
{
	struct neuron *n = neuron_find(req->neuron);
	struct call *c;

	if (n == NULL || n->state == NEURON_DYING) {
		call_report_unrun(req, n != NULL && n->was_up ?
		    END_NEURON_LOST : END_LAUNCH_FAILED, n == NULL ||
		    n->why == NULL ? "there is no such neuron" : n->why);
		return;
	}
	if (n->ncalls >= n->limits.v[LIMIT_RUNNING]) {
		call_report_unrun(req, END_LAUNCH_FAILED, "the neuron runs as "
		    "many calls as it may (running-calls)");
		return;
	}
	if ((c = calloc(1, sizeof(*c))) == NULL ||
	    (c->clock = evtimer_new(proc_base(), on_clock, c)) == NULL)
		fatal("call");
	FAULT("run.launched");
	c->launched = now_us();
	c->req = *req;
	c->neuron = n;
	c->leaf = -1;
	c->code = -1;
	TAILQ_INSERT_TAIL(&n->calls, c, entry);
	n->ncalls++;
	if (n->state == NEURON_UP_)
		calls_start(n);
}

void
call_kill(const char *id, unsigned cause)
{
	struct call *c = neurons_find_call(id);

	/* Gone, or as good as: its own end is true as well. */
	if (c == NULL || WITHOUT(cancel) || c->state == CALL_DRAINING)
		return;
	c->cause = cause;
	c->detail[0] = '\0';
	if (c->state == CALL_QUEUED)
		finish(c);
	else
		kill_leaf(c);
}

/* One whose leader may still be there; init knows whether it is. */
static struct call *
find_sent(const char *id)
{
	struct call *c = neurons_find_call(id);

	return (c != NULL && (c->state == CALL_SENT ||
	    c->state == CALL_RUNNING) ? c : NULL);
}

void
call_signal(const char *id, unsigned sig)
{
	struct call *c = find_sent(id);

	if (c != NULL)
		send_signal(c, (int)sig);
}

void
call_resize(const char *id, uint32_t size)
{
	struct call *c = find_sent(id);
	struct imsg *m;

	if (c == NULL)
		return;
	m = imsg_new(MSG_RUN_RESIZE);
	imsg_put_u32(m, c->run);
	imsg_put_u32(m, size);
	channel_send(c->neuron->channel, m);
}

static unsigned
end_of_gone(unsigned gone, int was_up)
{
	if (gone == GONE_DROPPED)
		return (END_SESSION_ENDED);
	return (was_up ? END_NEURON_LOST : END_LAUNCH_FAILED);
}

void
calls_end_all(struct neuron *n, int was_up, unsigned gone, const char *why)
{
	struct call *c;

	while ((c = TAILQ_FIRST(&n->calls)) != NULL) {
		if (c->state != CALL_DRAINING && c->cause == 0) {
			c->cause = end_of_gone(gone, was_up);
			snprintf(c->detail, sizeof(c->detail), "%s", why);
		}
		if (c->exited == 0)
			c->exited = now_us();
		call_report(c);
		call_free(c);
	}
}

/* ---- what init says ---- */

static void
begun(struct call *c, uint64_t when)
{
	FAULT("run.started");
	c->started = when;
}

int
call_started(struct neuron *n, uint32_t run)
{
	struct call *c = find_run(n, run);
	struct imsg *m;

	if (c == NULL || c->state != CALL_SENT)
		return (-1);
	begun(c, now_us());
	c->state = CALL_RUNNING;
	m = imsg_new(MSG_STARTED);
	imsg_put_str(m, c->req.call);
	launch_send(m);
	return (0);
}

int
call_failed(struct neuron *n, uint32_t run, unsigned where, int error)
{
	struct call *c = find_run(n, run);

	if (c == NULL || c->state != CALL_SENT)
		return (-1);
	call_unstarted(c, where, error);
	leader_gone(c);
	return (0);
}

static void
end(struct call *c, const struct run_end *how)
{
	FAULT("run.ended");
	c->code = how->code;
	c->sig = how->sig;
	c->peak = how->peak;
	leader_gone(c);
}

int
call_ended(struct neuron *n, uint32_t run, const struct run_end *how)
{
	struct call *c = find_run(n, run);

	if (c == NULL || c->state != CALL_RUNNING)
		return (-1);
	end(c, how);
	return (0);
}

int
call_ran(struct neuron *n, uint32_t run, const struct run_end *how,
    uint32_t us)
{
	struct call *c = find_run(n, run);
	uint64_t now = now_us();

	if (c == NULL || c->state != CALL_SENT)
		return (-1);
	/* What is said inside a neuron is not before we sent it there. */
	begun(c, now - c->sent > us ? now - us : c->sent);
	c->flags |= ENDED_F_STARTED;
	end(c, how);
	return (0);
}
