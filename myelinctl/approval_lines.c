/*
 * All of an approval, as lines for a person: nothing left out that runs.
 */
#include <err.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "words.h"

#define LABEL	12	/* columns of a label */
#define MARGIN	8	/* columns before a call's own text */

/* ---- lines ---- */

void
lines_add(struct lines *l, char *text, size_t hang, char mark)
{
	struct line *grown;
	size_t room = l->room;

	if (text == NULL)
		err(EXIT_FAILED, NULL);
	if (l->n == room) {
		room = room == 0 ? 32 : room * 2;
		grown = reallocarray(l->v, room, sizeof(*grown));
		if (grown == NULL)
			err(EXIT_FAILED, NULL);
		l->v = grown;
		l->room = room;
	}
	l->v[l->n++] = (struct line){ text, hang, mark };
}

void
lines_free(struct lines *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		free(l->v[i].text);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

size_t
lines_fit(const char *text, size_t columns)
{
	size_t n = 0, used = 0, w;

	while (text[n] != '\0') {
		w = (unsigned char)text[n] < 0x80 ? 1 : 2;
		if (n > 0 && used + w > columns)
			break;
		used += w;
		do
			n++;
		while (((unsigned char)text[n] & 0xc0) == 0x80);
	}
	return (n);
}

static void	label(struct lines *, const char *, const char *, ...)
    __attribute__((__format__(__printf__, 3, 4)));

/* What is given is safe already. */
static void
label(struct lines *l, const char *name, const char *fmt, ...)
{
	char *text, *all;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n == -1 || asprintf(&all, "%-*s%s", LABEL, name, text) == -1)
		err(EXIT_FAILED, NULL);
	free(text);
	lines_add(l, all, LABEL, '\0');
}

/* Text of a call's: a line for each of its lines, behind a margin. */
static void
block(struct lines *l, const char *text, size_t len)
{
	const char *end = text + len, *nl;
	char *safe, *all;
	size_t i = 0;

	do {
		nl = memchr(text, '\n', (size_t)(end - text));
		if (nl == NULL)
			nl = end;
		safe = words_plain(text, (size_t)(nl - text));
		if (asprintf(&all, "%*zu| %s", MARGIN - 2, ++i, safe) == -1)
			err(EXIT_FAILED, NULL);
		free(safe);
		lines_add(l, all, MARGIN, '+');
		text = nl + 1;
	} while (nl < end);
}

static char *
safe_of(const json_t *text)
{
	const char *p = json_string_value(text);

	return (p == NULL ? words_plain("", 0) :
	    words_plain(p, json_string_length(text)));
}

/* ---- the parts ---- */

static void
put_text(struct lines *l, const json_t *a, const char *name,
    const char *member)
{
	char *text = safe_of(json_object_get(a, member));

	if (*text != '\0')
		label(l, name, "%s", text);
	free(text);
}

static void
put_head(struct lines *l, const json_t *a)
{
	char *id = safe_of(json_object_get(a, "approval")), *text;

	label(l, "approval", "%s", id);
	free(id);
	text = approval_outcome(a);
	label(l, "state", "%s", text);
	free(text);
	text = approval_principal(approval_text(a, "principal"));
	label(l, "asked by", "%s", text);
	free(text);
	put_text(l, a, "asked", "created");
	put_text(l, a, "call", "call");
	put_text(l, a, "session", "session");
	put_text(l, a, "neuron", "neuron");
	put_text(l, a, "workspace", "workspace");
	put_text(l, a, "tool", "tool");
}

/* Who wants what where, without the names that only a machine needs. */
static void
put_brief(struct lines *l, const json_t *a)
{
	char *who, *what, *when, *session;

	who = approval_principal(approval_text(a, "principal"));
	when = safe_of(json_object_get(a, "created"));
	label(l, "asked by", "%s, %s", who, when);
	what = safe_of(json_object_get(a, "tool"));
	session = safe_of(json_object_get(a, "session"));
	label(l, "tool", "%s%s%s", what, *session != '\0' ? ", session " : "",
	    session);
	free(who);
	free(when);
	free(what);
	free(session);
	put_text(l, a, "workspace", "workspace");
}

static void
put_command_that_decided(struct lines *l, const json_t *a)
{
	const json_t *from = json_object_get(a, "from");
	const json_t *to = json_object_get(a, "to");
	char *text = safe_of(json_object_get(a, "command"));

	if (*text != '\0' && json_integer_value(to) > 0)
		label(l, "command", "%s  (bytes %" JSON_INTEGER_FORMAT " to %"
		    JSON_INTEGER_FORMAT ")", text, json_integer_value(from),
		    json_integer_value(to));
	else if (*text != '\0')
		label(l, "command", "%s", text);
	free(text);
}

