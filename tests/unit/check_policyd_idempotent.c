/* The real policyd: idempotency keys and dry runs. */

#include <poll.h>
#include <stdlib.h>

#include "policyd_rig_test.h"

static void
begin(void)
{
	start();
	rig_ask_key = "k";
}

static void
finish(void)
{
	rig_ask_key = "";
	rig_ask_flags = 0;
	stop();
}

/* CALL_SAME to this request, of that call. */
static void
want_same(uint32_t request, const char *call)
{
	char id[ID_SIZE];
	struct got g;

	do {
		ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], RIG_WAIT_MS, &g),
		    1);
	} while (g.type == MSG_CALL_JUDGED || g.type == MSG_CALL_STARTED ||
	    g.type == MSG_CALL_FINISHED);
	ck_assert_msg(g.type == MSG_CALL_SAME, "%s", msg_name(g.type));
	ck_assert_uint_eq(dec_u32(&g.d), request);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, call);
}

static void
nothing_judged(void)
{
	ck_assert_int_eq(rig_recv(rig.fd[RIG_JUDGE], 200, &(struct got){0}),
	    0);
}

/* In each of a call's states it is that call, for one of any connection. */
START_TEST(every_state)
{
	uint64_t handle = user(), other = user();
	char session[ID_SIZE];
	struct rig_call c;

	rig_session(&rig, handle, session);
	rig_asked(&rig, rig_ask(&rig, handle, session, "exec"), &c);
	want_same(rig_ask(&rig, other, session, "exec"), c.id);
	/* however it is to be answered */
	rig_ask_flags = ASK_F_PATIENT;
	want_same(rig_ask(&rig, other, session, "exec"), c.id);
	rig_ask_flags = 0;
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_launch(&rig, &c);
	want_same(rig_ask(&rig, other, session, "exec"), c.id);
	want_refusal(rig_ask(&rig, handle, session, "asker"), 409, "conflict",
	    c.id);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	want_same(rig_ask(&rig, handle, session, "exec"), c.id);
	nothing_judged();
	/* elsewhere the same string is another key */
	rig_session(&rig, handle, session);
	json_decref(rig_whole(&rig, handle, session));
}
END_TEST

/* The first one is not there any more, and its call is. */
START_TEST(of_an_apid_that_died)
{
	uint64_t handle = user();
	struct rig_call c;

	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c);
	rig_plumb(&rig, RIG_AGENT);
	want_same(rig_ask(&rig, user(), NULL, "exec"), c.id);
}
END_TEST

/* A call that was interrupted stays that call; so does one that ended. */
START_TEST(restart)
{
	struct rig_call cut, done;
	unsigned status;
	json_t *json;

	rig_asked(&rig, rig_ask(&rig, user(), NULL, "exec"), &done);
	rig_verdict(&rig, &done, VERDICT_DENY);
	want_end(rig_finished(&rig, &done), "failed", "denied_by_policy");
	rig_ask_key = "other";
	launched(user(), NULL, &cut);
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	want_same(rig_ask(&rig, user(), NULL, "exec"), cut.id);
	json = rig_query(&rig, RIG_AGENT, user(), QUERY_CALL, 0, 0, cut.id,
	    &status);
	want_end(json, "failed", "interrupted");
	rig_ask_key = "k";
	want_same(rig_ask(&rig, user(), NULL, "exec"), done.id);
	want_refusal(rig_ask(&rig, user(), NULL, "asker"), 409, "conflict",
	    done.id);
}
END_TEST

