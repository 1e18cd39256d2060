/* The real policyd: deaths, restarts, full disks, hostile peers. */

#include <sys/mount.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

#include "policyd_rig_test.h"

/* ---- deaths ---- */

START_TEST(death_of_agent)
{
	uint64_t handle = user();
	struct rig_call c, judged;
	char session[ID_SIZE];
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	launched(handle, session, &c);
	rig_asked(&rig, rig_ask(&rig, handle, session, "exec"), &judged);
	rig_plumb(&rig, RIG_AGENT);
	want_kill(END_INTERRUPTED, c.id);
	rig_ended(&rig, &c, END_INTERRUPTED, 0, 9, "");
	want_refusal(rig_ask(&rig, handle, session, "exec"), 403, "forbidden",
	    "connection");
	handle = user();
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, c.id,
	    &status);
	want_end(json, "failed", "interrupted");
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, judged.id,
	    &status);
	want_end(json, "failed", "interrupted");
	/* the session is still there */
	json_decref(rig_whole(&rig, handle, session));
}
END_TEST

static void
kill_judge(void)
{
	rig_close(&rig, RIG_JUDGE);
}

static void
judge_back(void)
{
	rig_plumb(&rig, RIG_JUDGE);
	rig_tools(&rig);
}

/* What it was judging is asked once more; what was judged is not. */
START_TEST(death_of_judge)
{
	uint64_t handle = user();
	struct rig_call c, ran;

	launched(handle, NULL, &ran);
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c);
	kill_judge();
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 503, "unavailable",
	    "judged");
	rig_plumb(&rig, RIG_JUDGE);
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 503, "unavailable",
	    "judged");
	rig_tools(&rig);
	rig_judging(&rig, &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_launch(&rig, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	rig_ended(&rig, &ran, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &ran), "completed", "");
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	json_decref(rig_whole(&rig, handle, NULL));
}
END_TEST

/* One that it dies of ends, and so does one that it does not come back to. */
START_TEST(death_of_judge_again)
{
	uint64_t handle = user();
	struct rig_call c;

	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c);
	kill_judge();
	judge_back();
	rig_judging(&rig, &c);
	kill_judge();
	want_end(rig_finished(&rig, &c), "failed", "interrupted");
	judge_back();
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c);
	kill_judge();
	want_end(rig_finished(&rig, &c), "failed", "interrupted");
	judge_back();
	ck_assert_int_eq(rig_recv(rig.fd[RIG_JUDGE], 200, &(struct got){0}),
	    0);
	json_decref(rig_whole(&rig, handle, NULL));
}
END_TEST

START_TEST(death_of_launch)
{
	uint64_t handle = user();
	char session[ID_SIZE];
	struct rig_call c;
	unsigned status;
	json_t *json;

	rig_session(&rig, handle, session);
	launched(handle, session, &c);
	rig_close(&rig, RIG_LAUNCH);
	want_end(rig_finished(&rig, &c), "failed", "neuron_lost");
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 503, "unavailable",
	    "neurond");
	want_refusal(rig_open(&rig, handle, "", "", 0), 503, "unavailable",
	    "neurond");
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_SESSION, 0, 0,
	    session, &status);
	want_end(json, "ended", "neuron_lost");
	rig_plumb(&rig, RIG_LAUNCH);
	json_decref(rig_whole(&rig, handle, NULL));
}
END_TEST

START_TEST(death_of_operator)
{
	uint64_t handle = operator();
	unsigned status;

	rig_plumb(&rig, RIG_OPERATOR);
	json_decref(rig_query(&rig, RIG_OPERATOR, handle, QUERY_STATUS, 0, 0,
	    "", &status));
	ck_assert_uint_eq(status, 403);
	json_decref(rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0,
	    0, "", &status));
	ck_assert_uint_eq(status, 200);
}
END_TEST

/* ---- restarts ---- */

START_TEST(restart)
{
	uint64_t handle = user();
	struct rig_call c;
	char session[ID_SIZE];
	unsigned status;
	json_t *json, *lines;

	rig_session(&rig, handle, session);
	launched(handle, session, &c);
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, c.id,
	    &status);
	want_end(json, "failed", "interrupted");
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_SESSION, 0, 0,
	    session, &status);
	want_end(json, "ended", "interrupted");
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_AUDIT, 0, 500,
	    "", &status);
	lines = json_object_get(json, "lines");
	ck_assert_uint_ge(json_array_size(lines), 8);
	ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(lines,
	    json_array_size(lines) - 2)), "interrupted"));
	json_decref(json);
}
END_TEST

