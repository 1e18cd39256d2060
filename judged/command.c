/*
 * Judging the command of a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "limits.h"
#include "protocol.h"
#include "runblock.h"
#include "shell/judging.h"
#include "shell/shell.h"
#include "without.h"

#define AGENT_HOME	"/home/agent"
#define SHOWN_MAX	160	/* bytes of a command in a reason */

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

/* "rm -rf /": the words of the command that decided, as far as known. */
static void
shown(const struct command *c, char *dst, size_t size)
{
	size_t i, used = 0;
	int n;

	dst[0] = '\0';
	for (i = 0; c != NULL && i < c->argc && used < size; i++) {
		n = snprintf(dst + used, size - used, "%s%s%s", i > 0 ? " " :
		    "", c->argv[i].text == NULL ? "" : c->argv[i].text,
		    (c->argv[i].flags & (WORD_PREFIX | WORD_SPLITS)) != 0 ?
		    "[...]" : "");
		used += n < 0 ? 0 : (size_t)n;
	}
}

static void
take(const struct judging *judging, struct judgement *j)
{
	const struct finding *f = judging_decides(judging);
	char words[SHOWN_MAX];

	j->marks |= judging_marks(judging);
	j->class = f->class;
	if (f->verdict != VERDICT_DENY || WITHOUT(hard_denies))
		return;
	shown(f->command, words, sizeof(words));
	j->verdict = VERDICT_DENY;
	(void)snprintf(j->rule, sizeof(j->rule), "%s", f->class);
	why_set(&j->reason, "%s (\"%s\", bytes %u to %u); such a command is "
	    "never run, whatever the policy", f->rule, words, f->from, f->to);
	j->next = "do without it, or name what is meant more narrowly";
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
	char cwd[2 * PATH_BYTES_MAX];
	const json_t *value;
	struct judging *judging;

	if (tool->judges == JUDGES_NOTHING)
		return;
	value = json_object_get(arguments->args, tool->judged_argument);
	if (value == NULL)
		return;
	/* a relative one starts where a call would, and has no ".." */
	(void)snprintf(cwd, sizeof(cwd), "%s%s%s", arguments->cwd[0] == '/' ?
	    "" : place->workspace[0] != '\0' ? place->workspace : AGENT_HOME,
	    arguments->cwd[0] == '/' || arguments->cwd[0] == '\0' ? "" : "/",
	    arguments->cwd);
	context.cwd = cwd;
	if ((judging = judging_new(&context)) == NULL)
		goto nothing;
	run(judging, tool, value);
	take(judging, j);
	judging_free(judging);
	return;
nothing:
	if (j->verdict == VERDICT_ALLOW)
		j->verdict = VERDICT_ASK;
	why_set(&j->reason, "there is no memory to judge the command");
}
