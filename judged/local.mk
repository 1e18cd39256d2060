# judged: the judge.  All but main() and the role is in libjudged.a.

noinst_LIBRARIES += judged/libjudged.a
judged_libjudged_a_SOURCES = \
	judged/arguments.c judged/arguments.h \
	judged/command.c judged/command.h \
	judged/explain.c judged/explain.h \
	judged/groups.c judged/groups.h \
	judged/judge.c judged/judge.h \
	judged/place.c judged/place.h \
	judged/schema.c judged/schema.h judged/schema_int.h \
	judged/schema_array.c \
	judged/schema_logic.c \
	judged/schema_object.c \
	judged/schema_pattern.c \
	judged/schema_value.c \
	judged/target.c judged/target.h \
	judged/template.c judged/template.h \
	judged/tool.c judged/tool.h \
	common/rule_json.c common/rule_json.h \
	judged/report.c judged/report.h \
	judged/rules.c judged/rules.h \
	judged/rules_glob.c judged/rules_glob.h judged/rules_int.h \
	judged/rules_match.c judged/rules_path.c judged/rules_ready.c \
	judged/rules_test.c \
	judged/judge/archive.c judged/judge/class.c judged/judge/class.h \
	judged/judge/calls.c judged/judge/client.c \
	judged/judge/code.c judged/judge/command.h judged/judge/data.c \
	judged/judge/disk.c \
	judged/judge/files.c judged/judge/git.c judged/judge/git_key.c \
	judged/judge/host.c \
	judged/judge/hosts.c judged/judge/hosts.h \
	judged/judge/judge_int.h judged/judge/listing.c \
	judged/judge/net.c judged/judge/net_service.c \
	judged/judge/options.c judged/judge/options.h \
	judged/judge/parallel.c judged/judge/self.c judged/judge/self.h \
	judged/judge/process.c judged/judge/program.c \
	judged/judge/script.c judged/judge/search.c \
	judged/judge/subcommand.c judged/judge/subcommand_options.c \
	judged/judge/subject.c judged/judge/unknown.c judged/judge/variable.c \
	judged/judge/subject.h judged/judge/wrapper.c judged/judge/zone.c \
	judged/judge/zone.h \
	judged/why.c judged/why.h
judged_libjudged_a_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/judged \
	$(JANSSON_CFLAGS) $(LIBMD_CFLAGS) $(PCRE2_CFLAGS)
# The shell's reader calls the tables, and they call it.
JUDGED_OWN = judged/libjudged.a judged/shell/libshell.a judged/libjudged.a
JUDGED_LIBS = $(JUDGED_OWN) common/libcommon.a common/libcore.a $(JANSSON_LIBS) \
	$(LIBMD_LIBS) $(PCRE2_LIBS) -lm $(LIBBSD_LIBS)

myelinlib_PROGRAMS += judged/judged
judged_judged_SOURCES = judged/judged.c judged/alone.c judged/alone.h
judged_judged_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/judged \
	$(JANSSON_CFLAGS)
judged_judged_LDADD = $(JUDGED_OWN) $(COMMON_LIBS) $(JANSSON_LIBS) \
	$(LIBMD_LIBS) $(PCRE2_LIBS) -lm
judged_judged_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

# The declarations are used from the build tree too (myelind -L): a build out
# of the source tree copies them.
JUDGED_TOOLS = judged/tools/bash.json \
	judged/tools/edit.json \
	judged/tools/exec.json \
	judged/tools/fetch.json \
	judged/tools/find.json \
	judged/tools/grep.json \
	judged/tools/ls.json \
	judged/tools/memory_delete.json \
	judged/tools/memory_list.json \
	judged/tools/memory_recall.json \
	judged/tools/memory_store.json \
	judged/tools/python.json \
	judged/tools/read.json \
	judged/tools/request_egress.json \
	judged/tools/write.json
dist_tools_DATA += $(JUDGED_TOOLS)
BUILT_SOURCES += judged/tools.stamp
EXTRA_judged_judged_DEPENDENCIES = judged/tools.stamp
CLEANFILES += judged/tools.stamp \
	`test "$(srcdir)" -ef . || echo $(JUDGED_TOOLS)`

judged/tools.stamp: $(srcdir)/judged/tools/bash.json \
		$(srcdir)/judged/tools/edit.json \
		$(srcdir)/judged/tools/exec.json \
		$(srcdir)/judged/tools/fetch.json \
		$(srcdir)/judged/tools/find.json \
		$(srcdir)/judged/tools/grep.json \
		$(srcdir)/judged/tools/ls.json \
		$(srcdir)/judged/tools/memory_delete.json \
		$(srcdir)/judged/tools/memory_list.json \
		$(srcdir)/judged/tools/memory_recall.json \
		$(srcdir)/judged/tools/memory_store.json \
		$(srcdir)/judged/tools/python.json \
		$(srcdir)/judged/tools/read.json \
		$(srcdir)/judged/tools/request_egress.json \
		$(srcdir)/judged/tools/write.json
	$(AM_V_at)$(MKDIR_P) judged/tools
	$(AM_V_GEN)test "$(srcdir)" -ef . || \
		for f in $(JUDGED_TOOLS); do \
			$(INSTALL_DATA) "$(srcdir)/$$f" $$f || exit 1; \
		done
	$(AM_V_at)echo done > $@

