# policyd: all but main() in a library, for the tests and fuzz targets.

noinst_LIBRARIES += policyd/libpolicyd.a
policyd_libpolicyd_a_SOURCES = \
	policyd/agent.c policyd/agent.h policyd/asked.h \
	policyd/api.c policyd/api.h \
	policyd/approval.c policyd/approval.h \
	policyd/approval_decide.c policyd/approval_digest.c \
	policyd/approval_query.c policyd/approval_start.c \
	policyd/audit.c policyd/audit.h policyd/audit_tail.c \
	policyd/audit_files.c policyd/audit_files.h \
	policyd/audit_news.c policyd/audit_news.h \
	policyd/auth.c policyd/auth.h \
	policyd/backup.c policyd/backup.h \
	policyd/budget.c policyd/budget.h \
	policyd/call.c policyd/call.h policyd/call_end.c \
	policyd/call_kept.c policyd/call_list.h policyd/call_result.c \
	policyd/conf.c policyd/conf.h \
	policyd/decide.c policyd/decide.h \
	policyd/drain.c policyd/drain.h \
	policyd/egress.c policyd/egress.h policyd/egress_internal.h \
	policyd/egress_grant.c policyd/egress_log.c \
	policyd/egress_run.c policyd/egress_show.c \
	policyd/dry.c policyd/dry.h \
	policyd/home.c policyd/home.h policyd/home_ask.c \
	policyd/home_list.c common/labels.c common/labels.h \
	policyd/hook.c policyd/hook.h policyd/hook_run.c \
	policyd/judge.c policyd/judge.h \
	policyd/idempotent.c policyd/idempotent.h \
	policyd/keys.c policyd/keys.h \
	policyd/launch.c policyd/launch.h \
	policyd/mcpkey.c policyd/mcpkey.h \
	policyd/metrics.c policyd/metrics.h \
	policyd/named.c policyd/named.h \
	policyd/neuron.c policyd/neuron.h \
	policyd/operator.c \
	policyd/peer.c policyd/peer.h \
	policyd/policyd.c policyd/policyd.h \
	policyd/query.c policyd/query.h \
	policyd/query_list.c policyd/query_status.c \
	policyd/recover.c policyd/recover.h \
	policyd/seal.c policyd/seal.h \
	policyd/seccomp.c \
	policyd/secrets.c policyd/secrets.h \
	policyd/session.c policyd/session.h \
	policyd/steer.c policyd/steer.h \
	policyd/store.c policyd/store.h policyd/store_call.c \
	policyd/store_migrate.c \
	policyd/store_approval.c policyd/store_copy.c \
	policyd/store_home.c policyd/store_idempotent.c \
	policyd/store_keys.c \
	policyd/store_read.c policyd/store_stmt.h \
	policyd/store_transcript.c \
	policyd/sync.c policyd/sync.h \
	policyd/text.c policyd/text.h \
	policyd/transcript.c policyd/transcript.h \
	policyd/transcript_prune.c \
	policyd/util.c policyd/util.h \
	policyd/verdict.c policyd/verdict.h \
	policyd/workspace.c policyd/workspace.h
policyd_libpolicyd_a_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEVENT_CFLAGS) \
	$(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(LIBMD_CFLAGS) \
	$(CRYPTO_CFLAGS)

POLICYD_LIBS = policyd/libpolicyd.a $(COMMON_LIBS) $(JANSSON_LIBS) \
	$(SQLITE_LIBS) $(LIBMD_LIBS) $(CRYPTO_LIBS)

myelinlib_PROGRAMS += policyd/policyd
policyd_policyd_SOURCES = policyd/main.c
policyd_policyd_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS)
policyd_policyd_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
policyd_policyd_LDADD = $(POLICYD_LIBS)

if HAVE_CHECK
POLICYD_TESTS = \
	tests/unit/check_policyd_approvals \
	tests/unit/check_policyd_replay \
	tests/unit/check_policyd_digest \
	tests/unit/check_policyd_audit \
	tests/unit/check_policyd_audit_chain \
	tests/unit/check_policyd_budget \
	tests/unit/check_policyd_calls \
	tests/unit/check_policyd_clock \
	tests/unit/check_policyd_deaths \
	tests/unit/check_policyd_decide \
	tests/unit/check_policyd_egress \
	tests/unit/check_policyd_egress_grants \
	tests/unit/check_policyd_homes \
	tests/unit/check_policyd_hostile \
	tests/unit/check_policyd_idempotent \
	tests/unit/check_policyd_keys \
	tests/unit/check_policyd_named \
	tests/unit/check_policyd_peer \
	tests/unit/check_policyd_reload \
	tests/unit/check_policyd_secrets \
	tests/unit/check_policyd_store \
	tests/unit/check_policyd_text \
	tests/unit/check_policyd_transcripts \
	tests/unit/check_policyd_workspaces
