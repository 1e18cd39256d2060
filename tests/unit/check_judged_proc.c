/*
 * judged as a process: this test plays supervisord and policyd.  It needs
 * root, because judged gives up root before it reads anything.
 */
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judged_rig.h"
#include "runblock.h"
#include "takeover.h"
#include "unit.h"

START_TEST(test_verdicts)
{
	static const char good[] = "{\"args\":{\"argv\":[\"true\"]}}";
	static const char bad[] = "{\"args\":{\"argv\":[1]}}";
	struct runblock *rb;
	const uint8_t *map;
	const char *why;
	size_t size;

	start_whole();
	ask(7, "exec", good, sizeof(good) - 1);
	ck_assert_uint_eq(t.verdict, VERDICT_ALLOW);
	ck_assert_str_eq(t.class, "read");
	ck_assert_ptr_nonnull(map = memfd_map(t.run_fd, RUNBLOCK_MAX, &size));
	ck_assert_ptr_nonnull(rb = runblock_decode(map, size, &why));
	ck_assert_str_eq(rb->argv[0], "true");
	runblock_free(rb);
	memfd_unmap(map, size);
	close(t.run_fd);
	ask(8, "exec", bad, sizeof(bad) - 1);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	ck_assert_int_eq(t.run_fd, -1);
	ck_assert_str_eq(t.reason,
	    "args.argv[0]: expected string, got integer");
	ask(9, "nope", good, sizeof(good) - 1);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	finish();
}
END_TEST

/* Where, what, how sure; and explained where it is asked for. */
START_TEST(test_where_and_what)
{
	static const char hard[] =
	    "{\"args\":{\"command\":\"cd /tmp && rm -rf /\"}}";
	static const char open[] =
	    "{\"args\":{\"command\":\"echo a; cat $X\"}}";
	static const char want[] = "{\"commands\":[{\"words\":[\"echo\"";
	const uint8_t *map;
	size_t size;

	start_whole();
	ask(1, "bash", hard, sizeof(hard) - 1);
	ck_assert_uint_eq(t.verdict, VERDICT_DENY);
	ck_assert_str_eq(t.command, "rm -rf /");
	ck_assert_uint_eq(t.from, 11);
	ck_assert_uint_eq(t.to, 19);
	ck_assert_uint_eq(t.unresolved, 0);
	ck_assert_int_eq(t.explain_fd, -1);
	close(t.run_fd);
	t.flags = JUDGE_F_EXPLAIN;
	ask(2, "bash", open, sizeof(open) - 1);
	ck_assert_uint_eq(t.unresolved, VERDICT_F_UNRESOLVED);
	ck_assert_int_ne(t.run_fd, -1);
	map = memfd_map(t.explain_fd, EXPLANATION_MAX, &size);
	ck_assert_ptr_nonnull(map);
	ck_assert_uint_gt(size, sizeof(want));
	ck_assert_int_eq(memcmp(map, want, sizeof(want) - 1), 0);
	memfd_unmap(map, size);
	close(t.run_fd);
	close(t.explain_fd);
	/* Without a run block there is none: it would be taken for one. */
	ask(3, "bash", "{}", 2);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	ck_assert_int_eq(t.run_fd, -1);
	finish();
}
END_TEST

/* Whatever the argument bytes are, an answer comes and judged stays. */
START_TEST(test_any_bytes)
{
	static uint8_t bytes[17 * 1024 * 1024];
	size_t i;

	start_whole();
	ask(1, "exec", "", 0);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	for (i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	ask(2, "exec", bytes, 256);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	memset(bytes, '[', sizeof(bytes));
	ask(3, "exec", bytes, 1024 * 1024);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	ck_assert_ptr_nonnull(strstr(t.reason, "levels deep"));
	ask(4, "exec", bytes, sizeof(bytes));
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	ck_assert_ptr_nonnull(strstr(t.reason, "16777216 bytes"));
	/* As many arguments as fit into a body. */
	memcpy(bytes, "{\"args\":{\"argv\":[", 17);
	for (i = 17; i < 16 * 1024 * 1024 - 8; i += 4)
		memcpy(bytes + i, "\"a\",", 4);
	memcpy(bytes + i - 1, "]}}", 3);
	ask(5, "exec", bytes, i + 2);
	ck_assert_uint_eq(t.verdict, VERDICT_INVALID);
	ck_assert_ptr_nonnull(strstr(t.reason, "maxItems is 4096"));
	finish();
}
END_TEST

static void
status_is(const char *key, const char *want)
{
	char path[64], line[256];
	FILE *f;
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)t.pid);
	ck_assert_ptr_nonnull(f = fopen(path, "r"));
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, key, strlen(key)) == 0) {
			found = 1;
			line[strcspn(line, "\n")] = '\0';
			ck_assert_str_eq(line + strlen(key), want);
		}
	}
	fclose(f);
	ck_assert_msg(found, "%s", key);
}

