/*
 * Pure producers: programs whose output follows from their words and their
 * input alone.
 */
#include <stdio.h>
#include <string.h>

#include "escape.h"
#include "names.h"
#include "resolver.h"

struct buffer {
	struct judging	*j;
	char		*text;
	size_t		 len;
	size_t		 room;
	int		 over;
};

static void
put(struct buffer *b, const char *s, size_t len)
{
	size_t room;
	char *more;

	if (b->over || b->len + len > JUDGE_TEXT_MAX ||
	    !judging_afford(b->j, len)) {
		b->over = 1;
		return;
	}
	if (b->len + len > b->room) {
		room = (b->len + len) * 2 + 32;
		more = judging_alloc(b->j, room);
		if (b->len > 0)
			memcpy(more, b->text, b->len);
		b->text = more;
		b->room = room;
	}
	if (len > 0)
		memcpy(b->text + b->len, s, len);
	b->len += len;
}

/* Text with backslash escapes; 0 after \c, which ends all output. */
static int
put_escaped(struct buffer *b, const char *s, size_t len, unsigned how)
{
	size_t i, n, outlen;
	char out[4];

	for (i = 0; i < len; i++) {
		if (s[i] != '\\' || i + 1 >= len) {
			put(b, s + i, 1);
			continue;
		}
		if (s[i + 1] == 'c' && (how & ESCAPE_ECHO))
			return (0);
		n = escape_decode(s + i + 1, len - i - 1, how, out, &outlen);
		if (n == 0) {
			put(b, s + i, 2);
			i++;
			continue;
		}
		put(b, out, outlen);
		i += n;
	}
	return (1);
}

/* Not all is known: the words so far are the beginning. */
static void
answer(const struct buffer *b, int unknown, unsigned flags,
    struct content *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = unknown || b->over ? CONTENT_UNKNOWN : CONTENT_TEXT;
	if (flags & WORD_NETWORK)
		out->kind = CONTENT_NETWORK;
	out->text = b->text == NULL ? "" : b->text;
	out->len = b->len;
}

/* ---- echo ---- */

static int
echo_options(const struct command *c, size_t *first, int *newline,
    int *escapes)
{
	const char *s;
	size_t i;

	for (i = 1; i < c->argc; i++) {
		if (!WORD_IS_STATIC(&c->argv[i]))
			break;
		s = c->argv[i].text;
		if (s[0] != '-' || s[1] == '\0' ||
		    s[1 + strspn(s + 1, c->dialect == DIALECT_DASH ? "n" :
		    "neE")] != '\0')
			break;
		for (s++; *s != '\0'; s++) {
			if (*s == 'n')
				*newline = 0;
			else
				*escapes = *s == 'e';
		}
	}
	*first = i;
	return (1);
}

static void
produce_echo(struct judging *j, const struct command *c, struct content *out)
{
	struct buffer b = { .j = j };
	int newline = 1, escapes = c->dialect == DIALECT_DASH, unknown = 0;
	struct buffer whole = { .j = j };
	unsigned how = ESCAPE_ECHO | ESCAPE_ZERO, flags = 0;
	size_t i, first;

	if (c->dialect == DIALECT_DASH)
		how |= ESCAPE_DASH;
	echo_options(c, &first, &newline, &escapes);
	for (i = first; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		flags |= w->flags;
		if (!WORD_IS_STATIC(w) && !unknown)
			put(&whole, b.text, b.len);
		if (unknown || !WORD_IS_STATIC(w)) {
			put(&whole, " ", i > first);
			if (w->whole != NULL)
				put(&whole, w->whole, strlen(w->whole));
			else
				put(&whole, w->text, w->text == NULL ? 0 :
				    w->len);
			if (w->whole == NULL && !WORD_IS_STATIC(w))
				put(&whole, WORD_HOLE, strlen(WORD_HOLE));
		}
		if (unknown)
			continue;
		if (i > first)
			put(&b, " ", 1);
		if (w->text != NULL && escapes) {
			if (!put_escaped(&b, w->text, w->len, how)) {
				answer(&b, 0, flags, out);
				return;
			}
		} else if (w->text != NULL)
			put(&b, w->text, w->len);
		unknown = !WORD_IS_STATIC(w);
	}
	if (newline && !unknown)
		put(&b, "\n", 1);
	answer(&b, unknown, flags, out);
	if (unknown && !whole.over) {
		put(&whole, "\n", 2);
		out->whole = whole.text;
	}
}

