/*
 * [[ ... ]].
 */
#include <string.h>

#include "parse_internal.h"

static struct cond *cond_or(struct parser *);

static struct cond *
cond_new(struct parser *p, enum cond_kind kind)
{
	struct cond *c = judging_alloc(p->j, sizeof(*c));

	c->kind = kind;
	return (c);
}

/* The text of a word without quotes and expansions, else "". */
static const char *
plain(const struct ast_word *w)
{
	if (w == NULL || w->parts == NULL || w->parts->next != NULL ||
	    w->parts->kind != PART_TEXT)
		return ("");
	return (w->parts->text);
}

static int
is_unary(const char *s)
{
	return (s[0] == '-' && s[1] != '\0' && s[2] == '\0' &&
	    strchr("abcdefghkLnNoOprRsStuvwxzG", s[1]) != NULL);
}

static int
is_binary(const char *s)
{
	static const char *const ops[] = {
		"=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt",
		"-ge", "-nt", "-ot", "-ef"
	};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(s, ops[i]) == 0)
			return (1);
	return (0);
}

/* 1 if "]]" stands here as a word of its own. */
static int
at_close(struct parser *p)
{
	return (at(p, "]]") && is_meta(peek_at(p, 2)));
}

static struct ast_word *
cond_word(struct parser *p, int flags)
{
	struct ast_word *w;

	skip_blanks(p);
	if (at_close(p) || (w = parse_word(p, flags)) == NULL) {
		syntax_error(p, "a word is expected inside [[");
		return (NULL);
	}
	return (w);
}

/* The operator of a binary test, stepped behind; NULL if there is none. */
static const char *
take_binary(struct parser *p)
{
	size_t saved = p->pos;
	const char *op;
	struct ast_word *w;

	if (peek(p) == '<' && take(p, "<"))
		return ("<");
	if (peek(p) == '>' && take(p, ">"))
		return (">");
	if (at_close(p) || peek(p) == '\n' || peek(p) == '&' ||
	    peek(p) == '|' || peek(p) == ')')
		return (NULL);
	w = parse_word(p, 0);
	op = plain(w);
	if (is_binary(op))
		return (op);
	if (p->error == PARSE_OK)
		p->pos = saved;
	syntax_error(p, "an operator is expected inside [[");
	return (NULL);
}

static struct cond *
cond_test(struct parser *p)
{
	struct ast_word *w;
	struct cond *c;
	const char *op;

	if ((w = cond_word(p, 0)) == NULL)
		return (NULL);
	skip_blanks(p);
	if (is_unary(plain(w)) ) {
		c = cond_new(p, COND_UNARY);
		c->op = plain(w);
		c->left = cond_word(p, 0);
		return (c);
	}
	op = take_binary(p);
	c = cond_new(p, op == NULL ? COND_WORD : COND_BINARY);
	c->op = op;
	c->left = w;
	if (op != NULL)
		c->right = cond_word(p, strcmp(op, "=~") == 0 ? WORD_REGEX :
		    op[0] == '=' || op[0] == '!' ? WORD_PATTERN : 0);
	return (c);
}

static struct cond *
cond_term(struct parser *p)
{
	struct cond *c, *inner;

	skip_newlines(p);
	if (!parse_enter(p))
		return (NULL);
	if (take(p, "(")) {
		c = cond_or(p);
		skip_newlines(p);
		if (!take(p, ")"))
			syntax_error(p, "a ( is not closed inside [[");
	} else if (peek(p) == '!' && is_meta(peek_at(p, 1))) {
		advance(p);
		inner = cond_term(p);
		c = cond_new(p, COND_NOT);
		c->a = inner;
	} else
		c = cond_test(p);
	skip_newlines(p);
	parse_leave(p);
	return (c);
}

/* Terms joined by one operator; && binds closer. */
static struct cond *
cond_chain(struct parser *p, const char *op, enum cond_kind kind,
    struct cond *(*term)(struct parser *))
{
	struct cond *c = term(p), *both;

	while (c != NULL && take(p, op)) {
		both = cond_new(p, kind);
		both->a = c;
		both->b = term(p);
		c = both;
	}
	return (c);
}

static struct cond *
cond_and(struct parser *p)
{
	return (cond_chain(p, "&&", COND_AND, cond_term));
}

static struct cond *
cond_or(struct parser *p)
{
	return (cond_chain(p, "||", COND_OR, cond_and));
}

struct cond *
parse_cond(struct parser *p)
{
	struct cond *c = cond_or(p);

	skip_newlines(p);
	if (!at_close(p))
		syntax_error(p, "a [[ is not closed");
	advance(p);
	advance(p);
	return (c);
}
