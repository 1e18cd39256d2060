/*
 * diff.h: the format to the byte, that a diff makes the new text out of the
 * old one whatever the two are, and that its work is bounded.
 */
#include <time.h>

#include "diff.h"
#include "patch.h"
#include "unit.h"

static struct diff_text
diff_of(const char *a, size_t na, const char *b, size_t nb, size_t max)
{
	struct diff_text d;

	ck_assert_int_eq(diff_unified(a, na, b, nb, "f", 1, max, &d), 0);
	ck_assert_uint_le(d.len, max);
	ck_assert_int_eq(d.text[d.len], '\0');
	return (d);
}

static void
applies(const char *a, size_t na, const char *b, size_t nb)
{
	struct diff_text d = diff_of(a, na, b, nb, (size_t)1 << 28);
	size_t len = 0;
	char *made = patch_apply(a, na, d.text, d.len, &len);

	ck_assert_msg(made != NULL, "not a diff of it:\n%s", d.text);
	ck_assert_uint_eq(len, nb);
	ck_assert(memcmp(made, b, nb) == 0);
	ck_assert_int_eq(d.cut, 0);
	free(made);
	free(d.text);
}

#define HEAD	"--- a/f\n+++ b/f\n"

static const struct {
	const char	*a, *b, *diff;
} texts[] = {
	{ "", "", "" },
	{ "a\n", "a\n", "" },
	{ "", "a\n", HEAD "@@ -0,0 +1 @@\n+a\n" },
	{ "a\n", "", HEAD "@@ -1 +0,0 @@\n-a\n" },
	{ "a\nb\n", "a\nc\n", HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+c\n" },
	{ "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
	    HEAD "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n" },
	{ "a", "a\n", HEAD "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n"
	    "+a\n" },
	{ "a\nb", "x\nb", HEAD "@@ -1,2 +1,2 @@\n-a\n+x\n b\n"
	    "\\ No newline at end of file\n" },
	{ "a\r\n", "a\n", HEAD "@@ -1 +1 @@\n-a\r\n+a\n" },
	/* six lines between two changes are context of both, seven are not */
	{ "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
	    HEAD "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n" },
	{ "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
	    HEAD "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
	    "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n" },
	{ "1\n2\n3\n4\n", "1\n2\n3\n4\n5\n",
	    HEAD "@@ -2,3 +2,4 @@\n 2\n 3\n 4\n+5\n" },
};

START_TEST(format)
{
	const char *a = texts[_i].a, *b = texts[_i].b;
	struct diff_text d = diff_of(a, strlen(a), b, strlen(b), 4096);

	ck_assert_str_eq(d.text, texts[_i].diff);
	free(d.text);
	applies(a, strlen(a), b, strlen(b));
}
END_TEST

START_TEST(names)
{
	static const struct {
		const char *name, *head;
	} rows[] = {
		{ "src/a.c", "--- a/src/a.c\n" },
		{ "a b", "--- a/a b\n" },
		{ "\xc3\xa9", "--- a/\xc3\xa9\n" },
		{ "a\nb", "--- \"a/a\\012b\"\n" },
		{ "\xff", "--- \"a/\\377\"\n" },
		{ "a\"\\", "--- \"a/a\\\"\\\\\"\n" },
		{ "\x1b[2J", "--- \"a/\\033[2J\"\n" },
	};
	struct diff_text d;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(diff_unified("a\n", 2, "b\n", 2, rows[i].name,
		    strlen(rows[i].name), 4096, &d), 0);
		ck_assert_msg(strncmp(d.text, rows[i].head,
		    strlen(rows[i].head)) == 0, "%s", d.text);
		free(d.text);
	}
}
END_TEST

/* A text of few kinds of lines, so that they repeat. */
static size_t
random_text(char *to, size_t lines)
{
	static const char *const kinds[] = { "a\n", "b\n", "\n", "cc\r\n",
	    "d" };
	size_t i, len = 0;
	const char *s;

	for (i = 0; i < lines; i++) {
		s = kinds[rand() % 5];
		memcpy(to + len, s, strlen(s));
		len += strlen(s);
	}
	return (len);
}

