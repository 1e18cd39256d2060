/*
 * Walks trees: lists, pipes, and-or, subshells, functions.  Nothing is run;
 * what would run is given to judge_command.
 */
#include <string.h>

#include "resolver.h"
#include "without.h"

void
stream_none(struct stream *s)
{
	s->n = 1;
	s->v[0] = (struct content){ .kind = CONTENT_NONE };
}

void
stream_set(struct stream *s, enum content_kind kind)
{
	stream_none(s);
	s->v[0].kind = kind;
}

/* What is beyond n is never looked at. */
void
stream_copy(struct stream *to, const struct stream *from)
{
	to->n = from->n;
	memcpy(to->v, from->v, from->n * sizeof(from->v[0]));
}

/* All of both, as code, where that can be said of one of them. */
static const char *
whole_concat(struct resolver *r, const struct content *a,
    const struct content *b)
{
	const struct content *const both[] = { a, b };
	const char *part[4] = { "", "", "", "" };
	size_t i, n[4], len = 0, at = 0;
	char *text;

	for (i = 0; i < 2; i++) {
		if (both[i]->whole != NULL && both[i]->kind != CONTENT_TEXT) {
			part[2 * i] = both[i]->whole;
			continue;
		}
		if (both[i]->text != NULL)
			part[2 * i] = both[i]->text;
		if (both[i]->kind != CONTENT_TEXT)
			part[2 * i + 1] = WORD_HOLE "\n";
	}
	for (i = 0; i < 4; i++) {
		n[i] = part[i] == both[i / 2]->text ?
		    strnlen(part[i], both[i / 2]->len) : strlen(part[i]);
		len += n[i];
	}
	if (len > JUDGE_TEXT_MAX || !judging_afford(r->j, 2 * len))
		return (NULL);
	text = judging_alloc(r->j, len + 1);
	for (i = 0; i < 4; i++) {
		memcpy(text + at, part[i], n[i]);
		at += n[i];
	}
	text[at] = '\0';
	return (text);
}

static struct content
content_concat(struct resolver *r, const struct content *a,
    const struct content *b)
{
	struct content c = *a;
	char *text;

	if (b->kind == CONTENT_NONE)
		return (*a);
	if (a->kind == CONTENT_NONE)
		return (*b);
	if (a->kind != CONTENT_TEXT) {
		c.whole = whole_concat(r, a, b);
		if (b->kind == CONTENT_NETWORK)
			c.kind = CONTENT_NETWORK;
		return (c);
	}
	if (b->text == NULL || a->len + b->len > JUDGE_TEXT_MAX ||
	    !judging_afford(r->j, a->len + b->len)) {
		c.kind = b->kind == CONTENT_TEXT ? CONTENT_UNKNOWN : b->kind;
		c.whole = whole_concat(r, a, b);
		return (c);
	}
	text = judging_alloc(r->j, a->len + b->len + 1);
	memcpy(text, a->text, a->len);
	memcpy(text + a->len, b->text, b->len);
	c = *b;
	c.text = text;
	c.len = a->len + b->len;
	if (c.kind != CONTENT_TEXT)
		c.whole = whole_concat(r, a, b);
	return (c);
}

void
stream_append(struct resolver *r, struct stream *to, const struct stream *s)
{
	struct stream out SET_BEFORE_USE;
	size_t i, k;

	if (s->n == 1 && s->v[0].kind == CONTENT_NONE)
		return;
	if (!r->wants || to->n * s->n > JUDGE_VALUES_MAX) {
		int network = 0;

		for (i = 0; i < to->n; i++)
			network |= to->v[i].kind == CONTENT_NETWORK;
		for (i = 0; i < s->n; i++)
			network |= s->v[i].kind == CONTENT_NETWORK;
		stream_set(to, network ? CONTENT_NETWORK : CONTENT_UNKNOWN);
		return;
	}
	out.n = 0;
	for (i = 0; i < to->n; i++)
		for (k = 0; k < s->n; k++)
			out.v[out.n++] = content_concat(r, &to->v[i],
			    &s->v[k]);
	stream_copy(to, &out);
}

/* ---- lists ---- */

static void
run_traps(struct resolver *r)
{
	struct trapped *t;

	while ((t = r->traps) != NULL) {
		r->traps = t->next;
		judge_code(r, t->code, t->command, NULL);
	}
}

