/*
 * Any text, edited in any way: the engine says what a naive replacement says
 * where line ends play no part, and the unified diff makes the new text out of
 * the old one.
 *
 * Input: a byte of flags, the edits as two strings each that end in a NUL
 * (an empty old ends them), then the text.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/patch.h"
#include "diff.h"
#include "edit_text.h"

#define EDITS	4
#define ALL	0x1
#define SIZE	(64 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
require(int what)
{
	if (!what)
		abort();
}

/* Replaces the first match of n bytes, or all; returns matches replaced. */
static size_t
naive(const char *text, size_t len, const struct edit_one *e, char *to,
    size_t *tolen)
{
	size_t i, n = 0;

	*tolen = 0;
	for (i = 0; i < len;) {
		if (len - i >= e->oldlen && (e->all || n == 0) &&
		    memcmp(text + i, e->old, e->oldlen) == 0) {
			memcpy(to + *tolen, e->new, e->newlen);
			*tolen += e->newlen;
			i += e->oldlen;
			n++;
		} else
			to[(*tolen)++] = text[i++];
	}
	return (n);
}

/* One edit in a text without any CR, which the naive way must agree with. */
static void
compare(const char *text, size_t len, const struct edit_one *e)
{
	struct edit_out out;
	enum edit_end end;
	char *to;
	size_t n, tolen;

	if (memchr(text, '\r', len) != NULL)
		return;
	to = malloc(len * (e->newlen + 1) + e->newlen + 1);
	require(to != NULL);
	n = naive(text, len, e, to, &tolen);
	end = edit_text(text, len, e, 1, SIZE_MAX / 2, &out);
	if (n == 0) {
		require(end == EDIT_NO_MATCH);
	} else if (end == EDIT_NOT_UNIQUE) {
		require(!e->all && out.count > 1);
	} else {
		require(end == EDIT_DONE && out.replacements == n &&
		    out.len == tolen && memcmp(out.text, to, tolen) == 0);
		free(out.text);
	}
	free(to);
}

static void
diffs(const char *a, size_t na, const char *b, size_t nb)
{
	struct diff_text d;
	size_t len = 0;
	char *made;

	require(diff_unified(a, na, b, nb, "f", 1, SIZE_MAX / 4, &d) == 0);
	require(!d.cut && (d.len == 0) == (na == nb && memcmp(a, b, na) == 0));
	made = patch_apply(a, na, d.text, d.len, &len);
	require(made != NULL && len == nb && memcmp(made, b, nb) == 0);
	free(made);
	free(d.text);
	require(diff_unified(a, na, b, nb, (const char *)b, nb, 100, &d) == 0);
	require(d.len <= 100 && d.text[d.len] == '\0');
	free(d.text);
}

/* A string of the input up to its NUL; 0 if there is none. */
static int
take(const uint8_t **data, size_t *size, const char **text, size_t *len)
{
	const uint8_t *nul = memchr(*data, 0, *size);

	if (nul == NULL)
		return (0);
	*text = (const char *)*data;
	*len = (size_t)(nul - *data);
	*data = nul + 1;
	*size -= *len + 1;
	return (1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edit_one e[EDITS];
	struct edit_out out;
	uint8_t flags;
	size_t n;

	if (size < 2 || size > SIZE)
		return (0);
	flags = *data++;
	size--;
	for (n = 0; n < EDITS; n++) {
		if (!take(&data, &size, &e[n].old, &e[n].oldlen))
			return (0);
		if (e[n].oldlen == 0)
			break;
		if (!take(&data, &size, &e[n].new, &e[n].newlen))
			return (0);
		e[n].all = (flags >> n) & ALL;
	}
	if (n == 0)
		return (0);
	compare((const char *)data, size, &e[0]);
	if (edit_text((const char *)data, size, e, n, 4 * SIZE, &out) ==
	    EDIT_DONE) {
		diffs((const char *)data, size, out.text, out.len);
		free(out.text);
	}
	return (0);
}
