/*
 * Arithmetic: its value where all of it is known, and the code that
 * evaluating it runs: a[$(...)] in what it says or in a variable it names.
 */
#include <string.h>

#include "resolver.h"

#define ARITH_DEPTH	16	/* of parentheses and of names in values */
#define NAMES_COST	4	/* bytes of work, of a byte that may name */

struct eval {
	struct resolver	*r;
	const char	*s;
	size_t		 len;
	size_t		 pos;
	unsigned	 depth;
	int		 unknown;
};

static int64_t ternary(struct eval *);

static int
eval_peek(struct eval *e)
{
	while (e->pos < e->len && (e->s[e->pos] == ' ' ||
	    e->s[e->pos] == '\t' || e->s[e->pos] == '\n'))
		e->pos++;
	return (e->pos < e->len ? (unsigned char)e->s[e->pos] : -1);
}

static int
name_byte(int c)
{
	return ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_');
}

static int
digit(int c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'z')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'Z')
		return (c - 'A' + 10);
	return (99);
}

static int64_t
literal(struct eval *e)
{
	uint64_t v = 0;
	int base = 10, d;

	if (e->s[e->pos] == '0' && e->pos + 1 < e->len) {
		base = 8;
		e->pos++;
		if (e->s[e->pos] == 'x' || e->s[e->pos] == 'X') {
			base = 16;
			e->pos++;
		}
	}
	while (e->pos < e->len && name_byte((unsigned char)e->s[e->pos])) {
		d = digit((unsigned char)e->s[e->pos]);
		if (d >= base)
			e->unknown = 1;
		v = v * (uint64_t)base + (uint64_t)d;
		e->pos++;
	}
	if (e->pos < e->len && e->s[e->pos] == '#')
		e->unknown = 1;		/* base#digits */
	return ((int64_t)v);
}

static int64_t
variable(struct eval *e)
{
	const struct value *v;
	struct eval inner;
	const char *text;
	char name[64];
	size_t start = e->pos, n;
	int64_t x;

	while (e->pos < e->len && name_byte((unsigned char)e->s[e->pos]))
		e->pos++;
	n = e->pos - start;
	if (n >= sizeof(name) || e->depth >= ARITH_DEPTH ||
	    eval_peek(e) == '[') {
		e->unknown = 1;
		return (0);
	}
	memcpy(name, e->s + start, n);
	name[n] = '\0';
	v = var_get(e->r, name);
	if (v == NULL || v->n != 1) {
		e->unknown = 1;
		return (0);
	}
	if (v->alt[0].n == 0)
		return (0);
	if ((text = value_static(v)) == NULL) {
		e->unknown = 1;
		return (0);
	}
	inner = (struct eval){ e->r, text, strlen(text), 0, e->depth + 1, 0 };
	if (eval_peek(&inner) == -1)
		return (0);
	x = ternary(&inner);
	if (inner.unknown || eval_peek(&inner) != -1)
		e->unknown = 1;
	return (x);
}

static int64_t
primary(struct eval *e)
{
	int c = eval_peek(e);
	int64_t v;

	if (e->unknown || ++e->depth > ARITH_DEPTH) {
		e->unknown = 1;
		return (0);
	}
	if (c == '(') {
		e->pos++;
		v = ternary(e);
		if (eval_peek(e) != ')')
			e->unknown = 1;
		e->pos++;
	} else if (c == '-' || c == '+' || c == '!' || c == '~') {
		e->pos++;
		if (eval_peek(e) == c)	/* ++x, --x change it */
			e->unknown = 1;
		v = primary(e);
		v = c == '-' ? (int64_t)(0 - (uint64_t)v) : c == '!' ? !v :
		    c == '~' ? ~v : v;
	} else if (c >= '0' && c <= '9')
		v = literal(e);
	else if (name_byte(c))
		v = variable(e);
	else {
		e->unknown = 1;
		v = 0;
	}
	e->depth--;
	return (v);
}

/* Binary operators, loosest first; two bytes before one. */
static const struct {
	const char	*text;
	int		 level;
	int		 op;
} ops[] = {
	{ "||", 0, 'o' }, { "&&", 1, 'a' }, { "|", 2, '|' }, { "^", 3, '^' },
	{ "&", 4, '&' }, { "==", 5, 'e' }, { "!=", 5, 'n' },
	{ "<=", 6, 'l' }, { ">=", 6, 'g' }, { "<<", 7, 'L' },
	{ ">>", 7, 'R' }, { "<", 6, '<' }, { ">", 6, '>' }, { "+", 8, '+' },
	{ "-", 8, '-' }, { "**", 10, 'p' }, { "*", 9, '*' },
	{ "/", 9, '/' }, { "%", 9, '%' }
};
#define LEVELS	11

static int
find_op(struct eval *e, int level, size_t *len)
{
	size_t i, n;
	int c = eval_peek(e);

	if (c == -1)
		return (0);
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		n = strlen(ops[i].text);
		if (e->len - e->pos < n ||
		    memcmp(e->s + e->pos, ops[i].text, n) != 0)
			continue;
		/* "|" is not the first half of "||", nor of "|=" */
		if (n == 1 && e->len - e->pos > 1 && strchr("|&<>*", c) &&
		    e->s[e->pos + 1] == c)
			continue;
		if (e->len - e->pos > n && e->s[e->pos + n] == '=' &&
		    strchr("<>=!", c) == NULL) {
			e->unknown = 1;
			return (0);
		}
		*len = n;
		return (ops[i].level == level ? ops[i].op : 0);
	}
	return (0);
}

