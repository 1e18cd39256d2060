/*
 * The streaming scanner against a naive one: all of the text at once, every
 * anchor sought at every place without vectorscan.  The first bytes say where
 * the text is cut; where it idles, no key may come out whole.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"
#include "secret.h"
#include "values.h"

#define CUTS	8

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

struct span {
	size_t	 start;
	size_t	 end;
	uint8_t	 kind;
	uint8_t	 whole;		/* known by its own bytes */
};

static struct secret_anchor anchors[SECRET_ANCHORS_MAX];
static size_t nanchors;
static const char value[] = "registered value";

static void
init(void)
{
	struct value_form forms[VALUE_FORMS];
	struct value_key key = { { 3, 5 }, { 0 } };
	size_t n, i;

	if (scan_init() == -1)
		abort();
	nanchors = secret_anchors(anchors);
	values_begin(&key);
	n = value_forms(&key, (const uint8_t *)value, sizeof(value) - 1,
	    forms);
	for (i = 0; i < n; i++)
		if (values_add(&forms[i]) == -1)
			abort();
	if (values_end((uint32_t)n) == -1)
		abort();
}

/* ---- naive ---- */

static int
anchor_ends(const struct secret_anchor *a, const uint8_t *p, size_t to)
{
	int caseless = a->what == ANCHOR_NAME || a->what == ANCHOR_SCHEME;
	size_t i;

	if (to < a->size)
		return (0);
	p += to - a->size;
	for (i = 0; i < a->size; i++)
		if (caseless ? tolower(p[i]) != a->text[i] :
		    p[i] != (uint8_t)a->text[i])
			return (0);
	return (1);
}

static size_t
add(struct span *spans, size_t n, const uint8_t *p, size_t size, size_t at,
    const struct secret_match *m, size_t *done)
{
	struct secret_going g = { .rest = m->rest };

	spans[n] = (struct span){ m->start < *done ? *done : m->start, m->end,
	    m->kind, m->start == at };
	*done = m->end;
	*done += secret_go_on(&g, p + *done, size - *done);
	spans[n].end = *done;
	return (n + 1);
}

/* late: room for what is masked from a place on that its anchor is not at. */
static size_t
naive(const uint8_t *p, size_t size, struct span *spans,
    struct secret_match *late)
{
	size_t n = 0, to, i, done = 0, aws_end = 0, length;
	struct secret_view v = { p, size, 0, 1 };
	struct secret_match m;
	int base64, before;

	for (to = 1; to <= size; to++) {
		for (i = 0; i < nanchors; i++) {
			if (!anchor_ends(&anchors[i], p, to))
				continue;
			v.at = to - anchors[i].size;
			if (v.at < done ||
			    secret_at(&v, &anchors[i], &m) != SECRET_YES)
				continue;
			if (m.start > to) {
				if (late[m.start].end == 0)
					late[m.start] = m;
				continue;
			}
			n = add(spans, n, p, size, v.at, &m, &done);
			if (m.kind == SECRET_AWS && m.end - m.start <= 20)
				aws_end = m.end + 512;
		}
		if (to >= done && late[to].end != 0)
			n = add(spans, n, p, size, 0, &late[to], &done);
		v.at = to - VALUES_WINDOW;
		if (to >= VALUES_WINDOW && v.at >= done && values_at(p + v.at,
		    size - v.at, 1, &length) == SECRET_YES) {
			m = (struct secret_match){ v.at, v.at + length,
			    SECRET_REGISTERED, REST_NONE, 0, 0 };
			n = add(spans, n, p, size, v.at, &m, &done);
		}
		/* An AWS secret is known by its first byte. */
		v.at = to - 1;
		base64 = secret_run(REST_BASE64, (const char *)p + v.at, 1) == 1;
		before = v.at > 0 && p[v.at - 1] != '=' &&
		    secret_run(REST_BASE64, (const char *)p + v.at - 1, 1) == 1;
		if (v.at >= done && v.at < aws_end && base64 && !before &&
		    secret_aws_at(&v) > 0) {
			m = (struct secret_match){ v.at, v.at + 40, SECRET_AWS,
			    REST_NONE, 0, 0 };
			/* Known only as long as the id beside it is. */
			n = add(spans, n, p, size, 0, &m, &done);
		}
	}
	return (n);
}

