/* Calls in neurons with egress, and those that egressd carries out itself. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "call.h"
#include "call_list.h"
#include "egress.h"
#include "egress_internal.h"
#include "neuron.h"
#include "policyd.h"
#include "without.h"

#define GRACE_US	1000000	/* for egressd to say that it has ended */

struct egress_call *
egress_call(struct call *c)
{
	if (c->out == NULL && (c->out = calloc(1, sizeof(*c->out))) == NULL)
		fatal("egress");
	return (c->out);
}

/* ---- what neurond runs ---- */

/*
 * Plain HTTP may write while something runs that writes to the network and
 * was allowed by a person, or by an operator's rule.
 */
static unsigned
call_flags(const struct call *c)
{
	if (WITHOUT(egress_writes) ||
	    (c->judged.marks & MARK_NETWORK_WRITE) == 0 ||
	    (c->approved[0] == '\0' && c->judged.where[0] == '\0'))
		return (0);
	return (EGRESS_F_WRITES);
}

static void
tell(struct call *c, int begins)
{
	struct imsg *m = egress_new(MSG_EGRESS_CALL);

	imsg_put_u8(m, (uint8_t)begins);
	imsg_put_u8(m, (uint8_t)(begins ? call_flags(c) : 0));
	imsg_put_str(m, c->row.neuron);
	imsg_put_str(m, c->row.id);
	(void)egress_send(m);
}

void
egress_begin(struct call *c)
{
	if (c->neuron == NULL || !egress_has(c->neuron) ||
	    egress_call(c)->told == egress_generation())
		return;
	c->out->told = egress_generation();
	tell(c, 1);
}

void
egress_over(struct call *c)
{
	struct egress_call *o = c->out;

	if (o == NULL)
		return;
	if (o->told != 0 && o->told == egress_generation())
		tell(c, 0);
	if (o->timer != NULL)
		event_free(o->timer);
	json_decref(o->denials);
	free(o);
	c->out = NULL;
}

/* One that waits for a person is in the neuron, too, and may do nothing. */
static void
begin_one(struct call *c, void *arg)
{
	(void)arg;
	if (c->egress == 0 && (c->step == STEP_LAUNCHED ||
	    c->step == STEP_RUNNING))
		egress_begin(c);
}

void
egress_tell_calls(struct neuron *n)
{
	call_each_in(n, begin_one, NULL);
}

/* ---- what egressd runs ---- */

void
egress_restrict(const struct call *c, struct judgement *j)
{
	const struct tool *tool = judge_tool(c->row.tool);

	if (tool == NULL || tool->egress != EGRESS_GRANT_SESSION ||
	    c->session != NULL || (j->verdict != VERDICT_ALLOW &&
	    j->verdict != VERDICT_ASK))
		return;
	j->verdict = VERDICT_DENY;
	strlcpy(j->rule, "session", sizeof(j->rule));
	j->where[0] = '\0';
	strlcpy(j->reason, "what is granted is granted to a session, and this "
	    "call is in none", sizeof(j->reason));
	strlcpy(j->next, "open a session and ask in it", sizeof(j->next));
}

static void
ended(struct call *c, unsigned cause, int32_t code, uint32_t us,
    const char *detail)
{
	struct call_end end = { .cause = cause, .exit_code = code,
	    .run_us = us };

	strlcpy(end.detail, detail, sizeof(end.detail));
	call_ended(c, &end);
}

static void
on_timer(int fd, short what, void *arg)
{
	struct call *c = arg;
	struct timeval tv = us_timeval(GRACE_US);
	unsigned cause = c->killing;

	(void)fd;
	(void)what;
	if (cause == 0) {
		egress_stop(c, END_TIMED_OUT);
		evtimer_add(c->out->timer, &tv);
		return;
	}
	log_info("%s: egressd did not end it", c->row.id);
	ended(c, cause, -1, (uint32_t)(now_us() - c->out->since), "");
}

/* The scope that a person gave; what nobody was asked about has none. */
static unsigned
what_to_do(const struct call *c)
{
	if (c->egress == EGRESS_FETCH)
		return (EGRESS_FETCH);
	return (c->scope == ALLOWED_SESSION ? EGRESS_GRANT_SESSION :
	    EGRESS_GRANT_ONCE);
}

static void
put_fd(struct imsg *m, struct call *c, unsigned which)
{
	imsg_put_fd(m, c->fds[which]);
	c->fds[which] = -1;
}

