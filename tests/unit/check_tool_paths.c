/*
 * Paths: what is inside is reached however it is written, what is outside is
 * not, whatever links and names there are.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool_rig.h"
#include "unit.h"

#define DEEP	4096

static char *
join(const char *dir, const char *name)
{
	static char ring[8][1024];
	static unsigned turn;
	char *path = ring[turn++ % 8];

	ck_assert_int_lt(snprintf(path, sizeof(ring[0]), "%s/%s", dir, name),
	    sizeof(ring[0]));
	return (path);
}

static void
make_link(const char *target, const char *name)
{
	ck_assert_int_eq(symlink(target, name), 0);
}

static void
assert_reads(const char *path, const char *text)
{
	struct answer *a = rig_run("read", "{ss}", "path", path);

	ck_assert_msg(a->status == 0, "%s: %s", path, rig_code(a));
	ck_assert_str_eq(a->out, text);
}

/* Each tool that takes a path refuses this one, for that reason. */
static void
assert_refused(const char *path, const char *code)
{
	static const char *const others[] = { "read", "ls" };
	struct answer *a;
	size_t i;

	for (i = 0; i < 2; i++) {
		a = rig_run(others[i], "{ss}", "path", path);
		ck_assert_msg(a->status == 1, "%s %s", others[i], path);
		ck_assert_str_eq(rig_code(a), code);
		ck_assert_uint_eq(a->nout, 0);
	}
	a = rig_run("write", "{ssss}", "path", path, "content", "PWNED");
	ck_assert_msg(a->status == 1, "write %s", path);
	ck_assert_str_eq(rig_code(a), code);
	a = rig_run("write", "{sssssb}", "path", path, "content", "PWNED",
	    "parents", 1);
	ck_assert_str_eq(rig_code(a), code);
	a = rig_run("read", "{sssb}", "path", path, "tar", 1);
	ck_assert_str_eq(rig_code(a), code);
	ck_assert_uint_eq(a->nout, 0);
}

static void
assert_untouched(void)
{
	ck_assert(rig_holds_text(join(rig.outside, "s"), "SECRET"));
	ck_assert_uint_eq(rig_entries(rig.outside), 1);
}

START_TEST(spellings)
{
	char absolute[256], detour[256];
	struct how how = { .args = "{\"path\":\"../f\"}", .nargs = 15 };
	struct answer *a;

	rig_put_text("f", "inside");
	rig_put_text(join(rig.home, "h"), "home");
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	assert_reads("f", "inside");
	assert_reads("./f", "inside");
	assert_reads(".//./f", "inside");
	assert_reads("sub/../f", "inside");
	assert_reads("sub/./..//f", "inside");
	assert_reads("../work/f", "inside");
	assert_reads("../home/h", "home");
	assert_reads("sub/../../home/h", "home");
	assert_reads(join(rig.home, "h"), "home");
	snprintf(absolute, sizeof(absolute), "/..//%s/./f", rig.work);
	assert_reads(absolute, "inside");
	snprintf(detour, sizeof(detour), "/tmp/..%s/f", rig.work);
	assert_reads(detour, "inside");
	how.cwd = join(rig.work, "sub");
	a = rig_run_how("read", &how);
	ck_assert_str_eq(rig_code(a), "");
	ck_assert_str_eq(a->out, "inside");
	ck_assert_str_eq(rig_string(a, "path"), join(rig.work, "f"));
}
END_TEST

START_TEST(outside)
{
	static const char *const paths[] = { "/etc/passwd", "..", "/", "/tmp",
	    "../outside/s", "sub/../../outside/s", "../../../../etc/passwd",
	    "/proc/self/root/etc/passwd", "/proc/self/cwd/f", "/dev/zero",
	    "sub/../../../../../../../etc/passwd", "../work/../outside/s",
	    "/../etc/passwd" };
	size_t i;

	rig_put_text(join(rig.outside, "s"), "SECRET");
	ck_assert_int_eq(mkdir("sub", 0755), 0);
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_refused(paths[i], "outside");
	assert_refused(rig.base, "outside");
	assert_refused(join(rig.outside, "s"), "outside");
	assert_untouched();
}
END_TEST

START_TEST(sibling_prefix)
{
	char *evil = join(rig.base, "work-evil"), *file;

	ck_assert_int_eq(mkdir(evil, 0755), 0);
	rig_put_text(file = join(evil, "s"), "SECRET");
	assert_refused(file, "outside");
	assert_refused("../work-evil/s", "outside");
	make_link("../work-evil/s", "l");
	assert_refused("l", "outside");
	make_link(evil, "a");
	assert_refused("a/s", "outside");
	ck_assert(rig_holds_text(file, "SECRET"));
	ck_assert_uint_eq(rig_entries(evil), 1);
}
END_TEST

