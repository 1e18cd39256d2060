/* The real policyd: the life of an approval, and all its ends. */

#include <stdlib.h>

#include "policyd_rig_approvals.h"
#include "policyd_rig_test.h"

static const struct rig_asks plain = { .tool = NULL };

static void
begin(void)
{
	rig_init(&rig);
	rig_operators(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
}

static void
nothing_launched(void)
{
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 200, &(struct got){0}),
	    0);
}

/* What was allowed is judged as before, and runs. */
static void
runs(struct rig_call *c, const struct rig_asks *a)
{
	rig_again(&rig, c);
	rig_says(&rig, c, a);
	rig_launch(&rig, c);
	rig_ended(&rig, c, END_EXITED, 0, 0, "");
}

static int64_t
pending(void)
{
	unsigned status;
	json_t *json;
	int64_t n;

	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	n = json_integer_value(json_object_get(json_object_get(json,
	    "approvals"), "pending"));
	json_decref(json);
	return (n);
}

static void
list(const char *state, size_t count)
{
	unsigned status;
	json_t *json;

	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_APPROVALS, 0, 0,
	    state, &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_uint_eq(json_array_size(json_object_get(json,
	    "approvals")), count);
	json_decref(json);
}

/* ---- a decision ---- */

START_TEST(allowed)
{
	char session[ID_SIZE], approval[ID_SIZE];
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	struct rig_call c;
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	rig_waits(&rig, handle, session, &plain, &c, approval);
	nothing_launched();
	ck_assert_int_eq(pending(), 1);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, c.id,
	    &status);
	ck_assert_str_eq(rig_text(json, "approval"), approval);
	want_end(json, "awaiting_approval", "");
	json = rig_look(&rig, who, approval, &status);
	ck_assert_str_eq(rig_text(json, "state"), "pending");
	ck_assert_str_eq(rig_text(json, "principal"), "uid:2000001001");
	ck_assert_str_eq(rig_text(json, "where"), "myelin.conf:7");
	ck_assert_str_eq(rig_text(json, "command"), "rm -rf .git");
	ck_assert_str_eq(rig_text(json, "session"), session);
	ck_assert_int_gt(json_integer_value(json_object_get(json,
	    "expires_in_ms")), 0);
	ck_assert_uint_eq(strlen(rig_text(json, "digest")), 64);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "flags")),
	    SHOWN_F_JSON | SHOWN_F_EXPLANATION);
	json_decref(json);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	nothing_launched();
	runs(&c, &plain);
	json = rig_finished(&rig, &c);
	ck_assert_str_eq(rig_text(json, "approval"), approval);
	want_end(json, "completed", "");
	ck_assert_int_eq(pending(), 0);
	rig_state(&rig, approval, "allowed");
	list("pending", 0);
	list("decided", 1);
	list("remembered", 0);
	list("all", 1);
}
END_TEST

START_TEST(rejected)
{
	char approval[ID_SIZE];
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	struct rig_call c;
	json_t *json;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig_decides(&rig, who, DECIDE_REJECT_ONCE, approval, 200, "rejected");
	rig_resolved(&rig, approval, APPROVAL_REJECTED);
	json = rig_finished(&rig, &c);
	ck_assert_str_eq(rig_text(json, "error.message"), "denied: a reason");
	want_end(json, "failed", "approval_rejected");
	nothing_launched();
	rig_state(&rig, approval, "rejected");
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409,
	    "rejected by uid:2000001004");
	nothing_launched();
}
END_TEST

START_TEST(expired)
{
	char approval[ID_SIZE];
	struct rig_call c;
	int64_t from;
	json_t *json;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_APPROVAL_EXPIRY] = 10000;
	ck_assert_int_eq(rig_start(&rig), 0);
	from = steady_ms();
	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig_resolved(&rig, approval, APPROVAL_EXPIRED);
	ck_assert_int_ge(steady_ms() - from, 9500);
	json = rig_finished(&rig, &c);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "approval-expiry"));
	want_end(json, "failed", "approval_expired");
	rig_state(&rig, approval, "expired");
	rig_decides(&rig, rig_operator(&rig, RIG_WATCHER), DECIDE_ALLOW_ONCE,
	    approval, 409, "expired");
	nothing_launched();
	rig_end(&rig);
}
END_TEST

/* ---- who ---- */

