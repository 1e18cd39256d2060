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

#define LONG	60	/* seconds, for what has to come */

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

/*
 * Seconds from the parent's death to the grandchild's, and the signal that it
 * died of; most if it lives, and 0.  It becomes our own child.
 */
static double
outlives(unsigned flags, int arm, int most, int *sig)
{
	struct pollfd p = { .events = POLLIN };
	siginfo_t left = { 0 };
	double took;
	pid_t parent;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	p.fd = start(flags, arm, &parent);
	ck_assert_int_eq((int)read(p.fd, &grandchild, sizeof(pid_t)),
	    (int)sizeof(pid_t));
	took = seconds();
	ck_assert_int_eq(kill(parent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(parent, NULL, 0), parent);
	*sig = 0;
	if (poll(&p, 1, most * 1000) == 0)
		took = most;
	else {
		took = seconds() - took;
		ck_assert_int_eq(waitid(P_PID, (id_t)grandchild, &left,
		    WEXITED), 0);
		ck_assert_int_eq(left.si_code, CLD_KILLED);
		*sig = left.si_status;
	}
	close(p.fd);
	return (took);
}

/* The kernel does it: the signal says so, which no handler ever sees. */
START_TEST(at_once)
{
	int sig;

	(void)outlives(0, 1, LONG, &sig);
	ck_assert_int_eq(sig, SIGKILL);
}
END_TEST

START_TEST(after_its_grace)
{
	int sig;
	double took = outlives(PROC_ROOT, 1, LONG, &sig);

	ck_assert_int_eq(sig, SIGALRM);
	ck_assert(took > PROC_GRACE - 1);
}
END_TEST

/* Without it the loop goes on: the two above test something. */
START_TEST(not_by_itself)
{
	siginfo_t left = { 0 };
	int sig;

	(void)outlives(0, 0, 1, &sig);
	ck_assert_int_eq(sig, 0);
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