static void
put_why(struct lines *l, const json_t *a, int brief)
{
	const json_t *marks = json_object_get(a, "marks");
	char *effect = safe_of(json_object_get(a, "effect"));
	char *list = words_value(marks), *safe;

	safe = words_plain(list, strlen(list));
	label(l, "effect", "%s%s%s", effect, json_array_size(marks) > 0 ?
	    ", marks: " : "", json_array_size(marks) > 0 ? safe : "");
	free(safe);
	free(list);
	free(effect);
	if (!brief)
		put_text(l, a, "class", "class");
	put_text(l, a, "why", "reason");
	/* An operator's rule has a place; others repeat the class. */
	if (!brief || *approval_text(a, "where") != '\0')
		put_text(l, a, "rule", "rule");
	put_text(l, a, "rule at", "where");
	put_command_that_decided(l, a);
	if (approval_pending(a) && !approval_rememberable(a))
		label(l, "remember", "it can be allowed once, and not for a "
		    "session");
}

static void
put_environment(struct lines *l, const json_t *env)
{
	const char *key;
	json_t *value;
	char *name, *text;

	json_object_foreach((json_t *)(uintptr_t)env, key, value) {
		name = words_plain(key, strlen(key));
		text = safe_of(value);
		label(l, "environment", "%s=%s", name, text);
		free(name);
		free(text);
	}
}

/*
 * What is shown is one argument's text, or all of them joined, which does not
 * tell where a word ends.  One text alone needs no second showing.
 */
static void
put_arguments(struct lines *l, const json_t *args)
{
	char *text, *safe;
	void *one;

	one = json_object_iter((json_t *)(uintptr_t)args);
	if (one == NULL || (json_object_size(args) == 1 &&
	    json_is_string(json_object_iter_value(one))))
		return;
	if ((text = json_dumps(args, JSON_COMPACT)) == NULL)
		return;
	safe = words_plain(text, strlen(text));
	label(l, "arguments", "%s", safe);
	free(safe);
	free(text);
}

static void
put_command(struct lines *l, const json_t *c)
{
	const json_t *list = json_object_get(c, "words"), *word;
	char *all = NULL, *one, *safe, *why;
	size_t i, len = 0;
	FILE *f;

	if ((f = open_memstream(&all, &len)) == NULL)
		err(EXIT_FAILED, NULL);
	json_array_foreach(list, i, word) {
		one = safe_of(word);
		fprintf(f, "%s%s", i > 0 ? " " : "", one);
		free(one);
	}
	if (fclose(f) == EOF)
		err(EXIT_FAILED, NULL);
	safe = safe_of(json_object_get(c, "effect"));
	why = safe_of(json_object_get(c, "why"));
	label(l, "runs", "%s  [%s%s%s]", all, safe, *why != '\0' ? ": " : "",
	    why);
	free(why);
	free(safe);
	free(all);
}

static void
put_explanation(struct lines *l, const json_t *a)
{
	const json_t *item;
	char *text;
	size_t i;

	/* One command alone stands above. */
	if (json_array_size(json_object_get(a, "commands")) > 1) {
		json_array_foreach(json_object_get(a, "commands"), i, item)
			put_command(l, item);
	}
	json_array_foreach(json_object_get(a, "paths"), i, item) {
		text = safe_of(item);
		label(l, "path", "%s", text);
		free(text);
	}
	if (json_is_true(json_object_get(a, "commands_cut")))
		label(l, "", "(more commands or paths than are listed)");
}

static void
put_input(struct lines *l, const json_t *input)
{
	const json_t *text = json_object_get(input, "text");
	const json_t *base64 = json_object_get(input, "base64");

	if (!json_is_object(input))
		return;
	label(l, "input", "%" JSON_INTEGER_FORMAT " bytes%s%s",
	    json_integer_value(json_object_get(input, "bytes")),
	    json_is_string(text) ? "" : ", no text, as base64",
	    json_is_true(json_object_get(input, "cut")) ?
	    "; the end is not shown" : "");
	if (!json_is_string(text))
		text = base64;
	if (json_string_length(text) > 0)
		block(l, json_string_value(text), json_string_length(text));
}

static void
put_shown(struct lines *l, const json_t *a)
{
	const json_t *shown = json_object_get(a, "shown");
	const json_t *arguments = json_object_get(a, "arguments");

	if (!json_is_string(shown))
		return;
	put_text(l, arguments, "directory", "cwd");
	put_environment(l, json_object_get(arguments, "env"));
	put_arguments(l, json_object_get(arguments, "args"));
	label(l, "what runs", "%" JSON_INTEGER_FORMAT " bytes in all%s",
	    json_integer_value(json_object_get(a, "bytes")),
	    json_is_true(json_object_get(a, "long")) ? ", long" : "");
	block(l, json_string_value(shown), json_string_length(shown));
	put_input(l, json_object_get(a, "input"));
}

void
lines_of_approval(struct lines *l, const json_t *a, int brief)
{
	if (brief)
		put_brief(l, a);
	else
		put_head(l, a);
	put_why(l, a, brief);
	put_explanation(l, a);
	if (!brief)
		put_text(l, a, "digest", "digest");
	put_shown(l, a);
}
