/*
 * The real policyd against an apid, a judged and a neurond that were taken
 * over: what they may say at all, said wrongly.
 */
#include <sys/socket.h>

#include <fcntl.h>
#include <stdlib.h>

#include "policyd_rig_test.h"

#define MANY	100000

/* ---- apid, agent socket ---- */

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

static void
send_gone(uint64_t handle)
{
	struct enc *e = enc_new(64);

	enc_u64(e, handle);
	rig_send(rig.fd[RIG_AGENT], MSG_PEER_GONE, e, NULL, 0);
}

/* Handles are random: neither near ones nor old ones nor others' are his. */
START_TEST(no_principal_that_has_not_connected)
{
	uint64_t handle = user(), other = operator(), guess;
	char session[ID_SIZE];
	int i;

	rig_session(&rig, handle, session);
	for (i = 0; i < 2000; i++) {
		guess = i < 500 ? (uint64_t)i : i < 1000 ?
		    handle + (uint64_t)i - 999 : i < 1500 ?
		    handle ^ (UINT64_C(1) << (i % 64)) : id_random64();
		if (guess == handle)
			continue;
		want_refusal(rig_ask(&rig, guess, NULL, "exec"), 403,
		    "forbidden", "connection");
	}
	/* the operator's, on the agent's channel */
	want_refusal(rig_ask(&rig, other, NULL, "exec"), 403, "forbidden",
	    "connection");
	want_refusal(rig_open(&rig, other, "", "", 0), 403, "forbidden",
	    "connection");
	want_refusal(send_end(other, session), 403, "forbidden",
	    "connection");
	/* one that is gone, twice over */
	send_gone(handle);
	send_gone(handle);
	send_gone(12345);
	want_refusal(rig_ask(&rig, handle, NULL, "exec"), 403, "forbidden",
	    "connection");
	want_refusal(send_end(handle, session), 403, "forbidden",
	    "connection");
	/* and one of the channel before */
	handle = user();
	rig_plumb(&rig, RIG_AGENT);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 403, "forbidden",
	    "connection");
	json_decref(rig_whole(&rig, user(), session));
}
END_TEST

/* With a handle of his own, by ids that are another's. */
START_TEST(nothing_of_another_principal)
{
	char session[ID_SIZE], words[512];
	uint64_t handle = user(), other;
	struct rig_call c;
	unsigned status;
	json_t *json;

	other = rig_peer(&rig, RIG_AGENT, RIG_MEMBER, RIG_GROUP, words,
	    sizeof(words));
	rig_session(&rig, handle, session);
	launched(handle, session, &c);
	want_refusal(rig_ask(&rig, other, session, "exec"), 404, "not_found",
	    session);
	want_refusal(send_end(other, session), 404, "not_found", session);
	want_refusal(send_end(other, c.neuron), 404, "not_found", c.neuron);
	json_decref(rig_query(&rig, RIG_AGENT, other, QUERY_CALL, 0, 0, c.id,
	    &status));
	ck_assert_uint_eq(status, 404);
	json_decref(rig_query(&rig, RIG_AGENT, other, QUERY_NEURON, 0, 0,
	    c.neuron, &status));
	ck_assert_uint_eq(status, 404);
	/* a call's id is no session, nor a session's a call */
	want_refusal(rig_ask(&rig, handle, c.id, "exec"), 404, "not_found",
	    c.id);
	want_refusal(send_end(handle, c.id), 404, "not_found", c.id);
	json = rig_query(&rig, RIG_AGENT, handle, QUERY_CALL, 0, 0, session,
	    &status);
	ck_assert_uint_eq(status, 404);
	json_decref(json);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
}
END_TEST

/* An END, an ASK and a PEER once more: each is a request of its own. */
START_TEST(replays)
{
	uint64_t handle = user(), again;
	char session[ID_SIZE], neuron[ID_SIZE];
	struct enc *e;
	unsigned status;
	uint32_t request;
	json_t *json;
	struct got g;

	rig_session(&rig, handle, session);
	request = send_end(handle, session);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	dec_str(&g.d, neuron, sizeof(neuron));
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	ck_assert_uint_eq(status, 200);
	json_decref(json);
	want_refusal(send_end(handle, session), 404, "not_found", session);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 404, "not_found",
	    session);
	/* the same connection's number gives another handle, never the same */
	again = user();
	ck_assert_uint_ne(again, handle);
	/* neurond's last word, twice */
	rig_gone(&rig, neuron, GONE_DROPPED, "");
	e = enc_new(64);
	enc_u64(e, 0);
	enc_u8(e, STOP_OUTPUT_LIMIT);
	enc_str(e, "c-22222222222222222222");
	rig_send(rig.fd[RIG_AGENT], MSG_STOP, e, NULL, 0);
	ck_assert(rig_alive(&rig));
	json_decref(rig_whole(&rig, again, NULL));
}
END_TEST

