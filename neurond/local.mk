# neurond, its helpers maker and spawner, and PID 1 of the neurons, which is
# a clone of the spawner and no program of its own.

noinst_LIBRARIES += neurond/libneurond.a neurond/libnative.a \
	neurond/libmaker.a

# What root does with policyd's requests.
neurond_libneurond_a_SOURCES = \
	neurond/call.c neurond/call.h \
	neurond/call_end.c neurond/call_end.h \
	neurond/cgroup.c neurond/cgroup.h \
	neurond/cgroup_find.c \
	neurond/cgroup_sweep.c \
	neurond/checks.c neurond/checks.h \
	neurond/helper.c neurond/helper.h \
	neurond/home.c neurond/home.h \
	neurond/launch.c neurond/launch.h \
	neurond/listeners.c neurond/listeners.h \
	neurond/neuron.c neurond/neuron.h \
	neurond/neuron_init.c neurond/neuron_init.h neurond/neuron_walk.c \
	neurond/place.c neurond/place.h \
	neurond/pool.c neurond/pool.h \
	neurond/pool_list.c neurond/pool_list.h \
	neurond/program.c neurond/program.h \
	neurond/settings.c neurond/settings.h \
	neurond/shown.c neurond/shown.h \
	neurond/slot.c neurond/slot.h \
	neurond/workspace.c neurond/workspace.h
neurond_libneurond_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	$(LIBCAP_CFLAGS)

# The spawner and what it becomes.
neurond_libnative_a_SOURCES = \
	neurond/helper_main.c neurond/helper_main.h \
	neurond/init/hook.c neurond/init/hook.h \
	neurond/init/init.c neurond/init/init.h \
	neurond/init/pty.c neurond/init/pty.h \
	neurond/init/run.c neurond/init/run.h \
	neurond/native/build.c neurond/native/build.h \
	neurond/native/confine.c neurond/native/confine.h \
	neurond/native/filter.c neurond/native/filter.h \
	neurond/native/filter_table.c neurond/native/filter_int.h \
	neurond/native/inside.c neurond/native/inside.h \
	neurond/native/landlock.c neurond/native/landlock.h \
	neurond/native/plan.c neurond/native/plan.h \
	neurond/native/protect.c neurond/native/protect.h \
	neurond/native/build_int.h \
	neurond/native/root.c \
	neurond/native/template.c neurond/native/template.h \
	neurond/program.c neurond/program.h \
	neurond/protected.c neurond/protected.h \
	neurond/steps.h neurond/sys.h

neurond_libmaker_a_SOURCES = \
	neurond/image.c neurond/image.h \
	neurond/maker.h \
	neurond/maker_answer.c \
	neurond/maker_home.c \
	neurond/maker_listen.c \
	neurond/maker_ns.c \
	neurond/maker_place.c \
	neurond/maker_trees.c \
	neurond/maker_walk.c \
	neurond/placeholder.c neurond/placeholder.h

myelinlib_PROGRAMS += neurond/neurond neurond/maker neurond/spawner

neurond_neurond_SOURCES = neurond/neurond.c
neurond_neurond_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) $(LIBCAP_CFLAGS)
neurond_neurond_LDADD = neurond/libneurond.a neurond/libmaker.a \
	neurond/libnative.a $(COMMON_LIBS)
neurond_neurond_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

neurond_maker_SOURCES = neurond/maker.c
neurond_maker_LDADD = neurond/libmaker.a neurond/libnative.a $(CORE_LIBS)
neurond_maker_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)

# Static: every PID 1 is a copy of it, and each page it has is copied too.
neurond_spawner_SOURCES = neurond/spawner.c
neurond_spawner_LDADD = neurond/libnative.a $(CORE_LIBS)
neurond_spawner_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)

check_PROGRAMS += tests/system/neuron_drive
tests_system_neuron_drive_SOURCES = tests/system/neuron_drive.c \
	tests/system/neuron_drive.h tests/system/neuron_drive_said.c
tests_system_neuron_drive_LDADD = $(COMMON_LIBS)

