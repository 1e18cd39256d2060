/* What the kernel says of a process's time and state. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

#define WORK_NS	20000000	/* of the processor; timers alone use less */

/* "12 (name) S ...": the name may hold anything, the rest no parenthesis. */
static char
state_of(pid_t pid)
{
	char path[32], text[256], *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return ('\0');
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return ('\0');
	text[n] = '\0';
	p = strrchr(text, ')');
	return (p != NULL && p[1] == ' ' ? p[2] : '\0');
}

bool
work_goes_on(pid_t pid, uint64_t *cpu)
{
	struct timespec ts;
	clockid_t clock;
	uint64_t now = *cpu;
	bool used;
	char state;

	if (clock_getcpuclockid(pid, &clock) == 0 &&
	    clock_gettime(clock, &ts) == 0)
		now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	used = now - *cpu >= WORK_NS;
	*cpu = now;
	state = state_of(pid);
	return (used || state == 'R' || state == 'D');
}
