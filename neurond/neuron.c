/*
 * Making neurons and taking them away.
 */
#include <event2/event.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "fault.h"
#include "home.h"
#include "imsg.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "neuron_init.h"
#include "place.h"
#include "pool.h"
#include "proc.h"
#include "settings.h"
#include "sys.h"
#include "without.h"

#define BUILD_TIME	5000	/* ms from NEURON_MAKE to NEURON_UP */
#define HOME_TIME	12000	/* the same with a home on a disk */
#define LOOK		250	/* ms, which are counted of these: see call.c */
#define DYING_TIME_LOG	4000	/* ms after which a death is worth a line */
#define DYING_WAIT_MAX	250	/* ms between looks at the cgroup */

TAILQ_HEAD(neurons, neuron);
static struct neurons neurons = TAILQ_HEAD_INITIALIZER(neurons);
static unsigned live;
static unsigned waiting;

static void	try_build(struct neuron *);

uint64_t
now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000);
}

struct neuron *
neuron_find(const char *id)
{
	struct neuron *n;

	TAILQ_FOREACH(n, &neurons, entry)
		if (strcmp(n->id, id) == 0 && id[0] != '\0')
			return (n);
	return (NULL);
}

struct neuron *
neurons_next(struct neuron *n)
{
	return (n == NULL ? TAILQ_FIRST(&neurons) : TAILQ_NEXT(n, entry));
}

struct call *
neurons_find_call(const char *id)
{
	struct neuron *n;
	struct call *c;

	TAILQ_FOREACH(n, &neurons, entry)
		TAILQ_FOREACH(c, &n->calls, entry)
			if (strcmp(c->req.call, id) == 0)
				return (c);
	return (NULL);
}

static void
set_timer(struct neuron *n, unsigned ms)
{
	struct timeval tv = {
		.tv_sec = ms / 1000,
		.tv_usec = (suseconds_t)(ms % 1000) * 1000
	};

	event_add(n->timer, &tv);
}

static void
set_state(struct neuron *n, enum neuron_state state)
{
	if (n->state == NEURON_WAITING)
		waiting--;
	n->state = state;
	if (n->state == NEURON_WAITING)
		waiting++;
}

unsigned
neurons_waiting(void)
{
	return (waiting);
}

int
neurons_busy(void)
{
	struct neuron *n;
	struct call *c;

	TAILQ_FOREACH(n, &neurons, entry) {
		if (n->state == NEURON_WALKING || n->state == NEURON_BUILDING)
			return (1);
		TAILQ_FOREACH(c, &n->calls, entry)
			if (c->state == CALL_SENT)
				return (1);
	}
	return (0);
}

/* ---- the end ---- */

static void
send_gone(const char *id, unsigned cause, const char *why)
{
	struct imsg *m = imsg_new(MSG_NEURON_GONE);

	imsg_put_u8(m, (uint8_t)cause);
	imsg_put_str(m, id);
	imsg_put_str(m, why);
	launch_send(m);
}

static void
neuron_free(struct neuron *n)
{
	FAULT("neuron.removed");
	TAILQ_REMOVE(&neurons, n, entry);
	if (n->id[0] != '\0')
		send_gone(n->id, n->cause, n->why == NULL ? "" : n->why);
	if (n->pidfd != -1)
		close(n->pidfd);
	if (n->tree != -1)
		close(n->tree);
	home_close(n);
	listeners_close(&n->listeners);
	shown_close(&n->shown);
	if (n->place != NULL)
		place_release(n->place);
	if (n->slot != NULL)
		slot_free(n->slot);
	event_free(n->timer);
	free(n->workspace);
	free(n->why);
	free(n);
}

/* 1 when nothing of it runs. */
static int
is_gone(struct neuron *n)
{
	if (n->pid != 0)
		return (0);
	if (n->slot == NULL)
		return (1);
	if (n->slot->cg.v2 != -1 && cg_populated(n->slot->cg.v2) == 1)
		return (0);
	/* A clone that is still on its way must find no cgroup. */
	return (n->built || cg_remove(slots_base(), &n->slot->cg) == 0);
}