/* A subshell begins without traps, and ends with its own. */
struct sub {
	struct trapped	*traps;
	size_t		 mark;
	int		 dead;
};

static void
sub_begin(struct resolver *r, struct sub *s)
{
	s->traps = r->traps;
	s->mark = scope_mark(r->scope);
	s->dead = r->dead;
	r->traps = NULL;
}

static void
sub_end(struct resolver *r, const struct sub *s)
{
	run_traps(r);
	r->traps = s->traps;
	r->dead = s->dead;
	scope_leave(r->scope, s->mark);
}

/* In the background: a subshell with nothing to read. */
static void
run_async(struct resolver *r, const struct node *n, struct stream *out)
{
	static const struct stream nothing = { .n = 1 };
	const struct stream *in = r->in;
	unsigned flags = r->flags;
	struct sub sub;

	sub_begin(r, &sub);
	r->in = &nothing;
	r->spawned++;
	r->flags |= COMMAND_ASYNC;
	run_node(r, n, out);
	r->flags = flags;
	r->spawned--;
	r->in = in;
	sub_end(r, &sub);
}

void
run_list(struct resolver *r, const struct list *list, struct stream *out)
{
	const struct item *i;
	struct stream one SET_BEFORE_USE;

	stream_none(out);
	if (list == NULL)
		return;
	for (i = list->first; i != NULL; i = i->next) {
		stream_none(&one);
		if (i->async)
			run_async(r, i->node, &one);
		else
			run_node(r, i->node, &one);
		stream_append(r, out, &one);
	}
}

void
run_subshell(struct resolver *r, const struct list *list, struct stream *out)
{
	struct sub sub;

	sub_begin(r, &sub);
	run_list(r, list, out);
	sub_end(r, &sub);
}

/* ---- pipes, && and || ---- */

static void
run_pipe(struct resolver *r, const struct node *pipe, struct stream *out)
{
	const struct stream *in = r->in;
	const struct node *n;
	struct stream two[2] SET_BEFORE_USE, *s = &two[1];
	unsigned flags = r->flags;
	int wants = r->wants;
	struct sub sub;

	r->spawned++;
	for (n = pipe->left; n != NULL; n = n->next) {
		/* One is read while the other is written. */
		s = s == &two[0] ? &two[1] : &two[0];
		stream_none(s);
		sub_begin(r, &sub);
		r->wants = n->next != NULL || wants;
		r->flags = n->next != NULL ? flags | COMMAND_PIPED : flags;
		run_node(r, n, s);
		sub_end(r, &sub);
		r->in = s;
		stream_copy(out, s);
	}
	r->spawned--;
	r->flags = flags;
	r->wants = wants;
	r->in = in;
}

/* true, or : - it ends well, whatever else may be known. */
static int
is_true(struct resolver *r, const struct node *n)
{
	const struct part *p;

	if (n->kind != NODE_SIMPLE || n->negated || n->assigns != NULL ||
	    n->redirs != NULL || n->words == NULL || n->words->next != NULL)
		return (0);
	p = n->words->parts;
	return (p != NULL && p->next == NULL && p->kind == PART_TEXT &&
	    (strcmp(p->text, "true") == 0 || strcmp(p->text, ":") == 0) &&
	    scope_get(r->scope, SLOT_FUNCTION, p->text) == NULL &&
	    scope_get(r->scope, SLOT_ALIAS, p->text) == NULL);
}

#define ANDS_MAX	8

/*
 * Links of && one behind the other: each runs only if those before it did, so
 * it sees what they changed; how many of them run is not known, so behind them
 * each of their changes may have happened or not.  Returns how many these are,
 * at least one: what they changed is gone through once for each, so there is
 * a bound on them.
 */
static size_t
run_ands(struct resolver *r, const struct node **links, size_t n,
    struct stream *out)
{
	struct stream one SET_BEFORE_USE;
	struct changes changes;
	size_t marks[ANDS_MAX], done = 0, i;
	int dead;

	do {
		marks[done] = scope_mark(r->scope);
		stream_none(&one);
		run_node(r, links[done++]->right, &one);
		stream_append(r, out, &one);
	} while (!r->dead && done < n && done < ANDS_MAX &&
	    links[done]->kind == NODE_AND);
	dead = r->dead;
	for (i = done; i > 0; i--) {
		scope_take(r->scope, marks[i - 1], &changes);
		/* Whoever goes on behind an exit did not meet it. */
		if (!dead || i != done)
			(void)scope_join(r->scope, &changes, NULL);
	}
	return (done);
}

