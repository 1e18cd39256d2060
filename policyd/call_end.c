/* Calls: the list of the live ones, and all ways in which they end. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "approval.h"
#include "call.h"
#include "call_list.h"
#include "drain.h"
#include "dry.h"
#include "egress.h"
#include "hook.h"
#include "launch.h"
#include "metrics.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "without.h"

#define JUDGE_AGAIN_US	5000000	/* for judged to be started again */

RB_HEAD(call_ids, call);
RB_HEAD(call_sequences, call);

static int id_cmp(const struct call *, const struct call *);
static int sequence_cmp(const struct call *, const struct call *);

RB_PROTOTYPE(call_ids, call, by_id, id_cmp)
RB_GENERATE(call_ids, call, by_id, id_cmp)
RB_PROTOTYPE(call_sequences, call, by_sequence, sequence_cmp)
RB_GENERATE(call_sequences, call, by_sequence, sequence_cmp)

static struct call_ids		ids = RB_INITIALIZER(&ids);
static struct call_sequences	sequences = RB_INITIALIZER(&sequences);
static TAILQ_HEAD(, call)	calls = TAILQ_HEAD_INITIALIZER(calls);
static unsigned			count;
static uint64_t			last_sequence;
static struct event		*judge_wait;

static int
id_cmp(const struct call *a, const struct call *b)
{
	return (strcmp(a->row.id, b->row.id));
}

static int
sequence_cmp(const struct call *a, const struct call *b)
{
	return (a->sequence < b->sequence ? -1 : a->sequence > b->sequence);
}

struct call *
call_new(void)
{
	struct call *c;
	int i;

	if ((c = calloc(1, sizeof(*c))) == NULL)
		fatal("call");
	for (i = 0; i < CALL_FDS; i++)
		c->fds[i] = -1;
	c->step = STEP_WAITING;
	c->t_ask = now_us();
	TAILQ_INSERT_TAIL(&calls, c, entry);
	count++;
	return (c);
}

void
call_free(struct call *c)
{
	struct neuron *n = c->neuron;
	int i;

	hook_over(c);
	egress_over(c);
	neuron_unask(&c->wait);
	if (c->row.id[0] != '\0') {
		RB_REMOVE(call_ids, &ids, c);
		RB_REMOVE(call_sequences, &sequences, c);
	}
	TAILQ_REMOVE(&calls, c, entry);
	count--;
	for (i = 0; i < CALL_FDS; i++) {
		if (c->fds[i] != -1)
			close(c->fds[i]);
	}
	call_slot_leave(c);
	if (n != NULL) {
		if (n->call == c && WITHOUT(neuron_cleanup))
			n->call = NULL;
		else if (n->call == c)
			neuron_drop(n);
	}
	ident_put(c->ident);
	free(c->build);
	free(c->shown);
	free(c);
	if (count == 0)
		drain_idle();
	else
		approvals_slot();
}

void
call_slot_take(struct call *c)
{
	c->slot = 1;
	c->neuron->calls++;
}

void
call_slot_leave(struct call *c)
{
	if (c->slot && c->neuron != NULL)
		c->neuron->calls--;
	c->slot = 0;
}

void
call_list_again(struct call *c)
{
	RB_REMOVE(call_sequences, &sequences, c);
	c->sequence = ++last_sequence;
	RB_INSERT(call_sequences, &sequences, c);
}

void
call_list_begin(struct call *c)
{
	c->step = STEP_JUDGING;
	c->sequence = ++last_sequence;
	RB_INSERT(call_ids, &ids, c);
	RB_INSERT(call_sequences, &sequences, c);
	/* behind all that have begun: serials rise along the list */
	TAILQ_REMOVE(&calls, c, entry);
	TAILQ_INSERT_TAIL(&calls, c, entry);
}

struct call *
call_find(const char *id)
{
	struct call key;

	strlcpy(key.row.id, id, sizeof(key.row.id));
	return (RB_FIND(call_ids, &ids, &key));
}

struct call *
call_by_sequence(uint64_t sequence)
{
	struct call key;

	key.sequence = sequence;
	return (RB_FIND(call_sequences, &sequences, &key));
}

struct call *
call_waiting_with(const struct call_key *key)
{
	struct call *c;

	TAILQ_FOREACH(c, &calls, entry) {
		if (idempotent_matches(c, key))
			return (c);
	}
	return (NULL);
}

unsigned
call_count(void)
{
	return (count);
}

uint64_t
call_live_from(void)
{
	const struct call *c;

	TAILQ_FOREACH(c, &calls, entry) {
		if (c->row.serial != 0)
			return (c->row.serial);
	}
	return (store_last_call() + 1);
}

/* ---- the end ---- */

