/*
 * Exact replacement: the search, and what is written in the place of a match.
 *
 * The search is that of Knuth, Morris and Pratt, since matches that overlap
 * are counted too and must not cost more than one reading of the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "edit_text.h"

struct output {
	char		*text;
	size_t		 len, room, max;
	enum edit_end	 end;		/* EDIT_DONE as long as all is well */
};

/* What is searched: the text, or a copy with LF for each CR LF. */
struct view {
	const char	*text;
	size_t		 len;
	char		*copy;		/* NULL: the text itself */
};

struct search {
	const char	*old;
	size_t		 len;
	uint32_t	*border;	/* of each beginning of old */
	size_t		 at;		/* in the view */
	size_t		 state;		/* bytes of old that match before at */
};

/* A place in the text and the same place in the view. */
struct place {
	size_t		 raw, seen;
};

/* What one edit knows of the text while it goes through it. */
struct work {
	const char	*text;
	size_t		 len;
	const struct edit_one *edit;
	struct view	 view;
	int		 literal;	/* new is written as it is */
	size_t		 before, after;	/* bytes that old and new share */
	size_t		 next_nl;	/* newline from a match on, or len */
	int		 next_known;
	int		 last_crlf;	/* how the last line ends, -1: unknown */
	struct place	 place;
	struct output	 out;
};

static void
put(struct output *o, const char *text, size_t len)
{
	size_t room;
	char *more;

	if (o->end != EDIT_DONE)
		return;
	if (len > o->max - o->len) {
		o->end = EDIT_TOO_LARGE;
		return;
	}
	if (o->len + len > o->room || o->text == NULL) {
		room = o->room < 4096 ? 4096 : o->room;
		while (room < o->len + len)
			room *= 2;
		if ((more = realloc(o->text, room)) == NULL) {
			o->end = EDIT_NO_MEMORY;
			return;
		}
		o->text = more;
		o->room = room;
	}
	if (len > 0)
		memcpy(o->text + o->len, text, len);
	o->len += len;
}

static int
search_begin(struct search *s, const char *old, size_t len)
{
	uint32_t k = 0;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->old = old;
	s->len = len;
	if ((s->border = calloc(len, sizeof(*s->border))) == NULL)
		return (-1);
	for (i = 1; i < len; i++) {
		while (k > 0 && old[i] != old[k])
			k = s->border[k - 1];
		if (old[i] == old[k])
			k++;
		s->border[i] = k;
	}
	return (0);
}

/*
 * The next match, as the offset it begins at; 0 if there is none.  After it
 * the search goes on behind it, or with overlap one byte behind its begin.
 */
static int
search_next(struct search *s, const struct view *v, int overlap, size_t *found)
{
	const char *p;
	size_t i = s->at, k = s->state;

	while (i < v->len) {
		if (k == 0) {
			p = memchr(v->text + i, s->old[0], v->len - i);
			if (p == NULL)
				break;
			i = (size_t)(p - v->text);
		}
		while (k > 0 && v->text[i] != s->old[k])
			k = s->border[k - 1];
		if (v->text[i] == s->old[k])
			k++;
		i++;
		if (k == s->len) {
			s->at = i;
			s->state = overlap ? s->border[k - 1] : 0;
			*found = i - k;
			return (1);
		}
	}
	s->at = v->len;
	return (0);
}

/* 0, or -1 when memory is out. */
static int
view_make(struct view *v, const char *text, size_t len, int literal)
{
	const char *p, *end = text + len, *cr;
	size_t n = 0;

	memset(v, 0, sizeof(*v));
	v->text = text;
	v->len = len;
	if (literal || memmem(text, len, "\r\n", 2) == NULL)
		return (0);
	if ((v->copy = malloc(len)) == NULL)
		return (-1);
	for (p = text; p < end; p = cr) {
		cr = memchr(p, '\r', (size_t)(end - p));
		if (cr == NULL)
			cr = end;
		memcpy(v->copy + n, p, (size_t)(cr - p));
		n += (size_t)(cr - p);
		if (cr < end && (cr + 1 == end || cr[1] != '\n'))
			v->copy[n++] = '\r';
		if (cr < end)
			cr++;
	}
	v->text = v->copy;
	v->len = n;
	return (0);
}

/* Goes on to where the view is at seen; returns the offset in the text. */
static size_t
go(const struct work *w, struct place *p, size_t seen)
{
	if (w->view.copy == NULL) {
		p->raw = p->seen = seen;
		return (seen);
	}
	while (p->seen < seen) {
		if (w->text[p->raw] == '\r' && p->raw + 1 < w->len &&
		    w->text[p->raw + 1] == '\n')
			p->raw++;
		p->raw++;
		p->seen++;
	}
	return (p->raw);
}

static int
is_crlf(const char *text, size_t nl)
{
	return (nl > 0 && text[nl - 1] == '\r');
}

/* How the lines end at a place: the one it is in, else the last one before. */
static int
crlf_at(struct work *w, size_t at)
{
	const char *nl;

	if (!w->next_known || w->next_nl < at) {
		nl = memchr(w->text + at, '\n', w->len - at);
		w->next_nl = nl == NULL ? w->len : (size_t)(nl - w->text);
		w->next_known = 1;
	}
	if (w->next_nl != w->len)
		return (is_crlf(w->text, w->next_nl));
	if (w->last_crlf == -1) {
		nl = memrchr(w->text, '\n', w->len);
		w->last_crlf = nl != NULL && is_crlf(w->text,
		    (size_t)(nl - w->text));
	}
	return (w->last_crlf);
}

