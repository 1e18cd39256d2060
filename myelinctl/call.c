/*
 * myelinctl call: one use of any tool, its result as JSON.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "dry.h"
#include "follow.h"
#include "words.h"

#define ARGUMENT_MAX	(16 * 1024 * 1024)

static int
show(const struct options *o, const char *id)
{
	char target[96];
	json_t *json;

	if (!id_ok(ID_CALL, id))
		return (usage_error(o, "call show: \"%s\" is not the id of a "
		    "call (c-...)", id));
	snprintf(target, sizeof(target), "/v1/calls/%s", id);
	json = api_call(o, o->operator ? OPERATOR : AGENT, "GET", target,
	    NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	words_json(json);
	json_decref(json);
	return (0);
}

/* The answer is the call's record, which may still say that it runs. */
static int
cancel(const struct options *o, const char *id)
{
	char target[96];
	json_t *json;

	if (!id_ok(ID_CALL, id))
		return (usage_error(o, "call cancel: \"%s\" is not the id of "
		    "a call (c-...)", id));
	snprintf(target, sizeof(target), "/v1/calls/%s/cancel", id);
	json = api_call(o, AGENT, "POST", target, NULL);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	json_decref(json);
	return (0);
}

/* "-" is standard input. */
static json_t *
read_args(const struct options *o, const char *text)
{
	json_error_t error;
	json_t *args;
	char *bytes = NULL;
	size_t len = strlen(text);

	if (strcmp(text, "-") == 0) {
		if ((bytes = malloc(ARGUMENT_MAX + 1)) == NULL) {
			complain("out of memory");
			return (NULL);
		}
		len = fread(bytes, 1, ARGUMENT_MAX + 1, stdin);
		if (ferror(stdin) || len > ARGUMENT_MAX) {
			usage_error(o, "call: standard input: %s",
			    ferror(stdin) ? strerror(errno) :
			    "over 16777216 bytes");
			free(bytes);
			return (NULL);
		}
		text = bytes;
	}
	args = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (args == NULL)
		usage_error(o, "call: the arguments are not JSON: %s, at line "
		    "%d column %d", error.text, error.line, error.column);
	else if (!json_is_object(args)) {
		usage_error(o, "call: the arguments are a JSON object, like "
		    "{\"command\": \"ls\"}");
		json_decref(args);
		args = NULL;
	}
	free(bytes);
	return (args);
}

static json_t *
request(const struct options *o, const char *tool, json_t *args)
{
	json_t *name = json_string(tool), *body;

	if (name == NULL) {
		complain("the tool's name is not UTF-8");
		json_decref(args);
		return (NULL);
	}
	body = json_pack("{s:o,s:o}", "tool", name, "args", args);
	if (o->session != NULL && (o->workspace != NULL ||
	    o->read_only || o->profile != NULL || o->preset != NULL)) {
		usage_error(o, "call: -w, --read-only, -p and --preset belong "
		    "to the session");
		goto bad;
	}
	if (api_put_place(o, body) == -1 || api_put_call(o, body) == -1)
		goto bad;
	return (body);
bad:
	json_decref(body);
	return (NULL);
}

/* The whole result, output included, is asked for once the call ended. */
static int
result(const struct options *o, const struct follow *f)
{
	char target[96];
	const char *state;
	json_t *json;
	int ok;

	if (f->finished == NULL && f->response != NULL) {
		api_complain(f->response, f->refused);
		return (EXIT_FAILED);
	}
	if (f->call[0] == '\0') {
		if (f->why != NULL && *f->why != '\0')
			complain("the call can't be followed: %s", f->why);
		return (f->signal != 0 ? EXIT_SIGNAL + f->signal :
		    EXIT_FAILED);
	}
	snprintf(target, sizeof(target), "/v1/calls/%s", f->call);
	if ((json = api_call(o, AGENT, "GET", target, NULL)) == NULL)
		return (EXIT_FAILED);
	words_json(json);
	state = json_string_value(json_object_get(json, "state"));
	ok = state != NULL && strcmp(state, "completed") == 0;
	json_decref(json);
	return (f->signal != 0 ? EXIT_SIGNAL + f->signal :
	    ok ? 0 : EXIT_FAILED);
}

int
cmd_call(struct options *o, int argc, char **argv)
{
	struct follow f = { .socket = api_socket(o, AGENT) };
	char target[96] = "/v1/calls";
	json_t *args, *body;
	int status;

	if (argc == 2 && strcmp(argv[0], "show") == 0)
		return (show(o, argv[1]));
	if (argc == 2 && strcmp(argv[0], "explain") == 0)
		return (call_explain(o, argv[1]));
	if (argc == 2 && strcmp(argv[0], "cancel") == 0 && !o->operator)
		return (cancel(o, argv[1]));
	if (o->operator)
		return (usage_error(o, "call: -o is for \"show\" and "
		    "\"explain\": operators make no calls"));
	if (argc != 2)
		return (usage_error(o, "call: a tool and its arguments, or "
		    "\"show\", \"explain\" or \"cancel\" and the id of a "
		    "call"));
	if (o->session != NULL && !id_ok(ID_SESSION, o->session))
		return (usage_error(o, "--session: \"%s\" is not the id of a "
		    "session (s-...)", o->session));
	if (o->session != NULL)
		snprintf(target, sizeof(target), "/v1/sessions/%s/calls",
		    o->session);
	if ((args = read_args(o, argv[1])) == NULL)
		return (EXIT_USAGE);
	if ((body = request(o, argv[0], args)) == NULL)
		return (EXIT_FAILED);
	if (o->dry_run)
		return (dry_run(o, target, body));
	follow_call(&f, target, body);
	json_decref(body);
	status = result(o, &f);
	follow_free(&f);
	return (status);
}
