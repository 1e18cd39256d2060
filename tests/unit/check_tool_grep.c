/*
 * grep: what it finds and what it leaves out, and that nothing in its
 * arguments is more than data.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>

#include "grep_hits.h"
#include "grep_json.h"
#include "grep_run.h"
#include "tool_body.h"
#include "unit.h"

static const struct body body = { "grep", body_grep, BODY_EXEC };

/* Of a processor, by what was run here. */
static double
seconds(void)
{
	struct rusage u;

	ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &u), 0);
	return ((double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
}

static void
put(const char *path, const char *text)
{
	put_file(path, text, strlen(text));
}

#define SAYS(expected, ...) do {					\
	struct outcome o_ = body_run(&body, __VA_ARGS__);		\
									\
	ck_assert_msg(o_.status == 0, "%s", outcome_error(&o_, "message")); \
	ck_assert_str_eq(o_.out, expected);				\
	outcome_free(&o_);						\
} while (0)

#define REFUSED(code_, ...) do {					\
	struct outcome o_ = body_run(&body, __VA_ARGS__);		\
									\
	ck_assert_int_eq(o_.status, 1);					\
	ck_assert_str_eq(outcome_error(&o_, "code"), code_);		\
	outcome_free(&o_);						\
} while (0)

static void
tree(void)
{
	ck_assert(mkdir("src", 0755) == 0 && mkdir("src/lib", 0755) == 0 &&
	    mkdir("build", 0755) == 0 && mkdir(".git", 0755) == 0);
	put("src/a.c", "int a;\nint foo;\nint b;\n");
	put("src/lib/b.h", "foo\r\nbar\r\n");
	put("build/out.c", "foo\n");
	put(".hidden", "foo\n");
	put("src/.env", "foo\n");
	put(".gitignore", "/build/\n");
	put(".git/config", "foo\n");
	put("-77", "-77\n--pre=/bin/sh\n");
	put_file("bin", "foo\n\0foo\n", 9);
	ck_assert(symlink("src", "link") == 0 &&
	    symlink("/etc/passwd", "out") == 0 && mkfifo("fifo", 0600) == 0);
}

START_TEST(finds)
{
	struct outcome o;
	const json_t *m;

	tree();
	SAYS("src/a.c:2:int foo;\nsrc/lib/b.h:1:foo\n", "{ss}", "pattern",
	    "foo");
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "^foo$", "path", ".");
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "foo", "path",
	    "src/lib");
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "foo", "path",
	    "src/lib/");
	SAYS("src/a.c:2:int foo;\n", "{ssss}", "pattern", "foo", "path",
	    "src/a.c");
	/* a link that was named is followed, one in the tree is not */
	SAYS("link/a.c:2:int foo;\nlink/lib/b.h:1:foo\n", "{ssss}", "pattern",
	    "foo", "path", "link");
	SAYS("src/a.c:2:int foo;\n", "{sssssb}", "pattern", "FOO;",
	    "glob", "*.c", "ignore_case", 1);
	SAYS("", "{sssb}", "pattern", "fo.", "fixed", 1);
	SAYS("src/lib/b.h:2:bar\n", "{ss}", "pattern", "ba[r]");
	SAYS("src/a.c\nsrc/lib/b.h\n", "{sssb}", "pattern", "foo",
	    "files_only", 1);
	SAYS("src/a.c-1-int a;\nsrc/a.c:2:int foo;\nsrc/a.c-3-int b;\n--\n"
	    "src/lib/b.h:1:foo\nsrc/lib/b.h-2-bar\n", "{sssi}", "pattern",
	    "foo", "context", 1);
	SAYS("", "{ss}", "pattern", "nowhere to be found");
	o = body_run(&body, "{sssi}", "pattern", "foo", "context", 1);
	m = json_object_get(o.result, "matches");
	ck_assert_uint_eq(json_array_size(m), 5);
	ck_assert(json_is_true(json_object_get(json_array_get(m, 0),
	    "context")));
	ck_assert_ptr_null(json_object_get(json_array_get(m, 1), "context"));
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(m,
	    1), "path")), "src/a.c");
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(m,
	    1), "line")), 2);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(m,
	    3), "text")), "foo");
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "count")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "file_count")), 2);
	ck_assert(json_is_false(json_object_get(o.result, "more")));
	outcome_free(&o);
}
END_TEST

