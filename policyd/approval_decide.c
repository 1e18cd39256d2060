/* Approvals: DECIDE, by an operator who may. */

#include <stdio.h>
#include <string.h>

#include "approval.h"
#include "audit.h"
#include "call.h"
#include "call_list.h"
#include "egress.h"
#include "ids.h"
#include "launch.h"
#include "query.h"
#include "redact.h"
#include "secrets.h"
#include "sync.h"
#include "without.h"

struct decision {
	struct reply_to	 to;
	struct peer	*peer;
	unsigned	 what;		/* DECIDE_* */
	uint8_t		 digest[APPROVAL_DIGEST];
	char		 id[ID_SIZE];
	char		 reason[DECIDE_REASON_MAX + 1];
};

/* ---- what stands in the way ---- */

static int
row_copy(void *arg, const struct approval_row *row)
{
	*(struct approval_row *)arg = *row;
	return (1);
}

/* There is none, or it is over: who decided what, and when. */
static int
refuse_over(const char *id, struct refusal *r)
{
	struct approval_row row = { .serial = 0 };
	char when[TIME_TEXT];

	if (!id_ok(ID_APPROVAL, id) ||
	    store_approval(id, row_copy, &row) == -1 || row.serial == 0)
		return (refuse(r, 404, "not_found", "there is no approval "
		    "\"%s\"", id));
	/* the store could not be written when it ended */
	if (row.state == APPROVAL_PENDING)
		return (refuse(r, 409, "conflict", "%s is over", id));
	if (row.decided_by[0] == '\0')
		return (refuse(r, 409, "conflict", "%s: %s, at %s", id,
		    approval_state_name(row.state),
		    time_text(row.decided, when)));
	return (refuse(r, 409, "conflict", "%s: %s by %s at %s", id,
	    approval_state_name(row.state), row.decided_by,
	    time_text(row.decided, when)));
}

/* By his own uid, or with a key whose line says that he owns it. */
static int
asked_by(const struct call *c, uid_t uid)
{
	const struct peer_ids *ids = &call_build(c)->peer;
	const struct cf_principal *line;
	struct refusal r;

	if (ids->key[0] == '\0')
		return (c->ident->uid == uid);
	return (decide_line(ids, &line, &r) == 0 &&
	    line->owner == OWNER_NAMED && line->ids.uid == uid);
}

/* Guarantee U11: whoever asked does not decide. */
static int
check_own(const struct approval *a, const struct peer *peer,
    struct refusal *r)
{
	if (!asked_by(a->call, peer->ids.uid) ||
	    conf_limit(LIMIT_SELF_APPROVAL) != 0 || WITHOUT(self_approval))
		return (0);
	return (refuse(r, 403, "forbidden", "you are uid %u, and asked for "
	    "this yourself: somebody else decides (\"self-approval yes\" in "
	    "the configuration lets you)", (unsigned)peer->ids.uid));
}

static int
has_seen(const struct approval *a, const struct peer *peer)
{
	unsigned i;

	for (i = 0; i < a->nseen; i++) {
		if (a->seen[i] == peer->ids.uid)
			return (1);
	}
	return (0);
}

static int
check_seen(const struct approval *a, const struct decision *d,
    struct refusal *r)
{
	if (memcmp(d->digest, a->digest, sizeof(d->digest)) != 0 &&
	    !WITHOUT(approval_digest))
		return (refuse(r, 409, "conflict", "%s has the digest %s: "
		    "what was looked at is something else", d->id,
		    a->row.digest));
	if (d->what == DECIDE_REJECT_ONCE || a->row.bytes <= APPROVAL_LONG ||
	    has_seen(a, d->peer) || WITHOUT(approval_long))
		return (0);
	return (refuse(r, 409, "conflict", "%s is long, %llu bytes: fetch it "
	    "whole (GET /v1/approvals/%s) before it is allowed", d->id,
	    (unsigned long long)a->row.bytes, d->id));
}

static int
check_session(const struct approval *a, struct refusal *r)
{
	const struct approval *other;
	unsigned n = 0;

	if (a->call->session == NULL)
		return (refuse(r, 409, "conflict", "%s: the call has no "
		    "session, so nothing can be remembered", a->row.id));
	if (!a->row.rememberable)
		return (refuse(r, 409, "conflict", "%s: a word of it is not "
		    "known before it runs, so it can be allowed once alone",
		    a->row.id));
	TAILQ_FOREACH(other, approvals_all(), entry)
		n += other->row.remembered &&
		    strcmp(other->row.session, a->row.session) == 0;
	if (n >= REMEMBERED_MAX)
		return (refuse(r, 409, "conflict", "%d approvals of the "
		    "session are remembered, and more are not",
		    REMEMBERED_MAX));
	return (0);
}

/* What is allowed is to start now, and every decision to be kept. */
static int
check_ready(const struct decision *d, struct refusal *r)
{
	if (sync_full())
		return (refuse_later(r, 503, "unavailable", 5, "store_full: "
		    "a decision that can not be recorded is not taken"));
	if (d->what == DECIDE_REJECT_ONCE)
		return (0);
	if (!judge_up())
		return (refuse_later(r, 503, "unavailable", 1,
		    "judged is being started; try again"));
	if (!launch_up())
		return (refuse_later(r, 503, "unavailable", 1,
		    "neurond is being started; try again"));
	return (0);
}

/* ---- deciding ---- */

static const char *
decision_name(unsigned what)
{
	static const char *const names[] = {
		[DECIDE_ALLOW_ONCE] = "allow_once",
		[DECIDE_ALLOW_SESSION] = "allow_session",
		[DECIDE_REJECT_ONCE] = "reject_once",
	};

	return (names[what]);
}

