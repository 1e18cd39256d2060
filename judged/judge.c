/*
 * Judging a call: schema, verdict, run block.
 *
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "env.h"
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

/* Cwd and the block made of all that. */
static int
encode(struct runblock *rb, const struct arguments *arguments,
    struct judgement *j)
{
	rb->cwd = (char *)(uintptr_t)arguments->cwd;
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
static char *
body_arguments(const struct arguments *arguments, struct runblock *rb,
    struct judgement *j)
{
	char *args;

	args = json_dumps(arguments->args, JSON_COMPACT | JSON_SORT_KEYS);
	if (args == NULL) {
		why_set(&j->reason, "args: out of memory");
		return (NULL);
	}
	rb->args = (const uint8_t *)args;
	rb->args_size = strlen(args);
	return (args);
}

/* 1 if a list has this name, with a value or without. */
static int
listed(const struct strings *list, const char *name, size_t nlen)
{
	size_t i;

	for (i = 0; list != NULL && i < list->n; i++) {
		if (strcspn(list->v[i], "=") == nlen &&
		    strncmp(list->v[i], name, nlen) == 0)
			return (1);
	}
	return (0);
}

/*
 * A tool that can't do everything must not be made to by its environment
 * (GIT_PAGER and its like): with it only names from a list may come.  Where
 * any program can be run any name is as good.
 */
static int
check_env(const struct tools *tools, const struct tool *tool,
    const struct arguments *arguments, struct why *why)
{
	unsigned i, nbad = 0;
	char buf[WHY_NAME_SIZE];
	const char *entry;
	size_t n;

	if (tool->effect >= EFFECT_MUTATE_IRREVERSIBLE || WITHOUT(tool_env_list))
		return (0);
	for (i = 0; i < arguments->nenv; i++) {
		entry = arguments->env[i];
		n = strcspn(entry, "=");
		if (env_is_plain(entry, n) || listed(tools->env_allow, entry,
		    n))
			continue;
		if (nbad++ == 0)
			why_set(why, "env: with the tool \"%s\" only LANG, "
			    "LC_*, TZ, TERM and what the configuration "
			    "allows can be set, not ", tool->name);
		why_add(why, "%s\"%s\"", nbad == 1 ? "" : ", ",
		    why_name(entry, n, buf));
	}
	return (nbad == 0 ? 0 : -1);
}

static int
in_env(const json_t *env, const char *entry)
{
	const char *name;
	json_t *v;
	size_t n;

	json_object_foreach((json_t *)(uintptr_t)env, name, v) {
		n = strlen(name);
		if (strncmp(entry, name, n) == 0 && entry[n] == '=')
			return (1);
	}
	return (0);
}

/* The host's own, where the configuration lets it pass and none is named. */
static int
wanted(const char *entry, const struct tool *tool,
    const struct arguments *arguments)
{
	size_t n = strcspn(entry, "=");
	uint32_t i;

	if (entry[n] != '=' || !env_is_plain(entry, n) ||
	    env_check(entry, n, entry + n + 1) != ENV_OK)
		return (0);
	for (i = 0; i < arguments->nenv; i++) {
		if (strncmp(arguments->env[i], entry, n + 1) == 0)
			return (0);
	}
	return (!in_env(tool->env, entry));
}

/*
 * The call's environment and the declaration's, whose pairs are fixed: they
 * stand in the place of the call's.  The list is fresh memory, as are the
 * declaration's entries, from *own on.
 */
static char **
make_env(const struct tools *tools, const struct tool *tool,
    const struct arguments *arguments, uint32_t *n, uint32_t *own)
{
	const struct strings *host = tools->env_allow;
	size_t nhost = host != NULL ? host->n : 0, k;
	char **env, *entry;
	const char *name;
	json_t *v;
	uint32_t i;

	*n = 0;
	env = calloc(arguments->nenv + json_object_size(tool->env) + nhost +
	    1, sizeof(*env));
	if (env == NULL)
		return (NULL);
	for (k = 0; k < nhost; k++) {
		if (wanted(host->v[k], tool, arguments))
			env[(*n)++] = host->v[k];
	}
	for (i = 0; i < arguments->nenv; i++) {
		if (!in_env(tool->env, arguments->env[i]))
			env[(*n)++] = arguments->env[i];
	}
	*own = *n;
	json_object_foreach((json_t *)(uintptr_t)tool->env, name, v) {
		if (asprintf(&entry, "%s=%s", name,
		    json_string_value(v)) == -1)
			goto nomem;
		env[(*n)++] = entry;
	}
	return (env);
nomem:
	while (*n > *own)
		free(env[--*n]);
	free(env);
	return (NULL);
}

static int
build(const struct tools *tools, const struct tool *tool,
    const struct arguments *arguments, const struct limits *limits,
    struct judgement *j)
{
	struct runblock rb = { .flags = 0 };
	struct argv argv;
	char *args = NULL, *body[2] = { NULL, NULL };
	uint32_t own = 0, i;
	int ok = -1;

