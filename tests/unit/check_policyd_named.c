/* The real policyd: sessions by name, the key of their ids, their tools. */

#include <stdlib.h>

#include "policyd_rig_test.h"

#define NAME	"abcdefghijklmnopqrst"

static uint32_t
send_named(unsigned type, uint64_t handle, const char *name)
{
	struct enc *e = enc_new(512);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_str(e, name);
	if (type == MSG_OPEN_NAMED) {
		enc_str(e, "");
		enc_str(e, "");
		enc_str(e, "");
	}
	rig_send(rig.fd[RIG_AGENT], type, e, NULL, 0);
	return (request);
}

static void
want_session(uint32_t request, unsigned status, char id[ID_SIZE])
{
	unsigned got;
	uint32_t retry;
	json_t *json;

	json = rig_reply(&rig, RIG_AGENT, request, &got, &retry);
	ck_assert_uint_eq(got, status);
	snprintf(id, ID_SIZE, "%s", rig_text(json, "session"));
	ck_assert(id_ok(ID_SESSION, id));
	json_decref(json);
}

static void
open_named(uint64_t handle, const char *name, char id[ID_SIZE])
{
	char neuron[ID_SIZE];
	uint32_t request;

	request = send_named(MSG_OPEN_NAMED, handle, name);
	rig_neuron_up(&rig, neuron);
	want_session(request, 201, id);
}

static uint64_t
member(void)
{
	char words[512];

	return (rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words)));
}

START_TEST(a_name_finds_its_session)
{
	uint64_t handle = user(), again = user();
	char first[ID_SIZE], id[ID_SIZE];

	open_named(handle, NAME, first);
	want_session(send_named(MSG_OPEN_NAMED, handle, NAME), 200, id);
	ck_assert_str_eq(id, first);
	/* another connection of the same principal's */
	want_session(send_named(MSG_OPEN_NAMED, again, NAME), 200, id);
	ck_assert_str_eq(id, first);
	open_named(handle, "another", id);
	ck_assert_str_ne(id, first);
}
END_TEST

/* To another principal it is a name like any other. */
START_TEST(a_name_of_anothers)
{
	uint64_t handle = user(), other = member();
	char first[ID_SIZE], id[ID_SIZE];
	unsigned status;
	uint32_t retry;

	open_named(handle, NAME, first);
	open_named(other, NAME, id);
	ck_assert_str_ne(id, first);
	json_decref(rig_reply(&rig, RIG_AGENT, send_named(MSG_END_NAMED,
	    other, "unused"), &status, &retry));
	ck_assert_uint_eq(status, 200);
	want_session(send_named(MSG_OPEN_NAMED, handle, NAME), 200, id);
	ck_assert_str_eq(id, first);
}
END_TEST

START_TEST(those_who_wait_get_the_same)
{
	uint64_t handle = user();
	char first[ID_SIZE], id[ID_SIZE], neuron[ID_SIZE];
	uint32_t request[10];
	int i;

	for (i = 0; i < 10; i++)
		request[i] = send_named(MSG_OPEN_NAMED, handle, NAME);
	/* one opens it, eight wait, and no more */
	want_refusal(request[9], 429, "too_many", "8");
	rig_neuron_up(&rig, neuron);
	want_session(request[0], 201, first);
	for (i = 1; i < 9; i++) {
		want_session(request[i], 200, id);
		ck_assert_str_eq(id, first);
	}
}
END_TEST

