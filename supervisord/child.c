/* The life of one child, from its start to its reaping. */
#include <event2/event.h>
#include <sys/wait.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "notify.h"
#include "protocol.h"
#include "supervisor.h"
#include "without.h"
#include "work.h"

#define READY_MS	10000	/* from START to READY, unless it works on */
#define READY_MOST_MS	600000	/* the same, whatever it does */
#define READY_LOOK_MS	5000	/* between looks at that */
#define ENDING_MS	2000	/* from its channel's end to SIGKILL */
#define RETRY_MS	60000	/* a failed apid is tried again */
#define RETRY_SOON_MS	1000	/* when a reload was under way */

static void	again(struct child *);
static void	retry(struct child *);

/* ---- small things ---- */

static void
timer_in(struct child *c, int64_t ms)
{
	const struct timeval tv = { ms / 1000, (ms % 1000) * 1000 };

	if (event_add(c->timer, &tv) == -1)
		fatalx("%s: timer", c->spec->name);
}

static void
become(struct child *c, enum child_state state)
{
	c->state = state;
	procs_changed(c);
}

bool
child_committed(const struct child *c)
{
	return (c->state == CHILD_COMMITTED || c->state == CHILD_UP);
}

enum proc_status
child_status(const struct child *c)
{
	static const enum proc_status words[] = {
		[CHILD_ABSENT] = PROC_ST_DOWN,
		[CHILD_DOWN] = PROC_ST_DOWN,
		[CHILD_STARTED] = PROC_ST_STARTING,
		[CHILD_AGREED] = PROC_ST_STARTING,
		[CHILD_COMMITTED] = PROC_ST_STARTING,
		[CHILD_UP] = PROC_ST_UP,
		[CHILD_ENDING] = PROC_ST_DOWN,
		[CHILD_FAILED] = PROC_ST_FAILED
	};

	return (words[c->state]);
}

void
child_kill(struct child *c)
{
	/* Not reaped yet, so the number is still this child's. */
	if (c->pid != 0 && kill(c->pid, SIGKILL) == -1)
		log_warn("%s: kill", c->spec->name);
}

static void
close_control(struct child *c)
{
	if (c->control != NULL)
		channel_free(c->control);
	c->control = NULL;
}

int
child_send(struct child *c, enum msg_type type, uint32_t number)
{
	struct imsg *m;

	if (c->control == NULL)
		return (-1);
	m = imsg_new(type);
	imsg_put_u32(m, number);
	return (channel_send(c->control, m));
}

/* ---- what a child says ---- */

static int
on_config_ok(void *arg, struct imsg *m)
{
	struct child *c = arg;
	uint32_t generation = imsg_get_u32(m);

	if (imsg_end(m) == -1)
		return (-1);
	if (c->state == CHILD_UP)
		return (reload_agreed(c, generation));
	if (c->state != CHILD_STARTED || generation != c->sv->feed.generation)
		return (-1);
	become(c, CHILD_AGREED);
	if (c->sv->phase == PHASE_START)
		supervisor_agreed(c->sv);
	else {
		child_commit(c);
		plumb(c->sv, c);
	}
	return (0);
}

static int
on_config_bad(void *arg, struct imsg *m)
{
	struct child *c = arg;
	char file[PATH_BYTES_MAX], why[1024];
	char words[PATH_BYTES_MAX + 1200];
	uint32_t generation, line;

	generation = imsg_get_u32(m);
	line = imsg_get_u32(m);
	imsg_get_str(m, file, sizeof(file));
	imsg_get_str(m, why, sizeof(why));
	if (imsg_end(m) == -1)
		return (-1);
	if (file[0] == '\0')
		(void)snprintf(words, sizeof(words), "%s refuses the "
		    "configuration: %s", c->spec->name, why);
	else
		(void)snprintf(words, sizeof(words), "%s:%u: %s (says %s)",
		    feed_tool_path(c->state == CHILD_UP ?
		    &c->sv->reload.feed : &c->sv->feed, file), line, why,
		    c->spec->name);
	if (c->state == CHILD_UP)
		return (reload_refused(c, generation, words));
	if (c->state != CHILD_STARTED)
		return (-1);
	log_warnx("%s", words);
	if (c->sv->phase == PHASE_START)
		supervisor_fail(c->sv, "%s refuses the configuration",
		    c->spec->name);
	else
		child_kill(c);
	return (0);
}

