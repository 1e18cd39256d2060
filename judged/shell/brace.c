/*
 * Brace expansion: {a,b} and {1..3}, before all other expansions.
 */
#include <stdlib.h>
#include <string.h>

#include "resolver.h"

#define GROUPS_MAX	256	/* of a word */

/* A word as units: a byte of unquoted text, or a part as it is. */
struct unit {
	const struct part	*part;	/* NULL: c */
	int			 c;
	size_t			 match;	/* of a "{": its "}"; 0: none */
	int			 comma;	/* it has one of its own */
};

struct braces {
	struct resolver	*r;
	struct unit	*u;
	size_t		 n;
	unsigned	 groups;
	int		 over;
};

/* One result being made. */
struct result {
	struct part	*first;
	struct part	*last;
	char		*text;
	size_t		 len;
	size_t		 room;
};

struct results {
	struct results	*next;		/* that is free, too */
	size_t		 n;
	struct result	 v[JUDGE_BRACES_MAX];	/* of n; beyond: anything */
};

static struct results *
results_take(struct braces *b)
{
	struct results *free = b->r->j->results;

	if (free == NULL)
		return (judging_alloc(b->r->j, sizeof(*free)));
	b->r->j->results = free->next;
	free->n = 0;
	return (free);
}

static void
results_give(struct braces *b, struct results *unused)
{
	if (unused == NULL)
		return;
	unused->next = b->r->j->results;
	b->r->j->results = unused;
}

int
brace_possible(const struct part *part)
{
	int open = 0, inner = 0;
	size_t i;

	for (; part != NULL; part = part->next) {
		if (part->kind != PART_TEXT)
			continue;
		for (i = 0; i < part->len; i++) {
			if (part->text[i] == '{')
				open = 1;
			else if (open && (part->text[i] == ',' ||
			    part->text[i] == '.'))
				inner = 1;
			else if (inner && part->text[i] == '}')
				return (1);
		}
	}
	return (0);
}

static void
units(struct braces *b, const struct part *parts)
{
	const struct part *p;
	size_t i, n = 0;

	for (p = parts; p != NULL; p = p->next)
		n += p->kind == PART_TEXT ? p->len : 1;
	b->u = judging_alloc(b->r->j, (n + 1) * sizeof(*b->u));
	for (p = parts; p != NULL; p = p->next) {
		if (p->kind != PART_TEXT) {
			b->u[b->n++].part = p;
			continue;
		}
		for (i = 0; i < p->len; i++)
			b->u[b->n++].c = (unsigned char)p->text[i];
	}
}

/* Pairs each "{" with its "}", in one pass. */
static void
match(struct braces *b)
{
	size_t *stack = judging_alloc(b->r->j, (b->n + 1) * sizeof(*stack));
	size_t i, depth = 0;

	for (i = 0; i < b->n; i++) {
		if (b->u[i].part != NULL)
			continue;
		if (b->u[i].c == '{')
			stack[depth++] = i;
		else if (b->u[i].c == ',' && depth > 0)
			b->u[stack[depth - 1]].comma = 1;
		else if (b->u[i].c == '}' && depth > 0)
			b->u[stack[--depth]].match = i;
	}
}

static void
result_char(struct braces *b, struct result *x, int c)
{
	size_t room;
	char *more;

	if (x->len == x->room) {
		room = x->room == 0 ? 32 : x->room * 2;
		more = judging_alloc(b->r->j, room);
		if (x->len > 0)
			memcpy(more, x->text, x->len);
		x->text = more;
		x->room = room;
	}
	x->text[x->len++] = (char)c;
	b->r->j->steps++;
}

static void
result_link(struct result *x, struct part *part)
{
	if (x->last == NULL)
		x->first = part;
	else
		x->last->next = part;
	x->last = part;
}

static void
result_part(struct braces *b, struct result *x, const struct part *from)
{
	struct part *part;

	if (x->len > 0) {
		part = judging_alloc(b->r->j, sizeof(*part));
		part->kind = PART_TEXT;
		part->text = judging_strndup(b->r->j, x->text, x->len);
		part->len = x->len;
		x->len = 0;
		result_link(x, part);
	}
	if (from == NULL)
		return;
	part = judging_alloc(b->r->j, sizeof(*part));
	*part = *from;
	part->next = NULL;
	result_link(x, part);
}

static void
result_copy(struct braces *b, struct result *to, const struct result *from)
{
	const struct part *p;

	memset(to, 0, sizeof(*to));
	for (p = from->first; p != NULL; p = p->next)
		result_part(b, to, p);
	if (from->len > 0) {
		to->text = judging_strndup(b->r->j, from->text, from->len);
		to->len = to->room = from->len;
	}
}

/* Each of one with each of the other. */
static void
product(struct braces *b, struct results *to, const struct results *more)
{
	struct results *out = results_take(b);
	const struct part *p;
	size_t i, k, c;

	for (i = 0; i < to->n; i++)
		for (k = 0; k < more->n; k++) {
			struct result *x = &out->v[out->n];

			if (out->n == JUDGE_BRACES_MAX) {
				b->over = 1;
				break;
			}
			result_copy(b, x, &to->v[i]);
			for (p = more->v[k].first; p != NULL; p = p->next)
				result_part(b, x, p);
			for (c = 0; c < more->v[k].len; c++)
				result_char(b, x, more->v[k].text[c]);
			out->n++;
		}
	to->n = out->n;
	memcpy(to->v, out->v, out->n * sizeof(out->v[0]));
	results_give(b, out);
}

