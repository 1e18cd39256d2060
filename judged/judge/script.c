/*
 * Programs with small languages of their own that can execute or write:
 * awk, sed, editors.
 */
#include <ctype.h>
#include <string.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

/* Nothing of it is known, or not all that is. */
static int
is_unknown(const struct word *w)
{
	if ((w->flags & (WORD_PREFIX | WORD_SPLITS)) == 0)
		return (w->text == NULL);
	return (w->whole == NULL || strcmp(w->whole, WORD_HOLE) == 0);
}

/* ---- awk ---- */

/* A string of awk at p, its end after it; NULL if it does not end. */
static const char *
awk_string(struct judging *j, const char *p, const char *end, char **text)
{
	const char *close;
	char *to;

	for (close = p + 1; close < end && *close != '"'; close++)
		if (*close == '\\' && close + 1 < end)
			close++;
	to = *text = judging_alloc(j, (size_t)(close - p));
	for (p++; p < end && *p != '"'; p++) {
		if (*p == '\\' && p + 1 < end) {
			p++;
			*to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
		} else
			*to++ = *p;
	}
	*to = '\0';
	return (p < end ? p + 1 : NULL);
}

/* A slash begins a pattern where a value can't stand before it. */
static const char *
awk_pattern(const char *p, const char *end)
{
	for (p++; p < end && *p != '/' && *p != '\n'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return (p < end ? p + 1 : end);
}

static const char *
skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return (p);
}

#define AWK_NAME	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

struct awk_variable {
	struct awk_variable	*next;
	const char		*name;
	const char		*text;		/* NULL: not known */
};

/* The value that a variable was given last; NULL if that isn't known. */
static const char *
awk_value(const struct awk_variable *v, const char *name, size_t len)
{
	for (; v != NULL; v = v->next)
		if (strlen(v->name) == len && strncmp(v->name, name, len) ==
		    0)
			return (v->text);
	return (NULL);
}

/*
 * Strings and variables side by side, as one word: its beginning, as far as
 * it is known.
 */
static const struct word *
awk_joined(const struct subject *s, const struct awk_variable *v,
    const char *p, const char *end)
{
	struct word *w = word_make(s->j, "", &s->argv[0]);
	const char *more, *next;
	char *text, *both;
	size_t n;

	for (;; p = next) {
		p = skip_space(p, end);
		if (p >= end || strchr(");\n}|", *p) != NULL)
			return (w);
		if (*p == '"') {
			if ((next = awk_string(s->j, p, end, &text)) == NULL)
				break;
			more = text;
		} else {
			for (next = p; next < end && (isalnum((unsigned char)
			    *next) || *next == '_'); next++)
				continue;
			more = next == p ? NULL : awk_value(v, p,
			    (size_t)(next - p));
			if (more == NULL)
				break;
		}
		n = strlen(more);
		both = judging_alloc(s->j, w->len + n + 1);
		memcpy(both, w->text, w->len);
		memcpy(both + w->len, more, n);
		w->text = both;
		w->len += n;
	}
	w->flags |= WORD_PREFIX;
	if (w->len == 0)
		w->text = NULL;
	return (w);
}

static void
awk_execute(const struct subject *whole, const struct awk_variable *v,
    const char *p, const char *end)
{
	const struct word *code;

	struct command *c = judging_alloc(whole->j, sizeof(*c));
	struct subject inside = *whole;
	const struct subject *s = &inside;

	/* what it is fed is made by the program */
	*c = *whole->c;
	c->input = (struct content){ .kind = CONTENT_UNKNOWN };
	inside.c = c;
	code = awk_joined(s, v, p, end);
	if (code->text != NULL)
		subject_hidden_code(s, code);
	else
		class_find(s, CLASS_OPAQUE, "awk executes a command that is "
		    "not known");
}

static void
awk_write(const struct subject *s, const char *p, const char *end)
{
	char *text;

	p = skip_space(p, end);
	if (p < end && *p == '"' && awk_string(s->j, p, end, &text) != NULL)
		zone_write(s, word_make(s->j, text, &s->argv[0]),
		    CLASS_MUTATE, "awk writes a file");
}

struct awk {
	const struct subject	*s;
	const char		*end;
	int			 printing;	/* in print or printf */
	int			 value;		/* a value stands before */
	const char		*string;	/* the string just read */
	struct awk_variable	*variables;
};

static void
awk_set(struct awk *a, const char *name, size_t len, const char *text)
{
	struct awk_variable *v = judging_alloc(a->s->j, sizeof(*v));

	v->name = judging_strndup(a->s->j, name, len);
	v->text = text;
	v->next = a->variables;
	a->variables = v;
}