static int
on_committed(void *arg, struct imsg *m)
{
	uint32_t generation = imsg_get_u32(m);

	if (imsg_end(m) == -1)
		return (-1);
	return (reload_committed(arg, generation));
}

static int
on_ready(void *arg, struct imsg *m)
{
	struct child *c = arg;
	uint32_t version = imsg_get_u32(m);

	if (imsg_end(m) == -1 || c->state != CHILD_COMMITTED)
		return (-1);
	if (version != PROTOCOL_VERSION) {
		log_warnx("%s speaks version %u of the protocol, not %d",
		    c->spec->name, version, PROTOCOL_VERSION);
		return (-1);
	}
	if (!c->stopping)
		(void)event_del(c->timer);
	c->up_since = restart_clock();
	become(c, CHILD_UP);
	if (c->sv->phase == PHASE_START)
		log_debug("%s (pid %d) is up", c->spec->name, (int)c->pid);
	supervisor_up(c->sv, c);
	return (0);
}

static int
on_pong(void *arg, struct imsg *m)
{
	struct child *c = arg;

	(void)imsg_get_u32(m);
	if (imsg_end(m) == -1)
		return (-1);
	c->pings = 0;
	return (0);
}

static int
on_lost(void *arg, struct imsg *m)
{
	struct child *c = arg;
	uint32_t kind, ends;

	kind = imsg_get_u32(m);
	ends = imsg_get_u32(m);
	if (imsg_end(m) == -1)
		return (-1);
	return (plumb_lost(c->sv, c, kind, ends));
}

/* policyd alone has operators who may ask for it. */
static int
on_log_ask(void *arg, struct imsg *m)
{
	struct child *c = arg;
	unsigned level = imsg_get_u8(m);

	if (imsg_end(m) == -1 || level > 1 ||
	    c->spec != &child_table[CHILD_POLICYD])
		return (-1);
	log_set_verbose((int)level);
	supervisor_log_level(c->sv);
	return (0);
}

static const struct channel_handler handlers[] = {
	{ MSG_LOG_ASK,		on_log_ask },
	{ MSG_CONFIG_OK,	on_config_ok },
	{ MSG_CONFIG_BAD,	on_config_bad },
	{ MSG_COMMITTED,	on_committed },
	{ MSG_READY,		on_ready },
	{ MSG_PONG,		on_pong },
	{ MSG_LOST,		on_lost }
};

/*
 * "closed" is how a child ends by itself; give it a moment to.  Anything else
 * is a message that could not be right: it is not trusted with another.
 */
static void
control_dead(void *arg, const char *reason)
{
	struct child *c = arg;
	bool closed = strcmp(reason, "closed") == 0;

	if (!closed)
		log_warnx("%s (pid %d): control channel: %s", c->spec->name,
		    (int)c->pid, reason);
	close_control(c);
	if (c->state == CHILD_ENDING)
		return;
	become(c, CHILD_ENDING);
	if (!closed)
		child_kill(c);
	else if (!c->stopping)
		timer_in(c, ENDING_MS);
	reload_lost(c);
}

static const struct channel_ops control_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = control_dead
};

/* ---- time ---- */

/*
 * A store that is put in order, or a host with too much to do, may take its
 * time: what works on goes on, and only what stands still is stuck.  Who waits
 * for the others is not.
 */
static bool
not_ready(struct child *c)
{
	int64_t ms = restart_clock() - c->began;
	bool works = work_goes_on(c->pid, &c->cpu);

	if (c->state == CHILD_AGREED || ms < READY_MS)
		return (true);
	if (works && ms < READY_MOST_MS) {
		log_info("%s (pid %d) is not ready after %lld s and at work: "
		    "it is waited for", c->spec->name, (int)c->pid,
		    (long long)(ms / 1000));
		return (true);
	}
	log_warnx("%s (pid %d) was not ready within %lld s: it %s",
	    c->spec->name, (int)c->pid, (long long)(ms / 1000),
	    c->state == CHILD_STARTED ?
	    "did not answer to its configuration" : "did not say READY");
	return (false);
}

