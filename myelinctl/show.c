/*
 * Transcripts: what a session did, and removing those that are old.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "ids.h"
#include "words.h"

#define SHOW_DEFAULT	1000	/* calls, where -n says nothing */
#define PAGE		100	/* calls, of one request */

/* ---- sessions show ---- */

static const char *
text_of(const json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return (s != NULL ? s : "");
}

/* Lines of output, each safe for a terminal, with what stands before them. */
static void
show_output(const json_t *call, const char *stream)
{
	const json_t *text = json_object_get(call, stream);
	const char *p = json_string_value(text), *end, *nl;
	json_int_t dropped;

	if (p == NULL || json_string_length(text) == 0)
		return;
	if (strcmp(text_of(json_object_get(call, "encoding"), stream),
	    "base64") == 0) {
		printf("  %s: %zu characters of base64, no text\n", stream,
		    json_string_length(text));
		return;
	}
	printf("  %s:\n", stream);
	for (end = p + json_string_length(text); p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			nl = end;
		fputs("    ", stdout);
		words_put(stdout, p, (size_t)(nl - p));
		putchar('\n');
	}
	dropped = json_integer_value(json_object_get(json_object_get(call,
	    "dropped"), stream));
	if (dropped > 0)
		printf("    (%" JSON_INTEGER_FORMAT " bytes are not shown)\n",
		    dropped);
}

static void
show_end(const json_t *call)
{
	const json_t *code = json_object_get(call, "exit_code");
	const char *reason = text_of(call, "reason");
	const char *signal = text_of(call, "signal");
	const char *words = text_of(json_object_get(call, "error"),
	    "message");

	fputs("  ", stdout);
	words_put(stdout, text_of(call, "state"),
	    strlen(text_of(call, "state")));
	if (*reason != '\0') {
		fputs(": ", stdout);
		words_put(stdout, reason, strlen(reason));
	}
	if (*signal != '\0')
		printf(", signal %s", signal);
	else if (json_is_integer(code))
		printf(", exit %" JSON_INTEGER_FORMAT,
		    json_integer_value(code));
	printf(", after %" JSON_INTEGER_FORMAT " ms\n",
	    json_integer_value(json_object_get(call, "duration_ms")));
	if (*words != '\0') {
		fputs("  error: ", stdout);
		words_put(stdout, words, strlen(words));
		putchar('\n');
	}
}

static void
show_call(const json_t *call)
{
	const json_t *args = json_object_get(call, "arguments");
	char *text;

	printf("%s  ", text_of(call, "asked"));
	words_put(stdout, text_of(call, "call"),
	    strlen(text_of(call, "call")));
	fputs("  ", stdout);
	words_put(stdout, text_of(call, "tool"),
	    strlen(text_of(call, "tool")));
	putchar('\n');
	if (args != NULL && !json_is_null(args) &&
	    (text = json_dumps(args, JSON_COMPACT)) != NULL) {
		fputs("  arguments: ", stdout);
		words_put(stdout, text, strlen(text));
		putchar('\n');
		free(text);
	}
	show_end(call);
	show_output(call, "stdout");
	show_output(call, "stderr");
}

/* All of a session's calls, oldest first. */
static json_t *
read_calls(const struct options *o, const char *id, size_t most)
{
	json_t *calls = json_array(), *json, *next;
	json_int_t after = 0;
	char target[160];
	size_t left;

	for (;;) {
		left = most - json_array_size(calls);
		snprintf(target, sizeof(target), "/v1/sessions/%s/transcript?"
		    "after=%" JSON_INTEGER_FORMAT "&limit=%zu", id, after,
		    left < PAGE ? left : PAGE);
		json = api_call(o, o->operator ? OPERATOR : AGENT, "GET",
		    target, NULL);
		if (json == NULL) {
			json_decref(calls);
			return (NULL);
		}
		json_array_extend(calls, json_object_get(json, "calls"));
		next = json_object_get(json, "next");
		after = json_integer_value(next);
		json_decref(json);
		if (after == 0 || json_array_size(calls) >= most)
			break;
	}
	return (json_pack("{s:s,s:o,s:o}", "session", id, "calls", calls,
	    "next", after == 0 ? json_null() : json_integer(after)));
}

int
session_show(const struct options *o, const char *id)
{
	json_t *json, *call;
	size_t i;

	if (!id_ok(ID_SESSION, id))
		return (usage_error(o, "sessions show: \"%s\" is not the id "
		    "of a session (s-...)", id));
	json = read_calls(o, id, o->most != 0 ? o->most : SHOW_DEFAULT);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else {
		json_array_foreach(json_object_get(json, "calls"), i, call) {
			if (i > 0)
				putchar('\n');
			show_call(call);
		}
		if (json_array_size(json_object_get(json, "calls")) == 0)
			printf("The session made no call.\n");
		if (!json_is_null(json_object_get(json, "next")))
			printf("\nThere are more; -n N shows more.\n");
	}
	json_decref(json);
	return (0);
}

/* ---- prune ---- */

int
cmd_prune(struct options *o, int argc, char **argv)
{
	json_t *body, *json;

	(void)argv;
	if (argc != 0)
		return (usage_error(o, "prune takes no operand"));
	body = json_pack("{s:b}", "dry_run", o->dry_run);
	if (o->older_than >= 0)
		json_object_set_new(body, "older_than_s",
		    json_integer((json_int_t)o->older_than));
	json = api_call(o, OPERATOR, "POST", "/v1/prune", body);
	if (json == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(json);
	else
		printf("%" JSON_INTEGER_FORMAT " transcripts, %"
		    JSON_INTEGER_FORMAT " bytes, older than %"
		    JSON_INTEGER_FORMAT " s: %s\n",
		    json_integer_value(json_object_get(json, "transcripts")),
		    json_integer_value(json_object_get(json, "bytes")),
		    json_integer_value(json_object_get(json, "older_than_s")),
		    o->dry_run ? "would be removed" : "removed");
	json_decref(json);
	return (0);
}
