/*
 * What policyd asks for.  It is believed in what it decides (which call of
 * which neuron), never in what a neuron is: profile, paths and owners are
 * compared with our own slice.
 */
#include <string.h>

#include "call.h"
#include "helper.h"
#include "home.h"
#include "imsg.h"
#include "launch.h"
#include "log.h"
#include "neuron.h"
#include "pool.h"
#include "proc.h"
#include "settings.h"
#include "signals.h"
#include "without.h"

static struct channel *channel;

void
launch_send(struct imsg *m)
{
	channel_send(channel, m);
}

int
launch_is_up(void)
{
	return (channel != NULL);
}

static int
on_make(void *arg, struct imsg *m)
{
	static struct neuron_request req;
	const uint8_t *groups;
	size_t size, i;

	(void)arg;
	memset(&req, 0, sizeof(req));
	req.generation = imsg_get_u32(m);
	req.line = imsg_get_u32(m);
	req.no_egress = (req.line & MAKE_F_NO_EGRESS) != 0;
	if (req.line & MAKE_F_PERSISTENT)
		req.persistent = req.line & MAKE_F_KEPT ? HOME_KEPT : HOME_OWN;
	req.read_only = (req.line & MAKE_F_READ_ONLY) != 0 &&
	    !WITHOUT(workspace_read_only);
	req.line &= ~(MAKE_F_NO_EGRESS | MAKE_F_PERSISTENT | MAKE_F_KEPT |
	    MAKE_F_READ_ONLY);
	req.owner.uid = imsg_get_u32(m);
	req.owner.gid = imsg_get_u32(m);
	groups = imsg_get_bytes(m, &size);
	if (size % 4 != 0 || size / 4 > GROUPS_MAX)
		return (-1);
	for (i = 0; i < size / 4; i++)
		req.owner.groups[i] = (gid_t)groups[4 * i] |
		    (gid_t)groups[4 * i + 1] << 8 |
		    (gid_t)groups[4 * i + 2] << 16 |
		    (gid_t)groups[4 * i + 3] << 24;
	req.owner.ngroups = size / 4;
	imsg_get_str(m, req.id, sizeof(req.id));
	imsg_get_str(m, req.profile, sizeof(req.profile));
	imsg_get_str(m, req.workspace, sizeof(req.workspace));
	if (imsg_end(m) == -1 || !id_ok(ID_NEURON, req.id) ||
	    neuron_find(req.id) != NULL)
		return (-1);
	/* What came before it is settled: no older line is named any more. */
	if (req.generation == settings()->generation)
		settings_forget();
	neuron_make(&req);
	return (0);
}

static int
on_drop(void *arg, struct imsg *m)
{
	struct neuron *n;
	char id[ID_SIZE];

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	/* It may have gone by itself at the same time. */
	if ((n = neuron_find(id)) != NULL)
		neuron_end(n, GONE_DROPPED, "dropped");
	return (0);
}

static int
on_launch(void *arg, struct imsg *m)
{
	struct call_request req;
	unsigned stdin_kind;

	(void)arg;
	memset(&req, 0, sizeof(req));
	req.timeout = imsg_get_u32(m);
	stdin_kind = imsg_get_u8(m);
	imsg_get_str(m, req.neuron, sizeof(req.neuron));
	imsg_get_str(m, req.call, sizeof(req.call));
	imsg_get_str(m, req.session, sizeof(req.session));
	if (imsg_end(m) == -1 || stdin_kind > STDIN_STREAM ||
	    req.timeout == 0 || !id_ok(ID_CALL, req.call) ||
	    imsg_fds(m) != (stdin_kind == STDIN_NONE ? 3U : 4U) ||
	    neurons_find_call(req.call) != NULL)
		return (-1);
	req.block = imsg_claim_fd(m, 0);
	req.out = imsg_claim_fd(m, 1);
	req.err = imsg_claim_fd(m, 2);
	req.in = imsg_claim_fd(m, 3);
	call_launch(&req);
	return (0);
}

static int
on_kill(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	unsigned cause;

	(void)arg;
	cause = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || cause < END_TIMED_OUT ||
	    cause > END_NEURON_LOST)
		return (-1);
	call_kill(id, cause);
	return (0);
}

static int
on_signal(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	uint32_t sig;

	(void)arg;
	sig = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || signal_name(sig) == NULL)
		return (-1);
	call_signal(id, sig);
	return (0);
}

static int
on_listeners_again(void *arg, struct imsg *m)
{
	(void)arg;
	if (imsg_end(m) == -1)
		return (-1);
	if (!WITHOUT(listeners_again))
		neurons_tell_listeners();
	return (0);
}

static int
on_resize(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	uint32_t size;

	(void)arg;
	size = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1 || !PTY_SIZE_OK(size))
		return (-1);
	call_resize(id, size);
	return (0);
}

/*
 * Nothing runs without somebody who answers for it.  Closed at once: a
 * policyd that lives must not wait for answers to what it sent.
 */
static void
on_dead(void *arg, const char *reason)
{
	struct channel *dead = channel;

	(void)arg;
	channel = NULL;
	log_info("policyd is gone (%s): all neurons end", reason);
	neurons_end_all("policyd is gone");
	channel_free(dead);
	proc_channel_lost(CH_LAUNCH);
}

static const struct channel_handler handlers[] = {
	{ MSG_NEURON_MAKE,	on_make },
	{ MSG_NEURON_DROP,	on_drop },
	{ MSG_LAUNCH,		on_launch },
	{ MSG_KILL,		on_kill },
	{ MSG_CALL_SIGNAL,	on_signal },
	{ MSG_CALL_RESIZE,	on_resize },
	{ MSG_LISTENERS_AGAIN,	on_listeners_again },
	{ MSG_HOMES_ASK,	home_on_ask },
	{ MSG_HOME_DROP,	home_on_drop }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_dead
};

void
launch_plumb(int fd)
{
	struct channel *old = channel;

	channel = NULL;
	if (old != NULL)
		neurons_end_all("policyd was started again");
	channel_free(old);
	channel = channel_new(fd, CH_LAUNCH, END_B, &ops, NULL);
	if (channel == NULL || channel_attach(channel, proc_base()) == -1)
		fatalx("launch channel");
	helpers_report();
	pool_report();
	pool_poke();
}
