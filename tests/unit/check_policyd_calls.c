/* The real policyd: the life of calls and sessions, refusals, budgets. */

#include <sys/socket.h>

#include "policyd_rig_test.h"

/* ---- a call's life ---- */

START_TEST(whole_call)
{
	uint64_t handle = user();
	const json_t *times;
	char session[ID_SIZE];
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	json = rig_whole(&rig, handle, session);
	ck_assert_str_eq(rig_text(json, "state"), "completed");
	ck_assert_str_eq(rig_text(json, "session"), session);
	ck_assert_str_eq(rig_text(json, "tool"), "exec");
	ck_assert_str_eq(rig_text(json, "verdict"), "allow");
	ck_assert_str_eq(rig_text(json, "effect"), "read");
	ck_assert(json_is_null(json_object_get(json, "reason")));
	ck_assert(json_is_null(json_object_get(json, "error")));
	ck_assert(json_is_null(json_object_get(json, "signal")));
	ck_assert_int_eq(json_integer_value(json_object_get(json,
	    "exit_code")), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(json,
	    "leftover_processes")), 2);
	times = json_object_get(json, "times");
	ck_assert_int_eq(json_integer_value(json_object_get(times, "run_us")),
	    33);
	ck_assert_int_gt(json_integer_value(json_object_get(times,
	    "total_us")), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "layers")),
	    2);
	json_decref(json);
	json = rig_whole(&rig, handle, NULL);
	ck_assert(json_is_null(json_object_get(json, "session")));
	ck_assert_int_eq(json_integer_value(json_object_get(
	    json_object_get(json, "times"), "neuron_us")), 4321);
	json_decref(json);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_SESSION, 0, 0,
	    session, &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(
	    json, "calls"), "used")), 1);
	json_decref(json);
}
END_TEST

static const struct {
	unsigned	 cause;
	int		 code, signal;
	const char	*state, *reason, *word;
} ends[] = {
	{ END_EXITED, 7, 0, "completed", "", "" },
	{ END_SIGNALLED, 0, 9, "failed", "signalled", "" },
	{ END_TIMED_OUT, 0, 15, "failed", "timed_out", "60000" },
	{ END_OOM, 0, 9, "failed", "oom_killed", "memory" },
	{ END_PIDS, 1, 0, "failed", "pids_limit", "512" },
	{ END_OUTPUT_LIMIT, 0, 9, "failed", "output_limit", "1073741824" },
	{ END_CANCELLED, 0, 15, "cancelled", "", "" },
	{ END_EXEC_FAILED, 127, 0, "failed", "exec_failed", "no such" },
	{ END_LAUNCH_FAILED, 0, 0, "failed", "launch_failed", "no such" },
	{ END_NEURON_LOST, 0, 0, "failed", "neuron_lost", "no such" },
};

START_TEST(all_ends)
{
	uint64_t handle = user();
	char session[ID_SIZE];
	struct rig_call c;
	json_t *json;
	size_t i;

	rig_session(&rig, handle, session);
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		rig_asked(&rig, rig_ask(&rig, handle, session, "bash"), &c);
		rig_verdict(&rig, &c, VERDICT_ALLOW);
		rig_launch(&rig, &c);
		rig_ended(&rig, &c, ends[i].cause, ends[i].code,
		    ends[i].signal, "no such thing");
		json = rig_finished(&rig, &c);
		if (ends[i].signal == 9)
			ck_assert_str_eq(rig_text(json, "signal"), "KILL");
		if (ends[i].code != 0)
			ck_assert_int_eq(json_integer_value(json_object_get(
			    json, "exit_code")), ends[i].code);
		if (ends[i].cause == END_LAUNCH_FAILED)
			ck_assert(json_is_null(json_object_get(json,
			    "exit_code")));
		if (ends[i].word[0] != '\0')
			ck_assert_ptr_nonnull(strstr(rig_text(json,
			    "error.message"), ends[i].word));
		want_end(json, ends[i].state, ends[i].reason);
	}
}
END_TEST

static void
verdict(unsigned verdict, const char *tool, const char *reason,
    const char *word)
{
	uint64_t handle = user();
	struct rig_call c;
	json_t *json;

	rig_asked(&rig, rig_ask(&rig, handle, NULL, tool), &c);
	rig_verdict(&rig, &c, verdict);
	json = rig_finished(&rig, &c);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"), word));
	if (verdict != VERDICT_ALLOW) {
		ck_assert_str_eq(rig_text(json, "judged.rule"), "a-rule");
		ck_assert_str_eq(rig_text(json, "judged.where"),
		    "myelin.conf:7");
	}
	ck_assert_str_eq(rig_text(json, "judged.command"), "a command");
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(
	    json, "judged"), "to")), 9);
	if (strcmp(reason, "denied_by_policy") == 0)
		ck_assert_str_eq(rig_text(json_array_get(json_object_get(json,
		    "denials"), 0), "layer"), "judge");
	want_end(json, "failed", reason);
}