START_TEST(globs)
{
	tree();
	put("src/x.log", "foo\n");
	put(".gitignore", "*.log\n/build/\n");
	/* a glob brings nothing back that is ignored or hidden */
	SAYS("", "{ssss}", "pattern", "foo", "glob", "*.log");
	SAYS("src/a.c:2:int foo;\nsrc/lib/b.h:1:foo\n", "{ssss}", "pattern",
	    "foo", "glob", "*");
	SAYS("src/a.c:2:int foo;\n", "{ssss}", "pattern", "foo", "glob",
	    "*.c");
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "foo", "glob",
	    "!*.c");
	SAYS("src/a.c:2:int foo;\nsrc/lib/b.h:1:foo\n", "{ssss}", "pattern",
	    "foo", "glob", "*.{c,h}");
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "foo", "glob",
	    "src/lib/*");
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "foo", "glob",
	    "**/lib/[a-c].h");
	SAYS("src/.env:1:foo\n", "{ssss}", "pattern", "foo", "glob", ".env");
	/* what looks like a directive of rg's types is none */
	SAYS("", "{ssss}", "pattern", "foo", "glob", "include:c");
	SAYS("src/x.log:1:foo\n", "{sssssb}", "pattern", "foo", "glob",
	    "*.log", "ignored", 1);
	REFUSED("bad_argument", "{ssss}", "pattern", "foo", "glob",
	    "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}");
}
END_TEST

START_TEST(ignored_ones)
{
	struct outcome o;
	const json_t *b;

	tree();
	SAYS("src/lib/b.h:1:foo\n", "{ssss}", "pattern", "foo", "path",
	    "src/lib");
	SAYS("", "{ssss}", "pattern", "foo", "glob", "bin");
	o = body_run(&body, "{sssb}", "pattern", "^foo", "ignored", 1);
	ck_assert_int_eq(o.status, 0);
	ck_assert_msg(strstr(o.out, ".git/config:1:foo\n") != NULL &&
	    strstr(o.out, ".hidden:1:foo\n") != NULL &&
	    strstr(o.out, "build/out.c:1:foo\n") != NULL &&
	    strstr(o.out, "bin: a binary file\n") != NULL &&
	    strstr(o.out, "fifo") == NULL && strstr(o.out, "link") == NULL,
	    "%s", o.out);
	b = json_object_get(o.result, "binary");
	ck_assert_uint_eq(json_array_size(b), 1);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(b,
	    0), "path")), "bin");
	outcome_free(&o);
	/* a directory that is ignored may be named */
	SAYS("build/out.c:1:foo\n", "{sssssb}", "pattern", "foo", "path",
	    "build", "ignored", 1);
}
END_TEST

START_TEST(is_data)
{
	tree();
	ck_assert_int_eq(setenv("RIPGREP_CONFIG_PATH", "rc", 1), 0);
	put("rc", "--pre=/bin/false\n--invert-match\n");
	SAYS("-77:1:-77\n", "{ss}", "pattern", "-77");
	SAYS("-77:2:--pre=/bin/sh\n", "{ss}", "pattern", "--pre=/bin/sh");
	SAYS("-77:1:-77\n", "{ssss}", "pattern", "7", "path", "-77");
	SAYS("-77:1:-77\n", "{ssss}", "pattern", "7", "glob", "-77");
	SAYS("", "{ssss}", "pattern", "7", "glob", "--files");
	SAYS("", "{ss}", "pattern", "--files");
	REFUSED("not_found", "{ssss}", "pattern", "x", "path", "--help");
	REFUSED("bad_argument", "{ss%}", "pattern", "a\0b", (size_t)3);
}
END_TEST

