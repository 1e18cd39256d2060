/*
 * Why a text to replace was not found: what would have matched, said only
 * where it was tried and is so.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit_text.h"

#define COMPARES_MAX	100000	/* lines compared for the last hint */

/* Copies len bytes without some of them, or changed; returns the length. */
typedef size_t (*fold)(char *to, const char *from, size_t len);

static size_t
without_cr(char *to, const char *from, size_t len)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++) {
		if (from[i] != '\r' || i + 1 == len || from[i + 1] != '\n')
			to[n++] = from[i];
	}
	return (n);
}

/* Bytes of white space at i: of ASCII, or a no-break space. */
static size_t
white(const char *p, size_t len, size_t i)
{
	if (p[i] == ' ' || (p[i] >= '\t' && p[i] <= '\r'))
		return (1);
	if (i + 1 < len && p[i] == '\xc2' && p[i + 1] == '\xa0')
		return (2);
	return (0);
}

static size_t
without_white(char *to, const char *from, size_t len)
{
	size_t i, n = 0, skip;

	for (i = 0; i < len; i += skip) {
		if ((skip = white(from, len, i)) == 0) {
			to[n++] = from[i];
			skip = 1;
		}
	}
	return (n);
}

static size_t
lower(char *to, const char *from, size_t len)
{
	size_t i, n = without_cr(to, from, len);

	for (i = 0; i < n; i++)
		to[i] = (char)tolower((unsigned char)to[i]);
	return (n);
}

static size_t
line_of(const char *text, size_t at)
{
	const char *p = text, *nl;
	size_t line = 1;

	while ((nl = memchr(p, '\n', (size_t)(text + at - p))) != NULL) {
		p = nl + 1;
		line++;
	}
	return (line);
}

/* The line where both match once folded, or 0. */
static size_t
folded(const char *text, size_t len, const char *old, size_t oldlen, fold f)
{
	char *a = malloc(len + 1), *b = malloc(oldlen + 1);
	const char *found = NULL;
	size_t na, nb, i, line = 0;

	if (a == NULL || b == NULL)
		goto out;
	na = f(a, text, len);
	nb = f(b, old, oldlen);
	if (nb > 0)
		found = memmem(a, na, b, nb);
	if (found == NULL)
		goto out;
	/* the shortest part of the text that folds to what is before */
	for (na = (size_t)(found - a) + 1, i = 0; i < len && na > 0; i++) {
		if (f == without_white && white(text, len, i) == 2)
			i++;
		else if (f == without_white ? white(text, len, i) == 0 :
		    (text[i] != '\r' || i + 1 == len || text[i + 1] != '\n'))
			na--;
	}
	line = line_of(text, i == 0 ? 0 : i - 1);
out:
	free(a);
	free(b);
	return (line);
}

/* A line without the white space around it. */
struct piece {
	const char	*p;
	size_t		 len;
};

/* Takes the next line from *at; 0 at the end. */
static int
next_line(const char *text, size_t len, size_t *at, struct piece *line)
{
	const char *nl;
	size_t end;

	if (*at >= len)
		return (0);
	nl = memchr(text + *at, '\n', len - *at);
	end = nl == NULL ? len : (size_t)(nl - text);
	line->p = text + *at;
	line->len = end - *at;
	while (line->len > 0 && white(line->p, line->len, 0) == 1) {
		line->p++;
		line->len--;
	}
	while (line->len > 0 && white(line->p + line->len - 1, 1, 0) == 1)
		line->len--;
	*at = nl == NULL ? len : end + 1;
	return (1);
}

/* Lines of both that are alike from two places on. */
static size_t
alike(const char *text, size_t len, size_t at, const char *old, size_t oldlen,
    size_t *budget)
{
	struct piece a, b;
	size_t from = 0, n = 0;

	while (*budget > 0 && next_line(text, len, &at, &a) &&
	    next_line(old, oldlen, &from, &b) && a.len == b.len &&
	    memcmp(a.p, b.p, a.len) == 0) {
		(*budget)--;
		n++;
	}
	return (n);
}

/* The place where most lines of old are, from its first one on. */
static size_t
beginning(const char *text, size_t len, const char *old, size_t oldlen,
    size_t *lines)
{
	size_t budget = COMPARES_MAX, at = 0, line = 1, n, best = 0, from;
	struct piece p, first;

	*lines = 0;
	from = 0;
	if (!next_line(old, oldlen, &from, &first) || first.len < 2)
		return (0);
	for (from = at; budget > 0 && next_line(text, len, &at, &p);
	    from = at, line++) {
		if (p.len != first.len ||
		    memcmp(p.p, first.p, p.len) != 0)
			continue;
		n = alike(text, len, from, old, oldlen, &budget);
		if (n > *lines) {
			*lines = n;
			best = line;
		}
	}
	return (best);
}

void
edit_hint(const char *text, size_t len, const char *old, size_t oldlen,
    char *hint, size_t size)
{
	static const char bom[3] = "\xef\xbb\xbf";
	size_t line, n;

	hint[0] = '\0';
	if (oldlen > 3 && memcmp(old, bom, 3) == 0 &&
	    memmem(text, len, old + 3, oldlen - 3) != NULL) {
		snprintf(hint, size, "without the byte order mark it matches");
	} else if (memchr(old, '\r', oldlen) != NULL && (line =
	    folded(text, len, old, oldlen, without_cr)) != 0) {
		snprintf(hint, size, "but for line ends it matches at line %zu:"
		    " give it with LF alone", line);
	} else if ((line = folded(text, len, old, oldlen, without_white)) !=
	    0) {
		snprintf(hint, size, "but for white space it matches at line "
		    "%zu", line);
	} else if ((line = folded(text, len, old, oldlen, lower)) != 0) {
		snprintf(hint, size, "but for upper and lower case it matches "
		    "at line %zu", line);
	} else if ((line = beginning(text, len, old, oldlen, &n)) != 0) {
		snprintf(hint, size, "its first %zu line%s %s at line %zu, "
		    "what follows there is different", n, n == 1 ? "" : "s",
		    n == 1 ? "is" : "are", line);
	}
}
