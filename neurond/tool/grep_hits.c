/*
 * Lines that were found, kept by file until all is there: rg searches several
 * files at once and prints each when it is done.
 */
#include <stdlib.h>
#include <string.h>

#include "grep_hits.h"
#include "out.h"
#include "result.h"

#define LINE_COST	96	/* of the answer, beside strings */
#define BEFORE_MATCH	200	/* bytes told before a match far to the right */

/* Bytes that a string needs in JSON, about. */
static size_t
json_cost(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t i, n, cost = 0;
	int other = 0;

	for (i = 0; i < len; i += n == 0 ? 1 : n) {
		n = utf8_length(p + i, len - i);
		other |= n == 0;
		cost += n == 0 ? 3 : p[i] < 0x20 ? 6 : p[i] == '"' ||
		    p[i] == '\\' ? 2 : n;
	}
	/* beside it, as base64 */
	return (cost + (other ? len / 3 * 4 + 24 : 0));
}

static int
full(struct hits *h, size_t cost)
{
	if (h->cost + cost > RESULT_BYTES_MAX - 4096) {
		h->more = 1;
		return (1);
	}
	h->cost += cost;
	return (0);
}

static char *
copy(struct hits *h, const char *text, size_t len)
{
	char *p = malloc(len + 1);

	if (p == NULL) {
		h->no_memory = 1;
		return (NULL);
	}
	memcpy(p, text, len);
	p[len] = '\0';
	return (p);
}

/* rg's "./" is not part of a name. */
static void
strip(const char **path, size_t *len)
{
	if (*len > 2 && memcmp(*path, "./", 2) == 0) {
		*path += 2;
		*len -= 2;
	}
}

static struct hit_file *
add_file(struct hits *h, const char *path, size_t len)
{
	struct hit_file *more;
	size_t room;

	if (h->n == h->room) {
		room = h->room == 0 ? 16 : h->room * 2;
		if ((more = realloc(h->file, room * sizeof(*more))) == NULL) {
			h->no_memory = 1;
			return (NULL);
		}
		h->file = more;
		h->room = room;
	}
	more = &h->file[h->n];
	memset(more, 0, sizeof(*more));
	more->binary = -1;
	if ((more->path = copy(h, path, len)) == NULL)
		return (NULL);
	more->len = len;
	h->n++;
	return (more);
}

/* The start of a character at or before i. */
static size_t
character(const char *text, size_t i)
{
	size_t back;

	for (back = 0; back < 3 && back < i; back++) {
		if (((unsigned char)text[i - back] & 0xc0) != 0x80)
			return (i - back);
	}
	return (i);
}

/* What is told of a line: its begin, or what is around the match. */
static void
choose(struct hit_line *l, const struct rg_event *e, const char **text)
{
	size_t len = e->textlen, from = 0;

	if (!e->cut && len > 0 && e->text[len - 1] == '\n')
		len--;
	if (!e->cut && len > 0 && e->text[len - 1] == '\r')
		len--;
	if (e->kind == RG_MATCH && e->start < len &&
	    e->start > HIT_TEXT_MAX - BEFORE_MATCH)
		from = character(e->text, e->start - BEFORE_MATCH);
	l->cut = e->cut || len - from > HIT_TEXT_MAX;
	l->len = len - from;
	if (l->len > HIT_TEXT_MAX)
		l->len = character(e->text, from + HIT_TEXT_MAX) - from;
	l->skipped = from;
	*text = e->text + from;
}

static int
add_line(struct hits *h, const struct rg_event *e)
{
	struct hit_file *f = &h->file[h->n - 1];
	struct hit_line l = { .line = e->line }, *more;
	const char *text;

	choose(&l, e, &text);
	if (full(h, LINE_COST + json_cost(text, l.len) + h->path_cost +
	    json_cost(f->path, f->len)))
		return (-1);
	l.context = e->kind == RG_CONTEXT;
	if ((f->n & (f->n - 1)) == 0) {
		more = realloc(f->line, (f->n == 0 ? 1 : f->n * 2) *
		    sizeof(*more));
		if (more == NULL) {
			h->no_memory = 1;
			return (-1);
		}
		f->line = more;
	}
	if ((l.text = copy(h, text, l.len)) == NULL)
		return (-1);
	f->line[f->n++] = l;
	f->matches += !l.context;
	return (0);
}

static int
match(struct hits *h, const struct rg_event *e)
{
	if (h->matches == h->limit) {
		h->more = 1;
		return (-1);
	}
	h->matches++;
	h->last = e->line;
	if (add_line(h, e) == 0)
		return (0);
	h->matches--;
	return (-1);
}

static int
context(struct hits *h, const struct rg_event *e)
{
	/* what only leads to a match that has no room any more is left out */
	if (h->matches == h->limit && (h->last == -1 ||
	    e->line > h->last + h->context))
		return (0);
	return (add_line(h, e));
}

int
hits_event(void *arg, const struct rg_event *e)
{
	struct hits *h = arg;
	const char *path = e->path;
	size_t len = e->pathlen;

	switch (e->kind) {
	case RG_BEGIN:
		strip(&path, &len);
		h->last = -1;
		h->skip = !h->wanted(h->arg, path, len);
		if (h->skip)
			return (0);
		return (add_file(h, path, len) == NULL ? -1 : 0);
	case RG_MATCH:
		return (h->skip || h->n == 0 ? 0 : match(h, e));
	case RG_CONTEXT:
		return (h->skip || h->n == 0 ? 0 : context(h, e));
	case RG_END:
		if (!h->skip && h->n > 0)
			h->file[h->n - 1].binary = e->binary;
		return (0);
	}
	return (-1);
}

int
hits_path(struct hits *h, const char *path, size_t len)
{
	strip(&path, &len);
	if (!h->wanted(h->arg, path, len))
		return (0);
	if (h->matches == h->limit) {
		h->more = 1;
		return (-1);
	}
	if (full(h, LINE_COST + json_cost(path, len) + h->path_cost) ||
	    add_file(h, path, len) == NULL)
		return (-1);
	h->matches++;
	return (0);
}

static int
compare(const void *a, const void *b)
{
	const struct hit_file *x = a, *y = b;
	size_t n = x->len < y->len ? x->len : y->len;
	int c = memcmp(x->path, y->path, n);

	return (c != 0 ? c : (x->len > y->len) - (x->len < y->len));
}

void
hits_sort(struct hits *h)
{
	if (h->n > 0)
		qsort(h->file, h->n, sizeof(h->file[0]), compare);
}

void
hits_free(struct hits *h)
{
	size_t i, j;

	for (i = 0; i < h->n; i++) {
		for (j = 0; j < h->file[i].n; j++)
			free(h->file[i].line[j].text);
		free(h->file[i].line);
		free(h->file[i].path);
	}
	free(h->file);
}