	if (arguments->pty != 0 && !tool->pty) {
		why_set(&j->reason, "pty: the tool \"%s\" has no use for a "
		    "terminal", tool->name);
		return (-1);
	}
	if (tool->body != NULL) {
		body[0] = (char *)(uintptr_t)tool->body;
		argv = (struct argv){ .v = body, .n = 1 };
		rb.flags = RUNBLOCK_F_BODY;
		if ((args = body_arguments(arguments, &rb, j)) == NULL)
			return (-1);
	} else if (template_build(tool->argv, tool->schema, arguments->args,
	    limits, &argv, &j->reason) == -1)
		goto out;
	rb.argc = argv.n;
	rb.argv = argv.v;
	if (arguments->pty != 0) {
		rb.flags |= RUNBLOCK_F_PTY;
		rb.pty = arguments->pty;
	}
	if ((rb.env = make_env(tools, tool, arguments, &rb.envc,
	    &own)) == NULL) {
		why_set(&j->reason, "env: out of memory");
		goto out;
	}
	ok = encode(&rb, arguments, j);
out:
	for (i = own; rb.env != NULL && i < rb.envc; i++)
		free(rb.env[i]);
	free(rb.env);
	free(args);
	if (tool->body != NULL)
		return (ok);
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

/* Guarantee C0: before the schema has its say, which it always has. */
static int
coerce(const struct tools *tools, const struct tool *tool,
    struct arguments *arguments)
{
	if (tools->coerce && (!tool->strict || WITHOUT(tool_strict)))
		(void)schema_coerce(tool->schema,
		    (json_t *)(uintptr_t)arguments->args);
	return (0);
}

/* Guarantee N7: what does not read takes another way, which is named. */
static void
name_the_way(const struct tool *tool, const struct arguments *arguments,
    struct judgement *j)
{
	const json_t *method;

	if (tool->egress != EGRESS_FETCH || arguments->args == NULL)
		return;
	method = json_object_get(arguments->args, "method");
	if (!json_is_string(method) ||
	    strcmp(json_string_value(method), "GET") == 0 ||
	    strcmp(json_string_value(method), "HEAD") == 0)
		return;
	why_add(&j->reason, "; %s reads with GET and HEAD alone: any other "
	    "method takes bash and curl, which an operator approves",
	    tool->name);
	j->next = "use bash with curl: the call then waits for an operator's "
	    "approval";
}

void
judge(const struct tools *tools, const struct limits *limits,
    const char *name, const struct judge_place *place, const uint8_t *bytes,
    size_t size, struct judgement *j)
{
	struct arguments arguments;
	const struct tool *tool;
	char buf[WHY_NAME_SIZE];

	memset(j, 0, sizeof(*j));
	j->run_fd = j->explain_fd = -1;
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
	    coerce(tools, tool, &arguments) == -1 ||
	    (!WITHOUT(schema) &&
	    fits(tool, arguments.args, &j->reason) == -1) ||
	    check_env(tools, tool, &arguments, &j->reason) == -1 ||
	    build(tools, tool, &arguments, limits, j) == -1) {
		invalid(j, "input_schema in GET /v1/tools says what fits");
		name_the_way(tool, &arguments, j);
	} else {
		decide(tool, j);
		command_judge(tools, tool, &arguments, place, j);
	}
	arguments_free(&arguments);
}
