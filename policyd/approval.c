/* Approvals: asking, remembering, and all ways in which one is over. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "approval.h"
#include "call.h"
#include "call_list.h"
#include "codec.h"
#include "policyd.h"
#include "redact.h"
#include "runblock.h"
#include "secrets.h"
#include "session.h"
#include "sync.h"
#include "verdict.h"
#include "without.h"

static struct approval_list approvals = TAILQ_HEAD_INITIALIZER(approvals);

static void	deny(struct call *, const char *, ...) __printflike(2, 3);
static void	pend(struct call *, struct approval *);

const struct approval_list *
approvals_all(void)
{
	return (&approvals);
}

struct approval *
approval_find(const char *id)
{
	struct approval *a;

	TAILQ_FOREACH(a, &approvals, entry)
		if (strcmp(a->row.id, id) == 0)
			return (a);
	return (NULL);
}

/* ---- what it is of ---- */

/* -1 where there is none, or it is too large. */
static const uint8_t *
map(int fd, size_t most, size_t *size)
{
	*size = 0;
	return (fd == -1 ? NULL : memfd_map(fd, most, size));
}

static void
unmap(const uint8_t *bytes, size_t size)
{
	if (bytes != NULL)
		memfd_unmap(bytes, size);
}

int
approval_digests(const struct call *c, uint8_t digest[APPROVAL_DIGEST],
    uint8_t memory[APPROVAL_DIGEST], uint64_t *bytes)
{
	const struct tool *tool = judge_tool(c->row.tool);
	struct approval_subject s = {
		.principal = c->who, .session = c->row.session,
		.neuron = c->row.neuron, .tool = c->row.tool,
		.device = c->neuron->device, .inode = c->neuron->inode,
		.timeout = c->timeout, .limits = &c->limits
	};
	int r = -1;

	if (tool == NULL)
		return (-1);
	s.declaration = tool->digest;
	s.arguments = map(c->fds[CALL_ARGS], ARGUMENTS_MAX,
	    &s.arguments_size);
	s.run = map(c->fds[CALL_RUN], RUNBLOCK_BODY_MAX, &s.run_size);
	s.input = map(c->fds[CALL_INPUT], RUNBLOCK_BODY_MAX, &s.input_size);
	if (s.arguments != NULL && s.run != NULL &&
	    (s.input != NULL || c->fds[CALL_INPUT] == -1)) {
		if (digest != NULL)
			approval_digest(&s, 1, digest);
		if (memory != NULL)
			approval_digest(&s, 0, memory);
		if (bytes != NULL)
			*bytes = s.arguments_size + s.input_size;
		r = 0;
	}
	unmap(s.arguments, s.arguments_size);
	unmap(s.run, s.run_size);
	unmap(s.input, s.input_size);
	return (r);
}

/* ---- asking ---- */

/* What would need a person can't be asked: it is denied. */
static void
deny(struct call *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->judged.next, sizeof(c->judged.next), fmt, ap);
	va_end(ap);
	c->denied_by = "policy";
	if (c->judged.reason[0] == '\0')
		strlcpy(c->judged.reason, "this needs a person's approval",
		    sizeof(c->judged.reason));
	call_tell_judged(c);
	call_finish(c, CALL_FAILED, "denied_by_policy", NULL, NULL);
}

/* 1 if there is anybody to ask. */
static int
somebody(const char **why)
{
	size_t i;

	for (i = 0; i < conf()->nlistens; i++)
		if (conf()->listens[i].plane == PLANE_OPERATOR)
			break;
	*why = NULL;
	if (i == conf()->nlistens)
		*why = "there is nobody to ask: no \"listen operator\" is "
		    "configured";
	else if (api_operator.channel == NULL)
		*why = "there is nobody to ask: the operator socket's process "
		    "is being started; try again";
	return (*why == NULL || WITHOUT(approval_nobody));
}

static int
waits(const struct approval *a)
{
	return (a->call != NULL && a->call->step == STEP_AWAITING);
}

