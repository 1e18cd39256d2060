/*
 * Builtins that make code of strings.
 */
#include <string.h>

#include "resolver.h"

/* The words from first on, as one text with spaces between. */
static struct word
joined(struct resolver *r, const struct command *c, size_t first)
{
	struct word w = word_text("", 0);
	size_t i, len = 0;
	char *text;

	for (i = first; i < c->argc; i++)
		len += c->argv[i].len + 1;
	text = judging_alloc(r->j, len + 1);
	for (i = first; i < c->argc; i++) {
		if (i > first)
			text[w.len++] = ' ';
		if (c->argv[i].len > 0)
			memcpy(text + w.len, c->argv[i].text, c->argv[i].len);
		w.len += c->argv[i].len;
		w.flags |= c->argv[i].flags & (WORD_NETWORK | WORD_PREFIX |
		    WORD_SPLITS);
		if (c->argv[i].flags & WORD_PREFIX)
			break;		/* what follows is not next to it */
	}
	w.text = text;
	if (w.flags & (WORD_PREFIX | WORD_SPLITS))
		w.whole = shell_whole(r->j, c->argv + first,
		    c->argc - first);
	return (w);
}

static int
is(const struct command *c, size_t i, const char *text)
{
	return (i < c->argc && WORD_IS_STATIC(&c->argv[i]) &&
	    strcmp(c->argv[i].text, text) == 0);
}

void
builtin_eval(struct resolver *r, const struct command *c, struct stream *out)
{
	struct word w;
	size_t first = is(c, 1, "--") ? 2 : 1;

	if (first >= c->argc) {
		stream_none(out);
		return;
	}
	w = joined(r, c, first);
	judge_code(r, &w, c, out);
}

/* Of a file nobody knows, any variable may come. */
static void
forget(struct scope *s, const char *name, const void *data, void *arg)
{
	struct resolver *r = arg;

	if (strcmp(name, "HOME") == 0 || strcmp(name, "IFS") == 0)
		return;
	scope_set(s, SLOT_VARIABLE, name, value_join(r->j, data,
	    value_unknown(r->j, 0)));
}

void
builtin_source(struct resolver *r, const struct command *c,
    struct stream *out)
{
	struct shell_start start = { .who = SHELL_SAME, .command = c };
	struct content content;
	struct outcome o;
	size_t at = is(c, 1, "--") ? 2 : 1;

	if (at >= c->argc)
		return;
	shell_file_get(r->j, c, &c->argv[at], &content);
	if (c->argc > at + 1) {
		start.argv = c->argv + at;
		start.argc = c->argc - at;
	}
	if (content.kind == CONTENT_INHERITED) {
		if (!WORD_IS_STATIC(&c->argv[at]) &&
		    !(c->argv[at].flags & WORD_WORKSPACE))
			judging_ask(r->j, "opaque",
			    "an unknown file becomes code", c);
		if (scope_affords(r->scope))
			scope_each(r->scope, SLOT_VARIABLE, forget, r);
		return;
	}
	shell_judge_content(r->j, &content, r->dialect, &start, &o);
	out->n = 1;
	out->v[0] = o.output;
}

void
builtin_trap(struct resolver *r, const struct command *c, struct stream *out)
{
	size_t at = is(c, 1, "--") ? 2 : 1;
	size_t mark = scope_mark(r->scope);
	struct trapped *t;

	stream_none(out);
	if (at + 1 >= c->argc || is(c, at, "-") || is(c, at, "-l") ||
	    is(c, at, "-p"))
		return;
	/*
	 * It runs now or later: what it changes is not seen by what follows,
	 * and at the end it is judged once more.
	 */
	judge_code(r, &c->argv[at], c, NULL);
	scope_rollback(r->scope, mark);
	t = judging_alloc(r->j, sizeof(*t));
	t->code = &c->argv[at];
	t->command = c;
	t->next = r->traps;
	r->traps = t;
}

void
builtin_alias(struct resolver *r, const struct command *c,
    struct stream *out)
{
	size_t i, mark;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];
		const char *eq = w->text == NULL ? NULL :
		    memchr(w->text, '=', w->len);
		struct word value = *w;
		char *name;

		if (eq == NULL) {
			if (w->flags & WORD_PREFIX)
				judging_ask(r->j, "opaque",
				    "an unknown alias", c);
			continue;
		}
		name = judging_strndup(r->j, w->text,
		    (size_t)(eq - w->text));
		value.text = eq + 1;
		value.len = w->len - (size_t)(eq + 1 - w->text);
		mark = scope_mark(r->scope);
		judge_code(r, &value, c, NULL);
		scope_rollback(r->scope, mark);
		scope_set(r->scope, SLOT_ALIAS, name,
		    value_word(r->j, &value));
	}
}