/*
 * Writes len bytes of new for the text from "from" to "to", in a match that
 * begins at "match".
 */
static void
put_lines(struct work *w, const char *new, size_t len, size_t match,
    size_t from, size_t to)
{
	const char *nl, *end = new + len, *old;
	int crlf = -1;

	for (; new < end; new = nl + 1) {
		if ((nl = memchr(new, '\n', (size_t)(end - new))) == NULL) {
			put(&w->out, new, (size_t)(end - new));
			return;
		}
		old = memchr(w->text + from, '\n', to - from);
		if (old != NULL) {
			from = (size_t)(old - w->text) + 1;
			crlf = is_crlf(w->text, from - 1);
		} else if (crlf == -1) {
			crlf = crlf_at(w, match);
		}
		if (old == NULL)
			from = to;
		put(&w->out, new, (size_t)(nl - new));
		put(&w->out, crlf ? "\r\n" : "\n", crlf ? 2 : 1);
	}
}

/* Writes the text up to a match and what takes its place. */
static void
replace(struct work *w, size_t *done, size_t found)
{
	const struct edit_one *e = w->edit;
	size_t match, from, to;

	match = go(w, &w->place, found);
	from = go(w, &w->place, found + w->before);
	to = go(w, &w->place, found + e->oldlen - w->after);
	put(&w->out, w->text + *done, from - *done);
	if (w->literal)
		put(&w->out, e->new, e->newlen);
	else
		put_lines(w, e->new + w->before,
		    e->newlen - w->before - w->after, match, from, to);
	*done = to;
}

/* What old and new have in common at both ends is not touched. */
static void
in_common(struct work *w)
{
	const struct edit_one *e = w->edit;
	size_t max = e->oldlen < e->newlen ? e->oldlen : e->newlen;

	while (w->before < max && e->old[w->before] == e->new[w->before])
		w->before++;
	while (w->before + w->after < max && e->old[e->oldlen - w->after - 1] ==
	    e->new[e->newlen - w->after - 1])
		w->after++;
}

/* Tells where the matches are, from the first. */
static enum edit_end
not_unique(struct search *s, const struct view *v, size_t first,
    struct edit_out *out)
{
	size_t found = first, at = 0, line = 1;
	const char *nl;

	out->count = 0;
	out->nlines = 0;
	do {
		out->count++;
		while (out->nlines < EDIT_LINES_MAX && at < found &&
		    (nl = memchr(v->text + at, '\n', found - at)) != NULL) {
			at = (size_t)(nl - v->text) + 1;
			line++;
		}
		if (out->nlines < EDIT_LINES_MAX)
			out->line[out->nlines++] = line;
	} while (search_next(s, v, 1, &found));
	return (EDIT_NOT_UNIQUE);
}

static enum edit_end
edit_found(struct work *w, struct search *s, struct edit_out *out)
{
	size_t found, second, done = 0, n = 0;
	struct search again = *s;

	if (!w->edit->all) {
		if (!search_next(s, &w->view, 1, &found))
			return (EDIT_NO_MATCH);
		if (search_next(s, &w->view, 1, &second)) {
			search_next(&again, &w->view, 1, &found);
			return (not_unique(&again, &w->view, found, out));
		}
		replace(w, &done, found);
		n = 1;
	} else {
		while (w->out.end == EDIT_DONE &&
		    search_next(s, &w->view, 0, &found)) {
			replace(w, &done, found);
			n++;
		}
		if (n == 0)
			return (EDIT_NO_MATCH);
	}
	put(&w->out, w->text + done, w->len - done);
	out->replacements += n;
	return (w->out.end);
}

/* One edit; its result is in w->out. */
static enum edit_end
edit_one(struct work *w, struct edit_out *out)
{
	const struct edit_one *e = w->edit;
	enum edit_end end = EDIT_NO_MEMORY;
	struct search s;
	int exact = memchr(e->old, '\r', e->oldlen) != NULL;

	w->literal = exact || memchr(e->new, '\r', e->newlen) != NULL;
	if (!w->literal)
		in_common(w);
	if (search_begin(&s, e->old, e->oldlen) == -1)
		return (EDIT_NO_MEMORY);
	if (view_make(&w->view, w->text, w->len, exact) == 0)
		end = edit_found(w, &s, out);
	if (end == EDIT_NO_MATCH)
		edit_hint(w->text, w->len, e->old, e->oldlen, out->hint,
		    sizeof(out->hint));
	free(w->view.copy);
	free(s.border);
	return (end);
}

enum edit_end
edit_text(const char *text, size_t len, const struct edit_one *edit, size_t n,
    size_t max, struct edit_out *out)
{
	enum edit_end end = EDIT_DONE;
	struct work w;
	char *before = NULL;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < n && end == EDIT_DONE; i++) {
		memset(&w, 0, sizeof(w));
		w.text = text;
		w.len = len;
		w.edit = &edit[i];
		w.out.max = max;
		w.last_crlf = -1;
		out->which = i;
		end = edit_one(&w, out);
		free(before);
		before = w.out.text;
		text = before;
		len = w.out.len;
	}
	if (end != EDIT_DONE) {
		free(before);
		return (end);
	}
	out->text = before;
	out->len = len;
	return (EDIT_DONE);
}
