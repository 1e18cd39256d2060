/*
 * edit: what is replaced, what is left alone, and what is refused, for the
 * engine against a naive model and for the body on files.
 */
#include <sys/stat.h>
#include <time.h>

#include "edit.h"
#include "edit_text.h"
#include "patch.h"
#include "tool_body.h"
#include "unit.h"

static const struct body body = { "edit", body_edit, 0 };

static enum edit_end
edit1(const char *text, size_t len, const char *old, const char *new, int all,
    struct edit_out *out)
{
	struct edit_one e = { old, strlen(old), new, strlen(new), all };

	return (edit_text(text, len, &e, 1, 1 << 20, out));
}

static const struct {
	const char	*text, *old, *new, *result;
	int		 all;
} done[] = {
	{ "abc", "b", "x", "axc", 0 },
	{ "abc", "abc", "", "", 0 },
	{ "aaa", "a", "bb", "bbbbbb", 1 },
	{ "aaaa", "aa", "b", "bb", 1 },
	{ "a\nb\n", "\n", "", "ab", 1 },
	/* a line end of old matches CR LF, and what is written gets it */
	{ "\xef\xbb\xbf" "a\r\nb\r\nc\r\n", "a\nb", "a\nX",
	    "\xef\xbb\xbf" "a\r\nX\r\nc\r\n", 0 },
	{ "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", 0 },
	{ "a\r\nb", "b", "b\nc", "a\r\nb\r\nc", 0 },
	{ "a\r\nb\r\n", "a\n", "", "b\r\n", 0 },
	{ "a\r\nb\r\n", "\nb", "\nc", "a\r\nc\r\n", 0 },
	{ "a\r\nb\r\n", "a\nb\n", "a\nx\nb\n", "a\r\nx\r\nb\r\n", 0 },
	{ "x\r\n\r\ny", "x\n\ny", "x\ny", "x\r\ny", 0 },
	/* mixed: each place has its own, what was not replaced stays */
	{ "a\nb\r\nc\nd\r\n", "b\nc", "b\nX", "a\nb\r\nX\nd\r\n", 0 },
	{ "a\nb\r\nc\nd\r\n", "a\nb\nc\nd", "1\n2\n3\n4",
	    "1\n2\r\n3\n4\r\n", 0 },
	{ "a\r\nb\n", "b", "x\ny", "a\r\nx\ny\n", 0 },
	{ "a\nb\r\n", "b", "x\ny", "a\nx\r\ny\r\n", 0 },
	{ "k\r\nk\nk\r\n", "k\n", "k;\n", "k;\r\nk;\nk;\r\n", 1 },
	{ "k\r\nk\nk\r\n", "k", "k\nl", "k\r\nl\r\nk\nl\nk\r\nl\r\n", 1 },
	/* no lines: LF */
	{ "ab", "b", "x\ny", "ax\ny", 0 },
	/* a CR in old or new: byte for byte */
	{ "a\r\nb\r\n", "a\r\nb", "x\ny", "x\ny\r\n", 0 },
	{ "a\r\nb\r\n", "\r\n", "\n", "a\nb\n", 1 },
	{ "a\nb\n", "a\n", "a\r\n", "a\r\nb\n", 0 },
	{ "a\rb\r\n", "\r", "", "ab\n", 1 },
	{ "a\r\r\nb", "\nb", "b", "a\rb", 0 },
	{ "a\rb", "a\rb", "c", "c", 0 },
	/* bytes that are no UTF-8 */
	{ "\xff\xfe" "a\x80", "a", "b", "\xff\xfe" "b\x80", 0 },
	{ "x\xc3\xa9", "\xc3", "\xc4", "x\xc4\xa9", 0 },
};

START_TEST(replaces)
{
	struct edit_out out;

	ck_assert_int_eq(edit1(done[_i].text, strlen(done[_i].text),
	    done[_i].old, done[_i].new, done[_i].all, &out), EDIT_DONE);
	ck_assert_uint_eq(out.len, strlen(done[_i].result));
	ck_assert_msg(memcmp(out.text, done[_i].result, out.len) == 0,
	    "%.*s", (int)out.len, out.text);
	free(out.text);
}
END_TEST

