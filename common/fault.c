/*
 * Fault points; only in builds with --enable-faults.
 */
#include "fault.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"

static struct fault_plan *plan;
static int plan_fd = -1;

void
fault_map(int fd)
{
	void *at = mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		plan = at;
}

int
fault_open(const char *state)
{
	char path[PATH_BYTES_MAX];

	if (plan_fd != -1)
		return (plan_fd);
	snprintf(path, sizeof(path), "%s/%s", state, FAULT_FILE);
	plan_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (plan_fd == -1 || ftruncate(plan_fd, sizeof(*plan)) == -1)
		return (-1);
	fault_map(plan_fd);
	return (plan_fd);
}

int
fault_fd(void)
{
	return (plan_fd);
}

void
fault_at(const char *point)
{
	if (plan == NULL || strncmp(plan->point, point,
	    sizeof(plan->point)) != 0 || __atomic_load_n(&plan->left,
	    __ATOMIC_SEQ_CST) == 0 || __atomic_sub_fetch(&plan->left, 1,
	    __ATOMIC_SEQ_CST) != 0)
		return;
	__atomic_add_fetch(&plan->deaths, 1, __ATOMIC_SEQ_CST);
	(void)kill(getpid(), SIGKILL);
	/* PID 1 can't be killed from inside its own namespace. */
	(void)syscall(SYS_exit_group, 137);
}

void
fault_step(const char *kind, unsigned step)
{
	char point[sizeof(plan->point)];

	if (plan == NULL)
		return;
	snprintf(point, sizeof(point), "%s.%u", kind, step);
	fault_at(point);
}
