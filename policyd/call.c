/* Calls: asking, and what starts them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "approval.h"
#include "call.h"
#include "call_list.h"
#include "codec.h"
#include "dry.h"
#include "egress.h"
#include "hook.h"
#include "launch.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "verdict.h"
#include "without.h"

#define EFFECT_ASKS	EFFECT_DESTRUCTIVE	/* guarantee C10: from here on */

static int	call_admit(struct call *, struct refusal *);
static void	call_slot(void *, int, const struct refusal *);
static void	call_begin(struct call *);

void
call_refuse(struct call *c, const struct refusal *r)
{
	if (r->status < 500 && c->ident != NULL && ident_refused(c->ident)) {
		audit_append_for(&c->to, "call.refused", json_pack(
		    "{s:o,s:s,s:o,s:i,s:s,s:o}",
		    "call", json_text_or_null(c->row.id),
		    "principal", c->who, "tool", json_text(c->row.tool),
		    "status", (int)r->status, "code", r->code,
		    "why", json_text(r->words)));
		sync_soon();
	}
	log_debug_of(&(struct log_about){ .request = c->to.id,
	    .session = c->session != NULL ? c->session->row.id : NULL },
	    "a call of %s by %s is refused: %s: %s", c->row.tool, c->who,
	    r->code, r->words);
	reply_refusal(&c->to, r);
	idempotent_refused(c, r);
	call_free(c);
}

static int
later(struct refusal *r, const char *what)
{
	return (refuse_later(r, 503, "unavailable", 1,
	    "%s is being started; try again", what));
}

/* Budgets and caps, each named with its value where it is hit. */
static int
call_admit(struct call *c, struct refusal *r)
{
	uint64_t running = c->limits.v[LIMIT_RUNNING];
	uint64_t host = conf_limit(LIMIT_RUNNING_HOST);
	const struct session *s = c->session;
	const struct cf_preset *own;
	uint32_t wait;

	if (sync_full() && !WITHOUT(audit_full))
		return (refuse_later(r, 503, "unavailable", 5,
		    "store_full: Myelin's disk is full, and a call that can "
		    "not be recorded is not run"));
	if (!judge_up())
		return (later(r, "judged"));
	if (!launch_up())
		return (later(r, "neurond"));
	if (call_count() - approvals_held() > host)
		return (refuse_later(r, 429, "too_many", 1, "the limit "
		    "running-calls-host is %llu, and as many run",
		    (unsigned long long)host));
	if (s != NULL && s->neuron->calls >= running &&
	    !WITHOUT(running_calls))
		return (refuse_later(r, 429, "too_many", 1, "the limit "
		    "running-calls of a neuron is %llu, and as many run",
		    (unsigned long long)running));
	if (s != NULL && s->row.calls >= s->row.calls_limit &&
	    !WITHOUT(call_budget))
		return (refuse(r, 429, "budget_exhausted", "the limit "
		    "calls-session is %llu calls, and all are used; open "
		    "another session",
		    (unsigned long long)s->row.calls_limit));
	if (s == NULL && (own = conf_preset(c->own)) != NULL &&
	    (wait = ident_wait(c->ident, conf_hourly(own))) > 0)
		return (refuse_later(r, 429, "budget_exhausted", wait,
		    "the limit hourly is %llu sessions and sessionless "
		    "calls, and all are used",
		    (unsigned long long)conf_hourly(own)));
	return (0);
}

void
call_ask(struct call *c)
{
	struct refusal r;

	if (c->dry_run) {
		dry_ask(c);
		return;
	}
	if (call_admit(c, &r) == -1) {
		call_refuse(c, &r);
		return;
	}
	if (c->session != NULL) {
		c->neuron = c->session->neuron;
		c->layers = c->neuron->layers;
		call_slot_take(c);
		call_begin(c);
		return;
	}
	neuron_ask(&c->wait, c->ident, call_slot, c);
}

static void
call_slot(void *arg, int granted, const struct refusal *why)
{
	struct call *c = arg;
	struct refusal r;

	if (!granted) {
		call_refuse(c, why);
		return;
	}
	/* the wait was long enough for anything to happen */
	if (call_admit(c, &r) == -1) {
		call_refuse(c, &r);
		return;
	}
	c->neuron = neuron_new(c->ident, c->build, NULL);
	c->neuron->call = c;
	call_slot_take(c);
	call_begin(c);
}

const struct build *
call_build(const struct call *c)
{
	if (c->neuron != NULL)
		return (&c->neuron->build);
	return (c->session != NULL ? &c->session->build : c->build);
}

const char *
call_workspace(const struct call *c)
{
	return (call_build(c)->workspace);
}

/* As the audit log names them. */
int
call_digest(struct call *c)
{
	uint8_t digest[32];
	const uint8_t *bytes;
	SHA2_CTX sha;
	size_t size;

	if ((bytes = memfd_map(c->fds[CALL_ARGS], ARGUMENTS_MAX, &size)) ==
	    NULL)
		return (-1);
	SHA256Init(&sha);
	SHA256Update(&sha, bytes, size);
	SHA256Final(digest, &sha);
	memfd_unmap(bytes, size);
	hex_sha(digest, c->digest);
	return (0);
}

