/* The sliding hour, and identities that outlive their connections. */

#include <stdlib.h>
#include <string.h>

#include "../../policyd/budget.h"
#include "../../policyd/util.h"
#include "unit.h"

static struct hour hour;

START_TEST(slides)
{
	hour_add(&hour, 1000000, 2);
	hour_add(&hour, 1000010, 3);
	ck_assert_uint_eq(hour_total(&hour, 1000010), 5);
	ck_assert_uint_eq(hour_total(&hour, 1003599), 5);
	ck_assert_uint_eq(hour_total(&hour, 1003600), 3);
	ck_assert_uint_eq(hour_total(&hour, 1003610), 0);
	hour_add(&hour, 2000000, 1);
	ck_assert_uint_eq(hour_total(&hour, 2000000), 1);
}
END_TEST

START_TEST(waits)
{
	ck_assert_uint_eq(hour_wait(&hour, 1000000, 1), 0);
	hour_add(&hour, 1000000, 2);
	hour_add(&hour, 1000100, 1);
	ck_assert_uint_eq(hour_wait(&hour, 1000100, 4), 0);
	/* three of three: the two of second 1000000 leave at 1003600 */
	ck_assert_uint_eq(hour_wait(&hour, 1000100, 3), 3500);
	ck_assert_uint_eq(hour_wait(&hour, 1000100, 1), 3600);
	ck_assert_uint_eq(hour_total(&hour, 1000100 + 3500), 1);
}
END_TEST

/* A clock that is set back must not give a new hour. */
START_TEST(clock_set_back)
{
	hour_add(&hour, 1000000, 5);
	ck_assert_uint_eq(hour_total(&hour, 990000), 5);
	hour_add(&hour, 990000, 1);
	ck_assert_uint_eq(hour_total(&hour, 1000000), 6);
	ck_assert_uint_eq(hour_total(&hour, 1003599), 6);
	ck_assert_uint_eq(hour_total(&hour, 1003600), 0);
}
END_TEST

START_TEST(identities)
{
	struct ident *a = ident_get(1000), *b = ident_get(1000);

	ck_assert_ptr_eq(a, b);
	ck_assert_ptr_ne(a, ident_get(1001));
	ck_assert_int_eq(ident_spend(a, wall_seconds(), 1), 0);
	ident_put(a);
	ident_put(b);
	/* nobody holds it, but its hour is not over */
	ident_sweep();
	ck_assert_uint_eq(ident_spent(ident_get(1000)), 1);
	ck_assert_uint_eq(ident_wait(ident_get(1000), 2), 0);
	ck_assert_uint_gt(ident_wait(ident_get(1000), 1), 3590);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_budget");
	TCase *tc = tcase_create("budget");

	tcase_add_test(tc, slides);
	tcase_add_test(tc, waits);
	tcase_add_test(tc, clock_set_back);
	tcase_add_test(tc, identities);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
