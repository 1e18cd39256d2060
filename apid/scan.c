/*
 * The streaming scanner.
 *
 * Offsets without a suffix count in the stream; those in the caller's region
 * are the same less s->base, the stream's offset of its first byte.
 */
#include <hs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "scan.h"
#include "secret.h"
#include "values.h"
#include "without.h"

#define AWS_NEAR	512	/* bytes behind an access key id */
#define HITS_KEPT	64	/* hits for which room is kept */

/* A place where it pays to ask a matcher. */
struct hit {
	uint64_t	 from;
	uint64_t	 to;		/* its order; then an anchor comes first */
	uint8_t		 what;		/* the anchor's number */
	uint8_t		 late;		/* to is where it masks: see put_off */
};

struct hits {
	struct hit	*v;
	size_t		 n;
	size_t		 size;
	size_t		 next;		/* the first not decided */
	int		 failed;
};

struct scan {
	hs_stream_t	*hs;
	uint64_t	 base;		/* of the region */
	uint64_t	 fed;		/* bytes that vectorscan had */
	uint64_t	 done;		/* before it, all is decided */
	uint64_t	 out;		/* before it, all went out */
	struct hits	 anchors;
	struct hits	 values;
	struct hits	 waiting;	/* idle: what may yet become one */
	struct secret_going going;
	uint64_t	 aws;		/* where to look for a secret next */
	uint64_t	 aws_end;
	struct scan_span *spans;
	size_t		 nspans;
	size_t		 spans_size;
	uint64_t	 count;
};

/* What a place was found by, in the order of those that are at one place. */
enum source { BY_NOTHING, BY_ANCHOR, BY_VALUE, BY_AWS };

/* A place that is being looked at. */
struct step {
	enum source		 source;
	uint64_t		 from;
	uint8_t			 what;
	struct secret_match	 match;
};

static hs_database_t	*database;
static hs_scratch_t	*scratch;
static struct secret_anchor anchors[SECRET_ANCHORS_MAX];
static size_t		 nanchors;

/* ---- vectorscan ---- */

/* An anchor as vectorscan writes it. */
static void
pattern(char *dst, const struct secret_anchor *a)
{
	size_t i;

	for (i = 0; i < a->size; i++)
		dst += sprintf(dst, "\\x%02x", (unsigned char)a->text[i]);
}

int
scan_init(void)
{
	static char text[SECRET_ANCHORS_MAX][SECRET_ANCHOR_MAX * 4 + 1];
	const char *expressions[SECRET_ANCHORS_MAX];
	unsigned flags[SECRET_ANCHORS_MAX], ids[SECRET_ANCHORS_MAX], i;
	hs_compile_error_t *error = NULL;

	if (hs_valid_platform() != HS_SUCCESS) {
		log_warnx("this processor lacks what vectorscan needs: SSE4.2");
		return (-1);
	}
	nanchors = secret_anchors(anchors);
	for (i = 0; i < nanchors; i++) {
		pattern(text[i], &anchors[i]);
		expressions[i] = text[i];
		ids[i] = i;
		flags[i] = HS_FLAG_DOTALL;
		if (anchors[i].what == ANCHOR_NAME ||
		    anchors[i].what == ANCHOR_SCHEME)
			flags[i] |= HS_FLAG_CASELESS;
	}
	if (hs_compile_multi(expressions, flags, ids, (unsigned)nanchors,
	    HS_MODE_STREAM, NULL, &database, &error) != HS_SUCCESS) {
		log_warnx("vectorscan: %s", error->message);
		hs_free_compile_error(error);
		return (-1);
	}
	if (hs_alloc_scratch(database, &scratch) != HS_SUCCESS) {
		log_warnx("vectorscan: no scratch");
		return (-1);
	}
	return (0);
}

static int
hits_add(struct hits *h, struct hit hit)
{
	size_t size;
	struct hit *v;

	if (h->n == h->size) {
		size = h->size == 0 ? HITS_KEPT : h->size * 2;
		if ((v = reallocarray(h->v, size, sizeof(*v))) == NULL) {
			h->failed = 1;
			return (-1);
		}
		h->v = v;
		h->size = size;
	}
	h->v[h->n++] = hit;
	return (0);
}

