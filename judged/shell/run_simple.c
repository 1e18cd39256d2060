/*
 * Simple commands: each word has alternatives; each combination of them is
 * one command, and is judged.
 */
#include <string.h>

#include "names.h"
#include "resolver.h"

/*
 * Combinations of alternatives that are judged.  Where there are more, each
 * word's are judged beside the first of the others, and once all of them are
 * unknown.
 */
#define COMBINATIONS_MAX	64

/* Bytes of a word that count as one more. */
#define WORD_WEIGHT		16

/* Bytes of work that a program takes which a pattern could mean. */
#define PATTERN_COST		256

/* One thing that varies. */
enum vary { VARY_WORD, VARY_ASSIGN, VARY_REDIRECT, VARY_INPUT, VARY_CWD };

struct dimension {
	enum vary	 kind;
	size_t		 index;
	size_t		 n;
	size_t		 at;
};

/* The alternatives of one word. */
struct choice {
	size_t			 n;
	const struct fields	*alt;
	struct fields		 first;
};

struct simple {
	struct resolver		*r;
	const struct node	*n;
	struct command		*here;		/* of no combination yet */
	struct word		*literal;	/* all words, if none varies */
	size_t			 nliteral;
	struct choice		*words;		/* else */
	size_t			 nwords;
	const struct value	**assigns;
	size_t			 nassigns;
	struct redirs		 redirs;
	const struct stream	*in;
	const struct value	*cwd;
	struct dimension	*dims;
	size_t			 ndims;
	int			 unknown;	/* all that varies is unknown */
};

struct command *
command_here(struct resolver *r, uint32_t from, uint32_t to)
{
	struct command *c = judging_alloc(r->j, sizeof(*c));
	struct place *p = &r->place;
	const struct value *cwd, *home;

	if (p->scope != r->scope || p->version != r->scope->version) {
		cwd = scope_get(r->scope, SLOT_STATE, "cwd");
		home = var_get(r, "HOME");
		p->cwd = cwd == NULL ? NULL : value_static(cwd);
		p->home = home == NULL ? NULL : value_static(home);
		p->scope = r->scope;
		p->version = r->scope->version;
	}
	c->cwd = p->cwd;
	c->home = p->home;
	c->dialect = r->dialect;
	c->flags = r->flags;
	c->from = r->fixed ? r->from : from;
	c->to = r->fixed ? r->to : to;
	c->input.kind = CONTENT_INHERITED;
	return (c);
}

/* ---- what varies ---- */

static void
vary(struct simple *s, enum vary kind, size_t index, size_t n)
{
	if (n > 1)
		s->dims[s->ndims++] = (struct dimension){ kind, index, n, 0 };
}

static void
find_dimensions(struct simple *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->nwords; i++)
		n += s->words[i].n > 1;
	n += s->nassigns + s->redirs.n + (s->in != NULL && s->in->n > 1) +
	    (s->cwd != NULL && s->cwd->n > 1);
	if (n == 0)
		return;
	s->dims = judging_alloc(s->r->j, n * sizeof(*s->dims));
	for (i = 0; i < s->nwords; i++)
		vary(s, VARY_WORD, i, s->words[i].n);
	for (i = 0; i < s->nassigns; i++)
		vary(s, VARY_ASSIGN, i, s->assigns[i]->n);
	for (i = 0; i < s->redirs.n; i++)
		vary(s, VARY_REDIRECT, i, s->redirs.ntargets[i]);
	if (s->in != NULL)
		vary(s, VARY_INPUT, 0, s->in->n);
	if (s->cwd != NULL)
		vary(s, VARY_CWD, 0, s->cwd->n);
}

static size_t
chosen(const struct simple *s, enum vary kind, size_t index)
{
	size_t i;

	for (i = 0; i < s->ndims; i++)
		if (s->dims[i].kind == kind && s->dims[i].index == index)
			return (s->dims[i].at);
	return (0);
}

/* ---- one combination ---- */

