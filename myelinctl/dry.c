/*
 * The verdict on a call that does not run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "dry.h"
#include "words.h"

static const char *
text(const json_t *j, const char *name)
{
	const char *s = json_string_value(json_object_get(j, name));

	return (s == NULL ? "" : s);
}

/* A line of a title and words, safe for a terminal; none for no words. */
static void
line(const char *title, const char *words)
{
	if (*words == '\0')
		return;
	printf("  %-8s ", title);
	words_put(stdout, words, strlen(words));
	putchar('\n');
}

static void
print_place(const json_t *verdict)
{
	line("command", text(verdict, "command"));
	if (json_is_integer(json_object_get(verdict, "to")))
		printf("  %-8s %" JSON_INTEGER_FORMAT " to %"
		    JSON_INTEGER_FORMAT "\n", "bytes",
		    json_integer_value(json_object_get(verdict, "from")),
		    json_integer_value(json_object_get(verdict, "to")));
}

static void
print_verdict(const json_t *verdict)
{
	char *marks = words_value(json_object_get(verdict, "marks"));

	printf("%s: class %s, effect %s, marks %s\n",
	    text(verdict, "verdict"), *text(verdict, "class") != '\0' ?
	    text(verdict, "class") : "-", *text(verdict, "effect") != '\0' ?
	    text(verdict, "effect") : "-", marks);
	free(marks);
	line("rule", text(verdict, "rule"));
	line("at", text(verdict, "where"));
	print_place(verdict);
	line("because", text(verdict, "reason"));
	line("next", text(verdict, "next"));
}

static void
print_command(const json_t *command)
{
	const json_t *words = json_object_get(command, "words"), *one;
	size_t i;

	printf("  %s: ", text(command, "class"));
	json_array_foreach((json_t *)(uintptr_t)words, i, one) {
		if (i > 0)
			putchar(' ');
		words_put(stdout, json_string_value(one) == NULL ? "" :
		    json_string_value(one), json_string_length(one));
	}
	putchar('\n');
}

static void
print_explanation(const json_t *explanation)
{
	const json_t *list = json_object_get(explanation, "commands"), *one;
	size_t i;

	if (json_array_size(list) > 0)
		printf("found:\n");
	json_array_foreach((json_t *)(uintptr_t)list, i, one)
		print_command(one);
	if (json_is_true(json_object_get(explanation, "cut")))
		printf("  and more than is shown\n");
}

int
dry_run(const struct options *o, const char *target, json_t *body)
{
	const char *verdict;
	json_t *answer;
	int allowed;

	json_object_set_new(body, "dry_run", json_true());
	if ((answer = api_call(o, AGENT, "POST", target, body)) == NULL)
		return (o->failure);
	if (o->json)
		words_json(answer);
	else {
		print_verdict(json_object_get(answer, "judged"));
		print_explanation(json_object_get(answer, "explanation"));
	}
	verdict = text(answer, "verdict");
	allowed = strcmp(verdict, "allow") == 0;
	json_decref(answer);
	return (allowed ? 0 : EXIT_FAILED);
}