static void
kill_all(struct neuron *n)
{
	if (n->pidfd != -1)
		(void)syscall(SYS_pidfd_send_signal, n->pidfd, SIGKILL, NULL,
		    0);
	if (n->slot != NULL && n->slot->cg.v2 != -1)
		(void)cg_kill(n->slot->cg.v2);
}

static void
dying(struct neuron *n)
{
	if (is_gone(n)) {
		neuron_free(n);
		return;
	}
	/* A clone that was on its way when the first kill was written. */
	kill_all(n);
	if (n->wait > 0 && n->wait == DYING_WAIT_MAX &&
	    now_us() - n->asked > DYING_TIME_LOG * 1000) {
		log_warnx_of(&(struct log_about){ .neuron = n->id },
		    "neuron %s does not go away", n->id);
		n->asked = now_us();
	}
	n->wait = n->wait == 0 ? 1 : n->wait * 2;
	if (n->wait > DYING_WAIT_MAX)
		n->wait = DYING_WAIT_MAX;
	set_timer(n, n->wait);
}

/* Takes why over. */
static void
begin_to_die(struct neuron *n, unsigned cause, char *why)
{
	enum neuron_state was = n->state;

	n->why = why;
	set_state(n, NEURON_DYING);
	n->cause = cause;
	if (n->id[0] != '\0')
		live--;
	pool_is_over(n);
	calls_end_all(n, was == NEURON_UP_, cause, n->why);
	kill_all(n);
	FAULT("neuron.killed");
	channel_free(n->channel);
	n->channel = NULL;
	n->asked = now_us();
	n->wait = 0;
	set_timer(n, 0);
}

/* What a pool must never do. */
static void
serve_again(struct neuron *n)
{
	const struct cf_profile *p = slice_profile(settings(), "default");

	send_gone(n->id, GONE_DROPPED, "");
	live--;
	n->id[0] = '\0';
	pool_add(&n->pooled, n, p);
	pool_is_up(n);
}

/* Each answers within 2 seconds: in 5 the one it waits for is stuck. */
static void
blame(const struct neuron *n)
{
	if (n->state == NEURON_WALKING ||
	    (n->state == NEURON_WAITING && slots_making() > 0))
		helper_hangs(HELPER_MAKER);
	if (n->state == NEURON_BUILDING && !n->built)
		helper_hangs(HELPER_SPAWNER);
}

void
neuron_end(struct neuron *n, unsigned cause, const char *fmt, ...)
{
	char *why;
	va_list ap;

	if (n->state == NEURON_DYING)
		return;
	if (WITHOUT(pool_once) && cause == GONE_DROPPED &&
	    n->state == NEURON_UP_ && TAILQ_EMPTY(&n->calls)) {
		serve_again(n);
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) == -1)
		why = NULL;
	va_end(ap);
	if (cause == GONE_FAILED || cause == GONE_LOST)
		log_warnx_of(&(struct log_about){ .neuron = n->id },
		    "neuron %s: %s", n->id[0] != '\0' ? n->id :
		    "of the pool", why);
	begin_to_die(n, cause, why);
}

static unsigned
build_time(const struct neuron *n)
{
	return (n->persistent == HOME_NONE ? BUILD_TIME : HOME_TIME);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct neuron *n = arg;

	(void)fd;
	(void)what;
	if (n->state != NEURON_DYING && n->wait > LOOK) {
		n->wait -= LOOK;
		set_timer(n, LOOK);
		return;
	}
	if (n->state != NEURON_DYING)
		blame(n);
	if (n->state == NEURON_DYING)
		dying(n);
	else if (n->state == NEURON_WAITING)
		neuron_end(n, GONE_FAILED, "no namespaces were ready within "
		    "%u s", build_time(n) / 1000);
	else if (n->state != NEURON_UP_)
		neuron_end(n, GONE_FAILED, "it was not up within %u s",
		    build_time(n) / 1000);
}

/* ---- the beginning ---- */