static void
record_asked(const struct call *c)
{
	struct text *t = audit_begin("call.asked");
	const struct call_row *row = &c->row;

	text_word(t, "call", row->id);
	text_word_or_null(t, "session", row->session);
	text_word(t, "neuron", row->neuron);
	text_string(t, "principal", c->who);
	text_string(t, "tool", row->tool);
	text_word(t, "arguments_sha256", c->digest);
	text_string_or_null(t, "arguments", c->shown);
	text_bool(t, "arguments_cut", c->shown_cut);
	audit_request(t, &c->to);
	audit_end(t);
}

/* The record, while judged works; the row is written later (store_call.c). */
static int
call_record(struct call *c)
{
	struct call_row *row = &c->row;

	row->serial = store_next_call();
	row->state = CALL_QUEUED;
	row->exit_code = -1;
	strlcpy(row->neuron, c->neuron->id, sizeof(row->neuron));
	if (c->session != NULL)
		strlcpy(row->session, c->session->row.id,
		    sizeof(row->session));
	record_asked(c);
	free(c->shown);
	c->shown = NULL;
	call_log(c, "is asked for by", c->who);
	sync_soon();
	if ((audit_flush() == -1 || (c->key.keyed ?
	    store_call_add_keyed(row, c->key.key, c->key.same) :
	    store_call_add(row)) == -1) && !WITHOUT(audit_full)) {
		audit_append_for(&c->to, "call.refused", json_pack("{s:s,s:s}",
		    "call", row->id, "reason", "store_full"));
		sync_failed();
		return (-1);
	}
	return (0);
}

static void
call_tell_asked(struct call *c)
{
	struct imsg *m;

	if (!reply_possible(&c->to))
		return;
	if ((m = imsg_new(MSG_ASKED)) == NULL)
		fatal("call");
	imsg_put_u32(m, c->to.request);
	imsg_put_u32(m, c->row.principal);
	imsg_put_u64(m, c->limits.v[LIMIT_OUTPUT_KEPT]);
	imsg_put_u64(m, c->limits.v[LIMIT_OUTPUT_KILLED]);
	imsg_put_str(m, c->row.id);
	imsg_put_str(m, c->row.session);
	channel_send_soon(c->to.api->channel, m, c->patient ?
	    CALL_TELL_US : 0);
	c->told = 1;
}

static void
call_begin(struct call *c)
{
	struct refusal r;

	if (id_make(ID_CALL, c->row.id) == -1)
		fatal("call");
	c->row.asked = wall_us();
	strlcpy(c->profile, c->neuron->build.profile, sizeof(c->profile));
	call_list_begin(c);
	c->t_judge = now_us();
	if (judge_ask(c) == -1) {
		later(&r, "judged");
		call_refuse(c, &r);
		return;
	}
	if (call_digest(c) == -1) {
		refuse(&r, 400, "bad_request", "the arguments are over %u "
		    "bytes", ARGUMENTS_MAX);
		call_refuse(c, &r);
		return;
	}
	if (call_record(c) == -1) {
		refuse_later(&r, 503, "unavailable", 5, "store_full: the call "
		    "can not be recorded, and so is not run");
		call_refuse(c, &r);
		return;
	}
	if (c->session != NULL)
		c->session->row.calls++;
	else if (ident_spend(c->ident, wall_seconds(), 1) == -1)
		fatal("call");
	call_tell_asked(c);
	idempotent_asked(c);
}

/* ---- the verdict ---- */

void
call_tell_judged(struct call *c)
{
	static struct text t;
	struct imsg *m;

	if (c->told_verdict || !c->told || !reply_possible(&c->to))
		return;
	c->told_verdict = 1;
	if ((m = imsg_new(MSG_CALL_JUDGED)) == NULL)
		fatal("call");
	text_clear(&t);
	judgement_text(&t, NULL, &c->judged);
	imsg_put_str(m, c->row.id);
	imsg_put_str(m, t.p);
	channel_send_soon(c->to.api->channel, m, c->patient ?
	    CALL_TELL_US : 0);
}

/*
 * Guarantee C6: what is elevated is off, or asks.  An operator's rule that
 * allows each command of the call that would ask has answered already, but not
 * for a tool that is elevated whatever it is told to do.
 */
