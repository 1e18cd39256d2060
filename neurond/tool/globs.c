/*
 * Globs: a pattern becomes tokens, and a name is read once while the set of
 * tokens that it may have come to is carried along.  There is no going back,
 * so the work is at most tokens times characters.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "globs.h"

enum token_kind {
	TOKEN_CHAR,	/* this character */
	TOKEN_ONE,	/* ?: any but the slash */
	TOKEN_SET,	/* [...]: never the slash */
	TOKEN_STAR,	/* any number, but no slash */
	TOKEN_DIRS,	/* at the start of a directory's name, or past them */
	TOKEN_DIRS_IN,	/* within such a name; always follows TOKEN_DIRS */
	TOKEN_EACH,	/* any, the slash too */
	TOKEN_REST	/* any number of any */
};

struct token {
	enum token_kind	 kind;
	uint32_t	 c;		/* TOKEN_CHAR */
	int		 not;		/* TOKEN_SET: [!...] */
	size_t		 first, n;	/* TOKEN_SET: of the ranges */
};

struct range {
	uint32_t	 low, high;
};

/* Most patterns are these, and need no automaton. */
enum shape { SHAPE_ANY, SHAPE_EXACT, SHAPE_ENDS };

struct compiled {
	enum shape	 shape;
	char		*literal;	/* SHAPE_EXACT and SHAPE_ENDS ("*.c") */
	size_t		 len;
	struct token	*token;
	size_t		 ntokens;
	struct range	*range;
	size_t		 nranges;
};

struct glob {
	size_t		 n, room;
	struct compiled	 either[];
};

/*
 * One character of UTF-8, or a byte that is none as a number that no character
 * has.  Sets *c and returns the bytes taken; len is at least 1.
 */
static size_t
character(const char *text, size_t len, uint32_t *c)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n, i;
	uint32_t v;

	if (p[0] < 0x80) {
		*c = p[0];
		return (1);
	}
	n = p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] >= 0xf5 || len < n)
		goto none;
	v = p[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			goto none;
		v = v << 6 | (p[i] & 0x3f);
	}
	if ((n == 3 && v < 0x800) || (n == 4 && v < 0x10000) ||
	    v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		goto none;
	*c = v;
	return (n);
none:
	*c = 0xdc00U + p[0];
	return (1);
}

static void
add(struct compiled *g, enum token_kind kind, uint32_t c)
{
	struct token *t = &g->token[g->ntokens++];

	memset(t, 0, sizeof(*t));
	t->kind = kind;
	t->c = c;
}

/* The index past a set that opens at i, or 0 if it is not closed. */
static size_t
set_end(const char *p, size_t len, size_t i)
{
	i++;
	if (i < len && (p[i] == '!' || p[i] == '^'))
		i++;
	if (i < len && p[i] == ']')
		i++;
	while (i < len && p[i] != ']')
		i += p[i] == '\\' ? 2 : 1;
	return (i < len ? i + 1 : 0);
}

static size_t
set_character(const char *p, size_t len, size_t i, uint32_t *c)
{
	if (p[i] == '\\' && i + 1 < len)
		i++;
	return (i + character(p + i, len - i, c));
}

/* A set from its bracket to end, the index past the closing one. */
static void
add_set(struct compiled *g, const char *p, size_t i, size_t end)
{
	struct token *t = &g->token[g->ntokens];
	uint32_t low, high;

	add(g, TOKEN_SET, 0);
	t->first = g->nranges;
	i++;
	if (p[i] == '!' || p[i] == '^') {
		t->not = 1;
		i++;
	}
	while (i < end - 1) {
		i = set_character(p, end - 1, i, &low);
		high = low;
		if (i + 1 < end - 1 && p[i] == '-')
			i = set_character(p, end - 1, i + 1, &high);
		g->range[g->nranges].low = low;
		g->range[g->nranges].high = high;
		g->nranges++;
	}
	t->n = g->nranges - t->first;
}

/* Stars that begin at i; returns the index past what they take. */
static size_t
add_stars(struct compiled *g, const char *p, size_t len, size_t i)
{
	size_t end = i;

	while (end < len && p[end] == '*')
		end++;
	if (end - i != 2 || (i > 0 && p[i - 1] != '/') ||
	    (end < len && p[end] != '/')) {
		add(g, TOKEN_STAR, 0);
		return (end);
	}
	if (end == len) {
		add(g, TOKEN_EACH, 0);
		add(g, TOKEN_REST, 0);
		return (end);
	}
	add(g, TOKEN_DIRS, 0);
	add(g, TOKEN_DIRS_IN, 0);
	return (end + 1);
}