/* The limit that is reached, or LIMIT_COUNT. */
static enum limit
limit_reached(const struct call *c)
{
	uint64_t session = 0, principal = 0, host = 0;
	const struct approval *a;

	TAILQ_FOREACH(a, &approvals, entry) {
		if (!waits(a))
			continue;
		host++;
		principal += a->call->ident == c->ident;
		session += c->session != NULL &&
		    a->call->session == c->session;
	}
	if (WITHOUT(approval_limits))
		return (LIMIT_COUNT);
	if (session >= conf_limit(LIMIT_APPROVALS_SESSION))
		return (LIMIT_APPROVALS_SESSION);
	if (principal >= conf_limit(LIMIT_APPROVALS_PRINCIPAL))
		return (LIMIT_APPROVALS_PRINCIPAL);
	if (host >= conf_limit(LIMIT_APPROVALS_HOST))
		return (LIMIT_APPROVALS_HOST);
	return (LIMIT_COUNT);
}

void
approval_ask(struct call *c)
{
	struct refusal r;
	const char *why;

	if (c->fds[CALL_RUN] == -1) {
		deny(c, "judged gave nothing that could be run");
		return;
	}
	if (c->in == STDIN_STREAM) {
		deny(c, "its input is streamed, so nobody can know what is "
		    "allowed: give the call its input whole (stdin), or an "
		    "operator writes a rule (allow tool \"%s\" mark opaque)",
		    c->row.tool);
		return;
	}
	if (c->session != NULL || c->neuron->build.workspace[0] == '\0') {
		approval_ready(c);
		return;
	}
	if (!somebody(&why)) {
		deny(c, "%s", why);
		return;
	}
	/* Which directory it would run on is known once it is mounted. */
	if (neuron_make(c->neuron, &r) == -1) {
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, r.status < 500 ?
		    "policy_changed" : "launch_failed", r.words, NULL);
		return;
	}
	c->step = STEP_ASKING;
}

/* One that is in force for exactly this, or NULL. */
static struct approval *
remembered(const struct call *c, const uint8_t memory[APPROVAL_DIGEST])
{
	struct approval *a;

	if (c->session == NULL)
		return (NULL);
	TAILQ_FOREACH(a, &approvals, entry)
		if (a->row.remembered &&
		    strcmp(a->row.session, c->row.session) == 0 &&
		    memcmp(a->memory, memory, APPROVAL_DIGEST) == 0)
			return (a);
	return (NULL);
}

static void
use(struct call *c, const struct approval *a)
{
	strlcpy(c->approved, a->row.id, sizeof(c->approved));
	c->scope = a->row.scope;
	audit_append("approval.used", json_pack("{s:s,s:s,s:s}",
	    "approval", a->row.id, "call", c->row.id,
	    "operator", a->row.decided_by));
	sync_soon();
	if (audit_flush() == -1) {
		sync_failed();
		call_finish(c, CALL_FAILED, "store_full", "that an approval "
		    "is used can not be recorded", NULL);
		return;
	}
	call_grant(c);
}

void
approval_ready(struct call *c)
{
	uint64_t most = conf_limit(LIMIT_APPROVAL_SIZE);
	struct approval *a, *old;
	enum limit limit;
	const char *why;

	if ((a = calloc(1, sizeof(*a))) == NULL)
		fatal("approval");
	if (approval_digests(c, a->digest, a->memory, &a->row.bytes) == -1)
		deny(c, "what it would run can not be read");
	else if ((old = remembered(c, a->memory)) != NULL)
		use(c, old);
	else if (!somebody(&why))
		deny(c, "%s", why);
	else if (a->row.bytes > most)
		deny(c, "its arguments and input are %llu bytes, over the "
		    "limit approval-size, which is %llu",
		    (unsigned long long)a->row.bytes,
		    (unsigned long long)most);
	else if ((limit = limit_reached(c)) != LIMIT_COUNT)
		deny(c, "the limit %s is %llu, and as many wait for a "
		    "decision", limit_table[limit].keyword,
		    (unsigned long long)conf_limit(limit));
	else {
		pend(c, a);
		return;
	}
	free(a);
}

