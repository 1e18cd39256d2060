/*
 * Which lines changed: the parts alike at both ends first, then Myers's
 * greedy algorithm ("An O(ND) Difference Algorithm", 1986) within a budget.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

#define LINES_MAX	(1024 * 1024)	/* of a side; beyond: one change */
#define EDITS_MAX	1024		/* D of the algorithm; 4 MiB of trace */
#define STEPS_MAX	(32 * 1024 * 1024)

struct lines {
	const char	*text;
	uint32_t	*end;		/* offset past each line */
	uint32_t	*hash;
	size_t		 n;
};

/* One run of the algorithm. */
struct search {
	const struct lines *a, *b;
	long		 steps;		/* left */
	int32_t		*trace[EDITS_MAX + 1];
	int		 d;		/* edits that it took */
};

static size_t
count_lines(const char *text, size_t len)
{
	const char *p = text, *end = text + len, *nl;
	size_t n = 0;

	while (p < end && (nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		n++;
		p = nl + 1;
	}
	return (n + (p < end));
}

static uint32_t
hash_line(const char *p, size_t len)
{
	uint64_t h = 0xcbf29ce484222325U ^ len;
	uint64_t word;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15U;
		h ^= h >> 29;
	}
	while (len-- > 0)
		h = (h ^ (unsigned char)*p++) * 0x100000001b3U;
	return ((uint32_t)(h ^ h >> 32));
}

static int
lines_make(struct lines *l, const char *text, size_t len, size_t n)
{
	const char *p = text, *end = text + len, *nl;
	size_t i;

	memset(l, 0, sizeof(*l));
	l->text = text;
	l->n = n;
	if ((l->end = calloc(n + 1, sizeof(*l->end))) == NULL ||
	    (l->hash = calloc(n + 1, sizeof(*l->hash))) == NULL)
		return (-1);
	for (i = 0; i < n; i++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		nl = nl == NULL ? end : nl + 1;
		l->end[i] = (uint32_t)(nl - text);
		l->hash[i] = hash_line(p, (size_t)(nl - p));
		p = nl;
	}
	return (0);
}

static void
lines_free(struct lines *l)
{
	free(l->end);
	free(l->hash);
}

static int
same(const struct lines *a, size_t i, const struct lines *b, size_t j)
{
	size_t from_a = i == 0 ? 0 : a->end[i - 1];
	size_t from_b = j == 0 ? 0 : b->end[j - 1];
	size_t len = a->end[i] - from_a;

	return (a->hash[i] == b->hash[j] && len == b->end[j] - from_b &&
	    memcmp(a->text + from_a, b->text + from_b, len) == 0);
}

/* Appends a change, or makes the last one longer if they touch. */
static int
add(struct diff *d, size_t a, size_t na, size_t b, size_t nb)
{
	struct diff_change *last, *more;

	last = d->n == 0 ? NULL : &d->change[d->n - 1];
	if (last != NULL && last->a + last->na == a &&
	    last->b + last->nb == b) {
		last->na += na;
		last->nb += nb;
		return (0);
	}
	if ((d->n & (d->n - 1)) == 0) {
		more = realloc(d->change, (d->n == 0 ? 1 : d->n * 2) *
		    sizeof(*more));
		if (more == NULL)
			return (-1);
		d->change = more;
	}
	d->change[d->n].a = a;
	d->change[d->n].na = na;
	d->change[d->n].b = b;
	d->change[d->n].nb = nb;
	d->n++;
	return (0);
}

/* How far diagonal k goes with d edits, from what d - 1 reached. */
static int32_t
reach(const int32_t *v, int d, int k)
{
	if (k == -d || (k != d && v[k - 1] < v[k + 1]))
		return (v[k + 1]);
	return (v[k - 1] + 1);
}

/*
 * 1 if the ends were reached, with the furthest points of each number of edits
 * in trace (trace[d] is what d edits started from); 0 if the budget is spent;
 * -1 when memory is out.
 */
static int
forward(struct search *s, int32_t *v)
{
	int32_t n = (int32_t)s->a->n, m = (int32_t)s->b->n, x, y;
	int d, k;

	v[1] = 0;
	for (d = 0; d <= EDITS_MAX; d++) {
		s->trace[d] = malloc(sizeof(*v) * (size_t)(2 * d + 3));
		if (s->trace[d] == NULL)
			return (-1);
		memcpy(s->trace[d], v - d - 1,
		    sizeof(*v) * (size_t)(2 * d + 3));
		for (k = -d; k <= d; k += 2) {
			/* of diagonals beyond the ends nothing comes */
			x = reach(v, d, k);
			y = x - k;
			while (x < n && y < m && y >= 0 &&
			    same(s->a, (size_t)x, s->b, (size_t)y)) {
				x++;
				y++;
				s->steps--;
			}
			v[k] = x;
			if (x >= n && y >= m) {
				s->d = d;
				return (1);
			}
			if (--s->steps < 0)
				return (0);
		}
	}
	return (0);
}

