/*
 * Values: small sets of what a variable or a stream may hold.
 */
#include <string.h>

#include "scope.h"
#include "shell.h"

#define SAME_MAX	256	/* bytes, or elements, that are compared */

struct word
word_unknown(unsigned flags)
{
	return ((struct word){ .flags = WORD_PREFIX | WORD_EMPTY | flags });
}

unsigned
words_loose(struct word *v, size_t n)
{
	unsigned flags = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (v[i].flags & WORD_GLOB)
			v[i].flags |= WORD_SEVERAL;
		if (v[i].flags & (WORD_GLOB | WORD_SPLITS))
			flags = ALT_LOOSE;
	}
	return (flags);
}

struct word
word_text(const char *text, size_t len)
{
	return ((struct word){ .text = text, .len = len });
}

int
word_same(const struct word *a, const struct word *b)
{
	if (a->flags != b->flags || a->len != b->len ||
	    (a->text == NULL) != (b->text == NULL))
		return (0);
	if (a->text == b->text)
		return (1);
	/* Taken for another one, a long text is a value more. */
	return (a->len <= SAME_MAX && memcmp(a->text, b->text, a->len) == 0);
}

static int
alt_same(const struct alt *a, const struct alt *b)
{
	size_t i;

	if (a->n != b->n || a->flags != b->flags)
		return (0);
	if (a->v == b->v)
		return (1);
	/* Long ones are not worth comparing. */
	if (a->n > SAME_MAX)
		return (0);
	for (i = 0; i < a->n; i++)
		if (!word_same(&a->v[i], &b->v[i]))
			return (0);
	return (1);
}

static const struct value *
value_of(struct judging *j, const struct word *v, size_t n, unsigned flags)
{
	struct value *value = judging_alloc(j, sizeof(*value));
	struct alt *alt = judging_alloc(j, sizeof(*alt));

	alt->v = v;
	alt->n = n;
	alt->flags = flags;
	value->alt = alt;
	value->n = 1;
	return (value);
}

const struct value *
value_word(struct judging *j, const struct word *w)
{
	struct word *copy = judging_alloc(j, sizeof(*copy));

	*copy = *w;
	return (value_of(j, copy, 1, 0));
}

const struct value *
value_text(struct judging *j, const char *text, size_t len)
{
	struct word w = word_text(judging_strndup(j, text, len), len);

	return (value_word(j, &w));
}

const struct value *
value_unset(struct judging *j)
{
	return (value_of(j, NULL, 0, ALT_UNSET));
}

const struct value *
value_unknown(struct judging *j, unsigned flags)
{
	struct word w = word_unknown(flags);

	return (value_word(j, &w));
}

const struct value *
value_attr(struct judging *j, const struct value *v, unsigned attr)
{
	struct value *copy;

	if (v->attr == attr)
		return (v);
	copy = judging_alloc(j, sizeof(*copy));
	*copy = *v;
	copy->attr = attr;
	return (copy);
}

static void
add_alts(struct judging *j, struct value *out, struct alt *alt,
    const struct value *v)
{
	const struct word *unknown;
	size_t i, k;

	for (i = 0; i < v->n; i++) {
		for (k = 0; k < out->n; k++)
			if (alt_same(&alt[k], &v->alt[i]))
				break;
		if (k < out->n)
			continue;
		if (out->n == JUDGE_VALUES_MAX) {
			/* The last one becomes whatever there is. */
			unknown = value_unknown(j, 0)->alt[0].v;
			alt[JUDGE_VALUES_MAX - 1] = (struct alt){
			    .v = unknown, .n = 1, .flags = ALT_MORE };
			return;
		}
		alt[out->n++] = v->alt[i];
	}
}

/* 1 if all that b may be is something that a may be. */
static int
holds(const struct value *a, const struct value *b)
{
	size_t i, k;

	for (i = 0; i < b->n; i++) {
		for (k = 0; k < a->n; k++)
			if (alt_same(&a->alt[k], &b->alt[i]))
				break;
		if (k == a->n)
			return (0);
	}
	return ((a->attr | b->attr) == a->attr);
}

const struct value *
value_join(struct judging *j, const struct value *a, const struct value *b)
{
	struct value *out;
	struct alt *alt;

	if (a == b)
		return (a);
	if (a == NULL)
		a = value_unknown(j, 0);
	if (b == NULL)
		b = value_unknown(j, 0);
	if (holds(a, b))
		return (a);
	out = judging_alloc(j, sizeof(*out));
	alt = judging_alloc(j, (a->n + b->n > JUDGE_VALUES_MAX ?
	    JUDGE_VALUES_MAX : a->n + b->n) * sizeof(*alt));
	out->alt = alt;
	out->attr = a->attr | b->attr;
	add_alts(j, out, alt, a);
	add_alts(j, out, alt, b);
	return (out->n == a->n && out->attr == a->attr ? a : out);
}

static int
content_same(const struct content *a, const struct content *b)
{
	return (a->kind == b->kind && a->len == b->len &&
	    (a->text == NULL) == (b->text == NULL) && (a->text == b->text ||
	    (a->len <= SAME_MAX && memcmp(a->text, b->text, a->len) == 0)));
}

const struct stream *
stream_join(struct judging *j, const struct stream *a, const struct stream *b)
{
	static const struct stream untouched = {
		.n = 1, .v = { { .kind = CONTENT_INHERITED } }
	};
	struct stream *out;
	size_t i, k;

	if (a == b)
		return (a);
	if (a == NULL)
		a = &untouched;
	if (b == NULL)
		b = &untouched;
	out = judging_alloc(j, sizeof(*out));
	*out = *a;
	for (i = 0; i < b->n; i++) {
		for (k = 0; k < out->n; k++)
			if (content_same(&out->v[k], &b->v[i]))
				break;
		if (k < out->n)
			continue;
		if (out->n == JUDGE_VALUES_MAX) {
			out->v[out->n - 1] = (struct content){
			    .kind = b->v[i].kind == CONTENT_NETWORK ?
			    CONTENT_NETWORK : CONTENT_UNKNOWN };
			break;
		}
		out->v[out->n++] = b->v[i];
	}
	return (out);
}

const char *
shell_whole(struct judging *j, const struct word *words, size_t n)
{
	size_t i, len = 0, hole = strlen(WORD_HOLE), known;
	const struct word *w;
	char *text, *to;
	const char *part;

	for (i = 0; i < n; i++) {
		w = &words[i];
		len += 1 + hole + (w->whole != NULL ? strlen(w->whole) :
		    w->len);
	}
	if (!judging_afford(j, len))
		return (NULL);
	to = text = judging_alloc(j, len + 1);
	for (i = 0; i < n; i++) {
		w = &words[i];
		part = w->whole != NULL ? w->whole : w->text == NULL ? "" :
		    w->text;
		known = strlen(part);
		if (i > 0)
			*to++ = ' ';
		memcpy(to, part, known);
		to += known;
		if (w->whole == NULL && !WORD_IS_STATIC(w)) {
			memcpy(to, WORD_HOLE, hole);
			to += hole;
		}
	}
	*to = '\0';
	return (text);
}
