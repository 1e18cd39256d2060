/* Calls: asking, and what starts them. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sha2.h>

#include "call.h"
#include "call_list.h"
#include "codec.h"
#include "launch.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "without.h"

static int	call_admit(struct call *, struct refusal *);
static void	call_slot(void *, int, const struct refusal *);
static void	call_begin(struct call *);
static void	call_grant(struct call *);

void
call_refuse(struct call *c, const struct refusal *r)
{
	if (r->status < 500 && c->ident != NULL && ident_refused(c->ident)) {
		audit_append("call.refused", json_pack(
		    "{s:o,s:s,s:o,s:i,s:s,s:o}",
		    "call", json_text_or_null(c->row.id),
		    "principal", c->who, "tool", json_text(c->row.tool),
		    "status", (int)r->status, "code", r->code,
		    "why", json_text(r->words)));
		sync_soon();
	}
	reply_refusal(&c->to, r);
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

	if (sync_full())
		return (refuse_later(r, 503, "unavailable", 5,
		    "store_full: Myelin's disk is full, and a call that can "
		    "not be recorded is not run"));
	if (!judge_up())
		return (later(r, "judged"));
	if (!launch_up())
		return (later(r, "neurond"));
	if (call_count() > host)
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

	if (call_admit(c, &r) == -1) {
		call_refuse(c, &r);
		return;
	}
	if (c->session != NULL) {
		c->neuron = c->session->neuron;
		c->layers = c->neuron->layers;
		c->neuron->calls++;
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
	c->neuron = neuron_new(c->ident, c->build);
	c->neuron->call = c;
	c->neuron->calls = 1;
	call_begin(c);
}

/* SHA-256 of the argument bytes, as the audit log names them. */
static int
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

/* The record and the row: one write and one commit, while judged works. */
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
	audit_append("call.asked", json_pack("{s:s,s:o,s:s,s:s,s:o,s:s}",
	    "call", row->id, "session", json_text_or_null(row->session),
	    "neuron", row->neuron, "principal", c->who,
	    "tool", json_text(row->tool), "arguments_sha256", c->digest));
	sync_soon();
	if (audit_flush() == -1 || store_call_add(row) == -1) {
		audit_append("call.refused", json_pack("{s:s,s:s}",
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
	channel_send(c->to.api->channel, m);
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
}

/* ---- the verdict ---- */

static void
call_tell_judged(const struct call *c)
{
	struct imsg *m;

	if (!c->told || !reply_possible(&c->to))
		return;
	if ((m = imsg_new(MSG_CALL_JUDGED)) == NULL)
		fatal("call");
	imsg_put_u8(m, (uint8_t)c->judged.verdict);
	imsg_put_u8(m, (uint8_t)c->judged.effect);
	imsg_put_u32(m, c->judged.marks);
	imsg_put_str(m, c->row.id);
	imsg_put_str(m, c->judged.class);
	channel_send(c->to.api->channel, m);
}

/*
 * Guarantee C6: what is elevated is off, or asks.  An operator's rule that
 * allows each command of the call that would ask has answered already, but not
 * for a tool that is elevated whatever it is told to do.
 */
static void
call_elevated(struct call *c)
{
	const struct tool *tool = judge_tool(c->row.tool);
	struct judgement *j = &c->judged;
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
		return;
	}
	j->verdict = VERDICT_DENY;
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
 * that is milder than they are is lifted here.
 */
static void
call_restrict(struct call *c)
{
	const struct tool *tool = judge_tool(c->row.tool);
	struct judgement *j = &c->judged;
	struct refusal r;

	call_elevated(c);
	if (j->verdict != VERDICT_ALLOW)
		return;
	if (decide_tool(c->own, c->preset, c->row.tool, tool == NULL ? "" :
	    tool->group, j->effect, &r) == -1) {
		j->verdict = VERDICT_DENY;
		strlcpy(j->rule, "preset", sizeof(j->rule));
		strlcpy(j->reason, r.words, sizeof(j->reason));
		strlcpy(j->next, "ask an operator for a wider preset",
		    sizeof(j->next));
	} else if (tool == NULL || tool->asks) {
		j->verdict = VERDICT_ASK;
		strlcpy(j->rule, "tool", sizeof(j->rule));
	}
}

json_t *
marks_json(uint32_t marks)
{
	json_t *list = json_array();
	unsigned bit;

	for (bit = 1; bit != 0 && bit <= marks; bit <<= 1) {
		if ((marks & bit) != 0 && mark_name(bit) != NULL)
			json_array_append_new(list,
			    json_string(mark_name(bit)));
	}
	return (list);
}

void
call_judged(struct call *c, const struct judgement *j, int run_fd,
    int explanation_fd)
{
	c->t_verdict = now_us();
	c->judged = *j;
	c->fds[CALL_RUN] = run_fd;
	c->fds[CALL_EXPLANATION] = explanation_fd;
	call_restrict(c);
	audit_append("call.judged", json_pack("{s:s,s:s,s:o,s:s,s:o,s:o,s:o}",
	    "call", c->row.id, "verdict", verdict_name(c->judged.verdict),
	    "class", json_text_or_null(c->judged.class),
	    "effect", effect_name(c->judged.effect),
	    "marks", marks_json(c->judged.marks),
	    "rule", json_text_or_null(c->judged.rule),
	    "reason", json_text_or_null(c->judged.reason)));
	sync_soon();
	if (audit_flush() == -1) {
		sync_failed();
		call_finish(c, CALL_FAILED, "store_full", "the verdict can "
		    "not be recorded, and so nothing is run", NULL);
		return;
	}
	switch (c->judged.verdict) {
	case VERDICT_ALLOW:
		call_grant(c);
		break;
	case VERDICT_ASK:
		strlcpy(c->judged.next, "approvals are not built in this "
		    "version, so what needs one can not run yet",
		    sizeof(c->judged.next));
		if (c->judged.reason[0] == '\0')
			strlcpy(c->judged.reason,
			    "this needs a person's approval",
			    sizeof(c->judged.reason));
		/* FALLTHROUGH */
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

static void
call_grant(struct call *c)
{
	struct refusal r;

	if (c->session == NULL && neuron_make(c->neuron, &r) == -1) {
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, r.status < 500 ?
		    "policy_changed" : "launch_failed", r.words, NULL);
		return;
	}
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