START_TEST(refuses)
{
	char pattern[8000];
	struct outcome o;
	size_t i, n;

	tree();
	REFUSED("outside", "{ssss}", "pattern", "root", "path", "out");
	REFUSED("outside", "{ssss}", "pattern", "root", "path", "/etc");
	REFUSED("outside", "{ssss}", "pattern", "x", "path", "../..");
	REFUSED("not_a_file", "{ssss}", "pattern", "x", "path", "fifo");
	REFUSED("not_found", "{ssss}", "pattern", "x", "path", "none");
	o = body_run(&body, "{ss}", "pattern", "(");
	ck_assert_int_eq(o.status, 1);
	ck_assert_str_eq(outcome_error(&o, "code"), "bad_argument");
	ck_assert_msg(strstr(outcome_error(&o, "said"), "unclosed group") !=
	    NULL, "%s", outcome_error(&o, "said"));
	outcome_free(&o);
	/* its message is cut, within a character for one of the two */
	for (i = 0; i < 2; i++) {
		memset(pattern, 'x', sizeof(pattern));
		pattern[0] = '(';
		for (n = 1 + i; n < sizeof(pattern) - 2; n += 2)
			memcpy(pattern + n, "\xc3\xa9", 2);
		pattern[n] = '\0';
		o = body_run(&body, "{ss}", "pattern", pattern);
		ck_assert_int_eq(o.status, 1);
		ck_assert_str_eq(outcome_error(&o, "code"), "bad_argument");
		outcome_free(&o);
	}
	o = body_run(&body, "{ss}", "pattern", "a\nb");
	ck_assert_int_eq(o.status, 1);
	outcome_free(&o);
}
END_TEST

START_TEST(names_are_lossless)
{
	struct outcome o;
	const json_t *m;

	put("a\nb", "foo\n");
	put("\xff\xfe", "foo \xff\n");
	put("\x1b[2Jx", "foo\n");
	o = body_run(&body, "{ss}", "pattern", "foo");
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(o.out, "\\x1b[2Jx:1:foo\na\\nb:1:foo\n"
	    "\\xff\\xfe:1:foo \xff\n");
	m = json_object_get(o.result, "matches");
	ck_assert_uint_eq(json_array_size(m), 3);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(m,
	    1), "path")), "a\nb");
	m = json_array_get(m, 2);
	ck_assert_str_eq(json_string_value(json_object_get(m,
	    "path_base64")), "//4=");
	ck_assert_str_eq(json_string_value(json_object_get(m,
	    "text_base64")), "Zm9vIP8=");
	outcome_free(&o);
	SAYS("\\x1b[2Jx\na\\nb\n\\xff\\xfe\n", "{sssb}", "pattern", "foo",
	    "files_only", 1);
}
END_TEST

START_TEST(limits)
{
	char text[4096] = "";
	struct outcome o;
	int i;

	for (i = 0; i < 300; i++)
		strcat(text, "foo\nx\n");
	for (i = 0; i < 5; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%d", i);
		put(name, text);
	}
	o = body_run(&body, "{sssi}", "pattern", "foo", "limit", 7);
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "count")), 7);
	ck_assert(json_is_true(json_object_get(o.result, "more")));
	outcome_free(&o);
	o = body_run(&body, "{sssi}", "pattern", "foo", "limit", 1500);
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "count")), 1500);
	ck_assert(json_is_false(json_object_get(o.result, "more")));
	outcome_free(&o);
	o = body_run(&body, "{sssisi}", "pattern", "foo", "limit", 1,
	    "context", 1);
	ck_assert_uint_eq(json_array_size(json_object_get(o.result,
	    "matches")), 2);
	outcome_free(&o);
	o = body_run(&body, "{sssisb}", "pattern", "foo", "limit", 3,
	    "files_only", 1);
	ck_assert_uint_eq(json_array_size(json_object_get(o.result,
	    "files")), 3);
	ck_assert(json_is_true(json_object_get(o.result, "more")));
	outcome_free(&o);
}
END_TEST