static void
timer_fired(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;

	(void)fd;
	(void)what;
	switch (c->state) {
	case CHILD_DOWN:
		if (child_start(c) == -1)
			again(c);
		return;
	case CHILD_FAILED:
		/* It would come between question and answer of a reload. */
		if (reload_asks(c->sv))
			timer_in(c, RETRY_SOON_MS);
		else
			retry(c);
		return;
	case CHILD_STARTED:
	case CHILD_AGREED:
	case CHILD_COMMITTED:
		if (c->stopping || !not_ready(c))
			break;
		if (c->sv->phase == PHASE_START)
			notify_send("EXTEND_TIMEOUT_USEC=%d",
			    READY_MS * 1000);
		timer_in(c, READY_LOOK_MS);
		return;
	default:
		break;
	}
	if (c->stopping)
		log_warnx("%s (pid %d) did not stop in time: killed",
		    c->spec->name, (int)c->pid);
	child_kill(c);
}

/* ---- start ---- */

static unsigned
start_flags(const struct supervisor *sv)
{
	unsigned flags = 0;

	if (sv->journal == -1)
		flags |= PROC_F_DEBUG;
	if (log_verbose())
		flags |= PROC_F_VERBOSE;
	if (sv->opts->trace)
		flags |= PROC_F_TRACE;
	return (flags);
}

int
child_start(struct child *c)
{
	char root[PATH_BYTES_MAX];
	int fd;

	if (c->timer == NULL) {
		c->timer = evtimer_new(c->sv->base, timer_fired, c);
		if (c->timer == NULL)
			fatalx("%s: timer", c->spec->name);
	}
	if (child_root(c, root, sizeof(root)) == -1) {
		log_warnx("%s: the state directory's path is too long",
		    c->spec->name);
		return (-1);
	}
	c->nofile = child_nofile(c, c->sv->conf->slice);
	if (c->spec == &child_table[CHILD_NEUROND])
		c->sv->neurons = c->sv->conf->slice->limits.v[LIMIT_NEURONS];
	if ((fd = child_exec(c, false, 0, 0, &c->pid)) == -1) {
		c->pid = 0;
		log_warn("%s", c->spec->name);
		return (-1);
	}
	c->control = channel_new(fd, CH_CONTROL, END_A, &control_ops, c);
	if (c->control == NULL || channel_attach(c->control, c->sv->base) ==
	    -1)
		fatalx("%s: control channel", c->spec->name);
	c->pings = 0;
	memset(c->given, 0, sizeof(c->given));
	c->up_since = -1;
	c->stopping = c->planned = c->agreed = false;
	c->began = restart_clock();
	c->cpu = 0;
	timer_in(c, READY_LOOK_MS);
	become(c, CHILD_STARTED);
	log_debug("%s (pid %d) is started", c->spec->name, (int)c->pid);
	child_send_start(c, c->control, start_flags(c->sv), root);
	/* If this fails the channel died, which is told on its own. */
	(void)feed_send(c, &c->sv->feed, c->control);
	return (0);
}

void
child_commit(struct child *c)
{
	if (child_send(c, MSG_COMMIT, c->sv->feed.generation) == -1)
		return;
	become(c, CHILD_COMMITTED);
	if (c->sv->phase == PHASE_START) {
		c->began = restart_clock();
		timer_in(c, READY_LOOK_MS);
	}
	if (c->spec == &child_table[CHILD_POLICYD]) {
		procs_all(c->sv);
		reload_tell(c->sv, false);
	}
}

/* ---- end ---- */

