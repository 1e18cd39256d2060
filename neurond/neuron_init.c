/*
 * What PID 1 reports.
 */
#include <event2/event.h>
#include <errno.h>
#include <string.h>

#include "call.h"
#include "fault.h"
#include "imsg.h"
#include "launch.h"
#include "layers.h"
#include "log.h"
#include "neuron.h"
#include "neuron_init.h"
#include "pool.h"
#include "proc.h"
#include "settings.h"
#include "slot.h"
#include "steps.h"
#include "without.h"

static const char *const step_words[STEP_COUNT] = {
#define ROW(sym, words)	words,
	BUILD_STEPS(ROW)
#undef ROW
};

/* What is around PID 1, and not its own to report. */
static uint64_t
outer_layers(const struct neuron *n)
{
	return (LAYER_BIT(CGROUP_V2) | LAYER_BIT(CG_MEMORY) |
	    LAYER_BIT(CG_PIDS) | LAYER_BIT(CG_CPU) | LAYER_BIT(CG_KILL) |
	    LAYER_BIT(SEALS) |
	    (slots_base()->swap ? LAYER_BIT(CG_SWAP) : 0) |
	    (n->pidfd != -1 ? LAYER_BIT(PIDFD) : 0) |
	    (n->workspace[0] != '\0' ? LAYER_BIT(WALK) : 0));
}

uint64_t
neuron_init_missing(const struct neuron *n)
{
	unsigned kind = (n->workspace[0] != '\0' ? LAYERS_OF_WORKSPACE : 0) |
	    (n->strict ? LAYERS_OF_STRICT : 0) |
	    (n->persistent != HOME_NONE ? LAYERS_OF_HOME : 0) |
	    (n->shown.root ? LAYERS_OF_IMAGE : 0);

	return ((layers_needed(kind) |
	    (settings()->limits.v[LIMIT_APPARMOR] != 0 &&
	    !WITHOUT(apparmor_required) ?
	    LAYER_BIT(APPARMOR) : 0)) & ~n->layers);
}

void
neuron_init_tell(struct neuron *n)
{
	uint64_t took = now_us() - n->asked;
	struct imsg *m = imsg_new(MSG_NEURON_UP);

	listeners_tell(n);
	imsg_put_u64(m, n->layers);
	imsg_put_u64(m, n->device);
	imsg_put_u64(m, n->inode);
	imsg_put_u32(m, (uint32_t)took);
	imsg_put_str(m, n->id);
	launch_send(m);
	FAULT("neuron.up");
	calls_start(n);
}

static void
up(struct neuron *n)
{
	FAULT("neuron.ready");
	event_del(n->timer);
	n->state = NEURON_UP_;
	n->was_up = 1;
	if (n->id[0] == '\0')
		pool_is_up(n);
	else
		neuron_init_tell(n);
}

void
neuron_init_check(struct neuron *n)
{
	uint64_t missing;
	unsigned i;

	if (n->state != NEURON_BUILDING || !n->built || !n->ready)
		return;
	n->layers |= outer_layers(n);
	missing = neuron_init_missing(n);
	if (missing == 0) {
		up(n);
		return;
	}
	for (i = 0; (missing & (UINT64_C(1) << i)) == 0; i++)
		continue;
	neuron_end(n, GONE_FAILED, "the layer %s is missing", layer_name(i));
}

void
neuron_init_lost(struct neuron *n)
{
	struct cg_counts now;

	if (n->state == NEURON_DYING)
		return;
	cg_counters(slots_base(), &n->slot->cg, &now);
	if (now.oom > n->counts.oom)
		neuron_end(n, GONE_LOST, "its first process was killed at the "
		    "memory limit");
	else
		neuron_end(n, GONE_LOST, "its first process died");
}

static int
on_ready(void *arg, struct imsg *m)
{
	struct neuron *n = arg;
	uint64_t layers = imsg_get_u64(m);

	if (imsg_end(m) == -1 || n->ready || n->state != NEURON_BUILDING)
		return (-1);
	n->ready = 1;
	n->layers = layers;
	neuron_init_check(n);
	return (0);
}

static int
on_bad(void *arg, struct imsg *m)
{
	struct neuron *n = arg;
	uint32_t step, error;
	const char *words;

	step = imsg_get_u32(m);
	error = imsg_get_u32(m);
	if (imsg_end(m) == -1 || step >= STEP_COUNT ||
	    n->state != NEURON_BUILDING)
		return (-1);
	words = strerrordesc_np((int)error);
	neuron_end(n, GONE_FAILED, "%s: %s", step_words[step],
	    words == NULL ? "unknown error" : words);
	return (0);
}

static int
on_started(void *arg, struct imsg *m)
{
	uint32_t run = imsg_get_u32(m);

	if (imsg_end(m) == -1)
		return (-1);
	return (call_started(arg, run));
}

static int
on_failed(void *arg, struct imsg *m)
{
	uint32_t run, where, error;

	run = imsg_get_u32(m);
	where = imsg_get_u32(m);
	error = imsg_get_u32(m);
	if (imsg_end(m) == -1 || where >= RUN_AT_COUNT)
		return (-1);
	return (call_failed(arg, run, where, (int)error));
}

/* Of RUN_ENDED and RUN_RAN, whose first fields are the same. */
static uint32_t
get_end(struct imsg *m, struct run_end *end)
{
	uint32_t run = imsg_get_u32(m);

	end->code = imsg_get_i32(m);
	end->sig = imsg_get_i32(m);
	end->peak = imsg_get_u64(m);
	return (run);
}

static int
can_be(const struct run_end *end)
{
	return (end->code >= -1 && end->code <= 255 && end->sig >= 0 &&
	    end->sig <= 64 && (end->code == -1) == (end->sig != 0));
}

static int
on_ended(void *arg, struct imsg *m)
{
	struct run_end end;
	uint32_t run = get_end(m, &end);

	if (imsg_end(m) == -1 || !can_be(&end))
		return (-1);
	return (call_ended(arg, run, &end));
}

static int
on_ran(void *arg, struct imsg *m)
{
	struct run_end end;
	uint32_t run = get_end(m, &end), us = imsg_get_u32(m);

	if (imsg_end(m) == -1 || !can_be(&end))
		return (-1);
	return (call_ran(arg, run, &end, us));
}

/* A closed channel and a wrong message alike: it is no neuron any more. */
static void
on_dead(void *arg, const char *reason)
{
	(void)reason;
	neuron_init_lost(arg);
}

static const struct channel_handler handlers[] = {
	{ MSG_INIT_READY,	on_ready },
	{ MSG_INIT_BAD,		on_bad },
	{ MSG_RUN_STARTED,	on_started },
	{ MSG_RUN_FAILED,	on_failed },
	{ MSG_RUN_ENDED,	on_ended },
	{ MSG_RUN_RAN,		on_ran }
};

static const struct channel_ops ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = on_dead
};

struct channel *
neuron_init_channel(struct neuron *n, int fd)
{
	struct channel *ch = channel_new(fd, CH_INIT, END_A, &ops, n);

	if (ch == NULL || channel_attach(ch, proc_base()) == -1)
		fatal("neuron channel");
	return (ch);
}