check_PROGRAMS += $(POLICYD_TESTS) tests/unit/clock_step.so

POLICYD_RIG = \
	tests/unit/policyd_rig.c tests/unit/policyd_rig.h \
	tests/unit/policyd_rig_calls.c tests/unit/policyd_rig_test.h \
	tests/unit/unit.h
POLICYD_RIG_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) \
	$(LIBMD_CFLAGS)
POLICYD_RIG_LIBS = $(COMMON_LIBS) $(CHECK_LIBS) $(JANSSON_LIBS) $(LIBMD_LIBS)

POLICYD_RIG_APPROVALS = $(POLICYD_RIG) \
	tests/unit/policyd_rig_approvals.c tests/unit/policyd_rig_approvals.h
tests_unit_check_policyd_approvals_SOURCES = \
	tests/unit/check_policyd_approvals.c $(POLICYD_RIG_APPROVALS)
tests_unit_check_policyd_approvals_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_approvals_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_replay_SOURCES = \
	tests/unit/check_policyd_replay.c $(POLICYD_RIG_APPROVALS)
tests_unit_check_policyd_replay_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_replay_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_clock_SOURCES = \
	tests/unit/check_policyd_clock.c $(POLICYD_RIG_APPROVALS)
tests_unit_check_policyd_clock_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_clock_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_clock_step_so_SOURCES = tests/unit/clock_step.c
tests_unit_clock_step_so_CFLAGS = $(AM_CFLAGS) -fPIC -fno-sanitize=all
tests_unit_clock_step_so_LDFLAGS = -shared -fno-sanitize=all
tests_unit_clock_step_so_LDADD = -ldl
tests_unit_check_policyd_digest_SOURCES = tests/unit/check_policyd_digest.c \
	tests/unit/unit.h
tests_unit_check_policyd_digest_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_policyd_digest_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_audit_chain_SOURCES = \
	tests/unit/check_policyd_audit_chain.c $(POLICYD_RIG)
tests_unit_check_policyd_audit_chain_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_audit_chain_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_calls_SOURCES = \
	tests/unit/check_policyd_calls.c $(POLICYD_RIG)
tests_unit_check_policyd_calls_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_calls_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_transcripts_SOURCES = \
	tests/unit/check_policyd_transcripts.c $(POLICYD_RIG)
tests_unit_check_policyd_transcripts_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_transcripts_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_idempotent_SOURCES = \
	tests/unit/check_policyd_idempotent.c $(POLICYD_RIG)
tests_unit_check_policyd_idempotent_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_idempotent_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_homes_SOURCES = \
	tests/unit/check_policyd_homes.c tests/unit/policyd_rig_homes.h \
	$(POLICYD_RIG)
tests_unit_check_policyd_homes_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_homes_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_workspaces_SOURCES = \
	tests/unit/check_policyd_workspaces.c tests/unit/policyd_rig_homes.h \
	$(POLICYD_RIG)
tests_unit_check_policyd_workspaces_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_workspaces_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_named_SOURCES = \
	tests/unit/check_policyd_named.c $(POLICYD_RIG)
tests_unit_check_policyd_named_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_named_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_keys_SOURCES = \
	tests/unit/check_policyd_keys.c $(POLICYD_RIG)
tests_unit_check_policyd_keys_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_keys_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_reload_SOURCES = \
	tests/unit/check_policyd_reload.c $(POLICYD_RIG)
tests_unit_check_policyd_reload_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_reload_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_deaths_SOURCES = \
	tests/unit/check_policyd_deaths.c $(POLICYD_RIG)
tests_unit_check_policyd_deaths_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_deaths_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_egress_SOURCES = \
	tests/unit/check_policyd_egress.c tests/unit/policyd_rig_egress.h \
	$(POLICYD_RIG_APPROVALS)
tests_unit_check_policyd_egress_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_egress_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_egress_grants_SOURCES = \
	tests/unit/check_policyd_egress_grants.c \
	tests/unit/policyd_rig_egress.h $(POLICYD_RIG_APPROVALS)