/* ---- the stream ---- */

static uint8_t	*region, *shown;
static size_t	 nregion, gone, nout, base;
static char	*out;

/* What comes out as it is, of the region. */
static void
show(size_t from, size_t to)
{
	memcpy(out + nout, region + from, to - from);
	nout += to - from;
	memset(shown + base + from, 1, to - from);
}

static void
took(const struct scan_result *r)
{
	size_t i, at = gone;

	for (i = 0; i < r->nspans; i++) {
		if (r->spans[i].start < at || r->spans[i].end > r->upto)
			abort();
		show(at, r->spans[i].start);
		if (!r->spans[i].quiet)
			nout += scan_marker(out + nout, r->spans[i].kind);
		at = r->spans[i].end;
	}
	if (r->upto < at || r->upto > nregion || r->keep > r->upto)
		abort();
	show(at, r->upto);
	gone = r->upto - r->keep;
	base += r->keep;
	nregion -= r->keep;
	memmove(region, region + r->keep, nregion);
}

static void
feed(struct scan *s, const uint8_t *p, size_t n, int final)
{
	struct scan_result r;

	memcpy(region + nregion, p, n);
	nregion += n;
	if (scan_feed(s, region, nregion, n, final, &r) == -1)
		abort();
	took(&r);
	if (final && gone != nregion)
		abort();
}

/* Cuts at places that the seed names; idles at each second one if asked. */
static void
run(const uint8_t *p, size_t size, const uint8_t *cuts, int idles)
{
	struct scan *s = scan_new();
	struct scan_result r;
	size_t at = 0, n, i;

	nregion = gone = nout = base = 0;
	memset(shown, 0, size);
	for (i = 0; at < size; i++) {
		n = 1 + (size_t)cuts[i % CUTS] * (i % 3 == 2 ? 16 : 1);
		n = n < size - at ? n : size - at;
		feed(s, p + at, n, 0);
		at += n;
		if (idles && i % 2 == 1) {
			if (scan_idle(s, region, nregion, &r) == -1)
				abort();
			took(&r);
			if (gone != nregion)
				abort();
		}
	}
	feed(s, p, 0, 1);
	scan_free(s);
}

/* The text as the naive scanner leaves it. */
static size_t
masked(const uint8_t *p, size_t size, const struct span *spans, size_t n,
    char *dst)
{
	size_t i, at = 0, len = 0;

	for (i = 0; i < n; i++) {
		memcpy(dst + len, p + at, spans[i].start - at);
		len += spans[i].start - at;
		len += scan_marker(dst + len, spans[i].kind);
		at = spans[i].end;
	}
	memcpy(dst + len, p + at, size - at);
	return (len + size - at);
}

/*
 * Idleness may decide otherwise, but then a part of the key is masked.  What
 * is known by words before it alone is not, should those be masked.
 */
static void
check_idle(const struct span *spans, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (spans[i].whole && memchr(shown + spans[i].start, 0,
		    spans[i].end - spans[i].start) == NULL)
			abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct secret_match *late;
	struct span *spans;
	const uint8_t *p;
	char *expected;
	size_t n, want;

	if (nanchors == 0)
		init();
	if (size < CUTS + 1 || size > 64 * 1024)
		return (0);
	p = data + CUTS + 1;
	size -= CUTS + 1;
	/* So that reads beyond it are seen. */
	region = malloc(size + 1);
	shown = malloc(size + 1);
	out = malloc(size * (SCAN_MARKER + 1) + SCAN_MARKER);
	expected = malloc(size * (SCAN_MARKER + 1) + SCAN_MARKER);
	spans = calloc(size + 1, sizeof(*spans));
	late = calloc(size + 1, sizeof(*late));
	n = naive(p, size, spans, late);
	want = masked(p, size, spans, n, expected);
	run(p, size, data + 1, 0);
	if (nout != want || memcmp(out, expected, want) != 0)
		abort();
	if (data[0] & 1) {
		run(p, size, data + 1, 1);
		check_idle(spans, n);
	}
	free(region);
	free(shown);
	free(out);
	free(expected);
	free(spans);
	free(late);
	return (0);
}
