/*
 * What "$" begins.
 */
#include <string.h>

#include "parse_internal.h"

static int
in_double(enum mode mode)
{
	return (mode == MODE_DOUBLE || mode == MODE_ALL ||
	    mode == MODE_BRACE_DOUBLE || mode == MODE_ARITH);
}

static int
is_special_name(int c)
{
	return (c > 0 && strchr("@*#?-$!", c) != NULL);
}

/* A name, a number or one special character; how many bytes. */
static size_t
take_name(struct parser *p, struct param *param, int digits)
{
	char buf[256];
	size_t n = 0;
	int c = peek(p);

	if (c == '$' && digits && is_bash(p) && peek_at(p, 1) > 0 &&
	    strchr("({[$", peek_at(p, 1)) != NULL) {
		/* ${$(...)}: no name, but what stands there is run */
	} else if (is_special_name(c)) {
		buf[n++] = (char)c;
		advance(p);
	} else if (c >= '0' && c <= '9') {
		do {
			buf[n++] = (char)c;
			advance(p);
			c = peek(p);
		} while (digits && c >= '0' && c <= '9' && n < sizeof(buf));
	} else
		while ((n == 0 ? is_name_start(c) : is_name(c)) &&
		    n < sizeof(buf)) {
			buf[n++] = (char)c;
			advance(p);
			c = peek(p);
		}
	if (n == sizeof(buf))
		bound_error(p, "a variable's name is too long");
	param->name = judging_strndup(p->j, buf, n);
	param->nlen = n;
	return (n);
}

static struct part *
param_word(struct parser *p, enum mode mode, int stop)
{
	struct parts w;

	parts_init(&w);
	parse_parts(p, &w, mode, stop);
	return (parts_flush(p, &w));
}

/* The rest of a ${...} that no operator explains: it fails when it runs. */
static void
bad_param(struct parser *p, struct param *param, enum mode mode)
{
	param->op = '!';
	param->word = param_word(p, in_double(mode) ? MODE_BRACE_DOUBLE :
	    MODE_BRACE, 0);
}

static void
param_replace(struct parser *p, struct param *param)
{
	if (peek(p) == '/') {
		param->doubled = 1;
		advance(p);
	}
	if (peek(p) == '#' || peek(p) == '%') {
		param->anchor = (char)peek(p);
		advance(p);
	}
	param->word = param_word(p, MODE_BRACE, '/');
	if (peek(p) == '/') {
		advance(p);
		param->has_with = 1;
		param->with = param_word(p, MODE_BRACE, 0);
	}
}

static void
param_op(struct parser *p, struct param *param, enum mode mode)
{
	enum mode plain = in_double(mode) ? MODE_BRACE_DOUBLE : MODE_BRACE;
	int c = peek(p), next = peek_at(p, 1);

	if (c == ':' && next > 0 && strchr("-=?+", next) != NULL) {
		param->colon = 1;
		advance(p);
		c = next;
	}
	if (c == END || strchr("-=?+#%^,~/:@", c) == NULL) {
		bad_param(p, param, mode);
		return;
	}
	param->op = (char)c;
	advance(p);
	switch (c) {
	case '-':
	case '=':
	case '?':
	case '+':
		param->word = param_word(p, plain, 0);
		break;
	case '#':
	case '%':
	case '^':
	case ',':
	case '~':
		if (peek(p) == c) {
			param->doubled = 1;
			advance(p);
		}
		param->word = param_word(p, MODE_BRACE, 0);
		break;
	case '/':
		param_replace(p, param);
		break;
	case ':':
		param->word = param_word(p, plain, ':');
		if (peek(p) == ':') {
			advance(p);
			param->has_with = 1;
			param->with = param_word(p, plain, 0);
		}
		break;
	default:
		param->word = param_word(p, plain, 0);
	}
}

/* "#" or "!" in front of a name, where it is no name itself. */
static void
param_prefix(struct parser *p, struct param *param)
{
	int c = peek(p), next = peek_at(p, 1);

	if (c == '#' && (is_name(next) || (is_special_name(next) &&
	    peek_at(p, 2) == '}'))) {
		param->length = 1;
		advance(p);
	} else if (c == '!' && is_bash(p) && (is_name(next) ||
	    next == '@' || next == '*' || (next == '#' &&
	    peek_at(p, 2) == '}'))) {
		param->indirect = 1;
		advance(p);
	}
}