void
builtin_unalias(struct resolver *r, const struct command *c,
    struct stream *out)
{
	size_t i;

	stream_none(out);
	for (i = 1; i < c->argc; i++)
		if (WORD_IS_STATIC(&c->argv[i]))
			scope_set(r->scope, SLOT_ALIAS, c->argv[i].text,
			    NULL);
}

/* A name as an operand: its subscript is evaluated, if it has one. */
static void
judge_name(struct resolver *r, const struct word *name,
    const struct command *c)
{
	if (name->text != NULL && memchr(name->text, '[', name->len) != NULL)
		arith_judge(r, name, c);
}

static void
set_unknown(struct resolver *r, const struct word *name, unsigned flags,
    const struct command *c, int array)
{
	const struct value *v = value_unknown(r->j, flags);
	struct value *list;
	struct alt *alt;
	size_t n;

	judge_name(r, name, c);
	if (!WORD_IS_STATIC(name))
		return;
	for (n = 0; n < name->len && name->text[n] != '['; n++)
		;
	if (!is_identifier(name->text, n))
		return;
	if (array) {
		list = judging_alloc(r->j, sizeof(*list));
		alt = judging_alloc(r->j, sizeof(*alt));
		alt->flags = ALT_ARRAY | ALT_MORE;
		list->n = 1;
		list->alt = alt;
		v = list;
	}
	var_set(r, judging_strndup(r->j, name->text, n), v, c);
}

static unsigned
taint(const struct command *c)
{
	return ((c->input.kind == CONTENT_NETWORK ? WORD_NETWORK : 0) |
	    ((c->input.names & NAMES_INSIDE) != 0 ? WORD_WORKSPACE : 0) |
	    ((c->input.names & NAMES_FOUND) != 0 ? WORD_FOUND : 0));
}

/* mapfile -C code -c n array */
void
builtin_mapfile(struct resolver *r, const struct command *c,
    struct stream *out)
{
	static const struct word standard = { .text = "MAPFILE", .len = 7 };
	const struct word *name = &standard;
	size_t i;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (w->text == NULL || w->text[0] != '-' || w->len < 2) {
			name = w;
			break;
		}
		if (w->text[1] == 'C') {
			if (w->len > 2) {
				struct word code = *w;

				code.text += 2;
				code.len -= 2;
				judge_code(r, &code, c, NULL);
			} else if (++i < c->argc)
				judge_code(r, &c->argv[i], c, NULL);
		} else if (strchr("cdnOsu", w->text[1]) != NULL &&
		    w->len == 2)
			i++;
	}
	set_unknown(r, name, taint(c), c, 1);
}

void
builtin_read(struct resolver *r, const struct command *c, struct stream *out)
{
	static const struct word standard = { .text = "REPLY", .len = 5 };
	size_t i;
	int array = 0, names = 0;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (w->text == NULL || w->text[0] != '-' || w->len < 2 ||
		    names > 0) {
			set_unknown(r, w, taint(c), c, 0);
			names++;
			continue;
		}
		/* Options that take a value take the rest, or the next. */
		const char *o = strpbrk(w->text + 1, "adinNptu");

		if (o != NULL && *o == 'a')
			array = 1;
		if (o != NULL && o[1] == '\0' && ++i < c->argc && *o == 'a')
			set_unknown(r, &c->argv[i], taint(c), c, 1);
	}
	if (names == 0 && !array)
		set_unknown(r, &standard, taint(c), c, 0);
}

void
builtin_getopts(struct resolver *r, const struct command *c,
    struct stream *out)
{
	static const struct word arg = { .text = "OPTARG", .len = 6 };

	stream_none(out);
	if (c->argc > 2)
		set_unknown(r, &c->argv[2], 0, c, 0);
	set_unknown(r, &arg, 0, c, 0);
}

/* printf -v name */
void
builtin_printf(struct resolver *r, const struct command *c,
    struct stream *out)
{
	struct command plain = *c;
	struct content content;
	struct word w;
	const struct word *name = NULL;
	struct word *words;
	size_t skip = 0, n;

