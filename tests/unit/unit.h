/*
 * What every unit test shares: one suite, run with a process for each test,
 * results as TAP on standard output.
 */
#ifndef MYELIN_UNIT_H
#define MYELIN_UNIT_H

#include <check.h>
#include <stdlib.h>

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
