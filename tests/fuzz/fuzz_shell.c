/*
 * Shell text, its first byte choosing the dialect: reading and resolving any
 * text ends with a verdict, and a text that can't be parsed is never allowed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shell/judging_internal.h"
#include "shell/parser.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct parse {
	const char	*text;
	size_t		 len;
	enum dialect	 dialect;
	int		 failed;
};

static void
parse_all(struct judging *j, void *arg)
{
	struct parse *a = arg;
	struct parser p;
	struct list *list;
	int got;

	parser_init(&p, j, a->text, a->len, a->dialect);
	while ((got = parser_next(&p, &list)) == 1)
		;
	a->failed = got == -1;
}

static struct judging *
begin(void)
{
	static const struct judge_context context = {
		.cwd = "/home/agent/project", .home = "/home/agent",
		.user = "agent", .shell = "/bin/bash"
	};
	struct judging *j = judging_new(&context);

	if (j == NULL)
		abort();
	return (j);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parse a = { 0 };
	struct judging *j;
	char *text;

	if (size == 0)
		return (0);
	/* In a room of its own size, so that reading past it shows. */
	a.len = size - 1;
	if ((text = malloc(a.len == 0 ? 1 : a.len)) == NULL)
		abort();
	memcpy(text, data + 1, a.len);
	a.text = text;
	a.dialect = (data[0] & 1) ? DIALECT_DASH : DIALECT_BASH;

	j = begin();
	judging_guard(j, parse_all, &a);
	judging_free(j);

	j = begin();
	judging_run(j, a.text, a.len, a.dialect);
	if (judging_decides(j)->verdict == 0)
		abort();
	/* What shopt allows on one line can be read on the next alone. */
	if (a.failed && judging_decides(j)->verdict == VERDICT_ALLOW &&
	    memmem(a.text, a.len, "extglob", 7) == NULL)
		abort();
	judging_free(j);
	free(text);
	return (0);
}
