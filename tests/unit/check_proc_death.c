/*
 * proc_die_with_parent(): a process that hears nothing any more dies with its
 * parent all the same.
 */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "proc.h"
#include "unit.h"

static pid_t grandchild;

static double
seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

/* A grandchild that turns in a loop, holding the pipe's writing end. */
static int
start(unsigned flags, int arm, pid_t *parent)
{
	struct timespec nap = { .tv_nsec = 1000000 };
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_ne(*parent = fork(), -1);
	if (*parent == 0) {
		if (fork() == 0) {
			close(fds[0]);
			if (arm)
				proc_die_with_parent(flags);
			grandchild = getpid();
			if (write(fds[1], &grandchild, sizeof(pid_t)) == -1)
				_exit(1);
			for (;;)
				nanosleep(&nap, NULL);
		}
		pause();
	}
	close(fds[1]);
	return (fds[0]);
}

/* Seconds from the parent's death to the grandchild's; most if it lives. */
static double
outlives(unsigned flags, int arm, int most)
{
	struct pollfd p = { .events = POLLIN };
	double began;
	pid_t parent;
	int n;

	p.fd = start(flags, arm, &parent);
	ck_assert_int_eq((int)read(p.fd, &grandchild, sizeof(pid_t)),
	    (int)sizeof(pid_t));
	began = seconds();
	ck_assert_int_eq(kill(parent, SIGKILL), 0);
	waitpid(parent, NULL, 0);
	n = poll(&p, 1, most * 1000);
	close(p.fd);
	return (n == 0 ? most : seconds() - began);
}

START_TEST(at_once)
{
	ck_assert(outlives(0, 1, 3) < 1);
}
END_TEST

START_TEST(after_its_grace)
{
	double took = outlives(PROC_ROOT, 1, PROC_GRACE + 3);

	ck_assert(took > PROC_GRACE - 1);
	ck_assert(took < PROC_GRACE + 2);
}
END_TEST

/* Without it the loop goes on: the two above test something. */
START_TEST(not_by_itself)
{
	siginfo_t left = { 0 };

	/* So that the one that is left becomes our own, to be killed. */
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert(outlives(0, 0, 1) >= 1);
	ck_assert_int_gt(grandchild, 0);
	ck_assert_int_eq(kill(grandchild, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)grandchild, &left, WEXITED), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("proc_death");
	TCase *tc = tcase_create("proc_death");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, at_once);
	tcase_add_test(tc, after_its_grace);
	tcase_add_test(tc, not_by_itself);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