/* Secrets stay out of the database: whoever decides sees the call itself. */
static void
copy_clean(char *dst, const char *src, size_t size)
{
	strlcpy(dst, src, size);
	redact_line(dst);
	secrets_mask(dst, 0);
}

static void
fill(struct approval_row *row, const struct call *c)
{
	const struct judgement *j = &c->judged;

	strlcpy(row->call, c->row.id, sizeof(row->call));
	strlcpy(row->session, c->row.session, sizeof(row->session));
	strlcpy(row->neuron, c->row.neuron, sizeof(row->neuron));
	strlcpy(row->principal, c->who, sizeof(row->principal));
	strlcpy(row->tool, c->row.tool, sizeof(row->tool));
	strlcpy(row->workspace, c->neuron->build.workspace,
	    sizeof(row->workspace));
	strlcpy(row->class, j->class, sizeof(row->class));
	row->effect = j->effect;
	row->marks = j->marks;
	copy_clean(row->rule, j->rule, sizeof(row->rule));
	strlcpy(row->where, j->where, sizeof(row->where));
	copy_clean(row->reason, j->reason, sizeof(row->reason));
	copy_clean(row->command, j->command, sizeof(row->command));
	row->from = j->from;
	row->to = j->to;
	row->state = APPROVAL_PENDING;
	row->created = wall_us();
	row->rememberable = c->session != NULL &&
	    ((j->flags & VERDICT_F_UNRESOLVED) == 0 ||
	    WITHOUT(approval_unresolved));
}

static int
record(struct approval *a)
{
	const struct approval_row *row = &a->row;

	audit_append("approval.requested", json_pack("{s:s,s:s,s:o,s:s,s:s,"
	    "s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:s,s:I,s:I}",
	    "approval", row->id, "call", row->call,
	    "session", json_text_or_null(row->session),
	    "neuron", row->neuron, "principal", row->principal,
	    "tool", json_text(row->tool),
	    "class", json_text_or_null(row->class),
	    "effect", effect_name(row->effect),
	    "marks", marks_json(row->marks),
	    "rule", json_text_or_null(row->rule),
	    "reason", json_text_or_null(row->reason),
	    "command", json_text_or_null(row->command),
	    "digest", row->digest, "bytes", (json_int_t)row->bytes,
	    "expires_ms", (json_int_t)conf_limit(LIMIT_APPROVAL_EXPIRY)));
	sync_soon();
	if (audit_flush() == 0 && store_approval_add(row) == 0)
		return (0);
	sync_failed();
	return (-1);
}

/* The caller may know what is asked, not where the rule stands. */
static void
tell_asking(const struct approval *a)
{
	const struct approval_row *row = &a->row;
	const struct call *c = a->call;
	uint32_t ms = (uint32_t)conf_limit(LIMIT_APPROVAL_EXPIRY);
	struct imsg *m;
	json_t *json;
	char *text;

	if (!c->told || !reply_possible(&c->to))
		return;
	json = json_pack("{s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o,s:o,s:I}",
	    "call", row->call, "approval", row->id,
	    "tool", json_text(row->tool),
	    "class", json_text_or_null(row->class),
	    "effect", effect_name(row->effect),
	    "marks", marks_json(row->marks),
	    "rule", json_text_or_null(row->rule),
	    "reason", json_text_or_null(row->reason),
	    "command", json_text_or_null(row->command),
	    "expires_ms", (json_int_t)ms);
	if (json == NULL || (text = json_dumps(json, JSON_COMPACT)) == NULL ||
	    (m = imsg_new(MSG_CALL_ASKING)) == NULL)
		fatalx("an approval can not be told");
	json_decref(json);
	imsg_put_u32(m, ms);
	imsg_put_str(m, row->call);
	imsg_put_str(m, row->id);
	imsg_put_str(m, text);
	free(text);
	channel_send(c->to.api->channel, m);
}