static const struct {
	const char	*text, *old, *hint;
} missed[] = {
	{ "a\n\tb = 1;\n", "    b = 1;", "but for white space it matches at "
	    "line 2" },
	{ "x\na b\n", "a  b", "but for white space it matches at line 2" },
	{ "x\nfoo(a,\n    b)\n", "foo(a, b)",
	    "but for white space it matches at line 2" },
	{ "a\xc2\xa0" "b", "a b", "but for white space it matches at line 1" },
	{ "1\n2\na\nb\n", "a\r\nb", "but for line ends it matches at line 3: "
	    "give it with LF alone" },
	{ "1\nFoo\n", "foo", "but for upper and lower case it matches at "
	    "line 2" },
	{ "abc", "\xef\xbb\xbf" "abc", "without the byte order mark it "
	    "matches" },
	{ "q\nint main()\n{\n\treturn 0;\n}\n",
	    "int main()\n{\n\treturn 1;\n}\n", "its first 2 lines are at line "
	    "2, what follows there is different" },
	{ "abc", "xyz", "" },
	{ "", "a", "" },
	{ "abc", " \n", "" },
};

START_TEST(hints)
{
	struct edit_out out;

	ck_assert_int_eq(edit1(missed[_i].text, strlen(missed[_i].text),
	    missed[_i].old, "", 0, &out), EDIT_NO_MATCH);
	ck_assert_str_eq(out.hint, missed[_i].hint);
	ck_assert_ptr_null(out.text);
}
END_TEST

START_TEST(not_unique)
{
	struct edit_out out;
	char many[200];
	size_t i;

	ck_assert_int_eq(edit1("a\nb\na\r\nc\na", 11, "a", "x", 0, &out),
	    EDIT_NOT_UNIQUE);
	ck_assert_uint_eq(out.count, 3);
	ck_assert_uint_eq(out.nlines, 3);
	ck_assert_uint_eq(out.line[0], 1);
	ck_assert_uint_eq(out.line[1], 3);
	ck_assert_uint_eq(out.line[2], 5);
	/* overlapping ones are ambiguous too */
	ck_assert_int_eq(edit1("aaa", 3, "aa", "x", 0, &out),
	    EDIT_NOT_UNIQUE);
	ck_assert_uint_eq(out.count, 2);
	/* LF and CR LF look the same to who wrote old */
	ck_assert_int_eq(edit1("a\nb a\r\nb", 8, "a\nb", "x", 0, &out),
	    EDIT_NOT_UNIQUE);
	for (i = 0; i < sizeof(many); i++)
		many[i] = i % 2 == 0 ? 'a' : '\n';
	ck_assert_int_eq(edit1(many, sizeof(many), "a", "x", 0, &out),
	    EDIT_NOT_UNIQUE);
	ck_assert_uint_eq(out.count, 100);
	ck_assert_uint_eq(out.nlines, EDIT_LINES_MAX);
	ck_assert_uint_eq(out.line[EDIT_LINES_MAX - 1], EDIT_LINES_MAX);
}
END_TEST

START_TEST(several)
{
	struct edit_one e[3] = {
		{ "a", 1, "b", 1, 0 },
		{ "bb", 2, "c", 1, 0 },		/* what the first one made */
		{ "c", 1, "dd", 2, 0 }
	};
	struct edit_out out;

	ck_assert_int_eq(edit_text("ab", 2, e, 3, 100, &out), EDIT_DONE);
	ck_assert_uint_eq(out.len, 2);
	ck_assert(memcmp(out.text, "dd", 2) == 0);
	ck_assert_uint_eq(out.replacements, 3);
	free(out.text);
	e[2].old = "x";
	ck_assert_int_eq(edit_text("ab", 2, e, 3, 100, &out), EDIT_NO_MATCH);
	ck_assert_uint_eq(out.which, 2);
	ck_assert_ptr_null(out.text);
}
END_TEST

