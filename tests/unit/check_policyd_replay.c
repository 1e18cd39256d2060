/*
 * The real policyd: approvals used for anything but the exact bytes, once;
 * and processes that were taken over.
 */

#include <fcntl.h>
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

static void
runs(struct rig_call *c, const struct rig_asks *a)
{
	rig_again(&rig, c);
	rig_says(&rig, c, a);
	rig_launch(&rig, c);
	rig_ended(&rig, c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, c), "completed", "");
}

/* ---- the digest ---- */

static void
digest_of(uint64_t who, const char *approval, char hex[65])
{
	unsigned status;
	json_t *json;

	json = rig_look(&rig, who, approval, &status);
	ck_assert_uint_eq(status, 200);
	snprintf(hex, 65, "%s", rig_text(json, "digest"));
	json_decref(json);
}

/*
 * Two calls that differ in one thing have two digests, and the one's is no
 * decision on the other.
 */
static void
differ(uint64_t handle, const char *session, const struct rig_asks *a,
    uint64_t handle2, const char *session2, const struct rig_asks *b)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char one[ID_SIZE], two[ID_SIZE], x[65], y[65];
	struct rig_call c, d;
	uint32_t request;
	unsigned status;
	json_t *json;

	rig_waits(&rig, handle, session, a, &c, one);
	rig_waits(&rig, handle2, session2, b, &d, two);
	digest_of(who, one, x);
	digest_of(who, two, y);
	ck_assert_str_ne(x, y);
	request = rig_decide(&rig, who, DECIDE_ALLOW_ONCE, two, x, "");
	json = rig_reply(&rig, RIG_OPERATOR, request, &status, NULL);
	ck_assert_uint_eq(status, 409);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"), y));
	json_decref(json);
	nothing_launched();
	rig_decides(&rig, who, DECIDE_REJECT_ONCE, one, 200, "rejected");
	rig_resolved(&rig, one, APPROVAL_REJECTED);
	want_end(rig_finished(&rig, &c), "failed", "approval_rejected");
	rig_state(&rig, two, "pending");
	rig_decides(&rig, who, DECIDE_REJECT_ONCE, two, 200, "rejected");
	rig_resolved(&rig, two, APPROVAL_REJECTED);
	want_end(rig_finished(&rig, &d), "failed", "approval_rejected");
}

START_TEST(something_else)
{
	static const struct rig_asks others[] = {
		/* one byte more */
		{ .args = "{\"args\":{\"argv\":[\"true\"]}} " },
		/* another working directory, another environment */
		{ .args = "{\"args\":{\"argv\":[\"true\"]},\"cwd\":\"/\"}" },
		{ .args = "{\"args\":{\"argv\":[\"true\"]},\"env\":{}}" },
		{ .input = "input" },
		{ .tool = "bash" },
		{ .timeout = 120000 },
		{ .run = "blocks" },
	};
	char session[ID_SIZE], other[ID_SIZE], words[512];
	uint64_t handle = user(), member;
	size_t i;

	rig_session(&rig, handle, session);
	rig_session(&rig, handle, other);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		differ(handle, session, &plain, handle, session, &others[i]);
	differ(handle, session, &plain, handle, other, &plain);
	differ(handle, session, &plain, handle, NULL, &plain);
	member = rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words));
	differ(handle, NULL, &plain, member, NULL, &plain);
}
END_TEST

/* ---- once ---- */

/* Two operators whose decisions are there at the same time. */
START_TEST(two_at_once)
{
	uint64_t one = rig_operator(&rig, RIG_WATCHER);
	uint64_t two = rig_operator(&rig, RIG_SECOND);
	uint32_t first, second;
	char approval[ID_SIZE], hex[65];
	struct rig_call c;
	unsigned status;
	json_t *json;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	digest_of(one, approval, hex);
	first = rig_decide(&rig, one, DECIDE_ALLOW_ONCE, approval, hex, "");
	second = rig_decide(&rig, two, DECIDE_REJECT_ONCE, approval, hex, "");
	json = rig_reply(&rig, RIG_OPERATOR, first, &status, NULL);
	ck_assert_uint_eq(status, 200);
	json_decref(json);
	json = rig_reply(&rig, RIG_OPERATOR, second, &status, NULL);
	ck_assert_uint_eq(status, 409);
	json_decref(json);
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &plain);
	rig_state(&rig, approval, "allowed");
}
END_TEST