/* Drops what is decided. */
static void
hits_close_up(struct hits *h)
{
	struct hit *v;

	if (h->next == 0)
		return;
	memmove(h->v, h->v + h->next, (h->n - h->next) * sizeof(*h->v));
	h->n -= h->next;
	h->next = 0;
	if (h->size > HITS_KEPT && h->n <= HITS_KEPT &&
	    (v = reallocarray(h->v, HITS_KEPT, sizeof(*v))) != NULL) {
		h->v = v;
		h->size = HITS_KEPT;
	}
}

static int
on_match(unsigned id, unsigned long long from, unsigned long long to,
    unsigned flags, void *arg)
{
	struct scan *s = arg;

	(void)from;
	(void)flags;
	return (hits_add(&s->anchors, (struct hit){ to - anchors[id].size, to,
	    (uint8_t)id, 0 }) == -1);
}

static int
comes_before(const struct hit *a, const struct hit *b)
{
	return (a->to < b->to || (a->to == b->to && a->what < b->what));
}

/* vectorscan promises no order, and of those that end at one place has none. */
static void
sort(struct hits *h, size_t first)
{
	struct hit t;
	size_t i, j;

	for (i = first + 1; i < h->n; i++)
		for (j = i; j > first &&
		    comes_before(&h->v[j], &h->v[j - 1]); j--) {
			t = h->v[j];
			h->v[j] = h->v[j - 1];
			h->v[j - 1] = t;
		}
}

/* Every fresh byte is looked at once, whatever was held. */
static int
find_hits(struct scan *s, const uint8_t *region, size_t size, size_t fresh)
{
	size_t first = s->anchors.n;
	size_t from = size - fresh;

	if (fresh == 0)
		return (0);
	if (hs_scan_stream(s->hs, (const char *)region + from,
	    (unsigned)fresh, 0, scratch, on_match, s) != HS_SUCCESS ||
	    s->anchors.failed)
		return (-1);
	sort(&s->anchors, first);
	s->fed += fresh;
	/* A value's first bytes may have come before. */
	from = from > VALUES_WINDOW - 1 ? from - (VALUES_WINDOW - 1) : 0;
	while (values_any() && (from = values_next(region, size, from)) <
	    size) {
		if (hits_add(&s->values, (struct hit){ s->base + from,
		    s->base + from + VALUES_WINDOW, UINT8_MAX, 0 }) == -1)
			return (-1);
		from++;
	}
	return (0);
}

/* ---- spans ---- */

static int
add_span(struct scan *s, uint64_t start, uint64_t end, uint8_t kind,
    int quiet)
{
	struct scan_span *v;
	size_t size;

	/* What went out before it was known can't be called back. */
	if (start < s->out)
		start = s->out;
	if (end < start)
		end = start;
	if (s->nspans == s->spans_size) {
		size = s->spans_size == 0 ? 8 : s->spans_size * 2;
		if ((v = reallocarray(s->spans, size, sizeof(*v))) == NULL)
			return (-1);
		s->spans = v;
		s->spans_size = size;
	}
	s->spans[s->nspans++] = (struct scan_span){
	    (size_t)(start - s->base), (size_t)(end - s->base), kind,
	    (uint8_t)quiet };
	s->count += !quiet;
	return (0);
}

/* A secret goes on behind what is masked of it. */
static int
go_on(struct scan *s, const uint8_t *region, size_t size)
{
	size_t at = (size_t)(s->done - s->base), n;

	if (s->going.rest == REST_NONE || at >= size)
		return (0);
	n = secret_go_on(&s->going, region + at, size - at);
	if (n > 0 && add_span(s, s->done, s->done + n, 0, 1) == -1)
		return (-1);
	s->done += n;
	return (0);
}

static int
mask(struct scan *s, const uint8_t *region, size_t size,
    const struct secret_match *m)
{
	uint64_t start = s->base + m->start, end = s->base + m->end;

	if (start < s->done)
		start = s->done;
	if (add_span(s, start, end, m->kind, 0) == -1)
		return (-1);
	s->done = end;
	s->going = (struct secret_going){ .rest = m->rest };
	if (m->kind == SECRET_AWS && end - start <= 20) {
		s->aws = end;
		s->aws_end = end + AWS_NEAR;
	}
	if (go_on(s, region, size) == -1)
		return (-1);
	/* It shows as one, wherever it was cut. */
	if (s->nspans > 1 && s->spans[s->nspans - 1].quiet &&
	    s->spans[s->nspans - 2].end == s->spans[s->nspans - 1].start) {
		s->nspans--;
		s->spans[s->nspans - 1].end = s->spans[s->nspans].end;
	}
	return (0);
}