START_TEST(bound)
{
	struct edit_one e = { "a", 1, "bbbb", 4, 1 };
	struct edit_out out;

	ck_assert_int_eq(edit_text("aaaa", 4, &e, 1, 16, &out), EDIT_DONE);
	ck_assert_uint_eq(out.len, 16);
	free(out.text);
	ck_assert_int_eq(edit_text("aaaa", 4, &e, 1, 15, &out),
	    EDIT_TOO_LARGE);
	ck_assert_ptr_null(out.text);
}
END_TEST

/* ---- against a model that is too plain to be wrong ---- */

struct model {
	char		 text[4096];
	size_t		 len, matches, replaced;
};

/* Replaces byte for byte; counts as the engine does. */
static void
model_edit(struct model *m, const char *text, size_t len, const char *old,
    const char *new, int all)
{
	size_t n = strlen(old), i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < len;) {
		if (len - i >= n && memcmp(text + i, old, n) == 0 &&
		    (all || m->replaced == 0)) {
			memcpy(m->text + m->len, new, strlen(new));
			m->len += strlen(new);
			m->replaced++;
			i += n;
		} else
			m->text[m->len++] = text[i++];
	}
	for (i = 0; i + n <= len; i++)
		m->matches += memcmp(text + i, old, n) == 0;
}

static size_t
random_text(char *to, size_t max, const char *of)
{
	size_t i, n = (size_t)rand() % (max + 1);

	for (i = 0; i < n; i++)
		to[i] = of[(size_t)rand() % strlen(of)];
	to[n] = '\0';
	return (n);
}

static size_t
with_crlf(char *to, const char *from, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (from[i] == '\n')
			to[n++] = '\r';
		to[n++] = from[i];
	}
	return (n);
}

static size_t
without_crlf(char *to, const char *from, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (from[i] != '\r' || i + 1 == len || from[i + 1] != '\n')
			to[n++] = from[i];
	}
	return (n);
}

static void
same_as_model(const struct model *m, enum edit_end end, int all,
    const char *text, size_t len, const struct edit_out *out)
{
	if (m->matches == 0) {
		ck_assert_int_eq(end, EDIT_NO_MATCH);
	} else if (m->matches > 1 && !all) {
		ck_assert_int_eq(end, EDIT_NOT_UNIQUE);
		ck_assert_uint_eq(out->count, m->matches);
	} else {
		ck_assert_int_eq(end, EDIT_DONE);
		ck_assert_uint_eq(out->replacements, m->replaced);
		ck_assert_uint_eq(len, m->len);
		ck_assert(memcmp(text, m->text, len) == 0);
	}
}

