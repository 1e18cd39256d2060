/*
 * The real policyd: what is granted to neurons and taken back, and an egressd
 * or a neurond that was taken over.
 */
#include "policyd_rig_egress.h"

/* ---- request_egress ---- */

static const struct rig_asks wish = { .tool = "request_egress",
    .effect = EFFECT_READ, .marks = MARK_NETWORK_READ };

/* As far as EGRESS_RUN; judged even says that nobody need be asked. */
static void
granting(uint64_t handle, const char *session, unsigned decision,
    unsigned what, struct rig_call *c, char approval[ID_SIZE])
{
	struct rig_asks milder = wish;

	milder.verdict = VERDICT_ALLOW;
	rig_waits(&rig, handle, session, &milder, c, approval);
	rig_decides(&rig, rig_operator(&rig, RIG_SECOND), decision, approval,
	    200, "allow");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	rig_again(&rig, c);
	rig_says(&rig, c, &milder);
	want_run(c, what);
}

static json_t *
grants_of(uint64_t handle, const char *neuron)
{
	unsigned status;
	json_t *json, *list;

	json = rig_query(&rig, RIG_AGENT, handle, QUERY_NEURON, 0, 0, neuron,
	    &status);
	ck_assert_uint_eq(status, 200);
	list = json_incref(json_object_get(json_object_get(json, "egress"),
	    "grants"));
	json_decref(json);
	return (list);
}

