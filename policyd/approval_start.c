/* Approvals: what was allowed gets a slot, is judged once more, and starts. */

#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "approval.h"
#include "call.h"
#include "call_list.h"
#include "hook.h"
#include "policyd.h"
#include "session.h"
#include "sync.h"
#include "verdict.h"
#include "without.h"

static int	scheduled;

unsigned
approvals_held(void)
{
	const struct approval *a;
	unsigned n = 0;

	TAILQ_FOREACH(a, approvals_all(), entry)
		n += a->call != NULL && a->call->step == STEP_AWAITING;
	return (n);
}

/* 1 if one more call may run, in the neuron and on the host. */
static int
slot_free(const struct call *c)
{
	if (c->session != NULL && c->session->neuron->calls >=
	    c->limits.v[LIMIT_RUNNING])
		return (0);
	return (call_count() - approvals_held() <
	    conf_limit(LIMIT_RUNNING_HOST));
}

static void
judge_again(struct call *c)
{
	c->approval->wants = 0;
	evtimer_del(c->approval->timer);
	call_slot_take(c);
	call_list_again(c);
	c->judgings = 0;
	c->step = STEP_AGAIN;
	c->row.state = CALL_QUEUED;
	if (judge_ask(c) == -1)
		call_finish(c, CALL_FAILED, "interrupted", "judged ended "
		    "before it could judge the call once more", NULL);
}

void
approval_start(struct call *c)
{
	if (slot_free(c)) {
		judge_again(c);
		return;
	}
	c->approval->wants = 1;
	approval_arm(c->approval);
}

static void
on_slot(int fd, short what, void *arg)
{
	struct approval *a;

	(void)fd;
	(void)what;
	(void)arg;
	scheduled = 0;
again:
	TAILQ_FOREACH(a, approvals_all(), entry) {
		if (!a->wants || !slot_free(a->call))
			continue;
		judge_again(a->call);
		goto again;	/* it may have ended, and others with it */
	}
}

/* From the loop, not from inside what ended. */
void
approvals_slot(void)
{
	const struct approval *a;

	if (scheduled || policyd_base() == NULL)
		return;
	TAILQ_FOREACH(a, approvals_all(), entry) {
		if (!a->wants)
			continue;
		scheduled = event_base_once(policyd_base(), -1, EV_TIMEOUT,
		    on_slot, NULL, NULL) == 0;
		return;
	}
}

/* ---- the second verdict ---- */

static int
limits_same(const struct limits *a, const struct limits *b)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		if (limit_of_neuron(i) && a->v[i] != b->v[i])
			return (0);
	}
	return (1);
}

/* The principal's line, and what a neuron yet to be made would be. */
static int
terms_same(const struct call *c, struct refusal *r)
{
	const struct build *b = &c->neuron->build;
	const struct cf_principal *line;
	struct build fresh = *b;

	if (decide_line(&b->peer, &line, r) == -1)
		return (0);
	if (strcmp(line->preset, c->own) != 0) {
		refuse(r, 403, "forbidden", "the preset is \"%s\" now, and "
		    "was \"%s\"", line->preset, c->own);
		return (0);
	}
	if (c->session != NULL || c->neuron->state != NEURON_NEW)
		return (1);
	if (decide_again(&fresh, r) == -1)
		return (0);
	refuse(r, 403, "forbidden", "the profile \"%s\" has changed",
	    b->profile);
	return (strcmp(fresh.profile, b->profile) == 0 &&
	    strcmp(fresh.preset, b->preset) == 0 &&
	    limits_same(conf_profile(fresh.profile), &c->limits));
}

/* 0 if it is what was allowed; or -1 and what is not. */
static int
same(const struct call *c, const struct judgement *j, struct refusal *r)
{
	uint8_t digest[APPROVAL_DIGEST];

	if (j->verdict != VERDICT_ALLOW && j->verdict != VERDICT_ASK)
		return (refuse(r, 403, "forbidden", "%s", j->reason));
	if (j->effect > c->judged.effect ||
	    (j->marks & ~c->judged.marks) != 0)
		return (refuse(r, 403, "forbidden", "it is judged more "
		    "strictly than when it was asked for"));
	if (!terms_same(c, r))
		return (-1);
	if (hooks_count() > 0 && c->hooked != hooks_set())
		return (refuse(r, 403, "forbidden", "there are other hooks "
		    "than those that it passed"));
	if (approval_digests(c, digest, NULL, NULL) == -1 ||
	    memcmp(digest, c->approval->digest, sizeof(digest)) != 0)
		return (refuse(r, 403, "forbidden", "what would run is not "
		    "what was allowed"));
	return (0);
}

static void
changed(struct call *c, const char *why)
{
	struct approval *a = c->approval;
	char words[1200];

	a->row.state = APPROVAL_CHANGED;
	a->row.remembered = 0;
	audit_append("approval.resolved", json_pack("{s:s,s:s,s:s,s:n,s:s,"
	    "s:o}", "approval", a->row.id, "call", a->row.call,
	    "state", approval_state_name(a->row.state), "operator",
	    "digest", a->row.digest, "reason", json_text(why)));
	approval_written(a);
	approval_tell(a);
	snprintf(words, sizeof(words), "denied: the policy has changed since "
	    "it was asked for: %s", why);
	call_finish(c, CALL_FAILED, "policy_changed", words, NULL);
}

void
approval_judged(struct call *c, const struct judgement *j, int run_fd,
    int explanation_fd)
{
	struct judgement second = *j;
	struct refusal r;

	if (explanation_fd != -1)
		close(explanation_fd);
	if (c->fds[CALL_RUN] != -1)
		close(c->fds[CALL_RUN]);
	c->fds[CALL_RUN] = run_fd;
	call_restrict(c, &second);
	verdict_record(c, &second, 1);
	sync_soon();
	if (audit_flush() == -1) {
		sync_failed();
		call_finish(c, CALL_FAILED, "store_full", "the verdict can "
		    "not be recorded, and so nothing is run", NULL);
	} else if (same(c, &second, &r) == -1 && !WITHOUT(approval_again)) {
		changed(c, r.words);
	} else {
		c->scope = c->approval->row.scope;
		approval_detach(c->approval);
		call_grant(c);
	}
}