START_TEST(any_two_texts)
{
	char a[512], b[512];
	size_t na, nb;
	int i;

	srand(7);
	for (i = 0; i < 20000; i++) {
		na = random_text(a, (size_t)(rand() % 20));
		nb = random_text(b, (size_t)(rand() % 20));
		applies(a, na, b, nb);
	}
}
END_TEST

/* Few changes in a long text: found one by one, not as one great change. */
START_TEST(is_short)
{
	char a[65536], b[65536];
	size_t na = 0, nb = 0, i, lines;
	struct diff_text d;
	const char *p;

	for (i = 0; i < 2000; i++) {
		na += (size_t)sprintf(a + na, "line %zu\n", i % 50);
		if (i % 100 == 7)
			continue;
		nb += (size_t)sprintf(b + nb, "line %zu\n", i % 50);
		if (i % 100 == 70)
			nb += (size_t)sprintf(b + nb, "new %zu\n", i);
	}
	d = diff_of(a, na, b, nb, sizeof(a));
	for (lines = 0, p = d.text; *p != '\0'; p = strchr(p, '\n') + 1)
		lines += *p == '-' || *p == '+';
	ck_assert_uint_eq(lines, 2 + 20 + 20);
	free(d.text);
	applies(a, na, b, nb);
}
END_TEST

static double
seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

/* Cases that make a diff without a bound take minutes. */
START_TEST(work_is_bounded)
{
	const size_t size = 1024 * 1024;
	char *a = malloc(size), *b = malloc(size + 64);
	double begin = seconds();
	size_t i, nb;

	ck_assert(a != NULL && b != NULL);
	/* alternating lines, every other one changed */
	for (i = 0; i < size; i++) {
		a[i] = i % 2 == 1 ? '\n' : i % 4 == 0 ? 'x' : 'y';
		b[i] = i % 2 == 1 ? '\n' : i % 4 == 0 ? 'z' : 'y';
	}
	applies(a, size, b, size);
	/* the same, shifted by a line and shorter, so that pairs don't help */
	memcpy(b, "q\n", 2);
	memcpy(b + 2, a, size - 6);
	b[size - 6] = 'z';
	applies(a, size, b, size - 4);
	/* periods of different lengths */
	for (i = 0; i < size; i++) {
		a[i] = i % 2 == 1 ? '\n' : (char)('a' + i / 2 % 7);
		b[i] = i % 2 == 1 ? '\n' : (char)('a' + i / 2 % 11);
	}
	applies(a, size, b, size - 2);
	/* CR and x in turn, one line; nothing but newlines */
	for (i = 0; i < size; i++)
		a[i] = i % 2 == 0 ? 'x' : '\r';
	memset(b, '\n', size);
	applies(a, size, b, size);
	applies(b, size, a, size);
	nb = size;
	while (nb < size + 64)
		b[nb++] = '\n';
	applies(b, size, b, nb);
	ck_assert_msg(seconds() - begin < 20, "%.1f s", seconds() - begin);
	free(a);
	free(b);
}
END_TEST

/* What does not fit is left out by whole lines, and said. */
START_TEST(is_cut)
{
	char a[4096], b[4096];
	struct diff_text d;
	size_t max, whole;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	for (max = 40; max < sizeof(a); max += 64)
		a[max] = b[max] = '\n';
	d = diff_of(a, sizeof(a), b, sizeof(b), 3 * sizeof(a));
	whole = d.len;
	free(d.text);
	for (max = 0; max < 9000; max += 7) {
		d = diff_of(a, sizeof(a), b, sizeof(b), max);
		if (d.len > 0)
			ck_assert_int_eq(d.text[d.len - 1], '\n');
		ck_assert_int_eq(d.cut, max < whole);
		free(d.text);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("diff");
	TCase *tc = tcase_create("diff");

	tcase_add_loop_test(tc, format, 0,
	    (int)(sizeof(texts) / sizeof(texts[0])));
	tcase_add_test(tc, names);
	tcase_add_test(tc, any_two_texts);
	tcase_add_test(tc, is_short);
	tcase_add_test(tc, work_is_bounded);
	tcase_add_test(tc, is_cut);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
