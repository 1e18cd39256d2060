/*
 * The real policyd between a neurond and an egressd that are played here:
 * listeners, calls, denials, records, and what egressd carries out.
 */
#include <signal.h>

#include "policyd_rig_egress.h"

/* ---- listeners ---- */

START_TEST(opened_and_closed)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct enc *e = enc_new(64);
	unsigned status;
	json_t *json;
	struct got g;

	session_with(handle, session, neuron);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_NEURON, 0, 0, neuron,
	    &status);
	ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(
	    json, "egress"), "listeners")), 4);
	ck_assert(json_is_true(json_object_get(json_object_get(json,
	    "egress"), "served")));
	json_decref(json);
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	ck_assert_str_eq(rig_text(json, "egress.state"), "up");
	ck_assert_int_eq(number(json_object_get(json, "egress"), "neurons"),
	    1);
	json_decref(json);
	enc_u32(e, ++rig.requests);
	enc_u64(e, handle);
	enc_str(e, session);
	rig_send(rig.fd[RIG_AGENT], MSG_END, e, NULL, 0);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	want_ids(MSG_EGRESS_CLOSE, neuron, NULL);
}
END_TEST

/* A new egressd gets the listeners, what was granted and what runs. */
START_TEST(started_again)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	static const struct rig_asks write = { .marks = MARK_NETWORK_WRITE };
	struct rig_call c, asks;
	char approval[ID_SIZE];
	struct got g;

	session_with(handle, session, neuron);
	launched(handle, session, &c);
	want_call(1, 0, &c);
	/* what waits for a person does not run */
	rig_waits(&rig, handle, session, &write, &asks, approval);
	rig_close(&rig, RIG_EGRESS);
	rig_plumb(&rig, RIG_EGRESS);
	rig_want(&rig, RIG_LAUNCH, MSG_LISTENERS_AGAIN, &g);
	rig_listener(&rig, neuron, ALL);
	/* twice is once */
	rig_listener(&rig, neuron, ALL);
	want_open(neuron);
	want_call(1, 0, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	want_call(0, 0, &c);
	json_decref(rig_query(&rig, RIG_AGENT, handle, QUERY_NEURON, 0, 0,
	    neuron, &(unsigned){0}));
	ck_assert_int_eq(rig_recv(rig.fd[RIG_EGRESS], 0, &g), 0);
}
END_TEST

/* ---- what judged is told ---- */

START_TEST(judged_knows)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();

	session_with(handle, session, neuron);
	ck_assert_uint_eq(flags_of(handle, session), JUDGE_F_EGRESS |
	    JUDGE_F_GRANTS);
	ck_assert_uint_eq(flags_of(handle, NULL), JUDGE_F_EGRESS |
	    JUDGE_F_GRANTS);
	/* a reload changes what a neuron may that is there already */
	profile(1, 0);
	rig_reload(&rig);
	ck_assert_uint_eq(flags_of(handle, session), JUDGE_F_GRANTS);
	profile(0, 0);
	rig_reload(&rig);
	ck_assert_uint_eq(flags_of(handle, NULL), 0);
}
END_TEST

START_TEST(judged_knows_of_none)
{
	char session[ID_SIZE];
	uint64_t handle = user();

	rig_session(&rig, handle, session);
	ck_assert_uint_eq(flags_of(handle, session), 0);
	/* a neuron that was made without listeners never has any */
	profile(1, 1);
	rig_reload(&rig);
	ck_assert_uint_eq(flags_of(handle, session), 0);
	ck_assert_uint_eq(flags_of(handle, NULL), JUDGE_F_EGRESS |
	    JUDGE_F_GRANTS);
}
END_TEST

/* ---- calls ---- */

