# Programs of the tests that belong to no one directory.

EXTRA_DIST += tests/security/test_layers.py tests/system/test_doctor.py
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

check_PROGRAMS += tests/takeover/apid tests/takeover/judged \
	tests/takeover/policyd tests/takeover/maker tests/takeover/spawner \
	tests/takeover/control
tests_takeover_apid_SOURCES = apid/apid.c $(TAKEOVER_SOURCES)
tests_takeover_apid_CPPFLAGS = $(TAKEOVER_CPPFLAGS)
tests_takeover_apid_LDFLAGS = $(TAKEOVER_LINK)
tests_takeover_apid_LDADD = apid/libapid.a $(COMMON_LIBS) $(JANSSON_LIBS)
tests_takeover_judged_SOURCES = judged/judged.c $(TAKEOVER_SOURCES)
tests_takeover_judged_CPPFLAGS = $(TAKEOVER_CPPFLAGS)
tests_takeover_judged_LDFLAGS = $(TAKEOVER_LINK)
tests_takeover_judged_LDADD = judged/libjudged.a $(COMMON_LIBS) \
	$(JANSSON_LIBS) $(LIBMD_LIBS)
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
