/*
 * Programs with small languages of their own that can execute or write:
 * awk, sed, editors.
 */
#include <ctype.h>
#include <string.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

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

static void
awk_execute(const struct subject *whole, const char *p, const char *end)
{
	struct command *c = judging_alloc(whole->j, sizeof(*c));
	struct subject inside = *whole;
	const struct subject *s = &inside;
	char *text;

	/* what it is fed is made by the program */
	*c = *whole->c;
	c->input = (struct content){ .kind = CONTENT_UNKNOWN };
	inside.c = c;
	p = skip_space(p, end);
	if (p < end && *p == '"' && awk_string(s->j, p, end, &text) != NULL)
		subject_hidden_code(s, word_make(s->j, text, &s->argv[0]));
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
};

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
		awk_execute(a->s, next + 1, a->end);
	else if (strncmp(from, "print", 5) == 0 && (n == 5 || (n == 6 &&
	    from[5] == 'f'))) {
		a->printing = 1;
		a->value = 0;
	}
	return (p);
}

static void
awk_program(const struct subject *s, const char *p, size_t len)
{
	struct awk a = { .s = s, .end = p + len };
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
			p = awk_word(&a, p);
			a.string = NULL;
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
				awk_execute(s, next, a.end);
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
	struct content content;
	struct optscan o;
	struct opt opt;
	int done = 0;

	class_find(s, CLASS_READ, "awk reads text");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			if (done)
				return;
			if (opt.word->text == NULL)
				class_find(s, CLASS_OPAQUE, "awk runs a "
				    "program that is not known");
			else
				awk_program(s, opt.word->text, opt.word->len);
			return;
		}
		if (opt.value != NULL && opt_is(&opt, 'f', "file")) {
			done = 1;
			shell_file_get(s->j, s->c, opt.value, &content);
			if (content.kind == CONTENT_NETWORK)
				class_find(s, CLASS_REMOTE, "awk runs a "
				    "program from the network");
			else if (content.kind == CONTENT_TEXT)
				awk_program(s, content.text, content.len);
		} else if (opt.value != NULL && opt_is(&opt, 'e', "source")) {
			done = 1;
			if (opt.value->text != NULL)
				awk_program(s, opt.value->text,
				    opt.value->len);
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

static void
sed_substitute(struct sed *d)
{
	char delimiter;

	if (d->p >= d->end)
		return;
	delimiter = *d->p++;
	sed_delimited(d, delimiter);
	sed_delimited(d, delimiter);
	for (; d->p < d->end && *d->p != ';' && *d->p != '\n' &&
	    *d->p != '}'; d->p++) {
		if (*d->p == 'e')
			class_find(d->s, CLASS_OPAQUE, "sed executes what it "
			    "puts together");
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
			sed_program(s, word_start(opt.value),
			    strlen(word_start(opt.value)));
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
			if (opt.word->text == NULL ||
			    (opt.word->flags & WORD_SPLITS) != 0)
				class_find(s, CLASS_OPAQUE, "sed runs a "
				    "script that is not known");
			else
				sed_program(s, opt.word->text, opt.word->len);
		} else if (in_place)
			zone_write(s, opt.word, CLASS_MUTATE,
			    "changes files");
	}
}

/* ---- editors ---- */

/* An ex command: "!cmd" anywhere behind a bar or at its beginning. */
static void
ex_command(const struct subject *s, const struct word *w)
{
	static const char *const silent[] = { "silent", "sil", "exe", "execute",
		"r", "read", "w", "write", "%", "terminal", "ter", NULL };
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
		if ((from = strstr(p, "system(")) != NULL) {
			class_find(s, CLASS_OPAQUE, "an editor that executes "
			    "a command");
			return;
		}
		from = p;
		p += strspn(p, "abcdefghijklmnopqrstuvwxyz%");
		name = judging_strndup(s->j, from, (size_t)(p - from));
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
	static const struct optspec spec = { "cSsTuUiWwr", "cmd", 0 };
	struct optscan o;
	struct opt opt;
	const char *text;

	class_find(s, CLASS_MUTATE, "edits files");
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
