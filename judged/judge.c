/*
 * Judging a call: schema, verdict, run block.
 *
 * What a command would do is not looked at here: verdicts are by tool and
 * effect alone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "groups.h"
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

/* Cwd, environment, and the block made of all that. */
static int
encode(struct runblock *rb, const struct arguments *arguments,
    struct judgement *j)
{
	rb->cwd = (char *)(uintptr_t)arguments->cwd;
	rb->envc = arguments->nenv;
	rb->env = arguments->env;
	if ((j->run_fd = runblock_encode(rb)) != -1)
		return (0);
	if (errno == E2BIG)
		why_set(&j->reason, "args: arguments and environment together "
		    "are over %d bytes", rb->flags & RUNBLOCK_F_BODY ?
		    RUNBLOCK_BODY_MAX : RUNBLOCK_MAX);
	else
		why_set(&j->reason, "the run block can't be made: %s",
		    strerror(errno));
	return (-1);
}

/* A body reads its arguments itself: as they were judged, in one spelling. */
static int
build_body(const struct tool *tool, const struct arguments *arguments,
    struct judgement *j)
{
	char *argv[] = { (char *)(uintptr_t)tool->body, NULL };
	struct runblock rb = { .flags = RUNBLOCK_F_BODY, .argc = 1,
	    .argv = argv };
	char *args;
	int ok;

	args = json_dumps(arguments->args, JSON_COMPACT | JSON_SORT_KEYS);
	if (args == NULL) {
		why_set(&j->reason, "args: out of memory");
		return (-1);
	}
	rb.args = (const uint8_t *)args;
	rb.args_size = strlen(args);
	ok = encode(&rb, arguments, j);
	free(args);
	return (ok);
}

static int
build(const struct tool *tool, const struct arguments *arguments,
    const struct limits *limits, struct judgement *j)
{
	struct runblock rb = { .flags = 0 };
	struct argv argv;
	int ok = -1;

	if (arguments->pty != 0 && !tool->pty) {
		why_set(&j->reason, "pty: the tool \"%s\" has no use for a "
		    "terminal", tool->name);
		return (-1);
	}
	if (tool->body != NULL)
		return (build_body(tool, arguments, j));
	if (template_build(tool->argv, arguments->args, limits, &argv,
	    &j->reason) == 0) {
		rb.argc = argv.n;
		rb.argv = argv.v;
		rb.flags = arguments->pty != 0 ? RUNBLOCK_F_PTY : 0;
		rb.pty = arguments->pty;
		ok = encode(&rb, arguments, j);
	}
	argv_free(&argv);
	return (ok);
}

/* The schema, and which arguments exclude each other. */
static int
fits(const struct tool *tool, const json_t *args, struct why *why)
{
	if (schema_validate(tool->schema, args, "args", why) == -1)
		return (-1);
	return (groups_validate(tool->exactly_one, tool->at_most_one, args,
	    why));
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
	    (!WITHOUT(schema) &&
	    fits(tool, arguments.args, &j->reason) == -1) ||
	    build(tool, &arguments, limits, j) == -1)
		invalid(j, "input_schema in GET /v1/tools says what fits");
	else
		decide(tool, j);
	arguments_free(&arguments);
}