/* ---- printf ---- */

struct format {
	struct buffer		 b;
	const struct command	*c;
	size_t			 arg;
	int			 unknown;
	int			 ended;
	unsigned		 flags;
};

static const struct word *
next_arg(struct format *f)
{
	const struct word *w;

	if (f->arg >= f->c->argc)
		return (NULL);
	w = &f->c->argv[f->arg++];
	f->flags |= w->flags;
	if (!WORD_IS_STATIC(w))
		f->unknown = 1;
	return (w);
}

/* One conversion at s, behind "%"; how many bytes it was, 0: not known. */
static size_t
conversion(struct format *f, const char *s, size_t len)
{
	const struct word *w;
	size_t n = strspn(s, "-+ 0#123456789.");

	if (n >= len)
		return (0);
	if (s[n] == '%') {
		put(&f->b, "%", 1);
		return (n + 1);
	}
	w = next_arg(f);
	if (n > 0 || f->unknown) {
		/* Widths are not followed. */
		if (w != NULL && n == 0 && w->text != NULL)
			put(&f->b, w->text, w->len);
		f->unknown = 1;
		return (n + 1);
	}
	switch (s[n]) {
	case 's':
		if (w != NULL)
			put(&f->b, w->text, w->len);
		break;
	case 'c':
		if (w != NULL && w->len > 0)
			put(&f->b, w->text, 1);
		break;
	case 'b':
		if (w != NULL && !put_escaped(&f->b, w->text, w->len,
		    ESCAPE_ECHO | ESCAPE_ZERO | ESCAPE_OCTAL |
		    (f->c->dialect == DIALECT_DASH ? ESCAPE_DASH : 0)))
			f->ended = 1;
		break;
	case 'd':
	case 'i':
		if (w == NULL)
			put(&f->b, "0", 1);
		else if (w->text[strspn(w->text, "123456789")] == '\0' &&
		    w->len > 0)
			put(&f->b, w->text, w->len);
		else
			f->unknown = 1;
		break;
	default:
		f->unknown = 1;
	}
	return (n + 1);
}

static void
one_format(struct format *f, const struct word *w)
{
	size_t i, n, outlen;
	char out[4];

	for (i = 0; i < w->len && !f->unknown && !f->ended; i++) {
		if (w->text[i] == '%' && i + 1 < w->len) {
			n = conversion(f, w->text + i + 1, w->len - i - 1);
			if (n == 0)
				f->unknown = 1;
			i += n;
			continue;
		}
		if (w->text[i] != '\\' || i + 1 >= w->len) {
			put(&f->b, w->text + i, 1);
			continue;
		}
		if (w->text[i + 1] == 'c') {
			f->ended = 1;
			break;
		}
		n = escape_decode(w->text + i + 1, w->len - i - 1,
		    f->c->dialect == DIALECT_DASH ? ESCAPE_DASH : 0, out,
		    &outlen);
		if (n == 0) {
			put(&f->b, w->text + i, 1);
			continue;
		}
		put(&f->b, out, outlen);
		i += n;
	}
}

static void
produce_printf(struct judging *j, const struct command *c,
    struct content *out)
{
	struct format f = { .b = { .j = j }, .c = c, .arg = 1 };
	const struct word *w;
	size_t before;

	if (f.arg < c->argc && WORD_IS_STATIC(&c->argv[f.arg]) &&
	    strcmp(c->argv[f.arg].text, "--") == 0)
		f.arg++;
	if ((w = next_arg(&f)) == NULL) {
		out->kind = CONTENT_NONE;
		return;
	}
	if (w->text == NULL || f.unknown) {
		answer(&f.b, 1, f.flags, out);
		return;
	}
	do {
		before = f.arg;
		one_format(&f, w);
	} while (f.arg < c->argc && f.arg > before && !f.unknown &&
	    !f.ended && !f.b.over);
	for (; f.arg < c->argc; f.arg++)
		f.flags |= c->argv[f.arg].flags;
	answer(&f.b, f.unknown, f.flags, out);
}

/* ---- cat, tee, base64 ---- */

/* What a command reads: files in order, or its input. */
static void
read_files(struct judging *j, const struct command *c, size_t first,
    struct content *out)
{
	struct buffer b = { .j = j };
	struct content one;
	size_t i;
	int unknown = 0, network = 0;

