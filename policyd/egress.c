/* The channel to egressd, and the listeners that go through here. */

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "conf.h"
#include "egress.h"
#include "egress_internal.h"
#include "launch.h"
#include "neuron.h"
#include "proc.h"
#include "session.h"
#include "without.h"

#define DRAIN_ROUNDS	8	/* of 64 messages: more than a socket holds */
#define LISTENER_ALL	(LISTENER_PROXY | LISTENER_TLS | LISTENER_PLAIN | \
			LISTENER_DNS)

static void	egress_dead(void *, const char *);

static const struct channel_handler handlers[] = {
	{ MSG_EGRESS_ENDED,	egress_on_ended },
	{ MSG_EGRESS_GRANTED,	egress_on_granted },
	{ MSG_EGRESS_SPENT,	egress_on_spent },
	{ MSG_EGRESS_DENIED,	egress_on_denied },
	{ MSG_EGRESS_LOG,	egress_on_log },
};

const struct channel_ops egress_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = egress_dead,
};

static struct channel	*egress;
static unsigned		 generation;	/* of the channel: goes up */

void
egress_plumb(int fd, struct event_base *base)
{
	const struct neuron *n;

	egress_lost();
	if ((egress = channel_new(fd, CH_EGRESS, END_A, &egress_ops, NULL)) ==
	    NULL || channel_attach(egress, base) == -1)
		fatalx("the channel to egressd can not be made");
	generation++;
	/* the others' are still to come */
	TAILQ_FOREACH(n, neuron_all(), order) {
		if (n->egress == NULL)
			continue;
		(void)launch_listeners();
		break;
	}
}

void
egress_lost(void)
{
	struct channel *old = egress;

	egress = NULL;
	channel_free(old);
	egress_runs_lost();
}

static void
egress_dead(void *arg, const char *reason)
{
	(void)arg;
	log_info("egressd is gone: %s", reason);
	egress_lost();
	proc_channel_lost(CH_EGRESS);
}

int
egress_up(void)
{
	return (egress != NULL && channel_reason(egress) == NULL);
}

unsigned
egress_generation(void)
{
	return (egress_up() ? generation : 0);
}

struct imsg *
egress_new(enum msg_type type)
{
	struct imsg *m;

	if ((m = imsg_new(type)) == NULL)
		fatal("egress");
	return (m);
}

int
egress_send(struct imsg *m)
{
	return (channel_send(egress, m));
}

void
egress_drain(void)
{
	int i;

	for (i = 0; i < DRAIN_ROUNDS && egress_up() &&
	    !WITHOUT(egress_drain); i++) {
		if (channel_dispatch(egress, 64) < 64)
			break;
	}
}

/* ---- listeners ---- */

int
egress_has(const struct neuron *n)
{
	return (n->egress != NULL && egress_up() &&
	    n->egress->generation == generation);
}

static void
open_neuron(struct neuron *n, struct imsg *from)
{
	struct imsg *m = egress_new(MSG_EGRESS_OPEN);
	unsigned i;

	imsg_put_u8(m, (uint8_t)n->egress->which);
	imsg_put_str(m, n->id);
	imsg_put_str(m, n->build.profile);
	for (i = 0; i < imsg_fds(from); i++)
		imsg_put_fd(m, imsg_claim_fd(from, i));
	if (egress_send(m) == -1)
		return;
	n->egress->generation = generation;
	egress_tell_grants(n);
	egress_tell_calls(n);
}

/*
 * A hook's neuron has no egress, whatever its profile says: it belongs to no
 * session and no call, and egressd never hears of it.
 */
int
egress_on_listener(void *arg, struct imsg *m)
{
	struct neuron *n;
	char id[ID_SIZE];
	unsigned which;

	(void)arg;
	which = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || (which & ~(unsigned)LISTENER_ALL) != 0 ||
	    (unsigned)__builtin_popcount(which) != imsg_fds(m))
		return (-1);
	n = neuron_find(id);
	if (n == NULL || (n->state != NEURON_MAKING &&
	    n->state != NEURON_UP) || (n->session == NULL && n->call == NULL))
		return (0);
	if (n->egress == NULL) {
		if ((n->egress = calloc(1, sizeof(*n->egress))) == NULL)
			fatal("egress");
		TAILQ_INIT(&n->egress->grants);
		n->egress->which = which;
	}
	if (n->egress->which != which)
		return (-1);
	/* it may come twice: as it was made, and because it was asked for */
	if (egress_up() && n->egress->generation != generation)
		open_neuron(n, m);
	return (0);
}

void
egress_neuron_gone(struct neuron *n)
{
	struct imsg *m;

	if (n->egress == NULL)
		return;
	if (egress_has(n)) {
		m = egress_new(MSG_EGRESS_CLOSE);
		imsg_put_str(m, n->id);
		(void)egress_send(m);
	}
	egress_held_end(n->id, n->egress);
	egress_grants_free(n->egress);
	free(n->egress);
	n->egress = NULL;
}

/* ---- what judged is told ---- */

/*
 * A neuron has what it was made with; its profile's lines are those of now,
 * as they are for egressd.
 */
unsigned
egress_flags(const struct call *c)
{
	const struct cf_profile *p;
	const struct neuron *n = c->neuron;

	if (n == NULL && c->session != NULL)
		n = c->session->neuron;
	if (WITHOUT(egress_flags))
		return (0);
	p = slice_profile(conf(), call_build(c)->profile);
	if (n != NULL && n->state == NEURON_UP ? n->egress == NULL :
	    p == NULL || !p->egress.on)
		return (0);
	if ((p != NULL && p->egress.on && egress_allows(&p->egress)) ||
	    (n != NULL && egress_granted(n)))
		return (JUDGE_F_EGRESS | JUDGE_F_GRANTS);
	return (JUDGE_F_GRANTS);
}
