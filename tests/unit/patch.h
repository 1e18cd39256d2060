/*
 * Applies a unified diff, strictly: each line of context and each line taken
 * away must be there, in its place, and each hunk must be as long as it says.
 * For tests of what writes diffs.
 */
#ifndef MYELIN_PATCH_H
#define MYELIN_PATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct patch {
	const char	*diff, *diff_end;
	const char	*old, *old_end;
	char		*new;
	size_t		 len;
};

/* The line at p without its newline. */
static inline size_t
patch_line(const char *p, const char *end, const char **next)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	*next = nl == NULL ? end : nl + 1;
	return ((size_t)((nl == NULL ? end : nl) - p));
}

static inline int
patch_ends_without(const struct patch *w, const char *next)
{
	return (next < w->diff_end && *next == '\\');
}

/* Copies lines of the old text until its line number is "line", from 1. */
static inline int
patch_copy(struct patch *w, size_t *at, size_t line)
{
	const char *next;

	for (; *at < line; (*at)++) {
		if (w->old == w->old_end)
			return (-1);
		(void)patch_line(w->old, w->old_end, &next);
		memcpy(w->new + w->len, w->old, (size_t)(next - w->old));
		w->len += (size_t)(next - w->old);
		w->old = next;
	}
	return (0);
}

/* One line of a hunk; next is where the line after it begins. */
static inline int
patch_one(struct patch *w, const char *next, size_t n, size_t counts[2])
{
	static const char none[] = "\\ No newline at end of file";
	const char *line = w->diff + 1, *old_next;
	char mark = w->diff[0];
	int newline = !patch_ends_without(w, next);
	size_t len = n - 1 + (newline ? 1 : 0);

	if (n == 0 || strchr(" -+", mark) == NULL || next[-1] != '\n')
		return (-1);
	if (mark != '+') {
		if (w->old == w->old_end || counts[0]-- == 0)
			return (-1);
		(void)patch_line(w->old, w->old_end, &old_next);
		if ((size_t)(old_next - w->old) != len ||
		    memcmp(w->old, line, len) != 0 ||
		    (!newline && old_next[-1] == '\n'))
			return (-1);
		w->old = old_next;
	}
	if (mark != '-') {
		if (counts[1]-- == 0)
			return (-1);
		memcpy(w->new + w->len, line, len);
		w->len += len;
	}
	w->diff = next;
	if (!newline) {
		n = patch_line(w->diff, w->diff_end, &next);
		if (n != strlen(none) || memcmp(w->diff, none, n) != 0)
			return (-1);
		w->diff = next;
	}
	return (0);
}

/* "-12,3": a place and a count, which is 1 where none stands. */
static inline const char *
patch_range(const char *p, char mark, size_t *line, size_t *n)
{
	char *end;

	if (*p++ != mark)
		return (NULL);
	*line = strtoul(p, &end, 10);
	*n = 1;
	if (*end == ',')
		*n = strtoul(end + 1, &end, 10);
	return (end);
}

static inline int
patch_hunk(struct patch *w, size_t *at)
{
	size_t from, to, counts[2], n;
	const char *next, *p = w->diff;

	if (strncmp(p, "@@ ", 3) != 0 ||
	    (p = patch_range(p + 3, '-', &from, &counts[0])) == NULL ||
	    *p++ != ' ' ||
	    (p = patch_range(p, '+', &to, &counts[1])) == NULL ||
	    strncmp(p, " @@\n", 4) != 0)
		return (-1);
	w->diff = p + 4;
	if (patch_copy(w, at, from + (counts[0] == 0)) == -1)
		return (-1);
	*at += counts[0];
	while (counts[0] + counts[1] > 0) {
		if (w->diff == w->diff_end)
			return (-1);
		n = patch_line(w->diff, w->diff_end, &next);
		if (patch_one(w, next, n, counts) == -1)
			return (-1);
	}
	return (0);
}

/*
 * The text that old becomes, in malloc'd memory, or NULL if the diff is not
 * one of it.  The diff needs a NUL behind it.
 */
static inline char *
patch_apply(const char *old, size_t oldlen, const char *diff, size_t difflen,
    size_t *len)
{
	struct patch w = { .diff = diff, .diff_end = diff + difflen,
	    .old = old, .old_end = old + oldlen };
	const char *next;
	size_t at = 1;
	int i;

	if ((w.new = malloc(oldlen + difflen + 1)) == NULL)
		return (NULL);
	for (i = 0; i < 2 && difflen > 0; i++) {
		if (strncmp(w.diff, i == 0 ? "--- " : "+++ ", 4) != 0)
			goto bad;
		(void)patch_line(w.diff, w.diff_end, &next);
		w.diff = next;
	}
	while (w.diff < w.diff_end) {
		if (patch_hunk(&w, &at) == -1)
			goto bad;
	}
	memcpy(w.new + w.len, w.old, (size_t)(w.old_end - w.old));
	*len = w.len + (size_t)(w.old_end - w.old);
	return (w.new);
bad:
	free(w.new);
	return (NULL);
}

#endif