	if (first >= c->argc) {
		*out = c->input;
		return;
	}
	for (i = first; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (WORD_IS_STATIC(w) && strcmp(w->text, "-") == 0)
			one = c->input;
		else
			shell_file_get(j, c, w, &one);
		network |= one.kind == CONTENT_NETWORK;
		if (one.kind == CONTENT_NONE)
			continue;
		if (!unknown && one.text != NULL)
			put(&b, one.text, one.len);
		unknown |= one.kind != CONTENT_TEXT;
	}
	answer(&b, unknown, network ? WORD_NETWORK : 0, out);
	if (c->argc - first == 1 && out->kind != CONTENT_TEXT)
		out->whole = one.whole;
}

static size_t
skip_options(const struct command *c, int *known)
{
	size_t i;

	*known = 1;
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (w->text == NULL || w->text[0] != '-' || w->len < 2)
			break;
		if (strcmp(w->text, "--") == 0)
			return (i + 1);
		if (strcmp(w->text, "-u") != 0)
			*known = 0;
	}
	return (i);
}

static void
produce_cat(struct judging *j, const struct command *c, struct content *out)
{
	int known;
	size_t first = skip_options(c, &known);

	read_files(j, c, first, out);
	if (out->kind == CONTENT_INHERITED)
		out->kind = CONTENT_UNKNOWN;
	/* cat -n and the like change the text. */
	if (!known)
		out->whole = NULL;
	if (!known && out->kind == CONTENT_TEXT) {
		out->kind = CONTENT_UNKNOWN;
		out->text = NULL;
		out->len = 0;
	}
}

static void
produce_tee(struct judging *j, const struct command *c, struct content *out)
{
	(void)j;
	*out = c->input;
	if (out->kind == CONTENT_INHERITED)
		out->kind = CONTENT_UNKNOWN;
}

static int
base64_digit(int c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c == 0 ? NULL : strchr(digits, c);

	return (at == NULL ? -1 : (int)(at - digits));
}

static void
decode(struct judging *j, const struct content *in, struct content *out)
{
	char *text = judging_alloc(j, in->len + 1);
	uint32_t bits = 0;
	size_t i, n = 0;
	int have = 0, d;

	for (i = 0; i < in->len; i++) {
		if (in->text[i] == '=')
			break;
		if ((d = base64_digit((unsigned char)in->text[i])) < 0)
			continue;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have >= 8) {
			have -= 8;
			text[n++] = (char)(bits >> have);
		}
	}
	out->text = text;
	out->len = n;
}

static void
produce_base64(struct judging *j, const struct command *c,
    struct content *out)
{
	struct content in;
	size_t i, first = 0;
	int decodes = 0;
	const char *s;

	for (i = 1; i < c->argc; i++) {
		if (!WORD_IS_STATIC(&c->argv[i]))
			break;
		s = c->argv[i].text;
		if (s[0] == '-' && s[1] == '-' && s[2] == 'd')
			decodes = 1;
		else if (s[0] == '-' && s[1] != '-' && (strchr(s, 'd') !=
		    NULL || strchr(s, 'D') != NULL))
			decodes = 1;
		else if (s[0] != '-' || s[1] == '\0')
			first = i;
	}
	if (first == 0)
		first = c->argc;
	read_files(j, c, first, &in);
	*out = in;
	out->whole = NULL;
	out->names = 0;
	if (in.kind == CONTENT_INHERITED)
		out->kind = CONTENT_UNKNOWN;
	if (decodes && in.text != NULL)
		decode(j, &in, out);
	else if (in.kind == CONTENT_TEXT) {
		/* What is encoded is no code. */
		out->kind = CONTENT_UNKNOWN;
		out->text = NULL;
		out->len = 0;
	}
}

/* ---- names ---- */

/* which rm, command -v rm, type -p rm: a name that runs it. */
static void
produce_which(struct judging *j, const struct command *c,
    struct content *out)
{
	struct buffer b = { .j = j };
	int unknown = 0;
	size_t i;

	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (w->text != NULL && w->text[0] == '-')
			continue;
		if (w->text != NULL && !unknown) {
			put(&b, w->text, w->len);
			put(&b, "\n", 1);
		}
		unknown |= !WORD_IS_STATIC(w);
	}
	answer(&b, unknown, 0, out);
}

