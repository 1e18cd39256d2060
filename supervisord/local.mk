# supervisord: installed and shown as myelind.

sbin_PROGRAMS += supervisord/myelind
# It has options of one letter, as its man page says, and what it starts is
# nobody's to run by hand.
AM_INSTALLCHECK_STD_OPTIONS_EXEMPT = supervisord/myelind $(myelinlib_PROGRAMS)
noinst_LIBRARIES += supervisord/libconf.a supervisord/libsupervisord.a
dist_man_MANS += man/myelind.8 man/myelin.conf.5 man/myelin-tool.5 \
	man/myelin-security.7

AM_YFLAGS = -d -Wno-yacc
BUILT_SOURCES += supervisord/parse.h
SUPERVISORD_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) $(LIBMD_CFLAGS) \
	-Isupervisord -I$(top_srcdir)/supervisord

# The configuration alone, for tests and fuzzers.
supervisord_libconf_a_SOURCES = \
	supervisord/conf.c supervisord/conf.h supervisord/conf_int.h \
	supervisord/conf_check.c \
	supervisord/conf_egress.c \
	supervisord/conf_build.c \
	supervisord/conf_hook.c \
	supervisord/conf_lex.c \
	supervisord/conf_listen.c \
	supervisord/conf_names.c \
	supervisord/conf_print.c supervisord/conf_rule.c \
	supervisord/conf_set.c \
	supervisord/conf_who.c \
	supervisord/limit_text.c supervisord/limit_text.h \
	supervisord/parse.y \
	supervisord/trust.c supervisord/trust.h \
	supervisord/why.c supervisord/why.h
supervisord_libconf_a_CPPFLAGS = $(SUPERVISORD_CPPFLAGS)

supervisord_libsupervisord_a_SOURCES = \
	supervisord/check.c \
	supervisord/child.c \
	supervisord/children.c \
	supervisord/exec.c \
	supervisord/feed.c \
	supervisord/feed_egress.c \
	supervisord/feed_hook.c \
	supervisord/feed_own.c \
	supervisord/listener.c supervisord/listener.h \
	supervisord/load.c \
	supervisord/notify.c supervisord/notify.h \
	supervisord/plumb.c \
	supervisord/preflight.c supervisord/preflight.h \
	supervisord/reload.c \
	supervisord/reload_same.c \
	supervisord/restart.c supervisord/restart.h \
	supervisord/work.c supervisord/work.h \
	supervisord/sockets.c \
	supervisord/state.c supervisord/state.h \
	supervisord/supervisor.c supervisord/supervisor.h \
	supervisord/uids.c supervisord/uids.h
supervisord_libsupervisord_a_CPPFLAGS = $(SUPERVISORD_CPPFLAGS)

SUPERVISORD_LIBS = supervisord/libsupervisord.a supervisord/libconf.a \
	$(COMMON_LIBS) $(LIBMD_LIBS)

supervisord_myelind_SOURCES = supervisord/main.c
supervisord_myelind_CPPFLAGS = $(SUPERVISORD_CPPFLAGS)
supervisord_myelind_LDADD = $(SUPERVISORD_LIBS)
supervisord_myelind_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

# Stands for every child of myelind in its own test.
check_PROGRAMS += tests/system/clock_exec
tests_system_clock_exec_SOURCES = tests/system/clock_exec.c

noinst_PROGRAMS += tests/system/fake_child
tests_system_fake_child_SOURCES = tests/system/fake_child.c
tests_system_fake_child_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS)
tests_system_fake_child_LDADD = $(COMMON_LIBS)
tests_system_fake_child_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

EXTRA_DIST += tests/system/test_supervisord.py tests/config \
	tests/fuzz/corpus/config

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_parse tests/unit/check_parse_files \
	tests/unit/check_parse_man \
	tests/unit/check_supervisord
tests_unit_check_parse_SOURCES = tests/unit/check_parse.c \
	tests/unit/conf_fake.h tests/unit/conf_said.h \
	tests/unit/conf_same.h tests/unit/unit.h
tests_unit_check_parse_CPPFLAGS = $(SUPERVISORD_CPPFLAGS) $(CHECK_CFLAGS) \
	-DTESTS_CONFIG='"$(abs_top_srcdir)/tests/config"' \
	-DPRESETS='"$(abs_top_srcdir)/contrib/presets"'
tests_unit_check_parse_LDADD = supervisord/libconf.a $(COMMON_LIBS) \
	$(LIBMD_LIBS) $(CHECK_LIBS)
tests_unit_check_parse_files_SOURCES = tests/unit/check_parse_files.c \
	tests/unit/conf_fake.h tests/unit/conf_said.h \
	tests/unit/conf_same.h tests/unit/unit.h
tests_unit_check_parse_files_CPPFLAGS = $(SUPERVISORD_CPPFLAGS) $(CHECK_CFLAGS) \
	-DTESTS_CONFIG='"$(abs_top_srcdir)/tests/config"' \
	-DPRESETS='"$(abs_top_srcdir)/contrib/presets"'
tests_unit_check_parse_files_LDADD = supervisord/libconf.a $(COMMON_LIBS) \
	$(LIBMD_LIBS) $(CHECK_LIBS)
tests_unit_check_parse_man_SOURCES = tests/unit/check_parse_man.c \
	tests/unit/unit.h
tests_unit_check_parse_man_CPPFLAGS = $(SUPERVISORD_CPPFLAGS) \
	$(CHECK_CFLAGS) -DMAN_PAGE='"$(abs_top_srcdir)/man/myelin.conf.5"'
tests_unit_check_parse_man_LDADD = supervisord/libconf.a $(COMMON_LIBS) \
	$(LIBMD_LIBS) $(CHECK_LIBS)
tests_unit_check_supervisord_SOURCES = tests/unit/check_supervisord.c \
	tests/unit/unit.h
tests_unit_check_supervisord_CPPFLAGS = $(SUPERVISORD_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_supervisord_LDADD = $(SUPERVISORD_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_config
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_config.c \
	tests/unit/conf_fake.h tests/unit/conf_same.h
tests_fuzz_fuzz_config_CPPFLAGS = $(SUPERVISORD_CPPFLAGS) \
	-I$(top_srcdir)/tests/unit
tests_fuzz_fuzz_config_LDADD = supervisord/libconf.a $(COMMON_LIBS) \
	$(LIBMD_LIBS)
tests_fuzz_fuzz_config_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
