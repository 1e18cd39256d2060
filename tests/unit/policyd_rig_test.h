/*
 * What the tests of the real policyd share: one rig, and the shape of its
 * answers.
 */
#ifndef MYELIN_POLICYD_RIG_TEST_H
#define MYELIN_POLICYD_RIG_TEST_H

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "policyd_rig.h"
#include "unit.h"

static struct rig rig;

static inline void
start(void)
{
	rig_init(&rig);
	ck_assert_int_eq(rig_start(&rig), 0);
}

static inline void
stop(void)
{
	rig_end(&rig);
}

/* Milliseconds of the clock that nobody sets. */
static inline int64_t
steady_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

static inline uint64_t
user(void)
{
	uint64_t handle;
	char words[512];

	handle = rig_peer(&rig, RIG_AGENT, RIG_USER, 0, words, sizeof(words));
	ck_assert_uint_ne(handle, 0);
	return (handle);
}

static inline uint64_t
operator(void)
{
	uint64_t handle;
	char words[512];

	handle = rig_peer(&rig, RIG_OPERATOR, 0, 0, words, sizeof(words));
	ck_assert_uint_ne(handle, 0);
	return (handle);
}

/* The refusal of a request: its status and code; words are returned. */
static inline void
want_refusal(uint32_t request, unsigned status, const char *code,
    const char *word)
{
	uint32_t retry;
	unsigned got;
	json_t *json;

	json = rig_reply(&rig, RIG_AGENT, request, &got, &retry);
	ck_assert_uint_eq(got, status);
	ck_assert_str_eq(rig_text(json, "error.code"), code);
	ck_assert_msg(strstr(rig_text(json, "error.message"), word) != NULL,
	    "\"%s\" is not in: %s", word, rig_text(json, "error.message"));
	if (strcmp(code, "too_many") == 0)
		ck_assert_uint_gt(retry, 0);
	json_decref(json);
}

static inline void
want_end(json_t *json, const char *state, const char *reason)
{
	ck_assert_str_eq(rig_text(json, "state"), state);
	ck_assert_str_eq(rig_text(json, "reason"), reason);
	json_decref(json);
}

static inline void
want_kill(unsigned cause, const char *call)
{
	char id[ID_SIZE];
	struct got g;

	rig_want(&rig, RIG_LAUNCH, MSG_KILL, &g);
	ck_assert_uint_eq(dec_u8(&g.d), cause);
	dec_str(&g.d, id, sizeof(id));
	ck_assert_str_eq(id, call);
}

static inline void
launched(uint64_t handle, const char *session, struct rig_call *c)
{
	rig_asked(&rig, rig_ask(&rig, handle, session, "exec"), c);
	rig_verdict(&rig, c, VERDICT_ALLOW);
	rig_launch(&rig, c);
	rig_want(&rig, RIG_AGENT, MSG_CALL_JUDGED, &(struct got){0});
}

/* The files that policyd has open, as the kernel counts them. */
static inline unsigned
open_files(void)
{
	char path[64], to[8];
	unsigned n = 0;
	int i;

	for (i = 0; i < 1024; i++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)rig.pid,
		    i);
		n += readlink(path, to, sizeof(to)) != -1;
	}
	return (n);
}

/* It comes to that number: what it was told last may be under way. */
static inline void
want_open_files(unsigned want)
{
	unsigned n = open_files();
	int i;

	for (i = 0; i < RIG_WAIT_MS / 10 && n != want; i++) {
		usleep(10000);
		n = open_files();
	}
	ck_assert_uint_eq(n, want);
}

/* HOMES_ASK came once more, and its answer has been taken. */
static inline void
homes_told(void)
{
	static unsigned seen;
	uint64_t handle;
	unsigned status;
	json_t *json;
	int i, known = 0;

	if (rig_homes_asked < seen)
		seen = 0;
	for (i = 0; i < RIG_WAIT_MS / 100 && rig_homes_asked == seen; i++)
		ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 100,
		    &(struct got){0}), 0);
	ck_assert_uint_gt(rig_homes_asked, seen);
	seen = rig_homes_asked;
	handle = operator();
	for (i = 0; i < RIG_WAIT_MS / 10 && !known; i++) {
		json = rig_query(&rig, RIG_OPERATOR, handle, QUERY_STATUS, 0,
		    0, "", &status);
		known = json_is_true(json_object_get(json_object_get(json,
		    "homes"), "known"));
		json_decref(json);
		if (!known)
			usleep(10000);
	}
	ck_assert(known);
}

/* The programs' main. */
static inline int
rig_main(Suite *s)
{
	if (geteuid() != 0) {
		printf("1..0 # SKIP needs root\n");
		return (0);
	}
	return (unit_main(s));
}

#endif
