/*
 * limits.h: the table is sound and values read as they are written.
 */
#include <string.h>

#include "limits.h"
#include "unit.h"

START_TEST(defaults_lie_within_their_ranges)
{
	size_t i;

	for (i = 0; i < LIMIT_COUNT; i++) {
		ck_assert_uint_ge(limit_table[i].initial, limit_table[i].min);
		ck_assert_uint_le(limit_table[i].initial, limit_table[i].max);
		ck_assert_int_eq(limit_find(limit_table[i].keyword), (int)i);
		ck_assert_uint_gt(strlen(limit_table[i].words), 0);
	}
	ck_assert_int_eq(limit_find("nosuch"), -1);
}
END_TEST

static const struct {
	enum limit	 limit;
	const char	*text;
	int		 good;
	uint64_t	 value;
} values[] = {
	{ LIMIT_MEMORY,		"512M",	1, 512ULL << 20 },
	{ LIMIT_MEMORY,		"1G",	1, 1ULL << 30 },
	{ LIMIT_MEMORY,		"4096",	1, 4096 },
	{ LIMIT_MEMORY,		"1g",	0, 0 },
	{ LIMIT_MEMORY,		"1 G",	0, 0 },
	{ LIMIT_MEMORY,		"-1",	0, 0 },
	{ LIMIT_MEMORY,		"",	0, 0 },
	{ LIMIT_MEMORY,		"99999999999999999999",	0, 0 },
	{ LIMIT_MEMORY,		"18446744073709551615G", 0, 0 },
	{ LIMIT_TIMEOUT,	"1500ms", 1, 1500 },
	{ LIMIT_TIMEOUT,	"2s",	1, 2000 },
	{ LIMIT_TIMEOUT,	"3m",	1, 180000 },
	{ LIMIT_TIMEOUT,	"2",	1, 2000 },
	{ LIMIT_TIMEOUT,	"2d",	0, 0 },
	{ LIMIT_RESULT_KEPT,	"2d",	1, 172800 },
	{ LIMIT_PIDS,		"64",	1, 64 },
	{ LIMIT_PIDS,		"64K",	0, 0 },
	{ LIMIT_CPU,		"1",	1, 1000 },
	{ LIMIT_CPU,		"1.5",	1, 1500 },
	{ LIMIT_CPU,		"0.25",	1, 250 },
	{ LIMIT_CPU,		"1.2345", 0, 0 },
	{ LIMIT_CPU,		"1.",	0, 0 },
	{ LIMIT_CPU,		".",	0, 0 },
	{ LIMIT_CPU,		"1.2.3", 0, 0 },
	{ LIMIT_PTY,		"yes",	1, 1 },
	{ LIMIT_PTY,		"no",	1, 0 },
	{ LIMIT_PTY,		"1",	0, 0 },
	{ LIMIT_PTY,		"Yes",	0, 0 },
	{ LIMIT_PTY,		"",	0, 0 }
};

START_TEST(values_read_as_written)
{
	const char *why = NULL;
	uint64_t v = 0;
	int r;

	r = limit_parse(values[_i].limit, values[_i].text, &v, &why);
	ck_assert_msg(r == (values[_i].good ? 0 : -1), "%s", values[_i].text);
	if (values[_i].good)
		ck_assert_uint_eq(v, values[_i].value);
	else
		ck_assert_ptr_nonnull(why);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("limits");
	TCase *tc = tcase_create("limits");

	tcase_add_test(tc, defaults_lie_within_their_ranges);
	tcase_add_loop_test(tc, values_read_as_written, 0,
	    sizeof(values) / sizeof(values[0]));
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
