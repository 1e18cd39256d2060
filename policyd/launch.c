/* The channel to neurond. */

#include <string.h>
#include <unistd.h>

#include "call.h"
#include "egress.h"
#include "home.h"
#include "hook.h"
#include "launch.h"
#include "neuron.h"
#include "policyd.h"

static int	on_neuron_up(void *, struct imsg *);
static int	on_neuron_gone(void *, struct imsg *);
static int	on_started(void *, struct imsg *);
static int	on_ended(void *, struct imsg *);
static int	on_helper(void *, struct imsg *);
static int	on_pool(void *, struct imsg *);
static void	launch_dead(void *, const char *);

static const struct channel_handler handlers[] = {
	{ MSG_NEURON_UP,	on_neuron_up },
	{ MSG_NEURON_GONE,	on_neuron_gone },
	{ MSG_STARTED,		on_started },
	{ MSG_ENDED,		on_ended },
	{ MSG_HELPER,		on_helper },
	{ MSG_POOL,		on_pool },
	{ MSG_LISTENER,		egress_on_listener },
	{ MSG_HOME,		home_on_home },
	{ MSG_HOMES_END,	home_on_end },
	{ MSG_HOME_DROPPED,	home_on_dropped },
};

const struct channel_ops launch_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = launch_dead,
};

static struct channel *launch;

void
launch_plumb(int fd, struct event_base *base)
{
	launch_lost();
	if ((launch = channel_new(fd, CH_LAUNCH, END_A, &launch_ops, NULL)) ==
	    NULL || channel_attach(launch, base) == -1)
		fatalx("the channel to neurond can not be made");
	homes_launch_up();
}

void
launch_lost(void)
{
	static const struct pool_row none;
	struct channel *old = launch;

	launch = NULL;
	pool_set(&none);
	channel_free(old);
	call_launch_lost();
	neuron_all_lost();
	homes_launch_lost();
}

static void
launch_dead(void *arg, const char *reason)
{
	(void)arg;
	log_info("neurond is gone: %s", reason);
	launch_lost();
	proc_channel_lost(CH_LAUNCH);
}

int
launch_up(void)
{
	return (launch != NULL && channel_reason(launch) == NULL);
}

static struct imsg *
launch_new(enum msg_type type)
{
	struct imsg *m;

	if ((m = imsg_new(type)) == NULL)
		fatal("launch");
	return (m);
}

int
launch_make(const struct neuron *n)
{
	const struct peer_ids *owner = &n->build.owner;
	uint8_t groups[4 * GROUPS_MAX];
	struct imsg *m;
	uint32_t i;

	if (!launch_up())
		return (-1);
	for (i = 0; i < owner->ngroups; i++) {
		groups[4 * i] = (uint8_t)owner->groups[i];
		groups[4 * i + 1] = (uint8_t)(owner->groups[i] >> 8);
		groups[4 * i + 2] = (uint8_t)(owner->groups[i] >> 16);
		groups[4 * i + 3] = (uint8_t)(owner->groups[i] >> 24);
	}
	m = launch_new(MSG_NEURON_MAKE);
	imsg_put_u32(m, n->build.generation);
	imsg_put_u32(m, n->build.line |
	    (n->no_egress ? MAKE_F_NO_EGRESS : 0) |
	    (n->build.read_only ? MAKE_F_READ_ONLY : 0) |
	    home_make_flags(n->home));
	imsg_put_u32(m, (uint32_t)owner->uid);
	imsg_put_u32(m, (uint32_t)owner->gid);
	imsg_put_bytes(m, groups, 4 * (size_t)owner->ngroups);
	imsg_put_str(m, n->id);
	imsg_put_str(m, n->build.profile);
	imsg_put_str(m, n->build.workspace);
	return (channel_send(launch, m));
}

int
launch_drop(const struct neuron *n)
{
	struct imsg *m;

	if (!launch_up())
		return (-1);
	m = launch_new(MSG_NEURON_DROP);
	imsg_put_str(m, n->id);
	return (channel_send(launch, m));
}

int
launch_listeners(void)
{
	return (launch_up() ? channel_send(launch,
	    launch_new(MSG_LISTENERS_AGAIN)) : -1);
}

int
launch_homes(void)
{
	return (launch_up() ? channel_send(launch,
	    launch_new(MSG_HOMES_ASK)) : -1);
}

int
launch_home_drop(const char *neuron)
{
	struct imsg *m;

	if (!launch_up())
		return (-1);
	m = launch_new(MSG_HOME_DROP);
	imsg_put_str(m, neuron);
	return (channel_send(launch, m));
}

/* The fd, which is the message's now. */
static void
put_call_fd(struct imsg *m, struct call *c, unsigned which)
{
	if (c->fds[which] == -1)
		return;
	imsg_put_fd(m, c->fds[which]);
	c->fds[which] = -1;
}

int
launch_call(struct call *c)
{
	struct imsg *m;

	if (!launch_up())
		return (-1);
	m = launch_new(MSG_LAUNCH);
	imsg_put_u32(m, c->timeout);
	imsg_put_u8(m, c->in);
	imsg_put_str(m, c->row.neuron);
	imsg_put_str(m, c->row.id);
	imsg_put_str(m, c->row.session);
	put_call_fd(m, c, CALL_RUN);
	put_call_fd(m, c, CALL_STDOUT);
	put_call_fd(m, c, CALL_STDERR);
	put_call_fd(m, c, CALL_INPUT);
	return (channel_send(launch, m));
}