/* Lines of any length: their begin, or what is around the match. */
START_TEST(long_lines)
{
	const size_t size = 4 << 20;
	char *text = malloc(size + 1), expected[4096];
	struct outcome o;
	const json_t *m;
	double begin = seconds();
	size_t i;

	memset(text, 'x', size);
	memcpy(text, "head", 4);
	memcpy(text + 100000, "needle", 6);
	memcpy(text + size - 7, "foot\nq", 6);
	put_file("f", text, size - 1);
	o = body_run(&body, "{ss}", "pattern", "head");
	ck_assert_msg(o.status == 0, "%s", outcome_error(&o, "message"));
	m = json_array_get(json_object_get(o.result, "matches"), 0);
	ck_assert_uint_eq(json_string_length(json_object_get(m, "text")),
	    HIT_TEXT_MAX);
	ck_assert(json_is_true(json_object_get(m, "cut")));
	ck_assert_int_eq(json_integer_value(json_object_get(m, "line")), 1);
	memset(expected, 'x', sizeof(expected));
	memcpy(expected, "f:1:head", 8);
	strcpy(expected + 4 + HIT_TEXT_MAX, " [...]\n");
	ck_assert_str_eq(o.out, expected);
	outcome_free(&o);
	/* the number behind the line is found in any case */
	o = body_run(&body, "{ss}", "pattern", "q");
	m = json_array_get(json_object_get(o.result, "matches"), 0);
	ck_assert_int_eq(json_integer_value(json_object_get(m, "line")), 2);
	outcome_free(&o);
	/* far to the right, in a line that is held whole */
	put_file("f", text, 200000);
	o = body_run(&body, "{ss}", "pattern", "needle");
	m = json_array_get(json_object_get(o.result, "matches"), 0);
	ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(m,
	    "text")), "needle"));
	ck_assert_int_eq(json_integer_value(json_object_get(m, "skipped")),
	    99800);
	ck_assert_ptr_eq(strstr(o.out, "f:1:[...] xxx"), o.out);
	outcome_free(&o);
	/* 1 MiB of x and CR in turn, with a match at every other byte */
	for (i = 0; i < 1 << 20; i++)
		text[i] = i % 2 == 0 ? 'x' : '\r';
	put_file("f", text, 1 << 20);
	o = body_run(&body, "{ss}", "pattern", "x");
	ck_assert_msg(o.status == 0, "%s", outcome_error(&o, "message"));
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "count")), 1);
	outcome_free(&o);
	ck_assert_msg(seconds() - begin < 15, "%.1f s", seconds() - begin);
	free(text);
}
END_TEST

/* More than the result may hold: whole lines, and more is true. */
START_TEST(result_is_bounded)
{
	const size_t size = 16 << 20;
	char *text = malloc(size), *json;
	struct outcome o;
	size_t i;

	for (i = 0; i < size; i++)
		text[i] = i % 1500 == 1499 ? '\n' : '\x01';
	put_file("f", text, size);
	o = body_run(&body, "{sssi}", "pattern", "\\x01", "limit", 10000);
	ck_assert_msg(o.status == 0, "%s", outcome_error(&o, "message"));
	ck_assert(json_is_true(json_object_get(o.result, "more")));
	json = json_dumps(o.result, JSON_COMPACT);
	ck_assert_uint_le(strlen(json), RESULT_BYTES_MAX);
	ck_assert_uint_gt(strlen(json), RESULT_BYTES_MAX / 2);
	free(json);
	outcome_free(&o);
	free(text);
}
END_TEST

/* ---- what rg may do ---- */

/* A link that is there for the moments that rg might look. */
START_TEST(swapped_directory)
{
	char out[] = "/tmp/check-tool-out-XXXXXX", to[64];
	struct outcome o;
	pid_t pid;
	int i;

	ck_assert_ptr_nonnull(mkdtemp(out));
	snprintf(to, sizeof(to), "%s/f", out);
	put(to, "SECRET\n");
	ck_assert_int_eq(mkdir("d", 0755), 0);
	put("d/f", "plain\n");
	ck_assert_int_eq(symlink(out, "l"), 0);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		for (;;)
			(void)renameat2(AT_FDCWD, "d", AT_FDCWD, "l",
			    RENAME_EXCHANGE);
	}
	for (i = 0; i < 300; i++) {
		o = body_run(&body, "{sssssb}", "pattern", "SECRET|plain",
		    "path", i % 2 == 0 ? "." : "d", "ignored", 1);
		ck_assert_msg(strstr(o.out, "SECRET") == NULL, "%s", o.out);
		outcome_free(&o);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	snprintf(to, sizeof(to), "rm -rf %s", out);
	ck_assert_int_eq(system(to), 0);
}
END_TEST

/*
 * The domain itself: what rg would be led to by a link is not readable.  Its
 * --follow stands for the moment in which a directory becomes a link.
 */
static int
count_output(void *arg, const char *bytes, size_t len)
{
	(void)bytes;
	*(size_t *)arg += len;
	return (0);
}

static size_t
followed(const char *pattern)
{
	struct tool t = { .body = &body };
	struct rg_run r = { .dir = -1, .file = -1,
	    .time_ms = RG_TIME_MS, .argv = { "rg",
	    "--no-config", "--follow", "--no-messages", "-e", pattern, "--",
	    "." } };
	int fds[2], status;
	size_t n = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	if ((pid = fork()) == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		t.result = json_object();
		r.root = r.dir = open(body_home, O_RDONLY | O_DIRECTORY);
		r.output = count_output;
		r.arg = &n;
		if (rg_run(&t, &r) == -1)
			_exit(1);
		_exit(write(fds[1], &n, sizeof(n)) != sizeof(n));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(fds[0], &n, sizeof(n)), sizeof(n));
	close(fds[0]);
	close(fds[1]);
	return (n);
}