/* The decision is on the disk before it has an effect. */
static int
record(struct approval *a, const struct decision *d)
{
	struct approval_row *row = &a->row;

	row->state = d->what == DECIDE_REJECT_ONCE ? APPROVAL_REJECTED :
	    APPROVAL_ALLOWED;
	row->scope = d->what == DECIDE_ALLOW_SESSION ? ALLOWED_SESSION :
	    ALLOWED_ONCE;
	row->remembered = d->what == DECIDE_ALLOW_SESSION;
	row->decided = wall_us();
	strlcpy(row->decided_by, d->peer->who, sizeof(row->decided_by));
	strlcpy(row->decision_reason, d->reason,
	    sizeof(row->decision_reason));
	redact_line(row->decision_reason);
	secrets_mask(row->decision_reason, 0);
	audit_append_for(&d->to, "approval.resolved", json_pack("{s:s,s:s,s:s,s:s,s:s,"
	    "s:s,s:o}", "approval", row->id, "call", row->call,
	    "state", approval_state_name(row->state),
	    "decision", decision_name(d->what), "operator", d->peer->who,
	    "digest", row->digest,
	    "reason", json_text_or_null(row->decision_reason)));
	if (store_approval_set(row) == -1) {
		sync_failed();
		return (-1);
	}
	return (sync_now());
}

static void
reject(struct approval *a)
{
	char words[DECIDE_REASON_MAX + 64];

	snprintf(words, sizeof(words), "denied: %s",
	    a->row.decision_reason[0] != '\0' ? a->row.decision_reason :
	    "an operator rejected it");
	call_finish(a->call, CALL_FAILED, "approval_rejected", words, NULL);
}

/* What is written down can't be taken back: the call ends, and never ran. */
static void
not_recorded(struct approval *a, const struct decision *d)
{
	struct refusal r;

	a->row.state = APPROVAL_CANCELLED;
	a->row.remembered = 0;
	approval_tell(a);
	call_finish(a->call, CALL_FAILED, "store_full", "the decision on it "
	    "can not be recorded, and so nothing is run", NULL);
	refuse_later(&r, 503, "unavailable", 5, "store_full: the decision "
	    "can not be recorded; the call has ended and did not run");
	reply_refusal(&d->to, &r);
}

static void
decide(const struct decision *d)
{
	struct approval *a = approval_find(d->id);
	struct refusal r;

	if (a != NULL && a->call != NULL &&
	    a->row.state == APPROVAL_PENDING && now_us() >= a->deadline)
		approval_expire(a);	/* before its timer */
	a = approval_find(d->id);
	if (a == NULL || a->call == NULL || (a->row.state !=
	    APPROVAL_PENDING && !WITHOUT(approval_first))) {
		refuse_over(d->id, &r);
		reply_refusal(&d->to, &r);
		return;
	}
	if (check_own(a, d->peer, &r) == -1 || check_seen(a, d, &r) == -1 ||
	    (d->what == DECIDE_ALLOW_SESSION && check_session(a, &r) == -1) ||
	    check_ready(d, &r) == -1) {
		reply_refusal(&d->to, &r);
		return;
	}
	if (record(a, d) == -1) {
		not_recorded(a, d);
		return;
	}
	log_info_of(&(struct log_about){ .request = d->to.id,
	    .approval = d->id },
	    "%s: %s by operator %s", d->id, decision_name(d->what),
	    d->peer->who);
	reply_json(&d->to, 200, approval_json(&a->row, a));
	approval_tell(a);
	if (d->what == DECIDE_REJECT_ONCE)
		reject(a);
	else
		approval_start(a->call);
}

static void
revoke(const struct decision *d)
{
	struct approval *a = approval_find(d->id);
	struct refusal r;
	json_t *json;

	if (a == NULL || !a->row.remembered) {
		if (a != NULL)
			refuse(&r, 409, "conflict", "%s is not remembered",
			    d->id);
		else
			refuse_over(d->id, &r);
		reply_refusal(&d->to, &r);
		return;
	}
	if (!WITHOUT(approval_revoke))
		a->row.remembered = 0;
	a->row.revoked = 1;
	audit_append_for(&d->to, "approval.revoked", json_pack("{s:s,s:s,s:s}",
	    "approval", a->row.id, "call", a->row.call,
	    "operator", d->peer->who));
	egress_revoked(a->row.id);
	approval_written(a);
	/* It is out of force, whether or not that can be written now. */
	(void)sync_now();
	json = approval_json(&a->row, a);
	if (a->call == NULL)
		approval_detach(a);
	reply_json(&d->to, 200, json);
}

int
approval_on_decide(void *arg, struct imsg *m)
{
	struct decision d;
	struct refusal r;
	uint64_t handle;
	unsigned rights;

	memset(&d, 0, sizeof(d));
	d.to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	d.what = imsg_get_u8(m);
	imsg_get_raw(m, d.digest, sizeof(d.digest));
	/* one that is too long is "", which is no id */
	(void)get_text(m, d.id, sizeof(d.id));
	get_words(m, d.reason, sizeof(d.reason));
	if (imsg_end(m) == -1 || d.what < DECIDE_ALLOW_ONCE ||
	    d.what > DECIDE_REVOKE)
		return (-1);
	if ((d.peer = api_peer(arg, handle, &r)) == NULL ||
	    operator_may(d.peer, RIGHT_APPROVE, &rights, &r) == -1)
		reply_refusal(&d.to, &r);
	else if (d.what == DECIDE_REVOKE)
		revoke(&d);
	else
		decide(&d);
	return (0);
}
