/* The real policyd: another configuration while it works, and draining. */

#include <stdlib.h>

#include "policyd_rig_test.h"

/* A line in front moves all others. */
static void
line_in_front(void)
{
	struct slice *s = rig.slice;
	struct cf_principal last;

	rig_principal(s, WHO_USER, RIG_STRANGER, "stranger", OWNER_PEER);
	last = s->principals[s->nprincipals - 1];
	memmove(&s->principals[1], &s->principals[0],
	    (s->nprincipals - 1) * sizeof(last));
	s->principals[0] = last;
}

/* RIG_USER's line, which is another's from now on. */
static void
take_line_away(void)
{
	size_t i;

	for (i = 0; i < rig.slice->nprincipals; i++) {
		if (rig.slice->principals[i].id == RIG_USER)
			rig.slice->principals[i].id = RIG_USER + 500;
	}
}

static void
want_make(uint32_t generation, uint32_t line, char neuron[ID_SIZE])
{
	struct got g;

	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	ck_assert_uint_eq(dec_u32(&g.d), generation);
	ck_assert_uint_eq(dec_u32(&g.d), line);
	(void)dec_u64(&g.d);
	free(dec_strdup(&g.d, MSG_MAX_SIZE));
	dec_str(&g.d, neuron, ID_SIZE);
}

START_TEST(lines_move)
{
	uint64_t handle = user();
	char neuron[ID_SIZE];

	(void)rig_open(&rig, handle, "", "", 0);
	want_make(1, 1, neuron);
	line_in_front();
	rig_reload(&rig);
	(void)rig_open(&rig, handle, "", "", 0);
	want_make(2, 2, neuron);
}
END_TEST

/* What waits for a slot is decided again when it gets one. */
static uint32_t
waiting_session(uint64_t *handle, char gone[ID_SIZE])
{
	char session[ID_SIZE];
	uint32_t request;
	unsigned status;
	json_t *json;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_NEURONS] = 1;
	rig.slice->limits.v[LIMIT_NEURON_WAIT] = 20000;
	ck_assert_int_eq(rig_start(&rig), 0);
	*handle = user();
	rig_session(&rig, *handle, session);
	json = rig_query(&rig, RIG_AGENT, *handle, QUERY_SESSION, 0, 0,
	    session, &status);
	snprintf(gone, ID_SIZE, "%s", rig_text(json, "neuron"));
	json_decref(json);
	request = rig_open(&rig, *handle, "", "", 0);
	/* the answer to another question shows that it waits */
	json_decref(rig_query(&rig, RIG_AGENT, *handle, QUERY_WHOAMI, 0, 0,
	    "", &status));
	return (request);
}

START_TEST(waits_and_the_lines_move)
{
	char gone[ID_SIZE], neuron[ID_SIZE];
	uint64_t handle;

	(void)waiting_session(&handle, gone);
	line_in_front();
	rig_reload(&rig);
	rig_gone(&rig, gone, GONE_LOST, "test");
	want_make(2, 2, neuron);
	rig_end(&rig);
}
END_TEST

START_TEST(waits_and_is_no_principal_any_more)
{
	char gone[ID_SIZE];
	uint32_t request;
	uint64_t handle;

	request = waiting_session(&handle, gone);
	take_line_away();
	rig_reload(&rig);
	rig_gone(&rig, gone, GONE_LOST, "test");
	want_refusal(request, 403, "forbidden", "no principal line");
	rig_end(&rig);
}
END_TEST

/* Judged under one configuration, to be started under the next. */
START_TEST(judged_and_no_principal_any_more)
{
	uint64_t handle = user();
	struct rig_call c;

	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c);
	take_line_away();
	rig_reload(&rig);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	want_end(rig_finished(&rig, &c), "failed", "policy_changed");
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 403, "forbidden",
	    "no principal line");
}
END_TEST

/* A session keeps the limits of its neuron; its calls run on. */
START_TEST(sessions_stay)
{
	uint64_t handle = user();
	char session[ID_SIZE];
	struct rig_call c[3];

	rig_session(&rig, handle, session);
	launched(handle, session, &c[0]);
	rig.slice->limits.v[LIMIT_RUNNING] = 1;
	rig.slice->limits.v[LIMIT_TIMEOUT] = 30000;
	rig_reload(&rig);
	launched(handle, session, &c[1]);	/* its time is 60 s */
	rig_ended(&rig, &c[0], END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c[0]), "completed", "");
	/* without its line it can still be ended, and does no more */
	take_line_away();
	rig_reload(&rig);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 403, "forbidden",
	    "no principal line");
	rig_ended(&rig, &c[1], END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c[1]), "completed", "");
}
END_TEST

/* ---- the transaction ---- */