static void
tokens(struct compiled *g, const char *p, size_t len)
{
	size_t i = 0, end;
	uint32_t c;

	while (i < len) {
		if (p[i] == '*') {
			i = add_stars(g, p, len, i);
		} else if (p[i] == '?') {
			add(g, TOKEN_ONE, 0);
			i++;
		} else if (p[i] == '[' && (end = set_end(p, len, i)) != 0) {
			add_set(g, p, i, end);
			i = end;
		} else {
			i = set_character(p, len, i, &c);
			add(g, TOKEN_CHAR, c);
		}
	}
}

/* Names and endings without a backslash are compared as bytes. */
static int
find_shape(struct compiled *g, const char *p, size_t len)
{
	size_t i, first = len > 1 && p[0] == '*' ? 1 : 0;

	/* an ending must not begin within a character of the name */
	if (first == 1 && ((unsigned char)p[1] & 0xc0) == 0x80)
		return (0);
	for (i = first; i < len; i++) {
		if (strchr("*?[\\", p[i]) != NULL && p[i] != '\0')
			return (0);
	}
	if ((g->literal = malloc(len + 1)) == NULL)
		return (-1);
	g->len = len - first;
	memcpy(g->literal, p + first, g->len);
	g->shape = first == 1 ? SHAPE_ENDS : SHAPE_EXACT;
	return (0);
}

/* 0, or -1 when memory is out. */
static int
compile(struct compiled *g, const char *p, size_t len)
{
	memset(g, 0, sizeof(*g));
	if (find_shape(g, p, len) == -1)
		return (-1);
	if (g->shape != SHAPE_ANY)
		return (0);
	if ((g->token = calloc(len + 1, sizeof(*g->token))) == NULL ||
	    (g->range = calloc(len + 1, sizeof(*g->range))) == NULL)
		return (-1);
	tokens(g, p, len);
	return (0);
}

static int
in_set(const struct compiled *g, const struct token *t, uint32_t c)
{
	size_t i;

	for (i = t->first; i < t->first + t->n; i++) {
		if (c >= g->range[i].low && c <= g->range[i].high)
			return (!t->not);
	}
	return (t->not);
}

/* What needs no character is passed over: from each place the ones after. */
static int
pass(const struct compiled *g, unsigned char *at)
{
	size_t i;
	int any = 0;

	for (i = 0; i <= g->ntokens; i++) {
		if (!at[i])
			continue;
		any = 1;
		if (i == g->ntokens)
			break;
		if (g->token[i].kind == TOKEN_STAR ||
		    g->token[i].kind == TOKEN_REST)
			at[i + 1] = 1;
		else if (g->token[i].kind == TOKEN_DIRS)
			at[i + 2] = 1;
	}
	return (any);
}

static void
step(const struct compiled *g, size_t i, uint32_t c, unsigned char *to)
{
	const struct token *t = &g->token[i];

	switch (t->kind) {
	case TOKEN_CHAR:
		to[i + 1] |= c == t->c;
		break;
	case TOKEN_ONE:
		to[i + 1] |= c != '/';
		break;
	case TOKEN_SET:
		to[i + 1] |= c != '/' && in_set(g, t, c);
		break;
	case TOKEN_STAR:
		to[i] |= c != '/';
		break;
	case TOKEN_DIRS:
		to[i + 1] |= c != '/';
		break;
	case TOKEN_DIRS_IN:
		to[c == '/' ? i - 1 : i] = 1;
		break;
	case TOKEN_EACH:
		to[i + 1] = 1;
		break;
	case TOKEN_REST:
		to[i] = 1;
		break;
	}
}

static int
match_tokens(const struct compiled *g, const char *name, size_t len)
{
	unsigned char sets[2][GLOB_BYTES_MAX + 2], *at = sets[0];
	unsigned char *to = sets[1], *other;
	size_t i;
	uint32_t c;

	memset(at, 0, g->ntokens + 1);
	at[0] = 1;
	while (pass(g, at) && len > 0) {
		i = character(name, len, &c);
		name += i;
		len -= i;
		memset(to, 0, g->ntokens + 1);
		for (i = 0; i < g->ntokens; i++) {
			if (at[i])
				step(g, i, c, to);
		}
		other = at;
		at = to;
		to = other;
	}
	return (len == 0 && at[g->ntokens]);
}

static int
match_one(const struct compiled *g, const char *name, size_t len)
{
	switch (g->shape) {
	case SHAPE_EXACT:
		return (len == g->len && memcmp(name, g->literal, len) == 0);
	case SHAPE_ENDS:
		return (len >= g->len && memcmp(name + len - g->len,
		    g->literal, g->len) == 0 &&
		    memchr(name, '/', len - g->len) == NULL);
	case SHAPE_ANY:
		break;
	}
	return (match_tokens(g, name, len));
}

