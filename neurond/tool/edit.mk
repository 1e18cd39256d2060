# edit, grep and find: their parts, and what tests those.

neurond_tool_libtool_bodies_a_SOURCES += \
	neurond/tool/diff.c neurond/tool/diff.h \
	neurond/tool/diff_text.c \
	neurond/tool/edit.c neurond/tool/edit.h \
	neurond/tool/edit_hint.c \
	neurond/tool/edit_text.c neurond/tool/edit_text.h \
	neurond/tool/find.c \
	neurond/tool/find_ignore.c neurond/tool/find_ignore.h \
	neurond/tool/find_walk.c neurond/tool/find_walk.h \
	neurond/tool/globs.c neurond/tool/globs.h \
	neurond/tool/grep.c \
	neurond/tool/grep_hits.c neurond/tool/grep_hits.h \
	neurond/tool/grep_json.c neurond/tool/grep_json.h \
	neurond/tool/grep_run.c neurond/tool/grep_run.h

if HAVE_CHECK
EDIT_TEST_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/neurond/tool \
	-I$(top_srcdir)/tests/unit $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
check_PROGRAMS += tests/unit/check_tool_diff tests/unit/check_tool_edit \
	tests/unit/check_tool_find tests/unit/check_tool_grep \
	tests/unit/check_tool_grep_json
tests_unit_check_tool_grep_SOURCES = tests/unit/check_tool_grep.c \
	tests/unit/tool_body.h tests/unit/unit.h
tests_unit_check_tool_grep_CPPFLAGS = $(EDIT_TEST_CPPFLAGS)
tests_unit_check_tool_grep_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
tests_unit_check_tool_grep_json_SOURCES = \
	tests/unit/check_tool_grep_json.c tests/unit/unit.h
tests_unit_check_tool_grep_json_CPPFLAGS = $(EDIT_TEST_CPPFLAGS)
tests_unit_check_tool_grep_json_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
tests_unit_check_tool_find_SOURCES = tests/unit/check_tool_find.c \
	tests/unit/tool_body.h tests/unit/unit.h
tests_unit_check_tool_find_CPPFLAGS = $(EDIT_TEST_CPPFLAGS)
tests_unit_check_tool_find_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
tests_unit_check_tool_diff_SOURCES = tests/unit/check_tool_diff.c \
	tests/unit/patch.h tests/unit/unit.h
tests_unit_check_tool_diff_CPPFLAGS = $(EDIT_TEST_CPPFLAGS)
tests_unit_check_tool_diff_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
tests_unit_check_tool_edit_SOURCES = tests/unit/check_tool_edit.c tests/unit/tool_body.h \
	tests/unit/patch.h tests/unit/unit.h
tests_unit_check_tool_edit_CPPFLAGS = $(EDIT_TEST_CPPFLAGS)
tests_unit_check_tool_edit_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_edit tests/fuzz/fuzz_glob \
	tests/fuzz/fuzz_grep
tests_fuzz_fuzz_edit_SOURCES = tests/fuzz/fuzz_edit.c tests/unit/patch.h
tests_fuzz_fuzz_edit_CPPFLAGS = $(AM_CPPFLAGS) -iquote \
	$(top_srcdir)/neurond/tool $(JANSSON_CFLAGS)
tests_fuzz_fuzz_edit_LDADD = $(TOOL_LIBS)
tests_fuzz_fuzz_edit_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_glob_SOURCES = tests/fuzz/fuzz_glob.c
tests_fuzz_fuzz_glob_CPPFLAGS = $(tests_fuzz_fuzz_edit_CPPFLAGS)
tests_fuzz_fuzz_glob_LDADD = $(TOOL_LIBS)
tests_fuzz_fuzz_glob_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_grep_SOURCES = tests/fuzz/fuzz_grep.c
tests_fuzz_fuzz_grep_CPPFLAGS = $(tests_fuzz_fuzz_edit_CPPFLAGS)
tests_fuzz_fuzz_grep_LDADD = $(TOOL_LIBS)
tests_fuzz_fuzz_grep_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
EXTRA_DIST += tests/fuzz/corpus/edit tests/fuzz/corpus/glob \
	tests/fuzz/corpus/grep