START_TEST(links_that_stay)
{
	struct answer *a;

	rig_put_text("f", "inside");
	rig_put_text(join(rig.home, "h"), "home");
	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(mkdir("a/b", 0755), 0);
	rig_put_text("a/t", "beside b");
	make_link("f", "relative");
	make_link(join(rig.work, "f"), "absolute");
	make_link("relative", "chain");
	make_link(join(rig.home, "h"), "across");
	make_link(rig.home, "dir");
	make_link("a/b", "to_b");
	make_link("../work/f", "through");
	make_link("new", "dangling");
	assert_reads("relative", "inside");
	assert_reads("absolute", "inside");
	assert_reads("chain", "inside");
	assert_reads("across", "home");
	assert_reads("dir/h", "home");
	assert_reads("through", "inside");
	/* Not the directory that the link is in, as it would be lexically. */
	assert_reads("to_b/../t", "beside b");
	a = rig_run("read", "{ss}", "path", "to_b/../f");
	ck_assert_str_eq(rig_code(a), "not_found");
	/* Written through, the link stays a link. */
	a = rig_run("write", "{ssss}", "path", "across", "content", "new");
	ck_assert_str_eq(rig_code(a), "");
	ck_assert(rig_holds_text(join(rig.home, "h"), "new"));
	ck_assert_int_gt(readlink("across", (char[256]){ 0 }, 256), 0);
	a = rig_run("write", "{ssss}", "path", "dangling", "content", "x");
	ck_assert_str_eq(rig_code(a), "");
	ck_assert(rig_holds_text("new", "x"));
	a = rig_run("ls", "{ss}", "path", "dir");
	ck_assert_str_eq(rig_code(a), "");
}
END_TEST

START_TEST(links_that_leave)
{
	char *secret = join(rig.outside, "s");
	struct answer *a;

	rig_put_text(secret, "SECRET");
	make_link(secret, "absolute");
	make_link("../outside/s", "relative");
	make_link(rig.outside, "dir");
	make_link("absolute", "chain");
	make_link("dir/s", "twice");
	make_link(join(rig.outside, "new"), "dangling");
	make_link("/proc/self/root/etc/passwd", "root");
	make_link("/proc/self/fd/0", "fd");
	make_link("/proc/self/cwd/f", "cwd");
	make_link("/", "slash");
	make_link("..", "up");
	assert_refused("absolute", "outside");
	assert_refused("relative", "outside");
	assert_refused("dir", "outside");
	assert_refused("dir/s", "outside");
	assert_refused("dir/new/newer", "outside");
	assert_refused("chain", "outside");
	assert_refused("twice", "outside");
	assert_refused("dangling", "outside");
	assert_refused("root", "outside");
	assert_refused("fd", "outside");
	assert_refused("cwd", "outside");
	assert_refused("slash/etc/passwd", "outside");
	assert_refused("up/outside/s", "outside");
	assert_untouched();
	/* Who asks is told where it leads. */
	a = rig_run("write", "{ssss}", "path", "chain", "content", "PWNED");
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(
	    a->result, "error"), "target")), secret);
	a = rig_run("read", "{ss}", "path", "up/outside/s");
	ck_assert_str_eq(json_string_value(json_object_get(json_object_get(
	    a->result, "error"), "target")), secret);
}
END_TEST

START_TEST(links_without_end)
{
	char name[16], target[16];
	int i;

	make_link("loop", "loop");
	assert_refused("loop/f", "bad_path");
	make_link("b", "a");
	make_link("a", "b");
	assert_refused("a", "bad_path");
	rig_put_text("l0", "x");
	for (i = 1; i <= 50; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		snprintf(target, sizeof(target), "l%d", i - 1);
		make_link(target, name);
	}
	assert_reads("l40", "x");
	ck_assert_str_eq(rig_code(rig_run("read", "{ss}", "path", "l50")),
	    "bad_path");
}
END_TEST

