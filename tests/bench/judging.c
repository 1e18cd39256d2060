/*
 * How long the judge takes against the size of the text, for each text that is
 * as hard as a text can be; and how long bash takes to read the largest.  The
 * worst of a few runs would be noise, so the best is printed.
 *
 * usage: judging [-b] [-t] [NAME]
 *
 *	-b	without bash
 *	-t	the text alone, as large as the largest
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shell/judging.h"
#include "protocol.h"
#include "worst.h"

#define RUNS		3
#define BASH_SECONDS	5

static const size_t sizes[] = { 4096, 8192, 16384, 32768, 65536 };
#define NSIZES		(sizeof(sizes) / sizeof(sizes[0]))

static const struct judge_context context = {
	.cwd = "/home/agent/project", .home = "/home/agent",
	.user = "agent", .shell = "/bin/bash"
};

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6);
}

static double
judge(const char *text, size_t len, enum verdict *verdict)
{
	double best = 1e9, start, ms;
	struct judging *j;
	int i;

	for (i = 0; i < RUNS; i++) {
		start = now();
		if ((j = judging_new(&context)) == NULL)
			exit(1);
		judging_run(j, text, len, DIALECT_BASH);
		*verdict = judging_decides(j)->verdict;
		judging_free(j);
		if ((ms = now() - start) < best)
			best = ms;
	}
	return (best);
}

/* Milliseconds of bash -n; negative: it crashed, or took too long. */
static double
bash_once(int fd)
{
	char name[] = "bash", option[] = "-n", path[] = "/dev/fd/3";
	char *argv[] = { name, option, path, NULL };
	char *env[] = { NULL };
	const struct timespec limit = { .tv_sec = BASH_SECONDS };
	posix_spawn_file_actions_t actions;
	sigset_t child;
	double start, ms;
	pid_t pid;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, 3);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY,
	    0);
	start = now();
	if (posix_spawn(&pid, "/bin/bash", &actions, NULL, argv, env) != 0)
		exit(1);
	posix_spawn_file_actions_destroy(&actions);
	if (sigtimedwait(&child, NULL, &limit) == -1)
		kill(pid, SIGKILL);
	ms = now() - start;
	if (waitpid(pid, &status, 0) == -1 || WIFSIGNALED(status))
		return (-1);
	return (ms);
}

static double
bash(const char *text, size_t len)
{
	double best = 1e9, ms;
	int fd, i;

	if ((fd = memfd_create("text", MFD_CLOEXEC)) == -1 ||
	    write(fd, text, len) != (ssize_t)len)
		exit(1);
	for (i = 0; i < RUNS && best > 0; i++)
		if ((ms = bash_once(fd)) < best)
			best = ms;
	close(fd);
	return (best);
}

/* The time for the largest size. */
static double
row(const struct worst *w, double empty)
{
	enum verdict verdict = 0;
	double ms = 0, peer;
	size_t k, len;
	char *text;

	printf("%-26s", w->name);
	for (k = 0; k < NSIZES; k++) {
		if ((text = worst_text(w, sizes[k], &len)) == NULL)
			exit(1);
		ms = judge(text, len, &verdict);
		printf(" %8.3f", ms);
		if (k == NSIZES - 1 && empty > 0) {
			peer = bash(text, len);
			if (peer < 0)
				printf(" %9s %8s", "none", "-");
			else
				printf(" %9.3f %7.2fx", peer, ms / peer);
		}
		free(text);
	}
	printf("  %s\n", verdict_name(verdict));
	fflush(stdout);
	return (ms);
}

static int
text_alone(const char *name)
{
	size_t i, len;
	char *text;

	for (i = 0; i < nworst; i++) {
		if (strcmp(name, worst[i].name) != 0)
			continue;
		text = worst_text(&worst[i], sizes[NSIZES - 1], &len);
		if (text == NULL || fwrite(text, 1, len, stdout) != len)
			return (1);
		free(text);
		return (0);
	}
	fprintf(stderr, "judging: no text is called %s\n", name);
	return (1);
}

int
main(int argc, char *argv[])
{
	int ch, with_bash = 1, text = 0;
	double empty = 0, ms, slowest = 0;
	const char *slow = "";
	sigset_t child;
	size_t i, n = 0;

	while ((ch = getopt(argc, argv, "bt")) != -1)
		if (ch == 'b')
			with_bash = 0;
		else if (ch == 't')
			text = 1;
		else
			return (1);
	argv += optind;
	if (text)
		return (argv[0] == NULL ? 1 : text_alone(argv[0]));
	/* Waited for with a limit. */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	if (with_bash)
		empty = bash("", 0);
	printf("%-26s %8s %8s %8s %8s %8s", "milliseconds", "4 KiB", "8 KiB",
	    "16 KiB", "32 KiB", "64 KiB");
	if (with_bash)
		printf(" %9s %8s", "bash -n", "ratio");
	printf("  verdict\n");
	for (i = 0; i < nworst; i++) {
		if (argv[0] != NULL && strcmp(argv[0], worst[i].name) != 0)
			continue;
		n++;
		if ((ms = row(&worst[i], empty)) > slowest) {
			slowest = ms;
			slow = worst[i].name;
		}
	}
	printf("%zu texts; the slowest of 64 KiB: %s, %.3f ms", n, slow,
	    slowest);
	if (with_bash)
		printf("; bash -n of nothing: %.3f ms", empty);
	printf("\n");
	return (0);
}
