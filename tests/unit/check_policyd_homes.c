/* The real policyd: persistent neurons, from their making to their end. */

#include <errno.h>
#include <stdlib.h>

#include "policyd_rig_homes.h"

#define WORKSPACE	"/srv/src/a"
#define LABELS		"a=1\nteam=red and blue\n"

START_TEST(made_used_and_kept)
{
	char id[ID_SIZE], session[ID_SIZE], second[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	json_t *json;

	json = made(send_make(handle, "", WORKSPACE, "mine", LABELS, 600), id);
	ck_assert_str_eq(rig_text(json, "kind"), "persistent");
	ck_assert_str_eq(rig_text(json, "state"), "idle");
	ck_assert_str_eq(rig_text(json, "name"), "mine");
	ck_assert_str_eq(rig_text(json, "workspace"), WORKSPACE);
	ck_assert_str_eq(rig_text(json, "labels.team"), "red and blue");
	ck_assert_int_eq(json_integer_value(json_object_get(json,
	    "idle_expiry_s")), 600);
	ck_assert(json_is_string(json_object_get(json, "expires")));
	json_decref(json);
	ck_assert_uint_eq(audited("\"neuron.created\"", id), 1);
	open_up(handle, id, session);
	json = look(handle, id, "live");
	ck_assert_str_eq(rig_text(json, "session"), session);
	ck_assert(json_is_null(json_object_get(json, "expires")));
	json_decref(json);
	launched(handle, session, &c);
	ck_assert_str_eq(c.neuron, id);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	end_session(handle, session, id);
	json_decref(look(handle, id, "idle"));
	open_up(handle, id, second);
	ck_assert_str_ne(second, session);
}
END_TEST

static uint32_t
make_flags(void)
{
	struct got g;

	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_MAKE, &g);
	(void)dec_u32(&g.d);
	return (dec_u32(&g.d) & MAKE_FLAGS);
}

/* That it has a home, and whether that must be there. */
START_TEST(neurond_is_told)
{
	char id[ID_SIZE], session[ID_SIZE];
	uint64_t handle = user();

	make_plain(handle, id);
	(void)send_open(handle, id, "");
	ck_assert_uint_eq(make_flags(), MAKE_F_PERSISTENT);
	(void)rig_open(&rig, handle, "", "", 0);
	ck_assert_uint_eq(make_flags(), 0);
	make_plain(handle, id);
	open_up(handle, id, session);
	end_session(handle, session, id);
	open_flags = OPEN_F_READ_ONLY;
	(void)send_open(handle, id, "");
	open_flags = 0;
	ck_assert_uint_eq(make_flags(), MAKE_F_PERSISTENT | MAKE_F_KEPT |
	    MAKE_F_READ_ONLY);
}
END_TEST

START_TEST(one_session_at_a_time)
{
	char id[ID_SIZE], session[ID_SIZE];
	uint64_t handle = user();
	uint32_t request;
	json_t *json;

	make_plain(handle, id);
	/* while it is made, while it lives, while it goes */
	request = send_open(handle, id, "");
	want_refusal(send_open(handle, id, ""), 409, "neuron_busy", id);
	rig_neuron_up(&rig, session);
	want_status(RIG_AGENT, request, 201);
	want_refusal(send_open(handle, id, ""), 409, "neuron_busy", "s-");
	json = look(handle, id, "live");
	snprintf(session, sizeof(session), "%s", rig_text(json, "session"));
	json_decref(json);
	request = send_end(RIG_AGENT, handle, session);
	want_drop(id);
	want_refusal(send_open(handle, id, ""), 409, "neuron_busy", "left");
	rig_gone(&rig, id, GONE_DROPPED, "");
	want_status(RIG_AGENT, request, 200);
	open_up(handle, id, session);
}
END_TEST

START_TEST(others_do_not_exist)
{
	uint64_t handle = user(), other = member();
	char id[ID_SIZE];
	unsigned status;
	json_t *json;

	json_decref(made(send_make(handle, "", "", "mine", LABELS, 0), id));
	want_refusal(send_open(other, id, ""), 404, "not_found", id);
	want_refusal(send_end(RIG_AGENT, other, id), 404, "not_found", id);
	json = rig_query(&rig, RIG_AGENT, other, QUERY_NEURON, 0, 0, id,
	    &status);
	ck_assert_uint_eq(status, 404);
	json_decref(json);
	/* nor is the name taken for them */
	json_decref(made(send_make(other, "", "", "mine", "", 0), id));
}
END_TEST