START_TEST(twice)
{
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE], again[ID_SIZE], hex[65];
	struct rig_call c;
	uint32_t request;
	unsigned status;

	rig_waits(&rig, handle, NULL, &plain, &c, approval);
	digest_of(who, approval, hex);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	/* while it is judged once more, while it runs, and afterwards */
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409,
	    "allowed by uid:2000001004");
	rig_again(&rig, &c);
	rig_says(&rig, &c, &plain);
	rig_launch(&rig, &c);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409, "allowed");
	rig_says(&rig, &c, &plain);
	nothing_launched();
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 409, "allowed");
	/* the same call is another, which asks anew */
	rig_waits(&rig, handle, NULL, &plain, &c, again);
	request = rig_decide(&rig, who, DECIDE_ALLOW_ONCE, again, hex, "");
	json_decref(rig_reply(&rig, RIG_OPERATOR, request, &status, NULL));
	ck_assert_uint_eq(status, 409);
	nothing_launched();
}
END_TEST

/* ---- the policy changes between the decision and the start ---- */

static void
changed(const struct rig_asks *second, void (*how)(void))
{
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char session[ID_SIZE], approval[ID_SIZE];
	struct rig_call c;

	rig_session(&rig, handle, session);
	rig_waits(&rig, handle, session, &plain, &c, approval);
	if (how != NULL)
		how();
	rig_decides(&rig, who, DECIDE_ALLOW_SESSION, approval, 200,
	    "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	rig_again(&rig, &c);
	rig_says(&rig, &c, second);
	rig_resolved(&rig, approval, APPROVAL_CHANGED);
	want_end(rig_finished(&rig, &c), "failed", "policy_changed");
	nothing_launched();
	rig_state(&rig, approval, "policy_changed");
	/* and nothing is remembered */
	rig_decides(&rig, who, DECIDE_REVOKE, approval, 409,
	    "policy_changed");
}

START_TEST(stricter)
{
	static const struct rig_asks rows[] = {
		{ .verdict = VERDICT_DENY },
		{ .verdict = VERDICT_INVALID },
		{ .marks = MARK_NETWORK_WRITE },
		/* judged, taken over after somebody looked */
		{ .run = "another block" },
		{ .verdict = VERDICT_ALLOW, .effect = EFFECT_READ,
		    .run = "another block" },
	};

	changed(&rows[_i], NULL);
}
END_TEST

static void
narrower_preset(void)
{
	struct cf_preset *p;

	rig.slice->presets = calloc(1, sizeof(*p));
	p = rig.slice->presets;
	rig.slice->npresets = 1;
	p->where.file = strdup("test.conf");
	snprintf(p->name, sizeof(p->name), "standard");
	p->cap = EFFECT_READ;
	rig_reload(&rig);
}

static void
another_preset(void)
{
	size_t i;

	for (i = 0; i < rig.slice->nprincipals; i++)
		snprintf(rig.slice->principals[i].preset, NAME_BYTES_MAX,
		    "strict");
	rig_reload(&rig);
}

static void
no_line(void)
{
	rig.slice->principals[1].id = RIG_STRANGER;
	rig_reload(&rig);
}

/* A reload that changes a declaration starts judged again. */
static void
another_declaration(void)
{
	struct enc *e;
	uint8_t digest[32] = { 9 };

	rig_plumb(&rig, RIG_JUDGE);
	e = enc_new(256);
	enc_u8(e, EFFECT_MUTATE_IRREVERSIBLE);
	enc_u32(e, 0);
	enc_u8(e, 0);
	enc_u32(e, 0);
	enc_raw(e, digest, sizeof(digest));
	enc_str(e, "exec");
	rig_send(rig.fd[RIG_JUDGE], MSG_TOOL, e, NULL, 0);
	e = enc_new(64);
	enc_u32(e, 1);
	rig_send(rig.fd[RIG_JUDGE], MSG_TOOLS_END, e, NULL, 0);
}

START_TEST(tightened)
{
	static void (*const ways[])(void) = {
		narrower_preset, another_preset, no_line, another_declaration
	};

	changed(&plain, ways[_i]);
}
END_TEST

/* A reload that changes nothing that matters changes nothing. */
START_TEST(reloaded)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig.slice->limits.v[LIMIT_CONNECTIONS]++;
	rig_reload(&rig);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	runs(&c, &plain);
}
END_TEST

/* A neuron yet to be made would be another one. */
START_TEST(another_profile)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig.slice->limits.v[LIMIT_MEMORY] *= 2;
	rig_reload(&rig);
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	rig_again(&rig, &c);
	rig_says(&rig, &c, &plain);
	rig_resolved(&rig, approval, APPROVAL_CHANGED);
	want_end(rig_finished(&rig, &c), "failed", "policy_changed");
	nothing_launched();
}
END_TEST

/* ---- taken over ---- */