START_TEST(as_the_model)
{
	char text[128], old[8], new[16], crlf[256], plain[4096];
	struct edit_out out;
	struct model m;
	enum edit_end end;
	size_t len, n;
	int i, all;

	srand(11);
	for (i = 0; i < 100000; i++) {
		len = random_text(text, 40, "ab\n");
		while (random_text(old, 4, "ab\n") == 0)
			;
		random_text(new, 6, "abc\n");
		all = rand() % 2;
		model_edit(&m, text, len, old, new, all);
		/* LF alone */
		end = edit1(text, len, old, new, all, &out);
		same_as_model(&m, end, all, out.text, out.len, &out);
		free(out.text);
		/* all lines with CR LF: the same, with CR LF */
		n = with_crlf(crlf, text, len);
		end = edit1(crlf, n, old, new, all, &out);
		n = end == EDIT_DONE ?
		    without_crlf(plain, out.text, out.len) : 0;
		same_as_model(&m, end, all, plain, n, &out);
		/* only a text without any line can have got LF alone */
		if (end == EDIT_DONE && memchr(text, '\n', len) != NULL)
			ck_assert_uint_eq(with_crlf(crlf, plain, n), out.len);
		free(out.text);
		/* some: the same but for CR */
		for (n = 0; n < len; n++) {
			if (text[n] == '\n' && rand() % 2 == 0)
				break;
		}
		memcpy(crlf, text, n);
		n += with_crlf(crlf + n, text + n, len - n);
		end = edit1(crlf, n, old, new, all, &out);
		n = end == EDIT_DONE ?
		    without_crlf(plain, out.text, out.len) : 0;
		same_as_model(&m, end, all, plain, n, &out);
		free(out.text);
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

START_TEST(work_is_bounded)
{
	const size_t size = 1 << 20;
	char *text = malloc(size), *old = malloc(size / 2 + 2);
	struct edit_out out;
	double begin = seconds();
	size_t i;

	ck_assert(text != NULL && old != NULL);
	/* each place is the begin of a match that nearly is one */
	memset(text, 'a', size);
	memset(old, 'a', size / 2);
	strcpy(old + size / 2, "b");
	ck_assert_int_eq(edit1(text, size, old, "", 0, &out), EDIT_NO_MATCH);
	old[size / 2] = '\0';
	ck_assert_int_eq(edit1(text, size, old, "", 0, &out),
	    EDIT_NOT_UNIQUE);
	ck_assert_uint_eq(out.count, size - size / 2 + 1);
	/* one line of x and CR in turn, line ends put into each place */
	for (i = 0; i < size; i++)
		text[i] = i % 2 == 0 ? 'x' : '\r';
	ck_assert_int_eq(edit1(text, size, "x", "\n", 1, &out),
	    EDIT_DONE);
	ck_assert_uint_eq(out.replacements, size / 2);
	free(out.text);
	/* lines that all are like the first of old */
	for (i = 0; i < size; i++)
		text[i] = i % 3 == 2 ? '\n' : 'a';
	memcpy(old, text, size / 2);
	memcpy(old + size / 4 - 1, "Q", 1);
	old[size / 2] = '\0';
	ck_assert_int_eq(edit1(text, size, old, "", 0, &out), EDIT_NO_MATCH);
	ck_assert_msg(seconds() - begin < 2, "%.1f s", seconds() - begin);
	free(text);
	free(old);
}
END_TEST

/* ---- the body ---- */

static void
file_is(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_RDONLY);
	size_t n;
	char *text;

	ck_assert_int_ne(fd, -1);
	text = body_read_all(fd, &n);
	ck_assert_uint_eq(n, len);
	ck_assert(memcmp(text, bytes, len) == 0);
	free(text);
}

static const char *
member(const struct outcome *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o->result, name));

	return (s == NULL ? "" : s);
}

START_TEST(edits_a_file)
{
	static const char before[] = "\xef\xbb\xbf" "a\r\nb\r\nc\r\n";
	static const char after[] = "\xef\xbb\xbf" "a\r\nX\r\nc\r\n";
	static const char diff[] = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n"
	    " \xef\xbb\xbf" "a\r\n-b\r\n+X\r\n c\r\n";
	struct outcome o;
	struct stat st;

	put_file("f", before, sizeof(before) - 1);
	ck_assert_int_eq(chmod("f", 0750), 0);
	o = body_run(&body, "{sssssssb}", "path", "f", "old", "a\nb",
	    "new", "a\nX", "all", 0);
	ck_assert_msg(o.status == 0, "%s", outcome_error(&o, "message"));
	file_is("f", after, sizeof(after) - 1);
	ck_assert_int_eq(stat("f", &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0750);
	ck_assert_str_eq(o.out, diff);
	ck_assert_str_eq(member(&o, "diff"), diff);
	ck_assert_str_eq(member(&o, "eol"), "crlf");
	ck_assert(json_is_true(json_object_get(o.result, "bom")));
	ck_assert(json_is_false(json_object_get(o.result, "diff_cut")));
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "replacements")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(o.result,
	    "bytes")), sizeof(after) - 1);
	ck_assert_str_ne(member(&o, "sha256"), member(&o, "old_sha256"));
	outcome_free(&o);
}
END_TEST

START_TEST(all_or_nothing)
{
	struct outcome o;

	put_file("f", "one\ntwo\n", 8);
	o = body_run(&body, "{sss[{ssss}{ssss}]}", "path", "f", "edits",
	    "old", "one", "new", "1", "old", "Three", "new", "3");
	ck_assert_int_eq(o.status, 1);
	ck_assert_str_eq(outcome_error(&o, "code"), "no_match");
	ck_assert_msg(strncmp(outcome_error(&o, "message"), "edit 2 of 2: ",
	    13) == 0, "%s", outcome_error(&o, "message"));
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(
	    o.result, "error"), "edit")), 2);
	outcome_free(&o);
	file_is("f", "one\ntwo\n", 8);
	o = body_run(&body, "{sss[{ssss}{ssss}]}", "path", "f", "edits",
	    "old", "one", "new", "1", "old", "1\ntwo", "new", "2");
	ck_assert_int_eq(o.status, 0);
	outcome_free(&o);
	file_is("f", "2\n", 2);
}
END_TEST

