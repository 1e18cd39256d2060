# libcommon.a: all that more than one process needs.  The part in libcore.a
# needs nothing but libc, so that the spawner can be linked static and small.

noinst_LIBRARIES += common/libcore.a common/libcommon.a

common_libcore_a_SOURCES = \
	common/apparmor.c common/apparmor.h \
	common/codec.c common/codec.h \
	common/egress.h common/env.c common/env.h \
	common/ids.c common/ids.h \
	common/imsg.c common/imsg.h common/imsg_internal.h \
	common/imsg_check.c common/imsg_field.c common/imsg_receive.c \
	common/layers.c common/layers.h \
	common/limits.c common/limits.h \
	common/log.c common/log.h \
	common/loop.c common/loop.h \
	common/probe.c common/probe.h common/probe_internal.h \
	common/probe_cgroup.c common/probe_landlock.c \
	common/probe_mount.c common/probe_ns.c common/probe_process.c \
	common/protocol.c common/protocol.h common/protocol_neuron.h \
	common/redact.c common/redact.h \
	common/rule.c common/rule.h \
	common/runblock.c common/runblock.h \
	common/sanitize.c common/sanitize.h \
	common/secret.c common/secret.h common/secret_named.c \
	common/signals.c common/signals.h \
	common/token.c common/token.h \
	common/visible.c common/visible.h \
	common/fault.h common/without.h
if FAULTS
common_libcore_a_SOURCES += common/fault.c
endif
if WITHOUT
common_libcore_a_SOURCES += common/without.c
else
EXTRA_DIST += common/without.c
endif

common_libcommon_a_SOURCES = \
	common/imsg_event.c \
	common/proc.c common/proc.h common/proc_internal.h \
	common/proc_drop.c \
	common/proc_filter.c \
	common/egress_slice.c \
	common/trees.c common/trees.h \
	common/rule_slice.c \
	common/slice.c common/slice.h common/slice_wire.c \
	common/value_hash.c common/value_hash.h
common_libcommon_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	$(SECCOMP_CFLAGS) $(LIBCAP_CFLAGS) $(LIBMD_CFLAGS)

CORE_LIBS = common/libcore.a
COMMON_LIBS = common/libcommon.a common/libcore.a $(LIBEVENT_LIBS) \
	$(SECCOMP_LIBS) $(LIBCAP_LIBS) $(LIBBSD_LIBS)

if HAVE_CHECK
COMMON_TESTS = \
	tests/unit/check_codec \
	tests/unit/check_imsg tests/unit/check_imsg_packet \
	tests/unit/check_imsg_send \
	tests/unit/check_limits \
	tests/unit/check_proc_death \
	tests/unit/check_slice \
	tests/unit/check_token tests/unit/check_visible
check_PROGRAMS += $(COMMON_TESTS)
tests_unit_check_codec_SOURCES = tests/unit/check_codec.c tests/unit/unit.h
tests_unit_check_codec_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_codec_LDADD = $(CORE_LIBS) $(CHECK_LIBS)
tests_unit_check_imsg_SOURCES = tests/unit/check_imsg.c \
	tests/unit/imsg_rig.h tests/unit/unit.h
tests_unit_check_imsg_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_imsg_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_imsg_packet_SOURCES = tests/unit/check_imsg_packet.c \
	tests/unit/imsg_rig.h tests/unit/unit.h
tests_unit_check_imsg_packet_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_imsg_packet_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_imsg_send_SOURCES = tests/unit/check_imsg_send.c \
	tests/unit/imsg_rig.h tests/unit/unit.h
tests_unit_check_imsg_send_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_imsg_send_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_limits_SOURCES = tests/unit/check_limits.c tests/unit/unit.h
tests_unit_check_limits_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_limits_LDADD = $(CORE_LIBS) $(CHECK_LIBS)
tests_unit_check_proc_death_SOURCES = tests/unit/check_proc_death.c \
	tests/unit/unit.h
tests_unit_check_proc_death_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_proc_death_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_token_SOURCES = tests/unit/check_token.c tests/unit/unit.h
tests_unit_check_token_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_token_LDADD = $(CORE_LIBS) $(CHECK_LIBS)
tests_unit_check_slice_SOURCES = tests/unit/check_slice.c tests/unit/unit.h
tests_unit_check_slice_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_slice_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_visible_SOURCES = tests/unit/check_visible.c tests/unit/unit.h
tests_unit_check_visible_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_visible_LDADD = $(CORE_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_channel tests/fuzz/fuzz_slice
tests_fuzz_fuzz_channel_SOURCES = tests/fuzz/fuzz_channel.c
tests_fuzz_fuzz_channel_LDADD = $(COMMON_LIBS)
tests_fuzz_fuzz_channel_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_slice_SOURCES = tests/fuzz/fuzz_slice.c
tests_fuzz_fuzz_slice_LDADD = $(COMMON_LIBS)
tests_fuzz_fuzz_slice_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
