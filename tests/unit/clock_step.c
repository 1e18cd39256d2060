/*
 * Loaded before a program (LD_PRELOAD): clocks go wrong by as many seconds as
 * the file that CLOCK_STEP names says, at any time.  It holds two numbers: of
 * the day's clock, and of the one that counts while the host sleeps.  The
 * steady clock stays: both forward at once is what a sleep looks like.
 */
#include <sys/mman.h>
#include <sys/time.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int	clock_gettime(clockid_t, struct timespec *);

static const volatile int64_t	*offset;	/* two, or NULL */
static int			(*real)(clockid_t, struct timespec *);

static void __attribute__((__constructor__))
begin(void)
{
	const char *path = getenv("CLOCK_STEP");
	void *at;
	int fd;

	*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	if (path == NULL || (fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return;
	at = mmap(NULL, 2 * sizeof(*offset), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		offset = at;
}

int
clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (real == NULL || real(clock, ts) == -1)
		return (-1);
	if (offset != NULL && (clock == CLOCK_REALTIME ||
	    clock == CLOCK_REALTIME_COARSE))
		ts->tv_sec += offset[0];
	if (offset != NULL && (clock == CLOCK_BOOTTIME ||
	    clock == CLOCK_BOOTTIME_ALARM))
		ts->tv_sec += offset[1];
	return (0);
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts) == -1)
		return (-1);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return (0);
}

time_t
time(time_t *out)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) == -1)
		return (-1);
	if (out != NULL)
		*out = ts.tv_sec;
	return (ts.tv_sec);
}