static void
build_words(struct simple *s, struct command *c)
{
	static const struct word unknown = {
		.flags = WORD_PREFIX | WORD_EMPTY | WORD_SPLITS
	};
	const struct fields *f;
	struct word *v;
	size_t i, k, d = 0, n = 0, weight = 0;

	if (s->nliteral > 0) {
		c->argv = s->literal;
		c->argc = s->nliteral;
		for (i = 0; i < c->argc; i++)
			weight += 1 + c->argv[i].len / WORD_WEIGHT;
		(void)judging_words(s->r->j, weight);
		return;
	}
	for (i = 0; i < s->nwords; i++) {
		f = &s->words[i].alt[0];
		for (k = 1; k < s->words[i].n; k++)
			if (s->words[i].alt[k].n > f->n)
				f = &s->words[i].alt[k];
		n += f->n + s->unknown;
	}
	v = judging_alloc(s->r->j, n * sizeof(*v) + 1);
	for (i = n = 0; i < s->nwords; i++) {
		/* The dimensions of words come first, in order. */
		k = 0;
		if (s->words[i].n > 1) {
			if (s->unknown) {
				v[n++] = unknown;
				d++;
				continue;
			}
			k = s->dims[d++].at;
		}
		f = &s->words[i].alt[k];
		for (k = 0; k < f->n; k++) {
			weight += 1 + f->v[k].len / WORD_WEIGHT;
			v[n++] = f->v[k];
		}
	}
	c->argv = v;
	c->argc = n;
	(void)judging_words(s->r->j, weight);
}

static void
build_rest(struct simple *s, struct command *c)
{
	struct assignment *assigns;
	struct redirect *redirects;
	const struct ast_word *w = s->n->assigns;
	const struct alt *a;
	size_t i;

	assigns = s->nassigns == 0 ? NULL :
	    judging_alloc(s->r->j, s->nassigns * sizeof(*assigns));
	for (i = 0; i < s->nassigns; i++, w = w->next) {
		a = &s->assigns[i]->alt[chosen(s, VARY_ASSIGN, i)];
		assigns[i].name = w->name;
		assigns[i].appends = w->appends;
		assigns[i].value = a->n > 0 ? a->v[0] : word_text("", 0);
		assigns[i].value.from = c->from;
		assigns[i].value.to = c->to;
	}
	c->assigns = assigns;
	c->nassigns = s->nassigns;
	redirects = s->redirs.n == 0 ? NULL :
	    judging_alloc(s->r->j, s->redirs.n * sizeof(*redirects));
	for (i = 0; i < s->redirs.n; i++) {
		redirects[i] = s->redirs.v[i];
		redirects[i].target = s->redirs.targets[i][chosen(s,
		    VARY_REDIRECT, i)];
	}
	c->redirects = redirects;
	c->nredirects = s->redirs.n;
	if (s->in != NULL)
		c->input = s->in->v[chosen(s, VARY_INPUT, 0)];
	if (s->cwd != NULL && s->cwd->n > 1) {
		a = &s->cwd->alt[chosen(s, VARY_CWD, 0)];
		c->cwd = a->n > 0 && WORD_IS_STATIC(&a->v[0]) ?
		    a->v[0].text : NULL;
	}
}

/* ---- who runs it ---- */

static void
give(struct resolver *r, struct command *c, struct stream *out)
{
	struct outcome o;

	memset(&o, 0, sizeof(o));
	o.output.kind = CONTENT_UNKNOWN;
	judge_command(r->j, c, &o);
	out->n = 1;
	out->v[0] = o.output;
}

/* A pattern where the program stands: each dangerous name that fits. */
static void
give_pattern(struct resolver *r, struct command *c, struct stream *out)
{
	const struct word *w = &c->argv[0];
	const char *slash = memrchr(w->text, '/', w->len), *name;
	const char *pattern = slash == NULL ? w->text : slash + 1;
	struct command *as;
	struct word *v;
	size_t i;

	for (i = 0; (name = judge_dangerous(i)) != NULL; i++) {
		if (!shell_match(pattern, name))
			continue;
		if (!judging_afford(r->j, PATTERN_COST + c->argc *
		    sizeof(*v))) {
			judging_bound(r->j, "patterns that mean more programs "
			    "than are judged", c);
			break;
		}
		as = judging_alloc(r->j, sizeof(*as));
		*as = *c;
		v = judging_alloc(r->j, c->argc * sizeof(*v));
		memcpy(v, c->argv, c->argc * sizeof(*v));
		v[0].text = name;
		v[0].len = strlen(name);
		v[0].flags &= ~(unsigned)(WORD_GLOB | WORD_WORKSPACE);
		as->argv = v;
		give(r, as, out);
	}
	give(r, c, out);
	stream_set(out, CONTENT_UNKNOWN);
}