START_TEST(granted_once)
{
	char session[ID_SIZE], neuron[ID_SIZE], approval[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	struct enc *e;
	json_t *json;

	session_with(handle, session, neuron);
	ck_assert_uint_eq(flags_of(handle, session), JUDGE_F_GRANTS);
	granting(handle, session, DECIDE_ALLOW_ONCE, EGRESS_GRANT_ONCE, &c,
	    approval);
	send_granted(neuron, "new.example", EGRESS_GRANT_ONCE,
	    EGRESS_F_WRITES);
	send_ended(c.id, END_EXITED, 0);
	want_end(rig_finished(&rig, &c), "completed", "");
	json = grants_of(handle, neuron);
	ck_assert_uint_eq(json_array_size(json), 1);
	ck_assert_str_eq(rig_text(json_array_get(json, 0), "host"),
	    "new.example");
	ck_assert_str_eq(rig_text(json_array_get(json, 0), "scope"), "once");
	ck_assert_str_eq(rig_text(json_array_get(json, 0), "approval"),
	    approval);
	ck_assert(json_is_true(json_object_get(json_array_get(json, 0),
	    "write")));
	json_decref(json);
	ck_assert_uint_eq(flags_of(handle, session), JUDGE_F_EGRESS |
	    JUDGE_F_GRANTS);
	e = enc_new(512);
	enc_str(e, neuron);
	enc_str(e, "new.example");
	enc_u16(e, 443);
	rig_send(rig.fd[RIG_EGRESS], MSG_EGRESS_SPENT, e, NULL, 0);
	ck_assert(rig_alive(&rig));
	json = grants_of(handle, neuron);
	ck_assert_uint_eq(json_array_size(json), 0);
	json_decref(json);
	ck_assert_uint_eq(flags_of(handle, session), JUDGE_F_GRANTS);
	json = records("egress.granted");
	ck_assert_uint_eq(json_array_size(json), 1);
	ck_assert_str_eq(rig_text(json_array_get(json, 0), "approval"),
	    approval);
	json_decref(json);
}
END_TEST

/* It outlives egressd, and ends when it is revoked. */
START_TEST(granted_for_the_session)
{
	char session[ID_SIZE], neuron[ID_SIZE], approval[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	struct got g;
	json_t *json;

	session_with(handle, session, neuron);
	granting(handle, session, DECIDE_ALLOW_SESSION, EGRESS_GRANT_SESSION,
	    &c, approval);
	send_granted(neuron, "new.example", EGRESS_GRANT_SESSION, 0);
	send_ended(c.id, END_EXITED, 0);
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_close(&rig, RIG_EGRESS);
	rig_plumb(&rig, RIG_EGRESS);
	rig_want(&rig, RIG_LAUNCH, MSG_LISTENERS_AGAIN, &g);
	rig_listener(&rig, neuron, ALL);
	want_open(neuron);
	want_grant(neuron, "new.example", EGRESS_GRANT_SESSION, 0);
	/* the same once more asks nobody, and is for the session again */
	rig_asks(&rig, handle, session, &wish, &c);
	rig_says(&rig, &c, &wish);
	want_run(&c, EGRESS_GRANT_SESSION);
	send_granted(neuron, "new.example", EGRESS_GRANT_SESSION, 0);
	send_ended(c.id, END_EXITED, 0);
	want_end(rig_finished(&rig, &c), "completed", "");
	json = grants_of(handle, neuron);
	ck_assert_uint_eq(json_array_size(json), 1);
	json_decref(json);
	rig_decides(&rig, rig_operator(&rig, RIG_SECOND), DECIDE_REVOKE,
	    approval, 200, "revoked");
	want_grant(neuron, "new.example", EGRESS_GRANT_NONE, 0);
	json = grants_of(handle, neuron);
	ck_assert_uint_eq(json_array_size(json), 0);
	json_decref(json);
	ck_assert_uint_eq(flags_of(handle, session), JUDGE_F_GRANTS);
}
END_TEST

START_TEST(rejected_and_sessionless)
{
	char session[ID_SIZE], neuron[ID_SIZE], approval[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	json_t *json;
	struct got g;

	session_with(handle, session, neuron);
	rig_waits(&rig, handle, session, &wish, &c, approval);
	rig_decides(&rig, rig_operator(&rig, RIG_SECOND), DECIDE_REJECT_ONCE,
	    approval, 200, "reject");
	rig_resolved(&rig, approval, APPROVAL_REJECTED);
	want_end(rig_finished(&rig, &c), "failed", "approval_rejected");
	rig_asks(&rig, handle, NULL, &wish, &c);
	rig_says(&rig, &c, &wish);
	json = rig_finished(&rig, &c);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "session"));
	want_end(json, "failed", "denied_by_policy");
	ck_assert_int_eq(rig_recv(rig.fd[RIG_EGRESS], 0, &g), 0);
}
END_TEST

/* ---- an egressd that was taken over ---- */

enum forged {
	NOT_ASKED, ANOTHER_SCOPE, NO_HOST, NO_FLAG, NONE_GRANTED, FETCH_ENDS,
	NO_VIA, NO_TIMES, NO_END, NO_NEURON, NO_CAUSE, SIGNALLED, HUGE_SUM,
	FORGED
};

static void
forge(enum forged what, const char *neuron, const char *call)
{
	switch (what) {
	case NOT_ASKED:
		send_granted(neuron, "evil.example", EGRESS_GRANT_SESSION, 0);
		break;
	case ANOTHER_SCOPE:	/* a person said once */
		send_granted(neuron, "evil.example", EGRESS_GRANT_SESSION, 0);
		break;
	case NO_HOST:
		send_granted(neuron, "Evil example\n", EGRESS_GRANT_ONCE, 0);
		break;
	case NO_FLAG:
		send_granted(neuron, "evil.example", EGRESS_GRANT_ONCE, 2);
		break;
	case NONE_GRANTED:
		send_granted(neuron, "evil.example", EGRESS_GRANT_NONE, 0);
		break;
	case FETCH_ENDS:	/* one that neurond runs */
		send_ended(call, END_EXITED, 0);
		break;
	case NO_VIA:
		send_denied(neuron, "evil.example", 1, 0, 1);
		break;
	case NO_TIMES:
		send_denied(neuron, "evil.example", 1, EGRESS_VIA_TLS, 0);
		break;
	case NO_END:
		send_log(neuron, "evil.example", 0, 1);
		break;
	case NO_NEURON:
		send_log("../state", "evil.example", EGRESS_END_CLOSED, 1);
		break;
	case NO_CAUSE:
		send_ended(call, 0, 0);
		break;
	case SIGNALLED:
		send_ended(call, END_SIGNALLED, 0);
		break;
	case HUGE_SUM:
		send_log(neuron, "evil.example", EGRESS_END_CLOSED,
		    UINT64_MAX / 2);
		break;
	case FORGED:
		break;
	}
}

START_TEST(taken_over)
{
	char session[ID_SIZE], neuron[ID_SIZE], approval[ID_SIZE];
	enum forged what = (enum forged)_i;
	uint64_t handle = user();
	struct rig_call c, asks;
	json_t *json;

	session_with(handle, session, neuron);
	launched(handle, session, &c);
	want_call(1, 0, &c);
	if (what != NOT_ASKED)
		granting(handle, session, DECIDE_ALLOW_ONCE,
		    EGRESS_GRANT_ONCE, &asks, approval);
	/* what is of nobody is nothing */
	send_ended("c-00000000000000000000", END_EXITED, 0);
	send_granted("n-00000000000000000000", "evil.example",
	    EGRESS_GRANT_ONCE, 0);
	forge(what, neuron, c.id);
	ck_assert(rig_closed(&rig, RIG_EGRESS));
	ck_assert(rig_alive(&rig));
	if (what != NOT_ASKED)
		want_end(rig_finished(&rig, &asks), "failed", "interrupted");
	json = grants_of(handle, neuron);
	ck_assert_uint_eq(json_array_size(json), 0);
	json_decref(json);
	/* the call that neurond runs is still that */
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
}
END_TEST

/* neurond's side: sockets that don't fit, of neurons that are not. */
START_TEST(listeners_that_can_not_be)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	struct enc *e = enc_new(64);
	struct got g;
	int fd;

	session_with(user(), session, neuron);
	rig_listener(&rig, "n-00000000000000000000", ALL);
	rig_listener(&rig, neuron, ALL);
	ck_assert(rig_alive(&rig));
	ck_assert_int_eq(rig_recv(rig.fd[RIG_EGRESS], 0, &g), 0);
	if (_i == 0) {
		rig_listener(&rig, neuron, LISTENER_PROXY);
	} else {
		fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		enc_u8(e, _i == 1 ? ALL : _i == 2 ? 0x10 : 0);
		enc_str(e, neuron);
		rig_send(rig.fd[RIG_LAUNCH], MSG_LISTENER, e, &fd, 1);
		close(fd);
		e = NULL;
	}
	enc_free(e);
	ck_assert(rig_closed(&rig, RIG_LAUNCH));
	ck_assert(rig_alive(&rig));
}
END_TEST

/* neurond can't end what egressd carries out. */
START_TEST(neurond_ends_a_fetch)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;

	session_with(handle, session, neuron);
	fetching(handle, session, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	ck_assert(rig_closed(&rig, RIG_LAUNCH));
	want_end(rig_finished(&rig, &c), "failed", "neuron_lost");
	ck_assert(rig_alive(&rig));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_egress_grants");
	TCase *tc = with(s, "egress", setup);

	tcase_add_test(tc, rejected_and_sessionless);
	tcase_add_loop_test(tc, taken_over, 0, FORGED);
	tcase_add_loop_test(tc, listeners_that_can_not_be, 0, 4);
	tcase_add_test(tc, neurond_ends_a_fetch);
	tc = with(s, "deny all", setup_deny_all);
	tcase_add_test(tc, granted_once);
	tcase_add_test(tc, granted_for_the_session);
	return (rig_main(s));
}
