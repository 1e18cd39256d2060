/*
 * Judging the command of a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "explain.h"
#include "limits.h"
#include "protocol.h"
#include "runblock.h"
#include "shell/judging.h"
#include "shell/shell.h"
#include "without.h"

#define AGENT_HOME	"/home/agent"
#define SHOWN_MAX	160	/* bytes of a command in a reason */
#define CWD_MAX		(2 * PATH_BYTES_MAX)

static void
run_vector(struct judging *j, const json_t *list)
{
	const char *argv[RUNBLOCK_ARGS_MAX];
	const json_t *one;
	size_t i, n = 0;

	json_array_foreach((json_t *)(uintptr_t)list, i, one)
		if (n < RUNBLOCK_ARGS_MAX)
			argv[n++] = json_string_value(one);
	judging_run_argv(j, argv, n);
}

/* python3 -c TEXT, by the tables that know what such a text can do. */
static void
run_code(struct judging *j, const char *program, const char *text)
{
	const char *argv[] = { program, "-c", text };

	judging_run_argv(j, argv, 3);
}

static void
run(struct judging *j, const struct tool *tool, const json_t *value)
{
	switch (tool->judges) {
	case JUDGES_SHELL:
		judging_run(j, json_string_value(value),
		    json_string_length(value), DIALECT_BASH);
		break;
	case JUDGES_VECTOR:
		run_vector(j, value);
		break;
	case JUDGES_PYTHON:
		run_code(j, "python3", json_string_value(value));
		break;
	case JUDGES_NOTHING:
		break;
	}
}

/* What its class asks about: a person knows whether it is meant. */
static void
take_ask(const struct finding *f, struct judgement *j)
{
	char shown[SHOWN_MAX];

	if (WITHOUT(class_asks))
		return;
	j->verdict = VERDICT_ASK;
	if (j->effect < (unsigned)f->effect)
		j->effect = f->effect;
	(void)snprintf(j->rule, sizeof(j->rule), "%s", f->class);
	explain_words(f->command, shown, sizeof(shown));
	why_set(&j->reason, "%s", f->rule);
	if (shown[0] != '\0')
		why_add(&j->reason, " (\"%s\", bytes %u to %u)", shown, f->from,
		    f->to);
	why_add(&j->reason, "; it needs an approval");
	j->next = "an operator approves the call";
}

static void
take(const struct judging *judging, struct judgement *j)
{
	const struct finding *f = judging_decides(judging);
	char shown[SHOWN_MAX];

	j->marks |= judging_marks(judging);
	j->class = f->class;
	j->from = f->from;
	j->to = f->to;
	explain_words(f->command, j->command, sizeof(j->command));
	if (explain_unresolved(judging))
		j->flags |= VERDICT_F_UNRESOLVED;
	if (f->verdict == VERDICT_ASK)
		take_ask(f, j);
	if (f->verdict != VERDICT_DENY || WITHOUT(hard_denies))
		return;
	j->verdict = VERDICT_DENY;
	(void)snprintf(j->rule, sizeof(j->rule), "%s", f->class);
	explain_words(f->command, shown, sizeof(shown));
	why_set(&j->reason, "%s (\"%s\", bytes %u to %u); such a command is "
	    "never run, whatever the policy", f->rule, shown, f->from, f->to);
	j->next = "do without it, or name what is meant more narrowly";
}

/* What a person would be told; policy may still ask about what is allowed. */
static void
explain(const struct judging *judging, const struct arguments *arguments,
    const struct judge_place *place, const char *cwd, struct judgement *j)
{
	if (place->explain || j->verdict == VERDICT_ASK)
		j->explain_fd = explain_memfd(judging, arguments, cwd);
}

void
command_judge(const struct tool *tool, const struct arguments *arguments,
    const struct judge_place *place, struct judgement *j)
{
	const char *roots[] = { place->workspace };
	struct judge_context context = {
		.home = AGENT_HOME, .user = "agent", .shell = "/bin/bash",
		.roots = roots, .nroots = place->workspace[0] != '\0',
		.streamed = place->streamed
	};
	struct judging *judging = NULL;
	const json_t *value = NULL;
	char cwd[CWD_MAX];

	/* a relative one starts where a call would, and has no ".." */
	(void)snprintf(cwd, sizeof(cwd), "%s%s%s", arguments->cwd[0] == '/' ?
	    "" : place->workspace[0] != '\0' ? place->workspace : AGENT_HOME,
	    arguments->cwd[0] == '/' || arguments->cwd[0] == '\0' ? "" : "/",
	    arguments->cwd);
	context.cwd = cwd;
	if (tool->judges != JUDGES_NOTHING)
		value = json_object_get(arguments->args,
		    tool->judged_argument);
	if (value == NULL)
		goto explained;
	if ((judging = judging_new(&context)) == NULL)
		goto nothing;
	run(judging, tool, value);
	take(judging, j);
explained:
	explain(judging, arguments, place, cwd, j);
	judging_free(judging);
	return;
nothing:
	if (j->verdict == VERDICT_ALLOW)
		j->verdict = VERDICT_ASK;
	why_set(&j->reason, "there is no memory to judge the command");
}