/* Plain HTTP may write where a person allowed a call that does. */
START_TEST(writes)
{
	char session[ID_SIZE], neuron[ID_SIZE], approval[ID_SIZE];
	static const struct rig_asks write = { .marks = MARK_NETWORK_WRITE };
	static const struct rig_asks other = { .marks = MARK_REMOTE_CODE,
	    .args = "{\"args\":{\"argv\":[\"other\"]}}" };
	static const struct rig_asks ruled = { .marks = MARK_NETWORK_WRITE,
	    .verdict = VERDICT_ALLOW, .effect = EFFECT_READ };
	const struct rig_asks *const both[] = { &write, &other };
	uint64_t handle = user(), second = rig_operator(&rig, RIG_SECOND);
	struct rig_call c;
	size_t i;

	session_with(handle, session, neuron);
	for (i = 0; i < 2; i++) {
		rig_waits(&rig, handle, session, both[i], &c, approval);
		rig_decides(&rig, second, DECIDE_ALLOW_ONCE, approval, 200,
		    "allow");
		rig_resolved(&rig, approval, APPROVAL_ALLOWED);
		rig_again(&rig, &c);
		rig_says(&rig, &c, both[i]);
		rig_launch(&rig, &c);
		want_call(1, i == 0 ? EGRESS_F_WRITES : 0, &c);
		rig_ended(&rig, &c, END_EXITED, 0, 0, "");
		want_end(rig_finished(&rig, &c), "completed", "");
		want_call(0, 0, &c);
	}
	/* an operator's rule is a person's word as well */
	rig_asks(&rig, handle, session, &ruled, &c);
	rig_says(&rig, &c, &ruled);
	rig_launch(&rig, &c);
	want_call(1, EGRESS_F_WRITES, &c);
}
END_TEST

/* ---- denials ---- */

/*
 * Both channels are readable when policyd comes to them, neurond's first: it
 * is the order of the events that counts, and not that of the channels.
 */
static void
denied_and_ended(const char *neuron, struct rig_call *c)
{
	struct enc *e = enc_new(64);

	ck_assert_int_eq(kill(rig.pid, SIGSTOP), 0);
	rig_unordered = 1;
	enc_str(e, c->id);
	rig_send(rig.fd[RIG_LAUNCH], MSG_STARTED, e, NULL, 0);
	send_denied(neuron, "evil.example", 443, EGRESS_VIA_CONNECT, 1);
	send_denied(neuron, "evil.example", 443, EGRESS_VIA_CONNECT, 4);
	rig_ended(&rig, c, END_EXITED, 22, 0, "");
	rig_unordered = 0;
	ck_assert_int_eq(kill(rig.pid, SIGCONT), 0);
}

/* What egressd said before a program ended is in the program's call. */
START_TEST(denied_in_time)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c, other;
	const json_t *one, *list;
	json_t *json;
	int i;

	session_with(handle, session, neuron);
	launched(handle, session, &other);
	want_call(1, 0, &other);
	for (i = 0; i < 50; i++) {
		launched(handle, session, &c);
		denied_and_ended(neuron, &c);
		json = rig_finished(&rig, &c);
		list = json_object_get(json, "denials");
		ck_assert_uint_eq(json_array_size(list), 1);
		one = json_array_get(list, 0);
		ck_assert_str_eq(rig_text(one, "layer"), "egress");
		ck_assert_str_eq(rig_text(one, "what"), "evil.example:443 "
		    "(192.0.2.7) was refused: no line of the profile allows "
		    "this host");
		ck_assert_str_eq(rig_text(one, "rule"), "not_listed");
		ck_assert_str_eq(rig_text(one, "next"),
		    "ask with request_egress");
		ck_assert_int_eq(number(one, "times"), 5);
		want_end(json, "completed", "");
		want_call(1, 0, &c);
		want_call(0, 0, &c);
	}
	/* and in the one that ran beside them */
	rig_ended(&rig, &other, END_EXITED, 0, 0, "");
	json = rig_finished(&rig, &other);
	ck_assert_int_eq(number(json_array_get(json_object_get(json,
	    "denials"), 0), "times"), 250);
	json_decref(json);
	json = records("egress.denied");
	ck_assert_uint_eq(json_array_size(json), 100);
	one = json_array_get(json, 99);
	ck_assert_str_eq(rig_text(one, "host"), "evil.example");
	ck_assert_str_eq(rig_text(one, "via"), "connect");
	ck_assert_str_eq(rig_text(one, "session"), session);
	ck_assert_uint_eq(json_array_size(json_object_get(one, "calls")), 2);
	json_decref(json);
}
END_TEST