/* A principal that is an operator, too. */
START_TEST(ones_own)
{
	char approval[ID_SIZE];
	uint64_t handle = user(), own = rig_operator(&rig, RIG_USER);
	struct rig_call c;
	unsigned status;
	json_t *json;

	rig_waits(&rig, handle, NULL, &plain, &c, approval);
	rig_decides(&rig, own, DECIDE_ALLOW_ONCE, approval, 403,
	    "self-approval");
	rig_decides(&rig, own, DECIDE_ALLOW_SESSION, approval, 403,
	    "self-approval");
	rig_decides(&rig, own, DECIDE_REJECT_ONCE, approval, 403,
	    "self-approval");
	nothing_launched();
	rig.slice->limits.v[LIMIT_SELF_APPROVAL] = 1;
	rig_reload(&rig);
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	ck_assert(json_is_true(json_object_get(json, "self_approval")));
	json_decref(json);
	rig_decides(&rig, own, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &plain);
}
END_TEST

START_TEST(rights)
{
	uint64_t root = operator(), watcher = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;
	unsigned status;
	json_t *json;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	/* audit looks, without what a log would not have */
	json = rig_look(&rig, root, approval, &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_int_eq(json_integer_value(json_object_get(json, "flags")),
	    SHOWN_F_JSON | SHOWN_F_EXPLANATION | SHOWN_F_CLEAN);
	json_decref(json);
	rig_decides(&rig, root, DECIDE_ALLOW_ONCE, approval, 403,
	    "\\\"approve\\\"");
	rig_decides(&rig, root, DECIDE_REVOKE, approval, 403,
	    "\\\"approve\\\"");
	rig_decides(&rig, 12345, DECIDE_ALLOW_ONCE, approval, 403,
	    "connection");
	nothing_launched();
	/* one who may neither decide nor audit */
	rig.slice->operators[1].rights = RIGHT_MANAGE;
	rig_reload(&rig);
	json_decref(rig_look(&rig, watcher, approval, &status));
	ck_assert_uint_eq(status, 403);
	json_decref(rig_query(&rig, RIG_OPERATOR, watcher, QUERY_APPROVALS, 0,
	    0, "", &status));
	ck_assert_uint_eq(status, 403);
	rig_decides(&rig, watcher, DECIDE_ALLOW_ONCE, approval, 403,
	    "approve");
}
END_TEST

/* ---- what is long is looked at first ---- */

START_TEST(looked_at)
{
	static char args[5000];
	struct rig_asks a = { .args = args, .args_size = sizeof(args) };
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	uint64_t second = rig_operator(&rig, RIG_SECOND);
	char approval[ID_SIZE];
	struct rig_call c;
	unsigned status;

	memset(args, ' ', sizeof(args));
	rig_waits(&rig, user(), NULL, &a, &c, approval);
	/* what another has seen does not count, nor what is seen by none */
	json_decref(rig_look(&rig, second, approval, &status));
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409, "is long");
	json_decref(rig_look(&rig, who, approval, &status));
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &a);
	want_end(rig_finished(&rig, &c), "completed", "");
	/* a rejection needs no look */
	rig_waits(&rig, user(), NULL, &a, &c, approval);
	rig_decides(&rig, who, DECIDE_REJECT_ONCE, approval, 200, "rejected");
}
END_TEST

/* ---- what can't be asked ---- */

static void
denied(const char *session, const struct rig_asks *a, const char *word)
{
	struct rig_call c;
	json_t *json;

	rig_asks(&rig, user(), session, a, &c);
	rig_says(&rig, &c, a);
	json = rig_finished(&rig, &c);
	ck_assert_msg(strstr(rig_text(json, "error.message"), word) != NULL,
	    "%s", rig_text(json, "error.message"));
	ck_assert_str_eq(rig_text(json, "verdict"), "ask");
	want_end(json, "failed", "denied_by_policy");
	nothing_launched();
}

START_TEST(nobody_to_ask)
{
	const struct rig_asks place = { .workspace = "/srv/src/a" };

	rig_init(&rig);
	rig.slice->nlistens = 1;
	ck_assert_int_eq(rig_start(&rig), 0);
	denied(NULL, &plain, "no \"listen operator\"");
	denied(NULL, &place, "no \"listen operator\"");
	rig.slice->nlistens = 2;
	rig_end(&rig);
	/* or its process is away */
	begin();
	rig_close(&rig, RIG_OPERATOR);
	denied(NULL, &plain, "operator socket's process");
	denied(NULL, &place, "operator socket's process");
	rig_plumb(&rig, RIG_OPERATOR);
	rig_end(&rig);
}
END_TEST

