/*
 * Shell text of a call, judged by the tables that are in force: no crash, no
 * hang, always a verdict, never an allow where the text can not be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shell/judging_internal.h"
#include "shell/parser.h"
#include "protocol.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct parse {
	const char	*text;
	size_t		 len;
	int		 failed;
};

static void
parse_all(struct judging *j, void *arg)
{
	struct parse *a = arg;
	struct parser p;
	struct list *list;
	int got;

	parser_init(&p, j, a->text, a->len, DIALECT_BASH);
	while ((got = parser_next(&p, &list)) == 1)
		;
	a->failed = got == -1;
}

/* 1 if a shell would not read all of it. */
static int
fails(const struct judge_context *context, const char *text, size_t len)
{
	struct parse a = { text, len, 0 };
	struct judging *j = judging_new(context);

	if (j == NULL)
		return (0);
	judging_guard(j, parse_all, &a);
	judging_free(j);
	/* What shopt allows on one line can be read on the next alone. */
	return (a.failed && memmem(text, len, "extglob", 7) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const roots[] = { "/srv/src" };
	const struct judge_context context = {
		.cwd = "/srv/src", .home = "/home/agent", .user = "agent",
		.shell = "/bin/bash", .roots = roots, .nroots = 1
	};
	struct judging *j = judging_new(&context);
	const struct finding *f;
	size_t i;

	if (j == NULL)
		return (0);
	judging_run(j, (const char *)data, size, DIALECT_BASH);
	f = judging_decides(j);
	if (f == NULL || f->verdict < VERDICT_ALLOW ||
	    f->verdict > VERDICT_DENY || f->class == NULL || f->rule == NULL)
		abort();
	for (i = 0; i < judging_count(j); i++)
		if (judging_at(j, i)->verdict > f->verdict)
			abort();
	if (f->verdict == VERDICT_ALLOW && fails(&context, (const char *)data,
	    size))
		abort();
	judging_free(j);
	return (0);
}