/* A workspace below the home, and a home below a workspace. */
START_TEST(nested_roots)
{
	struct how how = { .cwd = rig.home };
	const char *const paths[] = { "../f", "l", "abs", "g" };
	const char *const texts[] = { "outer", "outer", "outer", "inner" };
	struct answer *a;
	char args[64], inner[256];
	int turn, i;

	snprintf(inner, sizeof(inner), "%s/inner", rig.work);
	ck_assert_int_eq(mkdir(inner, 0755), 0);
	rig_put_text("f", "outer");
	rig_put_text("inner/g", "inner");
	make_link("../f", "inner/l");
	make_link(join(rig.work, "f"), "inner/abs");
	make_link("../../outside", "inner/out");
	make_link("inner/g", "in");
	for (turn = 0; turn < 2; turn++) {
		how.home = turn == 0 ? rig.work : inner;
		how.work = turn == 0 ? inner : rig.work;
		how.cwd = inner;
		for (i = 0; i < 4; i++) {
			snprintf(args, sizeof(args), "{\"path\":\"%s\"}",
			    paths[i]);
			how.args = args;
			how.nargs = strlen(args);
			a = rig_run_how("read", &how);
			ck_assert_msg(a->status == 0, "%s: %s", paths[i],
			    rig_code(a));
			ck_assert_str_eq(a->out, texts[i]);
		}
		how.args = "{\"path\":\"out/s\"}";
		how.nargs = strlen(how.args);
		ck_assert_str_eq(rig_code(rig_run_how("read", &how)),
		    "outside");
		how.args = "{\"path\":\"../../outside/s\"}";
		how.nargs = strlen(how.args);
		ck_assert_str_eq(rig_code(rig_run_how("read", &how)),
		    "outside");
		how.cwd = rig.work;
		how.args = "{\"path\":\"in\"}";
		how.nargs = strlen(how.args);
		a = rig_run_how("read", &how);
		ck_assert_str_eq(a->out, "inner");
	}
}
END_TEST

START_TEST(no_workspace)
{
	struct how how = { .cwd = rig.home, .work = "",
	    .args = "{\"path\":\"h\"}", .nargs = 12 };
	char args[256];

	rig_put_text(join(rig.home, "h"), "home");
	rig_put_text("f", "no root now");
	ck_assert_str_eq(rig_run_how("read", &how)->out, "home");
	snprintf(args, sizeof(args), "{\"path\":\"%s/f\"}", rig.work);
	how.args = args;
	how.nargs = strlen(args);
	ck_assert_str_eq(rig_code(rig_run_how("read", &how)), "outside");
}
END_TEST

START_TEST(working_directory)
{
	struct how how = { .cwd = rig.outside, .args = "{\"path\":\"s\"}",
	    .nargs = 12 };
	char args[256];
	struct answer *a;

	rig_put_text(join(rig.outside, "s"), "SECRET");
	ck_assert_str_eq(rig_code(rig_run_how("read", &how)), "outside");
	ck_assert_int_eq(mkdir("gone", 0755), 0);
	ck_assert_int_eq(chdir("gone"), 0);
	ck_assert_int_eq(rmdir("../gone"), 0);
	how.cwd = NULL;
	ck_assert_str_eq(rig_code(rig_run_how("read", &how)), "bad_path");
	rig_put_text(join(rig.work, "f"), "x");
	snprintf(args, sizeof(args), "{\"path\":\"%s/f\"}", rig.work);
	how.args = args;
	how.nargs = strlen(args);
	a = rig_run_how("read", &how);
	ck_assert_str_eq(a->out, "x");
}
END_TEST

START_TEST(no_regular_files)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	static const char *const names[] = { "fifo", "socket", "link" };
	struct answer *a;
	int fd, i;

	ck_assert_int_eq(mkfifo("fifo", 0666), 0);
	make_link("fifo", "link");
	strcpy(sun.sun_path, "socket");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	for (i = 0; i < 3; i++) {
		a = rig_run("read", "{ss}", "path", names[i]);
		ck_assert_str_eq(rig_code(a), "not_a_file");
		a = rig_run("read", "{sssi}", "path", names[i],
		    "byte_offset", 0);
		ck_assert_str_eq(rig_code(a), "not_a_file");
		a = rig_run("write", "{ssss}", "path", names[i], "content",
		    "x");
		ck_assert_str_eq(rig_code(a), "not_a_file");
		a = rig_run("ls", "{ss}", "path", names[i]);
		ck_assert_str_eq(rig_code(a), "not_a_directory");
	}
	ck_assert_int_eq(mkdir("d", 0755), 0);
	a = rig_run("read", "{ss}", "path", "d");
	ck_assert_str_eq(rig_code(a), "is_a_directory");
	a = rig_run("write", "{ssss}", "path", "d", "content", "x");
	ck_assert_str_eq(rig_code(a), "is_a_directory");
	a = rig_run("write", "{ssss}", "path", ".", "content", "x");
	ck_assert_str_eq(rig_code(a), "is_a_directory");
	rig_put_text("f", "x");
	a = rig_run("read", "{ss}", "path", "f/g");
	ck_assert_str_eq(rig_code(a), "not_a_directory");
	a = rig_run("ls", "{ss}", "path", "f");
	ck_assert_str_eq(rig_code(a), "not_a_directory");
	close(fd);
}
END_TEST

