/*
 * Compound commands.
 */
#include <string.h>

#include "parse_internal.h"

static void
want(struct parser *p, enum reserved word, const char *text)
{
	if (!take_reserved(p, word))
		syntax_error(p, text);
}

/* ---- ( and (( ---- */

static int
was_tried(struct parser *p, size_t at)
{
	if (p->tried == NULL)
		p->tried = judging_alloc(p->j, p->len / 8 + 1);
	if (p->tried[at / 8] & (1u << (at % 8)))
		return (1);
	p->tried[at / 8] |= (uint8_t)(1u << (at % 8));
	return (0);
}

/* The parts up to a ")" that is not one of theirs. */
static struct part *
arith_parts(struct parser *p, int stop)
{
	struct parts w;

	parts_init(&w);
	parse_parts(p, &w, MODE_ARITH, stop);
	return (parts_flush(p, &w));
}

/*
 * "((" is arithmetic only if it ends in "))"; else it is read again as two
 * subshells, once for each offset.
 */
static struct node *
parse_double_paren(struct parser *p)
{
	size_t from = p->pos;
	struct part *parts;
	struct node *n;

	if (was_tried(p, from) || !parse_enter(p))
		return (NULL);
	take(p, "((");
	parts = arith_parts(p, 0);
	parse_leave(p);
	if (peek(p) != ')')
		syntax_error(p, "a (( is not closed");
	if (p->error != PARSE_OK)
		return (NULL);
	advance(p);
	if (peek(p) != ')') {
		if (p->error == PARSE_OK)
			p->pos = from;
		return (NULL);
	}
	advance(p);
	n = node_new(p, NODE_ARITH, from);
	n->arith[0] = parts;
	return (n);
}

struct node *
parse_paren(struct parser *p)
{
	struct node *n;
	size_t from = p->pos;

	if (is_bash(p) && peek_at(p, 1) == '(' &&
	    (n = parse_double_paren(p)) != NULL) {
		p->may_reserve = 1;
		return (parse_redirects(p, n));
	}
	take(p, "(");
	n = node_new(p, NODE_SUBSHELL, from);
	n->body = parse_list(p, 0);
	if (!take(p, ")"))
		syntax_error(p, "a ( is not closed");
	p->may_reserve = 1;
	return (parse_redirects(p, n));
}

/* ---- groups, if, loops ---- */

static struct node *
parse_group(struct parser *p, size_t from)
{
	struct node *n = node_new(p, NODE_GROUP, from);

	n->body = parse_list(p, 0);
	want(p, RES_CLOSE, "a { is not closed");
	return (n);
}

static struct node *
parse_if(struct parser *p, size_t from)
{
	struct node *first = node_new(p, NODE_IF, from), *n = first;

	for (;;) {
		n->cond = parse_list(p, 0);
		want(p, RES_THEN, "then is expected here");
		n->body = parse_list(p, 0);
		if (!take_reserved(p, RES_ELIF))
			break;
		n->otherwise = node_new(p, NODE_IF, from);
		n = n->otherwise;
		n->to = p->fixed ? p->to : (uint32_t)p->pos;
	}
	if (take_reserved(p, RES_ELSE))
		n->other = parse_list(p, 0);
	want(p, RES_FI, "fi is expected here");
	return (first);
}

/* do ... done, or { ... } where that may stand. */
static struct list *
parse_body(struct parser *p, int braces)
{
	struct list *body;

	skip_newlines(p);
	if (braces && is_bash(p) && take_reserved(p, RES_OPEN)) {
		body = parse_list(p, 0);
		want(p, RES_CLOSE, "a { is not closed");
		return (body);
	}
	want(p, RES_DO, "do is expected here");
	body = parse_list(p, 0);
	want(p, RES_DONE, "done is expected here");
	return (body);
}

static struct node *
parse_while(struct parser *p, enum node_kind kind, size_t from)
{
	struct node *n = node_new(p, kind, from);

	n->cond = parse_list(p, 0);
	n->body = parse_body(p, 0);
	return (n);
}

