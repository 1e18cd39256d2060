/*
 * Words: quotes and what they hold.
 */
#include <string.h>

#include "parse_internal.h"

void
parts_init(struct parts *w)
{
	memset(w, 0, sizeof(*w));
	w->end = &w->first;
}

static void
parts_link(struct parser *p, struct parts *w, struct part *part, size_t from)
{
	part->from = place(p, from);
	part->to = p->fixed ? p->to : (uint32_t)p->pos;
	*w->end = part;
	w->end = &part->next;
}

struct part *
parts_flush(struct parser *p, struct parts *w)
{
	struct part *part;

	if (w->len == 0)
		return (w->first);
	part = judging_alloc(p->j, sizeof(*part));
	part->kind = w->quoted ? PART_QUOTED : PART_TEXT;
	part->text = judging_strndup(p->j, w->text, w->len);
	part->len = w->len;
	w->len = 0;
	parts_link(p, w, part, w->from);
	return (w->first);
}

struct part *
parts_add(struct parser *p, struct parts *w, enum part_kind kind, size_t from)
{
	struct part *part;

	parts_flush(p, w);
	part = judging_alloc(p->j, sizeof(*part));
	part->kind = kind;
	parts_link(p, w, part, from);
	return (part);
}

void
parts_char(struct parser *p, struct parts *w, int c, int quoted)
{
	char *more;
	size_t room;

	if (w->len > 0 && w->quoted != quoted)
		parts_flush(p, w);
	if (w->len == 0) {
		w->quoted = quoted;
		w->from = p->pos > 0 ? p->pos - 1 : 0;
		w->text = w->own;
	}
	if (w->len == w->room || w->text != w->own) {
		room = w->len < 16 ? 32 : w->len * 2;
		more = room <= w->room ? w->own : judging_alloc(p->j, room);
		if (w->len > 0)
			memcpy(more, w->text, w->len);
		if (room > w->room)
			w->room = room;
		w->text = w->own = more;
	}
	w->own[w->len++] = (char)c;
}

/* Bytes of the source as they stand there, up to where the parser is. */
static void
parts_source(struct parser *p, struct parts *w, size_t n, int quoted)
{
	const char *s = p->s + p->pos - n;

	if (w->len > 0 && w->quoted != quoted)
		parts_flush(p, w);
	if (w->len == 0) {
		w->quoted = quoted;
		w->from = p->pos - n;
		w->text = s;
	}
	if (w->text + w->len == s) {
		w->len += n;
		return;
	}
	for (; n > 0; n--, s++)
		parts_char(p, w, (unsigned char)*s, quoted);
}

/*
 * Steps behind the ordinary bytes that stand here and says how many: letters
 * and the like, which no mode gives a meaning.
 */
static size_t
take_plain(struct parser *p, int stop)
{
	size_t from = p->pos, i;
	unsigned char c;

	for (i = from; i < p->len; i++) {
		c = (unsigned char)p->s[i];
		if (!is_kind(c, CHAR_PLAIN) || c == stop)
			break;
	}
	if (p->error != PARSE_OK)
		return (0);
	p->pos = i;
	p->steps += i - from;
	return (i - from);
}

/* '...': nothing in it is special, not even \newline. */
static void
parse_single(struct parser *p, struct parts *w)
{
	size_t from = p->pos++, i;
	struct part *part;

	for (i = p->pos; i < p->len && p->s[i] != '\''; i++)
		;
	if (i >= p->len) {
		p->pos = p->len;
		syntax_error(p, "a ' is not closed");
		return;
	}
	parts_flush(p, w);
	part = judging_alloc(p->j, sizeof(*part));
	part->kind = PART_QUOTED;
	part->len = i - p->pos;
	part->text = judging_strndup(p->j, p->s + p->pos, part->len);
	p->pos = i + 1;
	p->steps += part->len;
	parts_link(p, w, part, from);
}

static void
parse_double(struct parser *p, struct parts *w)
{
	size_t from = p->pos++;
	struct parts inner;
	struct part *part;

	if (!parse_enter(p))
		return;
	parts_init(&inner);
	parse_parts(p, &inner, MODE_DOUBLE, 0);
	if (peek(p) != '"')
		syntax_error(p, "a \" is not closed");
	else
		p->pos++;
	part = parts_add(p, w, PART_DOUBLE, from);
	part->parts = parts_flush(p, &inner);
	parse_leave(p);
}