START_TEST(verdicts)
{
	verdict(VERDICT_DENY, "exec", "denied_by_policy", "the reason why");
	verdict(VERDICT_INVALID, "exec", "invalid_arguments", "the reason");
}
END_TEST

/* ---- identity ---- */

START_TEST(identities)
{
	char words[512];

	ck_assert_uint_ne(rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP,
	    words, sizeof(words)), 0);
	ck_assert_uint_eq(rig_peer(&rig, RIG_AGENT, RIG_STRANGER, 0, words,
	    sizeof(words)), 0);
	ck_assert_ptr_nonnull(strstr(words, "2000001003"));
	ck_assert_ptr_nonnull(strstr(words, "\"rig\""));
	ck_assert_uint_eq(rig_peer(&rig, RIG_OPERATOR, RIG_USER, 0, words,
	    sizeof(words)), 0);
	ck_assert_ptr_nonnull(strstr(words, "operator"));
}
END_TEST

/* Every socket that would answer as root is refused; policyd stays. */
static void
forged(int fd, enum rig_channel ch)
{
	struct enc *e = enc_new(64);
	char who[64], words[512];
	struct got g;

	enc_u32(e, 9);
	rig_send(rig.fd[ch], MSG_PEER, e, &fd, 1);
	rig_want(&rig, ch, MSG_PEER_NO, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 9);
	dec_str(&g.d, who, sizeof(who));
	dec_str(&g.d, words, sizeof(words));
	ck_assert_str_eq(who, "nobody");
}

START_TEST(forged_peers)
{
	int pair[2], fd;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	forged(pair[0], RIG_AGENT);
	forged(pair[0], RIG_OPERATOR);
	forged(rig.listener[0], RIG_AGENT);
	forged(rig.listener[1], RIG_OPERATOR);
	/* one plane's connection on the other plane's channel */
	fd = rig_accept(&rig, PLANE_AGENT, 0, 0, 0);
	forged(fd, RIG_OPERATOR);
	ck_assert(rig_alive(&rig));
	close(fd);
	close(pair[0]);
	close(pair[1]);
}
END_TEST

START_TEST(others_do_not_exist)
{
	char session[ID_SIZE], words[512];
	uint64_t handle = user(), other;
	struct rig_call c;
	unsigned status;
	struct enc *e;
	json_t *json;

	other = rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words));
	rig_session(&rig, handle, session);
	rig_asked(&rig, rig_ask(&rig, handle, session, "exec"), &c);
	want_refusal(rig_ask(&rig, other, session, "exec"), 404, "not_found",
	    session);
	json_decref(rig_query(&rig, RIG_AGENT, other, QUERY_SESSION, 0, 0,
	    session, &status));
	ck_assert_uint_eq(status, 404);
	json_decref(rig_query(&rig, RIG_AGENT, other, QUERY_CALL, 0, 0, c.id,
	    &status));
	ck_assert_uint_eq(status, 404);
	json = rig_query(&rig, RIG_AGENT, other, QUERY_CALLS, 0, 0, "",
	    &status);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "calls")), 0);
	json_decref(json);
	/* nor can he cancel it */
	e = enc_new(64);
	enc_u64(e, other);
	enc_u8(e, STOP_CANCELLED);
	enc_str(e, c.id);
	rig_send(rig.fd[RIG_AGENT], MSG_STOP, e, NULL, 0);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_launch(&rig, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	/* the operator sees it */
	json_decref(rig_query(&rig, RIG_OPERATOR, operator(), QUERY_CALL, 0,
	    0, c.id, &status));
	ck_assert_uint_eq(status, 200);
}
END_TEST

/* ---- refusals, caps, budgets ---- */

