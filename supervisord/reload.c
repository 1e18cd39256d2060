/*
 * Another configuration while the service runs: for all processes, or for
 * none.
 *
 * The new generation is read and asked about beside the one in force.  It is
 * put in force in the order of commit_order, each child's answer awaited
 * before the next is told: neurond knows the new principal lines before
 * policyd names one, and the old ones for a while longer.
 */
#include <event2/event.h>
#include <sys/resource.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "notify.h"
#include "supervisor.h"

#define ANSWER_MS	10000	/* for CONFIG_OK of all, for each COMMITTED */

static const enum child_id commit_order[] = {
	CHILD_NEUROND, CHILD_JUDGED, CHILD_EGRESSD, CHILD_POLICYD, CHILD_APID,
	CHILD_APID_OPERATOR
};

#define NORDER	(sizeof(commit_order) / sizeof(commit_order[0]))

static void	next_turn(struct supervisor *);

void
complain(struct supervisor *sv, const char *fmt, ...)
{
	struct reload *r = &sv->reload;
	char words[PATH_BYTES_MAX + 1200];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	log_warnx("%s", words);
	/* The first error is the one that a person mends first. */
	if (r->phase != RELOAD_IDLE && r->words[0] == '\0')
		(void)strlcpy(r->words, words, sizeof(r->words));
}

/* ---- its end ---- */

void
reload_tell(struct supervisor *sv, bool news)
{
	struct child *policyd = &sv->children[CHILD_POLICYD];
	const struct reload *r = &sv->reload;
	struct imsg *m;

	if (!child_committed(policyd) || policyd->control == NULL)
		return;
	m = imsg_new(MSG_RELOAD);
	imsg_put_u32(m, sv->feed.generation);
	imsg_put_u8(m, (uint8_t)r->result);
	imsg_put_u8(m, news);
	imsg_put_str(m, r->words);
	(void)channel_send(policyd->control, m);
}

static void
over(struct supervisor *sv, enum reload_result result)
{
	struct reload *r = &sv->reload;

	(void)event_del(r->timer);
	r->phase = RELOAD_IDLE;
	r->result = result;
	conf_free(r->conf);
	r->conf = NULL;
	feed_close(&r->feed);
	if (result == RELOAD_OK) {
		log_info("reload: generation %u is in force",
		    sv->feed.generation);
		notify_send("READY=1\nSTATUS=generation %u in force",
		    sv->feed.generation);
	} else {
		log_warnx("reload refused: generation %u stays in force",
		    sv->feed.generation);
		notify_send("READY=1\nSTATUS=reload refused: %.300s",
		    r->words);
	}
	reload_tell(sv, true);
	if (r->more) {
		r->more = false;
		reload_ask(sv);
	}
}

static void
refuse(struct supervisor *sv)
{
	struct reload *r = &sv->reload;
	struct child *c;
	size_t i;

	for (i = 0; r->phase == RELOAD_ASKING && i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state == CHILD_UP)
			(void)child_send(c, MSG_ABORT, r->tried);
	}
	over(sv, RELOAD_REFUSED);
}

/* ---- putting it in force ---- */

/* judged says what tools there are before its first call, and only then. */
static void
start_afresh(struct child *c)
{
	log_info("%s is started again: other tools are declared",
	    c->spec->name);
	c->planned = true;
	child_stop(c, c->spec->stop_ms);
}

static void
turn_in(struct supervisor *sv, int ms)
{
	const struct timeval tv = { ms / 1000, (ms % 1000) * 1000 };

	if (event_add(sv->reload.timer, &tv) == -1)
		fatalx("reload: timer");
}

/* Tells the next one; who died meanwhile has it since, or will. */
static void
next_turn(struct supervisor *sv)
{
	struct reload *r = &sv->reload;
	struct child *c;

	for (; r->turn < NORDER; r->turn++) {
		c = &sv->children[commit_order[r->turn]];
		if (c->state != CHILD_UP || !c->agreed)
			continue;
		c->agreed = false;
		if (c->spec == &child_table[CHILD_JUDGED] && r->other_tools) {
			start_afresh(c);
			continue;
		}
		if (child_send(c, MSG_COMMIT, r->tried) == -1)
			continue;
		turn_in(sv, ANSWER_MS);
		return;
	}
	over(sv, RELOAD_OK);
}

