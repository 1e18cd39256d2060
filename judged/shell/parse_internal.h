/*
 * What the files of the parser share.  After an error peek() sees the end of
 * the text, so everything winds up without further checks.
 */
#ifndef SHELL_PARSE_INTERNAL_H
#define SHELL_PARSE_INTERNAL_H

#include "judging_internal.h"
#include "parser.h"

#define END	(-1)

#define STEPS_FACTOR	64	/* how often a character may be fetched */

/* ---- lex.c: characters and tokens ---- */

int	peek_slow(struct parser *);
/* The next character, \newline deleted; END at the end or after an error. */
static inline int
peek(struct parser *p)
{
	/* As nearly all are; peek_slow has the whole rule. */
	if (p->error == PARSE_OK && p->pos < p->len &&
	    p->s[p->pos] != '\\' && p->steps < p->len * STEPS_FACTOR) {
		p->steps++;
		return ((unsigned char)p->s[p->pos]);
	}
	return (peek_slow(p));
}
/* The one n behind it; n of 0 is peek(). */
int	peek_at(struct parser *, unsigned n);
void	advance(struct parser *);
/* 1 if this operator text stands here. */
int	at_slow(struct parser *, const char *);
static inline int
at(struct parser *p, const char *op)
{
	return (peek(p) == (unsigned char)op[0] && at_slow(p, op));
}
/* The same, and steps behind it. */
int	take(struct parser *, const char *);
void	skip_blanks_slow(struct parser *);
/* Steps behind blanks, and a comment. */
static inline void
skip_blanks(struct parser *p)
{
	int c = peek(p);

	if (c == ' ' || c == '\t' || c == '#')
		skip_blanks_slow(p);
}
/* At a newline: steps behind it and the bodies of here-documents. */
void	take_newline(struct parser *);
void	skip_newlines(struct parser *);

/* What a character is, by its number. */
#define CHAR_META	0x01	/* ends an unquoted word */
#define CHAR_NAME_START	0x02
#define CHAR_NAME	0x04
#define CHAR_RESERVED	0x08	/* begins a reserved word */
#define CHAR_PLAIN	0x10	/* no mode gives it a meaning */
extern const unsigned char char_kinds[256];

static inline int
is_kind(int c, unsigned kind)
{
	return (c != END && (char_kinds[c] & kind) != 0);
}

static inline int
is_meta(int c)
{
	return (c == END || is_kind(c, CHAR_META));
}

static inline int
is_name_start(int c)
{
	return (is_kind(c, CHAR_NAME_START));
}

static inline int
is_name(int c)
{
	return (is_kind(c, CHAR_NAME));
}

void	syntax_error(struct parser *, const char *);
void	bound_error(struct parser *, const char *);
/* One more level; 0 and a bound error if there are too many. */
int	parse_enter(struct parser *);
void	parse_leave(struct parser *);
/* The place of an offset in the outermost text. */
uint32_t place(const struct parser *, size_t pos);
int	is_bash(const struct parser *);

enum reserved {
	RES_NONE, RES_IF, RES_THEN, RES_ELIF, RES_ELSE, RES_FI, RES_CASE,
	RES_ESAC, RES_FOR, RES_SELECT, RES_WHILE, RES_UNTIL, RES_DO,
	RES_DONE, RES_IN, RES_FUNCTION, RES_TIME, RES_OPEN, RES_CLOSE,
	RES_NOT, RES_COND, RES_COND_END, RES_COPROC
};
/* The reserved word that stands here, if one may; not stepped behind. */
enum reserved reserved(struct parser *);
int	take_reserved(struct parser *, enum reserved);

/* ---- word.c, dollar.c: words and their parts ---- */

enum mode {
	MODE_WORD,	/* ends at a metacharacter */
	MODE_DOUBLE,	/* at " */
	MODE_BRACE,	/* inside ${ }: at } */
	MODE_BRACE_DOUBLE, /* the same inside ".." : ' does not quote */
	MODE_ARITH,	/* at a ) without its ( */
	MODE_BRACKET,	/* at a ] without its [ */
	MODE_GLOB,	/* inside @( ): at a ) without its ( */
	MODE_REGEX,	/* behind =~ */
	MODE_ALL	/* at the end: here-documents */
};

/* Parts being collected; text is the run of one kind not yet a part. */
struct parts {
	struct part	*first;
	struct part	**end;
	const char	*text;		/* of the source, or in own */
	size_t		 len;
	char		*own;
	size_t		 room;
	int		 quoted;	/* what the run is */
	size_t		 from;
	struct part	**value;	/* where an assignment's value begins */
};

void	parts_init(struct parts *);
void	parts_char(struct parser *, struct parts *, int c, int quoted);
/* Makes the run a part; the parts so far. */
struct part *parts_flush(struct parser *, struct parts *);
struct part *parts_add(struct parser *, struct parts *, enum part_kind,
	    size_t from);

/* Parts up to what ends the mode, or to stop at the outer level (or 0). */
void	parse_parts(struct parser *, struct parts *, enum mode, int stop);
/* What "$" begins; it stands at it. */
void	parse_dollar(struct parser *, struct parts *, enum mode);
void	parse_backtick(struct parser *, struct parts *, enum mode);
/* $'...': stands at the quote. */
void	parse_ansi(struct parser *, struct parts *);
/* A list in parentheses, stands behind "(": for $( ), <( ) and subshells. */
struct list *parse_parens(struct parser *);

#define WORD_ASSIGNS	1	/* may be name[...]=, name=(...) */
#define WORD_PATTERN	2	/* with @(...) */
#define WORD_REGEX	4
/* The word that stands here, or NULL. */
struct ast_word *parse_word(struct parser *, int flags);

/* ---- heredoc.c ---- */
void	heredoc_add(struct parser *, struct ast_redir *, size_t from,
	    size_t to);
void	heredoc_read(struct parser *);

/* ---- parse.c, compound.c, cond.c ---- */

/* Commands up to what ends them; none is an error unless it may be empty. */
struct list *parse_list(struct parser *, int may_be_empty);
struct node *parse_command(struct parser *);
struct node *parse_simple(struct parser *);
struct node *parse_compound(struct parser *, enum reserved);
struct node *parse_paren(struct parser *);	/* ( or (( */
struct node *parse_function_body(struct parser *, const char *name,
	    size_t from);
struct node *node_new(struct parser *, enum node_kind, size_t from);
struct node *parse_redirects(struct parser *, struct node *);
struct ast_redir *parse_redirect(struct parser *);
struct cond *parse_cond(struct parser *);
int	is_compound_start(struct parser *);
int	at_separator(struct parser *);	/* newline, ";" or the end */

#endif