START_TEST(test_dropped)
{
	start_whole();
	status_is("Uid:\t", "65533\t65533\t65533\t65533");
	status_is("Gid:\t", "65533\t65533\t65533\t65533");
	status_is("CapEff:\t", "0000000000000000");
	status_is("CapPrm:\t", "0000000000000000");
	status_is("CapBnd:\t", "0000000000000000");
	status_is("NoNewPrivs:\t", "1");
	status_is("Seccomp:\t", "2");
	finish();
}
END_TEST

/* A new policyd hears of the tools again. */
START_TEST(test_plumbed_again)
{
	static const char good[] = "{\"args\":{\"argv\":[\"true\"]}}";

	start_whole();
	channel_free(t.judge);
	plumb();
	until(t.judge, &t.ended);
	ck_assert_uint_eq(t.tools, 3);
	ask(1, "exec", good, sizeof(good) - 1);
	ck_assert_uint_eq(t.verdict, VERDICT_ALLOW);
	finish();
}
END_TEST

START_TEST(test_bad_declaration)
{
	char path[] = "/tmp/check-judged-XXXXXX.json";
	const char *const files[] = { path };
	int fd;

	ck_assert_int_ne(fd = mkstemps(path, 5), -1);
	ck_assert_int_eq(write(fd, "{\n\"name\": x}", 12), 12);
	close(fd);
	start();
	plumb();
	send_config(files, 1);
	while (t.bad[0] == '\0')
		ck_assert_int_gt(channel_dispatch_wait(t.control, WAIT), 0);
	unlink(path);
	ck_assert_ptr_nonnull(strstr(t.bad, "tool/check-judged-"));
	ck_assert_ptr_nonnull(strstr(t.bad, "not JSON, at line 2"));
	ck_assert_uint_eq(t.bad_line, 2);
	finish();
}
END_TEST

/* A peer that breaks the table loses the channel; judged lives. */
START_TEST(test_hostile_peer)
{
	struct imsg *m;
	int fds[2];

	start_whole();
	channel_free(t.judge);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	m = imsg_new(MSG_PLUMB);
	imsg_put_u32(m, CH_JUDGE);
	imsg_put_fd(m, fds[1]);
	ck_assert_int_eq(channel_send(t.control, m), 0);
	ck_assert_int_eq(send(fds[0], "nonsense", 8, 0), 8);
	for (;;) {
		char buf[32 * 1024];
		ssize_t n = recv(fds[0], buf, sizeof(buf), 0);

		if (n <= 0)
			break;
	}
	close(fds[0]);
	plumb();
	until(t.judge, &t.ended);
	finish();
}
END_TEST

static int
raw_end(void)
{
	struct imsg *m;
	int fds[2];

	channel_free(t.judge);
	t.judge = NULL;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	m = imsg_new(MSG_PLUMB);
	imsg_put_u32(m, CH_JUDGE);
	imsg_put_fd(m, fds[1]);
	ck_assert_int_eq(channel_send(t.control, m), 0);
	return (fds[0]);
}

static void
drain(int fd)
{
	char buf[32 * 1024];

	while (recv(fd, buf, sizeof(buf), 0) > 0)
		continue;
	close(fd);
}

