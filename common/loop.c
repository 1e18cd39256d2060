/* Loop devices: which of them has a file. */
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

#define WAIT_MS		5

static int
has(int n, const struct stat *st)
{
	struct loop_info64 info = { 0 };
	char path[32];
	int fd, r;

	snprintf(path, sizeof(path), "/dev/loop%d", n);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1)
		return (0);
	r = ioctl(fd, LOOP_GET_STATUS64, &info);
	close(fd);
	return (r == 0 && info.lo_inode == st->st_ino &&
	    info.lo_device == st->st_dev);
}

/* By what each device says it has: that is right after a crash as well. */
static int
find(const struct stat *st)
{
	struct dirent *d;
	int n, found = -1;
	DIR *list;

	if ((list = opendir("/dev")) == NULL)
		return (-2);
	while (found == -1 && (d = readdir(list)) != NULL)
		if (sscanf(d->d_name, "loop%d", &n) == 1 && has(n, st))
			found = n;
	closedir(list);
	return (found);
}

int
loop_of(int file, unsigned ms)
{
	static const struct timespec pause = { 0, WAIT_MS * 1000000L };
	struct stat st;
	int n;

	if (fstat(file, &st) == -1)
		return (-2);
	while ((n = find(&st)) >= 0 && ms >= WAIT_MS) {
		nanosleep(&pause, NULL);
		ms -= WAIT_MS;
	}
	return (n);
}
