/*
 * See stub.h.
 */
#include <stdio.h>
#include <string.h>

#include "shell/judging.h"
#include "shell/shell.h"
#include "stub.h"

struct seen seen[SEEN_MAX];
size_t nseen;
size_t nforkbombs;

void
stub_reset(void)
{
	nseen = 0;
	nforkbombs = 0;
}

static size_t
write_word(char *out, size_t room, const struct word *w)
{
	size_t i, n = 0;
	unsigned char c;

	if ((w->flags & WORD_GLOB) && n < room)
		out[n++] = '~';
	for (i = 0; i < w->len && n + 4 < room; i++) {
		c = (unsigned char)w->text[i];
		if (c > ' ' && c < 0x7f && strchr("%?*~[", c) == NULL)
			out[n++] = (char)c;
		else
			n += (size_t)snprintf(out + n, room - n, "%%%02x", c);
	}
	if (n == 0 && !(w->flags & WORD_PREFIX) && room > 2) {
		out[n++] = '\'';
		out[n++] = '\'';
	}
	if ((w->flags & WORD_SPLITS) && n + 1 < room)
		out[n++] = '*';
	if ((w->flags & WORD_PREFIX) && n + 1 < room)
		out[n++] = '?';
	return (n);
}

static void
record(const struct command *c)
{
	struct seen *s;
	size_t i, n = 0;

	if (nseen == SEEN_MAX)
		return;
	s = &seen[nseen++];
	s->text[0] = s->input[0] = '\0';
	for (i = 0; i < c->argc && n + 16 < sizeof(s->text); i++) {
		if (i > 0)
			s->text[n++] = ' ';
		n += write_word(s->text + n, sizeof(s->text) - n - 8,
		    &c->argv[i]);
	}
	s->text[n] = '\0';
	s->argc = (int)c->argc;
	s->from = c->from;
	s->to = c->to;
	stpncpy(s->cwd, c->cwd == NULL ? "?" : c->cwd, sizeof(s->cwd) - 1);
	switch (c->input.kind) {
	case CONTENT_TEXT:
		snprintf(s->input, sizeof(s->input), "%.*s",
		    (int)c->input.len, c->input.text);
		break;
	case CONTENT_NONE:
		break;
	default:
		strcpy(s->input, c->input.kind == CONTENT_NETWORK ? "!" :
		    c->input.kind == CONTENT_INHERITED ? "-" : "?");
	}
}

static void
find(struct judging *j, const struct command *c, enum verdict verdict,
    const char *class, const char *rule)
{
	struct finding f = {
		.verdict = verdict, .class = class, .effect = EFFECT_READ,
		.rule = rule, .next = "", .command = c, .from = c->from,
		.to = c->to
	};

	judging_find(j, &f);
}

static int
is(const struct word *w, const char *text)
{
	return (WORD_IS_STATIC(w) && strcmp(w->text, text) == 0);
}

static const char *
base(const struct word *w)
{
	const char *slash;

	if (!WORD_IS_STATIC(w))
		return ("");
	slash = strrchr(w->text, '/');
	return (slash == NULL ? w->text : slash + 1);
}

static void
shell(struct judging *j, const struct command *c, enum dialect dialect,
    struct outcome *out)
{
	struct shell_start start = { .who = SHELL_CHILD, .command = c };
	struct content content;
	size_t i = 1;

	while (i < c->argc && c->argv[i].text != NULL &&
	    (c->argv[i].text[0] == '-' || c->argv[i].text[0] == '+')) {
		if (c->argv[i].text[1] != '-' &&
		    strchr(c->argv[i].text, 'c') != NULL && i + 1 < c->argc) {
			start.argv = c->argv + i + 2;
			start.argc = c->argc - i - 2;
			shell_judge_word(j, &c->argv[i + 1], dialect, &start,
			    out);
			return;
		}
		i++;
	}
	if (i < c->argc) {
		start.argv = c->argv + i;
		start.argc = c->argc - i;
		shell_file_get(j, c, &c->argv[i], &content);
		shell_judge_content(j, &content, dialect, &start, out);
		return;
	}
	start.code_on_stdin = 1;
	shell_judge_content(j, &c->input, dialect, &start, out);
}

static int
removes_root(const struct command *c)
{
	size_t i;

	for (i = 1; i < c->argc; i++)
		if (c->argv[i].text != NULL &&
		    !(c->argv[i].flags & WORD_PREFIX) &&
		    strcmp(c->argv[i].text, "/") == 0)
			return (1);
	return (0);
}

void
judge_command(struct judging *j, const struct command *c,
    struct outcome *out)
{
	const char *name;

	memset(out, 0, sizeof(*out));
	record(c);
	if (c->argc == 0) {
		find(j, c, VERDICT_ALLOW, "read", "no program");
		return;
	}
	name = base(&c->argv[0]);
	if (strcmp(name, "curl") == 0)
		out->output.kind = CONTENT_NETWORK;
	else
		shell_produce(j, c, &out->output);
	if (!WORD_IS_STATIC(&c->argv[0]))
		find(j, c, VERDICT_ASK, "opaque", "unknown program");
	else if (strcmp(name, "rm") == 0 && removes_root(c))
		find(j, c, VERDICT_DENY, "hard:wipe", "rm of /");
	else
		find(j, c, VERDICT_ALLOW, "read", "a program");
	if (strcmp(name, "bash") == 0)
		shell(j, c, DIALECT_BASH, out);
	else if (strcmp(name, "sh") == 0 || strcmp(name, "dash") == 0)
		shell(j, c, DIALECT_DASH, out);
	else if (c->argc > 1 && (is(&c->argv[0], "env") ||
	    (is(&c->argv[0], "command") && c->argv[1].text != NULL &&
	    c->argv[1].text[0] != '-'))) {
		struct command inner = *c;

		inner.argv++;
		inner.argc--;
		judge_command(j, &inner, out);
	}
}

void
judge_variable(struct judging *j, const struct command *c, const char *name,
    const struct word *value)
{
	(void)j;
	(void)c;
	(void)name;
	(void)value;
}

void
judge_forkbomb(struct judging *j, const char *name, uint32_t from,
    uint32_t to)
{
	struct finding f = {
		.verdict = VERDICT_DENY, .class = "hard:forkbomb",
		.effect = EFFECT_READ, .rule = name, .next = "",
		.from = from, .to = to
	};

	nforkbombs++;
	judging_find(j, &f);
}

const char *
judge_dangerous(size_t i)
{
	static const char *const names[] = { "rm", "dd", "mkfs", "shred" };

	return (i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL);
}