tests_unit_check_policyd_egress_grants_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_egress_grants_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_hostile_SOURCES = \
	tests/unit/check_policyd_hostile.c $(POLICYD_RIG)
tests_unit_check_policyd_hostile_CPPFLAGS = $(POLICYD_RIG_CPPFLAGS)
tests_unit_check_policyd_hostile_LDADD = $(POLICYD_RIG_LIBS)
tests_unit_check_policyd_audit_SOURCES = tests/unit/check_policyd_audit.c \
	tests/unit/unit.h
tests_unit_check_policyd_audit_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_policyd_audit_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_budget_SOURCES = tests/unit/check_policyd_budget.c \
	tests/unit/unit.h
tests_unit_check_policyd_budget_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_policyd_budget_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_decide_SOURCES = tests/unit/check_policyd_decide.c \
	tests/unit/unit.h
tests_unit_check_policyd_decide_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_policyd_decide_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_peer_SOURCES = tests/unit/check_policyd_peer.c \
	tests/unit/unit.h
tests_unit_check_policyd_peer_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_policyd_peer_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_secrets_SOURCES = \
	tests/unit/check_policyd_secrets.c tests/unit/unit.h
tests_unit_check_policyd_secrets_CPPFLAGS = \
	$(policyd_libpolicyd_a_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_policyd_secrets_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_store_SOURCES = tests/unit/check_policyd_store.c \
	tests/unit/unit.h
tests_unit_check_policyd_store_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS) \
	$(CHECK_CFLAGS)
tests_unit_check_policyd_store_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
tests_unit_check_policyd_text_SOURCES = \
	tests/unit/check_policyd_text.c tests/unit/unit.h
tests_unit_check_policyd_text_CPPFLAGS = \
	$(policyd_libpolicyd_a_CPPFLAGS) $(CHECK_CFLAGS)
tests_unit_check_policyd_text_LDADD = $(POLICYD_LIBS) $(CHECK_LIBS)
endif

if FUZZERS
POLICYD_FUZZ = tests/fuzz/fuzz_policyd.c tests/fuzz/fuzz_policyd.h
noinst_PROGRAMS += \
	tests/fuzz/fuzz_policyd_agent \
	tests/fuzz/fuzz_policyd_egress \
	tests/fuzz/fuzz_policyd_judge \
	tests/fuzz/fuzz_policyd_launch \
	tests/fuzz/fuzz_policyd_operator
tests_fuzz_fuzz_policyd_agent_SOURCES = tests/fuzz/fuzz_policyd_agent.c \
	$(POLICYD_FUZZ)
tests_fuzz_fuzz_policyd_agent_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS)
tests_fuzz_fuzz_policyd_agent_LDADD = $(POLICYD_LIBS)
tests_fuzz_fuzz_policyd_agent_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_policyd_egress_SOURCES = tests/fuzz/fuzz_policyd_egress.c \
	$(POLICYD_FUZZ)
tests_fuzz_fuzz_policyd_egress_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS)
tests_fuzz_fuzz_policyd_egress_LDADD = $(POLICYD_LIBS)
tests_fuzz_fuzz_policyd_egress_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_policyd_judge_SOURCES = tests/fuzz/fuzz_policyd_judge.c \
	$(POLICYD_FUZZ)
tests_fuzz_fuzz_policyd_judge_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS)
tests_fuzz_fuzz_policyd_judge_LDADD = $(POLICYD_LIBS)
tests_fuzz_fuzz_policyd_judge_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_policyd_launch_SOURCES = tests/fuzz/fuzz_policyd_launch.c \
	$(POLICYD_FUZZ)
tests_fuzz_fuzz_policyd_launch_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS)
tests_fuzz_fuzz_policyd_launch_LDADD = $(POLICYD_LIBS)
tests_fuzz_fuzz_policyd_launch_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_policyd_operator_SOURCES = tests/fuzz/fuzz_policyd_operator.c \
	$(POLICYD_FUZZ)
tests_fuzz_fuzz_policyd_operator_CPPFLAGS = $(policyd_libpolicyd_a_CPPFLAGS)
tests_fuzz_fuzz_policyd_operator_LDADD = $(POLICYD_LIBS)
tests_fuzz_fuzz_policyd_operator_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
endif

EXTRA_DIST += tests/fuzz/corpus/policyd_agent tests/fuzz/corpus/policyd_egress \
	tests/fuzz/corpus/policyd_judge \
	tests/fuzz/corpus/policyd_launch tests/fuzz/corpus/policyd_operator

dist_man_MANS += man/myelin-policyd.8