static void
call_tell_finished(const struct call *c, const char *json)
{
	struct imsg *m;

	if (!c->told || !reply_possible(&c->to))
		return;
	if ((m = imsg_new(MSG_CALL_FINISHED)) == NULL)
		fatal("call");
	imsg_put_str(m, c->row.id);
	imsg_put_str(m, json);
	channel_send(c->to.api->channel, m);
}

static void
row_finish(struct call_row *row, enum call_state state, const char *reason,
    const struct call_end *end)
{
	row->state = state;
	row->ended = wall_us();
	strlcpy(row->reason, reason != NULL ? reason : "",
	    sizeof(row->reason));
	if (end == NULL)
		return;
	row->run_us = end->run_us;
	row->signal = end->signal > 0 ? end->signal : 0;
	if (row->signal == 0 && end->cause != END_LAUNCH_FAILED &&
	    end->cause != END_NEURON_LOST && end->exit_code >= 0)
		row->exit_code = end->exit_code;
}

void
call_log(const struct call *c, const char *what, const char *more)
{
	const struct log_about about = { c->to.id, c->row.id, c->row.session,
	    c->row.neuron, c->approved };

	log_debug_of(&about, "call %s: %s %s %s", c->row.id, c->row.tool,
	    what, more);
}

/* Ends that are no program's and no client's doing are worth a look. */
static void
log_finished(const struct call *c, enum call_state state, const char *reason,
    const char *words)
{
	static const char *const ours[] = { "launch_failed", "neuron_lost",
	    "interrupted", "store_full" };
	const struct log_about about = { c->to.id, c->row.id, c->row.session,
	    c->row.neuron, c->approved };
	size_t i;

	call_log(c, "is over:", reason != NULL ? reason :
	    call_state_name(state));
	for (i = 0; reason != NULL && i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strcmp(reason, ours[i]) == 0)
			log_info_of(&about, "call %s failed: %s%s%s",
			    c->row.id, reason, words != NULL ? ": " : "",
			    words != NULL ? words : "");
}

static void
record_finished(const struct call_row *row)
{
	struct text *t = audit_begin("call.finished");
	char name[16];

	signal_text(row->signal, name, sizeof(name));
	text_word(t, "call", row->id);
	text_word(t, "state", call_state_name(row->state));
	text_word_or_null(t, "reason", row->reason);
	if (row->exit_code >= 0)
		text_int(t, "exit_code", row->exit_code);
	else
		text_null(t, "exit_code");
	text_word_or_null(t, "signal", name);
	audit_end(t);
	metrics_words("call.finished", call_state_name(row->state),
	    row->reason[0] != '\0' ? row->reason : NULL);
}

void
call_finish(struct call *c, enum call_state state, const char *reason,
    const char *words, const struct call_end *end)
{
	struct call_row *row = &c->row;
	static struct text t;

	if (c->dry_run) {
		dry_over(c, words);
		return;
	}
	approval_over(c);
	row_finish(row, state, reason, end);
	metrics_duration(now_us() - c->t_ask);
	log_finished(c, state, reason, words);
	record_finished(row);
	sync_soon();
	/* The log has it before anybody is told. */
	if (audit_flush() == -1)
		sync_failed();
	text_clear(&t);
	call_result(&t, c, end, reason, words);
	call_tell_finished(c, t.p);
	store_call_end(row);
	kept_add(c, t.p);
	call_free(c);
}

void
call_started(struct call *c)
{
	struct imsg *m;
	struct text *t;

	if (c->step != STEP_LAUNCHED)
		return;
	c->step = STEP_RUNNING;
	c->row.state = CALL_RUNNING;
	t = audit_begin("call.started");
	text_word(t, "call", c->row.id);
	audit_end(t);
	call_log(c, "has started in", c->row.neuron);
	sync_soon();
	if (!c->told || !reply_possible(&c->to))
		return;
	if ((m = imsg_new(MSG_CALL_STARTED)) == NULL)
		fatal("call");
	imsg_put_str(m, c->row.id);
	channel_send_soon(c->to.api->channel, m, c->patient ?
	    CALL_TELL_US : 0);
}

void
call_ended(struct call *c, const struct call_end *end)
{
	struct call_outcome out = call_outcome(end->cause);

	if (c->step != STEP_LAUNCHED && c->step != STEP_RUNNING)
		return;
	call_finish(c, out.state, out.reason, NULL, end);
}