/* ---- steps ---- */

/* The next place where an AWS secret may begin, behind its key's id. */
static int
aws_next(struct scan *s, const uint8_t *region, size_t size, uint64_t *from)
{
	size_t at;

	if (s->aws < s->done)
		s->aws = s->done;
	for (; s->aws < s->aws_end && s->aws < s->base + size; s->aws++) {
		at = (size_t)(s->aws - s->base);
		if (secret_run(REST_BASE64, (const char *)region + at, 1) ==
		    1 && (at == 0 || secret_run(REST_BASE64, (const char *)
		    region + at - 1, 1) == 0 || region[at - 1] == '=')) {
			*from = s->aws;
			return (1);
		}
	}
	return (0);
}

static enum secret_answer
ask_other(const struct step *t, const struct secret_view *v,
    struct secret_match *m)
{
	enum secret_answer a;
	size_t length = 0;
	int n;

	if (t->source == BY_VALUE) {
		a = values_at(v->p + v->at, v->len - v->at, v->final,
		    &length);
	} else {
		n = secret_aws_at(v);
		a = n > 0 ? SECRET_YES : n < 0 ? SECRET_MORE : SECRET_NO;
		length = n > 0 ? (size_t)n : 0;
	}
	*m = (struct secret_match){ .start = v->at, .end = v->at + length,
	    .kind = t->source == BY_VALUE ? SECRET_REGISTERED : SECRET_AWS,
	    .rest = REST_NONE, .safe = v->at, .strong = 1 };
	return (a);
}

static enum secret_answer
ask(struct scan *s, const uint8_t *region, size_t size, int final,
    struct step *t)
{
	struct secret_view v = { region, size, (size_t)(t->from - s->base),
	    final };

	if (t->source == BY_ANCHOR)
		return (secret_at(&v, &anchors[t->what], &t->match));
	return (ask_other(t, &v, &t->match));
}

/* Before what is masked already, it counts no more. */
static uint64_t
begins(const struct hit *h)
{
	return (h->late ? h->to : h->from);
}

/* The next place in order; 0 if there is none. */
static int
pick(struct scan *s, const uint8_t *region, size_t size, struct step *t)
{
	struct hits *a = &s->anchors, *v = &s->values;
	uint64_t to = UINT64_MAX, from;

	t->source = BY_NOTHING;
	while (a->next < a->n && begins(&a->v[a->next]) < s->done)
		a->next++;
	while (v->next < v->n && v->v[v->next].from < s->done)
		v->next++;
	if (a->next < a->n) {
		t->source = BY_ANCHOR;
		to = a->v[a->next].to;
		t->from = a->v[a->next].from;
		t->what = a->v[a->next].what;
	}
	if (v->next < v->n && v->v[v->next].to < to) {
		t->source = BY_VALUE;
		to = v->v[v->next].to;
		t->from = v->v[v->next].from;
	}
	if (s->aws_end > s->done && aws_next(s, region, size, &from) &&
	    from + 1 < to) {
		t->source = BY_AWS;
		t->from = from;
	}
	return (t->source != BY_NOTHING);
}

static void
pass(struct scan *s, const struct step *t)
{
	if (t->source == BY_ANCHOR)
		s->anchors.next++;
	else if (t->source == BY_VALUE)
		s->values.next++;
	else
		s->aws++;
}

/*
 * What a name or a URL masks begins some way behind it, and until there may
 * stand secrets of their own: a key as the URL's user.  Those come first.
 * Returns 0 if its turn is now.
 */