int
launch_run(const char *neuron, const char *id, uint32_t timeout,
    const int fds[4])
{
	struct imsg *m;
	int i;

	if (!launch_up()) {
		for (i = 0; i < 4; i++)
			close(fds[i]);
		return (-1);
	}
	m = launch_new(MSG_LAUNCH);
	imsg_put_u32(m, timeout);
	imsg_put_u8(m, STDIN_INLINE);
	imsg_put_str(m, neuron);
	imsg_put_str(m, id);
	imsg_put_str(m, "");
	for (i = 0; i < 4; i++)
		imsg_put_fd(m, fds[i]);
	return (channel_send(launch, m));
}

int
launch_kill(const char *call, enum end_cause cause)
{
	struct imsg *m;

	if (!launch_up())
		return (-1);
	m = launch_new(MSG_KILL);
	imsg_put_u8(m, (uint8_t)cause);
	imsg_put_str(m, call);
	return (channel_send(launch, m));
}

static int
launch_steer(enum msg_type type, const char *call, uint32_t value)
{
	struct imsg *m;

	if (!launch_up())
		return (-1);
	m = launch_new(type);
	imsg_put_u32(m, value);
	imsg_put_str(m, call);
	return (channel_send(launch, m));
}

int
launch_signal(const char *call, uint32_t signal)
{
	return (launch_steer(MSG_CALL_SIGNAL, call, signal));
}

int
launch_resize(const char *call, uint32_t size)
{
	return (launch_steer(MSG_CALL_RESIZE, call, size));
}

/* ---- what it says ---- */

static int
on_neuron_up(void *arg, struct imsg *m)
{
	uint64_t layers, device, inode;
	struct neuron *n;
	char id[ID_SIZE];
	uint32_t us;

	(void)arg;
	layers = imsg_get_u64(m);
	device = imsg_get_u64(m);
	inode = imsg_get_u64(m);
	us = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	if ((n = neuron_find(id)) == NULL)
		return (0);
	/* parts of an approval's digest: as they were when it was made */
	if (n->state == NEURON_MAKING) {
		n->device = device;
		n->inode = inode;
	}
	neuron_is_up(n, layers, us);
	return (0);
}

static int
on_neuron_gone(void *arg, struct imsg *m)
{
	char id[ID_SIZE], why[1024];
	struct neuron *n;
	unsigned cause;

	(void)arg;
	cause = imsg_get_u8(m);
	imsg_get_str(m, id, sizeof(id));
	get_words(m, why, sizeof(why));
	if (imsg_end(m) == -1 || cause < GONE_DROPPED || cause > GONE_LOST)
		return (-1);
	if ((n = neuron_find(id)) != NULL)
		neuron_is_gone(n, cause, why);
	return (0);
}

static int
on_started(void *arg, struct imsg *m)
{
	char id[ID_SIZE];
	struct call *c;

	(void)arg;
	imsg_get_str(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	if ((c = call_find(id)) != NULL && c->egress == 0)
		call_started(c);
	return (0);
}

static int
on_ended(void *arg, struct imsg *m)
{
	struct call_end end;
	char id[ID_SIZE];
	struct call *c;

	(void)arg;
	end.cause = imsg_get_u8(m);
	end.exit_code = imsg_get_i32(m);
	end.signal = imsg_get_i32(m);
	end.cpu_us = imsg_get_u64(m);
	end.peak_bytes = imsg_get_u64(m);
	end.leftover = imsg_get_u32(m);
	end.flags = imsg_get_u8(m);
	end.queue_us = imsg_get_u32(m);
	end.start_us = imsg_get_u32(m);
	end.run_us = imsg_get_u32(m);
	end.end_us = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	get_words(m, end.detail, sizeof(end.detail));
	if (imsg_end(m) == -1 || end.cause < END_EXITED ||
	    end.cause > END_NEURON_LOST)
		return (-1);
	if ((c = call_find(id)) != NULL && c->neuron != NULL &&
	    c->neuron->egress != NULL) {
		egress_drain();
		c = call_find(id);	/* it may have ended by that */
	}
	/* egressd's calls are not neurond's to end */
	if (c != NULL && c->egress != 0)
		return (-1);
	if (c != NULL && (end.flags & ENDED_F_STARTED) != 0)
		call_started(c);
	if (c != NULL)
		call_ended(c, &end);
	else
		hook_ended(id, &end);
	return (0);
}

static int
on_helper(void *arg, struct imsg *m)
{
	char name[32];
	uint32_t restarts;
	unsigned state;
	int32_t pid;

	(void)arg;
	pid = imsg_get_i32(m);
	restarts = imsg_get_u32(m);
	state = imsg_get_u8(m);
	imsg_get_str(m, name, sizeof(name));
	if (imsg_end(m) == -1 || state > PROC_ST_FAILED)
		return (-1);
	processes_set(name, pid, restarts, state);
	return (0);
}

static int
on_pool(void *arg, struct imsg *m)
{
	struct pool_row row;

	(void)arg;
	row.wanted = imsg_get_u32(m);
	row.ready = imsg_get_u32(m);
	row.hits = imsg_get_u64(m);
	row.misses = imsg_get_u64(m);
	if (imsg_end(m) == -1)
		return (-1);
	pool_set(&row);
	return (0);
}
