/*
 * judged as a process, with supervisord and policyd played.
 */
#include <sys/wait.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "judged_rig.h"
#include "proc.h"
#include "slice.h"
#include "unit.h"

struct judged_rig t;

#define TEST_UID	65533

static char root[] = "/tmp/check-judged-XXXXXX";

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

void
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

void
until(struct channel *ch, const int *flag)
{
	while (!*flag)
		ck_assert_int_gt(channel_dispatch_wait(ch, WAIT), 0);
}

void
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

void
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

void
commit(void)
{
	struct imsg *m = imsg_new(MSG_COMMIT);

	imsg_put_u32(m, 1);
	ck_assert_int_eq(channel_send(t.control, m), 0);
}

void
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

void
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

void
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
