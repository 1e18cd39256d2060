/*
 * Terminal noise: what goes, what stays, wherever it is cut, in what time.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "strip.h"
#include "unit.h"

static const char *const rows[][2] = {
	{ "plain\n", "plain\n" },
	{ "\x1b[31mred\x1b[0m\n", "red\n" },
	{ "\x1b]0;title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",
	    "textlink\n" },
	{ "\x1b(B\x1b=\x1b>a\x1bM\n", "a\n" },
	{ "10%\r50%\r100%\n", "100%\n" },
	{ "10%\r\x1b[K50%\r\x1b[K", "" },
	{ "dos\r\nlines\r\n", "dos\nlines\n" },
	{ "kept\r", "kept" },
	{ "kept\r\r\r\n", "kept\n" },
	{ "|\b/\b-\b\\\bdone\n", "done\n" },
	{ "b\bbo\bol\bld\n", "bold\n" },
	{ "\xc3\xa4\bx\n", "x\n" },
	{ "\xe2\x82\xac \xf0\x9f\x98\x80\r\xc3\xbc\n", "\xc3\xbc\n" },
	{ "bell\x07\n", "bell\n" },
	{ "\x1b[2Jtext \x1b[12;40Hmore\n", "text more\n" },
	{ "\x1b]never ended\nline\n", "\nline\n" },
	{ "\x1b[12\nline\n", "\nline\n" },
	{ "\x1b\xc3\xa4\n", "\xc3\xa4\n" },
	{ "\x1b[\xc3\xa4\n", "\xc3\xa4\n" },
	{ "\x1bP1;2|data\x1b\\after\n", "after\n" },
	{ "\x1b[3\x1b[31mx\n", "x\n" },
	{ "tab\tstays\n", "tab\tstays\n" },
	{ "\b\b\n", "\n" },
};
#define NROWS	(sizeof(rows) / sizeof(rows[0]))

START_TEST(test_rows)
{
	static uint8_t out[2 * STRIP_LINE];
	const uint8_t *text = (const uint8_t *)rows[_i][0];
	size_t n = strlen(rows[_i][0]), cut, m;
	struct strip *s;

	for (cut = 0; cut <= n; cut++) {
		s = strip_new();
		m = strip_feed(s, out, text, cut);
		m += strip_feed(s, out + m, text + cut, n - cut);
		m += strip_end(s, out + m);
		strip_free(s);
		ck_assert_uint_eq(m, strlen(rows[_i][1]));
		ck_assert_mem_eq(out, rows[_i][1], m);
	}
}
END_TEST

/* One that is longer than what is held goes out all the same. */
START_TEST(test_long_line)
{
	const size_t n = 3 * STRIP_LINE + 100;
	uint8_t *text = malloc(n), *out = malloc(n + STRIP_LINE);
	struct strip *s = strip_new();
	size_t m;

	memset(text, 'x', n);
	m = strip_feed(s, out, text, n);
	ck_assert_uint_eq(m, 3 * STRIP_LINE);
	m += strip_end(s, out + m);
	ck_assert_uint_eq(m, n);
	ck_assert_mem_eq(out, text, n);
	strip_free(s);
	free(text);
	free(out);
}
END_TEST

static const char *const floods[] = {
	"x\r", "\r", "\x1b[", "\x1b]", "\b", "x\b", "\x1b", "\x1b[0m", "x"
};

START_TEST(test_linear)
{
	const size_t n = 1 << 20;
	const char *unit = floods[_i];
	uint8_t *text = malloc(n), *out = malloc(n + STRIP_LINE);
	struct strip *s = strip_new();
	struct timespec a, b;
	size_t i;

	for (i = 0; i < n; i++)
		text[i] = (uint8_t)unit[i % strlen(unit)];
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	i = strip_feed(s, out, text, n);
	strip_end(s, out + i);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 2);
	strip_free(s);
	free(text);
	free(out);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("strip");
	TCase *tc = tcase_create("strip");

	tcase_add_loop_test(tc, test_rows, 0, NROWS);
	tcase_add_test(tc, test_long_line);
	tcase_add_loop_test(tc, test_linear, 0,
	    sizeof(floods) / sizeof(floods[0]));
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
