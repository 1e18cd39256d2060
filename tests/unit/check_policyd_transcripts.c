/* The real policyd: what it keeps of a call, for whom, and once. */

#include <sys/stat.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "policyd_rig_test.h"

static int	inlined;	/* they go in their message */

/* Sends a transcript; -1 where the channel is closed for it, else what became
 * of it. */
static int
send_transcript(uint64_t handle, const char *call, const char *text,
    size_t size)
{
	struct enc *e = enc_new(MSG_MAX_SIZE);
	char id[ID_SIZE];
	struct got g;
	int fd, kept;

	enc_u64(e, handle);
	enc_str(e, call);
	enc_str(e, "");
	if (inlined) {
		enc_bytes(e, text, size);
		rig_send(rig.fd[RIG_AGENT], MSG_TRANSCRIPT_TEXT, e, NULL, 0);
	} else {
		fd = memfd_sealed("transcript", text, size);
		ck_assert_int_ne(fd, -1);
		rig_send(rig.fd[RIG_AGENT], MSG_TRANSCRIPT, e, &fd, 1);
		close(fd);
	}
	if (rig_recv(rig.fd[RIG_AGENT], RIG_WAIT_MS, &g) != 1)
		return (-1);
	ck_assert_uint_eq(g.type, MSG_TRANSCRIBED);
	kept = dec_u8(&g.d);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_int_eq(dec_end(&g.d), 0);
	ck_assert_str_eq(id, call);
	return (kept);
}

/* The bytes of a QUERY's answer. */
static char *
query(enum rig_channel ch, uint64_t handle, unsigned what, const char *id)
{
	static char text[MSG_MAX_SIZE];
	struct enc *e = enc_new(256);
	struct got g;

	enc_u32(e, 4711);
	enc_u64(e, handle);
	enc_u8(e, (uint8_t)what);
	enc_u64(e, 0);
	enc_u32(e, 0);
	enc_str(e, id);
	rig_send(rig.fd[ch], MSG_QUERY, e, NULL, 0);
	rig_want(&rig, ch, MSG_REPLY, &g);
	ck_assert_uint_eq(dec_u32(&g.d), 4711);
	(void)dec_u16(&g.d);
	(void)dec_u32(&g.d);
	dec_str(&g.d, text, sizeof(text));
	ck_assert_int_eq(dec_end(&g.d), 0);
	return (text);
}

static void
call_over(uint64_t handle, char id[ID_SIZE])
{
	json_t *json = rig_whole(&rig, handle, NULL);

	strcpy(id, rig_text(json, "call"));
	ck_assert(json_is_null(json_object_get(json, "transcript")));
	json_decref(json);
}