EXTRA_DIST += tests/data/judge-cases.tsv
check_PROGRAMS += tests/unit/schema_suite
tests_unit_schema_suite_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/judged \
	$(JANSSON_CFLAGS)
tests_unit_schema_suite_LDADD = $(JUDGED_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_env tests/unit/check_redact \
	tests/unit/check_runblock tests/unit/check_schema \
	tests/unit/check_judged_tool tests/unit/check_judged_judge \
	tests/unit/check_judged_explain tests/unit/check_judged_rules \
	tests/unit/check_judged_proc tests/unit/check_rule_json \
	tests/unit/check_judge_meta tests/unit/check_judge_cases
tests_unit_check_judge_cases_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTEST_SRCDIR='"$(abs_top_srcdir)"' \
	-iquote $(top_srcdir)/judged $(CHECK_CFLAGS)
tests_unit_check_judge_cases_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_judge_meta_CPPFLAGS = $(AM_CPPFLAGS) \
	-iquote $(top_srcdir)/judged $(CHECK_CFLAGS)
tests_unit_check_judge_meta_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_env_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_env_LDADD = common/libcore.a $(LIBBSD_LIBS) $(CHECK_LIBS)
tests_unit_check_redact_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_redact_LDADD = common/libcore.a $(LIBBSD_LIBS) $(CHECK_LIBS)
tests_unit_check_runblock_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_runblock_LDADD = common/libcore.a $(LIBBSD_LIBS) \
	$(CHECK_LIBS)
tests_unit_check_schema_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/judged \
	$(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_schema_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_judged_tool_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/judged $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_judged_tool_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_judged_judge_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTEST_SRCDIR='"$(abs_top_srcdir)"' \
	-I$(top_srcdir)/judged $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_judged_judge_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_judged_explain_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/judged $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_judged_explain_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_judged_rules_SOURCES = tests/unit/check_judged_rules.c \
	tests/unit/conf_fake.h tests/unit/unit.h
tests_unit_check_judged_rules_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTEST_SRCDIR='"$(abs_top_srcdir)"' -I$(top_srcdir)/judged \
	-iquote $(top_srcdir)/supervisord $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_judged_rules_LDADD = supervisord/libconf.a \
	$(JUDGED_OWN) $(COMMON_LIBS) $(JANSSON_LIBS) $(LIBMD_LIBS) \
	$(PCRE2_LIBS) -lm $(CHECK_LIBS)
tests_unit_check_rule_json_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/judged $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_rule_json_LDADD = $(JUDGED_LIBS) $(CHECK_LIBS)
tests_unit_check_judged_proc_SOURCES = tests/unit/check_judged_proc.c \
	tests/unit/judged_rig.c tests/unit/judged_rig.h \
	tests/unit/unit.h tests/takeover/raw.c tests/takeover/takeover.h
tests_unit_check_judged_proc_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	-iquote $(top_srcdir)/tests/takeover \
	-DTEST_SRCDIR='"$(abs_top_srcdir)"' \
	$(CHECK_CFLAGS)
tests_unit_check_judged_proc_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
endif

# Time against size; tests/bench/judge runs it.
noinst_PROGRAMS += tests/bench/judging
tests_bench_judging_SOURCES = tests/bench/judging.c tests/shell/worst.c \
	tests/shell/worst.h
tests_bench_judging_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/judged \
	-iquote $(top_srcdir)/tests/shell
tests_bench_judging_LDADD = $(JUDGED_LIBS)

EXTRA_DIST += tests/fuzz/corpus/arguments tests/fuzz/corpus/judge \
	tests/fuzz/corpus/runblock tests/fuzz/corpus/schema \
	tests/fuzz/corpus/session_rules
if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_schema tests/fuzz/fuzz_arguments \
	tests/fuzz/fuzz_judge tests/fuzz/fuzz_runblock \
	tests/fuzz/fuzz_session_rules
tests_fuzz_fuzz_session_rules_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/judged $(JANSSON_CFLAGS)
tests_fuzz_fuzz_session_rules_LDADD = $(JUDGED_LIBS)
tests_fuzz_fuzz_session_rules_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_judge_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/judged
tests_fuzz_fuzz_judge_LDADD = $(JUDGED_LIBS)
tests_fuzz_fuzz_judge_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_schema_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/judged \
	$(JANSSON_CFLAGS)
tests_fuzz_fuzz_schema_LDADD = $(JUDGED_LIBS)
tests_fuzz_fuzz_schema_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_arguments_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/judged \
	$(JANSSON_CFLAGS)
tests_fuzz_fuzz_arguments_LDADD = $(JUDGED_LIBS)
tests_fuzz_fuzz_arguments_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_runblock_LDADD = common/libcore.a $(LIBBSD_LIBS)
tests_fuzz_fuzz_runblock_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif

dist_man_MANS += man/myelin-judged.8
