/*
 * What every unit test shares: one suite, run with a process for each test,
 * results as TAP on standard output; and a bound, which only a test that hangs
 * reaches.
 */
#ifndef MYELIN_UNIT_H
#define MYELIN_UNIT_H

#include <check.h>
#include <stdlib.h>

#define BOUND_SECONDS	"600"	/* for a test, on a machine that others load */

/* libcheck's own is four seconds; it asks when a case of tests is made. */
static void __attribute__((__constructor__))
unit_bound(void)
{
	(void)setenv("CK_DEFAULT_TIMEOUT", BOUND_SECONDS, 0);
}

static inline int
unit_main(Suite *suite)
{
	SRunner *sr = srunner_create(suite);
	int failed;

	srunner_set_fork_status(sr, CK_FORK);
	srunner_set_tap(sr, "/dev/stdout");
	srunner_run_all(sr, CK_SILENT);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return (failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

#endif
