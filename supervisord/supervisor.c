/* The whole: what is made before the first child, and after the last. */
#include <event2/event.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "notify.h"
#include "preflight.h"
#include "proc.h"
#include "supervisor.h"
#include "without.h"

#define JOURNAL		"/run/systemd/journal/socket"
#define PING_S		10
#define PINGS_MOST	3	/* unanswered: 30 s of silence */
#define HASTE_MS	500	/* at a second signal */

static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };

#define NSIGNALS	(sizeof(signals) / sizeof(signals[0]))

/* ---- before the first child ---- */

static int
journal_open(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	(void)strlcpy(sun.sun_path, JOURNAL, sizeof(sun.sun_path));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (-1);
	if (connect(fd, (const struct sockaddr *)&sun, sizeof(sun)) == -1) {
		(void)close(fd);
		return (-1);
	}
	return (fd);
}

/* The uids' block; a private instance gets the one its state has, if free. */
static int
block(struct supervisor *sv, char *why)
{
	struct slice *s = sv->conf->slice;
	struct uids *u = &sv->uids;
	uint32_t owner = sv->state.policy_owner;
	uint32_t offset = child_table[CHILD_POLICYD].offset;

	u->dir = UIDS_DIR;
	u->instance = s->instance;
	u->start = s->uids_start;
	u->count = s->uids_count;
	u->wish = 0;
	if (owner != (uid_t)-1 && owner >= CONF_PRIVATE_START + offset &&
	    (owner - offset - CONF_PRIVATE_START) % CONF_PRIVATE_COUNT == 0)
		u->wish = owner - offset;
	if (uids_lock(u, why) == -1)
		return (-1);
	s->uids_start = u->start;
	return (0);
}

static int
sockets(struct supervisor *sv)
{
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		if (sockets_open(&sv->children[i]) == -1)
			return (-1);
	}
	return (0);
}

/* In this order: what refuses a second instance comes first. */
static int
prepare(struct supervisor *sv)
{
	struct slice *s = sv->conf->slice;
	struct child *policyd = &sv->children[CHILD_POLICYD];
	char why[WHY_MAX];

	sv->state.path = s->state;
	if (preflight(s, why) == -1) {
		log_warnx("%s", why);
		return (-1);
	}
	if (state_open(&sv->state, why) == -1) {
		log_warnx("%s: %s", s->state, why);
		return (-1);
	}
	if (block(sv, why) == -1 || children_ids(sv, why) == -1) {
		log_warnx("%s", why);
		return (-1);
	}
	if (state_fill(&sv->state, policyd->uid, policyd->gid, s->private,
	    why) == -1) {
		log_warnx("%s: %s", s->state, why);
		return (-1);
	}
	if (feed_encode(sv, sv->conf, &sv->feed) == -1)
		return (-1);
	return (sockets(sv));
}

static void
clear_up(struct supervisor *sv)
{
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++)
		sockets_close(&sv->children[i]);
	uids_unlock(&sv->uids);
	state_close(&sv->state);
}

/* ---- what children report ---- */

static void
tell_log_level(struct child *c)
{
	struct imsg *m;

	if (c->state != CHILD_UP || c->control == NULL)
		return;
	m = imsg_new(MSG_LOG_LEVEL);
	imsg_put_u8(m, log_verbose() != 0);
	(void)channel_send(c->control, m);
}

void
supervisor_log_level(struct supervisor *sv)
{
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++)
		tell_log_level(&sv->children[i]);
}

void
supervisor_agreed(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state != CHILD_ABSENT && c->state != CHILD_AGREED)
			return;
	}
	for (i = 0; i < CHILD_COUNT; i++) {
		if (sv->children[i].state == CHILD_AGREED)
			child_commit(&sv->children[i]);
	}
	plumb(sv, NULL);
}

static unsigned
count_up(const struct supervisor *sv, unsigned *all)
{
	unsigned up = 0;
	size_t i;

	*all = 0;
	for (i = 0; i < CHILD_COUNT; i++) {
		if (sv->children[i].state == CHILD_ABSENT)
			continue;
		(*all)++;
		if (sv->children[i].state == CHILD_UP)
			up++;
	}
	return (up);
}

void
supervisor_up(struct supervisor *sv, struct child *c)
{
	const struct slice *s = sv->conf->slice;
	unsigned all, up = count_up(sv, &all);

	/* Its configuration is not what an operator asked for since. */
	if (log_verbose() != (sv->opts->verbose || sv->conf->verbose))
		tell_log_level(c);
	if (sv->phase == PHASE_RUN) {
		log_info("%s (pid %d) is up again", c->spec->name,
		    (int)c->pid);
		notify_send("STATUS=%u of %u processes up", up, all);
	}
	if (sv->phase == PHASE_RUN)
		reload_poke(sv);
	if (sv->phase != PHASE_START || up < all)
		return;
	sv->phase = PHASE_RUN;
	log_info("ready: instance %s, %u processes, uids %u to %u",
	    s->instance, all, s->uids_start, s->uids_start + s->uids_count -
	    1);
	notify_send("READY=1\nSTATUS=%u processes up", all);
	reload_poke(sv);
}

/* ---- stopping ---- */

/* The next one in order, when the one before is gone. */
void
supervisor_gone(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->pid == 0)
			continue;
		if (!c->stopping)
			child_stop(c, c->spec->stop_ms);
		return;
	}
	sv->done = true;
	(void)event_base_loopbreak(sv->base);
}

