# judged/shell: the reader of shell text.  It calls judge_command and its like
# (judge/command.h), which whoever links it brings: judged/judge, or
# tests/shell/stub.c.

noinst_LIBRARIES += judged/shell/libshell.a
judged_shell_libshell_a_SOURCES = \
	judged/judge/command.h \
	judged/shell/ansi.c judged/shell/escape.h \
	judged/shell/arith.c \
	judged/shell/ast.h \
	judged/shell/brace.c \
	judged/shell/builtin.c \
	judged/shell/builtin_code.c \
	judged/shell/builtin_state.c \
	judged/shell/compound.c \
	judged/shell/cond.c \
	judged/shell/dollar.c \
	judged/shell/expand.c \
	judged/shell/fields.c judged/shell/fields.h \
	judged/shell/files.c \
	judged/shell/heredoc.c \
	judged/shell/judging.c judged/shell/judging.h \
	judged/shell/judging_internal.h \
	judged/shell/lex.c \
	judged/shell/match.c judged/shell/pattern.h \
	judged/shell/names.c judged/shell/names.h \
	judged/shell/param.c \
	judged/shell/param_change.c \
	judged/shell/parse.c judged/shell/parse_internal.h \
	judged/shell/parser.h \
	judged/shell/path.c \
	judged/shell/produce.c \
	judged/shell/redirs.c \
	judged/shell/resolver.h \
	judged/shell/run.c \
	judged/shell/run_compound.c \
	judged/shell/run_simple.c \
	judged/shell/scope.c judged/shell/scope.h \
	judged/shell/shell.h \
	judged/shell/start.c \
	judged/shell/value.c \
	judged/shell/vars.c \
	judged/shell/word.c
judged_shell_libshell_a_CPPFLAGS = $(AM_CPPFLAGS) \
	-iquote $(top_srcdir)/judged

# For the tests: the reader with a classification that only records.
SHELL_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/judged \
	-iquote $(top_srcdir)/tests/shell
SHELL_LIBS = judged/shell/libshell.a common/libcore.a $(LIBBSD_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/shell/look tests/unit/check_shell_parse \
	tests/unit/check_shell_resolve tests/unit/check_shell_bounds
tests_shell_look_SOURCES = tests/shell/look.c tests/shell/look.h \
	tests/shell/look_tree.c tests/shell/stub.c tests/shell/stub.h
tests_shell_look_CPPFLAGS = $(SHELL_CPPFLAGS)
tests_shell_look_LDADD = $(SHELL_LIBS)
tests_unit_check_shell_parse_SOURCES = tests/unit/check_shell_parse.c \
	tests/unit/unit.h tests/shell/stub.c tests/shell/stub.h
tests_unit_check_shell_parse_CPPFLAGS = $(SHELL_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_shell_parse_LDADD = $(SHELL_LIBS) $(CHECK_LIBS)
tests_unit_check_shell_resolve_SOURCES = tests/unit/check_shell_resolve.c \
	tests/unit/unit.h tests/shell/stub.c tests/shell/stub.h
tests_unit_check_shell_resolve_CPPFLAGS = $(SHELL_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_shell_resolve_LDADD = $(SHELL_LIBS) $(CHECK_LIBS)
tests_unit_check_shell_bounds_SOURCES = tests/unit/check_shell_bounds.c \
	tests/unit/unit.h tests/shell/stub.c tests/shell/stub.h \
	tests/shell/worst.c tests/shell/worst.h
tests_unit_check_shell_bounds_CPPFLAGS = $(SHELL_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_shell_bounds_LDADD = $(SHELL_LIBS) $(CHECK_LIBS)
endif

# Time against size; run by hand (tests/bench/run has the rest).
noinst_PROGRAMS += tests/bench/shell
tests_bench_shell_SOURCES = tests/bench/shell.c tests/shell/stub.c \
	tests/shell/stub.h tests/shell/worst.c tests/shell/worst.h
tests_bench_shell_CPPFLAGS = $(SHELL_CPPFLAGS)
tests_bench_shell_LDADD = $(SHELL_LIBS)

EXTRA_DIST += tests/fuzz/corpus/shell
if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_shell
tests_fuzz_fuzz_shell_SOURCES = tests/fuzz/fuzz_shell.c tests/shell/stub.c \
	tests/shell/stub.h
tests_fuzz_fuzz_shell_CPPFLAGS = $(SHELL_CPPFLAGS)
tests_fuzz_fuzz_shell_LDADD = $(SHELL_LIBS)
tests_fuzz_fuzz_shell_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif

# For the oracle: what stands in for programs (tests/system).
if HAVE_CHECK
check_PROGRAMS += tests/shell/logger
tests_shell_logger_SOURCES = tests/shell/logger.c
endif