static struct neuron *
neuron_new(const struct neuron_request *req, const struct limits *limits)
{
	struct neuron *n;

	if ((n = calloc(1, sizeof(*n))) == NULL ||
	    (n->workspace = strdup(req->workspace)) == NULL ||
	    (n->timer = evtimer_new(proc_base(), on_timer, n)) == NULL)
		fatal("neuron");
	memcpy(n->id, req->id, sizeof(n->id));
	n->limits = *limits;
	n->owner = req->owner;
	n->tree = n->pidfd = n->home = n->home_lock = -1;
	n->persistent = req->persistent;
	listeners_init(&n->listeners, 0);
	n->asked = now_us();
	TAILQ_INIT(&n->calls);
	TAILQ_INSERT_TAIL(&neurons, n, entry);
	if (n->id[0] != '\0')
		live++;
	waiting++;	/* state NEURON_WAITING is 0 */
	n->wait = build_time(n);
	set_timer(n, LOOK);
	return (n);
}

/* NULL if it may be made; *limits is then its profile's. */
static const char *
refused(const struct neuron_request *req, const struct slice *s,
    const struct limits **limits)
{
	static char words[PATH_BYTES_MAX + 160];
	const struct cf_principal *p;
	const char *why;

	*limits = settings_profile(s, req->profile);
	if (req->line >= s->nprincipals)
		return ("there is no such principal line");
	p = &s->principals[req->line];
	if (*limits == NULL || (p->profiles.n > 0 &&
	    !strings_has(&p->profiles, req->profile)) || (p->profiles.n == 0 &&
	    strcmp(req->profile, "default") != 0))
		return ("the profile is not one of the principal's line");
	if (live >= s->limits.v[LIMIT_NEURONS]) {
		snprintf(words, sizeof(words), "%llu neurons live already "
		    "(neurons)", (unsigned long long)
		    s->limits.v[LIMIT_NEURONS]);
		return (words);
	}
	if (req->workspace[0] == '\0')
		return (NULL);
	why = workspace_refused(p, &req->owner, req->workspace, s->state);
	if (why == NULL && settings_shows(s, req->profile, req->workspace))
		why = "meets a mount of the profile";
	if (why == NULL)
		return (NULL);
	snprintf(words, sizeof(words), "workspace %s %s", req->workspace, why);
	return (words);
}

void
neuron_make(const struct neuron_request *req)
{
	const struct slice *s = settings_of(req->generation);
	const struct limits *limits = NULL;
	const char *why = NULL;
	struct neuron *n;

	FAULT("neuron.asked");
	if (s != NULL)
		why = refused(req, s, &limits);
	if (s != NULL && why == NULL && pool_serve(req, s, limits))
		return;
	if (limits == NULL)
		limits = settings_profile(settings(), "default");
	n = neuron_new(req, limits);
	if (s == NULL)
		neuron_end(n, GONE_FAILED, "generation %u of the "
		    "configuration is not in force", req->generation);
	else if (why != NULL || (n->persistent != HOME_NONE &&
	    (why = home_refused(n)) != NULL))
		neuron_end(n, GONE_REFUSED, "%s", why);
	else {
		if (!req->no_egress)
			listeners_init(&n->listeners,
			    settings_listeners(s, req->profile));
		n->strict = settings_strict(s, req->profile);
		n->read_only = req->read_only ||
		    settings_read_only(s, req->profile);
		shown_init(&n->shown, settings_trees(s, req->profile));
		try_build(n);
	}
}

/* The stock was made for the default profile, the pool for any. */
static int
fit_cgroups(struct slot *s, const struct limits *limits, const char **failed)
{
	*failed = "";
	if (memcmp(&s->limits, limits, sizeof(*limits)) == 0)
		return (0);
	if (cg_limit(slots_base(), &s->cg, limits, failed) == -1)
		return (-1);
	s->limits = *limits;
	return (0);
}

static uint32_t
build_flags(const struct neuron *n)
{
	return ((n->limits.v[LIMIT_PTY] != 0 ? 0 : BUILD_F_NO_PTY) |
	    (n->listeners.n > 0 ? BUILD_F_EGRESS : 0) |
	    (n->home != -1 ? BUILD_F_HOME : 0) |
	    (n->strict ? BUILD_F_STRICT : 0) |
	    (n->read_only ? BUILD_F_READ_ONLY : 0) |
	    (n->shown.root ? BUILD_F_ROOT : 0) |
	    (n->shown.overlay ? BUILD_F_OVERLAY : 0));
}