START_TEST(input_that_nobody_can_see)
{
	const struct rig_asks streamed = { .streamed = 1 };
	static char args[65536];
	const struct rig_asks big = { .args = args,
	    .args_size = sizeof(args) };

	memset(args, ' ', sizeof(args));
	rig_init(&rig);
	rig.slice->limits.v[LIMIT_APPROVAL_SIZE] = 4096;
	ck_assert_int_eq(rig_start(&rig), 0);
	denied(NULL, &streamed, "input is streamed");
	denied(NULL, &big, "approval-size, which is 4096");
	rig_end(&rig);
}
END_TEST

START_TEST(limits)
{
	char session[ID_SIZE], other[ID_SIZE], approval[ID_SIZE], words[512];
	uint64_t handle, member;
	struct rig_call c;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_APPROVALS_SESSION] = 1;
	rig.slice->limits.v[LIMIT_APPROVALS_PRINCIPAL] = 2;
	rig.slice->limits.v[LIMIT_APPROVALS_HOST] = 3;
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	rig_session(&rig, handle, session);
	rig_session(&rig, handle, other);
	rig_waits(&rig, handle, session, &plain, &c, approval);
	denied(session, &plain, "approvals-session is 1");
	rig_waits(&rig, handle, other, &plain, &c, approval);
	denied(NULL, &plain, "approvals-principal is 2");
	member = rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words));
	rig_waits(&rig, member, NULL, &plain, &c, approval);
	rig_asks(&rig, member, NULL, &plain, &c);
	rig_says(&rig, &c, &plain);
	want_end(rig_finished(&rig, &c), "failed", "denied_by_policy");
	ck_assert_int_eq(pending(), 3);
	rig_end(&rig);
}
END_TEST

/* ---- slots ---- */

/* Who waits for a person is in no slot; once allowed he waits for one. */
START_TEST(slots)
{
	char session[ID_SIZE], approval[ID_SIZE];
	struct rig_call c, running;
	uint64_t handle, who;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_RUNNING] = 1;
	rig_operators(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	who = rig_operator(&rig, RIG_WATCHER);
	rig_session(&rig, handle, session);
	rig_waits(&rig, handle, session, &plain, &c, approval);
	launched(handle, session, &running);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 429, "too_many",
	    "running-calls of a neuron is 1");
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	ck_assert_int_eq(rig_recv(rig.fd[RIG_JUDGE], 200, &(struct got){0}),
	    0);
	rig_ended(&rig, &running, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &running), "completed", "");
	runs(&c, &plain);
	want_end(rig_finished(&rig, &c), "completed", "");
	json_decref(rig_whole(&rig, handle, session));
	rig_end(&rig);
}
END_TEST

/* ---- remembered ---- */

/* The same bytes run without a question; anything else asks. */
static void
asks_again(uint64_t handle, const char *session, const struct rig_asks *a)
{
	char approval[ID_SIZE];
	struct rig_call c;
	struct enc *e;

	rig_waits(&rig, handle, session, a, &c, approval);
	e = enc_new(64);
	enc_u64(e, handle);
	enc_u8(e, STOP_CANCELLED);
	enc_str(e, c.id);
	rig_send(rig.fd[RIG_AGENT], MSG_STOP, e, NULL, 0);
	rig_resolved(&rig, approval, APPROVAL_CANCELLED);
	want_end(rig_finished(&rig, &c), "cancelled", "");
}

static void
does_not_ask(uint64_t handle, const char *session, const struct rig_asks *a,
    const char *approval)
{
	struct rig_call c;
	struct got g;
	json_t *json;

	rig_asks(&rig, handle, session, a, &c);
	rig_says(&rig, &c, a);
	rig_want(&rig, RIG_LAUNCH, MSG_LAUNCH, &g);
	got_close(&g);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	json = rig_finished(&rig, &c);
	ck_assert_str_eq(rig_text(json, "approval"), approval);
	want_end(json, "completed", "");
}