/* NAME = "string" of a program, NAME=string of -v */
static void
awk_assign(struct awk *a, const char *name, size_t len, const char *value)
{
	const struct word *w;

	if (value >= a->end || *value != '=' || (value + 1 < a->end &&
	    value[1] == '='))
		return;
	w = awk_joined(a->s, a->variables, value + 1, a->end);
	awk_set(a, name, len, word_static(w));
}

static const char *
awk_word(struct awk *a, const char *p)
{
	const char *from = p, *next;
	size_t n;

	while (p < a->end && (isalnum((unsigned char)*p) || *p == '_'))
		p++;
	n = (size_t)(p - from);
	next = skip_space(p, a->end);
	a->value = 1;
	if (n == 6 && strncmp(from, "system", 6) == 0 && next < a->end &&
	    *next == '(')
		awk_execute(a->s, a->variables, next + 1, a->end);
	else if (strncmp(from, "print", 5) == 0 && (n == 5 || (n == 6 &&
	    from[5] == 'f'))) {
		a->printing = 1;
		a->value = 0;
	} else
		awk_assign(a, from, n, next);
	return (p);
}

static void
awk_program(const struct subject *s, const char *p, size_t len,
    struct awk_variable *given)
{
	struct awk a = { .s = s, .end = p + len, .variables = given };
	char *text = NULL;
	const char *next;

	if (!subject_affords(s, len))
		return;
	while (p < a.end) {
		if (*p == '"') {
			if ((next = awk_string(s->j, p, a.end, &text)) == NULL)
				return;
			a.value = 1;
			a.string = text;
			p = next;
			continue;
		}
		if (*p == '#') {
			while (p < a.end && *p != '\n')
				p++;
			continue;
		}
		if (*p == '/' && !a.value) {
			p = awk_pattern(p, a.end);
			a.value = 1;
			continue;
		}
		if (isalpha((unsigned char)*p) || *p == '_') {
			text = judging_strndup(s->j, p, strspn(p, AWK_NAME));
			p = awk_word(&a, p);
			/* cmd | getline */
			a.string = awk_value(a.variables, text,
			    strlen(text));
			continue;
		}
		if (*p == '|' && p + 1 < a.end && p[1] == '|') {
			p += 2;
			a.value = 0;
			continue;
		}
		if (*p == '|') {
			next = skip_space(p + 1 + (p + 1 < a.end &&
			    p[1] == '&'), a.end);
			if (strncmp(next, "getline", 7) != 0)
				awk_execute(s, a.variables, next, a.end);
			else if (a.string != NULL)
				subject_hidden_code(s, word_make(s->j,
				    a.string, &s->argv[0]));
			else
				class_find(s, CLASS_OPAQUE, "awk executes a "
				    "command that is not known");
		}
		if (*p == '>' && a.printing && !(p + 1 < a.end &&
		    p[1] == '='))
			awk_write(s, p + 1 + (p + 1 < a.end && p[1] == '>'),
			    a.end);
		if (*p == ';' || *p == '\n' || *p == '}')
			a.printing = 0;
		if (*p != ' ' && *p != '\t') {
			a.value = *p == ')' || *p == ']' || *p == '$' ||
			    isdigit((unsigned char)*p);
			a.string = NULL;
		}
		p++;
	}
}

void
handle_awk(const struct subject *s)
{
	static const struct optspec spec = { "Ffveilo", "field-separator file "
	    "assign source include load", OPT_STOPS };
	struct awk a = { .s = s };
	struct content content;
	struct optscan o;
	struct opt opt;
	const char *eq;
	int done = 0;

	class_find(s, CLASS_READ, "awk reads text");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			if (done)
				return;
			if (is_unknown(opt.word))
				class_find(s, CLASS_OPAQUE, "awk runs a "
				    "program that is not known");
			else
				awk_program(s, word_code(opt.word),
				    strlen(word_code(opt.word)),
				    a.variables);
			return;
		}
		if (word_static(opt.value) != NULL && opt_is(&opt, 'v',
		    "assign") && (eq = strchr(opt.value->text, '=')) != NULL)
			awk_set(&a, opt.value->text, (size_t)(eq -
			    opt.value->text), eq + 1);
		if (opt.value != NULL && opt_is(&opt, 'f', "file")) {
			done = 1;
			shell_file_get(s->j, s->c, opt.value, &content);
			if (content.kind == CONTENT_NETWORK)
				class_find(s, CLASS_REMOTE, "awk runs a "
				    "program from the network");
			else if (content.kind == CONTENT_TEXT)
				awk_program(s, content.text, content.len,
				    a.variables);
		} else if (opt.value != NULL && opt_is(&opt, 'e', "source")) {
			done = 1;
			if (is_unknown(opt.value))
				class_find(s, CLASS_OPAQUE, "awk runs a "
				    "program that is not known");
			awk_program(s, word_code(opt.value),
			    strlen(word_code(opt.value)), a.variables);
		}
	}
}