/* An alias: its text, and the words behind it. */
static void
run_alias(struct resolver *r, const struct value *alias,
    const struct command *c, struct stream *out)
{
	struct word *w;
	char *text, *p;
	size_t i, k, len;

	for (i = 0; i < alias->n; i++) {
		if (alias->alt[i].n == 0 ||
		    alias->alt[i].v[0].text == NULL)
			continue;
		len = alias->alt[i].v[0].len + 1;
		for (k = 1; k < c->argc; k++)
			len += c->argv[k].len * 4 + 3;
		if (!judging_afford(r->j, len)) {
			judging_bound(r->j, "more becomes code again than is "
			    "judged", c);
			return;
		}
		p = text = judging_alloc(r->j, len + 1);
		memcpy(p, alias->alt[i].v[0].text, alias->alt[i].v[0].len);
		p += alias->alt[i].v[0].len;
		for (k = 1; k < c->argc; k++) {
			const struct word *a = &c->argv[k];
			size_t n;

			*p++ = ' ';
			*p++ = '\'';
			for (n = 0; n < a->len; n++) {
				if (a->text[n] == '\'') {
					memcpy(p, "'\\'", 3);
					p += 3;
				}
				*p++ = a->text[n];
			}
			*p++ = '\'';
		}
		w = judging_alloc(r->j, sizeof(*w));
		*w = word_text(text, (size_t)(p - text));
		judge_code(r, w, c, out);
	}
}

/* "command cd", "builtin eval": the shell's own behind a prefix. */
static const struct command *
without_prefix(struct resolver *r, const struct command *c)
{
	struct command *inner;
	size_t i = 0;

	while (i < c->argc && WORD_IS_STATIC(&c->argv[i]) &&
	    (same_name(c->argv[i].text, "command") ||
	    same_name(c->argv[i].text, "builtin"))) {
		i++;
		while (i < c->argc && WORD_IS_STATIC(&c->argv[i]) &&
		    (strcmp(c->argv[i].text, "-p") == 0 ||
		    strcmp(c->argv[i].text, "--") == 0))
			i++;
	}
	if (i == 0 || i >= c->argc)
		return (i == 0 ? c : NULL);
	inner = judging_alloc(r->j, sizeof(*inner));
	*inner = *c;
	inner->argv = c->argv + i;
	inner->argc = c->argc - i;
	return (inner);
}

/* A builtin whose doing the resolver follows. */
static void
run_builtin(struct resolver *r, struct command *c, struct stream *out)
{
	const struct command *inner = without_prefix(r, c);
	builtin_fn *fn;
	struct stream own SET_BEFORE_USE;

	if (inner == NULL || !WORD_IS_STATIC(&inner->argv[0]) ||
	    (fn = builtin_find(r, inner->argv[0].text)) == NULL) {
		give(r, c, out);
		return;
	}
	stream_set(&own, CONTENT_INHERITED);
	fn(r, inner, &own);
	/* exec with words starts them: a program like any other. */
	if (fn != builtin_exec || inner->argc == 1)
		c->flags |= COMMAND_BUILTIN;
	give(r, c, out);
	if (own.n != 1 || own.v[0].kind != CONTENT_INHERITED)
		stream_copy(out, &own);
}

/* A name that is defined: what it stands for, and perhaps the program. */
static void
run_defined(struct resolver *r, const struct function *f,
    const struct value *alias, struct command *c, struct stream *out)
{
	const struct function *at;
	struct stream one SET_BEFORE_USE;
	int maybe = 1;

	stream_none(&one);
	if (alias != NULL && !r->j->over)
		run_alias(r, alias, c, &one);
	if (f != NULL) {
		for (maybe = 0, at = f; at != NULL; at = at->other)
			maybe |= at->maybe;
		run_function(r, f, c, &one);
		/* Its redirects and assignments are judged by themselves. */
		if (!maybe && (c->nredirects > 0 || c->nassigns > 0)) {
			struct command *bare = judging_alloc(r->j,
			    sizeof(*bare));
			struct stream ignored;

			*bare = *c;
			bare->argc = 0;
			bare->flags |= COMMAND_EXPANDS;
			give(r, bare, &ignored);
		}
		stream_copy(out, &one);
		if (!maybe)
			return;
	}
	run_builtin(r, c, out);
	stream_append(r, out, &one);
}

static void
run_command(struct resolver *r, struct command *c, struct stream *out)
{
	const struct word *name = &c->argv[0];
	const struct function *f = NULL;
	const struct value *alias = NULL;

	if (WORD_IS_STATIC(name)) {
		f = scope_get(r->scope, SLOT_FUNCTION, name->text);
		alias = scope_get(r->scope, SLOT_ALIAS, name->text);
	}
	if (f != NULL || alias != NULL)
		run_defined(r, f, alias, c, out);
	else if ((name->flags & WORD_GLOB) && name->text != NULL &&
	    !(name->flags & WORD_PREFIX))
		give_pattern(r, c, out);
	else
		run_builtin(r, c, out);
}