static int
put_off(struct scan *s, const struct step *t)
{
	struct hits *h = &s->anchors;
	struct hit hit;
	size_t i;

	if (t->source != BY_ANCHOR ||
	    s->base + t->match.start <= h->v[h->next].to)
		return (0);
	hit = h->v[h->next];
	hit.to = s->base + t->match.start;
	hit.late = 1;
	for (i = h->next; i + 1 < h->n && h->v[i + 1].to <= hit.to; i++)
		h->v[i] = h->v[i + 1];
	h->v[i] = hit;
	return (1);
}

/* Puts those back that idleness passed over. */
static void
put_back(struct scan *s)
{
	const struct hit *h;
	struct hits *to;
	size_t i;

	for (i = s->waiting.n; i > 0; i--) {
		h = &s->waiting.v[i - 1];
		if (begins(h) < s->done)
			continue;
		if (h->to == 0) {
			s->aws = h->from;
			continue;
		}
		to = h->what == UINT8_MAX ? &s->values : &s->anchors;
		to->v[--to->next] = *h;
	}
	s->waiting.n = 0;
}

static int
set_aside(struct scan *s, const struct step *t)
{
	struct hit h = { t->from, 0, 0, 0 };

	if (t->source == BY_ANCHOR)
		h = s->anchors.v[s->anchors.next];
	else if (t->source == BY_VALUE)
		h = s->values.v[s->values.next];
	pass(s, t);
	return (hits_add(&s->waiting, h));
}

/*
 * What lies behind a place that is not decided yet may hold secrets too:
 * where the first of them could begin.
 */
static uint64_t
first_behind(const struct scan *s, const struct step *stuck, uint64_t limit)
{
	const struct hits *h = &s->anchors;
	uint64_t start;
	size_t i;

	/* An anchor that is not decided has said how far is safe. */
	for (i = h->next + (stuck->source == BY_ANCHOR); i < h->n; i++) {
		/* A name is never masked, what follows it may be. */
		start = anchors[h->v[i].what].what == ANCHOR_KEY ?
		    h->v[i].from : h->v[i].to;
		if (start < limit && begins(&h->v[i]) >= s->done)
			limit = start;
	}
	h = &s->values;
	if (h->next < h->n && h->v[h->next].from < limit)
		limit = h->v[h->next].from;
	if (s->aws_end > s->done && s->aws < limit && s->aws < s->aws_end)
		limit = s->aws;
	return (limit);
}

/* Where the first bytes that the next call needs are. */
static uint64_t
first_needed(const struct scan *s, uint64_t limit)
{
	const struct hits *a = &s->anchors, *v = &s->values;
	uint64_t first = limit;
	size_t i;

	/* They are in the order of their ends. */
	for (i = a->next; i < a->n; i++)
		if (a->v[i].from < first)
			first = a->v[i].from;
	if (v->next < v->n && v->v[v->next].from < first)
		first = v->v[v->next].from;
	if (s->aws < s->aws_end && s->aws < first && s->aws >= s->done)
		first = s->aws;
	return (first > SECRET_BACK ? first - SECRET_BACK : 0);
}

/* ---- the loop ---- */

/* How far it can go out; stuck is the place that is not decided, or NULL. */
static uint64_t
safe_until(const struct scan *s, const uint8_t *region, size_t size,
    const struct step *stuck)
{
	uint64_t end = s->base + size, limit = end - secret_tail(region, size);
	size_t begun;

	if (values_any()) {
		begun = size < VALUES_WINDOW - 1 ? size : VALUES_WINDOW - 1;
		if (end - begun < limit)
			limit = end - begun;
	}
	if (stuck != NULL) {
		if (s->base + stuck->match.safe < limit)
			limit = s->base + stuck->match.safe;
		limit = first_behind(s, stuck, limit);
	}
	if (limit < s->done)
		limit = s->done;
	return (limit < s->out ? s->out : limit);
}

static void
conclude(struct scan *s, const uint8_t *region, size_t size, int all,
    const struct step *stuck, struct scan_result *r)
{
	uint64_t end = s->base + size, limit, needed;

	limit = all ? end : safe_until(s, region, size, stuck);
	r->upto = (size_t)(limit - s->base);
	r->wait = limit == end ? 0 :
	    stuck != NULL && stuck->match.strong ? SCAN_STRONG_MS :
	    SCAN_WEAK_MS;
	r->spans = s->spans;
	r->nspans = s->nspans;
	s->out = limit;
	needed = first_needed(s, limit);
	r->keep = needed > s->base ? (size_t)(needed - s->base) : 0;
	s->base += r->keep;
}

