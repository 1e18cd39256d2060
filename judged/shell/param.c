/*
 * Parameters: ${...} in its forms.
 */
#include <string.h>

#include "resolver.h"

void
pieces_add(struct resolver *r, struct pieces *p, const struct word *v,
    size_t n)
{
	struct word *unknown;

	if (p->n < JUDGE_VALUES_MAX) {
		p->alt[p->n++] = (struct fields){ v, n };
		return;
	}
	unknown = judging_alloc(r->j, sizeof(*unknown));
	*unknown = word_unknown(WORD_SPLITS);
	p->alt[JUDGE_VALUES_MAX - 1] = (struct fields){ unknown, 1 };
}

void
pieces_word(struct resolver *r, struct pieces *p, struct word w)
{
	struct word *copy = judging_alloc(r->j, sizeof(*copy));

	*copy = w;
	pieces_add(r, p, copy, 1);
}

static int
is_list_name(const char *s)
{
	return ((s[0] == '@' || s[0] == '*') && s[1] == '\0');
}

/* ---- where a parameter's value comes from ---- */

/* The text of a subscript that is written out, else NULL. */
static const char *
plain_subscript(const struct param *p)
{
	if (p->subscript == NULL || p->subscript->next != NULL ||
	    (p->subscript->kind != PART_TEXT &&
	    p->subscript->kind != PART_QUOTED))
		return (NULL);
	return (p->subscript->text);
}

static int
is_list(const struct param *p)
{
	const char *s = plain_subscript(p);

	return (is_list_name(p->name) ||
	    (p->has_subscript && s != NULL && is_list_name(s)));
}

/* $?, $$ and the like: some number, or letters for $-. */
static int
is_number_name(const char *name)
{
	return (name[0] != '\0' && name[1] == '\0' &&
	    strchr("?$!-#", name[0]) != NULL);
}

