/*
 * judged -j.
 */
#include <sys/prctl.h>
#include <sys/random.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alone.h"
#include "proc.h"
#include "report.h"
#include "rules.h"
#include "shell/judging.h"

#define AGENT_HOME	"/home/agent"
#define ROOTS_MAX	16

struct alone {
	int		 explain;
	int		 vector;
	const char	*cwd;
	const char	*roots[ROOTS_MAX];
	size_t		 nroots;
};

static _Noreturn void
usage(void)
{
	(void)fprintf(stderr,
	    "usage: judged -j [-e] [-x] [-d DIR] [-w DIR]...\n");
	exit(125);
}

static void
options(struct alone *a, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "jexd:w:")) != -1) {
		switch (c) {
		case 'j':
			break;
		case 'e':
			a->explain = 1;
			break;
		case 'x':
			a->vector = 1;
			break;
		case 'd':
			a->cwd = optarg;
			break;
		case 'w':
			if (a->nroots == ROOTS_MAX || optarg[0] != '/')
				usage();
			a->roots[a->nroots++] = optarg;
			break;
		default:
			usage();
		}
	}
	if (optind != argc || (a->cwd != NULL && a->cwd[0] != '/'))
		usage();
	if (a->cwd == NULL)
		a->cwd = a->nroots > 0 ? a->roots[0] : AGENT_HOME;
}

/* What is too long is read no further: the judging says so. */
static size_t
read_text(char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n;

	while (used < size) {
		n = read(STDIN_FILENO, buf + used, size - used);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			err(125, "standard input");
		if (n == 0)
			break;
		used += (size_t)n;
	}
	return (used);
}

static void
judge_vector(struct judging *j, const char *buf, size_t size)
{
	const char *argv[4096];
	size_t n = 0, i, len;

	for (i = 0; i < size && n < sizeof(argv) / sizeof(argv[0]);
	    i += len + 1) {
		len = strnlen(buf + i, size - i);
		argv[n++] = buf + i;
	}
	judging_run_argv(j, argv, n);
}

int
alone_main(int argc, char **argv, const struct proc_syscall *syscalls,
    unsigned long nsyscalls)
{
	struct alone a = { .cwd = NULL };
	/* without an operator's rules, but with what else is remembered */
	struct rule_call call = {
		.tool = "", .principal = "", .workspace = ""
	};
	struct judge_context context;
	struct judging *j;
	size_t size, seed = 0;
	json_t *out;
	char *buf, *text;

	options(&a, argc, argv);
	while (seed == 0)
		if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
			err(125, "getrandom");
	json_object_seed(seed);
	if ((buf = malloc(JUDGE_TEXT_MAX + 2)) == NULL)
		err(125, NULL);
	(void)setvbuf(stdout, NULL, _IOFBF, 64 * 1024);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		err(125, "no_new_privs");
	proc_filter(syscalls, nsyscalls);
	size = read_text(buf, JUDGE_TEXT_MAX + 1);
	buf[size] = '\0';
	context = (struct judge_context){
		.cwd = a.cwd, .home = AGENT_HOME, .user = "agent",
		.shell = "/bin/bash", .roots = a.roots, .nroots = a.nroots,
		.found = rules_found, .rules = &call
	};
	if ((j = judging_new(&context)) == NULL)
		err(125, NULL);
	if (a.vector)
		judge_vector(j, buf, size);
	else
		judging_run(j, buf, size, DIALECT_BASH);
	if ((out = report_judging(j, a.explain)) == NULL ||
	    (text = json_dumps(out, JSON_COMPACT)) == NULL)
		errx(125, "out of memory");
	(void)printf("%s\n", text);
	if (fflush(stdout) == EOF)
		err(125, "standard output");
	json_decref(out);
	free(text);
	free(buf);
	judging_free(j);
	return (0);
}