/* for (( ; ; )): stands at "((". */
static struct node *
parse_cfor(struct parser *p, size_t from)
{
	struct node *n = node_new(p, NODE_CFOR, from);
	int i;

	take(p, "((");
	for (i = 0; i < 3; i++) {
		n->arith[i] = arith_parts(p, i < 2 ? ';' : 0);
		if (i < 2) {
			if (peek(p) != ';')
				syntax_error(p, "a ; is expected here");
			advance(p);
		}
	}
	if (!take(p, "))"))
		syntax_error(p, "a (( is not closed");
	skip_blanks(p);
	take(p, ";");
	n->body = parse_body(p, 1);
	return (n);
}

/* The words up to ";" or a newline. */
static struct ast_word *
parse_word_list(struct parser *p)
{
	struct ast_word *first = NULL, **end = &first, *w;

	while ((w = parse_word(p, 0)) != NULL) {
		*end = w;
		end = &w->next;
	}
	skip_blanks(p);
	if (!at(p, ";;") && take(p, ";"))
		p->may_reserve = 1;
	else if (peek(p) != '\n' && peek(p) != END)
		syntax_error(p, "not expected in a list of words");
	return (first);
}

static struct node *
parse_for(struct parser *p, enum node_kind kind, size_t from)
{
	struct node *n;
	struct ast_word *name;
	size_t start;

	skip_blanks(p);
	if (kind == NODE_FOR && is_bash(p) && at(p, "(("))
		return (parse_cfor(p, from));
	n = node_new(p, kind, from);
	start = p->pos;
	if ((name = parse_word(p, 0)) == NULL) {
		syntax_error(p, "a name is expected here");
		return (n);
	}
	n->name = judging_strndup(p->j, p->s + start, p->pos - start);
	skip_blanks(p);
	if (!at(p, ";;") && take(p, ";")) {
		n->body = parse_body(p, 1);
		return (n);
	}
	skip_newlines(p);
	p->may_reserve = 1;
	if (take_reserved(p, RES_IN)) {
		n->has_in = 1;
		n->words = parse_word_list(p);
	}
	n->body = parse_body(p, 1);
	return (n);
}

/* ---- case ---- */

/* One clause; the item's end is 0 if esac must follow. */
static struct case_item *
parse_clause(struct parser *p)
{
	struct case_item *item = judging_alloc(p->j, sizeof(*item));
	struct ast_word **end = &item->patterns, *w;

	skip_blanks(p);
	take(p, "(");
	for (;;) {
		if ((w = parse_word(p, 0)) == NULL) {
			syntax_error(p, "a pattern is expected here");
			return (item);
		}
		*end = w;
		end = &w->next;
		skip_blanks(p);
		if (at(p, "||") || !take(p, "|"))
			break;
	}
	if (!take(p, ")"))
		syntax_error(p, "a ) is expected behind the pattern");
	item->body = parse_list(p, 1);
	skip_newlines(p);
	if (is_bash(p) && take(p, ";;&"))
		item->end = '*';
	else if (take(p, ";;"))
		item->end = '.';
	else if (is_bash(p) && take(p, ";&"))
		item->end = '&';
	return (item);
}

static struct node *
parse_case(struct parser *p, size_t from)
{
	struct node *n = node_new(p, NODE_CASE, from);
	struct case_item **end = &n->items, *item;

	if ((n->subject = parse_word(p, 0)) == NULL) {
		syntax_error(p, "a word is expected here");
		return (n);
	}
	skip_newlines(p);
	p->may_reserve = 1;
	want(p, RES_IN, "in is expected here");
	for (;;) {
		skip_newlines(p);
		p->may_reserve = 1;
		if (p->error != PARSE_OK || take_reserved(p, RES_ESAC))
			break;
		item = parse_clause(p);
		*end = item;
		end = &item->next;
		if (item->end == 0) {
			want(p, RES_ESAC, "esac is expected here");
			break;
		}
	}
	return (n);
}

/* ---- functions and coprocesses ---- */

int
is_compound_start(struct parser *p)
{
	skip_blanks(p);
	if (peek(p) == '(')
		return (1);
	switch (reserved(p)) {
	case RES_IF:
	case RES_CASE:
	case RES_FOR:
	case RES_SELECT:
	case RES_WHILE:
	case RES_UNTIL:
	case RES_OPEN:
	case RES_COND:
		return (1);
	default:
		return (0);
	}
}

