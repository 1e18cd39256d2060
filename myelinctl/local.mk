# myelinctl.  All but main() is in libmyelinctl.a.  SQLite is loaded when it is
# needed (mark.c); nothing else is linked that "run" could do without.

noinst_LIBRARIES += myelinctl/libmyelinctl.a
myelinctl_libmyelinctl_a_SOURCES = \
	myelinctl/anchors.c myelinctl/anchors.h \
	myelinctl/api.c myelinctl/api.h \
	myelinctl/approval.c myelinctl/approval.h \
	myelinctl/approval_lines.c \
	myelinctl/approvals.c \
	myelinctl/audit.c myelinctl/audit.h \
	myelinctl/audit_export.c \
	myelinctl/audit_verify.c \
	myelinctl/backup.c \
	myelinctl/backup.h \
	myelinctl/backup_homes.c \
	myelinctl/call.c \
	myelinctl/chain.c myelinctl/chain.h \
	myelinctl/conn.c myelinctl/conn.h \
	myelinctl/cp.c \
	myelinctl/drain.c \
	myelinctl/ctl.h \
	myelinctl/doctor.c \
	myelinctl/dry.c myelinctl/dry.h \
	myelinctl/escape.c myelinctl/escape.h \
	myelinctl/explain.c \
	myelinctl/feed.c myelinctl/feed.h \
	myelinctl/follow.c myelinctl/follow.h \
	myelinctl/host.c myelinctl/host.h \
	myelinctl/judge.c \
	myelinctl/keys.c \
	myelinctl/http.c myelinctl/http.h \
	myelinctl/lists.c \
	myelinctl/log.c \
	myelinctl/log.h \
	myelinctl/log_search.c \
	myelinctl/log_level.c \
	myelinctl/mark.c myelinctl/mark.h \
	myelinctl/mcp.c myelinctl/mcp.h \
	myelinctl/mcp_answer.c \
	myelinctl/mcp_headers.c \
	myelinctl/mcp_post.c \
	myelinctl/neurons.c myelinctl/notify.c myelinctl/notify.h \
	myelinctl/output.c myelinctl/output.h \
	myelinctl/run.c myelinctl/run.h \
	myelinctl/screen.c myelinctl/screen.h \
	myelinctl/secrets.c \
	myelinctl/shell.c \
	myelinctl/show.c \
	myelinctl/sink.c myelinctl/sink.h \
	myelinctl/sse.c myelinctl/sse.h \
	myelinctl/status.c \
	myelinctl/suggest.c \
	myelinctl/term.c myelinctl/term.h \
	myelinctl/tar.c myelinctl/tar.h \
	myelinctl/tty.c myelinctl/tty.h \
	myelinctl/unpack.c myelinctl/unpack.h \
	myelinctl/watch.c myelinctl/watch.h \
	myelinctl/watch_items.c \
	myelinctl/watch_jobs.c \
	myelinctl/watch_keys.c \
	myelinctl/watch_screen.c \
	myelinctl/words.c myelinctl/words.h
myelinctl_libmyelinctl_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) \
	$(LIBMD_CFLAGS) $(SQLITE_CFLAGS)
MYELINCTL_LIBS = myelinctl/libmyelinctl.a common/libcore.a $(JANSSON_LIBS) \
	$(LIBMD_LIBS)

bin_PROGRAMS += myelinctl/myelinctl
myelinctl_myelinctl_SOURCES = myelinctl/main.c \
	myelinctl/option.c myelinctl/option.h
myelinctl_myelinctl_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
myelinctl_myelinctl_LDADD = $(MYELINCTL_LIBS)
myelinctl_myelinctl_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

dist_man_MANS += man/myelinctl.1
EXTRA_DIST += tests/system/test_myelinctl_client.py tests/fuzz/corpus/response \
	tests/fuzz/corpus/tar tests/fuzz/corpus/mcp_line

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_ctl_http tests/unit/check_ctl_sse \
	tests/unit/check_ctl_words tests/unit/check_ctl_chain \
	tests/unit/check_ctl_tar tests/unit/check_ctl_escape
tests_unit_check_ctl_escape_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(CHECK_CFLAGS)
tests_unit_check_ctl_escape_LDADD = $(MYELINCTL_LIBS) $(CHECK_LIBS)
tests_unit_check_ctl_http_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_ctl_http_LDADD = $(MYELINCTL_LIBS) $(CHECK_LIBS)
tests_unit_check_ctl_sse_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_ctl_sse_LDADD = $(MYELINCTL_LIBS) $(CHECK_LIBS)
tests_unit_check_ctl_words_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(JANSSON_CFLAGS) $(CHECK_CFLAGS)
tests_unit_check_ctl_words_LDADD = $(MYELINCTL_LIBS) $(CHECK_LIBS)
tests_unit_check_ctl_tar_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(CHECK_CFLAGS)
tests_unit_check_ctl_tar_LDADD = $(MYELINCTL_LIBS) $(CHECK_LIBS)
tests_unit_check_ctl_chain_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(JANSSON_CFLAGS) $(LIBMD_CFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_ctl_chain_LDADD = $(MYELINCTL_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_response tests/fuzz/fuzz_tar \
	tests/fuzz/fuzz_mcp_line
tests_fuzz_fuzz_tar_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/myelinctl
tests_fuzz_fuzz_tar_LDADD = $(MYELINCTL_LIBS)
tests_fuzz_fuzz_tar_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_mcp_line_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(JANSSON_CFLAGS)
tests_fuzz_fuzz_mcp_line_LDADD = $(MYELINCTL_LIBS)
tests_fuzz_fuzz_mcp_line_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_response_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(top_srcdir)/myelinctl $(JANSSON_CFLAGS)
tests_fuzz_fuzz_response_LDADD = $(MYELINCTL_LIBS)
tests_fuzz_fuzz_response_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
