/*
 * Looks at shell text for the tests: reads texts from stdin, a NUL behind
 * each, and prints one line of JSON for each.
 *
 *	look -n		{"error": 0|1|2}: 1 a syntax error, 2 a bound
 *	look -a		and the tree
 *	look -r		the commands that the resolver finds, and its verdict
 *
 * -d: in the dialect of dash.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "look.h"
#include "protocol.h"
#include "stub.h"

#define INPUT_MAX	(64 * 1024 * 1024)

struct job {
	const char	*text;
	size_t		 len;
	enum dialect	 dialect;
	int		 tree;
};

static void
parse(struct judging *j, void *arg)
{
	struct job *job = arg;
	struct parser p;
	struct list *list;
	int got, first = 1;

	parser_init(&p, j, job->text, job->len, job->dialect);
	if (job->tree)
		printf("{\"tree\":[");
	while ((got = parser_next(&p, &list)) == 1)
		if (job->tree) {
			if (!first)
				putchar(',');
			first = 0;
			look_list(j, list);
		}
	if (job->tree)
		printf("],\"error\":%d}\n", got == 0 ? 0 : p.error);
	else
		printf("{\"error\":%d}\n", got == 0 ? 0 : p.error);
}

static void
resolve(struct judging *j, const struct job *job)
{
	const struct finding *f;
	size_t i;
	int unknown = 0;

	stub_reset();
	judging_run(j, job->text, job->len, job->dialect);
	f = judging_decides(j);
	for (i = 0; i < judging_count(j); i++)
		unknown |= strstr(judging_at(j, i)->rule,
		    "becomes code") != NULL;
	printf("{\"verdict\":\"%s\",\"class\":\"%s\",\"unknown\":%d,"
	    "\"commands\":[", verdict_name(f->verdict), f->class, unknown);
	for (i = 0; i < nseen; i++) {
		if (i > 0)
			putchar(',');
		look_string(seen[i].text, strlen(seen[i].text));
	}
	printf("],\"steps\":%llu}\n", (unsigned long long)judging_steps(j));
}

static void
look(const struct job *job, int what)
{
	static const struct judge_context context = {
		.cwd = "/home/agent/project", .home = "/home/agent",
		.user = "agent", .shell = "/bin/bash"
	};
	struct judging *j = judging_new(&context);
	struct job copy = *job;

	if (j == NULL)
		exit(1);
	if (what == 'r')
		resolve(j, job);
	else
		judging_guard(j, parse, &copy);
	judging_free(j);
}

int
main(int argc, char *argv[])
{
	struct job job = { 0 };
	char *text;
	size_t len, at = 0;
	int ch, what = 'n';

	while ((ch = getopt(argc, argv, "nard")) != -1) {
		if (ch == 'd')
			job.dialect = DIALECT_DASH;
		else if (ch == '?')
			return (2);
		else
			what = ch;
	}
	if ((text = malloc(INPUT_MAX)) == NULL)
		return (1);
	len = fread(text, 1, INPUT_MAX, stdin);
	while (at < len) {
		job.text = text + at;
		job.len = strnlen(job.text, len - at);
		job.tree = what == 'a';
		look(&job, what);
		at += job.len + 1;
	}
	free(text);
	return (0);
}