/* From here on there is no way back. */
static void
commit(struct supervisor *sv)
{
	struct reload *r = &sv->reload;
	struct conf *old_conf = sv->conf;
	struct feed old_feed = sv->feed;
	struct child *c;
	size_t i;

	r->other_tools = !feed_same_tools(&sv->feed, &r->feed);
	sv->conf = r->conf;
	sv->feed = r->feed;
	r->conf = old_conf;
	r->feed = old_feed;
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->spec->plane != 0)
			sockets_take(c, sv->conf);
	}
	log_set_verbose(sv->opts->verbose || sv->conf->verbose);
	r->phase = RELOAD_COMMITTING;
	r->turn = 0;
	next_turn(sv);
}

int
reload_committed(struct child *c, uint32_t generation)
{
	struct supervisor *sv = c->sv;
	struct reload *r = &sv->reload;

	if (r->phase != RELOAD_COMMITTING || generation != r->tried ||
	    c != &sv->children[commit_order[r->turn]])
		return (-1);
	r->turn++;
	next_turn(sv);
	return (0);
}

/* ---- asking ---- */

int
reload_agreed(struct child *c, uint32_t generation)
{
	struct supervisor *sv = c->sv;
	struct reload *r = &sv->reload;
	size_t i;

	if (generation > r->tried)
		return (-1);
	/* Of one that was given up meanwhile: ABORT is on its way. */
	if (r->phase != RELOAD_ASKING || generation != r->tried)
		return (0);
	c->agreed = true;
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state == CHILD_UP && !c->agreed)
			return (0);
	}
	commit(sv);
	return (0);
}

int
reload_refused(struct child *c, uint32_t generation, const char *words)
{
	struct supervisor *sv = c->sv;
	struct reload *r = &sv->reload;

	if (generation > r->tried)
		return (-1);
	if (r->phase != RELOAD_ASKING || generation != r->tried)
		return (0);
	complain(sv, "%s", words);
	refuse(sv);
	return (0);
}

/*
 * More connections or calls need more open files, which the processes can't
 * give themselves.  They keep them if the reload is refused after all.
 */
static int
raise_files(struct supervisor *sv, struct child *c, const struct slice *s)
{
	uint32_t most = child_nofile(c, s);
	const struct rlimit rl = { most, most };

	if (most <= c->nofile)
		return (0);
	if (prlimit(c->pid, RLIMIT_NOFILE, &rl, NULL) == -1) {
		complain(sv, "%s: connections and calls need %u open files "
		    "in %s, which can't be given while it runs (%s): the "
		    "service must be started again for that",
		    sv->reload.conf->name, most, c->spec->name,
		    strerror(errno));
		return (-1);
	}
	c->nofile = most;
	return (0);
}

static void
ask_all(struct supervisor *sv)
{
	struct reload *r = &sv->reload;
	struct child *c;
	size_t i;

	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		c->agreed = false;
		if (c->state == CHILD_UP &&
		    raise_files(sv, c, r->conf->slice) == -1) {
			refuse(sv);
			return;
		}
	}
	r->phase = RELOAD_ASKING;
	turn_in(sv, ANSWER_MS);
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		/* Who can't be asked does not answer, or is told dead. */
		if (c->state == CHILD_UP)
			(void)feed_send(c, &r->feed, c->control);
	}
}

static void
begin(struct supervisor *sv)
{
	struct reload *r = &sv->reload;

	r->words[0] = '\0';
	r->tried++;
	feed_init(&r->feed);
	if ((r->conf = load(sv, r->path, &r->feed)) == NULL) {
		refuse(sv);
		return;
	}
	r->conf->slice->generation = r->tried;
	if (reload_same(sv, r->conf) == -1 ||
	    feed_encode(sv, r->conf, &r->feed) == -1) {
		refuse(sv);
		return;
	}
	ask_all(sv);
}

