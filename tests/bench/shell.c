/*
 * How long reading and resolving takes against the size of the text: the worst
 * of a few runs would be noise, so the best is printed.
 *
 * usage: shell [NAME]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shell/judging.h"
#include "stub.h"
#include "worst.h"

#define RUNS	3

static const struct judge_context context = {
	.cwd = "/home/agent/project", .home = "/home/agent",
	.user = "agent", .shell = "/bin/bash"
};

static double
run(const char *text, size_t len, unsigned long long *steps)
{
	struct timespec a, b;
	struct judging *j;
	double best = 1e9, ms;
	int i;

	for (i = 0; i < RUNS; i++) {
		stub_reset();
		clock_gettime(CLOCK_MONOTONIC, &a);
		if ((j = judging_new(&context)) == NULL)
			exit(1);
		judging_run(j, text, len, DIALECT_BASH);
		*steps = judging_steps(j);
		judging_free(j);
		clock_gettime(CLOCK_MONOTONIC, &b);
		ms = (double)(b.tv_sec - a.tv_sec) * 1e3 +
		    (double)(b.tv_nsec - a.tv_nsec) / 1e6;
		if (ms < best)
			best = ms;
	}
	return (best);
}

int
main(int argc, char *argv[])
{
	static const size_t sizes[] = { 1024, 4096, 16384, 65536 };
	unsigned long long steps;
	size_t i, k, len;
	char *text;
	double ms;

	printf("%-24s %10s %10s %10s %10s %12s\n", "milliseconds", "1 KiB",
	    "4 KiB", "16 KiB", "64 KiB", "steps/byte");
	for (i = 0; i < nworst; i++) {
		if (argc > 1 && strcmp(argv[1], worst[i].name) != 0)
			continue;
		printf("%-24s", worst[i].name);
		for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			text = worst_text(&worst[i], sizes[k], &len);
			if (text == NULL)
				return (1);
			ms = run(text, len, &steps);
			printf(" %10.3f", ms);
			free(text);
		}
		printf(" %12.1f\n", (double)steps / (double)len);
	}
	return (0);
}