static const struct value *
args_count(struct resolver *r)
{
	const struct value *args = var_args(r);
	struct word w = { .flags = WORD_PREFIX };
	char buf[24];
	size_t n, i = sizeof(buf);

	if (args->n != 1 || (args->alt[0].flags & (ALT_MORE | ALT_LOOSE)))
		return (value_word(r->j, &w));
	n = args->alt[0].n;
	do {
		buf[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n != 0);
	return (value_text(r->j, buf + i, sizeof(buf) - i));
}

/* Some element, or none: where they stand is not known. */
static const struct value *
loose_element(struct resolver *r, const struct alt *a)
{
	const struct value *v = value_unknown(r->j, 0);
	size_t i;

	for (i = 0; i < a->n && i < JUDGE_VALUES_MAX; i++)
		if (WORD_IS_STATIC(&a->v[i]))
			v = value_join(r->j, v, value_word(r->j, &a->v[i]));
	return (v);
}

/* $1 and on: one element of each alternative of "$@". */
static const struct value *
argument(struct resolver *r, size_t number)
{
	const struct value *args, *out = NULL, *one;
	size_t i;

	if (number == 0) {
		one = scope_get(r->scope, SLOT_STATE, "arg0");
		return (one != NULL ? one : value_unknown(r->j, 0));
	}
	args = var_args(r);
	for (i = 0; i < args->n; i++) {
		const struct alt *a = &args->alt[i];

		if (a->flags & ALT_LOOSE)
			one = loose_element(r, a);
		else if (number <= a->n)
			one = value_word(r->j, &a->v[number - 1]);
		else if (a->flags & ALT_MORE)
			one = value_unknown(r->j, 0);
		else
			one = value_unset(r->j);
		out = out == NULL ? one : value_join(r->j, out, one);
	}
	return (out);
}

/* One element of an array, by a number that is written out. */
static const struct value *
element(struct resolver *r, const struct value *v, const char *index)
{
	const struct value *out = NULL, *one;
	int64_t n = 0;
	size_t i;

	if (v == NULL || (v->attr & ATTR_ASSOC) || index == NULL ||
	    !arith_eval(r, index, strlen(index), &n))
		return (NULL);
	for (i = 0; i < v->n; i++) {
		const struct alt *a = &v->alt[i];
		int64_t at = n < 0 ? n + (int64_t)a->n : n;

		if (a->flags & (ALT_MORE | ALT_LOOSE))
			return (NULL);
		one = at >= 0 && at < (int64_t)a->n ?
		    value_word(r->j, &a->v[at]) : value_unset(r->j);
		out = out == NULL ? one : value_join(r->j, out, one);
	}
	return (out);
}

#define ELEMENT_COST	128	/* bytes of work that one takes */

/* Which element is not known: perhaps one of those that are. */
static const struct value *
some_element(struct resolver *r, const struct value *v)
{
	const struct value *out = value_unknown(r->j, 0);
	size_t i, k;

	for (i = 0; i < v->n; i++)
		for (k = 0; k < v->alt[i].n && k < LOOKED_MAX &&
		    out->n < JUDGE_VALUES_MAX; k++)
			if (WORD_IS_STATIC(&v->alt[i].v[k]) &&
			    judging_afford(r->j, ELEMENT_COST))
				out = value_join(r->j, out, value_word(r->j,
				    &v->alt[i].v[k]));
	return (out);
}

/* declare -n: perhaps the variable that it names now. */
static const struct value *
referred(struct resolver *r, const struct value *v)
{
	const char *name = value_static(v);
	const struct value *target = name == NULL ||
	    !is_identifier(name, strlen(name)) ? NULL : var_get(r, name);

	if (target == NULL || (target->attr & ATTR_NAMEREF))
		return (NULL);
	return (value_join(r->j, value_unknown(r->j, 0), target));
}

/* Judges a subscript, which is arithmetic, and says what it certainly is. */
static const char *
subscript(struct resolver *r, const struct param *p)
{
	struct texts t;
	size_t i;

	expand_text(r, p->subscript, EXPAND_QUOTED, &t);
	for (i = 0; i < t.n; i++)
		arith_judge(r, &t.v[i], r->starter);
	return (t.n == 1 && WORD_IS_STATIC(&t.v[0]) ? t.v[0].text : NULL);
}

/* NULL: unknown and maybe unset. */
static const struct value *
base_value(struct resolver *r, const struct param *p)
{
	struct word number = { .flags = WORD_PREFIX };
	const struct value *v, *one;
	size_t n = 0;
	const char *s;

	if (p->nlen == 0)
		return (NULL);
	if (is_list_name(p->name))
		return (var_args(r));
	if (strcmp(p->name, "#") == 0)
		return (args_count(r));
	if (is_number_name(p->name))
		return (value_word(r->j, &number));
	if (p->name[0] >= '0' && p->name[0] <= '9') {
		for (s = p->name; *s != '\0' && n < 100000; s++)
			n = n * 10 + (size_t)(*s - '0');
		return (argument(r, n));
	}
	v = var_get(r, p->name);
	if (!p->has_subscript) {
		if (v != NULL && (v->attr & ATTR_NAMEREF))
			return (referred(r, v));
		return (v);
	}
	if (is_list(p))
		return (v);
	one = element(r, v, subscript(r, p));
	return (one != NULL || v == NULL ? one : some_element(r, v));
}

/* ---- indirection ---- */

static void
indirect(struct resolver *r, const struct param *p, struct pieces *out)
{
	const struct value *v, *target;
	const char *name;
	size_t i;

	if (p->names || is_list(p)) {
		pieces_word(r, out, word_unknown(0));
		return;
	}
	v = base_value(r, p);
	for (i = 0; v != NULL && i < v->n; i++)
		if (v->alt[i].n > 0)
			arith_judge(r, &v->alt[i].v[0], r->starter);
	name = v == NULL ? NULL : value_static(v);
	target = name != NULL && is_identifier(name, strlen(name)) ?
	    var_get(r, name) : NULL;
	if (target == NULL) {
		pieces_word(r, out, word_unknown(0));
		return;
	}
	for (i = 0; i < target->n; i++)
		if (target->alt[i].n > 0)
			pieces_add(r, out, target->alt[i].v, 1);
		else
			pieces_add(r, out, NULL, 0);
}

/* ---- operators ---- */

static int
is_default_op(const struct param *p)
{
	return (p->op == '-' || p->op == '=' || p->op == '?' || p->op == '+');
}

/* 0 no, 1 yes, 2 perhaps: whether the alternative counts as set. */
static int
counts_as_set(const struct param *p, const struct alt *a)
{
	if ((a->flags & ALT_MORE) && a->n <= 1)
		return (2);
	if (a->n == 0)
		return (0);
	if (a->n > 1 || !p->colon)
		return (a->v[0].text == NULL && (a->v[0].flags & WORD_EMPTY) ?
		    2 : 1);
	if (a->v[0].text == NULL || (a->v[0].flags & WORD_PREFIX))
		return (a->v[0].len > 0 ? 1 : 2);
	return (a->v[0].len > 0);
}

static void
word_alternatives(struct resolver *r, const struct param *p, int quoted,
    struct pieces *out)
{
	struct expansion e;
	size_t i;

	expand_parts(r, p->word, (quoted ? EXPAND_QUOTED : EXPAND_SPLIT) |
	    EXPAND_GLOB | EXPAND_TILDE, &e);
	for (i = 0; i < e.n; i++)
		pieces_add(r, out, e.alt[i].v, e.alt[i].n);
}

/* ${x=word}: what x holds from here on. */
static void
assign_default(struct resolver *r, const struct param *p,
    const struct pieces *words)
{
	const struct value *v;
	size_t i;

	if (!is_identifier(p->name, p->nlen) || p->has_subscript)
		return;
	v = var_get(r, p->name);
	if (v == NULL)
		v = value_unknown(r->j, 0);
	for (i = 0; i < words->n; i++)
		if (words->alt[i].n > 0)
			v = value_join(r->j, v, value_word(r->j,
			    &words->alt[i].v[0]));
	var_set(r, p->name, v, r->starter);
}

static void
defaults(struct resolver *r, const struct param *p,
    const struct value *v, int quoted, struct pieces *out)
{
	struct pieces words = { 0 };
	size_t i;
	int set, use_word = 0;

	/* The word is judged whether it is used or not. */
	word_alternatives(r, p, quoted, &words);
	for (i = 0; i < v->n; i++) {
		set = counts_as_set(p, &v->alt[i]);
		if (p->op == '+') {
			use_word |= set != 0;
			if (set != 1)
				pieces_add(r, out, NULL, 0);
			continue;
		}
		use_word |= set != 1;
		if (set != 0)
			pieces_add(r, out, v->alt[i].v, v->alt[i].n);
	}
	if (!use_word || p->op == '?')
		return;
	for (i = 0; i < words.n; i++)
		pieces_add(r, out, words.alt[i].v, words.alt[i].n);
	if (p->op == '=')
		assign_default(r, p, &words);
}

static void
count_of(struct resolver *r, const struct param *p, const struct value *v,
    struct pieces *out)
{
	struct word w = { .flags = WORD_PREFIX };
	char buf[24];
	size_t i, k, n;

	for (i = 0; i < v->n; i++) {
		const struct alt *a = &v->alt[i];

		/* What is unknown may be unset: 0 or 1 elements. */
		if ((a->flags & (ALT_MORE | ALT_LOOSE)) ||
		    (!is_list(p) && a->n > 0 &&
		    (a->v[0].flags & (WORD_PREFIX | WORD_GLOB))) ||
		    (is_list(p) && a->n == 1 && a->v[0].text == NULL &&
		    (a->v[0].flags & WORD_EMPTY))) {
			pieces_word(r, out, w);
			continue;
		}
		n = is_list(p) ? a->n : a->n == 0 ? 0 : a->v[0].len;
		k = sizeof(buf);
		do {
			buf[--k] = (char)('0' + n % 10);
			n /= 10;
		} while (n != 0);
		pieces_word(r, out, word_text(judging_strndup(r->j, buf + k,
		    sizeof(buf) - k), sizeof(buf) - k));
	}
}

/* "${@:2}": all but the first elements; other slices are unknown. */
static void
slice(struct resolver *r, const struct param *p, const struct alt *a,
    struct pieces *out)
{
	struct word *unknown;
	struct texts t, n = { .n = 0 };
	int64_t from = 0, count = INT64_MAX;
	int args = is_list_name(p->name);

	arith_parts(r, p->word, &t);
	if (p->has_with)
		arith_parts(r, p->with, &n);
	if (t.n != 1 || !WORD_IS_STATIC(&t.v[0]) ||
	    !arith_eval(r, t.v[0].text, t.v[0].len, &from) || from < args ||
	    (a->flags & (ALT_MORE | ALT_LOOSE)) || (p->has_with && (n.n != 1 ||
	    !WORD_IS_STATIC(&n.v[0]) ||
	    !arith_eval(r, n.v[0].text, n.v[0].len, &count) || count < 0))) {
		unknown = judging_alloc(r->j, sizeof(*unknown));
		*unknown = word_unknown(WORD_SPLITS);
		pieces_add(r, out, unknown, 1);
		return;
	}
	from -= args;
	if (from > (int64_t)a->n)
		from = (int64_t)a->n;
	if (count > (int64_t)a->n - from)
		count = (int64_t)a->n - from;
	if (count > 0)
		pieces_add(r, out, a->v + from, (size_t)count);
	else
		pieces_add(r, out, NULL, 0);
}

static void
change(struct resolver *r, const struct param *p, const struct alt *a,
    struct pieces *out)
{
	struct word *v;
	size_t i, n = a->n;

	if (is_list(p) && p->op == ':') {
		slice(r, p, a, out);
		return;
	}
	if (n > 1 && !is_list(p))
		n = 1;
	if (p->op == '\0') {
		v = NULL;
		if (is_list(p) && n == 1 && a->v[0].text == NULL &&
		    (a->v[0].flags & WORD_EMPTY)) {
			/* A list of which nothing is known. */
			v = judging_alloc(r->j, sizeof(*v));
			*v = a->v[0];
			v->flags |= WORD_SPLITS;
			pieces_add(r, out, v, 1);
			return;
		}
		if ((a->flags & ALT_MORE) && (is_list(p) || n == 0)) {
			if (!judging_afford(r->j, n * sizeof(*v)))
				n = 0;
			v = judging_alloc(r->j, (n + 1) * sizeof(*v));
			if (n > 0)
				memcpy(v, a->v, n * sizeof(*v));
			v[n] = word_unknown(WORD_SPLITS);
			pieces_add(r, out, v, n + 1);
			return;
		}
		pieces_add(r, out, a->v, n);
		return;
	}
	if (!judging_afford(r->j, n * sizeof(*v))) {
		v = judging_alloc(r->j, sizeof(*v));
		*v = word_unknown(WORD_SPLITS);
		pieces_add(r, out, v, 1);
		return;
	}
	v = judging_alloc(r->j, (n + 1) * sizeof(*v));
	for (i = 0; i < n; i++)
		v[i] = param_change(r, p, &a->v[i]);
	if (a->flags & ALT_MORE)
		v[n++] = word_unknown(WORD_SPLITS);
	pieces_add(r, out, v, n);
}

/* Fields of "$*": one word, with the first of IFS between them. */
static void
joined(struct resolver *r, struct pieces *p)
{
	const struct value *ifs = var_get(r, "IFS");
	const char *known = ifs == NULL ? NULL : ifs->n == 1 &&
	    (ifs->alt[0].flags & ALT_UNSET) ? " " : value_static(ifs);
	size_t i, k, len;
	struct word *w;
	char *text;
	int afford;

	for (i = 0; i < p->n; i++) {
		const struct fields *f = &p->alt[i];

		if (f->n < 2)
			continue;
		w = judging_alloc(r->j, sizeof(*w));
		afford = judging_afford(r->j, f->n * sizeof(*w));
		for (k = len = 0; k < f->n && (afford || k < LOOKED_MAX);
		    k++) {
			len += f->v[k].len + 1;
			w->flags |= f->v[k].flags;
		}
		if (!afford || len > JUDGE_TEXT_MAX ||
		    (w->flags & WORD_PREFIX) || known == NULL ||
		    !judging_afford(r->j, len)) {
			*w = word_unknown(w->flags & WORD_NETWORK);
		} else {
			text = judging_alloc(r->j, len);
			for (k = len = 0; k < f->n; k++) {
				if (k > 0 && known[0] != '\0')
					text[len++] = known[0];
				if (f->v[k].len > 0)
					memcpy(text + len, f->v[k].text,
					    f->v[k].len);
				len += f->v[k].len;
			}
			w->text = text;
			w->len = len;
		}
		p->alt[i] = (struct fields){ w, 1 };
	}
}

static int
is_star(const struct param *p)
{
	const char *s = plain_subscript(p);

	return (strcmp(p->name, "*") == 0 || (p->has_subscript &&
	    s != NULL && strcmp(s, "*") == 0));
}

void
expand_param(struct resolver *r, const struct param *p, int quoted,
    struct pieces *out)
{
	const struct value *v;
	struct texts t;
	size_t i;

	if (p->op == '!') {
		/* It fails when it runs; what is in it may run before. */
		expand_text(r, p->word, EXPAND_QUOTED, &t);
		judging_ask(r->j, "unparsable", "a ${} that means nothing",
		    r->starter);
		pieces_word(r, out, word_unknown(0));
		return;
	}
	if (p->indirect) {
		indirect(r, p, out);
		if (p->word != NULL)
			word_alternatives(r, p, quoted, out);
		return;
	}
	v = base_value(r, p);
	if (v == NULL)
		v = value_unknown(r->j, 0);
	if (p->length)
		count_of(r, p, v, out);
	else if (is_default_op(p))
		defaults(r, p, v, quoted, out);
	else
		for (i = 0; i < v->n; i++)
			change(r, p, &v->alt[i], out);
	if (quoted && is_star(p))
		joined(r, out);
}