START_TEST(given_up)
{
	uint64_t handle = user();
	struct got g;

	take_line_away();
	rig_config(&rig);
	rig_want(&rig, RIG_CONTROL, MSG_CONFIG_OK, &g);
	rig_commit(&rig, MSG_ABORT);
	ck_assert(rig_alive(&rig));
	json_decref(rig_whole(&rig, handle, NULL));
	rig_reload(&rig);
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 403, "forbidden",
	    "no principal line");
}
END_TEST

START_TEST(refused)
{
	uint64_t handle = user();
	char why[256], file[64];
	struct got g;

	snprintf(rig.slice->principals[1].preset, NAME_BYTES_MAX, "nosuch");
	rig_config(&rig);
	rig_want(&rig, RIG_CONTROL, MSG_CONFIG_BAD, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 2);
	ck_assert_uint_eq(dec_u32(&g.d), 2);
	dec_str(&g.d, file, sizeof(file));
	dec_str(&g.d, why, sizeof(why));
	ck_assert_str_eq(file, "test.conf");
	ck_assert_str_eq(why, "there is no preset \"nosuch\"");
	rig_commit(&rig, MSG_ABORT);
	json_decref(rig_whole(&rig, handle, NULL));
	snprintf(rig.slice->principals[1].preset, NAME_BYTES_MAX, "strict");
	rig_reload(&rig);
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 403, "forbidden",
	    "strict");
}
END_TEST

/* COMMIT of what was never agreed to kills the channel, and so policyd. */
START_TEST(commit_of_another)
{
	struct got g;

	rig_config(&rig);
	rig_want(&rig, RIG_CONTROL, MSG_CONFIG_OK, &g);
	rig.generation++;
	rig_commit(&rig, MSG_COMMIT);
	ck_assert(rig_closed(&rig, RIG_CONTROL));
	rig_kill(&rig);
	rig_end(&rig);
}
END_TEST

static json_t *
status_of(uint64_t handle)
{
	unsigned status;
	json_t *json;

	json = rig_query(&rig, RIG_OPERATOR, handle, QUERY_STATUS, 0, 0, "",
	    &status);
	ck_assert_uint_eq(status, 200);
	return (json);
}

static void
tell_reload(uint32_t generation, enum reload_result result, int news,
    const char *why)
{
	struct enc *e = enc_new(4096);

	enc_u32(e, generation);
	enc_u8(e, (uint8_t)result);
	enc_u8(e, (uint8_t)news);
	enc_str(e, why);
	rig_send(rig.fd[RIG_CONTROL], MSG_RELOAD, e, NULL, 0);
	ck_assert(rig_alive(&rig));
}

START_TEST(status_line)
{
	uint64_t handle = operator();
	json_t *json = status_of(handle), *reload;

	reload = json_object_get(json, "reload");
	ck_assert_str_eq(rig_text(reload, "result"), "none");
	ck_assert(json_is_null(json_object_get(reload, "error")));
	json_decref(json);
	rig_reload(&rig);
	tell_reload(2, RELOAD_OK, 1, "");
	tell_reload(2, RELOAD_REFUSED, 1, "c:3: \x1b why");
	json = status_of(handle);
	reload = json_object_get(json, "reload");
	ck_assert_int_eq(json_integer_value(json_object_get(reload,
	    "generation")), 2);
	ck_assert_str_eq(rig_text(reload, "result"), "refused");
	ck_assert_str_eq(rig_text(reload, "error"), "c:3: \x1b why");
	ck_assert_str_ne(rig_text(reload, "when"), "");
	json_decref(json);
	/* told again after a start: no time, and no second record */
	tell_reload(2, RELOAD_REFUSED, 0, "c:3: why");
	json = status_of(handle);
	ck_assert_str_eq(rig_text(json, "reload.when"), "");
	json_decref(json);
}
END_TEST

/* ---- draining ---- */

static uint32_t
manage(uint64_t handle, unsigned what, uint32_t ms)
{
	struct enc *e = enc_new(64);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_u32(e, ms);
	rig_send(rig.fd[RIG_OPERATOR], MSG_MANAGE, e, NULL, 0);
	return (request);
}

static void
want_drain(uint32_t request, unsigned want, int running)
{
	unsigned status;
	json_t *json;

	json = rig_reply(&rig, RIG_OPERATOR, request, &status, NULL);
	ck_assert_uint_eq(status, want);
	if (want < 300)
		ck_assert_int_eq(json_integer_value(json_object_get(
		    json_object_get(json, "calls"), "running")), running);
	json_decref(json);
}