int
glob_match(const struct glob *g, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < g->n; i++) {
		if (match_one(&g->either[i], name, len))
			return (1);
	}
	return (0);
}

/* A pattern that braces were, or may be, in. */
struct piece {
	char		*text;
	size_t		 len;
};

/* Finds the first {...} with its commas; returns 1, or 0 if there is none. */
static int
find_braces(const char *p, size_t len, size_t *open, size_t *closing)
{
	size_t i, end, start = len;
	int depth = 0;

	for (i = 0; i < len; i++) {
		if (p[i] == '\\') {
			i++;
		} else if (p[i] == '[' && (end = set_end(p, len, i)) != 0) {
			i = end - 1;
		} else if (p[i] == '{' && depth++ == 0) {
			start = i;
		} else if (p[i] == '}' && depth > 0 && --depth == 0) {
			*open = start;
			*closing = i;
			return (1);
		}
	}
	return (0);
}

/* The end of an alternative that begins at i. */
static size_t
either_end(const char *p, size_t i, size_t closing)
{
	int depth = 0;
	size_t end;

	for (; i < closing; i++) {
		if (p[i] == '\\')
			i++;
		else if (p[i] == '[' && (end = set_end(p, closing, i)) != 0)
			i = end - 1;
		else if (p[i] == '{')
			depth++;
		else if (p[i] == '}')
			depth--;
		else if (p[i] == ',' && depth == 0)
			break;
	}
	return (i < closing ? i : closing);
}

/*
 * Takes the first braces of the last piece apart: it becomes as many pieces as
 * they have alternatives.  1 if there were any, 0 if not, -1 and a reason.
 */
static int
expand(struct piece *piece, size_t *n, size_t room, const char **why)
{
	struct piece whole = piece[*n - 1], *to;
	size_t open, closing, i, end, tail;

	if (!find_braces(whole.text, whole.len, &open, &closing))
		return (0);
	(*n)--;
	tail = whole.len - closing - 1;
	for (i = open + 1; i <= closing; i = end + 1) {
		end = either_end(whole.text, i, closing);
		*why = "its braces stand for more than 64 patterns";
		if (*n == room)
			goto bad;
		to = &piece[*n];
		*why = "out of memory";
		to->len = open + (end - i) + tail;
		if ((to->text = malloc(to->len + 1)) == NULL)
			goto bad;
		memcpy(to->text, whole.text, open);
		memcpy(to->text + open, whole.text + i, end - i);
		memcpy(to->text + open + (end - i), whole.text + closing + 1,
		    tail);
		(*n)++;
	}
	free(whole.text);
	return (1);
bad:
	free(whole.text);
	return (-1);
}

/* Compiles piece after piece until none is left.  0, or -1 and a reason. */
static int
make_all(struct glob *g, struct piece *piece, size_t *n, unsigned flags,
    const char **why)
{
	int r;

	while (*n > 0) {
		r = (flags & GLOB_BRACES) != 0 ?
		    expand(piece, n, g->room - g->n, why) : 0;
		if (r == -1)
			return (-1);
		if (r == 1)
			continue;
		*why = "out of memory";
		g->n++;
		if (compile(&g->either[g->n - 1], piece[*n - 1].text,
		    piece[*n - 1].len) == -1)
			return (-1);
		free(piece[--*n].text);
	}
	return (0);
}

struct glob *
glob_make(const char *pattern, size_t len, unsigned flags, const char **why)
{
	struct piece piece[GLOB_EITHER_MAX];
	struct glob *g;
	size_t n = 0, room = (flags & GLOB_BRACES) != 0 ? GLOB_EITHER_MAX : 1;
	int r = -1;

	*why = "it is longer than 4096 bytes";
	if (len > GLOB_BYTES_MAX)
		return (NULL);
	*why = "out of memory";
	if ((g = calloc(1, sizeof(*g) + room * sizeof(g->either[0]))) == NULL)
		return (NULL);
	g->room = room;
	piece[0].len = len;
	if ((piece[0].text = malloc(len + 1)) != NULL) {
		memcpy(piece[0].text, pattern, len);
		n = 1;
		r = make_all(g, piece, &n, flags, why);
	}
	while (n > 0)
		free(piece[--n].text);
	if (r == -1) {
		glob_free(g);
		return (NULL);
	}
	return (g);
}

void
glob_free(struct glob *g)
{
	size_t i;

	if (g == NULL)
		return;
	for (i = 0; i < g->n; i++) {
		free(g->either[i].literal);
		free(g->either[i].token);
		free(g->either[i].range);
	}
	free(g);
}
