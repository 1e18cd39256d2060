/* The channels between children, and what policyd is told of them. */
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "supervisor.h"

/* Time for a death that explains a lost channel to be seen. */
#define RELINK_MS	1000

/* END_A, END_B and the kind: who may speak to whom. */
static const struct {
	enum channel_kind	 kind;
	enum child_id		 ends[2];
} links[LINK_COUNT] = {
	{ CH_AGENT,	{ CHILD_POLICYD, CHILD_APID } },
	{ CH_OPERATOR,	{ CHILD_POLICYD, CHILD_APID_OPERATOR } },
	{ CH_JUDGE,	{ CHILD_POLICYD, CHILD_JUDGED } },
	{ CH_LAUNCH,	{ CHILD_POLICYD, CHILD_NEUROND } },
	{ CH_EGRESS,	{ CHILD_POLICYD, CHILD_EGRESSD } },
};

/*
 * An end for a child that is not there, or not yet, is closed: its neighbour
 * sees a dead channel, as it would if the child had just died, and gets a
 * new end when it is up.
 */
static void
give(struct child *c, size_t link, int fd)
{
	struct imsg *m;

	if (!child_committed(c) || c->control == NULL) {
		(void)close(fd);
		return;
	}
	m = imsg_new(MSG_PLUMB);
	imsg_put_u32(m, links[link].kind);
	imsg_put_fd(m, fd);
	if (channel_send(c->control, m) == 0)
		c->given[link]++;
}

void
plumb(struct supervisor *sv, struct child *c)
{
	struct child *a, *b;
	int fds[2];
	size_t i;

	for (i = 0; i < LINK_COUNT; i++) {
		a = &sv->children[links[i].ends[0]];
		b = &sv->children[links[i].ends[1]];
		if (c != NULL && c != a && c != b)
			continue;
		if (channel_pair(fds) == -1) {
			log_warn("channel %s", channel_name(links[i].kind));
			continue;
		}
		if (sv->relink[i].timer != NULL)
			(void)event_del(sv->relink[i].timer);
		give(a, i, fds[0]);
		give(b, i, fds[1]);
	}
}

/* ---- channels that died alone ---- */

/*
 * Both ends live, and their channel does not: one of them sent what can't be
 * right, or was out of descriptors.  Of the two it is never policyd that is
 * started again: all others would lose their channels with it.
 */
static void
relink(evutil_socket_t fd, short what, void *arg)
{
	const struct relink *r = arg;
	const struct child *a = &r->sv->children[links[r->link].ends[0]];
	struct child *b = &r->sv->children[links[r->link].ends[1]];

	(void)fd;
	(void)what;
	/* One that is being started gets new ends when it is there. */
	if (r->sv->phase != PHASE_RUN || a->state != CHILD_UP ||
	    b->state != CHILD_UP)
		return;
	log_warnx("the channel %s is dead, though %s and %s live: %s (pid %d) "
	    "is started again", channel_name(links[r->link].kind),
	    a->spec->name, b->spec->name, b->spec->name, (int)b->pid);
	child_kill(b);
}

static void
relink_later(struct supervisor *sv, size_t link)
{
	const struct timeval tv = { RELINK_MS / 1000, 0 };
	struct relink *r = &sv->relink[link];

	if (r->timer == NULL) {
		r->sv = sv;
		r->link = link;
		r->timer = evtimer_new(sv->base, relink, r);
	}
	if (r->timer == NULL || event_add(r->timer, &tv) == -1)
		fatalx("timer");
}

int
plumb_lost(struct supervisor *sv, const struct child *c, uint32_t kind,
    uint32_t ends)
{
	size_t i;

	for (i = 0; i < LINK_COUNT; i++) {
		if (links[i].kind != kind ||
		    (c != &sv->children[links[i].ends[0]] &&
		    c != &sv->children[links[i].ends[1]]))
			continue;
		if (ends == 0 || ends > c->given[i])
			return (-1);
		/* Of an older one: a newer is on its way already. */
		if (ends == c->given[i])
			relink_later(sv, i);
		return (0);
	}
	return (-1);
}

void
plumb_end(struct supervisor *sv)
{
	size_t i;

	for (i = 0; i < LINK_COUNT; i++) {
		if (sv->relink[i].timer != NULL)
			event_free(sv->relink[i].timer);
		sv->relink[i].timer = NULL;
	}
}

/* ---- PROCS ---- */

static void
send_procs(struct child *to, const char *name, pid_t pid, uint32_t restarts,
    enum proc_status status)
{
	struct imsg *m;

	if (!child_committed(to) || to->control == NULL)
		return;
	m = imsg_new(MSG_PROCS);
	imsg_put_i32(m, pid);
	imsg_put_u32(m, restarts);
	imsg_put_u8(m, (uint8_t)status);
	imsg_put_str(m, name);
	(void)channel_send(to->control, m);
}

void
procs_changed(struct child *c)
{
	struct child *policyd = &c->sv->children[CHILD_POLICYD];

	if (c->state != CHILD_ABSENT)
		send_procs(policyd, c->spec->name, c->pid, c->restarts,
		    child_status(c));
}

void
procs_all(struct supervisor *sv)
{
	struct child *policyd = &sv->children[CHILD_POLICYD];
	size_t i;

	send_procs(policyd, "myelind", getpid(), 0, PROC_ST_UP);
	for (i = 0; i < CHILD_COUNT; i++)
		procs_changed(&sv->children[i]);
}
