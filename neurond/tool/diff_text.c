/*
 * A diff as text: hunks with their context, in the unified format.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "out.h"

struct buffer {
	char		*text;
	size_t		 len, room, max;
	int		 cut;
	int		 failed;	/* memory is out */
};

/* A place in a text, at the start of a line. */
struct cursor {
	const char	*p, *end;
	size_t		 line;
};

/* Adds a prefix and a text as one, or neither. */
static void
put(struct buffer *b, const char *prefix, size_t plen, const char *text,
    size_t len)
{
	size_t room, need;
	char *more;

	if (b->cut || b->failed)
		return;
	if (plen + len > b->max - b->len) {
		b->cut = 1;
		return;
	}
	need = b->len + plen + len + 1;
	if (need > b->room) {
		room = b->room == 0 ? 4096 : b->room;
		while (room < need)
			room *= 2;
		if ((more = realloc(b->text, room)) == NULL) {
			b->failed = 1;
			return;
		}
		b->text = more;
		b->room = room;
	}
	memcpy(b->text + b->len, prefix, plen);
	memcpy(b->text + b->len + plen, text, len);
	b->len += plen + len;
	b->text[b->len] = '\0';
}

static size_t
line_length(const struct cursor *c)
{
	const char *nl = memchr(c->p, '\n', (size_t)(c->end - c->p));

	return (nl == NULL ? (size_t)(c->end - c->p) : (size_t)(nl - c->p) + 1);
}

/* Goes on to a line; lines that are not there are none. */
static void
advance(struct cursor *c, size_t line)
{
	while (c->line < line && c->p < c->end) {
		c->p += line_length(c);
		c->line++;
	}
}

static void
emit(struct buffer *out, char prefix, struct cursor *c, size_t lines)
{
	static const char none[] = "\n\\ No newline at end of file\n";
	size_t len;

	for (; lines > 0 && c->p < c->end && !out->cut; lines--) {
		len = line_length(c);
		if (c->p[len - 1] != '\n' &&
		    len + sizeof(none) > out->max - out->len) {
			out->cut = 1;
			return;
		}
		put(out, &prefix, 1, c->p, len);
		if (c->p[len - 1] != '\n')
			put(out, none, sizeof(none) - 1, "", 0);
		c->p += len;
		c->line++;
	}
}

static size_t
lines_left(struct cursor c)
{
	size_t n = 0;

	while (c.p < c.end) {
		c.p += line_length(&c);
		n++;
	}
	return (n);
}

/* "12,3", "12", or for no lines the line before: "11,0". */
static int
range(char *dst, size_t size, size_t line, size_t n)
{
	if (n == 1)
		return (snprintf(dst, size, "%zu", line + 1));
	return (snprintf(dst, size, "%zu,%zu", n == 0 ? line : line + 1, n));
}

/* One hunk: the changes from first to last, total lines of a in all. */
static void
hunk(struct buffer *out, const struct diff *d, size_t first, size_t last,
    size_t total, struct cursor *a, struct cursor *b)
{
	const struct diff_change *c = &d->change[first];
	const struct diff_change *end = &d->change[last];
	size_t before, after, at, i;
	char head[128], old[48], new[48];
	int len;

	at = d->line + c->a;
	before = at < DIFF_CONTEXT ? at : DIFF_CONTEXT;
	after = total - (d->line + end->a + end->na);
	if (after > DIFF_CONTEXT)
		after = DIFF_CONTEXT;
	range(old, sizeof(old), at - before,
	    before + end->a + end->na - c->a + after);
	range(new, sizeof(new), d->line + c->b - before,
	    before + end->b + end->nb - c->b + after);
	len = snprintf(head, sizeof(head), "@@ -%s +%s @@\n", old, new);
	put(out, head, (size_t)len, "", 0);
	advance(a, at - before);
	for (i = first; i <= last; i++) {
		c = &d->change[i];
		emit(out, ' ', a, d->line + c->a - a->line);
		emit(out, '-', a, c->na);
		advance(b, d->line + c->b);
		emit(out, '+', b, c->nb);
	}
	emit(out, ' ', a, after);
}

/* A name that a reader of patches could get wrong goes into quotes. */
static int
plain(const char *name, size_t len)
{
	const unsigned char *p = (const unsigned char *)name;
	size_t i, n;

	for (i = 0; i < len; i += n) {
		n = utf8_length(p + i, len - i);
		if (n == 0 || p[i] < 0x20 || p[i] == 0x7f || p[i] == '"' ||
		    p[i] == '\\')
			return (0);
	}
	return (1);
}

static void
head_line(struct buffer *out, const char *mark, const char *name, size_t len)
{
	char byte[8];
	size_t i;
	int n;

	if (plain(name, len)) {
		put(out, mark, 4, mark[0] == '-' ? "a/" : "b/", 2);
		put(out, name, len, "\n", 1);
		return;
	}
	put(out, mark, 4, mark[0] == '-' ? "\"a/" : "\"b/", 3);
	for (i = 0; i < len; i++) {
		if (name[i] == '"' || name[i] == '\\')
			n = snprintf(byte, sizeof(byte), "\\%c", name[i]);
		else if (name[i] >= 0x20 && name[i] < 0x7f)
			n = snprintf(byte, sizeof(byte), "%c", name[i]);
		else
			n = snprintf(byte, sizeof(byte), "\\%03o",
			    (unsigned char)name[i]);
		put(out, byte, (size_t)n, "", 0);
	}
	put(out, "\"\n", 2, "", 0);
}

/* The changes that are near enough to share context make a hunk. */
static void
hunks(struct buffer *out, const struct diff *d, struct cursor *a,
    struct cursor *b, size_t total)
{
	size_t first, last;

	for (first = 0; first < d->n && !out->cut; first = last + 1) {
		last = first;
		while (last + 1 < d->n && d->change[last + 1].a -
		    (d->change[last].a + d->change[last].na) <=
		    2 * DIFF_CONTEXT)
			last++;
		hunk(out, d, first, last, total, a, b);
	}
}

int
diff_unified(const char *a, size_t na, const char *b, size_t nb,
    const char *name, size_t namelen, size_t max, struct diff_text *text)
{
	struct cursor ca, cb;
	struct buffer out;
	struct diff d;
	size_t total;
	int i;

	memset(&out, 0, sizeof(out));
	memset(text, 0, sizeof(*text));
	out.max = max;
	if (diff_make(a, na, b, nb, &d) == -1)
		goto failed;
	ca.p = a + d.from;
	ca.end = a + na;
	ca.line = d.line;
	cb.p = b + d.from;
	cb.end = b + nb;
	cb.line = d.line;
	total = d.line + lines_left(ca);
	/* the first hunk's context lies before */
	for (i = 0; i < DIFF_CONTEXT && ca.line > 0; i++) {
		do {
			ca.p--;
		} while (ca.p > a && ca.p[-1] != '\n');
		ca.line--;
	}
	put(&out, "", 0, "", 0);
	if (d.n > 0) {
		head_line(&out, "--- ", name, namelen);
		head_line(&out, "+++ ", name, namelen);
		if (out.cut)
			out.len = 0;
		hunks(&out, &d, &ca, &cb, total);
	}
	if (out.failed)
		goto failed;
	out.text[out.len] = '\0';
	diff_free(&d);
	text->text = out.text;
	text->len = out.len;
	text->cut = out.cut;
	return (0);
failed:
	diff_free(&d);
	free(out.text);
	return (-1);
}
