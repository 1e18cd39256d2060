# Programs of the tests that belong to no one directory.

EXTRA_DIST += tests/run tests/module.py contrib/try contrib/check \
	contrib/lib.sh tests/unit/unit.h

# Builds every test program, and runs none.  After all, never beside it: two
# makes that write one archive spoil it.
.PHONY: check-programs
check-programs: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS)

check_PROGRAMS += tests/bench/launch
tests_bench_launch_SOURCES = tests/bench/launch.c
EXTRA_DIST += tests/bench/run tests/bench/noop.c tests/soak/soak