/* Nobody who waits at the other end of a FIFO is woken. */
START_TEST(a_fifo_is_not_opened)
{
	static const char *const tools[] = { "read", "ls", "write" };
	struct answer *a;
	pid_t pid;
	int i;

	ck_assert_int_eq(mkfifo("fifo", 0666), 0);
	if ((pid = fork()) == 0) {
		alarm(RIG_SECONDS);
		(void)open("fifo", O_WRONLY | O_CLOEXEC);
		_exit(0);
	}
	ck_assert_int_gt(pid, 0);
	(void)poll(NULL, 0, 50);
	for (i = 0; i < 3; i++) {
		a = rig_run(tools[i], "{ss}", "path", "fifo");
		ck_assert_int_eq(a->status, 1);
		ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	}
	/* It would have noticed. */
	i = open("fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(i);
}
END_TEST

/* What ls gives back names the same file again, whatever bytes it has. */
START_TEST(odd_names)
{
	static const char *const names[] = { "a\nb", "\xff\xfe", "  lead",
	    "\x1b[2Jx", "--help", "-rf", "\\n", "\xe2\x80\xae" "txt", "\"q\"",
	    "trail ", "\xc3\xa9", "a\x80" "b", "*", "$(id)", "\x01" };
	const size_t n = sizeof(names) / sizeof(names[0]);
	json_t *entries, *entry, *bytes, *kept;
	struct answer *a;
	size_t i, k;
	char *p;

	for (i = 0; i < n; i++)
		rig_put_text(names[i], names[i]);
	a = rig_run("ls", "{}");
	ck_assert_str_eq(rig_code(a), "");
	/* A line for each, and nothing that a terminal obeys. */
	for (k = 0, p = a->out; *p != '\0'; p++) {
		k += *p == '\n';
		ck_assert(*p == '\n' || (unsigned char)*p >= 0x20);
	}
	ck_assert_uint_eq(k, n);
	kept = json_incref(json_object_get(a->result, "entries"));
	entries = kept;
	ck_assert_uint_eq(json_array_size(entries), n);
	for (k = 0; k < n; k++) {
		entry = json_array_get(entries, k);
		bytes = json_object_get(entry, "name_base64");
		if (bytes != NULL)
			a = rig_run("read", "{sO}", "path_base64", bytes);
		else
			a = rig_run("read", "{sO}", "path",
			    json_object_get(entry, "name"));
		ck_assert_msg(a->status == 0, "%zu: %s", k, rig_code(a));
		for (i = 0; i < n; i++)
			if (strcmp(a->out, names[i]) == 0)
				break;
		ck_assert_uint_lt(i, n);
	}
	json_decref(kept);
	a = rig_run("write", "{ssss}", "path_base64", "L/7=", "content", "");
	ck_assert_str_eq(rig_code(a), "bad_argument");
	a = rig_run("write", "{ssss}", "path_base64", "//4=", "content", "y");
	ck_assert_str_eq(rig_code(a), "");
	ck_assert(rig_holds_text("\xff\xfe", "y"));
	ck_assert_ptr_nonnull(json_object_get(a->result, "path_base64"));
}
END_TEST

START_TEST(bad_paths)
{
	static char path[70000], name[300];
	struct answer *a;

	a = rig_run("read", "{ss}", "path", "");
	ck_assert_str_eq(rig_code(a), "bad_path");
	a = rig_run("read", "{ss#}", "path", "f\0g", 3);
	ck_assert_str_eq(rig_code(a), "bad_path");
	a = rig_run("read", "{ss}", "path_base64", "ZgBn");
	ck_assert_str_eq(rig_code(a), "bad_path");
	memset(name, 'n', 256);
	a = rig_run("read", "{ss}", "path", name);
	ck_assert_str_eq(rig_code(a), "bad_path");
	a = rig_run("write", "{ssss}", "path", name, "content", "");
	ck_assert_str_eq(rig_code(a), "bad_path");
	memset(path, 'n', 66000);
	a = rig_run("read", "{ss}", "path", path);
	ck_assert_str_eq(rig_code(a), "bad_path");
	a = rig_run("read", "{}");
	ck_assert_str_eq(rig_code(a), "bad_argument");
	a = rig_run("read", "{ssss}", "path", "f", "path_base64", "Zg==");
	ck_assert_str_eq(rig_code(a), "bad_argument");
}
END_TEST

/* Twice as long as the kernel takes a path at once. */
START_TEST(deep)
{
	static char path[2 * DEEP + 16], absolute[2 * DEEP + 256];
	struct answer *a;
	int i;

	for (i = 0; i < DEEP; i++) {
		memcpy(path + 2 * i, "d/", 2);
		ck_assert_int_eq(mkdir("d", 0755), 0);
		ck_assert_int_eq(chdir("d"), 0);
	}
	rig_put_text("f", "deep");
	ck_assert_int_eq(chdir(rig.work), 0);
	strcpy(path + 2 * DEEP, "f");
	assert_reads(path, "deep");
	snprintf(absolute, sizeof(absolute), "%s/%s", rig.work, path);
	assert_reads(absolute, "deep");
	a = rig_run("write", "{ssss}", "path", path, "content", "deeper");
	ck_assert_str_eq(rig_code(a), "");
	assert_reads(path, "deeper");
	path[2 * DEEP] = '\0';
	a = rig_run("ls", "{ss}", "path", path);
	ck_assert_str_eq(rig_code(a), "");
	ck_assert_int_eq(rig_int(a, "total"), 1);
	a = rig_run("ls", "{sssi}", "path", ".", "depth", 32);
	ck_assert_int_eq(rig_int(a, "total"), 32);
	a = rig_run("read", "{sssb}", "path", ".", "tar", 1);
	ck_assert_str_eq(rig_code(a), "too_large");
	for (i = 0; i < DEEP; i++)
		ck_assert_int_eq(chdir("d"), 0);
	ck_assert_int_eq(unlink("f"), 0);
	for (i = 0; i < DEEP; i++) {
		ck_assert_int_eq(chdir(".."), 0);
		ck_assert_int_eq(rmdir("d"), 0);
	}
}
END_TEST

/* As deep, but made by the tool. */
START_TEST(deep_parents)
{
	static char path[2 * DEEP + 16];
	struct answer *a;
	int i;

	for (i = 0; i < DEEP; i++)
		memcpy(path + 2 * i, "d/", 2);
	strcpy(path + 2 * DEEP, "f");
	a = rig_run("write", "{sssssb}", "path", path, "content", "x",
	    "parents", 1);
	ck_assert_str_eq(rig_code(a), "");
	assert_reads(path, "x");
	for (i = 0; i < DEEP; i++)
		ck_assert_int_eq(chdir("d"), 0);
	ck_assert_int_eq(unlink("f"), 0);
	for (i = 0; i < DEEP; i++) {
		ck_assert_int_eq(chdir(".."), 0);
		ck_assert_int_eq(rmdir("d"), 0);
	}
}
END_TEST

START_TEST(hard_links)
{
	char *other = join(rig.outside, "s");
	struct answer *a;

	rig_put_text(other, "SECRET");
	ck_assert_int_eq(link(other, "f"), 0);
	a = rig_run("write", "{ssss}", "path", "f", "content", "mine");
	ck_assert_str_eq(rig_code(a), "");
	ck_assert(rig_holds_text("f", "mine"));
	assert_untouched();
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("neuron-tool, paths");
	TCase *tc = tcase_create("paths");

	tcase_add_checked_fixture(tc, rig_setup, rig_teardown);
	tcase_add_test(tc, spellings);
	tcase_add_test(tc, outside);
	tcase_add_test(tc, sibling_prefix);
	tcase_add_test(tc, links_that_stay);
	tcase_add_test(tc, links_that_leave);
	tcase_add_test(tc, links_without_end);
	tcase_add_test(tc, nested_roots);
	tcase_add_test(tc, no_workspace);
	tcase_add_test(tc, working_directory);
	tcase_add_test(tc, no_regular_files);
	tcase_add_test(tc, a_fifo_is_not_opened);
	tcase_add_test(tc, odd_names);
	tcase_add_test(tc, bad_paths);
	tcase_add_test(tc, deep);
	tcase_add_test(tc, deep_parents);
	tcase_add_test(tc, hard_links);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
