# Programs of the tests that belong to no one directory.

EXTRA_DIST += tests/run tests/module.py tests/page.py tests/without \
	tests/without.tsv tests/security/attempts.tsv tests/static.supp \
	contrib/try contrib/check \
	contrib/lib.sh tests/unit/unit.h \
	$(srcdir)/tests/system/*.py $(srcdir)/tests/security/*.py \
	tests/fuzz/corpus tests/mcp tests/agents

# The packaging goes along where it is; what a build of it left does not.
dist-hook:
	find "$(distdir)" -name __pycache__ -exec rm -rf {} +
	! test -d "$(srcdir)/debian" || { \
		$(MKDIR_P) "$(distdir)/debian/source" \
			"$(distdir)/debian/tests" && \
		for f in "$(srcdir)"/debian/* "$(srcdir)"/debian/source/* \
		    "$(srcdir)"/debian/tests/*; do \
			case $$f in \
			*.substvars|*-stamp|*.debhelper|*.log|*/files) ;; \
			*) ! test -f "$$f" || cp -p "$$f" \
				"$(distdir)/$${f#$(srcdir)/}" || exit 1 ;; \
			esac; \
		done; }

# Builds every test program, and runs none.  After all, never beside it: two
# makes that write one archive spoil it.
.PHONY: check-programs
check-programs: all
	$(AM_V_at)$(MAKE) $(AM_MAKEFLAGS) $(check_PROGRAMS)

# "make check" is the unit tests alone, for whoever builds: tests/run is the
# suite.  A program that needs root skips itself.
.PHONY: check-unit
check-unit: $(check_PROGRAMS)
	@failed=; n=0; \
	for t in $(check_PROGRAMS); do \
		case $$t in tests/unit/check_*) ;; *) continue ;; esac; \
		n=`expr $$n + 1`; \
		if ./$$t >$$t.log 2>&1; then \
			if grep -q '^1\.\.0 # SKIP' $$t.log; then \
				echo "SKIP: $$t"; \
			fi; \
		else \
			failed="$$failed $$t"; \
			echo "FAIL: $$t"; \
			grep '^not ok' $$t.log || cat $$t.log; \
		fi; \
	done; \
	echo "$$n unit test programs ran"; \
	test -z "$$failed"
