/* The channels between children, and what policyd is told of them. */
#include <unistd.h>

#include "supervisor.h"

/* END_A, END_B and the kind: who may speak to whom. */
static const struct {
	enum channel_kind	 kind;
	enum child_id		 ends[2];
} links[] = {
	{ CH_AGENT,	{ CHILD_POLICYD, CHILD_APID } },
	{ CH_OPERATOR,	{ CHILD_POLICYD, CHILD_APID_OPERATOR } },
	{ CH_JUDGE,	{ CHILD_POLICYD, CHILD_JUDGED } },
	{ CH_LAUNCH,	{ CHILD_POLICYD, CHILD_NEUROND } },
};

#define NLINKS	(sizeof(links) / sizeof(links[0]))

/*
 * An end for a child that is not there, or not yet, is closed: its neighbour
 * sees a dead channel, as it would if the child had just died, and gets a
 * new end when it is up.
 */
static void
give(struct child *c, enum channel_kind kind, int fd)
{
	struct imsg *m;

	if (!child_committed(c) || c->control == NULL) {
		(void)close(fd);
		return;
	}
	m = imsg_new(MSG_PLUMB);
	imsg_put_u32(m, kind);
	imsg_put_fd(m, fd);
	(void)channel_send(c->control, m);
}

void
plumb(struct supervisor *sv, struct child *c)
{
	struct child *a, *b;
	int fds[2];
	size_t i;

	for (i = 0; i < NLINKS; i++) {
		a = &sv->children[links[i].ends[0]];
		b = &sv->children[links[i].ends[1]];
		if (c != NULL && c != a && c != b)
			continue;
		if (channel_pair(fds) == -1) {
			log_warn("channel %s", channel_name(links[i].kind));
			continue;
		}
		give(a, links[i].kind, fds[0]);
		give(b, links[i].kind, fds[1]);
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