/* The call waits for a person. */
static void
asks(void)
{
	struct got g;

	rig_want(&rig, RIG_AGENT, MSG_CALL_JUDGED, &g);
	rig_want(&rig, RIG_AGENT, MSG_CALL_ASKING, &g);
}

/* What decides is asked on the operator's plane; here there is no such row. */
START_TEST(approves_nothing)
{
	unsigned what, status;
	uint64_t handle = user();
	struct rig_call c;

	for (what = QUERY_STATUS; what <= QUERY_APPROVAL; what++) {
		if (what == QUERY_TRANSCRIPT)
			continue;
		json_decref(rig_query(&rig, RIG_AGENT, handle, what, 0, 0, "",
		    &status));
		ck_assert_uint_eq(status, 404);
	}
	/* a call that needs a person is not run, whatever apid says next */
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "asker"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	asks();
	/* nor is one above the preset's cap even judged */
	want_refusal(rig_ask(&rig, handle, NULL, "wipe"), 403, "forbidden",
	    "\"standard\"");
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 200, &(struct got){0}),
	    0);
}
END_TEST

/* Signals and sizes that apid refuses to name close its channel. */
START_TEST(steers_that_can_not_be)
{
	static const struct { unsigned type; uint32_t value; } rows[] = {
		{ MSG_SIGNAL, 0 }, { MSG_SIGNAL, 11 }, { MSG_SIGNAL, 34 },
		{ MSG_SIGNAL, UINT32_MAX }, { MSG_RESIZE, 0 },
		{ MSG_RESIZE, PTY_SIZE(24, 0) }, { MSG_RESIZE, 80 },
		{ MSG_RESIZE, PTY_SIZE(1, 4097) }, { MSG_RESIZE, UINT32_MAX },
	};
	struct enc *e;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		e = enc_new(64);
		enc_u32(e, 1);
		enc_u64(e, user());
		enc_u32(e, rows[i].value);
		enc_str(e, "c-22222222222222222222");
		rig_send(rig.fd[RIG_AGENT], rows[i].type, e, NULL, 0);
		ck_assert(rig_closed(&rig, RIG_AGENT));
		rig_plumb(&rig, RIG_AGENT);
	}
	ck_assert(rig_alive(&rig));
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

START_TEST(rows_of_the_agent_by_the_operator)
{
	static const unsigned rows[] = { MSG_ASK, MSG_ASK_ONCE, MSG_OPEN,
	    MSG_STOP, MSG_SIGNAL, MSG_RESIZE };
	struct enc *e;
	uint8_t zero[64] = { 0 };
	int fds[3], p[2];
	size_t i;

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	fds[0] = memfd_sealed("args", "{}", 2);
	fds[1] = fds[2] = p[1];
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		e = enc_new(256);
		enc_raw(e, zero, msg_table[rows[i]].fixed +
		    4 * msg_table[rows[i]].strings);
		rig_send(rig.fd[RIG_OPERATOR], rows[i], e, fds,
		    msg_table[rows[i]].fds_min);
		ck_assert(rig_closed(&rig, RIG_OPERATOR));
		rig_plumb(&rig, RIG_OPERATOR);
	}
	ck_assert(rig_alive(&rig));
	ck_assert_int_eq(rig_recv(rig.fd[RIG_JUDGE], 200, &(struct got){0}),
	    0);
}
END_TEST

/* ---- judged ---- */

static void
say_whole(uint64_t sequence, unsigned verdict, unsigned effect, int fd,
    uint32_t from, unsigned flags)
{
	struct enc *e = enc_new(256);
	int i;

	enc_u64(e, sequence);
	enc_u8(e, (uint8_t)verdict);
	enc_u8(e, (uint8_t)effect);
	enc_u32(e, 0);
	enc_u32(e, from);
	enc_u32(e, 0);
	enc_u8(e, (uint8_t)flags);
	for (i = 0; i < 6; i++)
		enc_str(e, "");
	rig_send(rig.fd[RIG_JUDGE], MSG_VERDICT, e, &fd, fd != -1);
}

