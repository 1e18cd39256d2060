/*
 * Compound commands: branches are judged as if each ran, and then joined.
 */
#include <string.h>

#include "resolver.h"

/* ---- what evaluates expressions ---- */

static void
run_arith(struct resolver *r, const struct part *parts)
{
	struct texts t;
	const char *s;
	size_t i, k, n;
	char name[64];

	if (parts == NULL)
		return;
	arith_parts(r, parts, &t);
	/* Names in it may get other values: x=1, x++. */
	for (i = 0; i < t.n; i++) {
		s = t.v[i].text;
		if (s == NULL || (memchr(s, '=', t.v[i].len) == NULL &&
		    strstr(s, "++") == NULL && strstr(s, "--") == NULL))
			continue;
		for (k = 0; k < t.v[i].len; k++) {
			for (n = 0; k + n < t.v[i].len &&
			    n < sizeof(name) - 1 &&
			    is_identifier(s + k, n + 1); n++)
				name[n] = s[k + n];
			name[n] = '\0';
			if (n > 0) {
				struct word w = { .flags = WORD_PREFIX };

				scope_set(r->scope, SLOT_VARIABLE, name,
				    value_word(r->j, &w));
				k += n;
			}
		}
	}
}

static int
is_numeric(const char *op)
{
	return (op[0] == '-' && (strcmp(op, "-eq") == 0 ||
	    strcmp(op, "-ne") == 0 || strcmp(op, "-lt") == 0 ||
	    strcmp(op, "-le") == 0 || strcmp(op, "-gt") == 0 ||
	    strcmp(op, "-ge") == 0));
}

static void
cond_operand(struct resolver *r, const struct ast_word *w, int evaluated)
{
	struct texts t;
	size_t i;

	if (w == NULL)
		return;
	expand_text(r, w->parts, EXPAND_TILDE, &t);
	for (i = 0; evaluated && i < t.n; i++)
		arith_judge(r, &t.v[i], r->starter);
}

/* One test. */
static void
cond_leaf(struct resolver *r, const struct cond *c)
{
	int numeric;

	switch (c->kind) {
	case COND_UNARY:
		cond_operand(r, c->left, strcmp(c->op, "-v") == 0 ||
		    strcmp(c->op, "-R") == 0);
		break;
	case COND_BINARY:
		numeric = is_numeric(c->op);
		cond_operand(r, c->left, numeric);
		cond_operand(r, c->right, numeric);
		break;
	default:
		cond_operand(r, c->left, 0);
	}
}

/* What is still to be looked at: a chain of && leans as deep as it is long. */
struct pending {
	const struct cond	*c;
	struct pending		*next;
};

static struct pending *
cond_push(struct resolver *r, const struct cond *c, struct pending *next)
{
	struct pending *p;

	if (c == NULL)
		return (next);
	p = judging_alloc(r->j, sizeof(*p));
	p->c = c;
	p->next = next;
	return (p);
}

int
run_cond(struct resolver *r, const struct cond *c)
{
	struct pending *todo = cond_push(r, c, NULL);

	while (todo != NULL) {
		c = todo->c;
		todo = todo->next;
		r->j->steps++;
		if (c->kind == COND_WORD || c->kind == COND_UNARY ||
		    c->kind == COND_BINARY)
			cond_leaf(r, c);
		else
			todo = cond_push(r, c->a, cond_push(r, c->b, todo));
	}
	return (0);
}

/* ---- if and case ---- */

static void
run_if(struct resolver *r, const struct node *n, struct stream *out)
{
	struct changes then, other;
	struct stream one;
	size_t mark;
	int dead;

	run_list(r, n->cond, out);
	mark = scope_mark(r->scope);
	run_list(r, n->body, &one);
	stream_append(r, out, &one);
	scope_take(r->scope, mark, &then);
	dead = r->dead;
	r->dead = 0;
	stream_none(&one);
	if (n->otherwise != NULL)
		run_if(r, n->otherwise, &one);
	else if (n->other != NULL)
		run_list(r, n->other, &one);
	stream_append(r, out, &one);
	scope_take(r->scope, mark, &other);
	/* A branch that ends the shell leaves the other's state. */
	if (dead && !r->dead)
		scope_apply(r->scope, &other);
	else if (!dead && r->dead)
		scope_apply(r->scope, &then);
	else
		scope_join(r->scope, &then, &other);
	r->dead = dead && r->dead;
	stream_set(&one, CONTENT_UNKNOWN);
	stream_append(r, out, &one);
}

