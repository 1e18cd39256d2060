/* The real policyd whose clock of the day is stepped: approvals do not see it. */

#include "config.h"

#include <sys/mman.h>

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "policyd_rig_approvals.h"
#include "policyd_rig_test.h"

#define DAY		86400
#define EXPIRY_MS	10000	/* the least there is */
#define LONG_MS		3600000	/* that no machine takes */

static const struct rig_asks plain = { .tool = NULL };
static char		 path[128];
static int64_t		*offset;	/* two, see clock_step.c */

/* policyd with the other clock: its library is beside this program. */
static void
begin(void)
{
	char library[PATH_BYTES_MAX];
	ssize_t n;
	int fd;

	n = readlink("/proc/self/exe", library, sizeof(library) - 32);
	ck_assert_int_gt(n, 0);
	library[n] = '\0';
	snprintf(strrchr(library, '/'), 32, "/clock_step.so");
	rig_init(&rig);
	snprintf(path, sizeof(path), "%s/offset", rig.dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ne(fd, -1);
	ck_assert_int_eq(ftruncate(fd, 2 * sizeof(*offset)), 0);
	offset = mmap(NULL, 2 * sizeof(*offset), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(offset, MAP_FAILED);
	close(fd);
	setenv("CLOCK_STEP", path, 1);
	setenv("LD_PRELOAD", library, 1);
	rig.slice->limits.v[LIMIT_APPROVAL_EXPIRY] = EXPIRY_MS;
	ck_assert_int_eq(rig_start(&rig), 0);
	unsetenv("LD_PRELOAD");
}

/* What waits from now on waits longer than the test takes. */
static void
wait_long(void)
{
	rig.slice->limits.v[LIMIT_APPROVAL_EXPIRY] = LONG_MS;
	rig_reload(&rig);
}

static void
day_of(time_t t, char day[16])
{
	struct tm tm;

	ck_assert_ptr_nonnull(gmtime_r(&t, &tm));
	strftime(day, 16, "%Y-%m-%d", &tm);
}

/* The day that policyd thought it was; ours may end meanwhile. */
static void
created_says(time_t from, int64_t step)
{
	char first[16], last[16];
	const char *created;
	unsigned status;
	json_t *json;

	json = rig_query(&rig, RIG_OPERATOR, operator(), QUERY_APPROVALS, 0, 0,
	    "all", &status);
	created = rig_text(json_array_get(json_object_get(json, "approvals"),
	    0), "created");
	day_of(from + step, first);
	day_of(time(NULL) + step, last);
	ck_assert_msg(strncmp(created, first, 10) == 0 ||
	    strncmp(created, last, 10) == 0, "%s, not %s", created, first);
	json_decref(json);
}

START_TEST(steps_do_not_expire)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;
	time_t from;

	wait_long();
	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	*offset = DAY;
	ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], 1500, &(struct got){0}),
	    0);
	rig_state(&rig, approval, "pending");
	*offset = -2 * 3600;
	ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], 500, &(struct got){0}),
	    0);
	rig_state(&rig, approval, "pending");
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	*offset = DAY;
	rig_again(&rig, &c);
	rig_says(&rig, &c, &plain);
	rig_launch(&rig, &c);
	*offset = 0;
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
	/* it did see them */
	*offset = 3 * DAY;
	from = time(NULL);
	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	created_says(from, 3 * DAY);
}
END_TEST

static void
make_home(uint64_t handle, uint32_t idle)
{
	struct enc *e = enc_new(512);
	uint32_t request = ++rig.requests;
	unsigned status;

	enc_u32(e, request);
	enc_u64(e, handle);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, UINT32_MAX);
	enc_u32(e, idle);
	enc_u8(e, 0);
	enc_str(e, "");
	enc_str(e, "");
	enc_str(e, "");
	enc_str(e, "");
	rig_send(rig.fd[RIG_AGENT], MSG_HOME_MAKE, e, NULL, 0);
	json_decref(rig_reply(&rig, RIG_AGENT, request, &status, NULL));
	ck_assert_uint_eq(status, 201);
}

/* Unless its time has come, on a machine that stood still. */
static void
none_goes(int ms, int64_t due)
{
	struct got g;

	ck_assert(rig_recv(rig.fd[RIG_LAUNCH], ms, &g) == 0 ||
	    steady_ms() >= due);
}

/*
 * A persistent neuron is not idle for longer than it was; then it goes.  After
 * a start none goes before the time that it may be idle: that has to be over
 * first, or it is what keeps them.
 */
START_TEST(steps_destroy_nothing)
{
	uint64_t handle = user();
	int64_t from;
	struct got g;

	homes_told();
	ck_assert_int_eq(rig_recv(rig.fd[RIG_LAUNCH], 6000, &g), 0);
	from = steady_ms();
	make_home(handle, 8);
	none_goes(2500, from + 8000);
	*offset = 3 * DAY;
	make_home(handle, 7200);
	none_goes(500, from + 8000);
	*offset = 0;
	make_home(handle, 1);
	rig_want(&rig, RIG_LAUNCH, MSG_HOME_DROP, &g);
}
END_TEST

/* Back by two hours: it waits no longer for that, and no shorter. */
START_TEST(steps_do_not_prolong)
{
	char approval[ID_SIZE];
	struct rig_call c;
	int64_t from;

	from = steady_ms();
	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	*offset = -2 * 3600;
	rig_resolved(&rig, approval, APPROVAL_EXPIRED);
	ck_assert_int_ge(steady_ms() - from, EXPIRY_MS - 500);
	want_end(rig_finished(&rig, &c), "failed", "approval_expired");
}
END_TEST

/* The host sleeps longer than an approval waits, twice: time stood still. */
START_TEST(a_sleep_does_not_expire)
{
	uint64_t who = rig_operator(&rig, RIG_WATCHER);
	char approval[ID_SIZE];
	struct rig_call c;

	wait_long();
	rig_waits(&rig, user(), NULL, &plain, &c, approval);
	offset[0] = offset[1] = 3 * LONG_MS / 1000;
	ck_assert_int_eq(rig_recv(rig.fd[RIG_AGENT], 1500, &(struct got){0}),
	    0);
	rig_state(&rig, approval, "pending");
	rig_decides(&rig, who, DECIDE_ALLOW_ONCE, approval, 200, "allowed");
	rig_resolved(&rig, approval, APPROVAL_ALLOWED);
	offset[0] = offset[1] = 6 * LONG_MS / 1000;
	rig_again(&rig, &c);
	rig_says(&rig, &c, &plain);
	rig_launch(&rig, &c);
	rig_ended(&rig, &c, END_EXITED, 0, 0, "");
	want_end(rig_finished(&rig, &c), "completed", "");
}
END_TEST

int
main(void)
{
	Suite *s;
	TCase *tc;

#ifdef WITH_SANITIZERS
	/* their library must be the first */
	printf("1..0 # SKIP built with sanitizers\n");
	return (0);
#endif
	s = suite_create("policyd_clock");
	tc = tcase_create("started");
	tcase_add_checked_fixture(tc, begin, stop);
	tcase_add_test(tc, steps_do_not_expire);
	tcase_add_test(tc, steps_destroy_nothing);
	tcase_add_test(tc, steps_do_not_prolong);
	tcase_add_test(tc, a_sleep_does_not_expire);
	suite_add_tcase(s, tc);
	return (rig_main(s));
}