static int
decide(struct scan *s, const uint8_t *region, size_t size, int final,
    int idle, struct scan_result *r)
{
	const struct step *stuck = NULL;
	enum secret_answer a;
	struct step t;

	if (go_on(s, region, size) == -1)
		return (-1);
	while (stuck == NULL && pick(s, region, size, &t)) {
		a = ask(s, region, size, final, &t);
		if (a == SECRET_MORE && !idle) {
			stuck = &t;
			continue;
		}
		/* Should nothing follow, is it one? */
		if (a == SECRET_MORE &&
		    ask(s, region, size, SECRET_IDLE, &t) != SECRET_YES) {
			if (set_aside(s, &t) == -1)
				return (-1);
			continue;
		}
		if (a != SECRET_NO && put_off(s, &t))
			continue;
		pass(s, &t);
		if (a != SECRET_NO &&
		    mask(s, region, size, &t.match) == -1)
			return (-1);
	}
	put_back(s);
	conclude(s, region, size, final || idle, stuck, r);
	return (0);
}

struct scan *
scan_new(void)
{
	struct scan *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	if (hs_open_stream(database, 0, &s->hs) != HS_SUCCESS) {
		free(s);
		return (NULL);
	}
	return (s);
}

void
scan_free(struct scan *s)
{
	if (s == NULL)
		return;
	hs_close_stream(s->hs, NULL, NULL, NULL);
	free(s->anchors.v);
	free(s->values.v);
	free(s->waiting.v);
	free(s->spans);
	free(s);
}

uint64_t
scan_count(const struct scan *s)
{
	return (s->count);
}

int
scan_feed(struct scan *s, const uint8_t *region, size_t size, size_t fresh,
    int final, struct scan_result *r)
{
	s->nspans = 0;
	if (WITHOUT(stream_redact)) {
		memset(r, 0, sizeof(*r));
		r->upto = size;
		r->keep = size > 3 ? size - 3 : 0;
		return (0);
	}
	hits_close_up(&s->anchors);
	hits_close_up(&s->values);
	if (find_hits(s, region, size, fresh) == -1)
		return (-1);
	return (decide(s, region, size, final, 0, r));
}

int
scan_idle(struct scan *s, const uint8_t *region, size_t size,
    struct scan_result *r)
{
	s->nspans = 0;
	return (decide(s, region, size, 0, 1, r));
}

/* ---- whole texts ---- */

size_t
scan_marker(char *dst, unsigned kind)
{
	return ((size_t)snprintf(dst, SCAN_MARKER, "[redacted:%s]",
	    secret_kind_name(kind)));
}

static struct scan *
scan_whole(const char *text, size_t size, struct scan_result *r)
{
	struct scan *s;

	/* apid has it from before its drop; a test may come here first */
	if (database == NULL && scan_init() == -1)
		fatalx("no scanner");
	if ((s = scan_new()) == NULL || scan_feed(s, (const uint8_t *)text,
	    size, size, 1, r) == -1)
		fatalx("memory for a text");
	return (s);
}

int
scan_dirty(const char *text, size_t size)
{
	struct scan_result r;
	struct scan *s = scan_whole(text, size, &r);
	int dirty = r.nspans > 0;

	scan_free(s);
	return (dirty);
}

char *
scan_text(const char *text, size_t size, size_t *n)
{
	struct scan_result r;
	struct scan *s = scan_whole(text, size, &r);
	char *copy = NULL, *p;
	size_t i, at = 0;

	if (r.nspans == 0)
		goto done;
	if ((copy = malloc(size + r.nspans * SCAN_MARKER + 1)) == NULL)
		fatalx("memory for a text");
	for (p = copy, i = 0; i < r.nspans; i++) {
		memcpy(p, text + at, r.spans[i].start - at);
		p += r.spans[i].start - at;
		p += scan_marker(p, r.spans[i].kind);
		at = r.spans[i].end;
	}
	memcpy(p, text + at, size - at);
	p += size - at;
	*p = '\0';
	*n = (size_t)(p - copy);
done:
	scan_free(s);
	return (copy);
}