static void
run_case(struct resolver *r, const struct node *n, struct stream *out)
{
	const struct case_item *i;
	const struct ast_word *w;
	struct changes changes;
	struct stream one;
	struct texts t;
	size_t mark;
	int dead = r->dead;

	expand_text(r, n->subject->parts, EXPAND_TILDE, &t);
	for (i = n->items; i != NULL; i = i->next) {
		for (w = i->patterns; w != NULL; w = w->next)
			expand_text(r, w->parts, EXPAND_TILDE, &t);
		mark = scope_mark(r->scope);
		r->dead = 0;
		run_list(r, i->body, &one);
		stream_append(r, out, &one);
		/* One after another, as ;& may go on from any of them. */
		scope_take(r->scope, mark, &changes);
		if (!r->dead)
			scope_join(r->scope, &changes, NULL);
	}
	r->dead = dead;
	stream_set(&one, CONTENT_UNKNOWN);
	stream_append(r, out, &one);
}

/* ---- loops ---- */

struct loop {
	const struct node	*n;
	const struct value	*values;	/* of a for, or NULL */
};

static void
loop_body(struct resolver *r, const struct loop *l, struct stream *out)
{
	const struct node *n = l->n;
	struct stream one;

	if (n->name != NULL && l->values != NULL)
		var_set(r, n->name, l->values, r->starter);
	if (n->cond != NULL)
		run_list(r, n->cond, out);
	run_list(r, n->body, &one);
	stream_append(r, out, &one);
	run_arith(r, n->arith[2]);
}

/*
 * Two passes, the second with what the first may have left; what the second
 * changes again is unknown, and a third pass sees that.
 */
static void
run_passes(struct resolver *r, const struct loop *l, struct stream *out)
{
	struct changes changes;
	struct stream one;
	size_t mark;
	int pass, changed = 1;

	r->loops++;
	for (pass = 0; pass < 3 && changed; pass++) {
		if (pass > 0 && (r->j->over || r->loops > 4))
			break;
		mark = scope_mark(r->scope);
		stream_none(&one);
		r->dead = 0;
		loop_body(r, l, &one);
		stream_append(r, out, &one);
		scope_take(r->scope, mark, &changes);
		if (pass == 1)
			changed = scope_widen(r->scope, &changes);
		else
			changed = scope_join(r->scope, &changes, NULL);
	}
	r->loops--;
	r->dead = 0;
	stream_set(&one, CONTENT_UNKNOWN);
	stream_append(r, out, &one);
}

/* The values that a for's variable takes: all of the words'. */
static void
for_values(struct resolver *r, const struct node *n, struct fields *all)
{
	const struct ast_word *w;
	const struct value *args;
	struct expansion e;
	struct word *v;
	size_t i, k, room = 16, count = 0;

	v = judging_alloc(r->j, room * sizeof(*v));
	if (!n->has_in) {
		args = var_args(r);
		for (i = 0; i < args->n; i++)
			count += args->alt[i].n + 1;
		if (!judging_afford(r->j, count * sizeof(*v))) {
			v[0] = word_unknown(0);
			*all = (struct fields){ v, 1 };
			return;
		}
		v = judging_alloc(r->j, (count + 1) * sizeof(*v));
		count = 0;
		for (i = 0; i < args->n; i++) {
			for (k = 0; k < args->alt[i].n; k++)
				v[count++] = args->alt[i].v[k];
			if (args->alt[i].flags & ALT_MORE)
				v[count++] = word_unknown(0);
		}
	}
	for (w = n->words; w != NULL; w = w->next) {
		expand_word(r, w, &e);
		for (i = 0; i < e.n; i++)
			for (k = 0; k < e.alt[i].n; k++) {
				struct word *more;

				if (count == room) {
					more = judging_alloc(r->j, 2 * room *
					    sizeof(*more));
					memcpy(more, v, room * sizeof(*more));
					v = more;
					room *= 2;
				}
				v[count] = e.alt[i].v[k];
				v[count++].flags &= ~(unsigned)(WORD_SPLITS |
				    WORD_QUOTED);
			}
	}
	*all = (struct fields){ v, count };
}

