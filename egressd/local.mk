# egressd: the only way out.  What reads and judges is in libegress.a, which
# knows no socket: for the tests and fuzzers too.

noinst_LIBRARIES += egressd/libegress.a
egressd_libegress_a_SOURCES = \
	egressd/address.h \
	egressd/dns.h \
	egressd/fetch.h \
	egressd/head.h \
	egressd/hello.h \
	egressd/host.h \
	egressd/hosts.h \
	egressd/refusal.c egressd/refusal.h \
	egressd/request.h \
	egressd/resolvconf.h \
	egressd/response.h \
	egressd/socks.h
egressd_libegress_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) \
	$(LIBIDN2_CFLAGS) $(OPENSSL_CFLAGS)
EGRESS_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/egressd \
	$(JANSSON_CFLAGS) $(OPENSSL_CFLAGS)
EGRESS_LIBS = egressd/libegress.a $(COMMON_LIBS) $(JANSSON_LIBS) \
	$(LIBIDN2_LIBS) $(OPENSSL_LIBS)

# The process: what has sockets.
EGRESSD_SOURCES = \
	egressd/buf.c egressd/buf.h
myelinlib_PROGRAMS += egressd/egressd
egressd_egressd_SOURCES = egressd/main.c $(EGRESSD_SOURCES)
egressd_egressd_CPPFLAGS = $(EGRESS_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	$(CARES_CFLAGS)
egressd_egressd_LDADD = $(EGRESS_LIBS) $(CARES_LIBS)
egressd_egressd_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