/* Assignments in front of a command hold while it runs. */
static struct saved *
assign_for(struct resolver *r, const struct command *c)
{
	struct saved *first = NULL, *s;
	const struct value *v;
	size_t i;

	for (i = 0; i < c->nassigns; i++) {
		const struct assignment *a = &c->assigns[i];

		s = judging_alloc(r->j, sizeof(*s));
		s->name = a->name;
		s->data = scope_get(r->scope, SLOT_VARIABLE, a->name);
		s->next = first;
		first = s;
		v = value_attr(r->j, value_word(r->j, &a->value),
		    ATTR_EXPORT);
		scope_set(r->scope, SLOT_VARIABLE, a->name, v);
	}
	return (first);
}

static void
run_one(struct simple *s, struct stream *out)
{
	struct resolver *r = s->r;
	struct command *c = s->here;
	const struct stream *in = r->in, **exec_in = r->exec_in;
	struct saved *saved;
	struct stream own SET_BEFORE_USE;

	if (c == NULL || s->n->assigns != NULL)
		c = command_here(r, s->n->from, s->n->to);
	s->here = NULL;
	build_words(s, c);
	build_rest(s, c);
	if (c->argc == 0) {
		give(r, c, out);
		stream_none(out);
		/* $(<file) */
		if (s->redirs.in != NULL && s->nassigns == 0 &&
		    s->redirs.n == 1 && s->redirs.v[0].op == REDIRECT_READ)
			stream_copy(out, s->redirs.in);
		redirs_output(r, c, out);
		return;
	}
	own.n = 1;
	own.v[0] = c->input;
	r->in = &own;
	r->exec_in = &in;
	saved = assign_for(r, c);
	stream_none(out);
	run_command(r, c, out);
	for (; saved != NULL; saved = saved->next)
		scope_set(r->scope, SLOT_VARIABLE, saved->name, saved->data);
	r->in = in;
	r->exec_in = exec_in;
	redirs_output(r, c, out);
}

/* ---- all combinations ---- */

static int
next_combination(struct simple *s)
{
	size_t i;

	for (i = 0; i < s->ndims; i++) {
		if (++s->dims[i].at < s->dims[i].n)
			return (1);
		s->dims[i].at = 0;
	}
	return (0);
}

static void
add_output(struct resolver *r, struct stream *out, const struct stream *one,
    int first)
{
	const struct stream *joined;

	if (first) {
		stream_copy(out, one);
		return;
	}
	joined = stream_join(r->j, out, one);
	stream_copy(out, joined);
}

/*
 * Each combination begins with the state that there was, and what they end
 * with is joined.
 */
static void
run_combination(struct simple *s, struct changes *changes, int first,
    struct stream *out)
{
	struct resolver *r = s->r;
	struct changes one;
	struct stream own SET_BEFORE_USE;
	size_t mark = scope_mark(r->scope);

	if ((!judging_step(r->j) || r->j->over) && !first)
		return;
	run_one(s, &own);
	add_output(r, out, &own, first);
	scope_take(r->scope, mark, &one);
	if (first) {
		*changes = one;
		return;
	}
	scope_join(r->scope, changes, &one);
	scope_take(r->scope, mark, changes);
}

static void
run_all(struct simple *s, struct stream *out)
{
	struct changes changes;
	size_t i, total = 1, max = COMBINATIONS_MAX, at;

	if (s->ndims == 0) {
		(void)judging_step(s->r->j);
		run_one(s, out);
		return;
	}
	/* Long commands have fewer, so that the work stays the text's. */
	if (s->nwords > 0 && max > 16384 / s->nwords)
		max = 16384 / s->nwords + 1;
	for (i = 0; i < s->ndims && total <= max; i++)
		total *= s->dims[i].n;
	run_combination(s, &changes, 1, out);
	if (total <= max) {
		while (next_combination(s))
			run_combination(s, &changes, 0, out);
		scope_apply(s->r->scope, &changes);
		return;
	}
	for (i = at = 0; i < s->ndims && at < max; i++) {
		for (s->dims[i].at = 1; s->dims[i].at < s->dims[i].n;
		    s->dims[i].at++, at++)
			run_combination(s, &changes, 0, out);
		s->dims[i].at = 0;
	}
	s->unknown = 1;
	run_combination(s, &changes, 0, out);
	scope_apply(s->r->scope, &changes);
}