static void
produce_pwd(struct judging *j, const struct command *c, struct content *out)
{
	struct buffer b = { .j = j };

	if (c->cwd == NULL) {
		out->kind = CONTENT_UNKNOWN;
		return;
	}
	put(&b, c->cwd, strlen(c->cwd));
	put(&b, "\n", 1);
	answer(&b, 0, 0, out);
}

static void
produce_basename(struct judging *j, const struct command *c,
    struct content *out)
{
	struct buffer b = { .j = j };
	const struct word *w;
	size_t from, to;

	out->kind = CONTENT_UNKNOWN;
	if (c->argc != 2 || !WORD_IS_STATIC(&c->argv[1]) ||
	    c->argv[1].text[0] == '-')
		return;
	w = &c->argv[1];
	for (to = w->len; to > 1 && w->text[to - 1] == '/'; to--)
		;
	for (from = to; from > 0 && w->text[from - 1] != '/'; from--)
		;
	if (from == to && to > 0)
		from = to - 1;
	put(&b, w->text + from, to - from);
	put(&b, "\n", 1);
	answer(&b, 0, 0, out);
}

static void
produce_dirname(struct judging *j, const struct command *c,
    struct content *out)
{
	struct buffer b = { .j = j };
	const struct word *w;
	size_t to;

	out->kind = CONTENT_UNKNOWN;
	if (c->argc != 2 || !WORD_IS_STATIC(&c->argv[1]) ||
	    c->argv[1].text[0] == '-')
		return;
	w = &c->argv[1];
	for (to = w->len; to > 1 && w->text[to - 1] == '/'; to--)
		;
	while (to > 0 && w->text[to - 1] != '/')
		to--;
	while (to > 1 && w->text[to - 1] == '/')
		to--;
	if (to == 0)
		put(&b, ".", 1);
	put(&b, w->text, to);
	put(&b, "\n", 1);
	answer(&b, 0, 0, out);
}

static void
produce_nothing(struct judging *j, const struct command *c,
    struct content *out)
{
	(void)j;
	(void)c;
	out->kind = CONTENT_NONE;
}

static const struct producer_row {
	const char	*name;
	void		(*fn)(struct judging *, const struct command *,
			    struct content *);
} producers[] = {
	{ "echo", produce_echo }, { "printf", produce_printf },
	{ "cat", produce_cat }, { "tee", produce_tee },
	{ "base64", produce_base64 }, { "which", produce_which },
	{ "pwd", produce_pwd }, { "basename", produce_basename },
	{ "dirname", produce_dirname }, { "true", produce_nothing },
	{ "false", produce_nothing }, { ":", produce_nothing },
	{ "test", produce_nothing }, { "[", produce_nothing },
	{ "export", produce_nothing }, { "unset", produce_nothing },
	{ "shift", produce_nothing }, { "sleep", produce_nothing },
	{ "mkdir", produce_nothing }, { "touch", produce_nothing },
	{ "chmod", produce_nothing }, { "rm", produce_nothing }
};

static struct names by_name = NAMES(producers);

void
shell_produce(struct judging *j, const struct command *c,
    struct content *out)
{
	const char *name, *slash;
	const struct producer_row *row;
	struct command inner;

	memset(out, 0, sizeof(*out));
	out->kind = CONTENT_UNKNOWN;
	if (c->argc == 0) {
		out->kind = CONTENT_NONE;
		return;
	}
	if (!WORD_IS_STATIC(&c->argv[0]))
		return;
	name = c->argv[0].text;
	if ((slash = strrchr(name, '/')) != NULL)
		name = slash + 1;
	/* command -v name, type -p name */
	if ((same_name(name, "command") || same_name(name, "type")) &&
	    c->argc > 2 && c->argv[1].text != NULL &&
	    (strcmp(c->argv[1].text, "-v") == 0 ||
	    strcmp(c->argv[1].text, "-p") == 0 ||
	    strcmp(c->argv[1].text, "-P") == 0) &&
	    !(name[0] == 'c' && c->argv[1].text[1] == 'p')) {
		inner = *c;
		inner.argv++;
		inner.argc--;
		produce_which(j, &inner, out);
		return;
	}
	if ((row = names_find(&by_name, name)) != NULL)
		row->fn(j, c, out);
}
