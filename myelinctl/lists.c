/*
 * What there is: sessions, calls, tools, limits, who one is, how the
 * service is.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "ids.h"
#include "without.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define ROWS_DEFAULT	100
#define ALL_MOST	10000	/* sessions, of those that can live at a time */

static enum plane
plane_of(const struct options *o)
{
	return (o->operator ? OPERATOR : AGENT);
}

struct list {
	const char		*target;
	const char		*key;
	const struct column	*columns;
	size_t			 ncolumns;
	const char		*none;
};

/* The list of a command, as a table or as JSON. */
static int
list_show(const struct options *o, const struct list *list)
{
	size_t most = o->most != 0 ? o->most : ROWS_DEFAULT;
	json_t *json;

	json = api_list(o, plane_of(o), list->target, list->key, most);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		words_table(json_object_get(json, list->key), list->columns,
		    list->ncolumns, list->none);
		if (json_is_string(json_object_get(json, "next")) ||
		    json_is_integer(json_object_get(json, "next")))
			printf("There are more: -n %zu shows them.\n",
			    most * 10);
	}
	json_decref(json);
	return (0);
}

/* One object, as lines or as JSON. */
static int
object_show(const struct options *o, enum plane plane, const char *target,
    const struct column *columns, size_t n)
{
	json_t *json;

	json = api_call(o, plane, "GET", target, NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else
		words_lines(json, columns, n);
	json_decref(json);
	return (0);
}

static int
no_operands(const struct options *o, const char *name, int argc)
{
	return (argc == 0 ? 0 :
	    usage_error(o, "%s takes no operand", name));
}

/* ---- sessions, calls ---- */

static const struct column call_columns[] = {
	{ "CALL", "call", 0 },
	{ "TOOL", "tool", 0 },
	{ "STATE", "state", 0 },
	{ "REASON", "reason", 0 },
	{ "EXIT", "exit_code", 1 },
	{ "SIGNAL", "signal", 0 },
	{ "MS", "duration_ms", 1 },
	{ "PRINCIPAL", "principal", 0 },
	{ "ASKED", "asked", 0 },
};

int
cmd_calls(struct options *o, int argc, char **argv)
{
	struct list list = { "/v1/calls", "calls", call_columns,
	    NITEMS(call_columns), "There is no call." };
	char target[96];

	(void)argv;
	if (argc != 0)
		return (no_operands(o, "calls", argc));
	if (o->session != NULL) {
		if (!id_ok(ID_SESSION, o->session))
			return (usage_error(o, "--session: \"%s\" is not the "
			    "id of a session (s-...)", o->session));
		snprintf(target, sizeof(target), "/v1/sessions/%s/calls",
		    o->session);
		list.target = target;
	}
	return (list_show(o, &list));
}

static const struct column session_columns[] = {
	{ "SESSION", "session", 0 },
	{ "STATE", "state", 0 },
	{ "PRESET", "preset", 0 },
	{ "PROFILE", "profile", 0 },
	{ "CALLS", "calls.used", 1 },
	{ "OF", "calls.limit", 1 },
	{ "PRINCIPAL", "principal", 0 },
	{ "EXPIRES", "expires", 0 },
	{ "WORKSPACE", "workspace", 0 },
};

static int
session_open(const struct options *o)
{
	json_t *body = json_object(), *json;
	char neuron[ID_SIZE];
	const char *id;

	if (api_put_place(o, body) == -1 || (o->neuron != NULL &&
	    neuron_id(o, o->neuron, neuron, sizeof(neuron)) == -1)) {
		json_decref(body);
		return (EXIT_FAILED);
	}
	if (o->neuron != NULL)
		json_object_set_new(body, "neuron", json_string(neuron));
	if (o->expires != 0)
		json_object_set_new(body, "expires",
		    json_integer(o->expires));
	json = api_call(o, AGENT, "POST", "/v1/sessions", body);
	if (json == NULL)
		return (EXIT_FAILED);
	id = json_string_value(json_object_get(json, "session"));
	if (o->json)
		words_json(json);
	else if (id != NULL && id_ok(ID_SESSION, id))
		printf("%s\n", id);
	json_decref(json);
	return (0);
}

static int
session_end(const struct options *o, const char *id)
{
	char target[96];

	if (!id_ok(ID_SESSION, id))
		return (usage_error(o, "sessions end: \"%s\" is not the id of "
		    "a session (s-...)", id));
	snprintf(target, sizeof(target), "/v1/sessions/%s", id);
	return (api_delete(o, plane_of(o), target));
}

/* Each by itself: what opens sessions meanwhile is stopped by other means. */
static int
sessions_end_all(const struct options *o)
{
	json_t *json, *row;
	const char *id, *state;
	size_t i, n = 0;
	int status = 0;

	json = api_list(o, plane_of(o), "/v1/sessions", "sessions", ALL_MOST);
	if (json == NULL)
		return (EXIT_FAILED);
	json_array_foreach(json_object_get(json, "sessions"), i, row) {
		id = json_string_value(json_object_get(row, "session"));
		state = json_string_value(json_object_get(row, "state"));
		if (id == NULL || !id_ok(ID_SESSION, id) ||
		    (state != NULL && strcmp(state, "ended") == 0))
			continue;
		if (session_end(o, id) == 0)
			n++;
		else
			status = EXIT_FAILED;
	}
	json_decref(json);
	if (!o->json)
		printf("%zu ended.\n", n);
	return (status);
}

int
cmd_sessions(struct options *o, int argc, char **argv)
{
	static const struct list list = { "/v1/sessions", "sessions",
	    session_columns, NITEMS(session_columns),
	    "There is no session." };

	if (argc == 0)
		return (list_show(o, &list));
	if (argc == 1 && strcmp(argv[0], "open") == 0)
		return (session_open(o));
	if (argc == 2 && strcmp(argv[0], "end") == 0 &&
	    strcmp(argv[1], "all") == 0)
		return (sessions_end_all(o));
	if (argc == 2 && strcmp(argv[0], "end") == 0)
		return (session_end(o, argv[1]));
	if (argc == 2 && strcmp(argv[0], "show") == 0)
		return (session_show(o, argv[1]));
	return (usage_error(o, "sessions: nothing, \"open\", or \"end\" or "
	    "\"show\" and an id"));
}

/* ---- tools and limits ---- */

static const struct column tool_columns[] = {
	{ "TOOL", "name", 0 },
	{ "EFFECT", "effect", 0 },
	{ "MARKS", "marks", 0 },
	{ "ASKS", "asks", 0 },
};

int
cmd_tools(struct options *o, int argc, char **argv)
{
	json_t *json;

	(void)argv;
	if (argc != 0)
		return (no_operands(o, "tools", argc));
	json = api_call(o, AGENT, "GET", "/v1/tools", NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else
		words_table(json_object_get(json, "tools"), tool_columns,
		    NITEMS(tool_columns), "Your preset has no tool.");
	json_decref(json);
	return (0);
}

static const struct column limit_columns[] = {
	{ "LIMIT", "keyword", 0 },
	{ "VALUE", "value", 1 },
	{ "DEFAULT", "default", 1 },
	{ "LEAST", "min", 1 },
	{ "MOST", "max", 1 },
	{ "UNIT", "unit", 0 },
	{ "MEANING", "words", 0 },
};

int
cmd_limits(struct options *o, int argc, char **argv)
{
	json_t *json;

	(void)argv;
	if (argc != 0)
		return (no_operands(o, "limits", argc));
	json = api_call(o, plane_of(o), "GET", "/v1/limits", NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else
		words_table(json_object_get(json, "limits"), limit_columns,
		    NITEMS(limit_columns), "There is no limit.");
	json_decref(json);
	return (0);
}

/* ---- who, how, which ---- */

static const struct column who_columns[] = {
	{ "who", "who", 0 },
	{ "principal", "principal.name", 0 },
	{ "matched by", "principal.kind", 0 },
	{ "file", "principal.file", 0 },
	{ "line", "principal.line", 0 },
	{ "preset", "preset", 0 },
	{ "profiles", "profiles", 0 },
	{ "workspaces", "workspaces", 0 },
	{ "owner", "owner", 0 },
	{ "rights", "rights", 0 },
};

int
cmd_whoami(struct options *o, int argc, char **argv)
{
	(void)argv;
	if (argc != 0)
		return (no_operands(o, "whoami", argc));
	/* Rights are the operator socket's; presets the agent socket's. */
	return (object_show(o, plane_of(o), "/v1/whoami", who_columns,
	    NITEMS(who_columns) - !o->operator));
}

int
cmd_version(struct options *o, int argc, char **argv)
{
	(void)argv;
	if (argc != 0)
		return (no_operands(o, "version", argc));
	if (o->json)
		printf("{\"version\":\"%s\"}\n", VERSION WITHOUT_VERSION);
	else
		printf("myelinctl %s\n", VERSION WITHOUT_VERSION);
	return (0);
}