static void
call_elevated(struct call *c, struct judgement *j)
{
	const struct tool *tool = judge_tool(c->row.tool);
	const char *off;

	if ((j->verdict != VERDICT_ALLOW && j->verdict != VERDICT_ASK) ||
	    (j->marks & MARK_ELEVATED) == 0 || WITHOUT(elevated))
		return;
	if (decide_elevated(c->own, c->preset, &off) == ELEVATED_ASK) {
		if (j->verdict == VERDICT_ASK || (j->where[0] != '\0' &&
		    tool != NULL && (tool->marks & MARK_ELEVATED) == 0))
			return;
		j->verdict = VERDICT_ASK;
		strlcpy(j->rule, "elevated", sizeof(j->rule));
		j->where[0] = '\0';
		strlcpy(j->reason, "what is elevated needs an approval",
		    sizeof(j->reason));
		strlcpy(j->next, "an operator approves the call",
		    sizeof(j->next));
		return;
	}
	j->verdict = VERDICT_DENY;
	c->denied_by = "policy";
	strlcpy(j->class, "elevated", sizeof(j->class));
	strlcpy(j->rule, "elevated off", sizeof(j->rule));
	j->where[0] = '\0';
	snprintf(j->reason, sizeof(j->reason), "\"%.200s\" would act with other "
	    "rights, change the host or write outside of home, workspace and "
	    "/tmp, and with the preset \"%s\" what is elevated is off",
	    j->command[0] != '\0' ? j->command : c->row.tool, off);
	strlcpy(j->next, "do it without other rights, below the home, the "
	    "workspace or /tmp; or ask an operator for a preset with "
	    "\"elevated ask\"", sizeof(j->next));
}

/*
 * judged only ever adds to what the preset and the declaration say: a verdict
 * that is milder than they are is lifted here.  What asks is within the cap as
 * long as its tool is: that a command's effect is over it is why it asks.
 */
void
call_restrict(struct call *c, struct judgement *j)
{
	const struct tool *tool = judge_tool(c->row.tool);
	struct refusal r;

	if (tool != NULL)
		c->egress = tool->egress;
	egress_restrict(c, j);
	call_elevated(c, j);
	if (j->verdict != VERDICT_ALLOW && j->verdict != VERDICT_ASK)
		return;
	if (decide_tool(c->own, c->preset, c->row.tool, tool == NULL ? "" :
	    tool->group, j->verdict == VERDICT_ASK && tool != NULL ?
	    tool->effect : j->effect, &r) == -1) {
		j->verdict = VERDICT_DENY;
		c->denied_by = "policy";
		strlcpy(j->rule, "preset", sizeof(j->rule));
		j->where[0] = '\0';
		strlcpy(j->reason, r.words, sizeof(j->reason));
		strlcpy(j->next, "ask an operator for a wider preset",
		    sizeof(j->next));
	} else if (j->verdict == VERDICT_ALLOW &&
	    (tool == NULL || tool->asks)) {
		j->verdict = VERDICT_ASK;
		strlcpy(j->rule, "tool", sizeof(j->rule));
		j->where[0] = '\0';
	} else if (j->verdict == VERDICT_ALLOW && !WITHOUT(effect_asks) &&
	    (j->effect >= EFFECT_ASKS || tool->effect >= EFFECT_ASKS)) {
		j->verdict = VERDICT_ASK;
		strlcpy(j->rule, "effect", sizeof(j->rule));
		snprintf(j->reason, sizeof(j->reason), "what is %s needs an "
		    "approval", effect_name(EFFECT_ASKS));
	}
}

void
call_judged(struct call *c, const struct judgement *j, int run_fd,
    int explanation_fd)
{
	c->t_verdict = now_us();
	c->judged = *j;
	c->fds[CALL_RUN] = run_fd;
	c->fds[CALL_EXPLANATION] = explanation_fd;
	call_restrict(c, &c->judged);
	if (c->dry_run) {
		dry_judged(c);
		return;
	}
	verdict_record(c, &c->judged, 0);
	sync_soon();
	if (audit_flush() == -1) {
		sync_failed();
		call_finish(c, CALL_FAILED, "store_full", "the verdict can "
		    "not be recorded, and so nothing is run", NULL);
		return;
	}
	/* Behind the rules, and before anyone is asked. */
	if (hooks_count() > 0 && (c->judged.verdict == VERDICT_ALLOW ||
	    c->judged.verdict == VERDICT_ASK) && !WITHOUT(hooks))
		hook_begin(c);
	else
		call_hooked(c);
}

void
call_hooked(struct call *c)
{
	switch (c->judged.verdict) {
	case VERDICT_ALLOW:
		call_grant(c);
		break;
	case VERDICT_ASK:
		approval_ask(c);
		break;
	case VERDICT_DENY:
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, c->judged.verdict ==
		    VERDICT_DENY && (c->judged.flags & VERDICT_F_NO_EGRESS) !=
		    0 ? "no_egress" : "denied_by_policy", NULL, NULL);
		break;
	default:
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, "invalid_arguments",
		    c->judged.reason, NULL);
		break;
	}
}

void
call_grant(struct call *c)
{
	struct refusal r;

	if (c->session == NULL && c->neuron->state == NEURON_NEW &&
	    neuron_make(c->neuron, &r) == -1) {
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, r.status < 500 ?
		    "policy_changed" : "launch_failed", r.words, NULL);
		return;
	}
	if (c->egress != 0) {
		egress_run(c);
		return;
	}
	egress_begin(c);
	if (launch_call(c) == -1) {
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, "launch_failed",
		    "neurond is being started", NULL);
		return;
	}
	c->step = STEP_LAUNCHED;
	c->t_launch = now_us();
	call_tell_judged(c);
}
