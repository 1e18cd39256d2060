/*
 * Variables, and assignments to them.
 */
#include <string.h>

#include "resolver.h"

/* Elements of an array that are followed when others are appended. */
#define ELEMENTS_MAX	256

size_t
identifier_length(const char *s, size_t len)
{
	size_t i;

	if (len == 0 || (s[0] >= '0' && s[0] <= '9'))
		return (0);
	for (i = 0; i < len; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' &&
		    s[i] <= 'Z') || (s[i] >= '0' && s[i] <= '9') ||
		    s[i] == '_'))
			break;
	return (i);
}

int
is_identifier(const char *s, size_t len)
{
	return (len > 0 && identifier_length(s, len) == len);
}

const char *
value_static(const struct value *v)
{
	if (v->n != 1 || v->alt[0].n == 0 || (v->alt[0].flags & ALT_MORE) ||
	    !WORD_IS_STATIC(&v->alt[0].v[0]))
		return (NULL);
	return (v->alt[0].v[0].text);
}

const struct value *
var_get(struct resolver *r, const char *name)
{
	if (strcmp(name, "PWD") == 0)
		return (scope_get(r->scope, SLOT_STATE, "cwd"));
	return (scope_get(r->scope, SLOT_VARIABLE, name));
}

const struct value *
var_args(struct resolver *r)
{
	const struct value *v = scope_get(r->scope, SLOT_STATE, "args");
	struct value *unknown;
	struct alt *alt;

	if (v != NULL)
		return (v);
	unknown = judging_alloc(r->j, sizeof(*unknown));
	alt = judging_alloc(r->j, sizeof(*alt));
	alt->flags = ALT_MORE;
	unknown->n = 1;
	unknown->alt = alt;
	return (unknown);
}

static const struct value *
list_value(struct resolver *r, const struct word *v, size_t n, unsigned flags)
{
	struct value *value = judging_alloc(r->j, sizeof(*value));
	struct alt *alt = judging_alloc(r->j, sizeof(*alt));

	alt->v = v;
	alt->n = n;
	alt->flags = flags;
	value->n = 1;
	value->alt = alt;
	return (value);
}

void
var_set_args(struct resolver *r, const struct word *v, size_t n, int more)
{
	struct word *copy = judging_alloc(r->j, n * sizeof(*copy) + 1);

	if (n > 0)
		memcpy(copy, v, n * sizeof(*copy));
	scope_set(r->scope, SLOT_STATE, "args", list_value(r, copy, n,
	    (more ? ALT_MORE : 0) | words_loose(copy, n)));
}

void
var_set_state(struct resolver *r, const char *name, const struct word *w)
{
	scope_set(r->scope, SLOT_STATE, name, value_word(r->j, w));
}

/* A variable declared -i: what it gets is evaluated. */
static const struct value *
as_integer(struct resolver *r, const struct value *v, const struct command *c)
{
	const struct value *out = NULL, *one;
	struct word w = { .flags = WORD_PREFIX };
	size_t i;

	for (i = 0; i < v->n; i++) {
		if (v->alt[i].n == 0)
			continue;
		arith_judge(r, &v->alt[i].v[0], c);
		one = value_word(r->j, &w);
		out = out == NULL ? one : value_join(r->j, out, one);
	}
	return (out == NULL ? v : out);
}

/* The hooks: variables that a shell or another program executes. */
static void
hooks(struct resolver *r, const char *name, const struct value *v,
    const struct command *c)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		if (v->alt[i].n == 0)
			continue;
		shell_variable(r->j, c, name, &v->alt[i].v[0]);
		judge_variable(r->j, c, name, &v->alt[i].v[0]);
	}
}

void
var_set(struct resolver *r, const char *name, const struct value *v,
    const struct command *c)
{
	const struct value *old = scope_get(r->scope, SLOT_VARIABLE, name);
	unsigned attr = v->attr | (old == NULL ? 0 : old->attr);
	size_t i;

	if (attr & ATTR_NAMEREF)
		for (i = 0; i < v->n; i++)
			if (v->alt[i].n > 0)
				arith_judge(r, &v->alt[i].v[0], c);
	if (attr & ATTR_INTEGER)
		v = as_integer(r, v, c);
	if (attr & (ATTR_LOWER | ATTR_UPPER))
		v = value_unknown(r->j, 0);
	if (r->allexport)
		attr |= ATTR_EXPORT;
	hooks(r, name, v, c);
	scope_set(r->scope, strcmp(name, "PWD") == 0 ? SLOT_STATE :
	    SLOT_VARIABLE, strcmp(name, "PWD") == 0 ? "cwd" : name,
	    value_attr(r->j, v, attr));
}

