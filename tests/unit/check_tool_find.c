/*
 * find: globs against a naive matcher, .gitignore against ripgrep's, and
 * trees that are deep, wide, hostile or changing.
 */
#include "config.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "find_ignore.h"
#include "globs.h"
#include "tool_body.h"
#include "unit.h"

static const struct body body = { "find", body_find, 0 };

/* ---- globs ---- */

static int
matches(const char *pattern, const char *name, unsigned flags)
{
	const char *why = "";
	struct glob *g = glob_make(pattern, strlen(pattern), flags, &why);
	int r;

	ck_assert_msg(g != NULL, "%s: %s", pattern, why);
	r = glob_match(g, name, strlen(name));
	glob_free(g);
	return (r);
}

static const struct {
	const char	*pattern, *name;
	int		 match;
} globs[] = {
	{ "", "", 1 }, { "", "a", 0 }, { "a", "a", 1 }, { "a", "ab", 0 },
	{ "*", "", 1 }, { "*", "abc", 1 }, { "*.c", "a.c", 1 },
	{ "*.c", ".c", 1 }, { "*.c", "a.cc", 0 }, { "a*b*c", "aXbYc", 1 },
	{ "a*b*c", "aXbY", 0 }, { "?", "a", 1 }, { "?", "", 0 },
	{ "?", "\xc3\xa9", 1 }, { "??", "\xc3\xa9", 0 }, { "?", "\xff", 1 },
	{ "[a-c]x", "bx", 1 }, { "[a-c]x", "dx", 0 }, { "[!a-c]", "d", 1 },
	{ "[^a-c]", "b", 0 }, { "[]a]", "]", 1 }, { "[a-]", "-", 1 },
	{ "[\\]]", "]", 1 }, { "[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", 1 },
	{ "[a", "[a", 1 }, { "a\\*", "a*", 1 }, { "a\\*", "ab", 0 },
	{ "\\", "\\", 1 }, { "-delete", "-delete", 1 },
	{ "{a,b}.c", "b.c", 1 }, { "{a,b}.c", "c.c", 0 },
	{ "*.{c,h}", "x.h", 1 }, { "{a,{b,c}d}", "cd", 1 },
	{ "{a,{b,c}d}", "b", 0 }, { "{,x}y", "y", 1 }, { "{", "{", 1 },
	{ "a}", "a}", 1 }, { "\\{a,b}", "{a,b}", 1 }, { "[{]x", "{x", 1 },
	{ "**", "a/b", 1 }, { "a/**", "a/b/c", 1 }, { "a/**", "a", 0 },
	{ "a/**", "a/", 0 }, { "**/a", "a", 1 }, { "**/a", "b/c/a", 1 },
	{ "**/a", "ba", 0 }, { "a/**/b", "a/b", 1 },
	{ "a/**/b", "a/x/y/b", 1 }, { "a/**/b", "axb", 0 },
	{ "a**b", "axxb", 1 }, { "a**b", "a/b", 0 }, { "*", "a/b", 0 },
	{ "?", "/", 0 }, { "[!a]", "/", 0 }, { "*.c", "d/a.c", 0 },
	{ "*a", "/a", 0 },
};

START_TEST(glob)
{
	ck_assert_int_eq(matches(globs[_i].pattern, globs[_i].name,
	    GLOB_BRACES), globs[_i].match);
}
END_TEST

/* One star, ?, and letters: the definition, word for word. */
static int
naive(const char *p, const char *s)
{
	if (*p == '\0')
		return (*s == '\0');
	if (*p == '*')
		return (naive(p + 1, s) ||
		    (*s != '\0' && *s != '/' && naive(p, s + 1)));
	if (*s == '\0')
		return (0);
	return ((*p == *s || (*p == '?' && *s != '/')) && naive(p + 1, s + 1));
}

static void
random_text(char *to, size_t max, const char *of)
{
	size_t n = (size_t)rand() % (max + 1);

	to[n] = '\0';
	while (n-- > 0)
		to[n] = of[(size_t)rand() % strlen(of)];
}

