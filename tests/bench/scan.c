/*
 * How fast redaction is: the scanner against memcpy, and a pipe that is read,
 * scanned and written on against one that is read and discarded.  Medians of
 * rounds in turn, in one run, so that their ratios mean something.
 *
 * usage: scan FILE [ROUNDS]	some 64 MiB of text, such as logs
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chunk.h"
#include "scan.h"
#include "text.h"
#include "value_hash.h"
#include "values.h"

#define READ_MOST	CHUNK_MAX
#define PIPE		(128 * 1024)	/* as apid widens it */
#define ROUNDS_MOST	100

static uint8_t	*text, *copy;
static size_t	 size;
static volatile uint64_t sink;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
}

static void
load(const char *path)
{
	struct stat st;
	int fd;

	if ((fd = open(path, O_RDONLY)) == -1 || fstat(fd, &st) == -1)
		err(1, "%s", path);
	size = (size_t)st.st_size;
	if ((text = malloc(size)) == NULL || (copy = malloc(size)) == NULL)
		err(1, "memory");
	if (read(fd, text, size) != (ssize_t)size)
		err(1, "%s", path);
	memset(copy, 1, size);
	close(fd);
}

/* ---- the scanner alone ---- */

/* What is kept stands before what is fresh, as it does in apid. */
static uint64_t
scan_all(void)
{
	struct scan_result r;
	struct scan *s;
	size_t at, n, held = 0;
	uint64_t count;

	if ((s = scan_new()) == NULL)
		errx(1, "scan");
	for (at = 0; at < size; at += n) {
		n = size - at < READ_MOST ? size - at : READ_MOST;
		if (scan_feed(s, text + at - held, held + n, n,
		    at + n == size, &r) == -1)
			errx(1, "scan");
		held = held + n - r.keep;
	}
	count = scan_count(s);
	scan_free(s);
	return (count);
}

static double
time_scan(void)
{
	double start = now();

	sink += scan_all();
	return (now() - start);
}

static double
time_memcpy(void)
{
	double start = now();

	memcpy(copy, text, size);
	sink += copy[size / 2];
	return (now() - start);
}

/* ---- a pipe ---- */

/* It begins when *go is closed: a fork of this process takes its time. */
static pid_t
writer(int *from, int *go)
{
	int fds[2], start[2];
	size_t at;
	ssize_t n;
	pid_t pid;
	char c;

	if (pipe(fds) == -1 || pipe(start) == -1 || (pid = fork()) == -1)
		err(1, "pipe");
	if (pid == 0) {
		close(fds[0]);
		close(start[1]);
		(void)!read(start[0], &c, 1);
		for (at = 0; at < size; at += (size_t)n)
			if ((n = write(fds[1], text + at, size - at <
			    READ_MOST ? size - at : READ_MOST)) <= 0)
				_exit(1);
		_exit(0);
	}
	close(fds[1]);
	close(start[0]);
	(void)fcntl(fds[0], F_SETPIPE_SZ, PIPE);
	*from = fds[0];
	*go = start[1];
	return (pid);
}

static pid_t
reader(int *to)
{
	static char buf[256 * 1024];
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == -1 ||
	    (pid = fork()) == -1)
		err(1, "socketpair");
	if (pid == 0) {
		close(fds[1]);
		while (read(fds[0], buf, sizeof(buf)) > 0)
			;
		_exit(0);
	}
	close(fds[0]);
	*to = fds[1];
	return (pid);
}

static double
time_discard(void)
{
	static uint8_t buf[READ_MOST];
	double start;
	pid_t pid;
	int fd, go;

	pid = writer(&fd, &go);
	start = now();
	close(go);
	while (read(fd, buf, sizeof(buf)) > 0)
		;
	close(fd);
	waitpid(pid, NULL, 0);
	return (now() - start);
}

static int	as_text;	/* of an event: JSON */