static void
on_timer(int fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	approval_expire(arg);
}

void
approval_arm(struct approval *a)
{
	uint64_t us = conf_limit(LIMIT_APPROVAL_EXPIRY) * 1000;
	struct timeval tv = us_timeval(us);

	a->deadline = now_us() + us;
	if (!WITHOUT(approval_expiry))
		evtimer_add(a->timer, &tv);
}

/* Whoever watches the journal; what runs is not in it. */
static void
alarm_waits(const struct approval *a)
{
	char fields[200], id[REQUEST_ID_SIZE];
	uint64_t request = a->call != NULL ? a->call->to.id : 0;

	snprintf(fields, sizeof(fields), "MYELIN_APPROVAL=%s\n"
	    "MYELIN_CALL=%s\n%s%s%s", a->row.id, a->row.call,
	    request != 0 ? "MYELIN_REQUEST_ID=" : "", request_id(request, id),
	    request != 0 ? "\n" : "");
	log_alarm(LOG_APPROVAL_WAITS, fields, "approval %s waits for a "
	    "decision, %llu s at most: the call %s, %s by %s", a->row.id,
	    (unsigned long long)conf_limit(LIMIT_APPROVAL_EXPIRY) / 1000,
	    a->row.call, a->row.tool, a->row.principal);
}

static void
alarm_expired(const struct approval_row *row, const char *why)
{
	char fields[160];

	snprintf(fields, sizeof(fields), "MYELIN_APPROVAL=%s\n"
	    "MYELIN_CALL=%s\n", row->id, row->call);
	log_alarm(LOG_APPROVAL_EXPIRED, fields, "approval %s has expired: %s",
	    row->id, why);
}

/* From here on the call waits for a person. */
static void
pend(struct call *c, struct approval *a)
{
	if (id_make(ID_APPROVAL, a->row.id) == -1 ||
	    (a->timer = evtimer_new(policyd_base(), on_timer, a)) == NULL)
		fatal("approval");
	fill(&a->row, c);
	hex_sha(a->digest, a->row.digest);
	a->row.serial = store_next_approval();
	if (record(a) == -1) {
		event_free(a->timer);
		free(a);
		call_tell_judged(c);
		call_finish(c, CALL_FAILED, "store_full", "the approval can "
		    "not be recorded, and so is not asked for", NULL);
		return;
	}
	a->call = c;
	c->approval = a;
	strlcpy(c->approved, a->row.id, sizeof(c->approved));
	TAILQ_INSERT_TAIL(&approvals, a, entry);
	call_slot_leave(c);
	c->step = STEP_AWAITING;
	c->row.state = CALL_AWAITING;
	a->since = now_us();
	approval_arm(a);
	alarm_waits(a);
	call_tell_judged(c);
	tell_asking(a);
}

/* ---- over ---- */

void
approval_written(struct approval *a)
{
	if (store_approval_set(&a->row) == -1)
		sync_failed();
	sync_soon();
}

void
approval_tell(const struct approval *a)
{
	const struct call *c = a->call;
	struct imsg *m;

	if (c == NULL || !c->told || !reply_possible(&c->to))
		return;
	if ((m = imsg_new(MSG_CALL_RESOLVED)) == NULL)
		fatal("approval");
	imsg_put_u8(m, (uint8_t)a->row.state);
	imsg_put_str(m, a->row.call);
	imsg_put_str(m, a->row.id);
	imsg_put_str(m, a->row.decision_reason);
	channel_send(c->to.api->channel, m);
}

static void
forget(struct approval *a)
{
	TAILQ_REMOVE(&approvals, a, entry);
	event_free(a->timer);
	free(a);
}

void
approval_detach(struct approval *a)
{
	evtimer_del(a->timer);
	a->wants = 0;
	if (a->call != NULL)
		a->call->approval = NULL;
	a->call = NULL;
	if (!a->row.remembered)
		forget(a);
}