void
call_stop(struct call *c, enum end_cause cause)
{
	struct call_outcome out = call_outcome(cause);

	switch (c->step) {
	case STEP_WAITING:
		call_free(c);
		break;
	case STEP_JUDGING:
	case STEP_HOOKS:
	case STEP_ASKING:
	case STEP_AWAITING:
	case STEP_AGAIN:
		call_finish(c, out.state, out.reason,
		    "it was ended before it ran", NULL);
		break;
	case STEP_LAUNCHED:
	case STEP_RUNNING:
		/* The first cause is the true one. */
		if (c->killing != 0)
			break;
		if (c->egress != 0) {
			egress_stop(c, cause);
			break;
		}
		c->killing = cause;
		launch_kill(c->row.id, cause);
		break;
	}
}

void
call_neuron_up(struct neuron *n)
{
	if (n->call == NULL)
		return;
	n->call->layers = n->layers;
	n->call->neuron_us = n->made_us;
	if (n->call->step == STEP_ASKING)
		approval_ready(n->call);
	else
		egress_neuron_up(n->call);
}

/* The first cause is the true one. */
static void
call_lost_neuron(struct call *c, const char *why)
{
	struct call_outcome out = call_outcome(c->killing);

	if (c->killing == 0) {
		out.state = CALL_FAILED;
		out.reason = c->step == STEP_ASKING ||
		    c->step == STEP_LAUNCHED ? "launch_failed" : "neuron_lost";
	}
	call_finish(c, out.state, out.reason, why, NULL);
}

/*
 * For what neurond has been told to launch it says ENDED by itself; what has
 * not come so far ends here, and what egressd carries out.
 */
void
call_neuron_gone(struct neuron *n, unsigned cause, const char *why)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (c->neuron != n)
			continue;
		c->neuron = NULL;
		c->session = NULL;
		c->gone = cause;
		strlcpy(c->gone_why, why, sizeof(c->gone_why));
		if (c->step < STEP_LAUNCHED || c->egress != 0)
			call_lost_neuron(c, why);
	}
	n->call = NULL;
}

/* Its memory goes: no call may point to it. */
void
call_forget_neuron(const struct neuron *n)
{
	struct call *c;

	TAILQ_FOREACH(c, &calls, entry) {
		if (c->neuron == n)
			c->neuron = NULL;
	}
}

void
call_session_ended(struct session *s)
{
	struct call *c, *next;

	approvals_session_over(s->row.id);
	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (c->session != s)
			continue;
		c->session = NULL;
		call_stop(c, END_SESSION_ENDED);
	}
}

void
call_each_in(const struct neuron *n, void (*fn)(struct call *, void *),
    void *arg)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (n == NULL || c->neuron == n)
			fn(c, arg);
	}
}

void
call_end_of(uint32_t principal)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (c->row.principal == principal)
			call_stop(c, END_SESSION_ENDED);
	}
}

void
call_agent_lost(void)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next)
		call_stop(c, END_INTERRUPTED);
}

/* For the first time, or once more after it was allowed. */
static int
being_judged(const struct call *c)
{
	return (c->step == STEP_JUDGING || c->step == STEP_AGAIN);
}

static void
call_unjudged(struct call *c)
{
	call_finish(c, CALL_FAILED, "interrupted",
	    "judged ended while it judged the call", NULL);
}

/* judged has not come back in time. */
static void
judge_waited(int fd, short what, void *arg)
{
	struct call *c, *next;

	(void)fd;
	(void)what;
	(void)arg;
	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (being_judged(c) && c->unasked)
			call_unjudged(c);
	}
}

/*
 * It may have died of what it judged, so that no call is asked a third time.
 */
void
call_judge_lost(void)
{
	struct timeval tv = us_timeval(JUDGE_AGAIN_US);
	struct call *c, *next;
	int waiting = 0;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (!being_judged(c) || c->unasked)
			continue;
		if (c->judgings > 1 || policyd_base() == NULL ||
		    WITHOUT(judge_again))
			call_unjudged(c);
		else
			c->unasked = waiting = 1;
	}
	if (!waiting)
		return;
	if (judge_wait == NULL && (judge_wait = evtimer_new(policyd_base(),
	    judge_waited, NULL)) == NULL)
		fatal("call");
	evtimer_add(judge_wait, &tv);
}

void
call_judge_up(void)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (being_judged(c) && c->unasked && judge_ask(c) == -1)
			call_unjudged(c);
	}
}

void
call_launch_lost(void)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (c->step == STEP_LAUNCHED || c->step == STEP_RUNNING)
			call_finish(c, CALL_FAILED, "neuron_lost",
			    "neurond ended, and the neuron with it", NULL);
	}
}

void
call_all_interrupted(void)
{
	struct call *c, *next;

	TAILQ_FOREACH_SAFE(c, &calls, entry, next) {
		if (c->step == STEP_WAITING)
			call_free(c);
		else
			call_finish(c, CALL_FAILED, "interrupted",
			    "the service was stopped", NULL);
	}
}