START_TEST(cut_audit)
{
	char path[128];
	unsigned status;
	json_t *json;

	json_decref(rig_whole(&rig, user(), NULL));
	ck_assert_int_eq(rig_stop(&rig), 0);
	snprintf(path, sizeof(path), "%s/policy/audit.jsonl", rig.dir);
	ck_assert_int_eq(truncate(path, 300), 0);
	ck_assert_int_eq(rig_start(&rig), 0);
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	ck_assert(json_is_true(json_object_get(json_object_get(json,
	    "audit"), "gap")));
	json_decref(json);
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_AUDIT, 1, 1,
	    "", &status);
	ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(
	    json_object_get(json, "lines"), 0)), "audit.gap"));
	json_decref(json);
}
END_TEST

/* A session ends whatever the disk does; and it is seen to be full then. */
static void
end_session(uint64_t handle, const char *session)
{
	struct enc *e = enc_new(64);
	uint32_t request = ++rig.requests;
	char neuron[ID_SIZE];
	unsigned status;
	struct got g;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_str(e, session);
	rig_send(rig.fd[RIG_AGENT], MSG_END, e, NULL, 0);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	dec_str(&g.d, neuron, sizeof(neuron));
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	json_decref(rig_reply(&rig, RIG_AGENT, request, &status, NULL));
	ck_assert_uint_eq(status, 200);
}

/*
 * The state on a filesystem of its own that is full: new calls are refused,
 * what runs ends all the same, and it goes on when there is room again.
 */
START_TEST(full_disk)
{
	char root[128], filler[160], block[4096] = { 0 }, session[ID_SIZE];
	struct rig_call c;
	uint64_t handle;
	unsigned status;
	json_t *json;
	int fd;

	rig_init(&rig);
	snprintf(root, sizeof(root), "%s/policy", rig.dir);
	ck_assert_int_eq(mkdir(root, 0700), 0);
	if (unshare(CLONE_NEWNS) == -1 || mount("none", "/", NULL,
	    MS_REC | MS_PRIVATE, NULL) == -1 || mount("rig", root, "tmpfs", 0,
	    "size=1m,mode=0700") == -1) {
		rig_end(&rig);
		return;		/* not here */
	}
	ck_assert_int_eq(chown(root, rig.uid, rig.uid), 0);
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	rig_session(&rig, handle, session);
	launched(handle, NULL, &c);
	snprintf(filler, sizeof(filler), "%s/filler", root);
	fd = open(filler, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, block, sizeof(block)) > 0)
		continue;
	end_session(handle, session);
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 503, "unavailable",
	    "store_full");
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 503, "unavailable",
	    "store_full");
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	close(fd);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	json_decref(rig_whole(&rig, handle, NULL));
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	json = rig_query(&rig, RIG_AGENT, user(), QUERY_CALL, 0, 0, c.id,
	    &status);
	want_end(json, "completed", "");
	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_STATUS, 0, 0,
	    "", &status);
	ck_assert(json_is_false(json_object_get(json_object_get(json,
	    "audit"), "gap")));
	json_decref(json);
	ck_assert_int_eq(rig_stop(&rig), 0);
	ck_assert_int_eq(umount2(root, MNT_DETACH), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(newer_store)
{
	char command[256];

	ck_assert_int_eq(rig_stop(&rig), 0);
	snprintf(command, sizeof(command), "sqlite3 %s/policy/state.db "
	    "'PRAGMA user_version = 99' >/dev/null 2>&1", rig.dir);
	if (system(command) != 0)
		return;		/* no sqlite3(1) here; a unit test has it */
	ck_assert_int_eq(rig_start(&rig), -1);
	rig_kill(&rig);
}
END_TEST

/* ---- operators ---- */

START_TEST(operators)
{
	struct enc *e = enc_new(64);
	char words[512];
	uint64_t watcher;
	unsigned status;
	json_t *json;

	watcher = rig_peer(&rig, RIG_OPERATOR, RIG_WATCHER, 0, words,
	    sizeof(words));
	json = rig_query(&rig, RIG_OPERATOR, watcher, QUERY_AUDIT, 0, 0, "",
	    &status);
	ck_assert_uint_eq(status, 403);
	ck_assert_ptr_nonnull(strstr(rig_text(json, "error.message"),
	    "audit"));
	json_decref(json);
	enc_i32(e, 4711);
	enc_u32(e, 2);
	enc_u8(e, PROC_ST_UP);
	enc_str(e, "maker");
	rig_send(rig.fd[RIG_LAUNCH], MSG_HELPER, e, NULL, 0);
	e = enc_new(64);
	enc_i32(e, 4712);
	enc_u32(e, 0);
	enc_u8(e, PROC_ST_UP);
	enc_str(e, "apid");
	rig_send(rig.fd[RIG_CONTROL], MSG_PROCS, e, NULL, 0);
	ck_assert(rig_alive(&rig));
	json = rig_query(&rig, RIG_OPERATOR, watcher, QUERY_STATUS, 0, 0, "",
	    &status);
	ck_assert_uint_eq(status, 200);
	ck_assert_uint_eq(json_array_size(json_object_get(json,
	    "processes")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(
	    json, "supervisor"), "pid")), getpid());
	ck_assert(json_is_false(json_object_get(json, "self_approval")));
	json_decref(json);
	json = rig_query(&rig, RIG_OPERATOR, watcher, QUERY_WHOAMI, 0, 0, "",
	    &status);
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(
	    json, "rights"), 0)), "approve");
	json_decref(json);
	/* the agent socket does not even have the question */
	json_decref(rig_query(&rig, RIG_AGENT, user(), QUERY_STATUS, 0, 0,
	    "", &status));
	ck_assert_uint_eq(status, 404);
	json = rig_query(&rig, RIG_AGENT, user(), QUERY_LIMITS, 0, 0, "",
	    &status);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "limits")),
	    LIMIT_COUNT);
	json_decref(json);
	json = rig_query(&rig, RIG_AGENT, user(), QUERY_WHOAMI, 0, 0, "",
	    &status);
	ck_assert_str_eq(rig_text(json, "principal.kind"), "user");
	ck_assert_str_eq(rig_text(json, "owner"), "peer");
	json_decref(json);
}
END_TEST