START_TEST(what_it_is_made_from_is_said_once)
{
	uint64_t handle = user();
	char id[ID_SIZE];

	make_plain(handle, id);
	want_refusal(send_open(handle, id, "default"), 400, "bad_request",
	    "its own");
	want_refusal(send_make(handle, "none", "", "", "", 0), 403,
	    "forbidden", "profile");
	want_refusal(send_make(handle, "", "/etc", "", "", 0), 403,
	    "forbidden", "workspace");
	want_refusal(send_make(handle, "", "", "mine", "", UINT32_MAX), 400,
	    "bad_request", "idle_expiry");
	want_refusal(send_make(handle, "", "", "a b", "", 0), 400,
	    "bad_request", "name");
}
END_TEST

static const char *const bad_labels[] = {
	"a", "a=1", "=1\n", "a=1\na=2\n", "b=1\na=2\n", "a=\x01\n",
	"a=\xff\n", "a b=1\n", "\n",
};

START_TEST(labels_that_can_not_be)
{
	want_refusal(send_make(user(), "", "", "", bad_labels[_i], 0), 400,
	    "bad_request", "labels");
}
END_TEST

START_TEST(caps)
{
	uint64_t handle = user(), other = member();
	char id[ID_SIZE];

	rig.slice->limits.v[LIMIT_HOMES_PRINCIPAL] = 2;
	rig.slice->limits.v[LIMIT_HOMES] = 3;
	rig_reload(&rig);
	make_plain(handle, id);
	json_decref(made(send_make(handle, "", "", "mine", "", 0), id));
	want_refusal(send_make(handle, "", "", "mine", "", 0), 409,
	    "conflict", id);
	want_refusal(send_make(handle, "", "", "", "", 0), 429, "too_many",
	    "homes-principal");
	make_plain(other, id);
	want_refusal(send_make(other, "", "", "", "", 0), 429, "too_many",
	    "limit homes is 3");
}
END_TEST

START_TEST(destroyed_with_all_it_holds)
{
	char id[ID_SIZE], session[ID_SIZE];
	uint64_t handle = user();
	struct rig_call c;
	uint32_t request;
	unsigned status;
	json_t *json;

	make_plain(handle, id);
	open_up(handle, id, session);
	launched(handle, session, &c);
	request = send_end(RIG_AGENT, handle, id);
	/* the record is on the disk before anything ends */
	want_kill(END_SESSION_ENDED, c.id);
	ck_assert_uint_eq(audited("\"neuron.destroyed\"", id), 1);
	want_drop(id);
	json_decref(look(handle, id, "destroying"));
	want_refusal(send_open(handle, id, ""), 409, "conflict", "destroyed");
	rig_ended(&rig, &c, END_SESSION_ENDED, 0, 9, "");
	want_end(rig_finished(&rig, &c), "failed", "session_ended");
	rig_gone(&rig, id, GONE_DROPPED, "");
	want_home_drop(id);
	ck_assert_str_eq(rig_over_reason, "neuron_destroyed");
	dropped(id, 0);
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 200);
	ck_assert_str_eq(rig_text(json, "state"), "destroyed");
	json_decref(json);
	want_refusal(send_end(RIG_AGENT, handle, id), 404, "not_found", id);
}
END_TEST

/* What neurond can't do now is done later, and never forgotten. */
START_TEST(destroyed_later)
{
	uint64_t handle = user();
	char id[ID_SIZE];
	uint32_t request;

	make_plain(handle, id);
	request = send_end(RIG_AGENT, handle, id);
	want_home_drop(id);
	dropped(id, EBUSY);
	want_status(RIG_AGENT, request, 503);
	json_decref(look(handle, id, "destroying"));
	snprintf(rig_homes[0], ID_SIZE, "%s", id);
	rig_nhomes = 1;
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	want_home_drop(id);
	handle = user();
	json_decref(look(handle, id, "destroying"));
	/* asked once more, it goes on with the same */
	request = send_end(RIG_AGENT, handle, id);
	json_decref(look(handle, id, "destroying"));
	dropped(id, ENOENT);
	want_status(RIG_AGENT, request, 200);
	ck_assert_uint_eq(audited("\"neuron.destroyed\"", id), 1);
}
END_TEST