/* ---- the parts of the node ---- */

static void
expand_name(struct resolver *r, const char *name, struct expansion *e)
{
	struct word *w = judging_alloc(r->j, sizeof(*w));

	*w = word_text(name, strlen(name));
	memset(e, 0, sizeof(*e));
	e->n = 1;
	e->alt[0] = (struct fields){ w, 1 };
}

static void
expand_words(struct simple *s)
{
	const struct ast_word *w;
	struct expansion e SET_BEFORE_USE;
	struct choice *choice;
	struct fields *alt;
	size_t n = 0;

	for (w = s->n->words; w != NULL; w = w->next)
		n++;
	if (n == 0)
		return;
	s->literal = judging_alloc(s->r->j, n * sizeof(*s->literal));
	for (w = s->n->words; w != NULL && !w->is_array &&
	    expand_literal(s->r, w, &s->literal[s->nliteral]); w = w->next)
		s->nliteral++;
	if (w == NULL)
		return;
	s->words = judging_alloc(s->r->j, n * sizeof(*s->words));
	/* The first ones are known already. */
	for (; s->nwords < s->nliteral; s->nwords++) {
		choice = &s->words[s->nwords];
		choice->n = 1;
		choice->first = (struct fields){ &s->literal[s->nwords], 1 };
		choice->alt = &choice->first;
	}
	s->nliteral = 0;
	for (; w != NULL; w = w->next) {
		/* an array was assigned already: its name is declared */
		if (w->is_array)
			expand_name(s->r, w->name, &e);
		else
			expand_word(s->r, w, &e);
		choice = &s->words[s->nwords++];
		choice->n = e.n;
		choice->first = e.alt[0];
		choice->alt = &choice->first;
		if (e.n <= 1)
			continue;
		alt = judging_alloc(s->r->j, e.n * sizeof(*alt));
		memcpy(alt, e.alt, e.n * sizeof(*alt));
		choice->alt = alt;
	}
}

/*
 * Assignments in order, so that a later one sees an earlier one.  In front
 * of a command they are taken back; alone they stay.
 */
static void
expand_assigns(struct simple *s, const struct command *c)
{
	struct resolver *r = s->r;
	const struct ast_word *w;
	size_t n = 0, mark = scope_mark(r->scope);

	for (w = s->n->assigns; w != NULL; w = w->next)
		n++;
	if (n == 0)
		return;
	s->assigns = judging_alloc(r->j, n * sizeof(*s->assigns));
	for (w = s->n->assigns; w != NULL; w = w->next) {
		assign_word(r, w, c, s->n->words != NULL ? ATTR_EXPORT : 0);
		s->assigns[s->nassigns] = var_get(r, w->name);
		if (s->assigns[s->nassigns] == NULL)
			s->assigns[s->nassigns] = value_unknown(r->j, 0);
		s->nassigns++;
	}
	if (s->n->words != NULL)
		scope_rollback(r->scope, mark);
}

/* declare, export and the like take words as assignments: x=(a b), x=~/y. */
static int
is_declaration(const struct node *n)
{
	const struct part *p = n->words == NULL ? NULL : n->words->parts;

	return (p != NULL && p->next == NULL && p->kind == PART_TEXT &&
	    builtin_assigns(p->text));
}

static void
run_declaration(struct resolver *r, const struct node *n)
{
	const struct ast_word *w;
	struct command *c = command_here(r, n->from, n->to);

	for (w = n->words->next; w != NULL; w = w->next)
		if (w->is_array) {
			assign_word(r, w, c, 0);
		}
}

void
run_simple(struct resolver *r, const struct node *n, struct stream *out)
{
	struct simple s = { .r = r, .n = n };
	const struct command *starter = r->starter;
	struct command *here;

	stream_none(out);
	if (n->truth_only)
		return;
	if (r->j->over && r->fixed)
		r->j->again_over++;
	here = command_here(r, n->from, n->to);
	if (!r->fixed)
		r->starter = here;
	if (is_declaration(n))
		run_declaration(r, n);
	expand_words(&s);
	expand_assigns(&s, here);
	redirs_expand(r, n->redirs, &s.redirs);
	s.in = s.redirs.in != NULL ? s.redirs.in : r->in;
	s.cwd = scope_get(r->scope, SLOT_STATE, "cwd");
	s.here = here;
	find_dimensions(&s);
	run_all(&s, out);
	r->starter = starter;
}