static void
say_verdict(uint64_t sequence, unsigned verdict, unsigned effect, int fd)
{
	say_whole(sequence, verdict, effect, fd, 0, 0);
}

static void
nothing_launched(void)
{
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 200, &(struct got){0}),
	    0);
}

/* For calls that are not, not yet, or no longer: nothing comes of them. */
START_TEST(verdicts_of_calls_never_asked)
{
	int run = memfd_sealed("run", "block", 5);
	struct rig_call c;
	uint64_t i;

	for (i = 0; i < 200; i++)
		say_verdict(i, VERDICT_ALLOW, EFFECT_READ, run);
	say_verdict(UINT64_MAX, VERDICT_ALLOW, EFFECT_READ, run);
	nothing_launched();
	rig_asked(&rig, rig_ask(&rig, user(), NULL, "exec"), &c);
	say_verdict(c.sequence + 1, VERDICT_ALLOW, EFFECT_READ, run);
	nothing_launched();
	rig_verdict(&rig, &c, VERDICT_DENY);
	want_end(rig_finished(&rig, &c), "failed", "denied_by_policy");
	/* it has changed its mind */
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	nothing_launched();
	json_decref(rig_whole(&rig, user(), NULL));
	close(run);
}
END_TEST

START_TEST(a_verdict_twice_runs_once)
{
	struct rig_call c;

	rig_asked(&rig, rig_ask(&rig, user(), NULL, "exec"), &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_launch(&rig, &c);
	rig_verdict(&rig, &c, VERDICT_ALLOW);
	rig_verdict(&rig, &c, VERDICT_DENY);
	nothing_launched();
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	/* late is not wrong: the channel is still there */
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

/* Nothing that tool, effect or preset require is lifted by a verdict. */
START_TEST(a_verdict_lifts_nothing)
{
	char session[ID_SIZE], neuron[ID_SIZE];
	int run = memfd_sealed("run", "block", 5);
	uint64_t handle = user();
	struct rig_call c;
	uint32_t request;
	unsigned status;
	json_t *json;

	/* the declaration asks: ALLOW becomes ASK */
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "asker"), &c);
	say_verdict(c.sequence, VERDICT_ALLOW, EFFECT_READ, run);
	asks();
	/* an effect above the preset's cap: ALLOW becomes DENY */
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "exec"), &c);
	say_verdict(c.sequence, VERDICT_ALLOW, EFFECT_DESTRUCTIVE, run);
	json = rig_finished(&rig, &c);
	ck_assert_str_eq(rig_text(json, "verdict"), "deny");
	want_end(json, "failed", "denied_by_policy");
	/* a tool above the session's cap is not judged at all */
	request = rig_open(&rig, handle, "readonly", "", 0);
	rig_neuron_up(&rig, neuron);
	json = rig_reply(&rig, RIG_AGENT, request, &status, NULL);
	snprintf(session, sizeof(session), "%s", rig_text(json, "session"));
	json_decref(json);
	want_refusal(rig_ask(&rig, handle, session, "exec"), 403,
	    "forbidden", "readonly");
	ck_assert_int_eq(rig_recv(rig.fd[RIG_JUDGE], 200, &(struct got){0}),
	    0);
	nothing_launched();
	close(run);
}
END_TEST

static void
judge_broke(const char *what)
{
	ck_assert_msg(rig_closed(&rig, RIG_JUDGE), "%s", what);
	ck_assert(rig_alive(&rig));
	rig_plumb(&rig, RIG_JUDGE);
	rig_tools(&rig);
}

