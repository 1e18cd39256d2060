# neuron-tool: the bodies of the file tools.  Static, since it is executed
# from a memfd in a neuron whose trees need not have any library.

noinst_LIBRARIES += neurond/tool/libtool-bodies.a
neurond_tool_libtool_bodies_a_SOURCES = \
	neurond/tool/args.c neurond/tool/args.h \
	neurond/tool/block.c neurond/tool/block.h \
	neurond/tool/filter.c neurond/tool/filter.h \
	neurond/tool/hash.c neurond/tool/hash.h \
	neurond/tool/ls.c \
	neurond/tool/memory.c \
	neurond/tool/names.c neurond/tool/names.h \
	neurond/tool/out.c neurond/tool/out.h \
	neurond/tool/path.c neurond/tool/path.h neurond/tool/path_int.h \
	neurond/tool/read.c \
	neurond/tool/replace.c neurond/tool/replace.h \
	neurond/tool/resolve.c \
	neurond/tool/result.c neurond/tool/result.h \
	neurond/tool/tar.c neurond/tool/tar.h \
	neurond/tool/text.c neurond/tool/text.h \
	neurond/tool/tool.h \
	neurond/tool/write.c
neurond_tool_libtool_bodies_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) \
	$(NETTLE_CFLAGS)

TOOL_LIBS = neurond/tool/libtool-bodies.a neurond/libnative.a $(CORE_LIBS) \
	$(JANSSON_LIBS) $(NETTLE_LIBS)

myelinlib_PROGRAMS += neurond/neuron-tool
neurond_neuron_tool_SOURCES = neurond/tool/main.c
neurond_neuron_tool_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
neurond_neuron_tool_LDADD = $(TOOL_LIBS)
neurond_neuron_tool_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)

if HAVE_CHECK
TOOL_RIG = tests/unit/tool_rig.c tests/unit/tool_rig.h tests/unit/unit.h
TOOL_TEST_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/neurond/tool \
	$(CHECK_CFLAGS) $(JANSSON_CFLAGS)
TOOL_TEST_LIBS = $(CORE_LIBS) $(JANSSON_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/unit/check_tool_files tests/unit/check_tool_filter \
	tests/unit/check_tool_lists tests/unit/check_tool_paths \
	tests/unit/check_tool_swap
tests_unit_check_tool_filter_SOURCES = tests/unit/check_tool_filter.c \
	$(TOOL_RIG)
tests_unit_check_tool_filter_CPPFLAGS = $(TOOL_TEST_CPPFLAGS)
tests_unit_check_tool_filter_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
tests_unit_check_tool_lists_SOURCES = tests/unit/check_tool_lists.c \
	$(TOOL_RIG)
tests_unit_check_tool_lists_CPPFLAGS = $(TOOL_TEST_CPPFLAGS)
tests_unit_check_tool_lists_LDADD = $(TOOL_LIBS) $(CHECK_LIBS)
tests_unit_check_tool_files_SOURCES = tests/unit/check_tool_files.c \
	$(TOOL_RIG)
tests_unit_check_tool_files_CPPFLAGS = $(TOOL_TEST_CPPFLAGS) $(LIBMD_CFLAGS)
tests_unit_check_tool_files_LDADD = $(TOOL_TEST_LIBS) $(LIBMD_LIBS)
tests_unit_check_tool_paths_SOURCES = tests/unit/check_tool_paths.c \
	$(TOOL_RIG)
tests_unit_check_tool_paths_CPPFLAGS = $(TOOL_TEST_CPPFLAGS)
tests_unit_check_tool_paths_LDADD = $(TOOL_TEST_LIBS)
tests_unit_check_tool_swap_SOURCES = tests/unit/check_tool_swap.c $(TOOL_RIG)
tests_unit_check_tool_swap_CPPFLAGS = $(TOOL_TEST_CPPFLAGS)
tests_unit_check_tool_swap_LDADD = $(TOOL_TEST_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_tool_arguments
tests_fuzz_fuzz_tool_arguments_SOURCES = tests/fuzz/fuzz_tool_arguments.c
tests_fuzz_fuzz_tool_arguments_CPPFLAGS = $(AM_CPPFLAGS) \
	-iquote $(top_srcdir)/neurond/tool $(JANSSON_CFLAGS)
tests_fuzz_fuzz_tool_arguments_LDADD = $(TOOL_LIBS)
tests_fuzz_fuzz_tool_arguments_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
EXTRA_DIST += tests/fuzz/corpus/tool_arguments

include neurond/tool/edit.mk