/* ${...}: stands behind "{". */
static void
parse_braced(struct parser *p, struct param *param, enum mode mode)
{
	struct parts sub;
	int c;

	param_prefix(p, param);
	if (take_name(p, param, 1) == 0) {
		bad_param(p, param, mode);
		return;
	}
	if (peek(p) == '[' && is_bash(p)) {
		advance(p);
		parts_init(&sub);
		parse_parts(p, &sub, MODE_BRACKET, '}');
		param->subscript = parts_flush(p, &sub);
		param->has_subscript = 1;
		if (peek(p) == '}') {
			/* "}" ends it all the same */
			param->op = '!';
			return;
		}
		advance(p);
	}
	c = peek(p);
	if (c == '}')
		return;
	if (param->indirect && (c == '*' || c == '@') &&
	    peek_at(p, 1) == '}') {
		param->names = c;
		advance(p);
		return;
	}
	if (param->length)
		bad_param(p, param, mode);
	else
		param_op(p, param, mode);
	if (peek(p) != '}' && p->error == PARSE_OK) {
		/* ${x@Q y}: one letter was wanted, and the like. */
		bad_param(p, param, mode);
	}
}

static void
parse_param(struct parser *p, struct parts *w, enum mode mode, size_t from)
{
	struct param *param = judging_alloc(p->j, sizeof(*param));
	struct part *part;

	if (peek(p) == '{') {
		advance(p);
		if (!parse_enter(p))
			return;
		parse_braced(p, param, mode);
		if (peek(p) != '}')
			syntax_error(p, "a ${ is not closed");
		advance(p);
		parse_leave(p);
	} else
		take_name(p, param, 0);
	part = parts_add(p, w, PART_PARAM, from);
	part->param = param;
}

/*
 * $((: arithmetic if its last two ) stand together, else a substitution that
 * begins with a subshell.  A shell reads that one only when it runs it.
 */
static void
parse_arith(struct parser *p, struct parts *w, size_t from)
{
	struct parts inner, after;
	struct part *part;
	size_t text;

	if (!parse_enter(p))
		return;
	advance(p);
	text = p->pos;
	advance(p);
	parts_init(&inner);
	parse_parts(p, &inner, MODE_ARITH, 0);
	advance(p);
	if (peek(p) == ')') {
		advance(p);
		part = parts_add(p, w, PART_ARITH, from);
		part->parts = parts_flush(p, &inner);
		parse_leave(p);
		return;
	}
	parts_init(&after);
	parse_parts(p, &after, MODE_ARITH, 0);
	if (peek(p) != ')')
		syntax_error(p, "a $( is not closed");
	part = parts_add(p, w, PART_BACKTICK, from);
	part->text = judging_strndup(p->j, p->s + text, p->pos - text);
	part->len = p->pos - text;
	advance(p);
	parse_leave(p);
}

static void
parse_old_arith(struct parser *p, struct parts *w, size_t from)
{
	struct parts inner;
	struct part *part;

	if (!parse_enter(p))
		return;
	advance(p);
	parts_init(&inner);
	parse_parts(p, &inner, MODE_BRACKET, 0);
	if (peek(p) != ']')
		syntax_error(p, "a $[ is not closed");
	advance(p);
	part = parts_add(p, w, PART_ARITH, from);
	part->parts = parts_flush(p, &inner);
	parse_leave(p);
}

static void
parse_substitution(struct parser *p, struct parts *w, size_t from)
{
	struct part *part;
	struct list *list;

	advance(p);
	list = parse_parens(p);
	part = parts_add(p, w, PART_COMMAND, from);
	part->list = list;
}

void
parse_dollar(struct parser *p, struct parts *w, enum mode mode)
{
	size_t from = p->pos;
	int c;

	p->pos++;
	c = peek(p);
	if (c == '(' && peek_at(p, 1) == '(')
		parse_arith(p, w, from);
	else if (c == '(')
		parse_substitution(p, w, from);
	else if (c == '[' && is_bash(p))
		parse_old_arith(p, w, from);
	else if (c == '{' || is_name(c) || is_special_name(c))
		parse_param(p, w, mode, from);
	else if (c == '\'' && is_bash(p) && !in_double(mode))
		parse_ansi(p, w);
	else if (c != '"' || !is_bash(p) || in_double(mode))
		parts_char(p, w, '$', in_double(mode));
	/* else $"...": a translated string, as if the $ was not there */
}