static void
start_build(struct neuron *n)
{
	struct imsg *m;
	struct slot *s = n->slot;
	const char *failed;
	int fds[2], tasks[CG_CONTROLLERS], ntasks, i;

	if (fit_cgroups(s, &n->limits, &failed) == -1) {
		neuron_end(n, GONE_FAILED, "%s: %s", failed,
		    strerrordesc_np(errno));
		return;
	}
	if ((ntasks = cg_tasks(slots_base(), &s->cg, tasks)) == -1 ||
	    channel_pair(fds) == -1) {
		neuron_end(n, GONE_FAILED, "cgroup tasks: %s",
		    strerrordesc_np(errno));
		return;
	}
	FAULT("neuron.build");
	slot_unmap(s);
	set_state(n, NEURON_BUILDING);
	n->channel = neuron_init_channel(n, fds[0]);
	m = imsg_new(MSG_BUILD);
	imsg_put_u32(m, s->n);
	imsg_put_u32(m, s->generation);
	imsg_put_u32(m, s->kuid);
	imsg_put_u64(m, n->limits.v[LIMIT_HOME]);
	imsg_put_u64(m, n->limits.v[LIMIT_TMP]);
	imsg_put_u64(m, n->limits.v[LIMIT_INODES]);
	imsg_put_u32(m, (uint32_t)n->limits.v[LIMIT_NOFILE]);
	imsg_put_u32(m, build_flags(n));
	imsg_put_u8(m, (uint8_t)ntasks);
	imsg_put_u8(m, (uint8_t)(n->shown.have - (n->shown.root != 0)));
	imsg_put_str(m, n->workspace);
	imsg_put_str(m, n->shown.at == NULL ? "" : n->shown.at);
	imsg_put_fd(m, fds[1]);
	/* The message owns what it carries; these two are needed once. */
	imsg_put_fd(m, s->user_ns);
	imsg_put_fd(m, s->net_ns);
	s->user_ns = s->net_ns = -1;
	imsg_put_fd(m, dup(s->cg.v2));
	for (i = 0; i < ntasks; i++)
		imsg_put_fd(m, tasks[i]);
	if (n->workspace[0] != '\0')
		imsg_put_fd(m, n->tree);
	n->tree = -1;
	if (n->home != -1)
		imsg_put_fd(m, n->home);
	n->home = -1;
	shown_give(&n->shown, m);
	if (helper_send(HELPER_SPAWNER, m) == -1)
		neuron_end(n, GONE_FAILED, "the spawner is gone");
	FAULT("neuron.build-sent");
	slots_poke();
}

void
neuron_ahead(const struct cf_profile *profile, struct slot *slot)
{
	static const struct neuron_request nobody;
	struct neuron *n = neuron_new(&nobody, &profile->limits);

	n->slot = slot;
	pool_add(&n->pooled, n, profile);
	start_build(n);
}

int
neuron_take(struct neuron *n, const struct neuron_request *req,
    const struct limits *limits)
{
	struct pollfd pfd = { .fd = n->pidfd, .events = POLLIN };
	const char *failed;

	/* It may have died, and SIGCHLD be on its way; or it was built before
	 * a reload asked for more layers. */
	if (n->state != NEURON_UP_ || poll(&pfd, 1, 0) != 0 ||
	    neuron_init_missing(n) != 0 ||
	    fit_cgroups(n->slot, limits, &failed) == -1)
		return (-1);
	memcpy(n->id, req->id, sizeof(n->id));
	n->limits = *limits;
	n->owner = req->owner;
	n->asked = now_us();
	live++;
	neuron_init_tell(n);
	return (0);
}

/* As far as stock and helpers let it. */
static void
try_build(struct neuron *n)
{
	int placed, homed, shown;

	if (n->state != NEURON_WAITING || !helper_is_up(HELPER_SPAWNER))
		return;
	if (n->slot == NULL && (n->slot = slot_take()) == NULL) {
		slots_poke();
		return;
	}
	placed = n->workspace[0] == '\0' || n->placed;
	homed = n->persistent == HOME_NONE || n->home_lock != -1;
	shown = !shown_wanting(&n->shown);
	if (placed && homed && shown &&
	    (n->listeners.which == 0 || n->listeners.n > 0)) {
		start_build(n);
		return;
	}
	if (!helper_is_up(HELPER_MAKER))
		return;
	set_state(n, NEURON_WALKING);
	if (!placed && n->place != NULL)
		place_ask(n);
	else if ((!placed ? neuron_walk(n) : !homed ? home_ask(n) :
	    !shown ? shown_ask(n) :
	    listeners_ask(n->slot, n->listeners.which)) == -1)
		neuron_end(n, GONE_FAILED, "the maker is gone");
	FAULT("neuron.walk-sent");
}

