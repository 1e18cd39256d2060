/*
 * Judging a call: schema, verdict, run block.
 *
 * What a command would do is not looked at here: verdicts are by tool and
 * effect alone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "judge.h"
#include "protocol.h"
#include "runblock.h"
#include "schema.h"
#include "template.h"
#include "without.h"

static void
invalid(struct judgement *j, const char *next)
{
	j->verdict = VERDICT_INVALID;
	j->class = "";
	j->rule[0] = '\0';
	j->next = next;
}

static int
build(const struct tool *tool, const struct arguments *arguments,
    const struct limits *limits, struct judgement *j)
{
	struct runblock rb = { .flags = 0 };
	struct argv argv;
	char none[] = "";
	int ok = -1;

	if (arguments->pty != 0 && !tool->pty) {
		why_set(&j->reason, "pty: the tool \"%s\" has no use for a "
		    "terminal", tool->name);
		return (-1);
	}
	if (template_build(tool->argv, arguments->args, limits, &argv,
	    &j->reason) == -1)
		goto out;
	rb.cwd = arguments->cwd[0] == '\0' ? none :
	    (char *)(uintptr_t)arguments->cwd;
	rb.argc = argv.n;
	rb.argv = argv.v;
	rb.envc = arguments->nenv;
	rb.env = arguments->env;
	rb.flags = arguments->pty != 0 ? RUNBLOCK_F_PTY : 0;
	rb.pty = arguments->pty;
	j->run_fd = runblock_encode(&rb);
	if (j->run_fd == -1 && errno == E2BIG)
		why_set(&j->reason, "args: arguments and environment together "
		    "are over %d bytes", RUNBLOCK_MAX);
	else if (j->run_fd == -1)
		why_set(&j->reason, "the run block can't be made: %s",
		    strerror(errno));
	else
		ok = 0;
out:
	argv_free(&argv);
	return (ok);
}

static void
decide(const struct tool *tool, struct judgement *j)
{
	j->effect = tool->effect;
	j->marks = tool->marks;
	j->class = effect_name(tool->effect);
	j->next = "";
	j->reason.text[0] = '\0';
	if (!tool->asks) {
		j->verdict = VERDICT_ALLOW;
		return;
	}
	j->verdict = VERDICT_ASK;
	snprintf(j->rule, sizeof(j->rule), "tool %s asks", tool->name);
	why_set(&j->reason, "the declaration of \"%s\" says that each call "
	    "needs an approval", tool->name);
	j->next = "an operator approves the call";
}

void
judge(const struct tools *tools, const struct limits *limits,
    const char *name, const uint8_t *bytes, size_t size, struct judgement *j)
{
	struct arguments arguments;
	const struct tool *tool;
	char buf[WHY_NAME_SIZE];

	memset(j, 0, sizeof(*j));
	j->run_fd = -1;
	j->class = j->next = "";
	if ((tool = tools_find(tools, name)) == NULL) {
		why_set(&j->reason, "no tool \"%s\"",
		    why_name(name, strlen(name), buf));
		invalid(j, "GET /v1/tools lists the tools");
		return;
	}
	j->effect = tool->effect;
	j->marks = tool->marks;
	if (arguments_parse(&arguments, bytes, size,
	    limits->v[LIMIT_BODY], &j->reason) == -1 ||
	    (!WITHOUT(schema) && schema_validate(tool->schema,
	    arguments.args, "args", &j->reason) == -1) ||
	    build(tool, &arguments, limits, j) == -1)
		invalid(j, "input_schema in GET /v1/tools says what fits");
	else
		decide(tool, j);
	arguments_free(&arguments);
}