/* ---- hostile peers ---- */

static void
hostile(enum rig_channel ch, unsigned type, size_t size, int fd, unsigned nfds)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);
	uint8_t junk[4096] = { 0xff };
	int fds[16];
	unsigned i;

	for (i = 0; i < nfds; i++)
		fds[i] = fd;
	enc_raw(e, junk, size);
	rig_send(rig.fd[ch], type, e, fds, nfds);
	ck_assert_msg(rig_closed(&rig, ch), "channel %d is open after type "
	    "%u, %zu bytes, %u fds", (int)ch, type, size, nfds);
	ck_assert(rig_alive(&rig));
	rig_plumb(&rig, ch);
	if (ch == RIG_JUDGE)
		rig_tools(&rig);
}

START_TEST(hostile_channels)
{
	enum rig_channel ch;
	unsigned before;
	int null;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (ch = RIG_AGENT; ch < RIG_CHANNELS; ch++) {
		rig_plumb(&rig, ch);
		if (ch == RIG_JUDGE)
			rig_tools(&rig);
	}
	ck_assert(rig_alive(&rig));
	before = open_files();
	for (ch = RIG_AGENT; ch < RIG_CHANNELS; ch++) {
		hostile(ch, 0, 0, -1, 0);
		hostile(ch, 9999, 8, -1, 0);
		hostile(ch, MSG_START, 64, -1, 0);	/* another channel's */
		hostile(ch, MSG_NS_MAKE, 8, -1, 0);
		hostile(ch, MSG_REPLY, 64, -1, 0);	/* a direction */
		hostile(ch, MSG_QUERY, 3, -1, 0);
		hostile(ch, MSG_QUERY, 64, null, 1);	/* an fd too many */
		hostile(ch, MSG_PEER, 4, null, 1);	/* of a wrong kind */
		hostile(ch, MSG_PEER, 4, null, 16);
		hostile(ch, MSG_ASK, 30, null, 4);
		hostile(ch, MSG_VERDICT, 47, null, 1);
		hostile(ch, MSG_ENDED, 300, -1, 0);
		/* TOOL after TOOLS_END, too */
		hostile(ch, MSG_TOOL, 46, -1, 0);
	}
	want_open_files(before);
	close(null);
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

/* What is well formed and still can't be: stdin says one thing, fds another. */
START_TEST(hostile_ask)
{
	uint64_t handle = user();
	struct enc *e = enc_new(1024);
	int fds[4], out[2];

	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	fds[0] = memfd_sealed("args", "{}", 2);
	fds[1] = fds[2] = out[1];
	fds[3] = out[0];
	enc_u32(e, 1);
	enc_u64(e, handle);
	enc_u32(e, 0);
	enc_u8(e, STDIN_INLINE);
	enc_u8(e, 0);
	enc_str(e, "s-x");
	enc_str(e, "exec");
	enc_str(e, "");
	rig_send(rig.fd[RIG_AGENT], MSG_ASK, e, fds, 4);
	ck_assert(rig_closed(&rig, RIG_AGENT));
	ck_assert(rig_alive(&rig));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_deaths");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, death_of_agent);
	tcase_add_test(tc, death_of_judge);
	tcase_add_test(tc, death_of_judge_again);
	tcase_add_test(tc, death_of_launch);
	tcase_add_test(tc, death_of_operator);
	tcase_add_test(tc, restart);
	tcase_add_test(tc, cut_audit);
	tcase_add_test(own, full_disk);
	tcase_add_test(tc, newer_store);
	tcase_add_test(tc, operators);
	tcase_add_test(tc, hostile_channels);
	tcase_add_test(tc, hostile_ask);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, own);
	return (rig_main(s));
}