# Stands where neuron-tool does.
check_PROGRAMS += tests/system/body_probe
tests_system_body_probe_SOURCES = tests/system/body_probe.c
tests_system_body_probe_LDADD = $(CORE_LIBS)
tests_system_body_probe_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)

# Static, so that it runs in a neuron from any directory.
check_PROGRAMS += tests/security/attempts
tests_security_attempts_SOURCES = tests/security/attempts.c \
	tests/security/attempts.h tests/security/attempts_calls.c \
	tests/security/attempts_files.c
tests_security_attempts_LDADD = $(CORE_LIBS)
tests_security_attempts_LDFLAGS = $(AM_LDFLAGS) $(STATIC_LDFLAGS)

# Takes system calls away, to see what is refused without them.
check_PROGRAMS += tests/security/without
tests_security_without_SOURCES = tests/security/without.c
tests_security_without_CPPFLAGS = $(AM_CPPFLAGS) $(SECCOMP_CFLAGS)
tests_security_without_LDADD = $(SECCOMP_LIBS)

if HAVE_CHECK
check_PROGRAMS += tests/unit/check_neurond tests/unit/check_neurond_cgroup \
	tests/unit/check_neurond_filter tests/unit/check_neurond_pool \
	tests/unit/check_neurond_pty
NEUROND_TEST_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/neurond \
	-I$(top_srcdir)/tests/unit $(CHECK_CFLAGS)
NEUROND_TEST_LIBS = neurond/libneurond.a neurond/libmaker.a \
	neurond/libnative.a $(COMMON_LIBS) $(CHECK_LIBS)
tests_unit_check_neurond_CPPFLAGS = $(NEUROND_TEST_CPPFLAGS)
tests_unit_check_neurond_LDADD = $(NEUROND_TEST_LIBS)
tests_unit_check_neurond_cgroup_CPPFLAGS = $(NEUROND_TEST_CPPFLAGS)
tests_unit_check_neurond_cgroup_LDADD = $(NEUROND_TEST_LIBS)
tests_unit_check_neurond_filter_CPPFLAGS = $(NEUROND_TEST_CPPFLAGS)
tests_unit_check_neurond_filter_LDADD = $(NEUROND_TEST_LIBS)
tests_unit_check_neurond_pool_CPPFLAGS = $(NEUROND_TEST_CPPFLAGS) \
	$(LIBEVENT_CFLAGS)
tests_unit_check_neurond_pool_LDADD = $(NEUROND_TEST_LIBS)
tests_unit_check_neurond_pty_CPPFLAGS = $(NEUROND_TEST_CPPFLAGS)
tests_unit_check_neurond_pty_LDADD = $(NEUROND_TEST_LIBS)
check_PROGRAMS += tests/unit/check_neurond_launch
tests_unit_check_neurond_launch_SOURCES = \
	tests/unit/check_neurond_launch.c tests/unit/neurond_rig.c \
	tests/unit/neurond_rig.h tests/unit/policyd_rig.c \
	tests/unit/policyd_rig.h tests/unit/unit.h
tests_unit_check_neurond_launch_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) \
	$(JANSSON_CFLAGS)
tests_unit_check_neurond_launch_LDADD = $(COMMON_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
noinst_PROGRAMS += tests/fuzz/fuzz_neurond tests/fuzz/fuzz_neuron
tests_fuzz_fuzz_neuron_SOURCES = tests/fuzz/fuzz_neuron.c
tests_fuzz_fuzz_neuron_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	-I$(top_srcdir)/neurond
tests_fuzz_fuzz_neuron_LDADD = neurond/libneurond.a neurond/libmaker.a \
	neurond/libnative.a $(COMMON_LIBS)
tests_fuzz_fuzz_neuron_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_neurond_SOURCES = tests/fuzz/fuzz_neurond.c
tests_fuzz_fuzz_neurond_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/neurond
tests_fuzz_fuzz_neurond_LDADD = neurond/libneurond.a neurond/libmaker.a \
	neurond/libnative.a $(COMMON_LIBS)
tests_fuzz_fuzz_neurond_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif
EXTRA_DIST += tests/fuzz/corpus/neurond tests/fuzz/corpus/neuron

dist_man_MANS += man/myelin-neurond.8
