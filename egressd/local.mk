# egressd: the only way out.  What reads and judges is in libegress.a, which
# knows no socket: for the tests and fuzzers too.

noinst_LIBRARIES += egressd/libegress.a
egressd_libegress_a_SOURCES = \
	egressd/address.c egressd/address.h \
	egressd/body.c \
	egressd/dns.c egressd/dns.h \
	egressd/fetch.c egressd/fetch.h egressd/fetch_int.h \
	egressd/fetch_arguments.c egressd/fetch_result.c \
	egressd/head.c egressd/head.h \
	egressd/hello.c egressd/hello.h \
	egressd/host.c egressd/host.h \
	egressd/hosts.c egressd/hosts.h \
	egressd/names.c \
	egressd/refusal.c egressd/refusal.h \
	egressd/request.c egressd/request.h \
	egressd/resolvconf.c egressd/resolvconf.h \
	egressd/response.c egressd/response.h \
	egressd/socks.c egressd/socks.h \
	egressd/tls.c egressd/tls.h \
	egressd/url.c egressd/url.h
egressd_libegress_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) \
	$(LIBIDN2_CFLAGS) $(OPENSSL_CFLAGS)
EGRESS_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/egressd \
	$(JANSSON_CFLAGS) $(OPENSSL_CFLAGS)
EGRESS_LIBS = egressd/libegress.a $(COMMON_LIBS) $(JANSSON_LIBS) \
	$(LIBIDN2_LIBS) $(OPENSSL_LIBS)

check_PROGRAMS += tests/unit/egress_canonical
tests_unit_egress_canonical_CPPFLAGS = $(EGRESS_CPPFLAGS)
tests_unit_egress_canonical_LDADD = $(EGRESS_LIBS)

# The process: what has sockets, all but main().
noinst_LIBRARIES += egressd/libegressd.a
egressd_libegressd_a_SOURCES = \
	egressd/buf.c egressd/buf.h \
	egressd/cache.c egressd/cache.h \
	egressd/clock.h \
	egressd/conn.c egressd/conn.h egressd/conn_int.h \
	egressd/dial.c egressd/dial.h \
	egressd/dnsd.c egressd/dnsd.h \
	egressd/exchange.c \
	egressd/front.c \
	egressd/http.c egressd/http.h \
	egressd/neuron.c egressd/neuron.h \
	egressd/reach.c egressd/reach.h \
	egressd/relay.c egressd/relay.h \
	egressd/report.c egressd/report.h \
	egressd/resolve.c egressd/resolve.h \
	egressd/retry.c \
	egressd/run.c egressd/run.h egressd/run_int.h \
	egressd/run_fetch.c \
	egressd/sniff.c \
	egressd/tunnel.c
egressd_libegressd_a_CPPFLAGS = $(EGRESS_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	$(CARES_CFLAGS)
EGRESSD_LIBS = egressd/libegressd.a $(EGRESS_LIBS) $(CARES_LIBS)

myelinlib_PROGRAMS += egressd/egressd
egressd_egressd_SOURCES = egressd/main.c
egressd_egressd_CPPFLAGS = $(EGRESS_CPPFLAGS) $(LIBEVENT_CFLAGS)
egressd_egressd_LDADD = $(EGRESSD_LIBS)
egressd_egressd_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_egress_fetch \
	tests/unit/check_egress_hello \
	tests/unit/check_egress_host tests/unit/check_egress_hosts \
	tests/unit/check_egress_http tests/unit/check_egress_url \
	tests/unit/check_egress_wire
tests_unit_check_egress_fetch_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_fetch_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
tests_unit_check_egress_hello_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_hello_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
tests_unit_check_egress_host_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_host_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
tests_unit_check_egress_hosts_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_hosts_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
tests_unit_check_egress_http_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_http_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
tests_unit_check_egress_url_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_url_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
tests_unit_check_egress_wire_CPPFLAGS = $(EGRESS_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_egress_wire_LDADD = $(EGRESS_LIBS) $(CHECK_LIBS)
endif

EXTRA_DIST += tests/fuzz/corpus/egress_fetch tests/fuzz/corpus/egress_hello \
	tests/fuzz/corpus/egress_host tests/fuzz/corpus/egress_http \
	tests/fuzz/corpus/egress_wire
if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_egress_fetch \
	tests/fuzz/fuzz_egress_hello tests/fuzz/fuzz_egress_host \
	tests/fuzz/fuzz_egress_http tests/fuzz/fuzz_egress_wire
tests_fuzz_fuzz_egress_fetch_CPPFLAGS = $(EGRESS_CPPFLAGS)
tests_fuzz_fuzz_egress_fetch_LDADD = $(EGRESS_LIBS)
tests_fuzz_fuzz_egress_fetch_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_egress_hello_CPPFLAGS = $(EGRESS_CPPFLAGS)
tests_fuzz_fuzz_egress_hello_LDADD = $(EGRESS_LIBS)
tests_fuzz_fuzz_egress_hello_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_egress_host_CPPFLAGS = $(EGRESS_CPPFLAGS)
tests_fuzz_fuzz_egress_host_LDADD = $(EGRESS_LIBS)
tests_fuzz_fuzz_egress_host_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_egress_http_CPPFLAGS = $(EGRESS_CPPFLAGS)
tests_fuzz_fuzz_egress_http_LDADD = $(EGRESS_LIBS)
tests_fuzz_fuzz_egress_http_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_egress_wire_CPPFLAGS = $(EGRESS_CPPFLAGS)
tests_fuzz_fuzz_egress_wire_LDADD = $(EGRESS_LIBS)
tests_fuzz_fuzz_egress_wire_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif

dist_man_MANS += man/myelin-egressd.8