START_TEST(expects)
{
	/* of the six bytes "hello\n" */
	static const char digest[] = "5891b5b522d5df086d0ff0b110fbd9d2"
	    "1bb4fc7163af34d08286a2e846f6be03";
	struct outcome o;

	put_file("f", "hello\n", 6);
	o = body_run(&body, "{ssssssss}", "path", "f", "old", "h", "new", "j",
	    "expect", digest);
	ck_assert_int_eq(o.status, 0);
	ck_assert_str_eq(member(&o, "old_sha256"), digest);
	outcome_free(&o);
	o = body_run(&body, "{ssssssss}", "path", "f", "old", "j", "new", "k",
	    "expect", digest);
	ck_assert_int_eq(o.status, 1);
	ck_assert_str_eq(outcome_error(&o, "code"), "changed");
	outcome_free(&o);
	file_is("f", "jello\n", 6);
}
END_TEST

START_TEST(refuses)
{
	struct outcome o;
	char *large = calloc(1, EDIT_BYTES_MAX + 1);

	put_file("f", "a\na\n", 4);
	put_file("large", large, EDIT_BYTES_MAX + 1);
	free(large);
	ck_assert_int_eq(mkfifo("p", 0600), 0);
	ck_assert_int_eq(mkdir("d", 0700), 0);
	ck_assert_int_eq(symlink("/etc/passwd", "l"), 0);
#define REFUSED(p, o_, code_) do {					\
	o = body_run(&body, "{ssssss}", "path", p, "old", o_, "new", "x"); \
	ck_assert_int_eq(o.status, 1);					\
	ck_assert_str_eq(outcome_error(&o, "code"), code_);		\
	outcome_free(&o);						\
} while (0)
	REFUSED("f", "", "bad_argument");
	REFUSED("f", "a", "not_unique");
	REFUSED("f", "b", "no_match");
	REFUSED("none", "a", "not_found");
	REFUSED("p", "a", "not_a_file");
	REFUSED("d", "a", "is_a_directory");
	REFUSED("l", "root", "outside");
	REFUSED("../../etc/passwd", "root", "outside");
	REFUSED("large", "a", "too_large");
#undef REFUSED
	file_is("f", "a\na\n", 4);
}
END_TEST

START_TEST(is_in_time)
{
	const size_t size = 100 * 1024;
	char *text = malloc(size);
	double begin;
	struct outcome o;
	size_t i;

	for (i = 0; i < size; i++)
		text[i] = i % 40 == 39 ? '\n' : (char)('a' + i % 23);
	memcpy(text + size / 2, "NEEDLE", 6);
	put_file("f", text, size);
	begin = seconds();
	o = body_run(&body, "{ssssss}", "path", "f", "old", "NEEDLE", "new",
	    "thread");
	ck_assert_int_eq(o.status, 0);
	ck_assert_msg(seconds() - begin < 1, "%.3f s", seconds() - begin);
	outcome_free(&o);
	free(text);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("edit");
	TCase *tc = tcase_create("text");

	tcase_add_loop_test(tc, replaces, 0,
	    (int)(sizeof(done) / sizeof(done[0])));
	tcase_add_loop_test(tc, hints, 0,
	    (int)(sizeof(missed) / sizeof(missed[0])));
	tcase_add_test(tc, not_unique);
	tcase_add_test(tc, several);
	tcase_add_test(tc, bound);
	tcase_add_test(tc, as_the_model);
	tcase_add_test(tc, work_is_bounded);
	suite_add_tcase(s, tc);
	tc = tcase_create("body");
	tcase_add_checked_fixture(tc, body_setup, body_teardown);
	tcase_add_test(tc, edits_a_file);
	tcase_add_test(tc, all_or_nothing);
	tcase_add_test(tc, expects);
	tcase_add_test(tc, refuses);
	tcase_add_test(tc, is_in_time);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