/* Each costs judged its channel, and the call under way fails. */
START_TEST(verdicts_that_can_not_be)
{
	int run = memfd_sealed("run", "block", 5);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct {
		unsigned	 verdict, effect;
		int		 fd;
		uint32_t	 from;
		unsigned	 flags;
	} bad[] = {
		{ VERDICT_ALLOW, EFFECT_READ, -1, 0, 0 }, /* nothing to run */
		{ VERDICT_ALLOW, EFFECT_READ, null, 0, 0 },
		{ VERDICT_ALLOW, 0, run, 0, 0 },
		{ VERDICT_ALLOW, EFFECT_DESTRUCTIVE + 1, run, 0, 0 },
		{ 0, EFFECT_READ, run, 0, 0 },
		{ VERDICT_INVALID + 1, EFFECT_READ, run, 0, 0 },
		{ VERDICT_DENY, 0, -1, 0, 0 },
		{ VERDICT_DENY, EFFECT_READ, -1, 1, 0 }, /* ends before it */
		{ VERDICT_DENY, EFFECT_READ, -1, 0, 0x80 },
	};
	struct rig_call c;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rig_asked(&rig, rig_ask(&rig, user(), NULL, "exec"), &c);
		say_whole(c.sequence, bad[i].verdict, bad[i].effect,
		    bad[i].fd, bad[i].from, bad[i].flags);
		judge_broke("a verdict that can not be");
		/* once more it is asked, and not a third time */
		rig_judging(&rig, &c);
		say_whole(c.sequence, bad[i].verdict, bad[i].effect,
		    bad[i].fd, bad[i].from, bad[i].flags);
		want_end(rig_finished(&rig, &c), "failed", "interrupted");
		judge_broke("the same again");
	}
	nothing_launched();
	json_decref(rig_whole(&rig, user(), NULL));
	close(run);
	close(null);
}
END_TEST

static void
say_tool(unsigned effect, const char *name)
{
	struct enc *e = enc_new(256);
	uint8_t digest[32] = { 0 };

	enc_u8(e, (uint8_t)effect);
	enc_u32(e, 0);
	enc_u8(e, 0);
	enc_u32(e, 0);
	enc_raw(e, digest, sizeof(digest));
	enc_str(e, name);
	rig_send(rig.fd[RIG_JUDGE], MSG_TOOL, e, NULL, 0);
}

/* A milder "wipe" after the end of the list, or twice in one list. */
START_TEST(tools_declared_again)
{
	uint64_t handle = user();

	say_tool(EFFECT_READ, "wipe");
	judge_broke("a TOOL after TOOLS_END");
	want_refusal(rig_ask(&rig, handle, NULL, "wipe"), 403, "forbidden",
	    "\"standard\"");
	rig_plumb(&rig, RIG_JUDGE);
	say_tool(EFFECT_DESTRUCTIVE, "wipe");
	say_tool(EFFECT_READ, "wipe");
	judge_broke("a TOOL twice");
	rig_plumb(&rig, RIG_JUDGE);
	say_tool(0, "wipe");
	judge_broke("a TOOL without an effect");
	rig_plumb(&rig, RIG_JUDGE);
	say_tool(EFFECT_READ, "");
	judge_broke("a TOOL without a name");
	json_decref(rig_whole(&rig, handle, NULL));
}
END_TEST

/* ---- neurond ---- */

START_TEST(ends_of_calls_that_are_not)
{
	struct rig_call c, none = { .id = "c-22222222222222222222" };
	uint64_t handle = user();

	rig_ended(&rig, &none, END_EXITED, 0, 0, "");
	rig_gone(&rig, "n-22222222222222222222", GONE_LOST, "");
	launched(handle, NULL, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	rig_ended(&rig, &c, END_SIGNALLED, 0, 9, "once more");
	ck_assert(rig_alive(&rig));
	ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], 200, &(struct got){0}),
	    0);
}
END_TEST

/* ---- every channel ---- */

static void
put_query(struct enc *e, uint64_t handle, unsigned what)
{
	enc_u32(e, 1);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_u64(e, 0);
	enc_u32(e, 0);
	enc_str(e, "");
}

/* Questions by the hundred thousand, whose answers nobody reads. */
static void
flood_unread(enum rig_channel ch)
{
	struct enc *e;
	int i;

	for (i = 0; i < MANY; i++) {
		e = enc_new(64);
		put_query(e, 1, QUERY_WHOAMI);
		rig_send(rig.fd[ch], MSG_QUERY, e, NULL, 0);
	}
	ck_assert(rig_closed(&rig, ch));
	ck_assert(rig_alive(&rig));
	rig_plumb(&rig, ch);
}