/* More than a record holds: it is sent all the same, and says how many. */
START_TEST(denied_very_often)
{
	char session[ID_SIZE], neuron[ID_SIZE], host[256], secret[64];
	uint64_t handle = user();
	const json_t *list, *one;
	struct rig_call c;
	json_int_t sum = 0;
	json_t *json;
	size_t k;
	int i;

	session_with(handle, session, neuron);
	launched(handle, session, &c);
	snprintf(secret, sizeof(secret), "ghp_%s", "abcdefghijklmnopqrstuvwxyz"
	    "0123456789");
	for (i = 0; i < 300; i++) {
		snprintf(host, sizeof(host), "%s.h%d-%0150d.example", secret,
		    i, i);
		send_denied(neuron, host, 443, EGRESS_VIA_DNS, 1);
	}
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	json = rig_finished(&rig, &c);
	list = json_object_get(json, "denials");
	ck_assert_uint_gt(json_array_size(list), 4);
	json_array_foreach((json_t *)(uintptr_t)list, k, one) {
		ck_assert_ptr_null(strstr(rig_text(one, "what"), secret));
		sum += number(one, "times");
	}
	ck_assert_int_eq(sum, 300);
	want_end(json, "completed", "");
	/* a record of a call that nothing was denied to is empty there */
	json = rig_whole(&rig, handle, session);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "denials")),
	    0);
	json_decref(json);
}
END_TEST

/* ---- what was let through ---- */

START_TEST(recorded)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	const json_t *one;
	json_t *json;

	session_with(user(), session, neuron);
	send_log(neuron, "a.example", EGRESS_END_CLOSED, 1000);
	/* of a neuron that is gone its last ones still come */
	send_log("n-00000000000000000000", "a.example", EGRESS_END_REVOKED, 1);
	ck_assert(rig_alive(&rig));
	json = records("egress.ended");
	ck_assert_uint_eq(json_array_size(json), 2);
	one = json_array_get(json, 0);
	ck_assert_str_eq(rig_text(one, "neuron"), neuron);
	ck_assert_str_eq(rig_text(one, "host"), "a.example");
	ck_assert_str_eq(rig_text(one, "address"), "192.0.2.7");
	ck_assert_str_eq(rig_text(one, "rule"), "test.conf:7");
	ck_assert_str_eq(rig_text(one, "end"), "closed");
	ck_assert_int_eq(number(one, "up"), 1000);
	ck_assert_int_eq(number(one, "down"), 2000);
	json_decref(json);
}
END_TEST

/* A neuron can't fill the log: what comes too fast is summed up. */
START_TEST(recorded_in_bounds)
{
	char session[ID_SIZE], neuron[ID_SIZE], host[64];
	json_int_t times = 0, up = 0;
	const json_t *one;
	json_t *ended, *summed;
	size_t k;
	int i;

	session_with(user(), session, neuron);
	for (i = 0; i < 3000; i++) {
		snprintf(host, sizeof(host), "h%d.example", i % 20);
		send_log(neuron, host, EGRESS_END_CLOSED, 10);
	}
	ck_assert(rig_alive(&rig));
	rig_gone(&rig, neuron, GONE_LOST, "");
	want_ids(MSG_EGRESS_CLOSE, neuron, NULL);
	ended = records("egress.ended");
	summed = records("egress.summed");
	json_array_foreach(summed, k, one) {
		times += number(one, "times");
		up += number(one, "up");
		ck_assert_uint_le(json_array_size(json_object_get(one,
		    "hosts")), 8);
	}
	ck_assert_uint_gt(json_array_size(summed), 0);
	ck_assert_uint_lt(json_array_size(ended) + json_array_size(summed),
	    2500);
	ck_assert_int_eq((json_int_t)json_array_size(ended) + times, 3000);
	ck_assert_int_eq((json_int_t)json_array_size(ended) * 10 + up, 30000);
	json_decref(ended);
	json_decref(summed);
}
END_TEST