/*
 * || right: if right runs, something before it failed, and what that changed
 * (since start) may not have happened.
 */
static void
run_or(struct resolver *r, const struct node *right, size_t start,
    struct stream *out)
{
	struct changes left, changes;

	scope_take(r->scope, start, &left);
	scope_join(r->scope, &left, NULL);
	run_node(r, right, out);
	scope_take(r->scope, start, &changes);
	scope_apply(r->scope, &left);
	if (!r->dead)
		scope_join(r->scope, &changes, NULL);
}

/* Links of && and ||, which the tree nests to the left, one by one. */
static void
run_chain(struct resolver *r, const struct node *n, struct stream *out)
{
	const struct node *at, **links;
	struct stream one SET_BEFORE_USE;
	size_t count = 0, i, start = scope_mark(r->scope);
	int dead, well;

	for (at = n; at->kind == NODE_AND || at->kind == NODE_OR;
	    at = at->left)
		count++;
	links = judging_alloc(r->j, (count + 1) * sizeof(*links));
	for (i = count, at = n; i > 0; at = at->left)
		links[--i] = at;
	run_node(r, at, out);
	dead = r->dead;
	well = is_true(r, at);
	for (i = 0; i < count; i++) {
		stream_none(&one);
		if (links[i]->kind == NODE_AND && well && !dead) {
			/* Behind what ends well it does run. */
			run_node(r, links[i]->right, &one);
			dead = r->dead;
			well = is_true(r, links[i]->right);
			stream_append(r, out, &one);
			continue;
		}
		r->dead = 0;
		well = 0;
		if (links[i]->kind == NODE_AND) {
			i += run_ands(r, &links[i], count - i, out) - 1;
			continue;
		}
		run_or(r, links[i]->right, start, &one);
		stream_append(r, out, &one);
	}
	r->dead = dead;
}

/* ---- functions ---- */

static void
define(struct resolver *r, const struct node *n)
{
	struct function *f = judging_alloc(r->j, sizeof(*f));
	struct defined *d = judging_alloc(r->j, sizeof(*d));

	f->name = n->name;
	f->body = n->function;
	f->defined = d;
	d->function = f;
	d->next = r->defined;
	r->defined = d;
	scope_set(r->scope, SLOT_FUNCTION, n->name, f);
}

static unsigned
active(const struct resolver *r, const struct node *body,
    const struct call **first)
{
	const struct call *c;
	unsigned n = 0;

	*first = NULL;
	for (c = r->call; c != NULL; c = c->outer)
		if (c->body == body) {
			n++;
			*first = c;
		}
	return (n);
}

static void
run_body(struct resolver *r, const struct function *f,
    const struct command *c, struct stream *out)
{
	const struct value *args = var_args(r);
	struct call call = { .outer = r->call, .body = f->body,
	    .spawned = r->spawned };
	struct saved *s;
	int dead = r->dead;

	if (c != NULL)
		var_set_args(r, c->argv + 1, c->argc - 1, 0);
	else
		scope_set(r->scope, SLOT_STATE, "args", NULL);
	r->call = &call;
	run_node(r, f->body, out);
	r->call = call.outer;
	for (s = call.locals; s != NULL; s = s->next)
		scope_set(r->scope, SLOT_VARIABLE, s->name, s->data);
	scope_set(r->scope, SLOT_STATE, "args", args);
	r->dead = dead;
}

/* Calls of a function in itself that are followed. */
#define RECURSION_MAX	2

void
run_function(struct resolver *r, const struct function *f,
    const struct command *c, struct stream *out)
{
	const struct call *first;
	struct stream one;
	unsigned n;

	for (; f != NULL; f = f->other) {
		n = active(r, f->body, &first);
		if (n > 0 && r->spawned > first->spawned)
			judge_forkbomb(r->j, f->name,
			    r->fixed ? r->from : f->body->from,
			    r->fixed ? r->to : f->body->to);
		if (n >= RECURSION_MAX || !judging_step(r->j) ||
		    r->j->over || !judging_enter(r->j, r->starter))
			continue;
		f->defined->called = 1;
		stream_none(&one);
		run_body(r, f, c, &one);
		stream_append(r, out, &one);
		judging_leave(r->j);
	}
}