/* policyd has the last word on what can't have one. */
START_TEST(refused)
{
	rig_ask_flags = ASK_F_DRY_RUN;
	want_refusal(rig_ask(&rig, user(), NULL, "exec"), 400, "bad_request",
	    "dry_run");
	rig_ask_flags = 0x80;
	want_refusal(rig_ask(&rig, user(), NULL, "exec"), 400, "bad_request",
	    "flags");
	rig_ask_flags = 0;
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

/* ---- dry runs ---- */

static json_t *
want_dry(uint32_t request, int explained)
{
	char text[MSG_MAX_SIZE];
	struct got g;
	json_t *json;

	rig_want(&rig, RIG_AGENT, MSG_DRY_JUDGED, &g);
	ck_assert_uint_eq(dec_u32(&g.d), request);
	dec_str(&g.d, text, sizeof(text));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_uint_eq(g.nfds, explained);
	got_close(&g);
	ck_assert_ptr_nonnull(json = json_loads(text, 0, NULL));
	return (json);
}

static void
dry_asked(uint32_t request, struct rig_call *c)
{
	memset(c, 0, sizeof(*c));
	c->request = request;
	rig_judging(&rig, c);
	ck_assert_uint_eq(c->judge_flags, JUDGE_F_EXPLAIN);
}

START_TEST(dry_runs)
{
	uint64_t handle = user();
	char session[ID_SIZE];
	struct rig_call c;
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	rig_ask_key = "";
	rig_ask_flags = ASK_F_DRY_RUN;
	dry_asked(rig_ask(&rig, handle, NULL, "exec"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	json = want_dry(c.request, 0);
	ck_assert_str_eq(rig_text(json, "verdict"), "allow");
	/* of what is allowed nothing is quoted */
	ck_assert_str_eq(rig_text(json, "judged.command"), "");
	json_decref(json);
	dry_asked(rig_ask(&rig, handle, session, "asker"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	json = want_dry(c.request, 0);
	/* what the declaration asks no verdict lifts */
	ck_assert_str_eq(rig_text(json, "verdict"), "ask");
	ck_assert_str_eq(rig_text(json, "session"), session);
	json_decref(json);
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 200, &(struct got){0}),
	    0);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALLS, 0, 10, "",
	    &status);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "calls")), 0);
	json_decref(json);
}
END_TEST

/* What ends it ends it with an answer, and policyd with nothing of it. */
START_TEST(dry_runs_that_end)
{
	uint64_t handle = user();
	char session[ID_SIZE], neuron[ID_SIZE];
	struct rig_call c;
	unsigned status;
	struct enc *e;
	struct got g;

	rig_session(&rig, handle, session);
	rig_ask_key = "";
	rig_ask_flags = ASK_F_DRY_RUN;
	dry_asked(rig_ask(&rig, handle, session, "exec"), &c);
	e = enc_new(64);
	enc_u32(e, ++rig.requests);
	enc_u64(e, handle);
	enc_str(e, session);
	rig_send(rig.fd[RIG_AGENT], MSG_END, e, NULL, 0);
	want_refusal(c.request, 503, "unavailable", "dry run");
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	dec_str(&g.d, neuron, sizeof(neuron));
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	json_decref(rig_reply(&rig, RIG_AGENT, rig.requests, &status, NULL));
	/* its verdict comes too late, and that is all */
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	dry_asked(rig_ask(&rig, handle, NULL, "exec"), &c);
	rig_plumb(&rig, RIG_JUDGE);
	rig_tools(&rig);
	rig_judging(&rig, &c);
	rig_plumb(&rig, RIG_JUDGE);
	want_refusal(c.request, 503, "unavailable", "judged ended");
	rig_tools(&rig);
	dry_asked(rig_ask(&rig, handle, NULL, "exec"), &c);
	rig_plumb(&rig, RIG_AGENT);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_ask_flags = 0;
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

/* What is asked is judged (1), or refused as one too many. */
static int
dry_admitted(uint32_t request)
{
	struct pollfd both[2] = {
		{ .fd = rig.fd[RIG_JUDGE], .events = POLLIN },
		{ .fd = rig.fd[RIG_AGENT], .events = POLLIN },
	};
	struct rig_call c;

	ck_assert_int_ge(poll(both, 2, RIG_WAIT_MS), 1);
	if (both[1].revents != 0) {
		want_refusal(request, 429, "too_many", "120");
		return (0);
	}
	dry_asked(request, &c);
	rig_verdict(&rig, &c, VERDICT_DENY);
	json_decref(want_dry(request, 0));
	return (1);
}

/* A minute's number is a principal's, whatever connection they come by. */
START_TEST(dry_runs_bound)
{
	unsigned i = 0;

	rig_ask_key = "";
	rig_ask_flags = ASK_F_DRY_RUN;
	/* 120 in one minute; a minute that ends meanwhile gives 120 more */
	while (i < 1000 && dry_admitted(rig_ask(&rig, user(), NULL, "exec")))
		i++;
	ck_assert_uint_ge(i, 120);
	ck_assert_uint_lt(i, 1000);
	rig_ask_flags = 0;
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd idempotency");
	TCase *tc = tcase_create("started");

	tcase_add_checked_fixture(tc, begin, finish);
	tcase_add_test(tc, every_state);
	tcase_add_test(tc, of_an_apid_that_died);
	tcase_add_test(tc, restart);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, dry_runs);
	tcase_add_test(tc, dry_runs_that_end);
	tcase_add_test(tc, dry_runs_bound);
	suite_add_tcase(s, tc);
	return (rig_main(s));
}