/* ---- fetch ---- */

static void
cancel(uint64_t handle, const char *call)
{
	struct enc *e = enc_new(64);

	enc_u64(e, handle);
	enc_u8(e, STOP_CANCELLED);
	enc_str(e, call);
	rig_send(rig.fd[RIG_AGENT], MSG_STOP, e, NULL, 0);
}

START_TEST(fetched)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	struct got g;
	json_t *json;

	session_with(handle, session, neuron);
	fetching(handle, session, &c);
	send_denied(neuron, "b.example", 80, EGRESS_VIA_FETCH, 1);
	send_ended(c.id, END_EXITED, 1);
	json = rig_finished(&rig, &c);
	ck_assert_int_eq(number(json, "exit_code"), 1);
	ck_assert_int_eq(number(json_object_get(json, "times"), "run_us"),
	    77);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "denials")),
	    1);
	want_end(json, "completed", "");
	/* without a session: in a neuron that is made for it */
	fetching(handle, NULL, &c);
	send_ended(c.id, END_EXITED, 0);
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 0, &g), 0);
}
END_TEST

/* It ends, whatever egressd does. */
START_TEST(fetch_ends)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c, other;
	struct got g;

	session_with(handle, session, neuron);
	fetching(handle, session, &c);
	cancel(handle, c.id);
	want_ids(MSG_EGRESS_KILL, c.id, NULL);
	send_ended(c.id, END_CANCELLED, -1);
	want_end(rig_finished(&rig, &c), "cancelled", "");
	/* no answer to the kill, and one that comes too late */
	fetching(handle, session, &c);
	cancel(handle, c.id);
	want_ids(MSG_EGRESS_KILL, c.id, NULL);
	want_end(rig_finished(&rig, &c), "cancelled", "");
	send_ended(c.id, END_CANCELLED, -1);
	/* its neuron goes */
	fetching(handle, session, &c);
	launched(handle, session, &other);
	want_call(1, 0, &other);
	/* egressd dies: what it did ends, what neurond runs goes on */
	rig_close(&rig, RIG_EGRESS);
	want_end(rig_finished(&rig, &c), "failed", "interrupted");
	rig_asked(&rig, rig_ask(&rig, handle, session, "fetch"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	want_end(rig_finished(&rig, &c), "failed", "launch_failed");
	rig_ended(&rig, &other, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &other), "completed", "");
	rig_plumb(&rig, RIG_EGRESS);
	rig_want(&rig, RIG_LAUNCH, MSG_LISTENERS_AGAIN, &g);
	rig_listener(&rig, neuron, ALL);
	want_open(neuron);
	fetching(handle, session, &c);
	rig_gone(&rig, neuron, GONE_LOST, "it was killed");
	want_end(rig_finished(&rig, &c), "failed", "neuron_lost");
	ck_assert(rig_alive(&rig));
}
END_TEST

/* egressd is stopped: the call's time is over all the same. */
START_TEST(fetch_times_out)
{
	static const struct rig_asks brief = { .tool = "fetch",
	    .timeout = 1000, .verdict = VERDICT_ALLOW, .effect = EFFECT_READ };
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	struct got g;
	json_t *json;

	session_with(handle, session, neuron);
	rig_asks(&rig, handle, session, &brief, &c);
	rig_says(&rig, &c, &brief);
	rig_want(&rig, RIG_EGRESS, MSG_EGRESS_RUN, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 1000);
	got_close(&g);
	rig_want(&rig, RIG_EGRESS, MSG_EGRESS_KILL, &g);
	ck_assert_uint_eq(dec_u8(&g.d), END_TIMED_OUT);
	json = rig_finished(&rig, &c);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "1000 ms"));
	ck_assert(json_is_null(json_object_get(json, "exit_code")));
	want_end(json, "failed", "timed_out");
	json_decref(rig_whole(&rig, handle, session));
}
END_TEST