static void
run_uncalled(struct resolver *r)
{
	struct defined *d;
	struct stream out;
	unsigned flags = r->flags;
	size_t mark;

	while ((d = r->defined) != NULL) {
		r->defined = d->next;
		if (d->called)
			continue;
		d->called = 1;
		mark = scope_mark(r->scope);
		r->flags |= COMMAND_FUNCTION;
		stream_none(&out);
		if (judging_enter(r->j, r->starter)) {
			run_body(r, d->function, NULL, &out);
			judging_leave(r->j);
		}
		r->flags = flags;
		scope_rollback(r->scope, mark);
	}
}

void
run_leftover(struct resolver *r)
{
	run_traps(r);
	run_uncalled(r);
	/* The bodies may have set more of them. */
	run_traps(r);
}

/* ---- nodes ---- */

static void
node_dispatch(struct resolver *r, const struct node *n, struct stream *out)
{
	switch (n->kind) {
	case NODE_SIMPLE:
		run_simple(r, n, out);
		break;
	case NODE_PIPE:
		run_pipe(r, n, out);
		break;
	case NODE_AND:
	case NODE_OR:
		run_chain(r, n, out);
		break;
	case NODE_FUNCTION:
		define(r, n);
		break;
	case NODE_COPROC:
		if (n->function != NULL)
			run_async(r, n->function, out);
		stream_none(out);
		break;
	default:
		run_compound(r, n, out);
		break;
	}
}

void
run_node(struct resolver *r, const struct node *n, struct stream *out)
{
	r->j->steps++;
	if (n == NULL)
		return;
	if (n->kind == NODE_SIMPLE) {
		node_dispatch(r, n, out);
		return;
	}
	if (!judging_enter(r->j, r->starter)) {
		stream_set(out, CONTENT_UNKNOWN);
		return;
	}
	node_dispatch(r, n, out);
	judging_leave(r->j);
}

/* ---- texts ---- */

/* Tries of what is behind a bound, and steps that they may take a byte. */
#define SALVAGES_MAX	4096
#define SALVAGE_STEPS	64

/*
 * Where reading hit a bound a shell would have gone on: so do we, as well as
 * that can be done, from behind that place.  It asks already; a deny that
 * stands further on is to be found all the same.
 */
static void
salvage(struct resolver *r, struct parser *p)
{
	struct parser again;
	struct list *list;
	struct stream out;
	size_t at = p->error_at;
	uint64_t steps = 0;
	int i, got;

	for (i = 0; i < SALVAGES_MAX &&
	    steps < (uint64_t)p->len * SALVAGE_STEPS; i++) {
		while (at < p->len && strchr(" \t\n;)(&|}{\"'", p->s[at]) !=
		    NULL)
			at++;
		if (at >= p->len)
			break;
		parser_init(&again, r->j, p->s, p->len, p->dialect);
		again.pos = at;
		again.fixed = p->fixed;
		again.from = p->from;
		again.to = p->to;
		while ((got = parser_next(&again, &list)) == 1)
			run_list(r, list, &out);
		if (got == 0)
			break;
		run_list(r, list, &out);
		r->j->steps += again.steps;
		steps += again.steps;
		/* Behind the word that could not stand there. */
		if (again.error_at > at)
			at = again.error_at;
		do
			at++;
		while (at < p->len && strchr(" \t\n;", p->s[at]) == NULL);
	}
}

void
run_text(struct resolver *r, const char *text, size_t len,
    struct stream *out)
{
	struct parser p;
	struct list *list;
	struct stream one SET_BEFORE_USE;
	int got;

	stream_none(out);
	parser_init(&p, r->j, text, len, r->dialect);
	p.fixed = r->fixed;
	p.from = r->from;
	p.to = r->to;
	while ((p.extglob = r->extglob,
	    got = parser_next(&p, &list)) == 1) {
		run_list(r, list, &one);
		stream_append(r, out, &one);
	}
	r->j->steps += p.steps;
	if (got == 0 || WITHOUT(shell_error))
		return;
	judging_ask(r->j, p.error == PARSE_BOUND ? "opaque" : "unparsable",
	    p.error_text, r->fixed ? r->starter : command_here(r,
	    (uint32_t)p.error_at, (uint32_t)len));
	if (p.error == PARSE_BOUND) {
		run_list(r, list, &one);
		salvage(r, &p);
		stream_set(out, CONTENT_UNKNOWN);
	}
}
