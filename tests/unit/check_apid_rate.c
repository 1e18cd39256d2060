/* The bucket of a principal's requests. */

#include "rate.h"
#include "unit.h"

#define SECOND	UINT64_C(1000000)

/* A limit at once, then one by one; what is over says how long to wait. */
START_TEST(full_and_empty)
{
	uint64_t now = 1000 * SECOND;
	unsigned i;

	for (i = 0; i < 60; i++)
		ck_assert_uint_eq(rate_take(1, 60, now), 0);
	ck_assert_uint_eq(rate_take(1, 60, now), 1);
	ck_assert_uint_eq(rate_take(1, 60, now + SECOND - 1), 1);
	ck_assert_uint_eq(rate_take(1, 60, now + SECOND), 0);
	ck_assert_uint_eq(rate_take(1, 60, now + SECOND), 1);
	/* what was refused is not counted */
	ck_assert_uint_eq(rate_take(1, 60, now + 2 * SECOND), 0);
	/* others have their own */
	ck_assert_uint_eq(rate_take(2, 60, now), 0);
	/* a minute later all are there again, and no more than that */
	for (i = 0; i < 60; i++)
		ck_assert_uint_eq(rate_take(1, 60, now + 3600 * SECOND), 0);
	ck_assert_uint_eq(rate_take(1, 60, now + 3600 * SECOND), 1);
	ck_assert_uint_eq(rate_take(3, 1, now), 0);
	ck_assert_uint_eq(rate_take(3, 1, now), 60);
}
END_TEST

/* Another limit by a reload; and a limit as large as may be. */
START_TEST(other_limits)
{
	uint64_t now = 1000 * SECOND;
	unsigned i;

	for (i = 0; i < 100; i++)
		ck_assert_uint_eq(rate_take(7, 100, now), 0);
	ck_assert_uint_gt(rate_take(7, 10, now), 60);
	ck_assert_uint_eq(rate_take(7, 200, now), 0);
	for (i = 0; i < 10000; i++)
		ck_assert_uint_eq(rate_take(8, 100000000, now), 0);
	ck_assert_uint_eq(rate_take(8, 100000000, now + 10), 0);
}
END_TEST

/* Whoever has not asked for a minute is forgotten. */
START_TEST(bounded)
{
	uint64_t now = 1000 * SECOND;
	uint32_t i;

	for (i = 0; i < 100000; i++)
		(void)rate_take(100 + i, 60, now + i * SECOND);
	ck_assert_uint_lt(rate_count(), 2500);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("apid rate");
	TCase *t = tcase_create("rate");

	tcase_add_test(t, full_and_empty);
	tcase_add_test(t, other_limits);
	tcase_add_test(t, bounded);
	suite_add_tcase(s, t);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