/* ---- sed ---- */

struct sed {
	const struct subject	*s;
	const char		*p;
	const char		*end;
};

static void
sed_delimited(struct sed *d, char delimiter)
{
	while (d->p < d->end && *d->p != delimiter) {
		if (*d->p == '\\' && d->p + 1 < d->end)
			d->p++;
		d->p++;
	}
	if (d->p < d->end)
		d->p++;
}

static void
sed_address(struct sed *d)
{
	while (d->p < d->end) {
		if (*d->p == '/') {
			d->p++;
			sed_delimited(d, '/');
		} else if (*d->p == '\\' && d->p + 1 < d->end) {
			char delimiter = d->p[1];

			d->p += 2;
			sed_delimited(d, delimiter);
		} else if (isdigit((unsigned char)*d->p) ||
		    strchr("$,~+!IM \t", *d->p) != NULL)
			d->p++;
		else
			return;
	}
}

/* The rest of the line is a file or a command. */
static const struct word *
sed_line(struct sed *d)
{
	const char *from;
	size_t n;

	while (d->p < d->end && (*d->p == ' ' || *d->p == '\t'))
		d->p++;
	from = d->p;
	while (d->p < d->end && *d->p != '\n')
		d->p++;
	n = (size_t)(d->p - from);
	return (word_make(d->s->j, judging_strndup(d->s->j, from, n),
	    &d->s->argv[0]));
}

/* What s///e puts in, as a command. */
static void
sed_replacement(const struct sed *d, const char *from, const char *to)
{
	char *text = judging_alloc(d->s->j, (size_t)(to - from) + 1), *p;

	for (p = text; from < to; from++) {
		if (*from == '\\' && from + 1 < to)
			from++;
		*p++ = *from;
	}
	class_find(d->s, CLASS_OPAQUE, "sed executes what it puts together");
	if (text[0] != '\0')
		subject_hidden_code(d->s, word_make(d->s->j, text,
		    &d->s->argv[0]));
}

static void
sed_substitute(struct sed *d)
{
	const char *from, *to;
	char delimiter;

	if (d->p >= d->end)
		return;
	delimiter = *d->p++;
	sed_delimited(d, delimiter);
	from = d->p;
	sed_delimited(d, delimiter);
	to = d->p > from ? d->p - 1 : from;
	for (; d->p < d->end && *d->p != ';' && *d->p != '\n' &&
	    *d->p != '}'; d->p++) {
		if (*d->p == 'e')
			sed_replacement(d, from, to);
		if (*d->p == 'w') {
			d->p++;
			zone_write(d->s, sed_line(d), CLASS_MUTATE,
			    "sed writes a file");
			return;
		}
	}
}

static void
sed_program(const struct subject *s, const char *text, size_t len)
{
	struct sed d = { s, text, text + len };
	const struct word *line;
	char delimiter, c;

	if (!subject_affords(s, len))
		return;
	while (d.p < d.end) {
		while (d.p < d.end && strchr(" \t\n;{}", *d.p) != NULL)
			d.p++;
		sed_address(&d);
		while (d.p < d.end && (*d.p == ' ' || *d.p == '{'))
			d.p++;
		if (d.p >= d.end)
			return;
		c = *d.p++;
		switch (c) {
		case 's':
			sed_substitute(&d);
			break;
		case 'y':
			if (d.p < d.end) {
				delimiter = *d.p++;
				sed_delimited(&d, delimiter);
				sed_delimited(&d, delimiter);
			}
			break;
		case 'e':
			line = sed_line(&d);
			if (line->len == 0)
				class_find(s, CLASS_OPAQUE, "sed executes "
				    "what it reads");
			else
				subject_hidden_code(s, line);
			break;
		case 'w':
		case 'W':
			zone_write(s, sed_line(&d), CLASS_MUTATE,
			    "sed writes a file");
			break;
		case 'a':
		case 'i':
		case 'c':
		case 'r':
		case 'R':
		case ':':
		case 'b':
		case 't':
		case 'T':
		case '#':
			(void)sed_line(&d);
			break;
		default:
			break;
		}
	}
}