START_TEST(refusals)
{
	uint64_t handle = user();

	want_refusal(rig_ask(&rig, 12345, NULL, "exec"), 403, "forbidden",
	    "connection");
	want_refusal(rig_ask(&rig, handle, NULL, "nosuch"), 404, "not_found",
	    "nosuch");
	want_refusal(rig_ask(&rig, handle, NULL, "wipe"), 403, "forbidden",
	    "\"standard\"");
	want_refusal(rig_ask(&rig, handle, "s-nonsense", "exec"), 404,
	    "not_found", "s-nonsense");
	want_refusal(rig_open(&rig, handle, "", "/etc", 0), 403, "forbidden",
	    "/etc");
	want_refusal(rig_open(&rig, handle, "", "/srv/src/../x", 0), 403,
	    "forbidden", "/srv/src/../x");
	want_refusal(rig_open(&rig, handle, "nosuch", "", 0), 403,
	    "forbidden", "nosuch");
	want_refusal(rig_open(&rig, handle, "", "", 3), 400, "bad_request",
	    "expires");
}
END_TEST

START_TEST(presets_narrow)
{
	uint64_t handle = user();
	char neuron[ID_SIZE], session[ID_SIZE];
	struct rig_call c;
	uint32_t request;
	unsigned status;
	json_t *json;

	request = rig_open(&rig, handle, "readonly", "/srv/src/a", 0);
	rig_neuron_up(&rig, neuron);
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 201);
	snprintf(session, sizeof(session), "%s", rig_text(json, "session"));
	ck_assert_str_eq(rig_text(json, "preset"), "readonly");
	ck_assert_str_eq(rig_text(json, "workspace"), "/srv/src/a");
	json_decref(json);
	want_refusal(rig_ask(&rig, handle, session, "write"), 403,
	    "forbidden", "readonly");
	rig_asked(&rig, rig_ask(&rig, handle, session, "read"), &c);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_TOOLS, 0, 0, "",
	    &status);
	/* wipe is above the cap, so it is not there */
	ck_assert_uint_eq(json_array_size(json_object_get(json, "tools")), 7);
	json_decref(json);
}
END_TEST

START_TEST(caps)
{
	uint64_t handle = user();
	struct rig_call calls[4];
	char session[ID_SIZE];
	uint32_t request;
	struct got g;
	json_t *json;
	unsigned i, status;

	rig_session(&rig, handle, session);
	for (i = 0; i < 4; i++)
		rig_asked(&rig, rig_ask(&rig, handle, session, "exec"),
		    &calls[i]);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 429, "too_many",
	    "running-calls of a neuron is 4");
	/* neurons-principal is 16: one is the session's */
	for (i = 0; i < 15; i++)
		rig_session(&rig, handle, session);
	want_refusal(rig_open(&rig, handle, "", "", 0), 429, "too_many",
	    "neurons-principal is 16");
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 429, "too_many",
	    "neurons-principal is 16");
	/* a slot that comes free within the wait is given */
	rig.slice->limits.v[LIMIT_NEURON_WAIT] = 60000;
	rig_reload(&rig);
	request = rig_open(&rig, handle, "", "", 0);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_SESSIONS, 0, 1, "",
	    &status);
	ck_assert(json_is_integer(json_object_get(json, "next")));
	rig_gone(&rig, rig_text(json_array_get(json_object_get(json,
	    "sessions"), 0), "neuron"), GONE_LOST, "test");
	json_decref(json);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	(void)request;
}
END_TEST

START_TEST(cap_of_the_host)
{
	uint64_t handle;
	struct rig_call c[2];

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_RUNNING_HOST] = 2;
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c[0]);
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c[1]);
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 429, "too_many",
	    "running-calls-host is 2");
	rig_verdict(&rig, &c[0], VERDICT_DENY);
	json_decref(rig_finished(&rig, &c[0]));
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c[0]);
	rig_end(&rig);
}
END_TEST

/* A new session, connection or process gives no new hour. */
START_TEST(budgets)
{
	char session[ID_SIZE];
	uint64_t handle;
	uint32_t retry;
	unsigned status;
	int i;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_HOURLY] = 3;
	rig.slice->limits.v[LIMIT_CALLS_SESSION] = 2;
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	rig_session(&rig, handle, session);
	for (i = 0; i < 2; i++)
		json_decref(rig_whole(&rig, handle, session));
	want_refusal(rig_ask(&rig, handle, session, "exec"), 429,
	    "budget_exhausted", "calls-session is 2");
	json_decref(rig_whole(&rig, handle, NULL));
	rig_session(&rig, user(), session);
	want_refusal(rig_ask(&rig, user(), NULL, "exec"), 429,
	    "budget_exhausted", "hourly is 3");
	json_decref(rig_reply(&rig, RIG_AGENT,
	    rig_open(&rig, handle, "", "", 0), &status, &retry));
	ck_assert_uint_eq(status, 429);
	ck_assert_uint_gt(retry, 3500);
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	want_refusal(rig_ask(&rig, user(), NULL, "exec"), 429,
	    "budget_exhausted", "hourly is 3");
	rig_end(&rig);
}
END_TEST