START_TEST(globs_as_defined)
{
	char pattern[16], name[16];
	int i;

	srand(3);
	for (i = 0; i < 200000; i++) {
		random_text(pattern, 7, "ab*?");
		random_text(name, 9, "aab/");
		/* this means directories where nothing else is beside it */
		if (strcmp(pattern, "**") == 0)
			continue;
		ck_assert_msg(matches(pattern, name, 0) == naive(pattern,
		    name), "%s %s", pattern, name);
	}
}
END_TEST

static double
seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

START_TEST(globs_are_bounded)
{
	char pattern[GLOB_BYTES_MAX + 2], name[4096];
	double begin = seconds();
	const char *why;
	size_t i;

	for (i = 0; i < 2000; i++)
		pattern[i] = i % 2 == 0 ? '*' : 'a';
	strcpy(pattern + i, "b");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(matches(pattern, name, 0), 0);
	ck_assert_msg(seconds() - begin < 2, "%.1f s", seconds() - begin);
	memset(pattern, 'a', sizeof(pattern));
	ck_assert_ptr_null(glob_make(pattern, GLOB_BYTES_MAX + 1, 0, &why));
	ck_assert_str_eq(why, "it is longer than 4096 bytes");
	for (i = 0; i < 4000; i += 5)
		memcpy(pattern + i, "{a,b}", 5);
	ck_assert_ptr_null(glob_make(pattern, 4000, GLOB_BRACES, &why));
	ck_assert_str_eq(why, "its braces stand for more than 64 patterns");
	memset(pattern, '{', 4000);
	glob_free(glob_make(pattern, 4000, GLOB_BRACES, &why));
	ck_assert_msg(seconds() - begin < 4, "%.1f s", seconds() - begin);
}
END_TEST

/* ---- the answer ---- */

/* The paths of an answer, each with a newline. */
static char *
paths(const struct outcome *o)
{
	const json_t *entries = json_object_get(o->result, "entries");
	const char *path;
	char *text = calloc(1, 4 << 20);
	size_t i, len = 0;

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(o->status == 0, "%s", outcome_error(o, "message"));
	for (i = 0; i < json_array_size(entries); i++) {
		path = json_string_value(json_object_get(
		    json_array_get(entries, i), "path"));
		len += (size_t)sprintf(text + len, "%s\n", path);
	}
	ck_assert_uint_eq((size_t)json_integer_value(json_object_get(
	    o->result, "count")), i);
	return (text);
}

#define FINDS(expected, ...) do {					\
	struct outcome o_ = body_run(&body, __VA_ARGS__);		\
	char *paths_ = paths(&o_);					\
									\
	ck_assert_str_eq(paths_, expected);				\
	free(paths_);							\
	outcome_free(&o_);						\
} while (0)

static void
make(const char *path)
{
	put_file(path, "", 0);
}

static void
tree(void)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "sock" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ck_assert(mkdir("src", 0755) == 0 && mkdir("src/lib", 0755) == 0 &&
	    mkdir(".git", 0755) == 0 && mkdir("empty", 0755) == 0);
	make("src/a.c");
	make("src/lib/b.c");
	make("src/lib/b.h");
	make("-delete");
	make(".hidden");
	make(".git/config");
	put_file("size", "12345", 5);
	ck_assert(symlink("src", "link") == 0 && symlink(".", "src/up") == 0 &&
	    symlink("/etc", "out") == 0 && mkfifo("fifo", 0600) == 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	close(fd);
}