void
handle_sed(const struct subject *s)
{
	static const struct optspec spec = { "efl", "expression file "
	    "line-length", 0 };
	struct content content;
	struct optscan o;
	struct opt opt;
	int script = 0, in_place = 0;

	class_find(s, CLASS_READ, "sed reads text");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND)
			continue;
		if (opt_is(&opt, 'i', "in-place")) {
			in_place = 1;
			o.cluster = 0;	/* what sticks to it is a suffix */
		} else if (opt.value == NULL)
			continue;
		else if (opt_is(&opt, 'e', "expression")) {
			script = 1;
			if (is_unknown(opt.value))
				class_find(s, CLASS_OPAQUE, "sed runs a "
				    "script that is not known");
			sed_program(s, word_code(opt.value),
			    strlen(word_code(opt.value)));
		} else if (opt_is(&opt, 'f', "file")) {
			script = 1;
			shell_file_get(s->j, s->c, opt.value, &content);
			if (content.kind == CONTENT_NETWORK)
				class_find(s, CLASS_REMOTE, "sed runs a "
				    "script from the network");
			else if (content.kind == CONTENT_TEXT)
				sed_program(s, content.text, content.len);
		}
	}
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt_is(&opt, 'i', "in-place"))
			o.cluster = 0;
		if (opt.kind != OPT_OPERAND)
			continue;
		if (!script) {
			script = 1;
			if (is_unknown(opt.word) ||
			    (opt.word->flags & WORD_SPLITS) != 0)
				class_find(s, CLASS_OPAQUE, "sed runs a "
				    "script that is not known");
			else
				sed_program(s, word_code(opt.word),
				    strlen(word_code(opt.word)));
		} else if (in_place)
			zone_write(s, opt.word, CLASS_MUTATE,
			    "changes files");
	}
}

/* ---- editors ---- */

/* An ex command: "!cmd" anywhere behind a bar or at its beginning. */
void
ex_command(const struct subject *s, const struct word *w)
{
	static const char *const silent[] = { "silent", "sil", "exe", "exec",
		"execute",
		"r", "read", "w", "write", "%", NULL };
	static const char *const terminals[] = { "terminal", "ter", "term",
		NULL };
	const char *p = word_start(w), *from;
	char *name;

	for (;;) {
		p += strspn(p, " :\t\"'");
		if (*p == '!') {
			p++;
			subject_hidden_code(s, word_rest(s->j, w,
			    (size_t)(p - w->text)));
			return;
		}
		if ((from = strstr(p, "system(")) != NULL ||
		    (from = strstr(p, "execute(")) != NULL ||
		    (from = strstr(p, "systemlist(")) != NULL) {
			class_find(s, CLASS_OPAQUE, "an editor that executes "
			    "a command");
			interpreter_code(s, p, strlen(p));
			return;
		}
		from = p;
		p += strspn(p, "abcdefghijklmnopqrstuvwxyz%");
		name = judging_strndup(s->j, from, (size_t)(p - from));
		if (in_list(name, terminals)) {
			p += strspn(p, " \t");
			if (*p != '\0')
				subject_hidden_code(s, word_rest(s->j, w,
				    (size_t)(p - w->text)));
			return;
		}
		if (p == from || (!in_list(name, silent) && *p != '!'))
			break;
	}
	if (w->text == NULL)
		class_find(s, CLASS_OPAQUE, "an editor runs a command that is "
		    "not known");
}

void
handle_editor(const struct subject *s)
{
	/* with -e (as ex, or ed), -s is silent; else it names a script */
	static const struct optspec flags = { "cSTuUiWwr", "cmd", 0 };
	int silent = same_name(s->name, "ex") || strcmp(s->name, "ed") ==
	    0 || opt_has(s, 1, &flags, 'e', NULL);
	struct optspec spec = { silent ? "cSTuUiWwr" : "cSsTuUiWwr", "cmd", 0 };
	const struct content *in = &s->c->input;
	struct optscan o;
	struct opt opt;
	const char *text;
	size_t i, n;

	class_find(s, CLASS_MUTATE, "edits files");
	/* their commands come from stdin, line by line */
	for (i = 0; silent && in->kind == CONTENT_TEXT && i < in->len;
	    i += n + 1) {
		n = strcspn(in->text + i, "\n");
		ex_command(s, word_make(s->j, judging_strndup(s->j,
		    in->text + i, n), NULL));
	}
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		text = word_start(opt.word);
		if (opt.kind == OPT_OPERAND) {
			if (text[0] == '+')
				ex_command(s, word_rest(s->j, opt.word, 1));
			else
				zone_write(s, opt.word, CLASS_MUTATE,
				    "edits files");
		} else if (opt.value != NULL && (opt_is(&opt, 'c', NULL) ||
		    opt_is(&opt, 0, "cmd")))
			ex_command(s, opt.value);
	}
}