/* ---- assignments ---- */

static const struct value *
value_of_texts(struct resolver *r, const struct texts *t)
{
	const struct value *v = NULL, *one;
	struct word w;
	size_t i;

	for (i = 0; i < t->n; i++) {
		w = t->v[i];
		/* A pattern is text until it stands unquoted. */
		if (!(w.flags & WORD_PREFIX))
			w.flags &= ~(unsigned)(WORD_QUOTED);
		if (w.flags & WORD_SPLITS)
			w.flags = (w.flags & ~(unsigned)WORD_SPLITS) |
			    WORD_EMPTY;
		one = value_word(r->j, &w);
		v = v == NULL ? one : value_join(r->j, v, one);
	}
	return (v);
}

/* Elements that say where they stand: [k]=v.  What they run is judged. */
static unsigned
keyed(struct resolver *r, const struct fields *f, const struct command *c)
{
	unsigned flags = 0;
	size_t i;

	for (i = 0; i < f->n; i++)
		if (f->v[i].text != NULL && f->v[i].text[0] == '[' &&
		    strstr(f->v[i].text, "]=") != NULL) {
			arith_judge(r, &f->v[i], c);
			flags |= ALT_MORE;
		}
	return (flags);
}

/* Where an element stands is not followed, what it is is. */
static struct word
without_key(struct word w)
{
	const char *value;

	if (w.text != NULL && w.text[0] == '[' &&
	    (value = strstr(w.text, "]=")) != NULL) {
		w.len -= (size_t)(value + 2 - w.text);
		w.text = value + 2;
		w.whole = NULL;
		/* the brackets made a pattern of it */
		if (strpbrk(w.text, "*?[") == NULL)
			w.flags &= ~(unsigned)(WORD_GLOB | WORD_WORKSPACE);
	}
	return (w);
}

static const struct value *
array_value(struct resolver *r, const struct ast_word *w,
    const struct command *c)
{
	struct expansion e;
	const struct ast_word *el;
	const struct value *out = NULL, *one;
	size_t i, n = 0, k = 0, room = 8;
	struct word *v = judging_alloc(r->j, room * sizeof(*v)), *more;
	unsigned flags = ALT_ARRAY;

	/* One alternative of each element, or, of several, any. */
	for (el = w->elements; el != NULL; el = el->next) {
		expand_word(r, el, &e);
		for (i = 0; i < e.n; i++)
			flags |= keyed(r, &e.alt[i], c);
		if (w->elements->next == NULL && e.n > 1) {
			for (i = 0; i < e.n; i++) {
				one = list_value(r, e.alt[i].v, e.alt[i].n,
				    flags);
				out = out == NULL ? one :
				    value_join(r->j, out, one);
			}
			return (out);
		}
		for (i = 0; i < (e.n > 1 ? 1 : e.alt[0].n); i++) {
			if (n == room) {
				more = judging_alloc(r->j,
				    room * 2 * sizeof(*more));
				memcpy(more, v, n * sizeof(*more));
				v = more;
				room *= 2;
			}
			v[n++] = e.n > 1 ? word_unknown(WORD_SPLITS) :
			    without_key(e.alt[0].v[i]);
		}
		k++;
	}
	(void)k;
	return (list_value(r, v, n, flags | words_loose(v, n)));
}

static struct alt
concat(struct resolver *r, const struct alt *a, const struct alt *b)
{
	struct word *w = judging_alloc(r->j, sizeof(*w));
	struct alt out = { w, 1, 0 };
	char *text;

	if (a->n == 0)
		return (*b);
	*w = a->v[0];
	if (b->n == 0 || (w->flags & WORD_PREFIX))
		return (out);
	w->flags |= b->v[0].flags;
	w->len += b->v[0].len;
	if (w->len > JUDGE_TEXT_MAX || !judging_afford(r->j, w->len)) {
		*w = a->v[0];
		w->flags |= WORD_PREFIX;
		return (out);
	}
	text = judging_alloc(r->j, w->len + 1);
	if (a->v[0].len > 0)
		memcpy(text, a->v[0].text, a->v[0].len);
	if (b->v[0].len > 0)
		memcpy(text + a->v[0].len, b->v[0].text, b->v[0].len);
	w->text = text;
	return (out);
}