START_TEST(by_an_operator)
{
	uint64_t handle = user();
	char id[ID_SIZE];
	uint32_t request;

	make_plain(handle, id);
	request = send_end(RIG_OPERATOR, operator(), id);
	want_home_drop(id);
	dropped(id, 0);
	want_status(RIG_OPERATOR, request, 200);
	ck_assert_uint_eq(audited("destroyed_by_operator", id), 1);
}
END_TEST

START_TEST(expires_when_unused)
{
	char id[ID_SIZE], kept[ID_SIZE], session[ID_SIZE];
	uint64_t handle = user();

	json_decref(made(send_make(handle, "", "", "", "", 6), kept));
	open_up(handle, kept, session);
	json_decref(made(send_make(handle, "", "", "", "", 6), id));
	want_home_drop(id);	/* not the one that is used */
	ck_assert_uint_eq(audited("\"reason\":\"expired\"", id), 1);
	dropped(id, 0);
	json_decref(look(handle, kept, "live"));
}
END_TEST

/* What was used when policyd died begins its time anew. */
START_TEST(after_a_death)
{
	char id[ID_SIZE], session[ID_SIZE], never[ID_SIZE];
	uint64_t handle = user();
	json_t *json;

	json = made(send_make(handle, "", "", "mine", LABELS, 0), id);
	json_decref(json);
	make_plain(handle, never);
	open_up(handle, id, session);
	snprintf(rig_homes[0], ID_SIZE, "%s", id);
	rig_nhomes = 1;
	again();
	handle = user();
	json = look(handle, id, "idle");
	ck_assert_str_eq(rig_text(json, "name"), "mine");
	ck_assert_int_eq(json_integer_value(json_object_get(json, "size")),
	    4096);
	json_decref(json);
	/* one whose home was never made has lost nothing */
	json_decref(look(handle, never, "idle"));
	open_up(handle, id, session);
}
END_TEST

START_TEST(lost_and_found)
{
	char id[ID_SIZE], session[ID_SIZE];
	uint64_t handle = user();
	uint32_t request;

	make_plain(handle, id);
	open_up(handle, id, session);
	again();
	handle = user();
	json_decref(look(handle, id, "lost"));
	ck_assert_uint_eq(audited("\"neuron.lost\"", id), 1);
	want_refusal(send_open(handle, id, ""), 409, "conflict", "lost");
	snprintf(rig_homes[0], ID_SIZE, "%s", id);
	rig_nhomes = 1;
	rig_plumb(&rig, RIG_LAUNCH);
	homes_told();
	json_decref(look(handle, id, "idle"));
	rig_nhomes = 0;
	rig_plumb(&rig, RIG_LAUNCH);
	homes_told();
	json_decref(look(handle, id, "lost"));
	request = send_end(RIG_AGENT, handle, id);
	want_home_drop(id);
	dropped(id, ENOENT);
	want_status(RIG_AGENT, request, 200);
}
END_TEST

/* A home of no neuron is told, and nobody touches it. */
START_TEST(unclaimed)
{
	unsigned status;
	json_t *json, *homes;
	struct got g;

	ck_assert_int_eq(id_make(ID_NEURON, rig_homes[0]), 0);
	rig_nhomes = 1;
	rig_plumb(&rig, RIG_LAUNCH);
	homes_told();
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	homes = json_object_get(json, "homes");
	ck_assert_int_eq(json_integer_value(json_object_get(homes,
	    "unclaimed")), 1);
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(
	    homes, "unclaimed_ids"), 0)), rig_homes[0]);
	json_decref(json);
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 200, &g), 0);
}
END_TEST

START_TEST(neurond_dies)
{
	char id[ID_SIZE], session[ID_SIZE];
	uint64_t handle = user();
	uint32_t request;

	make_plain(handle, id);
	open_up(handle, id, session);
	snprintf(rig_homes[0], ID_SIZE, "%s", id);
	rig_nhomes = 1;
	rig_plumb(&rig, RIG_LAUNCH);
	homes_told();
	json_decref(look(handle, id, "idle"));
	open_up(handle, id, session);
	/* while it is destroyed: whoever waits is told, and it goes on */
	request = send_end(RIG_AGENT, handle, id);
	want_drop(id);
	rig_plumb(&rig, RIG_LAUNCH);
	want_status(RIG_AGENT, request, 503);
	want_home_drop(id);
}
END_TEST