static void expand(struct braces *, size_t lo, size_t hi, struct results *,
    unsigned depth);

static void
add_results(struct braces *b, struct results *to, const struct results *from)
{
	size_t i;

	for (i = 0; i < from->n; i++) {
		if (to->n == JUDGE_BRACES_MAX) {
			b->over = 1;
			return;
		}
		to->v[to->n++] = from->v[i];
	}
}

/* The alternatives between lo and hi, apart by commas. */
static void
alternatives(struct braces *b, size_t lo, size_t hi, struct results *out,
    unsigned depth)
{
	struct results *one = results_take(b);
	size_t i, start = lo;

	out->n = 0;
	for (i = lo; i <= hi; i++) {
		if (i < hi && b->u[i].part == NULL && b->u[i].c == '{' &&
		    b->u[i].match != 0) {
			i = b->u[i].match;
			continue;
		}
		if (i < hi && (b->u[i].part != NULL || b->u[i].c != ','))
			continue;
		expand(b, start, i, one, depth + 1);
		add_results(b, out, one);
		start = i + 1;
	}
	results_give(b, one);
}

/* x..y or x..y..z between lo and hi: 1 and its ends. */
static int
sequence(struct braces *b, size_t lo, size_t hi, long v[3], int *letters)
{
	char buf[64], *p = buf, *end;
	size_t i;
	int n;

	if (hi - lo >= sizeof(buf) || hi - lo < 4)
		return (0);
	for (i = lo; i < hi; i++) {
		if (b->u[i].part != NULL)
			return (0);
		buf[i - lo] = (char)b->u[i].c;
	}
	buf[hi - lo] = '\0';
	*letters = 0;
	v[2] = 0;
	for (n = 0; n < 3; n++) {
		v[n] = strtol(p, &end, 10);
		if (end == p && n < 2 && p[0] != '\0' &&
		    strchr("-+.", p[0]) == NULL) {
			*letters = 1;
			v[n] = (unsigned char)*p;
			end = p + 1;
		}
		if (end == p)
			return (0);
		p = end;
		if (*p == '\0')
			return (n >= 1);
		if (p[0] != '.' || p[1] != '.')
			return (0);
		p += 2;
	}
	return (0);
}

static void
run_sequence(struct braces *b, const long v[3], int letters,
    struct results *out)
{
	long step = v[2] < 0 ? -v[2] : v[2], x = v[0], n = 0;
	char buf[24];
	size_t i;

	if (step == 0)
		step = 1;
	out->n = 0;
	for (;; n++) {
		struct result *r;

		if (out->n == JUDGE_BRACES_MAX) {
			b->over = 1;
			return;
		}
		r = &out->v[out->n++];
		memset(r, 0, sizeof(*r));
		if (letters) {
			result_char(b, r, (int)x);
		} else {
			unsigned long u = x < 0 ? 0 - (unsigned long)x :
			    (unsigned long)x;

			i = sizeof(buf);
			do {
				buf[--i] = (char)('0' + u % 10);
				u /= 10;
			} while (u != 0);
			if (x < 0)
				buf[--i] = '-';
			for (; i < sizeof(buf); i++)
				result_char(b, r, buf[i]);
		}
		if (v[1] >= v[0]) {
			if (v[1] - x < step)
				return;
			x += step;
		} else {
			if (x - v[1] < step)
				return;
			x -= step;
		}
	}
}

static void
expand(struct braces *b, size_t lo, size_t hi, struct results *out,
    unsigned depth)
{
	struct results *more = NULL;
	long v[3];
	size_t i, k, m;
	int letters;

	memset(&out->v[0], 0, sizeof(out->v[0]));
	out->n = 1;
	if (depth > JUDGE_DEPTH_MAX) {
		b->over = 1;
		return;
	}
	for (i = lo; i < hi; i++) {
		/* Over the bound the rest is text, of a few results. */
		if (b->over && out->n > JUDGE_VALUES_MAX)
			out->n = JUDGE_VALUES_MAX;
		m = !b->over && b->u[i].part == NULL && b->u[i].c == '{' ?
		    b->u[i].match : 0;
		if (m != 0 && m < hi) {
			if (++b->groups > GROUPS_MAX)
				b->over = 1;
			if (more == NULL)
				more = results_take(b);
			if (b->u[i].comma) {
				alternatives(b, i + 1, m, more, depth);
				product(b, out, more);
				i = m;
				continue;
			}
			if (sequence(b, i + 1, m, v, &letters)) {
				run_sequence(b, v, letters, more);
				product(b, out, more);
				i = m;
				continue;
			}
		}
		for (k = 0; k < out->n; k++) {
			if (b->u[i].part != NULL)
				result_part(b, &out->v[k], b->u[i].part);
			else
				result_char(b, &out->v[k], b->u[i].c);
		}
	}
	results_give(b, more);
}

size_t
brace_expand(struct resolver *r, const struct part *parts, struct part **out,
    size_t max)
{
	struct braces b = { .r = r };
	struct results *results = results_take(&b);
	size_t i;

	units(&b, parts);
	match(&b);
	expand(&b, 0, b.n, results, 0);
	if (b.over)
		judging_bound(r->j,
		    "braces make more words than are judged", r->starter);
	for (i = 0; i < results->n && i < max; i++) {
		result_part(&b, &results->v[i], NULL);
		out[i] = results->v[i].first;
	}
	results_give(&b, results);
	return (i);
}
