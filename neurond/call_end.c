/*
 * Causes: what we did comes first, then what the kernel counted while the
 * call ran, then the program's own end.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "call_end.h"
#include "imsg.h"
#include "launch.h"
#include "neuron.h"
#include "steps.h"
#include "without.h"

static const char *const where_words[RUN_AT_COUNT] = {
#define ROW(sym, words)	words,
	RUN_WHERES(ROW)
#undef ROW
};

void
call_request_close(struct call_request *req)
{
	int *const fds[] = { &req->block, &req->out, &req->err, &req->in };
	size_t i;

	for (i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] != -1)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

void
call_unstarted(struct call *c, unsigned where, int error)
{
	const char *words = strerrordesc_np(error);
	const char *name = strerrorname_np(error);

	/* Killed by us before it ran: that is why it failed. */
	if (c->cause != 0)
		return;
	if (where == RUN_AT_EXEC || where == RUN_AT_CWD) {
		c->cause = END_EXEC_FAILED;
		c->code = where == RUN_AT_EXEC && error == ENOENT ? 127 : 126;
	} else
		c->cause = END_LAUNCH_FAILED;
	snprintf(c->detail, sizeof(c->detail), "%s: %s (%s)",
	    where_words[where], words == NULL ? "unknown error" : words,
	    name == NULL ? "?" : name);
}

static void
limit_words(struct call *c, unsigned limit, const char *words)
{
	snprintf(c->detail, sizeof(c->detail), "%s of %llu%s", words,
	    (unsigned long long)c->neuron->limits.v[limit],
	    limit == LIMIT_MEMORY ? " bytes" : "");
}

/* A program that ended well was not hurt by what the kernel refused it. */
static unsigned
true_cause(struct call *c, const struct cg_counts *now)
{
	if (WITHOUT(true_cause))
		return (END_EXITED);
	if (c->cause != 0 && c->cause != END_LAUNCH_FAILED &&
	    c->cause != END_NEURON_LOST)
		return (c->cause);
	if (c->cause == 0 && c->sig == 0 && c->code == 0)
		return (END_EXITED);
	if (now->oom > c->before.oom) {
		limit_words(c, LIMIT_MEMORY, "the neuron's memory limit");
		return (END_OOM);
	}
	if (now->pids > c->before.pids) {
		limit_words(c, LIMIT_PIDS, "the neuron's limit of processes");
		return (END_PIDS);
	}
	if (c->cause != 0)
		return (c->cause);
	return (c->sig != 0 ? END_SIGNALLED : END_EXITED);
}

static uint32_t
between(uint64_t a, uint64_t b)
{
	if (a == 0 || b <= a)
		return (0);
	return (b - a > UINT32_MAX ? UINT32_MAX : (uint32_t)(b - a));
}

static uint64_t
cpu_used(struct call *c)
{
	struct neuron *n = c->neuron;
	uint64_t total, used;

	total = cg_cpu_us(n->slot->cg.leaf[c->leaf]);
	used = total > n->cpu[c->leaf] ? total - n->cpu[c->leaf] : 0;
	n->cpu[c->leaf] = total;
	return (used);
}

static void
send_ended(const struct call *c, unsigned cause, uint64_t cpu)
{
	struct imsg *m = imsg_new(MSG_ENDED);
	uint64_t sent = c->sent == 0 ? c->exited : c->sent;
	uint64_t started = c->started == 0 ? c->exited : c->started;

	imsg_put_u8(m, (uint8_t)cause);
	imsg_put_i32(m, c->code);
	imsg_put_i32(m, WITHOUT(true_signal) && c->sig != 0 ? SIGTERM :
	    c->sig);
	imsg_put_u64(m, cpu);
	imsg_put_u64(m, c->peak);
	imsg_put_u32(m, c->leftovers);
	imsg_put_u8(m, (uint8_t)c->flags);
	imsg_put_u32(m, between(c->launched, sent));
	imsg_put_u32(m, between(c->sent, started));
	imsg_put_u32(m, between(c->started, c->exited));
	imsg_put_u32(m, between(c->exited, now_us()));
	imsg_put_str(m, c->req.call);
	imsg_put_str(m, c->detail);
	launch_send(m);
}

void
call_report(struct call *c)
{
	struct neuron *n = c->neuron;
	unsigned cause = c->cause;
	uint64_t cpu = 0;
	int well;

	if (c->exited == 0)
		c->exited = now_us();
	/* What the kernel counted is the cause of no good end. */
	well = cause == 0 && c->sig == 0 && c->code == 0;
	if (c->leaf != -1) {
		if (well)
			cause = END_EXITED;
		else {
			cg_counters(slots_base(), &n->slot->cg, &n->counts);
			cause = true_cause(c, &n->counts);
		}
		cpu = cpu_used(c);
	}
	send_ended(c, cause, cpu);
	/* The next call counts from here, whoever waits for this one's end. */
	if (c->leaf != -1 && well)
		cg_counters(slots_base(), &n->slot->cg, &n->counts);
}

void
call_report_unrun(struct call_request *req, unsigned cause, const char *why)
{
	struct call c = { .leaf = -1, .code = -1 };

	call_request_close(req);
	c.req = *req;
	snprintf(c.detail, sizeof(c.detail), "%s", why);
	send_ended(&c, cause, 0);
}