/* The journal finds what dies by one number, whatever comes of it. */
static void __printflike(2, 3)
alarm_died(const struct child *c, const char *fmt, ...)
{
	char fields[64], words[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	(void)snprintf(fields, sizeof(fields), "MYELIN_CHILD=%s\n",
	    c->spec->name);
	log_alarm(LOG_PROCESS_DIED, fields, "%s", words);
}

/* Five deaths: without a socket, or without egress, the rest still works. */
static void
failed(struct child *c)
{
	uint64_t window =
	    c->sv->conf->slice->limits.v[LIMIT_RESTART_WINDOW];
	const char *what = c->nsockets > 0 ? c->sockets[0].conf->path :
	    c->spec->serves;

	if (what == NULL) {
		supervisor_fail(c->sv, "%s died %d times within %llu s: the "
		    "service ends; its last words are above", c->spec->name,
		    RESTART_DEATHS, (unsigned long long)window);
		return;
	}
	alarm_died(c, "%s died %d times within %llu s: %s stays down, tried "
	    "again every %d s", c->spec->name, RESTART_DEATHS,
	    (unsigned long long)window, what, RETRY_MS / 1000);
	sockets_close(c);
	become(c, CHILD_FAILED);
	timer_in(c, RETRY_MS);
	reload_poke(c->sv);
}

static void
retry(struct child *c)
{
	if (sockets_open(c) == -1) {
		timer_in(c, RETRY_MS);
		return;
	}
	log_info("%s is tried again", c->spec->name);
	c->restarts++;
	if (child_start(c) == -1) {
		sockets_close(c);
		become(c, CHILD_FAILED);
		timer_in(c, RETRY_MS);
	}
}

static void
again(struct child *c)
{
	int64_t window = (int64_t)
	    c->sv->conf->slice->limits.v[LIMIT_RESTART_WINDOW] * 1000;
	int wait;

	if (WITHOUT(restart))
		return;
	wait = restart_died(&c->history, restart_clock(), c->up_since, window);
	if (wait == -1) {
		failed(c);
		return;
	}
	c->restarts++;
	become(c, CHILD_DOWN);
	if (wait > 0)
		alarm_died(c, "%s is started again in %d ms", c->spec->name,
		    wait);
	else
		alarm_died(c, "%s is started again", c->spec->name);
	timer_in(c, wait);
}

static void
say_end(const struct child *c, pid_t pid, int status)
{
	bool expected = c->stopping && WIFEXITED(status) &&
	    WEXITSTATUS(status) == 0;

	if (WIFSIGNALED(status))
		log_warnx("%s (pid %d) was killed by SIG%s", c->spec->name,
		    (int)pid, sigabbrev_np(WTERMSIG(status)) == NULL ? "?" :
		    sigabbrev_np(WTERMSIG(status)));
	else if (expected)
		log_debug("%s (pid %d) stopped", c->spec->name, (int)pid);
	else
		log_warnx("%s (pid %d) ended with status %d", c->spec->name,
		    (int)pid, WEXITSTATUS(status));
}

void
child_reaped(struct child *c, int status)
{
	pid_t pid = c->pid;

	/* Somebody else's number by now. */
	c->pid = 0;
	/* What it said last is still to be read: why, above all. */
	if (c->control != NULL)
		(void)channel_dispatch(c->control, 0);
	close_control(c);
	say_end(c, pid, status);
	(void)event_del(c->timer);
	switch (c->sv->phase) {
	case PHASE_STOP:
		become(c, CHILD_DOWN);
		supervisor_gone(c->sv);
		break;
	case PHASE_START:
		become(c, CHILD_DOWN);
		supervisor_fail(c->sv, "%s ended before it was ready",
		    c->spec->name);
		break;
	case PHASE_RUN:
		reload_lost(c);
		if (!c->planned)
			again(c);
		else if (child_start(c) == -1)
			again(c);
		break;
	}
}

/* Asks it to stop, within ms; asked again, only the time gets shorter. */
void
child_stop(struct child *c, int ms)
{
	if (c->pid == 0)
		return;
	if (!c->stopping) {
		c->stopping = true;
		if (c->control != NULL)
			(void)channel_send(c->control,
			    imsg_new(MSG_STOP_PROC));
	}
	timer_in(c, ms);
}
