/*
 * Opens a file, reads from it and closes it, again and again, and prints the
 * nanoseconds that it took each time: what a layer costs that looks at files.
 *
 *	files FILE COUNT
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct timespec a, b;
	char buf[4096];
	long count, i;
	int fd;

	if (argc != 3 || (count = strtol(argv[2], NULL, 10)) < 1)
		errx(1, "usage: files FILE COUNT");
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < count; i++) {
		fd = open(argv[1], O_RDONLY | O_CLOEXEC);
		if (fd == -1 || read(fd, buf, sizeof(buf)) == -1)
			err(1, "%s", argv[1]);
		close(fd);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%ld\n", ((b.tv_sec - a.tv_sec) * 1000000000L +
	    (b.tv_nsec - a.tv_nsec)) / count);
	return (0);
}