check-local: check-unit
CLEANFILES += tests/unit/*.log

# A goal at a time: "all" is a make of its own and would race with the other.
build_tests = $(MAKE) $(AM_MAKEFLAGS) all && \
	$(MAKE) $(AM_MAKEFLAGS) check-programs

# As root: exactly the tests that SECURITY.md names, without a network.
.PHONY: check-security
check-security:
	$(build_tests)
	MYELIN_BUILD="$(abs_builddir)" python3 -B "$(srcdir)/tests/run" --page

# As root: each layer switched off, and its tests required to fail.  That takes
# a build of its own (--enable-without), in the directory without of this one.
.PHONY: check-without
if WITHOUT
check-without:
	$(build_tests)
	MYELIN_BUILD_WITHOUT="$(abs_builddir)" \
		python3 -B "$(srcdir)/tests/without"
else
check-without:
	$(MKDIR_P) without
	cd without && { test -f Makefile || \
		"$(abs_top_srcdir)/configure" -q --enable-without; } && \
		$(MAKE) $(AM_MAKEFLAGS) check-without
endif

check_PROGRAMS += tests/bench/launch tests/bench/files
tests_bench_launch_SOURCES = tests/bench/launch.c
tests_bench_launch_LDADD = $(LIBBSD_LIBS)
tests_bench_files_SOURCES = tests/bench/files.c
EXTRA_DIST += tests/bench/run tests/bench/mcp tests/bench/judge \
	tests/bench/egress tests/bench/neurons \
	$(srcdir)/tests/bench/*.py \
	tests/bench/noop.c tests/soak/soak

# Takeover builds: the product's own objects, and what takes them over from
# inside (tests/takeover/takeover.c tells how).  The products themselves hold
# nothing of it.
TAKEOVER_FILES = tests/takeover/takeover.h \
	tests/takeover/files.c tests/takeover/raw.c
TAKEOVER_SOURCES = $(TAKEOVER_FILES) \
	tests/takeover/attempts.c tests/takeover/attempts.h \
	tests/takeover/scripts.c tests/takeover/takeover.c
TAKEOVER_LINK = $(AM_LDFLAGS) $(PIE_LDFLAGS) -Wl,--wrap=proc_drop \
	-Wl,--wrap=channel_new -Wl,--wrap=channel_send \
	-Wl,--wrap=runblock_encode
TAKEOVER_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) $(JANSSON_CFLAGS) \
	-iquote $(top_srcdir)/neurond -iquote $(top_srcdir)/tests/takeover
HELPER_LINK = -Wl,--wrap=init_main -Wl,--wrap=helper_start \
	-Wl,--wrap=helper_up

check_PROGRAMS += tests/takeover/apid tests/takeover/egressd \
	tests/takeover/judged \
	tests/takeover/policyd tests/takeover/maker tests/takeover/spawner \
	tests/takeover/control
tests_takeover_apid_SOURCES = apid/apid.c $(TAKEOVER_SOURCES)
tests_takeover_apid_CPPFLAGS = $(TAKEOVER_CPPFLAGS)
tests_takeover_apid_LDFLAGS = $(TAKEOVER_LINK)
tests_takeover_apid_LDADD = $(APID_LIBS)
tests_takeover_egressd_SOURCES = egressd/main.c $(TAKEOVER_SOURCES)
tests_takeover_egressd_CPPFLAGS = $(EGRESS_CPPFLAGS) $(TAKEOVER_CPPFLAGS)
tests_takeover_egressd_LDFLAGS = $(TAKEOVER_LINK)
tests_takeover_egressd_LDADD = $(EGRESSD_LIBS)
tests_takeover_judged_SOURCES = judged/judged.c judged/alone.c \
	$(TAKEOVER_SOURCES)
tests_takeover_judged_CPPFLAGS = $(TAKEOVER_CPPFLAGS) \
	-iquote $(top_srcdir)/judged
tests_takeover_judged_LDFLAGS = $(TAKEOVER_LINK)
tests_takeover_judged_LDADD = $(JUDGED_OWN) $(COMMON_LIBS) \
	$(JANSSON_LIBS) $(LIBMD_LIBS) $(PCRE2_LIBS) -lm
tests_takeover_policyd_SOURCES = policyd/main.c $(TAKEOVER_SOURCES)
tests_takeover_policyd_CPPFLAGS = $(TAKEOVER_CPPFLAGS) $(SQLITE_CFLAGS)
tests_takeover_policyd_LDFLAGS = $(TAKEOVER_LINK)
tests_takeover_policyd_LDADD = $(POLICYD_LIBS)
tests_takeover_maker_SOURCES = neurond/maker.c tests/takeover/init.c \
	$(TAKEOVER_FILES)
tests_takeover_maker_CPPFLAGS = $(TAKEOVER_CPPFLAGS)
tests_takeover_maker_LDADD = neurond/libmaker.a neurond/libnative.a \
	$(CORE_LIBS)
tests_takeover_maker_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS) $(HELPER_LINK)
tests_takeover_spawner_SOURCES = neurond/spawner.c tests/takeover/init.c \
	$(TAKEOVER_FILES)
tests_takeover_spawner_CPPFLAGS = $(TAKEOVER_CPPFLAGS)
tests_takeover_spawner_LDADD = neurond/libnative.a $(CORE_LIBS)
tests_takeover_spawner_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS) \
	$(HELPER_LINK)
# Static, so that it runs in an empty root directory.
tests_takeover_control_SOURCES = tests/takeover/control.c \
	tests/takeover/attempts.c tests/takeover/attempts.h
tests_takeover_control_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)