/* Read, scanned, written to a socket. */
static double
time_stream(void)
{
	static uint8_t region[READ_MOST + 32 * 1024];
	static char line[6 * sizeof(region) + TEXT_SLACK];
	struct scan *s = scan_new();
	struct scan_result r;
	struct text_scan ts;
	size_t held = 0, gone = 0;
	const void *p;
	double start;
	pid_t from, to;
	int in, out, go;
	ssize_t n;

	to = reader(&out);
	from = writer(&in, &go);
	start = now();
	close(go);
	while ((n = read(in, region + held, READ_MOST)) > 0) {
		held += (size_t)n;
		if (scan_feed(s, region, held, (size_t)n, 0, &r) == -1)
			errx(1, "scan");
		p = region + gone;
		n = (ssize_t)(r.upto - gone);
		if (as_text) {
			text_scan(region + gone, (size_t)n, &ts);
			n = text_escape(line, region + gone, (size_t)n) -
			    line;
			p = line;
		}
		if (n > 0 && write(out, p, (size_t)n) != n)
			err(1, "write");
		gone = r.upto - r.keep;
		held -= r.keep;
		memmove(region, region + r.keep, held);
	}
	close(in);
	close(out);
	waitpid(from, NULL, 0);
	waitpid(to, NULL, 0);
	scan_free(s);
	return (now() - start);
}

/* ---- figures ---- */

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y ? -1 : x > y);
}

/* Two ways in turn; prints both and the ratio of their medians. */
static void
compare(const char *name, double (*base)(void), double (*ours)(void),
    int rounds, double aim)
{
	double a[ROUNDS_MOST] = { 0 }, b[ROUNDS_MOST] = { 0 };
	double gb = (double)size / 1e9;
	int i;

	for (i = 0; i < rounds; i++) {
		a[i] = base();
		b[i] = ours();
	}
	qsort(a, (size_t)rounds, sizeof(*a), by_size);
	qsort(b, (size_t)rounds, sizeof(*b), by_size);
	printf("%-44s %5.2f GB/s to %5.2f GB/s: %.2fx", name,
	    gb / b[rounds / 2], gb / a[rounds / 2],
	    a[rounds / 2] / b[rounds / 2]);
	if (aim > 0)
		printf(" (at least %.2fx)", aim);
	printf("\n");
	fflush(stdout);
}

static void
register_values(size_t n)
{
	struct value_form forms[VALUE_FORMS];
	struct value_key key = { { 0x9e3779b97f4a7c15, 3 }, { 0 } };
	size_t i, j, count, all = 0;
	char value[64];

	values_begin(&key);
	for (i = 0; i < n; i++) {
		/* As people have them: of no word's letters. */
		snprintf(value, sizeof(value), "%08zx/Value-%zu",
		    (i * 2654435761U) & 0xffffffff, i * i);
		count = value_forms(&key, (const uint8_t *)value,
		    strlen(value), forms);
		for (j = 0; j < count; j++)
			values_add(&forms[j]);
		all += count;
	}
	values_end((uint32_t)all);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 9;

	if (argc < 2 || rounds < 1 || rounds > ROUNDS_MOST)
		errx(2, "usage: scan FILE [ROUNDS, at most %d]", ROUNDS_MOST);
	signal(SIGPIPE, SIG_IGN);
	text_init();
	if (scan_init() == -1)
		return (1);
	load(argv[1]);
	printf("%zu MB, %llu secrets in it, medians of %d\n", size / 1000000,
	    (unsigned long long)scan_all(), rounds);
	compare("scanner to memcpy", time_memcpy, time_scan, rounds, 0.15);
	compare("read, redacted, sent to read and discarded", time_discard,
	    time_stream, rounds, 0.4);
	as_text = 1;
	compare("the same, as text of events", time_discard, time_stream,
	    rounds, 0);
	as_text = 0;
	register_values(10);
	compare("scanner, 10 values registered, to memcpy", time_memcpy,
	    time_scan, rounds, 0);
	compare("redacted, 10 values registered, to discarded", time_discard,
	    time_stream, rounds, 0);
	register_values(256);
	compare("scanner, 256 values registered, to memcpy", time_memcpy,
	    time_scan, rounds, 0);
	return (0);
}