void
parse_backtick(struct parser *p, struct parts *w, enum mode mode)
{
	int in_double = mode == MODE_DOUBLE || mode == MODE_BRACE_DOUBLE;
	size_t from = p->pos++, n = 0, i;
	struct part *part;
	char *text;

	for (i = p->pos; i < p->len && p->s[i] != '`'; i++)
		if (p->s[i] == '\\' && i + 1 < p->len)
			i++;
	if (i >= p->len) {
		p->pos = p->len;
		syntax_error(p, "a ` is not closed");
		return;
	}
	text = judging_alloc(p->j, i - p->pos + 1);
	for (; p->pos < i; p->pos++) {
		if (p->s[p->pos] == '\\' && (strchr("`\\$",
		    p->s[p->pos + 1]) != NULL ||
		    (in_double && p->s[p->pos + 1] == '"')))
			p->pos++;
		text[n++] = p->s[p->pos];
	}
	p->pos = i + 1;
	p->steps += n;
	part = parts_add(p, w, PART_BACKTICK, from);
	part->text = text;
	part->len = n;
}

/* <(...) and >(...). */
static void
parse_process(struct parser *p, struct parts *w)
{
	size_t from = p->pos;
	struct part *part;
	struct list *list;
	char sign = (char)peek(p);

	advance(p);
	advance(p);
	list = parse_parens(p);
	part = parts_add(p, w, PART_PROCESS, from);
	part->sign = sign;
	part->list = list;
}

/* A \ outside of quotes, or with its meaning inside them. */
static void
parse_escape(struct parser *p, struct parts *w, enum mode mode)
{
	int in_double = mode == MODE_DOUBLE || mode == MODE_BRACE_DOUBLE ||
	    mode == MODE_ALL || mode == MODE_ARITH;
	int c;

	p->pos++;
	if (p->pos >= p->len) {
		parts_char(p, w, '\\', 1);
		return;
	}
	c = (unsigned char)p->s[p->pos];
	if (in_double && strchr("$`\\", c) == NULL &&
	    !(c == '"' && mode != MODE_ALL) &&
	    !(c == '}' && mode == MODE_BRACE_DOUBLE)) {
		parts_char(p, w, '\\', 1);
		if (mode == MODE_ARITH && c != '\n') {
			/* An escaped parenthesis doesn't count there. */
			p->pos++;
			parts_char(p, w, c, 1);
		}
		return;
	}
	p->pos++;
	parts_char(p, w, c, 1);
}

struct nesting {
	enum mode	 mode;
	int		 stop;
	int		 open;		/* brackets of the mode's kind */
};

static int
ends(struct parser *p, struct nesting *n, int c)
{
	if (c == END)
		return (1);
	if (n->stop != 0 && c == n->stop && (n->open == 0 || c == '}'))
		return (1);
	switch (n->mode) {
	case MODE_WORD:
		return (is_meta(c) && !((c == '<' || c == '>') &&
		    is_bash(p) && peek_at(p, 1) == '('));
	case MODE_DOUBLE:
		return (c == '"');
	case MODE_BRACE:
	case MODE_BRACE_DOUBLE:
		return (c == '}');
	case MODE_ARITH:
	case MODE_GLOB:
		return (c == ')' && n->open == 0);
	case MODE_BRACKET:
		return (c == ']' && n->open == 0);
	case MODE_REGEX:
		return (n->open == 0 && (c == ' ' || c == '\t' ||
		    c == '\n' || c == ')' || c == ';' || c == '&' ||
		    c == '<' || c == '>'));
	default:
		return (0);
	}
}

static void
count(struct nesting *n, int c)
{
	switch (n->mode) {
	case MODE_ARITH:
	case MODE_GLOB:
	case MODE_REGEX:
		n->open += (c == '(') - (c == ')');
		break;
	case MODE_BRACKET:
		n->open += (c == '[') - (c == ']');
		break;
	default:
		break;
	}
}

/*
 * A pair of single quotes where they don't quote: inside "${x:-'..'}" and
 * arithmetic.  What is between takes no part in finding the end, but is
 * expanded all the same when it runs; so an error in it comes only then.
 */