static int64_t
apply(struct eval *e, int op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case 'o': return (a || b);
	case 'a': return (a && b);
	case '|': return (a | b);
	case '^': return (a ^ b);
	case '&': return (a & b);
	case 'e': return (a == b);
	case 'n': return (a != b);
	case 'l': return (a <= b);
	case 'g': return (a >= b);
	case '<': return (a < b);
	case '>': return (a > b);
	case 'L': return ((int64_t)(x << (y & 63)));
	case 'R': return (a >> (y & 63));
	case '+': return ((int64_t)(x + y));
	case '-': return ((int64_t)(x - y));
	case '*': return ((int64_t)(x * y));
	case '/':
	case '%':
		if (b == 0 || (a == INT64_MIN && b == -1))
			break;
		return (op == '/' ? a / b : a % b);
	}
	e->unknown = 1;		/* **, division by zero */
	return (0);
}

static int64_t
binary(struct eval *e, int level)
{
	int64_t a, b;
	size_t len;
	int op;

	if (level == LEVELS)
		return (primary(e));
	a = binary(e, level + 1);
	while (!e->unknown && (op = find_op(e, level, &len)) != 0) {
		e->pos += len;
		b = binary(e, level + 1);
		a = apply(e, op, a, b);
	}
	return (a);
}

static int64_t
ternary(struct eval *e)
{
	int64_t c = binary(e, 0), a, b;

	if (e->unknown || eval_peek(e) != '?')
		return (c);
	e->pos++;
	a = ternary(e);
	if (eval_peek(e) != ':') {
		e->unknown = 1;
		return (0);
	}
	e->pos++;
	b = ternary(e);
	return (c ? a : b);
}

int
arith_eval(struct resolver *r, const char *s, size_t len, int64_t *out)
{
	struct eval e = { r, s, len, 0, 0, 0 };

	/* Long texts are not worth it, and "?" recurses. */
	if (len > 256)
		return (0);
	if (eval_peek(&e) == -1) {
		*out = 0;
		return (1);
	}
	*out = ternary(&e);
	return (!e.unknown && eval_peek(&e) == -1);
}

/* ---- code in arithmetic ---- */

static int
has_substitution(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] == '`' || (s[i] == '$' && i + 1 < len &&
		    (s[i + 1] == '(' || s[i + 1] == '{')))
			return (1);
	return (0);
}

static void judge_text(struct resolver *, const char *, size_t,
    const struct command *, unsigned depth);

/* A number names no other variable. */
static int
is_more(const char *s)
{
	return (strspn(s, "0123456789+-*/ ") != strlen(s));
}

/* Values of the variables that a text names are evaluated in their turn. */
static void
judge_names(struct resolver *r, const char *s, size_t len,
    const struct command *c, unsigned depth)
{
	const struct value *v;
	char name[64];
	size_t i = 0, start, k;

	while (i < len) {
		if (!name_byte((unsigned char)s[i])) {
			i++;
			continue;
		}
		start = i;
		while (i < len && name_byte((unsigned char)s[i]))
			i++;
		if (i - start >= sizeof(name) ||
		    (s[start] >= '0' && s[start] <= '9'))
			continue;
		memcpy(name, s + start, i - start);
		name[i - start] = '\0';
		v = var_get(r, name);
		for (k = 0; v != NULL && k < v->n; k++)
			if (v->alt[k].n > 0 && v->alt[k].v[0].text != NULL &&
			    is_more(v->alt[k].v[0].text) &&
			    judging_step(r->j))
				judge_text(r, v->alt[k].v[0].text,
				    v->alt[k].v[0].len, c, depth + 1);
			else if (v->alt[k].n > 0 &&
			    (v->alt[k].v[0].flags & WORD_NETWORK))
				judge_code(r, &v->alt[k].v[0], c, NULL);
	}
}

static void
judge_text(struct resolver *r, const char *s, size_t len,
    const struct command *c, unsigned depth)
{
	struct texts t;

	if (depth > 4)
		return;
	/* The text itself once; what its names hold again and again. */
	if (depth > 0 && !judging_afford(r->j, len * NAMES_COST)) {
		judging_bound(r->j, "more arithmetic than is followed", c);
		return;
	}
	r->j->steps += len;
	if (has_substitution(s, len))
		expand_string(r, s, len, c, &t);
	judge_names(r, s, len, c, depth);
}

void
arith_judge(struct resolver *r, const struct word *w, const struct command *c)
{
	if (w->text != NULL)
		judge_text(r, w->text, w->len, c, 0);
	if (w->flags & WORD_NETWORK)
		judge_code(r, w, c, NULL);
}

void
arith_parts(struct resolver *r, const struct part *parts, struct texts *out)
{
	size_t i;

	expand_text(r, parts, EXPAND_QUOTED, out);
	for (i = 0; i < out->n; i++)
		arith_judge(r, &out->v[i], r->starter);
}