/* Not before neurond has said what there is. */
START_TEST(not_before_it_is_known)
{
	uint64_t handle = user();
	char id[ID_SIZE];
	struct got g;

	make_plain(handle, id);
	rig_homes_silent = 1;
	rig_plumb(&rig, RIG_LAUNCH);
	rig_want(&rig, RIG_LAUNCH, MSG_HOMES_ASK, &g);
	want_refusal(send_open(handle, id, ""), 503, "unavailable", "homes");
	rig_homes_silent = 0;
}
END_TEST

/* ---- lists ---- */

static uint32_t
send_find(uint64_t handle, uint64_t cursor, uint32_t most, const char *name,
    const char *label)
{
	struct enc *e = enc_new(1024);
	uint32_t request = ++rig.requests;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u64(e, cursor);
	enc_u32(e, most);
	enc_str(e, name);
	enc_str(e, label);
	rig_send(rig.fd[RIG_AGENT], MSG_NEURONS_FOR, e, NULL, 0);
	return (request);
}

static size_t
found(uint32_t request, char first[ID_SIZE])
{
	unsigned status;
	json_t *json, *list;
	size_t n;

	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 200);
	list = json_object_get(json, "neurons");
	n = json_array_size(list);
	snprintf(first, ID_SIZE, "%s", rig_text(json_array_get(list, 0),
	    "neuron"));
	json_decref(json);
	return (n);
}

START_TEST(lists)
{
	char one[ID_SIZE], two[ID_SIZE], session[ID_SIZE], id[ID_SIZE];
	uint64_t handle = user(), cursor = 0;
	size_t n = 0, pages = 0;
	unsigned status;
	json_t *json;

	json_decref(made(send_make(handle, "", "", "mine", LABELS, 0), one));
	json_decref(made(send_make(handle, "", "", "", "a=2\n", 0), two));
	rig_session(&rig, handle, session);
	open_up(handle, one, session);
	make_plain(member(), id);
	ck_assert_uint_eq(found(send_find(handle, 0, 0, "mine", ""), id), 1);
	ck_assert_str_eq(id, one);
	ck_assert_uint_eq(found(send_find(handle, 0, 0, "", "a"), id), 2);
	ck_assert_str_eq(id, two);
	ck_assert_uint_eq(found(send_find(handle, 0, 0, "", "a=1"), id), 1);
	ck_assert_str_eq(id, one);
	ck_assert_uint_eq(found(send_find(handle, 0, 0, "", "a=11"), id), 0);
	ck_assert_uint_eq(found(send_find(handle, 0, 0, "mine", "a=2"), id),
	    0);
	/* both kinds, each once, a row a page */
	do {
		json = rig_query(&rig, RIG_AGENT, handle, QUERY_NEURONS,
		    cursor, 1, "", &status);
		ck_assert_uint_eq(status, 200);
		n += json_array_size(json_object_get(json, "neurons"));
		cursor = (uint64_t)json_integer_value(json_object_get(json,
		    "next"));
		json_decref(json);
		ck_assert_uint_lt(++pages, 10);
	} while (cursor != 0);
	ck_assert_uint_eq(n, 3);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("homes");
	TCase *t = tcase_create("homes");

	tcase_add_checked_fixture(t, begin, stop);
	tcase_add_test(t, made_used_and_kept);
	tcase_add_test(t, neurond_is_told);
	tcase_add_test(t, one_session_at_a_time);
	tcase_add_test(t, others_do_not_exist);
	tcase_add_test(t, what_it_is_made_from_is_said_once);
	tcase_add_loop_test(t, labels_that_can_not_be, 0,
	    sizeof(bad_labels) / sizeof(bad_labels[0]));
	tcase_add_test(t, caps);
	tcase_add_test(t, destroyed_with_all_it_holds);
	tcase_add_test(t, destroyed_later);
	tcase_add_test(t, by_an_operator);
	tcase_add_test(t, expires_when_unused);
	tcase_add_test(t, after_a_death);
	tcase_add_test(t, lost_and_found);
	tcase_add_test(t, unclaimed);
	tcase_add_test(t, neurond_dies);
	tcase_add_test(t, not_before_it_is_known);
	tcase_add_test(t, lists);
	suite_add_tcase(s, t);
	return (rig_main(s));
}