static void
stop(struct supervisor *sv, int status)
{
	struct child *c;
	size_t i;

	if (sv->phase == PHASE_STOP)
		return;
	sv->phase = PHASE_STOP;
	sv->status = status;
	reload_end(sv);
	notify_send("STOPPING=1");
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		/* From here on a client is refused, not left waiting. */
		sockets_close(c);
		if (c->pid == 0 && c->timer != NULL)
			(void)event_del(c->timer);
	}
	supervisor_gone(sv);
}

void
supervisor_fail(struct supervisor *sv, const char *fmt, ...)
{
	char words[512];
	va_list ap;

	if (sv->phase == PHASE_STOP)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	log_warnx("%s", words);
	notify_send("STATUS=%.200s", words);
	stop(sv, 1);
}

/* A second signal stops all that are left at once, a third kills them. */
static void
hasten(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (sv->signals > 2)
			child_kill(c);
		else
			child_stop(c, HASTE_MS);
	}
}

/* ---- events ---- */

static void
reap(struct supervisor *sv)
{
	struct child *c;
	int status;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->pid != 0 && waitpid(c->pid, &status, WNOHANG) == c->pid)
			child_reaped(c, status);
	}
}

static void
signal_came(evutil_socket_t sig, short what, void *arg)
{
	struct supervisor *sv = arg;

	(void)what;
	switch (sig) {
	case SIGCHLD:
		reap(sv);
		break;
	case SIGHUP:
		reload_ask(sv);
		break;
	default:
		log_info("SIG%s: stopping", sigabbrev_np((int)sig));
		if (++sv->signals == 1)
			stop(sv, 0);
		else
			hasten(sv);
	}
}

/*
 * Silence is counted in pings, not in seconds: a supervisor that was itself
 * held up must not take that for the children's silence.
 */
static void
heartbeat(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sv = arg;
	struct child *c;
	struct imsg *m;
	size_t i;

	(void)fd;
	(void)what;
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state != CHILD_UP || c->stopping || c->control == NULL)
			continue;
		if (c->pings == PINGS_MOST) {
			log_warnx("%s (pid %d) was silent for %d s: killed",
			    c->spec->name, (int)c->pid, PINGS_MOST * PING_S);
			child_kill(c);
			continue;
		}
		c->pings++;
		m = imsg_new(MSG_PING);
		imsg_put_u32(m, c->pings);
		(void)channel_send(c->control, m);
	}
}

static void
watchdog(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	notify_send("WATCHDOG=1");
}

static struct event *
every(struct supervisor *sv, int ms, event_callback_fn fn)
{
	const struct timeval tv = { ms / 1000, (ms % 1000) * 1000 };
	struct event *ev;

	ev = event_new(sv->base, -1, EV_PERSIST, fn, sv);
	if (ev == NULL || event_add(ev, &tv) == -1)
		fatalx("timer");
	return (ev);
}

static void
watch(struct supervisor *sv, struct event **evs)
{
	size_t i;

	for (i = 0; i < NSIGNALS; i++) {
		evs[i] = evsignal_new(sv->base, signals[i], signal_came, sv);
		if (evs[i] == NULL || event_add(evs[i], NULL) == -1)
			fatalx("signals");
	}
	sv->heartbeat = every(sv, PING_S * 1000, heartbeat);
	if (notify_watchdog() != 0)
		sv->watchdog = every(sv, notify_watchdog(), watchdog);
}

static void
unwatch(struct supervisor *sv, struct event **evs)
{
	size_t i;

	for (i = 0; i < NSIGNALS; i++)
		event_free(evs[i]);
	for (i = 0; i < CHILD_COUNT; i++) {
		if (sv->children[i].timer != NULL)
			event_free(sv->children[i].timer);
	}
	plumb_end(sv);
	event_free(sv->heartbeat);
	if (sv->watchdog != NULL)
		event_free(sv->watchdog);
	event_base_free(sv->base);
}

/* ---- running ---- */

static void
harden(void)
{
	/* As neurons get it; a limit of 0 would not stop a core handler that
	 * is a pipe, and could not be raised to 1 again. */
	const struct rlimit none = { 1, 1 };

	(void)umask(077);
	(void)signal(SIGPIPE, SIG_IGN);
	if ((!WITHOUT(drop_rlimits) &&
	    setrlimit(RLIMIT_CORE, &none) == -1) ||
	    prctl(PR_SET_DUMPABLE, 0) == -1)
		fatal("no core dumps");
	if (chdir("/") == -1)
		fatal("chdir /");
}

static void
start_all(struct supervisor *sv)
{
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT && sv->phase == PHASE_START; i++) {
		c = &sv->children[i];
		if (c->state != CHILD_ABSENT && child_start(c) == -1)
			supervisor_fail(sv, "%s can't be started",
			    c->spec->name);
	}
}

int
supervisor_run(struct supervisor *sv)
{
	struct event *evs[NSIGNALS];

	sv->status = 1;
	sv->uids.fd = sv->state.fd = sv->state.lock = -1;
	reload_init(sv);
	harden();
	if (prepare(sv) == -1) {
		clear_up(sv);
		return (1);
	}
	sv->journal = sv->opts->debug ? -1 : journal_open();
	log_init("myelind", sv->journal, log_verbose());
	if ((sv->base = event_base_new()) == NULL)
		fatalx("event loop");
	watch(sv, evs);
	start_all(sv);
	/* A break before the loop would be forgotten by it. */
	if (!sv->done)
		(void)event_base_dispatch(sv->base);
	unwatch(sv, evs);
	clear_up(sv);
	log_info("stopped");
	return (sv->status);
}