START_TEST(drained)
{
	uint64_t handle = user(), boss = operator();
	char session[ID_SIZE];
	struct rig_call c;
	uint32_t request;

	rig_session(&rig, handle, session);
	launched(handle, session, &c);
	want_drain(manage(boss, MANAGE_DRAIN, 0), 202, 1);
	want_drain(manage(boss, MANAGE_DRAIN, 50), 202, 1);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 503,
	    "unavailable", "draining");
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 503, "unavailable",
	    "draining");
	want_refusal(rig_open(&rig, handle, "", "", 0), 503, "unavailable",
	    "draining");
	request = manage(boss, MANAGE_DRAIN, 60000);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	want_drain(request, 200, 0);
	want_drain(manage(boss, MANAGE_DRAIN, 60001), 400, 0);
	want_drain(manage(boss, MANAGE_RESUME, 0), 200, 0);
	json_decref(rig_whole(&rig, handle, session));
}
END_TEST

/* What was asked before has its turn, though it has to wait for a slot. */
START_TEST(drained_after_those_that_wait)
{
	uint64_t handle, boss;
	char neuron[ID_SIZE], session[ID_SIZE];
	struct rig_call c;
	uint32_t asked, request;
	unsigned status;
	json_t *json;

	rig_init(&rig);
	rig.slice->limits.v[LIMIT_NEURONS] = 1;
	rig.slice->limits.v[LIMIT_NEURON_WAIT] = 20000;
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	boss = operator();
	rig_session(&rig, handle, session);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_SESSION, 0, 0,
	    session, &status);
	snprintf(neuron, sizeof(neuron), "%s", rig_text(json, "neuron"));
	json_decref(json);
	asked = rig_ask(&rig, handle, NULL, "exec");
	json_decref(rig_query(&rig, RIG_AGENT, handle, QUERY_WHOAMI, 0, 0, "",
	    &status));
	request = manage(boss, MANAGE_DRAIN, 60000);
	want_drain(manage(boss, MANAGE_DRAIN, 0), 202, 1);
	rig_gone(&rig, neuron, GONE_LOST, "test");
	rig_asked(&rig, asked, &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_launch(&rig, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	json_decref(rig_finished(&rig, &c));
	want_drain(request, 200, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(managers_alone)
{
	uint64_t handle = user(), watcher;
	char session[ID_SIZE], words[512];
	struct enc *e = enc_new(128);
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	watcher = rig_peer(&rig, RIG_OPERATOR, RIG_WATCHER, 0, words,
	    sizeof(words));
	json = rig_reply(&rig, RIG_OPERATOR, manage(watcher, MANAGE_DRAIN, 0),
	    &status, NULL);
	ck_assert_uint_eq(status, 403);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "\"manage\""));
	json_decref(json);
	enc_u32(e, ++rig.requests);
	enc_u64(e, watcher);
	enc_str(e, session);
	rig_send(rig.fd[RIG_OPERATOR], MSG_END, e, NULL, 0);
	json_decref(rig_reply(&rig, RIG_OPERATOR, rig.requests, &status,
	    NULL));
	ck_assert_uint_eq(status, 403);
	json_decref(rig_whole(&rig, handle, session));
	/* a handle of the agent socket is none here */
	json_decref(rig_reply(&rig, RIG_OPERATOR, manage(handle, MANAGE_DRAIN,
	    0), &status, NULL));
	ck_assert_uint_eq(status, 403);
}
END_TEST

/* An apid may not say on the agent's channel what operators say. */
START_TEST(manage_on_the_agents_channel)
{
	struct enc *e = enc_new(64);

	enc_u32(e, 1);
	enc_u64(e, user());
	enc_u8(e, MANAGE_DRAIN);
	enc_u32(e, 0);
	rig_send(rig.fd[RIG_AGENT], MSG_MANAGE, e, NULL, 0);
	ck_assert(rig_closed(&rig, RIG_AGENT));
	ck_assert(rig_alive(&rig));
}
END_TEST

START_TEST(manage_what)
{
	(void)manage(operator(), MANAGE_LAST + 1, 0);
	ck_assert(rig_closed(&rig, RIG_OPERATOR));
	ck_assert(rig_alive(&rig));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_reload");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, lines_move);
	tcase_add_test(tc, judged_and_no_principal_any_more);
	tcase_add_test(tc, sessions_stay);
	tcase_add_test(tc, given_up);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, status_line);
	tcase_add_test(tc, drained);
	tcase_add_test(tc, managers_alone);
	tcase_add_test(tc, manage_on_the_agents_channel);
	tcase_add_test(tc, manage_what);
	suite_add_tcase(s, tc);
	tcase_add_test(own, waits_and_the_lines_move);
	tcase_add_test(own, waits_and_is_no_principal_any_more);
	tcase_add_test(own, drained_after_those_that_wait);
	suite_add_tcase(s, own);
	tc = tcase_create("broken");
	tcase_add_checked_fixture(tc, start, NULL);
	tcase_add_test(tc, commit_of_another);
	suite_add_tcase(s, tc);
	return (rig_main(s));
}