/* ---- what happens meanwhile ---- */

void
reload_poke(struct supervisor *sv)
{
	const struct child *c;
	size_t i;

	if (sv->reload.phase != RELOAD_WAITING || sv->phase != PHASE_RUN)
		return;
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state != CHILD_ABSENT && c->state != CHILD_FAILED &&
		    (c->state != CHILD_UP || c->stopping))
			return;
	}
	begin(sv);
}

void
reload_lost(struct child *c)
{
	struct supervisor *sv = c->sv;
	struct reload *r = &sv->reload;

	if (sv->phase != PHASE_RUN)
		return;
	if (r->phase == RELOAD_ASKING) {
		complain(sv, "%s ended before it answered to the new "
		    "configuration", c->spec->name);
		refuse(sv);
	} else if (r->phase == RELOAD_COMMITTING && r->turn < NORDER &&
	    c == &sv->children[commit_order[r->turn]]) {
		r->turn++;
		next_turn(sv);
	}
}

static void
timer_fired(evutil_socket_t fd, short what, void *arg)
{
	struct supervisor *sv = arg;
	struct reload *r = &sv->reload;
	struct child *c;
	size_t i;

	(void)fd;
	(void)what;
	if (r->phase == RELOAD_COMMITTING) {
		c = &sv->children[commit_order[r->turn]];
		log_warnx("%s (pid %d) did not put the new configuration in "
		    "force within %d s: killed", c->spec->name, (int)c->pid,
		    ANSWER_MS / 1000);
		child_kill(c);
		return;
	}
	for (i = 0; i < CHILD_COUNT; i++) {
		c = &sv->children[i];
		if (c->state == CHILD_UP && !c->agreed)
			complain(sv, "%s did not answer to the new "
			    "configuration within %d s", c->spec->name,
			    ANSWER_MS / 1000);
	}
	refuse(sv);
}

bool
reload_asks(const struct supervisor *sv)
{
	return (sv->reload.phase == RELOAD_ASKING ||
	    sv->reload.phase == RELOAD_COMMITTING);
}

static void
notify_reloading(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	notify_send("RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=reloading",
	    (long long)ts.tv_sec * 1000000 + ts.tv_nsec / 1000);
}

void
reload_ask(struct supervisor *sv)
{
	struct reload *r = &sv->reload;

	if (sv->phase == PHASE_STOP)
		return;
	if (sv->phase == PHASE_RUN)
		notify_reloading();
	if (r->phase != RELOAD_IDLE) {
		r->more = r->phase != RELOAD_WAITING;
		return;
	}
	if (r->timer == NULL &&
	    (r->timer = evtimer_new(sv->base, timer_fired, sv)) == NULL)
		fatalx("reload: timer");
	log_info("reload: %s", r->path);
	r->phase = RELOAD_WAITING;
	reload_poke(sv);
}

/* ---- start and end ---- */

void
reload_init(struct supervisor *sv)
{
	struct reload *r = &sv->reload;
	char path[PATH_BYTES_MAX], cwd[PATH_BYTES_MAX];

	feed_init(&r->feed);
	r->tried = sv->conf->slice->generation;
	if (load_path(sv->opts, path, sizeof(path)) == -1)
		fatalx("the configuration's path is too long");
	if (path[0] == '/') {
		if ((r->path = strdup(path)) == NULL)
			fatalx("out of memory");
	} else if (getcwd(cwd, sizeof(cwd)) == NULL)
		fatal("working directory");
	else if (asprintf(&r->path, "%s/%s", cwd, path) == -1)
		fatalx("out of memory");
}

void
reload_end(struct supervisor *sv)
{
	struct reload *r = &sv->reload;

	r->phase = RELOAD_IDLE;
	if (r->timer != NULL)
		event_free(r->timer);
	r->timer = NULL;
	conf_free(r->conf);
	r->conf = NULL;
	feed_close(&r->feed);
}