START_TEST(floods)
{
	struct enc *e;
	int i;

	flood_unread(RIG_AGENT);
	flood_unread(RIG_OPERATOR);
	/* what needs no answer: it is read, and that is all */
	rig_unordered = 1;
	for (i = 0; i < MANY; i++) {
		e = enc_new(64);
		enc_u64(e, (uint64_t)i);
		rig_send(rig.fd[RIG_AGENT], MSG_PEER_GONE, e, NULL, 0);
		say_verdict((uint64_t)i + 1000, VERDICT_DENY, EFFECT_READ,
		    -1);
		e = enc_new(64);
		enc_str(e, "c-22222222222222222222");
		rig_send(rig.fd[RIG_LAUNCH], MSG_STARTED, e, NULL, 0);
	}
	rig_unordered = 0;
	ck_assert(rig_alive(&rig));
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

/* A packet with more descriptors than any row has, on each channel. */
static void
throw_fds(int sock, unsigned type, unsigned n)
{
	union {
		struct cmsghdr	 align;
		char		 buf[CMSG_SPACE(sizeof(int) * 253)];
	} control;
	uint8_t packet[12] = { (uint8_t)type, 0, (uint8_t)n, 0, 4 };
	struct iovec iov = { packet, sizeof(packet) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *cmsg;
	unsigned i;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	memset(&control, 0, sizeof(control));
	msg.msg_control = control.buf;
	msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
	cmsg = CMSG_FIRSTHDR(&msg);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n);
	for (i = 0; i < n; i++)
		memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &null, sizeof(int));
	ck_assert_int_gt(sendmsg(sock, &msg, MSG_NOSIGNAL), 0);
	close(null);
}

START_TEST(more_descriptors_than_fit)
{
	enum rig_channel ch;
	unsigned before;

	ck_assert(rig_alive(&rig));
	before = open_files();
	for (ch = RIG_AGENT; ch < RIG_CHANNELS; ch++) {
		throw_fds(rig.fd[ch], ch == RIG_JUDGE ? MSG_VERDICT :
		    MSG_PEER, 253);
		ck_assert(rig_closed(&rig, ch));
		rig_plumb(&rig, ch);
		if (ch == RIG_JUDGE)
			rig_tools(&rig);
	}
	ck_assert(rig_alive(&rig));
	want_open_files(before);
	json_decref(rig_whole(&rig, user(), NULL));
}
END_TEST

/*
 * Calls that wait for their verdict hold their pipes, until policyd is at its
 * limit of open files and the kernel cuts the next call's fds off: that costs
 * the channel and its calls, and nothing else.
 */
START_TEST(out_of_descriptors)
{
	uint64_t handle;
	unsigned usual;
	uint32_t i;
	int n = 1;

	rig_init(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert(rig_alive(&rig));
	usual = open_files();
	ck_assert_int_eq(rig_stop(&rig), 0);
	rig.nofile = usual + 8;
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	for (i = 0; i < 16; i++)
		(void)rig_ask(&rig, handle, NULL, "exec");
	ck_assert(rig_closed(&rig, RIG_AGENT));
	ck_assert(rig_alive(&rig));
	/* what it was asked to judge meanwhile */
	while (n == 1) {
		struct got g;

		n = rig_recv(rig.fd[RIG_JUDGE], 200, &g);
		if (n == 1)
			got_close(&g);
	}
	rig_plumb(&rig, RIG_AGENT);
	/* and the file of the transcripts, since there were calls */
	want_open_files(usual + 1);
	json_decref(rig_whole(&rig, user(), NULL));
	rig_end(&rig);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_hostile");
	TCase *tc = tcase_create("started"), *own = tcase_create("own");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, no_principal_that_has_not_connected);
	tcase_add_test(tc, nothing_of_another_principal);
	tcase_add_test(tc, replays);
	tcase_add_test(tc, approves_nothing);
	tcase_add_test(tc, steers_that_can_not_be);
	tcase_add_test(tc, rows_of_the_agent_by_the_operator);
	tcase_add_test(tc, verdicts_of_calls_never_asked);
	tcase_add_test(tc, a_verdict_twice_runs_once);
	tcase_add_test(tc, a_verdict_lifts_nothing);
	tcase_add_test(tc, verdicts_that_can_not_be);
	tcase_add_test(tc, tools_declared_again);
	tcase_add_test(tc, ends_of_calls_that_are_not);
	tcase_add_test(tc, floods);
	tcase_add_test(tc, more_descriptors_than_fit);
	tcase_add_test(own, out_of_descriptors);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, own);
	return (rig_main(s));
}