START_TEST(remembered)
{
	const struct rig_asks others[] = {
		{ .args = "{\"args\":{\"argv\":[\"true\"]}} " },
		{ .args = "{\"args\":{\"argv\":[\"true\"]},\"cwd\":\"/\"}" },
		{ .run = "blocks" },
		{ .input = "in" },
		{ .input = "" },
		{ .tool = "bash" },
	};
	const struct rig_asks longer = { .timeout = 120000 };
	char session[ID_SIZE], other[ID_SIZE], approval[ID_SIZE];
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	struct rig_call c;
	size_t i;

	rig_session(&rig, handle, session);
	rig_session(&rig, handle, other);
	rig_waits(&rig, handle, session, &plain, &c, approval);
	rig_decides(&rig, who, DECIDE_ALLOW_SESSION, approval, 200,
	    "session");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &plain);
	want_end(rig_finished(&rig, &c), "completed", "");
	list("remembered", 1);
	does_not_ask(handle, session, &plain, approval);
	does_not_ask(handle, session, &longer, approval);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		asks_again(handle, session, &others[i]);
	asks_again(handle, other, &plain);
	asks_again(handle, NULL, &plain);
	rig_decides(&rig, who, DECIDE_REVOKE, approval, 200,
	    "\"revoked\": true");
	rig_decides(&rig, who, DECIDE_REVOKE, approval, 409, "allowed by");
	list("remembered", 0);
	asks_again(handle, session, &plain);
}
END_TEST

START_TEST(not_to_be_remembered)
{
	const struct rig_asks unknown = { .flags = VERDICT_F_UNRESOLVED };
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char session[ID_SIZE], approval[ID_SIZE];
	struct rig_call c;

	rig_session(&rig, handle, session);
	rig_waits(&rig, handle, session, &unknown, &c, approval);
	rig_decides(&rig, who, DECIDE_ALLOW_SESSION, approval, 409,
	    "not known before it runs");
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "once");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &unknown);
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_waits(&rig, handle, NULL, &plain, &c, approval);
	rig_decides(&rig, who, DECIDE_ALLOW_SESSION, approval, 409,
	    "no session");
}
END_TEST

/* ---- with a workspace ---- */

/* A call of its own is asked about once its directory is known. */
START_TEST(workspace_of_its_own)
{
	const struct rig_asks place = { .workspace = "/srv/src/a" };
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE], neuron[ID_SIZE], text[ID_SIZE];
	struct rig_call c;
	struct got g;

	rig_asks(&rig, handle, NULL, &place, &c);
	rig_says(&rig, &c, &place);
	rig_neuron_up(&rig, neuron);
	rig_pending(&rig, &c, approval);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	rig_again(&rig, &c);
	rig_says(&rig, &c, &place);
	rig_want(&rig, RIG_LAUNCH, MSG_LAUNCH, &g);
	(void)dec_u32(&g.d);
	(void)dec_u8(&g.d);
	dec_str(&g.d, text, sizeof(text));
	ck_assert_str_eq(text, neuron);
	got_close(&g);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	/* it may not be mounted at all */
	rig_asks(&rig, handle, NULL, &place, &c);
	rig_says(&rig, &c, &place);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	(void)dec_u64(&g.d);
	(void)dec_u64(&g.d);
	free(dec_strdup(&g.d, 1024));
	dec_str(&g.d, neuron, sizeof(neuron));
	rig_gone(&rig, neuron, GONE_REFUSED, "/srv/src/a is uid 0's");
	want_end(rig_finished(&rig, &c), "failed", "launch_failed");
}
END_TEST

/* ---- ends of what waits ---- */

enum end { BY_CANCEL, BY_SESSION, BY_AGENT, BY_NEURON, BY_DRAIN, BY_READER };

static void
end_it(enum end end, uint64_t handle, const struct rig_call *c,
    const char *session, const char *neuron)
{
	struct enc *e = enc_new(64);

	switch (end) {
	case BY_CANCEL:
	case BY_READER:
		enc_u64(e, handle);
		enc_u8(e, end == BY_CANCEL ? STOP_CANCELLED :
		    STOP_READER_GONE);
		enc_str(e, c->id);
		rig_send(rig.fd[RIG_AGENT], MSG_STOP, e, NULL, 0);
		return;
	case BY_SESSION:
		enc_u32(e, ++rig.requests);
		enc_u64(e, handle);
		enc_str(e, session);
		rig_send(rig.fd[RIG_AGENT], MSG_END, e, NULL, 0);
		return;
	case BY_NEURON:
		rig_gone(&rig, neuron, GONE_LOST, "it died");
		break;
	case BY_DRAIN:
		enc_u32(e, ++rig.requests);
		enc_u64(e, operator());
		enc_u8(e, MANAGE_DRAIN);
		enc_u32(e, 0);
		rig_send(rig.fd[RIG_OPERATOR], MSG_MANAGE, e, NULL, 0);
		return;
	case BY_AGENT:
		rig_plumb(&rig, RIG_AGENT);
		break;
	}
	enc_free(e);
}