START_TEST(an_ended_name_is_used_up)
{
	uint64_t handle = user();
	char id[ID_SIZE], neuron[ID_SIZE];
	struct rig_call c;
	unsigned status;
	uint32_t retry, request;
	struct got g;

	open_named(handle, NAME, id);
	launched(handle, id, &c);
	request = send_named(MSG_END_NAMED, handle, NAME);
	want_kill(END_SESSION_ENDED, c.id);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	dec_str(&g.d, neuron, sizeof(neuron));
	want_refusal(send_named(MSG_OPEN_NAMED, handle, NAME), 404,
	    "not_found", "ended");
	rig_ended(&rig, &c, END_SESSION_ENDED, 0, 9, "");
	want_end(rig_finished(&rig, &c), "failed", "session_ended");
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	json_decref(rig_reply(&rig, RIG_AGENT, request, &status, &retry));
	ck_assert_uint_eq(status, 200);
	want_refusal(send_named(MSG_OPEN_NAMED, handle, NAME), 404,
	    "not_found", "ended");
	want_refusal(send_named(MSG_END_NAMED, handle, NAME), 404,
	    "not_found", "ended");
	/* one that never was is used up as well */
	json_decref(rig_reply(&rig, RIG_AGENT, send_named(MSG_END_NAMED,
	    handle, "never"), &status, &retry));
	ck_assert_uint_eq(status, 200);
	want_refusal(send_named(MSG_OPEN_NAMED, handle, "never"), 404,
	    "not_found", "ended");
}
END_TEST

START_TEST(ended_before_it_stood)
{
	uint64_t handle = user();
	char neuron[ID_SIZE], id[ID_SIZE];
	uint32_t request, retry;
	unsigned status;
	struct got g;

	request = send_named(MSG_OPEN_NAMED, handle, NAME);
	json_decref(rig_reply(&rig, RIG_AGENT, send_named(MSG_END_NAMED,
	    handle, NAME), &status, &retry));
	ck_assert_uint_eq(status, 200);
	rig_neuron_up(&rig, neuron);
	want_session(request, 201, id);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
}
END_TEST

START_TEST(names_that_can_not_be)
{
	static const char *const bad[] = { "",
	    "a-name-of-more-than-23-bytes" };

	(void)send_named(_i % 2 ? MSG_OPEN_NAMED : MSG_END_NAMED, user(),
	    bad[_i / 2]);
	ck_assert(rig_closed(&rig, RIG_AGENT));
	ck_assert(rig_alive(&rig));
}
END_TEST

static json_t *
tools_for(uint64_t handle, const char *session, const char *preset,
    unsigned *status)
{
	struct enc *e = enc_new(512);
	uint32_t request = ++rig.requests, retry;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_str(e, session);
	enc_str(e, preset);
	rig_send(rig.fd[RIG_AGENT], MSG_TOOLS_FOR, e, NULL, 0);
	return (rig_reply(&rig, RIG_AGENT, request, status, &retry));
}

static size_t
count_tools(uint64_t handle, const char *session, const char *preset)
{
	unsigned status;
	json_t *json = tools_for(handle, session, preset, &status);
	size_t n = json_array_size(json_object_get(json, "tools"));

	ck_assert_uint_eq(status, 200);
	json_decref(json);
	return (n);
}

START_TEST(tools_of_a_preset)
{
	uint64_t handle = user();
	char id[ID_SIZE];
	size_t all, reading;
	unsigned status;

	all = count_tools(handle, "", "");
	reading = count_tools(handle, "", "readonly");
	ck_assert_uint_gt(reading, 0);
	ck_assert_uint_lt(reading, all);
	open_named(handle, NAME, id);
	ck_assert_uint_eq(count_tools(handle, id, "readonly"), all);
	json_decref(tools_for(handle, "", "unheard", &status));
	ck_assert_uint_eq(status, 403);
	/* another's session has none */
	json_decref(tools_for(member(), id, "", &status));
	ck_assert_uint_eq(status, 404);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("named");
	TCase *t = tcase_create("named");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, a_name_finds_its_session);
	tcase_add_test(t, a_name_of_anothers);
	tcase_add_test(t, those_who_wait_get_the_same);
	tcase_add_test(t, an_ended_name_is_used_up);
	tcase_add_test(t, ended_before_it_stood);
	tcase_add_loop_test(t, names_that_can_not_be, 0, 4);
	tcase_add_test(t, tools_of_a_preset);
	suite_add_tcase(s, t);
	return (rig_main(s));
}