START_TEST(finds)
{
	struct outcome o;

	tree();
	FINDS("-delete\nempty\nfifo\nlink\nout\nsize\nsock\nsrc\nsrc/a.c\n"
	    "src/lib\nsrc/lib/b.c\nsrc/lib/b.h\nsrc/up\n", "{}");
	FINDS("src/a.c\nsrc/lib/b.c\n", "{ss}", "name", "*.c");
	FINDS("src/a.c\nsrc/lib/b.c\nsrc/lib/b.h\n", "{ss}", "name",
	    "*.{c,h}");
	FINDS("src/lib/b.c\n", "{ss}", "name", "src/**/b.c");
	FINDS("-delete\n", "{ss}", "name", "-delete");
	FINDS("src/lib/b.c\nsrc/lib/b.h\n", "{ss}", "path", "src/lib");
	FINDS("src/lib/b.c\nsrc/lib/b.h\n", "{ss}", "path", "src/lib/");
	FINDS("link/a.c\nlink/lib\nlink/up\n", "{sssi}", "path", "link",
	    "depth", 1);
	FINDS("empty\nsrc\nsrc/lib\n", "{ss}", "type", "directory");
	FINDS("link\nout\nsrc/up\n", "{ss}", "type", "link");
	FINDS("fifo\nsock\n", "{ss}", "type", "other");
	FINDS(".hidden\n", "{ss}", "name", ".h*");
	FINDS(".git\n.git/config\n", "{sssb}", "name", "{.g,conf}i[tg]",
	    "ignored", 1);
	FINDS("", "{ss}", "name", "none");
	FINDS("-delete\nempty\n", "{si}", "limit", 2);
	o = body_run(&body, "{sssi}", "name", "s*", "limit", 2);
	ck_assert_str_eq(o.out, "size\nsock\n");
	ck_assert(json_is_true(json_object_get(o.result, "more")));
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(
	    json_object_get(o.result, "entries"), 0), "size")), 5);
	outcome_free(&o);
	o = body_run(&body, "{sssi}", "name", "s*", "limit", 3);
	ck_assert(json_is_false(json_object_get(o.result, "more")));
	ck_assert_str_eq(o.out, "size\nsock\nsrc/\n");
	outcome_free(&o);
}
END_TEST

START_TEST(refuses)
{
	struct outcome o;

	tree();
#define REFUSED(p, code_) do {						\
	o = body_run(&body, "{ss}", "path", p);				\
	ck_assert_int_eq(o.status, 1);					\
	ck_assert_str_eq(outcome_error(&o, "code"), code_);		\
	outcome_free(&o);						\
} while (0)
	REFUSED("out", "outside");
	REFUSED("../..", "outside");
	REFUSED("/etc", "outside");
	REFUSED("size", "not_a_directory");
	REFUSED("fifo", "not_a_directory");
	REFUSED("none", "not_found");
#undef REFUSED
	o = body_run(&body, "{ss}", "type", "block");
	ck_assert_str_eq(outcome_error(&o, "code"), "bad_argument");
	outcome_free(&o);
}
END_TEST

START_TEST(names_are_lossless)
{
	static const char *const names[] = { "  lead", "\x1b[2Jx", "a\nb",
	    "\xff\xfe" };
	struct outcome o;
	const json_t *e;
	size_t i;

	for (i = 0; i < 4; i++)
		make(names[i]);
	o = body_run(&body, "{}");
	ck_assert_int_eq(o.status, 0);
	e = json_object_get(o.result, "entries");
	ck_assert_uint_eq(json_array_size(e), 4);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(e,
	    0), "path")), names[1]);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(e,
	    1), "path")), names[0]);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(e,
	    2), "path")), names[2]);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(e,
	    3), "path_base64")), "//4=");
	/* the text has no control characters but the line ends */
	ck_assert_str_eq(o.out, "\\x1b[2Jx\n  lead\na\\nb\n\\xff\\xfe\n");
	outcome_free(&o);
}
END_TEST

START_TEST(ignores)
{
	tree();
	put_file(".gitignore", "*.h\r\n/src/a.c\nempty/\n\\-delete\n"
	    "# no\n!x.h\nsize \n", 46);
	make("x.h");
	make("size ");
	FINDS(".gitignore\n", "{ss}", "name", ".gitignore");
	FINDS("size \nsrc\nsrc/lib\nsrc/lib/b.c\nx.h\n", "{ss}", "name",
	    "[!fo]*[!kpt]");
	/* rules above the directory that is searched count as well */
	FINDS("src/lib\nsrc/lib/b.c\n", "{ssss}", "path", "src",
	    "name", "[!u]*");
	FINDS("src/lib/b.c\nsrc/lib/b.h\n", "{sssb}", "path", "src/lib",
	    "ignored", 1);
	/* but not those above a repository */
	ck_assert_int_eq(mkdir("src/.git", 0755), 0);
	ck_assert_int_eq(mkdir("src/.git/info", 0755), 0);
	put_file("src/.git/info/exclude", "b.c\n", 4);
	FINDS("src/a.c\nsrc/lib/b.h\n", "{ssss}", "path", "src", "name",
	    "*.[ch]");
	/* one that is no file must not be waited for */
	ck_assert_int_eq(unlink(".gitignore"), 0);
	ck_assert_int_eq(mkfifo(".gitignore", 0600), 0);
	FINDS("empty\n", "{ss}", "name", "e*");
}
END_TEST