START_TEST(reads_one_root)
{
	static const char both[] = "./inside:SECRET\n./l:SECRET\n";
	char out[] = "/tmp/check-tool-out-XXXXXX", to[64];

	ck_assert_ptr_nonnull(mkdtemp(out));
	snprintf(to, sizeof(to), "%s/f", out);
	put(to, "SECRET\n");
	put("inside", "SECRET\n");
	ck_assert_int_eq(symlink("inside", "l"), 0);
	ck_assert_uint_eq(followed("SECRET"), sizeof(both) - 1);
	ck_assert_int_eq(symlink(out, "out"), 0);
	ck_assert_uint_eq(followed("SECRET"), sizeof(both) - 1);
	snprintf(to, sizeof(to), "rm -rf %s", out);
	ck_assert_int_eq(system(to), 0);
}
END_TEST

/* Once rg runs, neither a program nor a socket is to be had here. */
static int
try_all(void *arg, const char *bytes, size_t len)
{
	int *bits = arg;
	char *none[] = { NULL };

	(void)bytes;
	(void)len;
	*bits |= 1;
	if (execve("/bin/true", none, none) == -1 && errno == EPERM)
		*bits |= 2;
	if (socket(AF_UNIX, SOCK_STREAM, 0) == -1 && errno == EPERM)
		*bits |= 4;
	if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == -1 && errno == EPERM)
		*bits |= 8;
	return (0);
}

START_TEST(gives_up_exec)
{
	struct tool t = { .body = &body };
	struct rg_run r = { .dir = -1, .file = -1,
	    .time_ms = RG_TIME_MS, .argv = { "rg",
	    "--version" } };
	int status, bits = 0;
	pid_t pid;

	if ((pid = fork()) == 0) {
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		t.result = json_object();
		r.root = open(body_home, O_RDONLY | O_DIRECTORY);
		r.output = try_all;
		r.arg = &bits;
		_exit(rg_run(&t, &r) == -1 ? 1 : bits);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 15);
}
END_TEST

/* One that does not end is left behind in time, and does not outlive us. */
START_TEST(ends_in_time)
{
	struct tool t = { .body = &body };
	struct rg_run r = { .dir = -1, .time_ms = 300, .argv = { "rg",
	    "--no-config", "-e", "x", "--", "-" } };
	int fds[2], status, i;
	size_t n = 0;
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	if ((pid = fork()) == 0) {
		/* what rg waits for, and what is closed once it is gone */
		r.file = fds[0];
		(void)fcntl(fds[1], F_SETFD, FD_CLOEXEC);
		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		t.result = json_object();
		r.root = open(body_home, O_RDONLY | O_DIRECTORY);
		r.output = count_output;
		r.arg = &n;
		if (rg_run(&t, &r) == -1)
			_exit(1);
		_exit(r.stop == RG_LATE ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	/* nobody reads the pipe any more */
	close(fds[0]);
	(void)signal(SIGPIPE, SIG_IGN);
	c = 'x';
	for (i = 0; i < 6000 && write(fds[1], &c, 1) == 1; i++)
		(void)usleep(10000);
	ck_assert_int_lt(i, 6000);
	ck_assert_int_eq(errno, EPIPE);
	close(fds[1]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("grep");
	TCase *tc = tcase_create("body");

	tcase_add_checked_fixture(tc, body_setup, body_teardown);
	tcase_add_test(tc, finds);
	tcase_add_test(tc, globs);
	tcase_add_test(tc, ignored_ones);
	tcase_add_test(tc, is_data);
	tcase_add_test(tc, refuses);
	tcase_add_test(tc, names_are_lossless);
	tcase_add_test(tc, limits);
	tcase_add_test(tc, long_lines);
	tcase_add_test(tc, result_is_bounded);
	tcase_add_test(tc, swapped_directory);
	tcase_add_test(tc, reads_one_root);
	tcase_add_test(tc, gives_up_exec);
	tcase_add_test(tc, ends_in_time);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
