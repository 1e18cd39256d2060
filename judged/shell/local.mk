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
	judged/shell/files.c \
	judged/shell/heredoc.c \
	judged/shell/judging.c judged/shell/judging.h \
	judged/shell/judging_internal.h \
	judged/shell/lex.c \
	judged/shell/match.c judged/shell/pattern.h \
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
