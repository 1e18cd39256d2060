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

#include "codec.h"
#include "imsg.h"
#include "proc.h"
#include "runblock.h"
#include "slice.h"
#include "takeover.h"
#include "unit.h"

#define WAIT		60000
#define TEST_UID	65533

static char root[] = "/tmp/check-judged-XXXXXX";

static struct {
	pid_t		 pid;
	struct channel	*control;
	struct channel	*judge;
	int		 config_ok;
	int		 ready;
	char		 bad[512];
	uint32_t	 bad_line;
	unsigned	 tools;
	int		 ended;
	/* The last verdict. */
	uint64_t	 sequence;
	unsigned	 verdict;
	char		 class[64];
	char		 reason[1200];
	char		 command[64];
	uint32_t	 from, to;
	unsigned	 unresolved;
	int		 run_fd;
	int		 explain_fd;
	uint8_t		 flags;		/* of the next question */
	int		 verdicts;
	int		 judge_dead;
	int		 lost;
} t;

/* ---- what judged says ---- */

static int
on_config_ok(void *arg, struct imsg *m)
{
	(void)arg;
	ck_assert_uint_eq(imsg_get_u32(m), 1);
	t.config_ok = 1;
	return (imsg_end(m));
}

static int
on_config_bad(void *arg, struct imsg *m)
{
	char file[256], why[1024];

	(void)arg;
	imsg_get_u32(m);
	t.bad_line = imsg_get_u32(m);
	imsg_get_str(m, file, sizeof(file));
	imsg_get_str(m, why, sizeof(why));
	snprintf(t.bad, sizeof(t.bad), "%s: %.200s", file, why);
	return (imsg_end(m));
}

static int
on_ready(void *arg, struct imsg *m)
{
	(void)arg;
	ck_assert_uint_eq(imsg_get_u32(m), PROTOCOL_VERSION);
	t.ready = 1;
	return (imsg_end(m));
}

static int
on_lost(void *arg, struct imsg *m)
{
	(void)arg;
	ck_assert_uint_eq(imsg_get_u32(m), CH_JUDGE);
	ck_assert_uint_ge(imsg_get_u32(m), 1);
	t.lost++;
	return (imsg_end(m));
}

static int
on_tool(void *arg, struct imsg *m)
{
	uint8_t sha256[32];
	char name[NAME_BYTES_MAX];

	(void)arg;
	ck_assert_uint_eq(imsg_get_u8(m), EFFECT_MUTATE_IRREVERSIBLE);
	ck_assert_uint_eq(imsg_get_u32(m), 0);
	ck_assert_uint_eq(imsg_get_u8(m), 0);
	imsg_get_u32(m);
	imsg_get_raw(m, sha256, sizeof(sha256));
	imsg_get_str(m, name, sizeof(name));
	t.tools++;
	return (imsg_end(m));
}

static int
on_tools_end(void *arg, struct imsg *m)
{
	(void)arg;
	ck_assert_uint_eq(imsg_get_u32(m), t.tools);
	channel_set_state(t.judge, ST_UP);
	t.ended = 1;
	return (imsg_end(m));
}

static int
on_verdict(void *arg, struct imsg *m)
{
	char rule[256], next[256], where[64];

	(void)arg;
	t.sequence = imsg_get_u64(m);
	t.verdict = imsg_get_u8(m);
	imsg_get_u8(m);
	imsg_get_u32(m);
	t.from = imsg_get_u32(m);
	t.to = imsg_get_u32(m);
	t.unresolved = imsg_get_u8(m);
	imsg_get_str(m, t.class, sizeof(t.class));
	imsg_get_str(m, rule, sizeof(rule));
	imsg_get_str(m, where, sizeof(where));
	imsg_get_str(m, t.command, sizeof(t.command));
	imsg_get_str(m, t.reason, sizeof(t.reason));
	imsg_get_str(m, next, sizeof(next));
	t.run_fd = imsg_claim_fd(m, 0);
	t.explain_fd = imsg_claim_fd(m, 1);
	t.verdicts++;
	return (imsg_end(m));
}

static void
on_judge_dead(void *arg, const char *reason)
{
	(void)arg;
	(void)reason;
	t.judge_dead = 1;
}

static const struct channel_handler control_handlers[] = {
	{ MSG_CONFIG_OK, on_config_ok },
	{ MSG_CONFIG_BAD, on_config_bad },
	{ MSG_READY, on_ready },
	{ MSG_LOST, on_lost },
};
static const struct channel_ops control_ops = {
	.handlers = control_handlers, .nhandlers = 4
};
static const struct channel_handler judge_handlers[] = {
	{ MSG_TOOL, on_tool },
	{ MSG_TOOLS_END, on_tools_end },
	{ MSG_VERDICT, on_verdict },
};
static const struct channel_ops judge_ops = {
	.handlers = judge_handlers, .nhandlers = 3, .dead = on_judge_dead
};

/* ---- starting it ---- */