/* ---- .gitignore as ripgrep has it ---- */

static int
by_bytes(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (strcmp(*x, *y));
}

/* What "rg --files" lists, sorted, each path with a newline. */
static char *
ripgrep(void)
{
	static const char command[] = "rg --no-config --files --no-require-git"
	    " --no-ignore-dot --no-ignore-global --no-ignore-messages"
	    " --no-messages";
	char *text = calloc(1, 1 << 20), *line[4096] = { NULL };
	char sorted[65536];
	FILE *fp = popen(command, "r");
	size_t n = 0, len, i;
	char *p;

	ck_assert(text != NULL && fp != NULL);
	len = fread(text, 1, (1 << 20) - 1, fp);
	pclose(fp);
	text[len] = '\0';
	for (p = strtok(text, "\n"); p != NULL; p = strtok(NULL, "\n"))
		line[n++] = p;
	qsort(line, n, sizeof(line[0]), by_bytes);
	for (len = 0, i = 0; i < n; i++)
		len += (size_t)sprintf(sorted + len, "%s\n", line[i]);
	sorted[len] = '\0';
	strcpy(text, sorted);
	return (text);
}

static void
random_tree(void)
{
	static const char *const dirs[] = { "a", "b", "a/a", "a/b", "b/c",
	    "a/b/a", "a/b/c" };
	static const char *const files[] = { "a", "b", "x.c", "y.o", "c",
	    "ab" };
	char path[64], rules[256], rule[16];
	size_t i, j, n;

	for (i = 0; i < 7; i++)
		mkdir(dirs[i], 0755);
	for (i = 0; i < 8; i++) {
		for (j = 0; j < 6; j++) {
			snprintf(path, sizeof(path), "%s/%s",
			    i == 7 ? "." : dirs[i], files[j]);
			if (rand() % 2 == 0)
				close(open(path, O_CREAT | O_WRONLY, 0644));
		}
		if (rand() % 4 == 0) {
			snprintf(path, sizeof(path), "%s/.git",
			    i == 7 ? "." : dirs[i]);
			mkdir(path, 0755);
		}
		if (rand() % 2 == 0)
			continue;
		snprintf(path, sizeof(path), "%s/.gitignore",
		    i == 7 ? "." : dirs[i]);
		rules[0] = '\0';
		for (n = (size_t)rand() % 5; n > 0; n--) {
			random_text(rule, 6, "aabcx./*?!");
			if (rand() % 4 == 0)
				strcat(rule, "/");
			/* of which ripgrep makes "everything" */
			if (rule[strspn(rule, "!/")] == '\0' ||
			    strstr(rule, "//") != NULL)
				continue;
			strcat(rules, rule);
			strcat(rules, "\n");
		}
		put_file(path, rules, strlen(rules));
	}
}

START_TEST(rules_as_ripgrep_has_them)
{
	char *expected, *got, command[192];
	struct outcome o;
	int i;

	for (i = 0; i < 150; i++) {
		srand((unsigned)i);
		random_tree();
		expected = ripgrep();
		o = body_run(&body, "{ss}", "type", "file");
		got = paths(&o);
		if (strcmp(got, expected) != 0) {
			(void)!system("grep -rn '' --include=.gitignore . "
			    ">&2; find . -name .git >&2");
			ck_abort_msg("tree %d\n%s\n---\n%s", i, got, expected);
		}
		free(got);
		free(expected);
		outcome_free(&o);
		snprintf(command, sizeof(command), "rm -rf %s/* %s/.g*",
		    body_home, body_home);
		ck_assert_int_eq(system(command), 0);
	}
}
END_TEST

/* ---- trees ---- */

/* A directory in a directory and so on; the working directory is the last. */
static void
go_down(int levels)
{
	int i;

	for (i = 0; i < levels; i++) {
		ck_assert_int_eq(mkdir("dd", 0755), 0);
		ck_assert_int_eq(chdir("dd"), 0);
	}
}