static void
parse_pair(struct parser *p, struct parts *w)
{
	const char *close = memchr(p->s + p->pos + 1, '\'',
	    p->len - p->pos - 1);
	size_t len = p->len, end;
	struct part *part;

	if (close == NULL) {
		p->pos = p->len;
		syntax_error(p, "a ' is not closed");
		return;
	}
	end = (size_t)(close - p->s);
	p->pos++;
	parts_char(p, w, '\'', 0);
	p->len = end;
	parse_parts(p, w, MODE_ALL, 0);
	p->len = len;
	if (p->error == PARSE_SYNTAX) {
		p->error = PARSE_OK;
		part = parts_add(p, w, PART_PARAM, p->pos);
		part->param = judging_alloc(p->j, sizeof(*part->param));
		part->param->name = "";
		part->param->op = '!';
	}
	if (p->error == PARSE_OK)
		p->pos = end + 1;
	parts_char(p, w, '\'', 0);
}

/* A single quote: 1 if it was dealt with here. */
static int
single(struct parser *p, struct parts *w, struct nesting *n)
{
	switch (n->mode) {
	case MODE_DOUBLE:
	case MODE_ALL:
		return (0);
	case MODE_ARITH:
	case MODE_BRACE_DOUBLE:
		parse_pair(p, w);
		return (1);
	default:
		parse_single(p, w);
		return (1);
	}
}

static int
is_extglob(struct parser *p, enum mode mode, int c)
{
	return ((mode == MODE_WORD || mode == MODE_GLOB) && p->extglob &&
	    c != 0 && strchr("?*+@!", c) != NULL && peek_at(p, 1) == '(');
}

/* @(...) and its like: their text is kept as it is, it is a pattern. */
static void
parse_extglob(struct parser *p, struct parts *w)
{
	if (!parse_enter(p))
		return;
	parts_char(p, w, peek(p), 0);
	advance(p);
	parts_char(p, w, '(', 0);
	advance(p);
	parse_parts(p, w, MODE_GLOB, 0);
	if (peek(p) != ')')
		syntax_error(p, "a pattern's ( is not closed");
	else {
		parts_char(p, w, ')', 0);
		advance(p);
	}
	parse_leave(p);
}

/* One special character; 0 if it is an ordinary one in this mode. */
static int
special(struct parser *p, struct parts *w, struct nesting *n, int c)
{
	switch (c) {
	case '\\':
		parse_escape(p, w, n->mode);
		return (1);
	case '\'':
		return (single(p, w, n));
	case '"':
		if (n->mode == MODE_ALL)
			return (0);
		parse_double(p, w);
		return (1);
	case '`':
		parse_backtick(p, w, n->mode);
		return (1);
	case '$':
		parse_dollar(p, w, n->mode);
		return (1);
	case '<':
	case '>':
		if (!is_bash(p) || peek_at(p, 1) != '(' ||
		    n->mode == MODE_DOUBLE || n->mode == MODE_ALL ||
		    n->mode == MODE_BRACE_DOUBLE || n->mode == MODE_ARITH)
			return (0);
		parse_process(p, w);
		return (1);
	default:
		return (0);
	}
}

void
parse_parts(struct parser *p, struct parts *w, enum mode mode, int stop)
{
	struct nesting n = { .mode = mode, .stop = stop };
	size_t plain;
	int c, quoted;

	quoted = mode == MODE_DOUBLE || mode == MODE_ALL;
	for (;;) {
		if ((plain = take_plain(p, stop)) > 0)
			parts_source(p, w, plain, quoted);
		c = peek(p);
		if (ends(p, &n, c))
			break;
		if (special(p, w, &n, c))
			continue;
		if (is_extglob(p, mode, c)) {
			parse_extglob(p, w);
			continue;
		}
		count(&n, c);
		p->pos++;
		parts_char(p, w, c, quoted);
	}
}

/* name=(a b [k]=c): stands behind "(". */
static void
parse_elements(struct parser *p, struct ast_word *word)
{
	struct ast_word **end = &word->elements, *e;

	word->is_array = 1;
	if (!parse_enter(p))
		return;
	for (;;) {
		skip_newlines(p);
		if (peek(p) == ')') {
			advance(p);
			break;
		}
		if (peek(p) == '#' || (e = parse_word(p, 0)) == NULL) {
			syntax_error(p, "an array's ( is not closed");
			break;
		}
		*end = e;
		end = &e->next;
	}
	parse_leave(p);
}

