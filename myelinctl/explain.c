/*
 * myelinctl call explain: a call's life, in order.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "ids.h"
#include "words.h"

static void	line(const char *, const char *, ...)
    __attribute__((__format__(__printf__, 2, 3)));

/* One line of the life; all of it is safe for a terminal. */
static void
line(const char *title, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1)
		return;
	printf("  %-10s ", title);
	words_put(stdout, text, strlen(text));
	putchar('\n');
	free(text);
}

static const json_t *
get(const json_t *object, const char *name)
{
	const json_t *v = json_object_get(object, name);

	return (json_is_null(v) ? NULL : v);
}

static const char *
text(const json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return (s != NULL ? s : "");
}

static json_int_t
number(const json_t *object, const char *name)
{
	return (json_integer_value(json_object_get(object, name)));
}

/* "a, b" of a list of words; "-" for none.  The caller frees it. */
static char *
list(const json_t *object, const char *name)
{
	return (words_value(json_object_get(object, name)));
}

static double
ms(const json_t *times, const char *name)
{
	return ((double)number(times, name) / 1000.0);
}

/* ---- the steps ---- */

static void
asked(const json_t *call)
{
	const char *session = text(call, "session");
	char *args = NULL;

	line("asked", "%s by %s: tool %s", text(call, "asked"),
	    *text(call, "principal") != '\0' ? text(call, "principal") : "?",
	    text(call, "tool"));
	if (*session != '\0')
		line("", "in session %s, neuron %s", session,
		    text(call, "neuron"));
	else
		line("", "in neuron %s, of its own", text(call, "neuron"));
	if (*text(call, "preset") != '\0')
		line("", "preset %s, profile %s", text(call, "preset"),
		    text(call, "profile"));
	if (*text(call, "arguments_sha256") != '\0')
		line("arguments", "sha256 %s", text(call, "arguments_sha256"));
	if (get(call, "arguments") != NULL)
		args = json_dumps(get(call, "arguments"), JSON_COMPACT |
		    JSON_ENCODE_ANY);
	if (args != NULL)
		line("", "%s", args);
	free(args);
}

static void
judged(const json_t *call, const json_t *times)
{
	const json_t *verdict = get(call, "judged");
	char *marks;

	if (*text(call, "verdict") == '\0') {
		line("judged", "no verdict is known");
		return;
	}
	marks = list(call, "marks");
	line("judged", "%s, after %.1f ms: effect %s, class %s, marks %s",
	    text(call, "verdict"), ms(times, "judge_us"),
	    *text(call, "effect") != '\0' ? text(call, "effect") : "-",
	    *text(call, "class") != '\0' ? text(call, "class") : "-", marks);
	free(marks);
	if (*text(call, "rule") != '\0')
		line("", "by the rule: %s%s%s", text(call, "rule"),
		    *text(verdict, "where") != '\0' ? ", " : "",
		    text(verdict, "where"));
	if (*text(verdict, "command") != '\0')
		line("", "of the command: %s", text(verdict, "command"));
	if (get(verdict, "to") != NULL)
		line("", "at bytes %" JSON_INTEGER_FORMAT " to %"
		    JSON_INTEGER_FORMAT " of its text",
		    number(verdict, "from"), number(verdict, "to"));
	if (*text(call, "why") != '\0')
		line("", "because %s", text(call, "why"));
	if (*text(verdict, "next") != '\0')
		line("", "next: %s", text(verdict, "next"));
}

static void
limits(const json_t *call)
{
	const json_t *l = get(call, "limits");

	if (l == NULL)
		return;
	line("limits", "%" JSON_INTEGER_FORMAT " ms, memory %"
	    JSON_INTEGER_FORMAT " bytes, cpu %.2f, pids %"
	    JSON_INTEGER_FORMAT, number(l, "timeout_ms"),
	    number(l, "memory"), (double)number(l, "cpu_milli") / 1000.0,
	    number(l, "pids"));
	line("", "output kept %" JSON_INTEGER_FORMAT " bytes, killed at %"
	    JSON_INTEGER_FORMAT, number(l, "output_kept"),
	    number(l, "output_killed"));
}