static void
run_for(struct resolver *r, const struct node *n, struct stream *out)
{
	struct loop l = { n, NULL };
	struct fields all;
	const struct value *v;
	size_t i, k;

	for_values(r, n, &all);
	/* None: the body is judged all the same, with what is there. */
	if (all.n == 0) {
		l.values = value_unset(r->j);
		run_passes(r, &l, out);
		return;
	}
	for (i = 0; i < all.n; i += k) {
		v = value_word(r->j, &all.v[i]);
		for (k = 1; k < JUDGE_VALUES_MAX && i + k < all.n; k++)
			v = value_join(r->j, v,
			    value_word(r->j, &all.v[i + k]));
		/* Over the bound, all others at once. */
		if (r->j->over) {
			v = value_unknown(r->j, 0);
			k = all.n - i;
		}
		l.values = v;
		run_passes(r, &l, out);
	}
}

static void
run_loop(struct resolver *r, const struct node *n, struct stream *out)
{
	struct loop l = { n, NULL };

	if (n->kind == NODE_SELECT) {
		struct fields all;

		/* one of them, or none */
		for_values(r, n, &all);
		l.values = all.n == 0 || all.n >= JUDGE_VALUES_MAX ?
		    value_unknown(r->j, 0) : value_text(r->j, "", 0);
		for (size_t i = 0; i < all.n && all.n < JUDGE_VALUES_MAX; i++)
			l.values = value_join(r->j, l.values,
			    value_word(r->j, &all.v[i]));
	}
	run_arith(r, n->arith[0]);
	run_arith(r, n->arith[1]);
	run_passes(r, &l, out);
}

/* ---- all of them, with their redirects ---- */

static void
dispatch(struct resolver *r, const struct node *n, struct stream *out)
{
	switch (n->kind) {
	case NODE_SUBSHELL:
		run_subshell(r, n->body, out);
		break;
	case NODE_GROUP:
		run_list(r, n->body, out);
		break;
	case NODE_IF:
		run_if(r, n, out);
		break;
	case NODE_CASE:
		run_case(r, n, out);
		break;
	case NODE_FOR:
		run_for(r, n, out);
		break;
	case NODE_WHILE:
	case NODE_UNTIL:
	case NODE_CFOR:
	case NODE_SELECT:
		run_loop(r, n, out);
		break;
	case NODE_ARITH:
		run_arith(r, n->arith[0]);
		break;
	case NODE_COND:
		run_cond(r, n->test);
		break;
	default:
		break;
	}
}

void
run_compound(struct resolver *r, const struct node *n, struct stream *out)
{
	const struct stream *in = r->in;
	struct redirs redirs = { 0 };
	struct outcome ignored;
	struct command *c;
	int wants = r->wants;
	size_t i, k;

	if (n->redirs != NULL) {
		redirs_expand(r, n->redirs, &redirs);
		if (redirs.in != NULL)
			r->in = redirs.in;
		r->wants = 1;
	}
	dispatch(r, n, out);
	r->in = in;
	r->wants = wants;
	if (redirs.n == 0)
		return;
	/* The redirects by themselves, as a command without words. */
	for (i = 0; i < redirs.n; i++)
		for (k = 0; k < redirs.ntargets[i]; k++) {
			redirs.v[i].target = redirs.targets[i][k];
			c = command_here(r, n->from, n->to);
			c->flags |= COMMAND_EXPANDS;
			c->redirects = judging_alloc(r->j, redirs.n *
			    sizeof(*redirs.v));
			memcpy((void *)(uintptr_t)c->redirects, redirs.v,
			    redirs.n * sizeof(*redirs.v));
			c->nredirects = redirs.n;
			judge_command(r->j, c, &ignored);
			redirs_output(r, c, out);
		}
}