static struct alt
concat_lists(struct resolver *r, const struct alt *a, const struct alt *b)
{
	struct word *v;

	/* A long one is not followed to its end. */
	if (a->n + b->n > ELEMENTS_MAX ||
	    !judging_afford(r->j, a->n * sizeof(*v)))
		return ((struct alt){ a->v, a->n, ALT_ARRAY | ALT_MORE });
	v = judging_alloc(r->j, (a->n + b->n + 1) * sizeof(*v));
	if (a->n > 0)
		memcpy(v, a->v, a->n * sizeof(*v));
	if (b->n > 0)
		memcpy(v + a->n, b->v, b->n * sizeof(*v));
	return ((struct alt){ v, a->n + b->n, ALT_ARRAY |
	    ((a->flags | b->flags) & (ALT_MORE | ALT_LOOSE)) });
}

/* name+=value */
static const struct value *
appended(struct resolver *r, const struct value *old, const struct value *v,
    int array)
{
	struct value *out;
	struct alt *alt;
	size_t i, k;

	if (old == NULL || old->n * v->n > JUDGE_VALUES_MAX)
		return (value_unknown(r->j, 0));
	out = judging_alloc(r->j, sizeof(*out));
	alt = judging_alloc(r->j, JUDGE_VALUES_MAX * sizeof(*alt));
	for (i = 0; i < old->n; i++)
		for (k = 0; k < v->n; k++)
			alt[out->n++] = array ? concat_lists(r, &old->alt[i],
			    &v->alt[k]) : concat(r, &old->alt[i], &v->alt[k]);
	out->alt = alt;
	out->attr = old->attr;
	return (out);
}

/* name[subscript]=value: the element, where it is certain which one. */
static const struct value *
with_element(struct resolver *r, const struct value *old,
    const struct texts *sub, const struct value *v)
{
	const struct alt *a = old == NULL ? NULL : &old->alt[0];
	struct value *out;
	struct alt *alt;
	struct word *w;
	int64_t at;

	if (old != NULL && old->n == 1 && v->n == 1 && v->alt[0].n == 1 &&
	    !(a->flags & (ALT_MORE | ALT_LOOSE)) && !(old->attr & ATTR_ASSOC) &&
	    sub->n == 1 && WORD_IS_STATIC(&sub->v[0]) &&
	    arith_eval(r, sub->v[0].text, sub->v[0].len, &at) &&
	    at >= 0 && at <= (int64_t)a->n && a->n < ELEMENTS_MAX &&
	    judging_afford(r->j, a->n * sizeof(*w))) {
		w = judging_alloc(r->j, (a->n + 1) * sizeof(*w));
		if (a->n > 0)
			memcpy(w, a->v, a->n * sizeof(*w));
		w[at] = v->alt[0].v[0];
		alt = judging_alloc(r->j, sizeof(*alt));
		*alt = (struct alt){ w, a->n + (at == (int64_t)a->n),
		    ALT_ARRAY };
		out = judging_alloc(r->j, sizeof(*out));
		*out = (struct value){ 1, alt, old->attr };
		return (out);
	}
	/* One of them is this, and there may be others. */
	v = value_join(r->j, old, v);
	out = judging_alloc(r->j, sizeof(*out));
	alt = judging_alloc(r->j, v->n * sizeof(*alt));
	memcpy(alt, v->alt, v->n * sizeof(*alt));
	for (size_t i = 0; i < v->n; i++)
		alt[i].flags = ALT_ARRAY | ALT_MORE;
	*out = (struct value){ v->n, alt, v->attr };
	return (out);
}

void
assign_word(struct resolver *r, const struct ast_word *w,
    const struct command *c, unsigned attr)
{
	const struct value *old = var_get(r, w->name), *v;
	struct texts t, sub;
	size_t i;

	sub.n = 0;
	if (w->has_subscript) {
		expand_text(r, w->subscript, EXPAND_QUOTED, &sub);
		for (i = 0; i < sub.n; i++)
			arith_judge(r, &sub.v[i], c);
	}
	if (w->is_array)
		v = array_value(r, w, c);
	else {
		expand_text(r, w->value, EXPAND_ASSIGN | EXPAND_TILDE, &t);
		v = value_of_texts(r, &t);
	}
	if (w->has_subscript)
		v = with_element(r, old, &sub, v);
	else if (w->appends)
		v = appended(r, old, v, w->is_array);
	var_set(r, w->name, value_attr(r->j, v, v->attr | attr), c);
}