/* What happened before the program ran; nothing of it if it never did. */
static void
started(const json_t *call, const json_t *times)
{
	char *layers;

	if (times == NULL)
		return;
	line("waited", "%.1f ms for a place, %.1f ms for the neuron's turn",
	    ms(times, "wait_us"), ms(times, "queue_us"));
	if (number(times, "neuron_us") > 0)
		line("neuron", "made in %.1f ms", ms(times, "neuron_us"));
	if (number(times, "start_us") == 0 && number(times, "run_us") == 0) {
		line("started", "never");
		return;
	}
	line("started", "in %.1f ms; it ran for %.1f ms",
	    ms(times, "start_us"), ms(times, "run_us"));
	layers = list(call, "layers");
	line("layers", "%s; landlock %" JSON_INTEGER_FORMAT, layers,
	    number(call, "landlock_abi"));
	free(layers);
}

static void
output(const json_t *call)
{
	static const char *const streams[] = { "stdout", "stderr" };
	const json_t *bytes = get(call, "bytes"), *dropped;
	size_t i;

	if (bytes == NULL)
		return;
	dropped = get(call, "dropped");
	for (i = 0; i < 2; i++)
		line(i == 0 ? "output" : "", "%s %" JSON_INTEGER_FORMAT
		    " bytes, %" JSON_INTEGER_FORMAT " of them dropped, as %s",
		    streams[i], number(bytes, streams[i]),
		    number(dropped, streams[i]), text(get(call, "encoding"),
		    streams[i]));
}

static void
denials(const json_t *call)
{
	const json_t *one;
	size_t i;

	json_array_foreach(get(call, "denials"), i, one) {
		line("denied", "by %s: %s", text(one, "layer"),
		    text(one, "what"));
		if (number(one, "times") > 1)
			line("", "%" JSON_INTEGER_FORMAT " times",
			    number(one, "times"));
		if (*text(one, "rule") != '\0')
			line("", "rule %s", text(one, "rule"));
		if (*text(one, "next") != '\0')
			line("next", "%s", text(one, "next"));
	}
}

static void
ended(const json_t *call, const json_t *times)
{
	const json_t *usage = get(call, "usage"), *error;

	if (*text(call, "ended") == '\0') {
		line("now", "%s", text(call, "state"));
		return;
	}
	line("ended", "%s: %s%s%s", text(call, "ended"), text(call, "state"),
	    *text(call, "reason") != '\0' ? ", " : "", text(call, "reason"));
	if (*text(call, "signal") != '\0')
		line("", "killed by signal %s", text(call, "signal"));
	else if (get(call, "exit_code") != NULL)
		line("", "exit code %" JSON_INTEGER_FORMAT,
		    number(call, "exit_code"));
	if ((error = get(call, "error")) != NULL &&
	    *text(error, "message") != '\0')
		line("because", "%s", text(error, "message"));
	if (number(call, "leftover_processes") > 0)
		line("left over", "%" JSON_INTEGER_FORMAT " processes, which "
		    "were killed", number(call, "leftover_processes"));
	if (json_is_true(get(call, "neuron_retired")))
		line("", "its neuron would not empty and was retired");
	if (usage != NULL)
		line("used", "%.1f ms of processor, %" JSON_INTEGER_FORMAT
		    " bytes of memory at most%s", ms(usage, "cpu_us"),
		    number(usage, "peak_bytes"),
		    json_is_true(get(call, "usage_shared")) ?
		    " (with other calls of the neuron)" : "");
	if (times != NULL)
		line("in all", "%.1f ms; %.1f ms from its end to this record",
		    ms(times, "total_us"), ms(times, "end_us"));
	if (get(call, "transcript") != NULL)
		line("transcript", "%s", json_is_true(get(call,
		    "transcript")) ? "kept" : "could not be kept");
}

int
call_explain(const struct options *o, const char *id)
{
	const json_t *times;
	char target[96];
	json_t *call;

	if (!id_ok(ID_CALL, id))
		return (usage_error(o, "call explain: \"%s\" is not the id of "
		    "a call (c-...)", id));
	snprintf(target, sizeof(target), "/v1/calls/%s", id);
	call = api_call(o, o->operator ? OPERATOR : AGENT, "GET", target,
	    NULL);
	if (call == NULL)
		return (EXIT_FAILED);
	if (o->json)
		words_json(call);
	else {
		times = get(call, "times");
		printf("%s\n", id);
		asked(call);
		judged(call, times);
		limits(call);
		started(call, times);
		output(call);
		denials(call);
		ended(call, times);
	}
	json_decref(call);
	return (0);
}