/* Walks back from the ends; the edits come last first. */
static int
backward(const struct search *s, struct diff *d)
{
	const int32_t *v;
	int32_t x = (int32_t)s->a->n, y = (int32_t)s->b->n, px, py;
	uint32_t (*edit)[2];
	int i, k, down, r = 0;

	if (s->d == 0)
		return (0);
	if ((edit = calloc((size_t)s->d, sizeof(*edit))) == NULL)
		return (-1);
	for (i = s->d; i > 0; i--) {
		v = s->trace[i] + i + 1;
		k = x - y;
		down = k == -i || (k != i && v[k - 1] < v[k + 1]);
		px = down ? v[k + 1] : v[k - 1];
		py = px - (down ? k + 1 : k - 1);
		edit[i - 1][0] = (uint32_t)px;
		edit[i - 1][1] = (uint32_t)py << 1 | (uint32_t)down;
		x = px;
		y = py;
	}
	for (i = 0; i < s->d && r == 0; i++) {
		down = edit[i][1] & 1;
		r = add(d, edit[i][0], !down, edit[i][1] >> 1, down != 0);
	}
	free(edit);
	return (r);
}

/* Line with line; only for as many on both sides. */
static int
in_pairs(const struct lines *a, const struct lines *b, struct diff *d)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		if (!same(a, i, b, i) && add(d, i, 1, i, 1) == -1)
			return (-1);
	}
	return (0);
}

static int
compare(const struct lines *a, const struct lines *b, struct diff *d)
{
	struct search s;
	int32_t *v;
	int i, r = -1;

	memset(&s, 0, sizeof(s));
	s.a = a;
	s.b = b;
	s.steps = STEPS_MAX;
	if ((v = calloc(2 * EDITS_MAX + 4, sizeof(*v))) == NULL)
		return (-1);
	switch (forward(&s, v + EDITS_MAX + 1)) {
	case 1:
		r = backward(&s, d);
		break;
	case 0:
		r = a->n == b->n ? in_pairs(a, b, d) :
		    add(d, 0, a->n, 0, b->n);
		break;
	}
	for (i = 0; i <= EDITS_MAX && s.trace[i] != NULL; i++)
		free(s.trace[i]);
	free(v);
	return (r);
}

/* Bytes alike at the begin, whole lines. */
static size_t
alike_first(const char *a, size_t na, const char *b, size_t nb)
{
	size_t i = 0, max = na < nb ? na : nb;

	while (i + 256 <= max && memcmp(a + i, b + i, 256) == 0)
		i += 256;
	while (i < max && a[i] == b[i])
		i++;
	if (i == na && i == nb)
		return (i);
	while (i > 0 && a[i - 1] != '\n')
		i--;
	return (i);
}

/* Bytes alike at the end, whole lines, when begin bytes are alike before. */
static size_t
alike_last(const char *a, size_t na, const char *b, size_t nb, size_t begin)
{
	size_t i = 0, max = (na < nb ? na : nb) - begin;
	const char *nl;

	while (i + 256 <= max &&
	    memcmp(a + na - i - 256, b + nb - i - 256, 256) == 0)
		i += 256;
	while (i < max && a[na - i - 1] == b[nb - i - 1])
		i++;
	/* begin is the start of a line on both sides */
	if ((na - i == begin || a[na - i - 1] == '\n') &&
	    (nb - i == begin || b[nb - i - 1] == '\n'))
		return (i);
	nl = memchr(a + na - i, '\n', i);
	return (nl == NULL ? 0 : (size_t)(a + na - nl) - 1);
}

int
diff_make(const char *a, size_t na, const char *b, size_t nb, struct diff *d)
{
	struct lines la, lb;
	size_t last, linesa, linesb;
	int r = -1;

	memset(d, 0, sizeof(*d));
	memset(&la, 0, sizeof(la));
	memset(&lb, 0, sizeof(lb));
	d->from = alike_first(a, na, b, nb);
	d->line = count_lines(a, d->from);
	last = alike_last(a, na, b, nb, d->from);
	na -= d->from + last;
	nb -= d->from + last;
	linesa = count_lines(a + d->from, na);
	linesb = count_lines(b + d->from, nb);
	if (linesa == 0 && linesb == 0)
		return (0);
	if (linesa == 0 || linesb == 0 || linesa > LINES_MAX ||
	    linesb > LINES_MAX || na > INT32_MAX || nb > INT32_MAX)
		return (add(d, 0, linesa, 0, linesb));
	if (lines_make(&la, a + d->from, na, linesa) == 0 &&
	    lines_make(&lb, b + d->from, nb, linesb) == 0)
		r = compare(&la, &lb, d);
	lines_free(&la);
	lines_free(&lb);
	return (r);
}

void
diff_free(struct diff *d)
{
	free(d->change);
	memset(d, 0, sizeof(*d));
}
