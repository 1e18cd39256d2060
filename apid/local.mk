# apid: all but main() in a library, for the tests and fuzzers.

myelinlib_PROGRAMS += apid/apid
noinst_LIBRARIES += apid/libapid.a

apid_libapid_a_SOURCES = \
	apid/answer.c \
	apid/approval.c apid/approval.h \
	apid/ask.c \
	apid/auth.c \
	apid/body.c apid/body.h \
	apid/call.c apid/call.h apid/call_internal.h \
	apid/chunk.c apid/chunk.h \
	apid/clean.c apid/clean.h \
	apid/conn.c apid/conn.h apid/conn_internal.h apid/conn_read.c \
	apid/dry.c apid/dry.h \
	apid/errors.c apid/errors.h \
	apid/feed.c apid/feed.h \
	apid/file_name.c apid/file_name.h \
	apid/flat.c apid/flat.h \
	apid/files.c apid/files.h \
	apid/filter.c apid/filter.h \
	apid/http.c apid/http.h \
	apid/json.c apid/json.h \
	apid/kept.c apid/kept.h \
	apid/listen.c \
	apid/mcp.c apid/mcp.h apid/mcp_internal.h \
	apid/mcp_answer.c \
	apid/mcp_call.c \
	apid/mcp_era.c \
	apid/mcp_held.c \
	apid/mcp_host.c \
	apid/mcp_read.c apid/mcp_read.h \
	apid/mcp_result.c \
	apid/mcp_session.c \
	apid/mcp_tasks.c \
	apid/mcp_tools.c \
	apid/openapi.c \
	apid/output.c apid/output.h \
	apid/policy.c apid/policy.h apid/policy_internal.h \
	apid/policy_approval.c apid/policy_ask.c apid/policy_call.c \
	apid/policy_peer.c apid/policy_secrets.c \
	apid/rate.c apid/rate.h \
	apid/request.c apid/request.h \
	apid/result.c apid/result.h \
	apid/ring.c apid/ring.h \
	apid/route_approvals.c \
	apid/route_calls.c \
	apid/route_keys.c \
	apid/route_manage.c apid/route_neurons.c \
	apid/route_query.c \
	apid/route_secrets.c \
	apid/routes.c apid/routes.h \
	apid/rules_shown.c apid/rules_shown.h \
	common/labels.c common/labels.h \
	common/rule_json.c common/rule_json.h \
	apid/scan.c apid/scan.h \
	apid/seal.c apid/seal.h \
	apid/shown.c apid/shown.h \
	apid/stream.c apid/stream.h \
	apid/strip.c apid/strip.h \
	apid/text.c apid/text.h \
	apid/tools.c apid/tools.h \
	apid/transcript.c apid/transcript.h \
	apid/values.c apid/values.h \
	apid/watch.c apid/watch.h
apid_libapid_a_CPPFLAGS = $(AM_CPPFLAGS) -iquote apid $(LIBEVENT_CFLAGS) \
	$(JANSSON_CFLAGS) $(HS_CFLAGS) $(LIBMD_CFLAGS)

# The description of the interface as numbers: sed(1) takes what stands before
# a line's first character, and tr(1) its end, neither of which is in a string.
EXTRA_DIST += apid/openapi.json
BUILT_SOURCES += apid/openapi_data.h
CLEANFILES += apid/openapi_data.h
apid/libapid_a-openapi.$(OBJEXT): apid/openapi_data.h
apid/openapi_data.h: $(srcdir)/apid/openapi.json
	$(AM_V_GEN)sed 's/^ *//' $(srcdir)/apid/openapi.json | tr -d '\n' | \
	    od -An -v -t u1 | sed 's/\([0-9]\{1,\}\)/\1,/g' >$@.tmp && \
	mv $@.tmp $@

apid_apid_SOURCES = apid/apid.c
apid_apid_CPPFLAGS = $(apid_libapid_a_CPPFLAGS)
apid_apid_LDADD = $(APID_LIBS)
apid_apid_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

dist_man_MANS += man/myelin-api.7 man/myelin-apid.8

check_PROGRAMS += tests/fake_policyd
tests_fake_policyd_SOURCES = tests/fake_policyd.c \
	tests/fake_answers.c tests/fake_answers.h \
	tests/fake_auth.c tests/fake_auth.h \
	tests/takeover/hostile.c tests/takeover/hostile.h \
	tests/takeover/raw.c tests/takeover/takeover.h
tests_fake_policyd_CPPFLAGS = $(apid_libapid_a_CPPFLAGS) \
	-iquote $(top_srcdir)/tests/takeover
tests_fake_policyd_LDADD = $(COMMON_LIBS) $(JANSSON_LIBS)

APID_CPPFLAGS = $(apid_libapid_a_CPPFLAGS) -I$(top_srcdir)/apid
APID_LIBS = apid/libapid.a $(COMMON_LIBS) $(JANSSON_LIBS) $(HS_LIBS) \
	$(LIBMD_LIBS)

check_PROGRAMS += tests/bench/scan
tests_bench_scan_SOURCES = tests/bench/scan.c
tests_bench_scan_CPPFLAGS = $(APID_CPPFLAGS)
tests_bench_scan_LDADD = $(APID_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_http tests/unit/check_apid_text \
	tests/unit/check_apid_output tests/unit/check_apid_request \
	tests/unit/check_apid_files tests/unit/check_mcp \
	tests/unit/check_scan tests/unit/check_strip \
	tests/unit/check_apid_transcript tests/unit/check_apid_rate \
	tests/unit/check_apid_flat
tests_unit_check_apid_flat_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_flat_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_apid_rate_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_rate_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_apid_transcript_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_transcript_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_apid_files_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_files_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_http_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_http_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_apid_text_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_text_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_apid_output_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_output_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_apid_request_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_apid_request_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_mcp_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_mcp_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_scan_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_scan_LDADD = $(APID_LIBS) $(CHECK_LIBS)
tests_unit_check_strip_CPPFLAGS = $(APID_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_strip_LDADD = $(APID_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_http tests/fuzz/fuzz_json_request \
	tests/fuzz/fuzz_result tests/fuzz/fuzz_transcript tests/fuzz/fuzz_mcp \
	tests/fuzz/fuzz_scan tests/fuzz/fuzz_strip tests/fuzz/fuzz_dry \
	tests/fuzz/fuzz_approval tests/fuzz/fuzz_flat
tests_fuzz_fuzz_flat_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_flat_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_flat_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_dry_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_dry_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_dry_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_approval_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_approval_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_approval_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_result_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_result_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_result_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_transcript_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_transcript_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_transcript_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_http_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_http_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_http_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_json_request_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_json_request_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_json_request_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_mcp_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_mcp_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_mcp_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_strip_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_strip_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_strip_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_scan_CPPFLAGS = $(APID_CPPFLAGS)
tests_fuzz_fuzz_scan_LDADD = $(APID_LIBS)
tests_fuzz_fuzz_scan_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif

EXTRA_DIST += tests/system/test_apid.py \
	tests/fuzz/corpus/http tests/fuzz/corpus/json_request \
	tests/fuzz/corpus/result tests/fuzz/corpus/transcript \
	tests/fuzz/corpus/mcp tests/fuzz/corpus/scan tests/fuzz/corpus/strip \
	tests/fuzz/scan.dict \
	tests/fuzz/corpus/dry tests/fuzz/corpus/approval