struct node *
parse_function_body(struct parser *p, const char *name, size_t from)
{
	struct node *n = node_new(p, NODE_FUNCTION, from);

	n->name = name;
	skip_newlines(p);
	p->may_reserve = 1;
	if (!is_compound_start(p) && is_bash(p)) {
		syntax_error(p, "a function's body is expected here");
		return (n);
	}
	if (!parse_enter(p))
		return (n);
	n->function = parse_command(p);
	if (n->function == NULL)
		syntax_error(p, "a function's body is expected here");
	parse_leave(p);
	n->to = p->fixed ? p->to : (uint32_t)p->pos;
	return (n);
}

static struct node *
parse_function_word(struct parser *p, size_t from)
{
	struct ast_word *w;
	size_t start;
	const char *name;

	skip_blanks(p);
	start = p->pos;
	if ((w = parse_word(p, 0)) == NULL) {
		syntax_error(p, "a name is expected here");
		return (NULL);
	}
	name = judging_strndup(p->j, p->s + start, p->pos - start);
	skip_blanks(p);
	p->may_reserve = 1;
	if (peek(p) == '(' && peek_at(p, 1) != '(') {
		size_t saved = p->pos;

		advance(p);
		skip_blanks(p);
		if (peek(p) == ')')
			advance(p);
		else if (p->error == PARSE_OK)
			p->pos = saved;
	}
	return (parse_function_body(p, name, from));
}

static struct node *
parse_coproc(struct parser *p, size_t from)
{
	struct node *n = node_new(p, NODE_COPROC, from);
	struct ast_word *w;
	size_t saved;

	if (!is_compound_start(p)) {
		saved = p->pos;
		w = parse_word(p, 0);
		p->may_reserve = 1;
		if (w != NULL && is_compound_start(p) && peek(p) != '(')
			n->name = judging_strndup(p->j, p->s + saved,
			    p->pos - saved);
		else if (w != NULL && peek(p) == '(' &&
		    p->error == PARSE_OK) {
			n->name = "";
		} else if (p->error == PARSE_OK) {
			p->pos = saved;
			n->function = parse_simple(p);
			if (n->function == NULL)
				syntax_error(p,
				    "a command is expected here");
			return (n);
		}
	}
	n->function = parse_command(p);
	return (n);
}

/* ---- all of them ---- */

static struct node *
compound(struct parser *p, enum reserved word, size_t from)
{
	struct node *n;

	switch (word) {
	case RES_IF:
		return (parse_if(p, from));
	case RES_CASE:
		return (parse_case(p, from));
	case RES_FOR:
		return (parse_for(p, NODE_FOR, from));
	case RES_SELECT:
		return (parse_for(p, NODE_SELECT, from));
	case RES_WHILE:
		return (parse_while(p, NODE_WHILE, from));
	case RES_UNTIL:
		return (parse_while(p, NODE_UNTIL, from));
	case RES_OPEN:
		return (parse_group(p, from));
	case RES_COND:
		n = node_new(p, NODE_COND, from);
		n->test = parse_cond(p);
		return (n);
	default:
		return (NULL);
	}
}

struct node *
parse_compound(struct parser *p, enum reserved word)
{
	struct node *n = NULL;
	size_t from;

	skip_blanks(p);
	from = p->pos;
	switch (word) {
	case RES_THEN:
	case RES_ELIF:
	case RES_ELSE:
	case RES_FI:
	case RES_ESAC:
	case RES_DO:
	case RES_DONE:
	case RES_CLOSE:
		return (NULL);
	default:
		break;
	}
	if (!parse_enter(p))
		return (NULL);
	take_reserved(p, word);
	if (word == RES_FUNCTION)
		n = parse_function_word(p, from);
	else if (word == RES_COPROC)
		n = parse_coproc(p, from);
	else if ((n = compound(p, word, from)) != NULL) {
		p->may_reserve = 1;
		n = parse_redirects(p, n);
	}
	parse_leave(p);
	return (n);
}