static void
remove_deep(void)
{
	char command[192];

	snprintf(command, sizeof(command), "rm -rf %s/dd", body_home);
	ck_assert_int_eq(chdir(body_home), 0);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(deep_tree)
{
	struct rlimit few = { 32, 32 };
	struct outcome o;
	const json_t *e;

	go_down(4200);
	make("bottom");
	ck_assert_int_eq(chdir(body_home), 0);
	make("zz");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	o = body_run(&body, "{ss}", "name", "[bz]*");
	ck_assert_msg(o.status == 0, "%s", outcome_error(&o, "message"));
	e = json_object_get(o.result, "entries");
	ck_assert_uint_eq(json_array_size(e), 2);
	ck_assert_uint_eq(strlen(json_string_value(json_object_get(
	    json_array_get(e, 0), "path"))), 4200 * 3 + 6);
	ck_assert_ptr_null(json_object_get(o.result, "unread"));
	outcome_free(&o);
	remove_deep();
}
END_TEST

/* Memory goes with the answer, not with the tree. */
START_TEST(wide_directory)
{
	struct rlimit small = { 48 << 20, 48 << 20 };
	char name[32], text[64];
	struct outcome o;
	char *got;
	int i;

	ck_assert_int_eq(mkdir("w", 0755), 0);
	for (i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "w/file%06d", i);
		close(open(name, O_CREAT | O_WRONLY, 0644));
	}
#ifndef WITH_SANITIZERS
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &small), 0);
#endif
	(void)small;
	o = body_run(&body, "{sssi}", "path", "w", "limit", 3);
	got = paths(&o);
	ck_assert_str_eq(got, "w/file000000\nw/file000001\nw/file000002\n");
	ck_assert(json_is_true(json_object_get(o.result, "more")));
	free(got);
	outcome_free(&o);
	o = body_run(&body, "{ss}", "name", "*099999");
	got = paths(&o);
	snprintf(text, sizeof(text), "w/file099999\n");
	ck_assert_str_eq(got, text);
	free(got);
	outcome_free(&o);
}
END_TEST

/* Somebody moves directories out of the tree, and links in, meanwhile. */
START_TEST(moving_tree)
{
	char out[] = "/tmp/check-tool-out-XXXXXX", to[64];
	struct outcome o;
	pid_t pid;
	int i;

	ck_assert_ptr_nonnull(mkdtemp(out));
	snprintf(to, sizeof(to), "%s/x", out);
	go_down(40);
	ck_assert_int_eq(chdir(body_home), 0);
	snprintf(to, sizeof(to), "%s/secret", out);
	put_file(to, "", 0);
	snprintf(to, sizeof(to), "%s/x", out);
	pid = fork();
	ck_assert_int_ne(pid, -1);
	if (pid == 0) {
		for (i = 0; i < 2000000; i++) {
			(void)!rename("dd/dd/dd", to);
			(void)!symlink(out, "dd/dd/dd");
			(void)!unlink("dd/dd/dd");
			(void)!rename(to, "dd/dd/dd");
		}
		_exit(0);
	}
	for (i = 0; i < 300; i++) {
		o = body_run(&body, "{ssss}", "path", "dd", "name", "secret");
		ck_assert_int_eq(o.status, 0);
		ck_assert_int_eq(json_integer_value(json_object_get(o.result,
		    "count")), 0);
		outcome_free(&o);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	(void)!rename(to, "dd/dd/dd");
	remove_deep();
	snprintf(to, sizeof(to), "rm -rf %s", out);
	ck_assert_int_eq(system(to), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("find");
	TCase *tc = tcase_create("globs");

	tcase_add_loop_test(tc, glob, 0,
	    (int)(sizeof(globs) / sizeof(globs[0])));
	tcase_add_test(tc, globs_as_defined);
	tcase_add_test(tc, globs_are_bounded);
	suite_add_tcase(s, tc);
	tc = tcase_create("body");
	tcase_add_checked_fixture(tc, body_setup, body_teardown);
	tcase_add_test(tc, finds);
	tcase_add_test(tc, refuses);
	tcase_add_test(tc, names_are_lossless);
	tcase_add_test(tc, ignores);
	tcase_add_test(tc, rules_as_ripgrep_has_them);
	tcase_add_test(tc, deep_tree);
	tcase_add_test(tc, wide_directory);
	tcase_add_test(tc, moving_tree);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