/* The text so far is a name, perhaps with a + behind it. */
static size_t
name_so_far(const struct parts *w, int *appends)
{
	size_t i, len = w->len;

	*appends = 0;
	if (w->first != NULL || len == 0 || w->quoted)
		return (0);
	if (w->text[len - 1] == '+') {
		*appends = 1;
		len--;
	}
	if (len == 0 || !is_name_start((unsigned char)w->text[0]))
		return (0);
	for (i = 1; i < len; i++)
		if (!is_name((unsigned char)w->text[i]))
			return (0);
	return (len);
}

static void
begin_value(struct parser *p, struct parts *w, struct ast_word *word,
    size_t nlen, int appends, int flags)
{
	word->name = judging_strndup(p->j, w->text, nlen);
	word->nlen = nlen;
	word->appends = appends;
	advance(p);
	parts_char(p, w, '=', 0);
	parts_flush(p, w);
	w->value = w->end;
	if ((flags & WORD_ASSIGNS) && is_bash(p) && peek(p) == '(') {
		advance(p);
		parse_elements(p, word);
	}
}

/*
 * name[...]: stands at "[".  If "=" follows it is an assignment; else all is
 * text of the word.
 */
static void
parse_subscript(struct parser *p, struct parts *w, struct ast_word *word)
{
	struct parts inner;
	struct part *all;
	int appends;

	if (!parse_enter(p))
		return;
	word->nlen = w->len;
	word->name = judging_strndup(p->j, w->text, w->len);
	parts_char(p, w, '[', 0);
	advance(p);
	parts_flush(p, w);
	parts_init(&inner);
	parse_parts(p, &inner, MODE_BRACKET, 0);
	all = parts_flush(p, &inner);
	if (peek(p) != ']')
		syntax_error(p, "a [ is not closed");
	advance(p);
	*w->end = all;
	while (*w->end != NULL)
		w->end = &(*w->end)->next;
	parts_char(p, w, ']', 0);
	appends = at(p, "+=");
	if (appends || peek(p) == '=') {
		word->subscript = all;
		word->has_subscript = 1;
		word->appends = appends;
		if (appends) {
			parts_char(p, w, '+', 0);
			advance(p);
		}
		parts_char(p, w, '=', 0);
		advance(p);
		parts_flush(p, w);
		w->value = w->end;
	} else
		word->name = NULL;
	parse_leave(p);
}

/* Reads until a "=", "[" or the end decides whether this is an assignment. */
static void
parse_head(struct parser *p, struct parts *w, struct ast_word *word, int flags)
{
	size_t nlen;
	int c, appends;

	while (is_name(c = peek(p)) || (c == '+' && peek_at(p, 1) == '=')) {
		p->pos++;
		parts_source(p, w, 1, 0);
		if (c == '+')
			break;
	}
	c = peek(p);
	nlen = name_so_far(w, &appends);
	if (nlen == 0)
		return;
	if (c == '=')
		begin_value(p, w, word, nlen, appends, flags);
	else if (c == '[' && !appends && (flags & WORD_ASSIGNS) && is_bash(p))
		parse_subscript(p, w, word);
}

struct ast_word *
parse_word(struct parser *p, int flags)
{
	struct ast_word *word;
	struct parts w;
	size_t from;
	enum mode mode = (flags & WORD_REGEX) ? MODE_REGEX : MODE_WORD;
	int saved = p->extglob, c;

	skip_blanks(p);
	c = peek(p);
	/* No word is the rule behind each last one. */
	if (mode == MODE_WORD && is_meta(c) && c != '<' && c != '>')
		return (NULL);
	from = p->pos;
	word = judging_alloc(p->j, sizeof(*word));
	parts_init(&w);
	if (flags & WORD_PATTERN)
		p->extglob = 1;
	if (mode == MODE_WORD)
		parse_head(p, &w, word, flags);
	if (!word->is_array)
		parse_parts(p, &w, mode, 0);
	p->extglob = saved;
	word->parts = parts_flush(p, &w);
	if (p->pos == from || p->error != PARSE_OK)
		return (NULL);
	word->value = w.value == NULL ? NULL : *w.value;
	word->from = place(p, from);
	word->to = p->fixed ? p->to : (uint32_t)p->pos;
	p->may_reserve = 0;
	return (word);
}