/* ---- ends ---- */

static uint32_t
send_end(uint64_t handle, const char *id)
{
	struct enc *e = enc_new(64);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_str(e, id);
	rig_send(rig.fd[RIG_AGENT], MSG_END, e, NULL, 0);
	return (request);
}

START_TEST(end_of_session)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle = user();
	struct rig_call runs, judged;
	uint32_t request;
	unsigned status;
	json_t *json;
	struct got g;

	rig_session(&rig, handle, session);
	launched(handle, session, &runs);
	rig_asked(&rig, rig_ask(&rig, handle, session, "exec"), &judged);
	request = send_end(handle, session);
	want_kill(END_SESSION_ENDED, runs.id);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	dec_str(&g.d, neuron, sizeof(neuron));
	want_end(rig_finished(&rig, &judged), "failed", "session_ended");
	want_refusal(rig_ask(&rig, handle, session, "exec"), 409, "conflict",
	    session);
	rig_ended(&rig, &runs, END_SESSION_ENDED, 0, 9, "");
	want_end(rig_finished(&rig, &runs), "failed", "session_ended");
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 200);
	want_end(json, "ended", "ended");
	want_refusal(send_end(handle, session), 404, "not_found", session);
	/* the late verdict harms nobody */
	rig_verdict(&rig, &judged, VERDICT_ALLOW);
	ck_assert(rig_alive(&rig));
}
END_TEST

START_TEST(stops)
{
	static const struct { unsigned why, cause; } whys[] = {
		{ STOP_CANCELLED, END_CANCELLED },
		{ STOP_OUTPUT_LIMIT, END_OUTPUT_LIMIT },
		{ STOP_READER_GONE, END_INTERRUPTED },
	};
	uint64_t handle = user();
	struct rig_call c;
	struct enc *e;
	size_t i;

	for (i = 0; i < 3; i++) {
		launched(handle, NULL, &c);
		e = enc_new(64);
		/* the connection may be gone for all but the first */
		enc_u64(e, i == 0 ? handle : 0);
		enc_u8(e, (uint8_t)whys[i].why);
		enc_str(e, c.id);
		rig_send(rig.fd[RIG_AGENT], MSG_STOP, e, NULL, 0);
		want_kill(whys[i].cause, c.id);
		rig_ended(&rig, &c, whys[i].cause, 0, 9, "");
		json_decref(rig_finished(&rig, &c));
		rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	}
}
END_TEST

static uint32_t
steer(unsigned type, uint64_t handle, uint32_t value, const char *id)
{
	struct enc *e = enc_new(64);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u32(e, value);
	enc_str(e, id);
	rig_send(rig.fd[RIG_AGENT], type, e, NULL, 0);
	return (request);
}

/* It is answered with 200, and neurond is told this. */
static void
steered(uint32_t request, unsigned type, uint32_t value, const char *call)
{
	char id[ID_SIZE];
	unsigned status;
	struct got g;

	json_decref(rig_reply(&rig, RIG_AGENT, request, &status, NULL));
	ck_assert_uint_eq(status, 200);
	rig_want(&rig, RIG_LAUNCH, type, &g);
	ck_assert_uint_eq(dec_u32(&g.d), value);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, call);
}

static void
runs(struct rig_call *c)
{
	struct enc *e = enc_new(64);

	enc_str(e, c->id);
	rig_send(rig.fd[RIG_LAUNCH], MSG_STARTED, e, NULL, 0);
	rig_want(&rig, RIG_AGENT, MSG_CALL_STARTED, &(struct got){0});
}