	if (r->dialect == DIALECT_DASH || c->argc < 2 ||
	    c->argv[1].text == NULL || strncmp(c->argv[1].text, "-v", 2) != 0)
		return;
	if (c->argv[1].len > 2) {
		w = c->argv[1];
		w.text += 2;
		w.len -= 2;
		name = &w;
		skip = 1;
	} else if (c->argc > 2) {
		name = &c->argv[2];
		skip = 2;
	} else
		return;
	judge_name(r, name, c);
	words = judging_alloc(r->j, c->argc * sizeof(*words));
	words[0] = c->argv[0];
	memcpy(words + 1, c->argv + skip + 1, (c->argc - skip - 1) *
	    sizeof(*words));
	plain.argv = words;
	plain.argc = c->argc - skip;
	stream_none(out);
	if (!WORD_IS_STATIC(name))
		return;
	for (n = 0; n < name->len && name->text[n] != '['; n++)
		;
	if (!is_identifier(name->text, n))
		return;
	shell_produce(r->j, &plain, &content);
	if (content.kind == CONTENT_TEXT && n == name->len)
		var_set(r, judging_strndup(r->j, name->text, n),
		    value_text(r->j, content.text, content.len), c);
	else
		set_unknown(r, name, 0, c, 0);
}

void
builtin_let(struct resolver *r, const struct command *c, struct stream *out)
{
	size_t i, n;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];
		struct word number = { .flags = WORD_PREFIX };

		arith_judge(r, w, c);
		if (w->text == NULL)
			continue;
		n = identifier_length(w->text, w->len);
		if (n > 0)
			var_set(r, judging_strndup(r->j, w->text, n),
			    value_word(r->j, &number), c);
	}
}

/* -v and -R take a name, whose subscript is evaluated. */
void
builtin_test(struct resolver *r, const struct command *c, struct stream *out)
{
	size_t i;

	stream_none(out);
	if (r->dialect == DIALECT_DASH)
		return;
	for (i = 1; i + 1 < c->argc; i++)
		if (is(c, i, "-v") || is(c, i, "-R"))
			judge_name(r, &c->argv[i + 1], c);
}

/* unset name[subscript] */
void
builtin_unset(struct resolver *r, const struct command *c,
    struct stream *out)
{
	int functions = 0;
	size_t i;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (is(c, i, "-f"))
			functions = 1;
		judge_name(r, w, c);
		if (!WORD_IS_STATIC(w) || w->text[0] == '-')
			continue;
		if (functions || (is_identifier(w->text, w->len) &&
		    scope_get(r->scope, SLOT_VARIABLE, w->text) == NULL))
			scope_set(r->scope, SLOT_FUNCTION, w->text, NULL);
		if (!functions && is_identifier(w->text, w->len))
			scope_set(r->scope, SLOT_VARIABLE, w->text,
			    value_unset(r->j));
	}
}

/* complete -C code, -F, -W words that expand; bind -x; compgen alike. */
void
builtin_complete(struct resolver *r, const struct command *c,
    struct stream *out)
{
	struct texts t;
	size_t i;

	(void)out;
	for (i = 1; i + 1 < c->argc; i++) {
		const struct word *w = &c->argv[i + 1];

		if (is(c, i, "-C"))
			judge_code(r, w, c, NULL);
		else if (is(c, i, "-W") && w->text != NULL)
			expand_string(r, w->text, w->len, c, &t);
		else if (is(c, i, "-x") && w->text != NULL &&
		    strchr(w->text, ':') != NULL) {
			struct word code = *w;

			code.text = strchr(w->text, ':') + 1;
			code.len = strlen(code.text);
			judge_code(r, &code, c, NULL);
		}
	}
}

/* jobs -x command */
void
builtin_jobs(struct resolver *r, const struct command *c, struct stream *out)
{
	struct command *inner;
	struct outcome ignored;

	(void)out;
	if (!is(c, 1, "-x") || c->argc < 3)
		return;
	inner = judging_alloc(r->j, sizeof(*inner));
	*inner = *c;
	inner->argv += 2;
	inner->argc -= 2;
	judge_command(r->j, inner, &ignored);
}

/* enable -f file name: code from a library. */
void
builtin_enable(struct resolver *r, const struct command *c,
    struct stream *out)
{
	size_t i;

	stream_none(out);
	for (i = 1; i < c->argc; i++)
		if (c->argv[i].text == NULL ||
		    (c->argv[i].text[0] == '-' &&
		    strchr(c->argv[i].text, 'f') != NULL))
			judging_ask(r->j, "opaque",
			    "a builtin of unknown code", c);
}