START_TEST(ends)
{
	static const struct { const char *state, *reason; } rows[] = {
		[BY_CANCEL] = { "cancelled", "" },
		[BY_SESSION] = { "failed", "session_ended" },
		[BY_AGENT] = { "failed", "interrupted" },
		[BY_NEURON] = { "failed", "neuron_lost" },
		[BY_DRAIN] = { "failed", "interrupted" },
		[BY_READER] = { "failed", "interrupted" },
	};
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char session[ID_SIZE], neuron[ID_SIZE], approval[ID_SIZE];
	struct rig_call c;
	uint32_t request;
	unsigned status;
	json_t *json;

	request = rig_open(&rig, handle, "", "", 0);
	rig_neuron_up(&rig, neuron);
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	snprintf(session, sizeof(session), "%s", rig_text(json, "session"));
	json_decref(json);
	rig_waits(&rig, handle, session, &plain, &c, approval);
	end_it((enum end)_i, handle, &c, session, neuron);
	if (_i == BY_AGENT)
		handle = user();
	else {
		rig_resolved(&rig, approval, APPROVAL_CANCELLED);
		want_end(rig_finished(&rig, &c), rows[_i].state,
		    rows[_i].reason);
	}
	if (_i == BY_DRAIN)
		rig_want(&rig, RIG_OPERATOR, MSG_REPLY, &(struct got){0});
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, c.id,
	    &status);
	want_end(json, rows[_i].state, rows[_i].reason);
	rig_state(&rig, approval, "cancelled");
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409, "cancelled");
	ck_assert_int_eq(pending(), 0);
	ck_assert_int_eq(rig_recv(rig.fd[RIG_JUDGE], 100, &(struct got){0}),
	    0);
}
END_TEST

/* ---- deaths ---- */

START_TEST(death_of_policyd)
{
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char session[ID_SIZE], kept[ID_SIZE], approval[ID_SIZE];
	struct rig_call c, waits;
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	rig_waits(&rig, handle, session, &plain, &c, kept);
	rig_decides(&rig, who, DECIDE_ALLOW_SESSION, kept, 200, "session");
	rig_resolved(&rig, kept, APPROVAL_ALLOWED);
	runs(&c, &plain);
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_waits(&rig, handle, NULL, &plain, &waits, approval);
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	who = rig_operator(&rig, RIG_WATCHER);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, waits.id,
	    &status);
	want_end(json, "failed", "interrupted");
	rig_state(&rig, approval, "expired");
	rig_state(&rig, kept, "allowed");
	list("remembered", 0);
	list("pending", 0);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409, "expired");
	rig_decides(&rig, who, DECIDE_REVOKE, kept, 409, "allowed");
	nothing_launched();
}
END_TEST

START_TEST(death_of_judged)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig_close(&rig, RIG_JUDGE);
	/* it can't be started now, and stays as it is */
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 503, "judged");
	rig_plumb(&rig, RIG_JUDGE);
	rig_tools(&rig);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &plain);
	want_end(rig_finished(&rig, &c), "completed", "");
}
END_TEST

/* An operator's apid that dies takes nothing with it. */
START_TEST(death_of_the_operators_apid)
{
	char approval[ID_SIZE];
	struct rig_call c;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig_plumb(&rig, RIG_OPERATOR);
	rig_decides(&rig, rig_operator(&rig, RIG_WATCHER), DECIDE_ALLOW_ONCE,
	    approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &plain);
	want_end(rig_finished(&rig, &c), "completed", "");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_approvals");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, begin, stop);
	tcase_add_test(tc, allowed);
	tcase_add_test(tc, rejected);
	tcase_add_test(own, expired);
	tcase_add_test(tc, ones_own);
	tcase_add_test(tc, rights);
	tcase_add_test(tc, looked_at);
	tcase_add_test(own, nobody_to_ask);
	tcase_add_test(own, input_that_nobody_can_see);
	tcase_add_test(own, limits);
	tcase_add_test(own, slots);
	tcase_add_test(tc, remembered);
	tcase_add_test(tc, not_to_be_remembered);
	tcase_add_test(tc, workspace_of_its_own);
	tcase_add_loop_test(tc, ends, 0, BY_READER + 1);
	tcase_add_test(tc, death_of_policyd);
	tcase_add_test(tc, death_of_judged);
	tcase_add_test(tc, death_of_the_operators_apid);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, own);
	return (rig_main(s));
}