void
neurons_poke(void)
{
	struct neuron *n, *next;

	for (n = TAILQ_FIRST(&neurons); waiting > 0 && n != NULL; n = next) {
		next = TAILQ_NEXT(n, entry);
		if (n->state == NEURON_WAITING)
			try_build(n);
	}
}

/* ---- what the helpers say ---- */

struct neuron *
neuron_of_slot(uint32_t slot, uint32_t generation)
{
	struct slot *s = slot_find(slot, generation);
	struct neuron *n;

	TAILQ_FOREACH(n, &neurons, entry)
		if (s != NULL && n->slot == s)
			return (n);
	return (NULL);
}

void
neuron_walked_on(struct neuron *n)
{
	set_state(n, NEURON_WAITING);
	try_build(n);
}

int
neuron_on_built(void *arg, struct imsg *m)
{
	uint32_t slot, generation, error;
	struct neuron *n;
	int32_t pid;

	(void)arg;
	slot = imsg_get_u32(m);
	generation = imsg_get_u32(m);
	pid = imsg_get_i32(m);
	error = imsg_get_u32(m);
	if (imsg_end(m) == -1 || imsg_fds(m) != (error == 0 ? 1U : 0U) ||
	    (error == 0 && pid <= 1))
		return (-1);
	if ((n = neuron_of_slot(slot, generation)) == NULL || n->built)
		return (0);	/* its cgroup was killed and removed */
	if (error != 0) {
		neuron_end(n, GONE_FAILED, "the neuron could not be cloned: "
		    "%s", strerrordesc_np((int)error));
		return (0);
	}
	FAULT("neuron.built");
	n->pidfd = imsg_claim_fd(m, 0);
	n->built = 1;
	/* ESRCH: it died, and was reaped before we knew whose it was. */
	if (syscall(SYS_pidfd_send_signal, n->pidfd, 0, NULL, 0) == 0)
		n->pid = pid;
	if (n->state == NEURON_DYING)
		kill_all(n);
	else
		neuron_init_check(n);
	return (0);
}

void
neurons_helper_down(enum helper_which which)
{
	struct neuron *n, *next;

	for (n = TAILQ_FIRST(&neurons); n != NULL; n = next) {
		next = TAILQ_NEXT(n, entry);
		if (which == HELPER_MAKER && n->state == NEURON_WALKING)
			set_state(n, NEURON_WAITING);
		/* What it got with BUILD is gone; init may run or not. */
		if (which == HELPER_SPAWNER && n->state == NEURON_BUILDING &&
		    !n->built)
			neuron_end(n, GONE_FAILED, "the spawner died");
	}
}

int
neuron_reaped(pid_t pid)
{
	struct neuron *n;

	TAILQ_FOREACH(n, &neurons, entry) {
		if (n->pid != pid)
			continue;
		n->pid = 0;
		if (n->state == NEURON_DYING)
			set_timer(n, 0);
		else
			neuron_init_lost(n);
		return (1);
	}
	return (0);
}

void
neurons_tell_listeners(void)
{
	struct neuron *n;

	/* One on its way up tells them by itself. */
	TAILQ_FOREACH(n, &neurons, entry)
		if (n->state == NEURON_UP_)
			listeners_tell(n);
}

void
neurons_end_all(const char *why)
{
	struct neuron *n, *next;

	for (n = TAILQ_FIRST(&neurons); n != NULL; n = next) {
		next = TAILQ_NEXT(n, entry);
		/* Nobody asked for it; one line for all is in the log. */
		if (n->state != NEURON_DYING)
			begin_to_die(n, GONE_LOST, strdup(why));
	}
}