START_TEST(kept_and_given_back)
{
	static const char text[] = "{\"stdout\":\"some words\"}";
	uint64_t handle = user();
	char id[ID_SIZE], *lines;

	inlined = _i;
	call_over(handle, id);
	ck_assert_int_eq(send_transcript(handle, id, text, strlen(text)), 1);
	lines = query(RIG_AGENT, handle, QUERY_CALL, id);
	ck_assert_ptr_nonnull(strstr(lines, "\"transcript\":true"));
	ck_assert_ptr_nonnull(strstr(lines, "}\n{\"stdout\":\"some words\"}\n"));
	/* another policyd, which has nothing in its memory */
	rig_kill(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
	lines = query(RIG_AGENT, user(), QUERY_CALL, id);
	ck_assert_ptr_nonnull(strstr(lines, "}\n{\"stdout\":\"some words\"}\n"));
	lines = query(RIG_OPERATOR, operator(), QUERY_CALL, id);
	ck_assert_ptr_nonnull(strstr(lines, "}\n{\"stdout\":\"some words\"}\n"));
}
END_TEST

START_TEST(once)
{
	uint64_t handle = user();
	char id[ID_SIZE];

	inlined = _i;
	call_over(handle, id);
	ck_assert_int_eq(send_transcript(handle, id, "{}", 2), 1);
	ck_assert_int_eq(send_transcript(handle, id, "{\"a\":1}", 7), -1);
	ck_assert(rig_closed(&rig, RIG_AGENT));
	ck_assert(rig_alive(&rig));
}
END_TEST

/* Another handle than the one that asked; a call that runs; none at all. */
START_TEST(only_ones_own)
{
	uint64_t handle = user(), other = user();
	struct rig_call c;
	char id[ID_SIZE];

	inlined = _i;
	call_over(handle, id);
	ck_assert_int_eq(send_transcript(other, id, "{}", 2), 0);
	ck_assert_int_eq(send_transcript(handle, "c-00000000000000000000",
	    "{}", 2), 0);
	rig_asked(&rig, rig_ask(&rig, handle, NULL, "bash"), &c);
	ck_assert_int_eq(send_transcript(handle, c.id, "{}", 2), 0);
	ck_assert_int_eq(send_transcript(handle, id, "{}", 2), 1);
}
END_TEST

/* An apid that was started again has no claim on the calls of the first. */
START_TEST(of_another_apid)
{
	uint64_t handle = user();
	char id[ID_SIZE], *lines;

	call_over(handle, id);
	rig_plumb(&rig, RIG_AGENT);
	ck_assert_int_eq(send_transcript(handle, id, "{\"x\":1}", 7), 0);
	lines = query(RIG_AGENT, user(), QUERY_CALL, id);
	/* the record alone was kept when its reader was lost */
	ck_assert_ptr_nonnull(strstr(lines, "\"transcript\":true"));
	ck_assert_ptr_null(strstr(lines, "\"x\""));
	ck_assert_ptr_nonnull(strstr(lines, "}\n\n"));
}
END_TEST

static const struct {
	const char	*text;
	size_t		 size;
} no_lines[] = {
	{ "{}\n{}", 5 }, { "\n", 1 }, { "{\0}", 3 },
};
#define NO_LINES	(int)(sizeof(no_lines) / sizeof(no_lines[0]))

START_TEST(no_line)
{
	uint64_t handle = user();
	char id[ID_SIZE], *lines;

	inlined = _i >= NO_LINES;
	call_over(handle, id);
	ck_assert_int_eq(send_transcript(handle, id,
	    no_lines[_i % NO_LINES].text, no_lines[_i % NO_LINES].size), 0);
	lines = query(RIG_AGENT, handle, QUERY_CALL, id);
	ck_assert_ptr_nonnull(strstr(lines, "\"transcript\":false"));
	ck_assert_ptr_null(strchr(lines, '\n'));
}
END_TEST

START_TEST(too_large)
{
	size_t size = TRANSCRIPT_MAX + 1;
	uint64_t handle = user();
	char id[ID_SIZE], *text;

	call_over(handle, id);
	text = malloc(size);
	memset(text, 'x', size);
	ck_assert_int_eq(send_transcript(handle, id, text, size), 0);
	call_over(handle, id);
	ck_assert_int_eq(send_transcript(handle, id, text, size - 1), 1);
	free(text);
}
END_TEST

/* What a file holds behind its last row was being written: it goes. */
START_TEST(a_torn_end)
{
	uint64_t handle = user();
	char id[ID_SIZE], name[128];
	struct stat before, after;
	int fd;

	call_over(handle, id);
	ck_assert_int_eq(send_transcript(handle, id, "{\"a\":1}", 7), 1);
	rig_kill(&rig);
	snprintf(name, sizeof(name), "%s/policy/transcripts/000000000000.jsonl",
	    rig.dir);
	ck_assert_int_eq(stat(name, &before), 0);
	ck_assert_uint_eq(before.st_mode & 07777, 0600);
	ck_assert_int_ne(fd = open(name, O_WRONLY | O_APPEND), -1);
	ck_assert_int_eq(write(fd, "{\"call\":\"half", 13), 13);
	close(fd);
	/* and a file that no row knows */
	snprintf(name, sizeof(name), "%s/policy/transcripts/000000000077.jsonl",
	    rig.dir);
	ck_assert_int_ne(fd = open(name, O_WRONLY | O_CREAT, 0600), -1);
	close(fd);
	ck_assert_int_eq(chown(name, rig.uid, rig.uid), 0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_int_eq(stat(name, &after), -1);
	snprintf(name, sizeof(name), "%s/policy/transcripts/000000000000.jsonl",
	    rig.dir);
	ck_assert_int_eq(stat(name, &after), 0);
	ck_assert_int_eq(after.st_size, before.st_size);
	ck_assert_ptr_nonnull(strstr(query(RIG_AGENT, user(), QUERY_CALL, id),
	    "}\n{\"a\":1}\n"));
}
END_TEST

/* A row whose bytes a power cut took is no row. */
START_TEST(a_lost_end)
{
	uint64_t handle = user();
	char id[2][ID_SIZE], name[128];
	struct stat st;
	int i;

	for (i = 0; i < 2; i++) {
		call_over(handle, id[i]);
		ck_assert_int_eq(send_transcript(handle, id[i], "{\"a\":1}",
		    7), 1);
	}
	rig_kill(&rig);
	snprintf(name, sizeof(name), "%s/policy/transcripts/000000000000.jsonl",
	    rig.dir);
	ck_assert_int_eq(stat(name, &st), 0);
	ck_assert_int_eq(truncate(name, st.st_size - 1), 0);
	ck_assert_int_eq(rig_start(&rig), 0);
	ck_assert_ptr_nonnull(strstr(query(RIG_AGENT, user(), QUERY_CALL,
	    id[0]), "}\n{\"a\":1}\n"));
	ck_assert_ptr_null(strchr(query(RIG_AGENT, user(), QUERY_CALL, id[1]),
	    '\n'));
}
END_TEST

static void
shell(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd %s/policy && %s", rig.dir, command);
	ck_assert_int_eq(system(line), 0);
}

static const char *
listed(const json_t *json, size_t i)
{
	return (rig_text(json_array_get(json_object_get(json, "calls"), i),
	    "call"));
}

/*
 * A process that is killed before it could write to the database what the
 * audit log has: the next one has the calls all the same, how they ended and
 * what they printed, under the serials that they had; and tells of what still
 * ran that it was interrupted.
 */
START_TEST(calls_before_their_commit)
{
	static const char words[] = "{\"stdout\":\"last words\"}";
	struct rig_call live, across;
	char old[ID_SIZE], id[ID_SIZE], next[ID_SIZE], *lines;
	uint64_t handle = user();
	json_t *json;

	call_over(handle, old);
	ck_assert_int_eq(send_transcript(handle, old, "{\"a\":1}", 7), 1);
	launched(handle, NULL, &across);
	/* who reads has what waits written: the copy has these two */
	(void)query(RIG_AGENT, handle, QUERY_CALLS, "");
	shell("mkdir ../aside && cp -p state.db* ../aside");
	call_over(handle, id);
	ck_assert_int_eq(send_transcript(handle, id, words, strlen(words)), 1);
	rig_ended(&rig, &across, END_SIGNALLED, 0, 9, "");
	json_decref(rig_finished(&rig, &across));
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &(struct got){0});
	launched(handle, NULL, &live);
	rig_kill(&rig);
	shell("rm -f state.db* && cp -p ../aside/state.db* . && "
	    "rm -r ../aside");
	ck_assert_int_eq(rig_start(&rig), 0);
	handle = user();
	lines = query(RIG_AGENT, handle, QUERY_CALL, id);
	ck_assert_ptr_nonnull(strstr(lines, "\"state\":\"completed\""));
	ck_assert_ptr_nonnull(strstr(lines, "}\n{\"stdout\":\"last words\"}\n"));
	lines = query(RIG_AGENT, handle, QUERY_CALL, live.id);
	ck_assert_ptr_nonnull(strstr(lines, "\"reason\":\"interrupted\""));
	lines = query(RIG_AGENT, handle, QUERY_CALL, across.id);
	ck_assert_ptr_nonnull(strstr(lines, "\"reason\":\"signalled\""));
	ck_assert_ptr_nonnull(strstr(lines, "\"signal\":\"KILL\""));
	lines = query(RIG_AGENT, handle, QUERY_CALL, old);
	ck_assert_ptr_nonnull(strstr(lines, "}\n{\"a\":1}\n"));
	/* newest first: no serial was given twice */
	call_over(handle, next);
	json = json_loads(query(RIG_AGENT, handle, QUERY_CALLS, ""), 0, NULL);
	ck_assert_str_eq(listed(json, 0), next);
	ck_assert_str_eq(listed(json, 1), live.id);
	ck_assert_str_eq(listed(json, 2), id);
	ck_assert_str_eq(listed(json, 3), across.id);
	json_decref(json);
}
END_TEST

START_TEST(the_end_of_a_session_is_told)
{
	uint64_t handle = user();
	char session[ID_SIZE];
	struct enc *e;
	struct got g;
	int i;

	rig_session(&rig, handle, session);
	e = enc_new(128);
	enc_u32(e, 12);
	enc_u64(e, handle);
	enc_str(e, session);
	rig_send(rig.fd[RIG_AGENT], MSG_END, e, NULL, 0);
	rig_want(&rig, RIG_LAUNCH, MSG_NEURON_DROP, &g);
	for (i = 0; i < RIG_WAIT_MS / 100 && rig_over[0] == '\0'; i++)
		ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], 100, &g), 0);
	ck_assert_str_eq(rig_over, session);
	ck_assert_str_eq(rig_over_reason, "ended");
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_transcripts");
	TCase *t = tcase_create("rig");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_loop_test(t, kept_and_given_back, 0, 2);
	tcase_add_loop_test(t, once, 0, 2);
	tcase_add_loop_test(t, only_ones_own, 0, 2);
	tcase_add_test(t, of_another_apid);
	tcase_add_loop_test(t, no_line, 0, 2 * NO_LINES);
	tcase_add_test(t, too_large);
	tcase_add_test(t, a_torn_end);
	tcase_add_test(t, a_lost_end);
	tcase_add_test(t, calls_before_their_commit);
	tcase_add_test(t, the_end_of_a_session_is_told);
	suite_add_tcase(s, t);
	return (rig_main(s));
}