/* judged/judged beside this program's tests/unit/check_judged_proc. */
static const char *
judged_path(void)
{
	static char path[4096];
	ssize_t n;
	int up;

	n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	for (up = 0; up < 3; up++)
		*strrchr(path, '/') = '\0';
	return (strcat(path, "/judged/judged"));
}

static void
start(void)
{
	const char *path = judged_path();
	struct imsg *m;
	int fds[2], fd;

	memset(&t, 0, sizeof(t));
	t.run_fd = t.explain_fd = -1;
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(channel_pair(fds), 0);
	ck_assert_int_ne(t.pid = fork(), -1);
	if (t.pid == 0) {
		/* dup2 of a number to itself would leave CLOEXEC on it. */
		fd = fcntl(fds[1], F_DUPFD, 20);
		dup2(fd, PROC_CONTROL_FD);
		close_range(PROC_CONTROL_FD + 1, ~0U, 0);
		execl(path, "judged", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	t.control = channel_new(fds[0], CH_CONTROL, END_A, &control_ops, NULL);
	m = imsg_new(MSG_START);
	imsg_put_u32(m, PROTOCOL_VERSION);
	imsg_put_u32(m, TEST_UID);
	imsg_put_u32(m, TEST_UID);
	imsg_put_u32(m, 64);
	imsg_put_u32(m, PROC_F_DEBUG);
	imsg_put_str(m, root);
	imsg_put_str(m, "test");
	ck_assert_int_eq(channel_send(t.control, m), 0);
}

static void
until(struct channel *ch, const int *flag)
{
	while (!*flag)
		ck_assert_int_gt(channel_dispatch_wait(ch, WAIT), 0);
}

static void
send_config(const char *const files[], unsigned n)
{
	struct slice *slice = slice_new();
	char name[64], path[4096];
	struct imsg *m;
	unsigned i;
	int fd;

	ck_assert_ptr_nonnull(slice);
	m = imsg_new(MSG_CONFIG);
	imsg_put_u32(m, 1);
	imsg_put_u32(m, n);
	imsg_put_fd(m, slice_encode(slice, SLICE_ENV));
	ck_assert_int_eq(channel_send(t.control, m), 0);
	slice_free(slice);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s", files[i]);
		ck_assert_int_ne(fd = open(path, O_RDONLY | O_CLOEXEC), -1);
		snprintf(name, sizeof(name), "tool/%s",
		    strrchr(path, '/') + 1);
		*strrchr(name, '.') = '\0';
		m = imsg_new(MSG_CONFIG_FILE);
		imsg_put_u32(m, 1);
		imsg_put_u32(m, i);
		imsg_put_str(m, name);
		imsg_put_fd(m, fd);
		ck_assert_int_eq(channel_send(t.control, m), 0);
	}
}

static void
plumb(void)
{
	struct imsg *m;
	int fds[2];

	ck_assert_int_eq(channel_pair(fds), 0);
	t.judge = channel_new(fds[0], CH_JUDGE, END_A, &judge_ops, NULL);
	channel_set_state(t.judge, ST_NEW);
	t.tools = 0;
	t.ended = t.judge_dead = 0;
	m = imsg_new(MSG_PLUMB);
	imsg_put_u32(m, CH_JUDGE);
	imsg_put_fd(m, fds[1]);
	ck_assert_int_eq(channel_send(t.control, m), 0);
}

static void
commit(void)
{
	struct imsg *m = imsg_new(MSG_COMMIT);

	imsg_put_u32(m, 1);
	ck_assert_int_eq(channel_send(t.control, m), 0);
}

static void
start_whole(void)
{
	static const char *const files[] = {
		TEST_SRCDIR "/judged/tools/exec.json",
		TEST_SRCDIR "/judged/tools/bash.json",
		TEST_SRCDIR "/judged/tools/python.json",
	};

	start();
	plumb();
	send_config(files, 3);
	until(t.control, &t.config_ok);
	commit();
	until(t.control, &t.ready);
	until(t.judge, &t.ended);
	ck_assert_uint_eq(t.tools, 3);
}

static void
finish(void)
{
	int status;

	channel_free(t.judge);
	channel_free(t.control);
	rmdir(root);
	/* It ends when its control channel closes. */
	ck_assert_int_eq(waitpid(t.pid, &status, 0), t.pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "status %#x", status);
}

static void
ask(uint64_t sequence, const char *tool, const void *bytes, size_t size)
{
	struct imsg *m = imsg_new(MSG_JUDGE);
	int had = t.verdicts;

	imsg_put_u64(m, sequence);
	imsg_put_u8(m, STDIN_NONE);
	imsg_put_u8(m, t.flags);
	imsg_put_str(m, tool);
	imsg_put_str(m, "");
	imsg_put_str(m, "uid:1000");
	imsg_put_str(m, "");
	imsg_put_fd(m, memfd_sealed("arguments", bytes, size));
	ck_assert_int_eq(channel_send(t.judge, m), 0);
	while (t.verdicts == had)
		ck_assert_int_gt(channel_dispatch_wait(t.judge, WAIT), 0);
	ck_assert_uint_eq(t.sequence, sequence);
}

/* ---- tests ---- */

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
	tcase_set_timeout(tc, 60);
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