/* judged's first verdict, said again after the decision, starts nothing. */
START_TEST(old_verdict)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c, old;
	const struct rig_asks allow = { .verdict = VERDICT_ALLOW };

	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	rig_says(&rig, &c, &allow);
	nothing_launched();
	rig_state(&rig, approval, "pending");
	old = c;
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	rig_says(&rig, &old, &allow);
	nothing_launched();
	runs(&c, &plain);
}
END_TEST

/* What asks is not started by a tool, an effect or a preset left out. */
START_TEST(allow_lifts_nothing)
{
	const struct rig_asks asker = { .tool = "asker",
	    .verdict = VERDICT_ALLOW, .effect = EFFECT_READ };
	const struct rig_asks wipe = { .tool = "wipe",
	    .verdict = VERDICT_ALLOW, .effect = EFFECT_READ };
	struct cf_preset *p;
	char approval[ID_SIZE];
	struct rig_call c;

	rig_waits(&rig, user(), NULL, &asker, &c, approval);
	nothing_launched();
	rig.slice->presets = p = calloc(1, sizeof(*p));
	rig.slice->npresets = 1;
	p->where.file = strdup("test.conf");
	snprintf(p->name, sizeof(p->name), "standard");
	p->cap = EFFECT_DESTRUCTIVE;
	rig_reload(&rig);
	rig_waits(&rig, user(), NULL, &wipe, &c, approval);
	nothing_launched();
}
END_TEST

static void
send_decide(enum rig_channel ch, uint64_t handle, unsigned what,
    const char *approval)
{
	uint8_t zero[32] = { 0 };
	struct enc *e = enc_new(MSG_MAX_SIZE);

	enc_u32(e, ++rig.requests);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_raw(e, zero, sizeof(zero));
	enc_str(e, approval);
	enc_str(e, "");
	rig_send(rig.fd[ch], MSG_DECIDE, e, NULL, 0);
}

/* The agent's apid has no such row; its questions get no answer either. */
START_TEST(from_the_agent_socket)
{
	uint64_t handle = user(), who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;
	unsigned status;

	rig_waits(&rig, handle, NULL, &plain, &c, approval);
	json_decref(rig_query(&rig, RIG_AGENT, handle, QUERY_APPROVALS, 0, 0,
	    "", &status));
	ck_assert_uint_eq(status, 404);
	json_decref(rig_query(&rig, RIG_AGENT, handle, QUERY_APPROVAL, 0, 0,
	    approval, &status));
	ck_assert_uint_eq(status, 404);
	send_decide(RIG_AGENT, who, DECIDE_ALLOW_ONCE, approval);
	ck_assert(rig_closed(&rig, RIG_AGENT));
	rig_plumb(&rig, RIG_AGENT);
	ck_assert(rig_alive(&rig));
	nothing_launched();
	/* its reader is gone, and the call with it */
	rig_state(&rig, approval, "cancelled");
}
END_TEST

START_TEST(decisions_that_can_not_be)
{
	static const unsigned rows[] = { 0, DECIDE_REVOKE + 1, 255 };
	static const char *const ids[] = { "", "a-nonsense",
	    "a-22222222222222222222", "c-22222222222222222222",
	    "a-222222222222222222222222222222222222222222222222222222" };
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	unsigned status;
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		send_decide(RIG_OPERATOR, who, DECIDE_ALLOW_ONCE, ids[i]);
		json_decref(rig_reply(&rig, RIG_OPERATOR, rig.requests,
		    &status, NULL));
		ck_assert_uint_eq(status, 404);
		send_decide(RIG_OPERATOR, who, DECIDE_REVOKE, ids[i]);
		json_decref(rig_reply(&rig, RIG_OPERATOR, rig.requests,
		    &status, NULL));
		ck_assert_uint_eq(status, 404);
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		send_decide(RIG_OPERATOR, who, rows[i], ids[2]);
		ck_assert(rig_closed(&rig, RIG_OPERATOR));
		rig_plumb(&rig, RIG_OPERATOR);
		who = rig_operator(&rig, RIG_WATCHER);
	}
	ck_assert(rig_alive(&rig));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_replay");
	TCase *tc = tcase_create("started");

	tcase_add_checked_fixture(tc, begin, stop);
	tcase_add_test(tc, something_else);
	tcase_add_test(tc, two_at_once);
	tcase_add_test(tc, twice);
	tcase_add_loop_test(tc, stricter, 0, 5);
	tcase_add_loop_test(tc, tightened, 0, 4);
	tcase_add_test(tc, reloaded);
	tcase_add_test(tc, another_profile);
	tcase_add_test(tc, old_verdict);
	tcase_add_test(tc, allow_lifts_nothing);
	tcase_add_test(tc, from_the_agent_socket);
	tcase_add_test(tc, decisions_that_can_not_be);
	suite_add_tcase(s, tc);
	return (rig_main(s));
}