static void
refuse_run(struct call *c, const char *words)
{
	call_tell_judged(c);
	call_finish(c, CALL_FAILED, "launch_failed", words, NULL);
}

static void
send_run(struct call *c)
{
	struct egress_call *o = egress_call(c);
	struct timeval tv = us_timeval((uint64_t)c->timeout * 1000 +
	    GRACE_US / 2);
	struct imsg *m;

	if (!egress_has(c->neuron)) {
		refuse_run(c, c->neuron->egress == NULL ? "the neuron was "
		    "made without egress: its profile has no \"egress\" block"
		    : strcmp(egress_state(), "off") == 0 ? "egress is off: "
		    "egressd ended too often, see the service's log" :
		    "egressd is being started; try again");
		return;
	}
	if ((o->timer = evtimer_new(policyd_base(), on_timer, c)) == NULL)
		fatal("egress");
	m = egress_new(MSG_EGRESS_RUN);
	imsg_put_u32(m, c->timeout);
	imsg_put_u8(m, (uint8_t)what_to_do(c));
	imsg_put_u64(m, c->limits.v[LIMIT_EGRESS_FETCH]);
	imsg_put_str(m, c->row.neuron);
	imsg_put_str(m, c->row.id);
	put_fd(m, c, CALL_RUN);
	put_fd(m, c, CALL_STDOUT);
	put_fd(m, c, CALL_STDERR);
	if (egress_send(m) == -1) {
		refuse_run(c, "egressd is being started; try again");
		return;
	}
	o->sent = egress_generation();
	o->since = now_us();
	evtimer_add(o->timer, &tv);
	call_tell_judged(c);
	call_started(c);
}

void
egress_run(struct call *c)
{
	c->step = STEP_LAUNCHED;
	c->t_launch = now_us();
	(void)egress_call(c);
	if (c->neuron->state == NEURON_UP)
		send_run(c);
	else
		call_tell_judged(c);	/* egress_neuron_up() goes on */
}

void
egress_neuron_up(struct call *c)
{
	if (c->egress != 0 && c->step == STEP_LAUNCHED && c->out->sent == 0)
		send_run(c);
}

void
egress_stop(struct call *c, enum end_cause cause)
{
	struct call_outcome out = call_outcome(cause);
	struct timeval tv = us_timeval(GRACE_US);
	struct imsg *m;

	c->killing = cause;
	if (c->out->sent == 0) {
		call_finish(c, out.state, out.reason,
		    "it was ended before it ran", NULL);
		return;
	}
	m = egress_new(MSG_EGRESS_KILL);
	imsg_put_u8(m, (uint8_t)cause);
	imsg_put_str(m, c->row.id);
	(void)egress_send(m);
	evtimer_add(c->out->timer, &tv);
}

static void
lose_one(struct call *c, void *arg)
{
	(void)arg;
	if (c->out != NULL && c->out->sent != 0)
		call_finish(c, CALL_FAILED, "interrupted",
		    "egressd ended, and the call with it", NULL);
}

void
egress_runs_lost(void)
{
	call_each_in(NULL, lose_one, NULL);
}

int
egress_on_ended(void *arg, struct imsg *m)
{
	char id[ID_SIZE], detail[1024];
	unsigned cause;
	int32_t code;
	uint32_t us;
	struct call *c;

	(void)arg;
	cause = imsg_get_u8(m);
	code = imsg_get_i32(m);
	us = imsg_get_u32(m);
	imsg_get_str(m, id, sizeof(id));
	get_words(m, detail, sizeof(detail));
	if (imsg_end(m) == -1 || cause < END_EXITED ||
	    cause > END_NEURON_LOST || cause == END_SIGNALLED)
		return (-1);
	if ((c = call_find(id)) == NULL)
		return (0);	/* it was ended meanwhile */
	/* neurond's calls are not egressd's to end */
	if (c->out == NULL || c->out->sent == 0)
		return (-1);
	ended(c, cause, cause == END_EXITED ? code : -1, us, detail);
	return (0);
}

struct asker {
	unsigned	 what;
	struct call	*call;
};

static void
ask_one(struct call *c, void *arg)
{
	struct asker *a = arg;

	if (c->out != NULL && c->out->sent != 0 && c->egress != EGRESS_FETCH &&
	    what_to_do(c) == a->what)
		a->call = c;
}

struct call *
egress_asker(const struct neuron *n, unsigned what)
{
	struct asker a = { .what = what };

	call_each_in(n, ask_one, &a);
	return (a.call);
}