void
approval_expire(struct approval *a)
{
	const char *why = a->wants ? "no slot was free" : "nobody decided";
	struct call *c = a->call;
	char words[160];

	a->row.state = APPROVAL_EXPIRED;
	a->row.decided = wall_us();
	snprintf(words, sizeof(words), "denied: %s within %llu s (the limit "
	    "approval-expiry)", a->wants ? "it was allowed, but no slot was "
	    "free" : "nobody decided", (unsigned long long)
	    conf_limit(LIMIT_APPROVAL_EXPIRY) / 1000);
	audit_append("approval.expired", json_pack("{s:s,s:s,s:s}",
	    "approval", a->row.id, "call", a->row.call,
	    "why", why));
	alarm_expired(&a->row, why);
	approval_written(a);
	approval_tell(a);
	call_finish(c, CALL_FAILED, "approval_expired", words, NULL);
}

void
approval_over(struct call *c)
{
	struct approval *a = c->approval;

	if (a == NULL)
		return;
	if (a->row.state == APPROVAL_PENDING) {
		a->row.state = APPROVAL_CANCELLED;
		a->row.decided = wall_us();
		audit_append("approval.resolved", json_pack("{s:s,s:s,s:s,"
		    "s:n,s:s}", "approval", a->row.id, "call", a->row.call,
		    "state", approval_state_name(a->row.state), "operator",
		    "digest", a->row.digest));
		approval_written(a);
		approval_tell(a);
	}
	approval_detach(a);
}

void
approvals_session_over(const char *session)
{
	struct approval *a, *next;
	int some = 0;

	TAILQ_FOREACH_SAFE(a, &approvals, entry, next) {
		if (!a->row.remembered || strcmp(a->row.session, session) != 0)
			continue;
		some = 1;
		a->row.remembered = 0;
		/* its own call ends by itself */
		if (a->call == NULL)
			forget(a);
	}
	if (some && store_approvals_forget(session) == -1)
		sync_failed();
}

void
approvals_drain(void)
{
	struct approval *a;

again:
	TAILQ_FOREACH(a, &approvals, entry) {
		if (!waits(a))
			continue;
		call_finish(a->call, CALL_FAILED, "interrupted", "the service "
		    "is draining: what waits for an approval is not begun",
		    NULL);
		goto again;
	}
}

/* ---- the process before ---- */

#define PAGE	256

struct left {
	struct approval_row *rows;
	size_t		 n;
};

static int
left_one(void *arg, const struct approval_row *row)
{
	struct left *left = arg;

	left->rows[left->n++] = *row;
	return (0);
}

/* A page of what was pending; -1, 0: no more, 1. */
static int
recover_page(struct left *left)
{
	struct approval_row *row;

	left->n = 0;
	if (store_approvals(LIST_PENDING, UINT64_MAX, PAGE, left_one,
	    left) == -1)
		return (-1);
	for (row = left->rows; row < left->rows + left->n; row++) {
		row->state = APPROVAL_EXPIRED;
		row->decided = wall_us();
		audit_append("approval.expired", json_pack("{s:s,s:s,s:s}",
		    "approval", row->id, "call", row->call,
		    "why", "the service was interrupted"));
		alarm_expired(row, "the service was interrupted");
		if (store_approval_set(row) == -1)
			return (-1);
	}
	return (left->n > 0);
}

int
approvals_recover(void)
{
	struct left left;
	int r;

	if ((left.rows = calloc(PAGE, sizeof(*left.rows))) == NULL)
		fatal("recovery");
	while ((r = recover_page(&left)) == 1)
		continue;
	free(left.rows);
	if (r == -1 || store_approvals_forget("") == -1) {
		log_warnx("state.db: approvals can not be read or written");
		return (-1);
	}
	return (0);
}

void
approvals_end(void)
{
	struct approval *a;

	while ((a = TAILQ_FIRST(&approvals)) != NULL) {
		if (a->call != NULL)
			a->call->approval = NULL;
		forget(a);
	}
}