START_TEST(signals_and_sizes)
{
	uint64_t handle = user();
	struct rig_call c, plain;
	unsigned i;

	rig_ask_flags = ASK_F_PTY;
	launched(handle, NULL, &c);
	rig_ask_flags = 0;
	want_refusal(steer(MSG_SIGNAL, handle, 2, c.id), 409, "conflict",
	    "does not run yet");
	/* a size is for whoever comes, and may come early */
	steered(steer(MSG_RESIZE, handle, PTY_SIZE(3, 4), c.id),
	    MSG_CALL_RESIZE, PTY_SIZE(3, 4), c.id);
	runs(&c);
	steered(steer(MSG_SIGNAL, handle, 2, c.id), MSG_CALL_SIGNAL, 2, c.id);
	steered(steer(MSG_RESIZE, handle, PTY_SIZE(1, 4096), c.id),
	    MSG_CALL_RESIZE, PTY_SIZE(1, 4096), c.id);
	launched(handle, NULL, &plain);
	runs(&plain);
	steered(steer(MSG_SIGNAL, handle, 15, plain.id), MSG_CALL_SIGNAL, 15,
	    plain.id);
	want_refusal(steer(MSG_RESIZE, handle, PTY_SIZE(1, 1), plain.id), 409,
	    "conflict", "no terminal");
	want_refusal(steer(MSG_SIGNAL, handle, 2, "c-22222222222222222222"),
	    404, "not_found", "c-2222");
	/* each is a record, so their number is bounded */
	for (i = 1; i < 1000; i++)
		steered(steer(MSG_SIGNAL, handle, 28, c.id), MSG_CALL_SIGNAL,
		    28, c.id);
	json_decref(rig_reply(&rig, RIG_AGENT, steer(MSG_SIGNAL, handle, 28,
	    c.id), &i, NULL));
	ck_assert_uint_eq(i, 429);
	steered(steer(MSG_RESIZE, handle, PTY_SIZE(2, 2), c.id),
	    MSG_CALL_RESIZE, PTY_SIZE(2, 2), c.id);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	json_decref(rig_finished(&rig, &c));
	want_refusal(steer(MSG_SIGNAL, handle, 2, c.id), 409, "conflict",
	    "has ended");
	want_refusal(steer(MSG_RESIZE, handle, PTY_SIZE(1, 1), c.id), 409,
	    "conflict", "has ended");
}
END_TEST

START_TEST(others_can_not_steer)
{
	uint64_t handle = user(), other;
	struct rig_call c;
	char words[512];

	rig_ask_flags = ASK_F_PTY;
	launched(handle, NULL, &c);
	rig_ask_flags = 0;
	runs(&c);
	other = rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words));
	ck_assert_uint_ne(other, 0);
	want_refusal(steer(MSG_SIGNAL, other, 9, c.id), 404, "not_found",
	    c.id);
	want_refusal(steer(MSG_RESIZE, other, PTY_SIZE(1, 1), c.id), 404,
	    "not_found", c.id);
	want_refusal(steer(MSG_SIGNAL, other + 1000, 9, c.id), 403,
	    "forbidden", "identity");
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 200, &(struct got){0}),
	    0);
}
END_TEST

START_TEST(no_terminal_in_the_profile)
{
	uint32_t request;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_PTY] = 0;
	ck_assert_int_eq(rig_start(&rig), 0);
	rig_ask_flags = ASK_F_PTY;
	request = rig_ask(&rig, user(), NULL, "exec");
	rig_ask_flags = 0;
	want_refusal(request, 403, "forbidden", "pty no");
	json_decref(rig_whole(&rig, user(), NULL));
	rig_end(&rig);
}
END_TEST

START_TEST(refused_workspace)
{
	uint64_t handle = user();
	char neuron[ID_SIZE];
	uint32_t request;
	struct got g;

	request = rig_open(&rig, handle, "", "/srv/src/other", 0);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 1);	/* the generation */
	ck_assert_uint_eq(dec_u32(&g.d), 1);	/* the user line's index */
	ck_assert_uint_eq(dec_u32(&g.d), RIG_USER);
	(void)dec_u32(&g.d);
	free(dec_strdup(&g.d, 1024));
	dec_str(&g.d, neuron, sizeof(neuron));
	rig_gone(&rig, neuron, GONE_REFUSED, "/srv/src/other is uid 0's");
	want_refusal(request, 403, "forbidden", "is uid 0's");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_calls");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, whole_call);
	tcase_add_test(tc, all_ends);
	tcase_add_test(tc, verdicts);
	tcase_add_test(tc, identities);
	tcase_add_test(tc, forged_peers);
	tcase_add_test(tc, others_do_not_exist);
	tcase_add_test(tc, refusals);
	tcase_add_test(tc, presets_narrow);
	tcase_add_test(tc, caps);
	tcase_add_test(own, cap_of_the_host);
	tcase_add_test(own, budgets);
	tcase_add_test(tc, end_of_session);
	tcase_add_test(tc, stops);
	tcase_add_test(tc, signals_and_sizes);
	tcase_add_test(tc, others_can_not_steer);
	tcase_add_test(own, no_terminal_in_the_profile);
	tcase_add_test(tc, refused_workspace);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, own);
	return (rig_main(s));
}
