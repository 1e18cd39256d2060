/*
 * Characters and tokens of shell text.
 */
#include <string.h>

#include "parse_internal.h"

/*
 * Work allowed a text, beside STEPS_FACTOR: each character may be fetched so
 * often.  Only "((" that turn out to be subshells are read again, and
 * lookahead.
 */
#define STEPS_LEAST	(64 * 1024)

int
is_bash(const struct parser *p)
{
	return (p->dialect != DIALECT_DASH);
}

uint32_t
place(const struct parser *p, size_t pos)
{
	return (p->fixed ? p->from : (uint32_t)pos);
}

static void
fail(struct parser *p, enum parse_error error, const char *text)
{
	if (p->error != PARSE_OK)
		return;
	p->error = error;
	p->error_at = p->pos;
	p->error_text = text;
}

void
syntax_error(struct parser *p, const char *text)
{
	fail(p, PARSE_SYNTAX, text);
}

void
bound_error(struct parser *p, const char *text)
{
	fail(p, PARSE_BOUND, text);
}

int
parse_enter(struct parser *p)
{
	if (p->depth >= PARSE_DEPTH_MAX) {
		bound_error(p, "nested deeper than is read");
		return (0);
	}
	p->depth++;
	return (1);
}

void
parse_leave(struct parser *p)
{
	p->depth--;
}

int
peek_slow(struct parser *p)
{
	if (p->error != PARSE_OK)
		return (END);
	if (++p->steps > (uint64_t)p->len * STEPS_FACTOR + STEPS_LEAST) {
		bound_error(p, "takes too long to read");
		return (END);
	}
	while (p->pos + 1 < p->len && p->s[p->pos] == '\\' &&
	    p->s[p->pos + 1] == '\n')
		p->pos += 2;
	return (p->pos < p->len ? (unsigned char)p->s[p->pos] : END);
}

void
advance(struct parser *p)
{
	if (peek(p) != END)
		p->pos++;
}

int
peek_at(struct parser *p, unsigned n)
{
	size_t saved = p->pos;
	int c;

	while (n-- > 0)
		advance(p);
	c = peek(p);
	if (p->error == PARSE_OK)
		p->pos = saved;
	return (c);
}

int
at_slow(struct parser *p, const char *op)
{
	unsigned n;

	for (n = 1; op[n] != '\0'; n++)
		if (peek_at(p, n) != (unsigned char)op[n])
			return (0);
	return (1);
}

int
take(struct parser *p, const char *op)
{
	if (!at(p, op))
		return (0);
	for (; *op != '\0'; op++)
		advance(p);
	p->may_reserve = 1;
	return (1);
}

/* Letters, "_", and all bytes of characters beyond ASCII. */
#define START	(CHAR_NAME_START | CHAR_NAME | CHAR_PLAIN)
#define WORD	(START | CHAR_RESERVED)
#define DIGIT	(CHAR_NAME | CHAR_PLAIN)

const unsigned char char_kinds[256] = {
	[' '] = CHAR_META, ['\t'] = CHAR_META, ['\n'] = CHAR_META,
	[';'] = CHAR_META, ['&'] = CHAR_META, ['|'] = CHAR_META,
	['('] = CHAR_META, [')'] = CHAR_META, ['<'] = CHAR_META,
	['>'] = CHAR_META,
	['{'] = CHAR_RESERVED, ['}'] = CHAR_RESERVED, ['!'] = CHAR_RESERVED,
	['['] = CHAR_RESERVED, [']'] = CHAR_RESERVED,
	['A' ... 'Z'] = START, ['_'] = START, ['0' ... '9'] = DIGIT,
	['a'] = START, ['b'] = START, ['c'] = WORD, ['d'] = WORD,
	['e'] = WORD, ['f'] = WORD, ['g'] = START, ['h'] = START,
	['i'] = WORD, ['j' ... 'r'] = START, ['s'] = WORD, ['t'] = WORD,
	['u'] = WORD, ['v'] = START, ['w'] = WORD, ['x' ... 'z'] = START,
	['-'] = CHAR_PLAIN, ['.'] = CHAR_PLAIN, [','] = CHAR_PLAIN,
	['%'] = CHAR_PLAIN, [0x80 ... 0xff] = CHAR_PLAIN
};

/* A comment runs to the newline; a \ before that is of the comment. */
void
skip_blanks_slow(struct parser *p)
{
	int c;

	while ((c = peek(p)) == ' ' || c == '\t')
		p->pos++;
	if (c != '#')
		return;
	while (p->pos < p->len && p->s[p->pos] != '\n')
		p->pos++;
}

void
take_newline(struct parser *p)
{
	if (peek(p) != '\n')
		return;
	p->pos++;
	p->may_reserve = 1;
	if (p->heredocs != NULL)
		heredoc_read(p);
}

void
skip_newlines(struct parser *p)
{
	for (skip_blanks(p); peek(p) == '\n'; skip_blanks(p))
		take_newline(p);
}

int
at_separator(struct parser *p)
{
	int c = peek(p);

	return (c == END || c == '\n' || c == ';');
}

static const struct {
	const char	*text;
	enum reserved	 word;
	int		 bash;		/* not of dash */
} words[] = {
	{ "if", RES_IF, 0 }, { "then", RES_THEN, 0 }, { "elif", RES_ELIF, 0 },
	{ "else", RES_ELSE, 0 }, { "fi", RES_FI, 0 }, { "case", RES_CASE, 0 },
	{ "esac", RES_ESAC, 0 }, { "for", RES_FOR, 0 },
	{ "select", RES_SELECT, 1 }, { "while", RES_WHILE, 0 },
	{ "until", RES_UNTIL, 0 }, { "do", RES_DO, 0 },
	{ "done", RES_DONE, 0 }, { "in", RES_IN, 0 },
	{ "function", RES_FUNCTION, 1 }, { "time", RES_TIME, 1 },
	{ "{", RES_OPEN, 0 }, { "}", RES_CLOSE, 0 }, { "!", RES_NOT, 0 },
	{ "[[", RES_COND, 1 }, { "]]", RES_COND_END, 1 },
	{ "coproc", RES_COPROC, 1 }
};

#define RESERVED_MAX	8	/* bytes of the longest */

/* Reads the candidate into buf; its length, or 0 if it is none. */
static size_t
candidate(struct parser *p, char buf[RESERVED_MAX + 1])
{
	size_t n;
	int c;

	for (n = 0; !is_meta(c = peek(p)); n++) {
		if (n == RESERVED_MAX || !((c >= 'a' && c <= 'z') ||
		    strchr("{}![]", c) != NULL))
			return (0);
		buf[n] = (char)c;
		p->pos++;
	}
	buf[n] = '\0';
	return (n);
}

enum reserved
reserved(struct parser *p)
{
	char buf[RESERVED_MAX + 1];
	size_t i, saved = p->pos;
	size_t n;

	if (!p->may_reserve || !is_kind(peek(p), CHAR_RESERVED))
		return (RES_NONE);
	n = candidate(p, buf);
	if (p->error == PARSE_OK)
		p->pos = saved;
	if (n == 0)
		return (RES_NONE);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (buf[0] == words[i].text[0] &&
		    strcmp(buf, words[i].text) == 0 &&
		    (!words[i].bash || is_bash(p)))
			return (words[i].word);
	return (RES_NONE);
}

int
take_reserved(struct parser *p, enum reserved want)
{
	char buf[RESERVED_MAX + 1];

	skip_blanks(p);
	if (reserved(p) != want)
		return (0);
	candidate(p, buf);
	p->may_reserve = 1;
	return (1);
}
