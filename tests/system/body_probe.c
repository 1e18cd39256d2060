/*
 * Stands where neuron-tool does, and tells how it was started: its result is
 * its arguments, fds, directory and what /proc/self says of it.  A path in the
 * arguments makes it misbehave.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runblock.h"

#define BLOCK_FD	3
#define MUCH		(9 << 20)	/* more than anybody keeps of a result */

static int
has(const struct runblock *rb, const char *word)
{
	return (memmem(rb->args, rb->args_size, word, strlen(word)) != NULL);
}

static void
fill(int fd, size_t n)
{
	static char block[65536];
	ssize_t wrote;

	memset(block, 'a', sizeof(block));
	while (n > 0) {
		wrote = write(fd, block, n < sizeof(block) ? n :
		    sizeof(block));
		if (wrote <= 0)
			_exit(2);
		n -= (size_t)wrote;
	}
}

static void
show_fds(void)
{
	struct dirent *d;
	DIR *list = opendir("/proc/self/fd");
	const char *comma = "";

	fprintf(stderr, ",\"fds\":[");
	while (list != NULL && (d = readdir(list)) != NULL) {
		if (d->d_name[0] == '.' || atoi(d->d_name) == dirfd(list))
			continue;
		fprintf(stderr, "%s%s", comma, d->d_name);
		comma = ",";
	}
	fprintf(stderr, "]");
	closedir(list);
}

/* The fields of /proc/self/status that say how it is confined. */
static void
show_status(void)
{
	static const char *const names[] = {
		"NoNewPrivs", "Seccomp", "Seccomp_filters", "CapEff"
	};
	char line[256], *value;
	FILE *f = fopen("/proc/self/status", "r");
	size_t i;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		if ((value = strchr(line, ':')) == NULL)
			continue;
		*value++ = '\0';
		value += strspn(value, "\t ");
		value[strcspn(value, "\n")] = '\0';
		for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (strcmp(line, names[i]) == 0)
				fprintf(stderr, ",\"%s\":\"%s\"", line, value);
	}
	if (f != NULL)
		fclose(f);
}

static void
show(int argc, char **argv, const struct runblock *rb, int can_write)
{
	char cwd[4096] = "", exe[4096] = "";
	int i;

	if (getcwd(cwd, sizeof(cwd)) == NULL ||
	    readlink("/proc/self/exe", exe, sizeof(exe) - 1) == -1)
		warn("self");
	fprintf(stderr, "{\"argv\":[");
	for (i = 0; i < argc; i++)
		fprintf(stderr, "%s\"%s\"", i == 0 ? "" : ",", argv[i]);
	fprintf(stderr, "],\"cwd\":\"%s\",\"exe\":\"%s\",\"args\":%.*s,"
	    "\"can_write\":%d", cwd, exe, (int)rb->args_size,
	    (const char *)rb->args, can_write);
	show_fds();
	show_status();
	fprintf(stderr, "}");
}

/* At once: a sanitizer's last words would stand in the result. */
static _Noreturn void
finish(int status)
{
	fflush(NULL);
	_exit(status);
}

int
main(int argc, char **argv)
{
	struct runblock *rb;
	struct stat st;
	const char *why;
	uint8_t *map;
	char c;

	if (fstat(BLOCK_FD, &st) == -1)
		err(3, "fd 3");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, BLOCK_FD,
	    0);
	if (map == MAP_FAILED)
		err(3, "mmap");
	if ((rb = runblock_decode(map, (size_t)st.st_size, &why)) == NULL)
		errx(3, "%s", why);
	if (has(rb, "\"much\"")) {
		fprintf(stderr, "{\"a\":\"");
		fill(STDERR_FILENO, MUCH);
		fprintf(stderr, "\"}");
		finish(0);
	}
	if (has(rb, "\"flood\"")) {
		fill(STDOUT_FILENO, 100 << 20);
		fprintf(stderr, "{}");
		finish(0);
	}
	if (has(rb, "\"garbage\"")) {
		fprintf(stderr, "no JSON");
		finish(0);
	}
	if (has(rb, "\"silent\""))
		finish(0);
	if (has(rb, "\"refuse\"")) {
		fprintf(stderr, "{\"error\":{\"code\":\"not_found\","
		    "\"message\":\"no such \\u001b[2Jfile\"}}");
		finish(1);
	}
	if (has(rb, "\"die\"")) {
		fprintf(stderr, "{\"half\":");
		kill(getpid(), SIGKILL);
	}
	if (has(rb, "\"sleep\"")) {
		printf("begun\n");
		fflush(stdout);
		sleep(600);
	}
	while (read(STDIN_FILENO, &c, 1) == 1)
		putchar(c);
	show(argc, argv, rb, pwrite(BLOCK_FD, "x", 1, 0) == 1);
	finish(0);
}