/* It died too often: status says so, and so does what would need it. */
START_TEST(off)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct enc *e = enc_new(64);
	struct rig_call c;
	unsigned status;
	json_t *json;

	session_with(handle, session, neuron);
	rig_close(&rig, RIG_EGRESS);
	enc_i32(e, 0);
	enc_u32(e, 5);
	enc_u8(e, PROC_ST_FAILED);
	enc_str(e, "egressd");
	rig_send(rig.fd[RIG_CONTROL], MSG_PROCS, e, NULL, 0);
	ck_assert(rig_alive(&rig));
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	ck_assert_str_eq(rig_text(json, "egress.state"), "off");
	json_decref(json);
	rig_asked(&rig, rig_ask(&rig, handle, session, "fetch"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	json = rig_finished(&rig, &c);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "egress is off"));
	want_end(json, "failed", "launch_failed");
	json_decref(rig_whole(&rig, handle, session));
}
END_TEST

/* While its neuron is made: cancelled, or the neuron never comes. */
START_TEST(fetch_waits_for_its_neuron)
{
	char id[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	struct got g;
	int i;

	for (i = 0; i < 2; i++) {
		rig_asked(&rig, rig_ask(&rig, handle, NULL, "fetch"), &c);
		rig_verdict(&rig, &c, VERDICT_ALLOW);
		rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
		(void)dec_u64(&g.d);
		(void)dec_u64(&g.d);
		free(dec_strdup(&g.d, MSG_MAX_SIZE));
		dec_str(&g.d, id, sizeof(id));
		if (i == 0) {
			cancel(handle, c.id);
			want_end(rig_finished(&rig, &c), "cancelled", "");
			rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
			rig_gone(&rig, id, GONE_DROPPED, "");
		} else {
			rig_gone(&rig, id, GONE_FAILED, "no memory");
			want_end(rig_finished(&rig, &c), "failed",
			    "launch_failed");
		}
	}
	ck_assert_int_eq(rig_recv(rig.fd[RIG_EGRESS], 0, &g), 0);
}
END_TEST

/* Where judged was taken over: a neuron without listeners has no way out. */
START_TEST(fetch_without_egress)
{
	char session[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	json_t *json;
	struct got g;

	rig_session(&rig, handle, session);
	rig_asked(&rig, rig_ask(&rig, handle, session, "fetch"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	json = rig_finished(&rig, &c);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "\"egress\""));
	want_end(json, "failed", "launch_failed");
	ck_assert_int_eq(rig_recv(rig.fd[RIG_EGRESS], 0, &g), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_egress");
	TCase *tc = with(s, "egress", setup);

	tcase_add_test(tc, opened_and_closed);
	tcase_add_test(tc, started_again);
	tcase_add_test(tc, judged_knows);
	tcase_add_test(tc, writes);
	tcase_add_test(tc, denied_in_time);
	tcase_add_test(tc, denied_very_often);
	tcase_add_test(tc, recorded);
	tcase_add_test(tc, recorded_in_bounds);
	tcase_add_test(tc, fetched);
	tcase_add_test(tc, fetch_ends);
	tcase_add_test(tc, fetch_times_out);
	tcase_add_test(tc, off);
	tcase_add_test(tc, fetch_waits_for_its_neuron);
	tc = with(s, "without", setup_without);
	tcase_add_test(tc, judged_knows_of_none);
	tcase_add_test(tc, fetch_without_egress);
	return (rig_main(s));
}