/* Each way to break the table costs the channel, and judged lives. */
START_TEST(test_hostile_messages)
{
	int loose = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int good = memfd_sealed("x", "{}", 2);
	const struct {
		unsigned	 type;
		size_t		 size;
		int		 fd;
		unsigned	 nfds;
	} bad[] = {
		{ 9999, 16, -1, 0 },
		{ MSG_NONE, 0, -1, 0 },
		{ MSG_START, 28, -1, 0 },	/* another channel's */
		{ MSG_VERDICT, 47, -1, 0 },	/* its own direction */
		{ MSG_JUDGE, 5, good, 1 },
		{ MSG_JUDGE, 26, -1, 0 },	/* no arguments */
		{ MSG_JUDGE, 26, good, 2 },
		{ MSG_JUDGE, 26, loose, 1 },	/* that could still change */
		{ MSG_JUDGE, 26, STDIN_FILENO, 1 },
		{ MSG_JUDGE, 26, good, 253 },
	};
	size_t i;
	int fd;

	start_whole();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fd = raw_end();
		ck_assert_int_eq(raw_send(fd, bad[i].type, NULL, bad[i].size,
		    bad[i].fd, bad[i].nfds), 0);
		drain(fd);
	}
	plumb();
	until(t.judge, &t.ended);
	ask(1, "exec", "{\"args\":{\"argv\":[\"true\"]}}", 26);
	ck_assert_uint_eq(t.verdict, VERDICT_ALLOW);
	close(good);
	close(loose);
	finish();
}
END_TEST

/* 100,000 questions, whose answers nobody reads. */
START_TEST(test_flood)
{
	static const char row[] = "\1\0\0\0\0\0\0\0\0\0\4\0\0\0exec"
	    "\0\0\0\0\0\0\0\0\0\0\0";
	int good = memfd_sealed("x", "{\"args\":{\"argv\":[\"a\"]}}", 23);
	int fd, i;

	start_whole();
	fd = raw_end();
	for (i = 0; i < 100000; i++)
		if (raw_send(fd, MSG_JUDGE, row, sizeof(row) - 1, good, 1) ==
		    -1)
			break;
	ck_assert_int_lt(i, 100000);
	drain(fd);
	close(good);
	plumb();
	until(t.judge, &t.ended);
	finish();
}
END_TEST

/* The bytes of a verdict and of its run block. */
static size_t
verdict_bytes(uint64_t sequence, const char *args, char *dst, size_t size)
{
	const uint8_t *block;
	size_t n, len;

	ask(sequence, "bash", args, strlen(args));
	ck_assert_uint_eq(t.verdict, VERDICT_ALLOW);
	n = (size_t)snprintf(dst, size, "%s|%s|", t.class, t.reason);
	block = memfd_map(t.run_fd, RUNBLOCK_MAX, &len);
	ck_assert_ptr_nonnull(block);
	ck_assert_uint_lt(n + len, size);
	memcpy(dst + n, block, len);
	memfd_unmap(block, len);
	close(t.run_fd);
	return (n + len);
}

/* Nothing of one call is in the next: the answer's bytes are the same. */
START_TEST(test_remembers_nothing)
{
	static const char args[] = "{\"args\":{\"command\":\"echo a\"}}";
	static const char *const others[] = {
		"", "{", "null", "[[[[[[[[[[[[[[[[[[", "{\"args\":{}}",
		"{\"args\":{\"command\":\"rm -rf /; secret\"}}",
		"{\"args\":{\"command\":\"a\"},\"cwd\":\"/tmp\","
		    "\"env\":{\"A\":\"secret\"}}",
		"{\"args\":{\"command\":\"a\"},\"env\":"
		    "{\"LD_PRELOAD\":\"x\"}}",
	};
	char first[4096], again[4096];
	size_t n, i;

	start_whole();
	n = verdict_bytes(1, args, first, sizeof(first));
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		ask(100 + i, i % 2 == 0 ? "bash" : "nosuch", others[i],
		    strlen(others[i]));
		if (t.run_fd != -1)
			close(t.run_fd);
		ck_assert_uint_eq(verdict_bytes(200 + i, args, again,
		    sizeof(again)), n);
		ck_assert_mem_eq(first, again, n);
	}
	finish();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("judged");
	TCase *tc = tcase_create("process");

	if (geteuid() != 0) {
		printf("1..1\nok 1 - process # SKIP needs root\n");
		return (0);
	}
	tcase_add_test(tc, test_verdicts);
	tcase_add_test(tc, test_where_and_what);
	tcase_add_test(tc, test_any_bytes);
	tcase_add_test(tc, test_dropped);
	tcase_add_test(tc, test_plumbed_again);
	tcase_add_test(tc, test_bad_declaration);
	tcase_add_test(tc, test_hostile_peer);
	tcase_add_test(tc, test_hostile_messages);
	tcase_add_test(tc, test_flood);
	tcase_add_test(tc, test_remembers_nothing);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
