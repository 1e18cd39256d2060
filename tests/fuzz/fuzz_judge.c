/*
 * Shell text of a call, judged by the tables that are in force: no crash, no
 * hang, always a verdict, never an allow where the text can not be read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shell/judging.h"
#include "protocol.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

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
	judging_free(j);
	return (0);
}
