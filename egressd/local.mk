# egressd: the proxy.

myelinlib_PROGRAMS += egressd/egressd
egressd_egressd_SOURCES = egressd/main.c
egressd_egressd_CPPFLAGS = $(AM_CPPFLAGS) -iquote $(top_srcdir)/egressd \
	$(LIBEVENT_CFLAGS)
egressd_egressd_LDADD = $(COMMON_LIBS)
egressd_egressd_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
