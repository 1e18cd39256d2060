/*
 * Text in which nothing is hidden.
 */
#include <stdio.h>
#include <stdlib.h>

#include "visible.h"

#define LONGEST	11	/* "<U+10FFFF>" and a NUL */

static const struct {
	uint32_t	 from, to;
} hidden[] = {
	{ 0x0000, 0x0009 },	/* C0 but the newline */
	{ 0x000b, 0x001f },
	{ 0x007f, 0x00a0 },	/* DEL, C1, the no-break space */
	{ 0x00ad, 0x00ad },	/* soft hyphen */
	{ 0x034f, 0x034f },	/* combining grapheme joiner */
	{ 0x061c, 0x061c },	/* Arabic letter mark */
	{ 0x115f, 0x1160 },	/* Hangul fillers */
	{ 0x1680, 0x1680 },	/* Ogham space */
	{ 0x17b4, 0x17b5 },	/* Khmer inherent vowels */
	{ 0x180b, 0x180f },	/* Mongolian selectors and separator */
	{ 0x2000, 0x200f },	/* spaces, zero widths, direction marks */
	{ 0x2028, 0x202f },	/* separators, embeddings, overrides */
	{ 0x205f, 0x206f },	/* joiners, isolates, deprecated formats */
	{ 0x2800, 0x2800 },	/* the empty Braille pattern */
	{ 0x3000, 0x3000 },	/* ideographic space */
	{ 0x3164, 0x3164 },	/* Hangul filler */
	{ 0xe000, 0xf8ff },	/* private use: anything at all */
	{ 0xfe00, 0xfe0f },	/* variation selectors */
	{ 0xfeff, 0xfeff },	/* zero width no-break space */
	{ 0xffa0, 0xffa0 },	/* halfwidth Hangul filler */
	{ 0xfff0, 0xffff },	/* specials */
	{ 0x1bca0, 0x1bca3 },	/* shorthand format controls */
	{ 0x1d173, 0x1d17a },	/* musical format controls */
	{ 0xe0000, 0x10ffff }	/* tags, selectors, private use */
};

int
visible_hides(uint32_t c)
{
	size_t i;

	for (i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (c >= hidden[i].from && c <= hidden[i].to)
			return (1);
	return (0);
}

/* One character of at most `left` bytes; how many it has, 0: no UTF-8. */
static size_t
next(const uint8_t *p, size_t left, uint32_t *c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n, i;

	*c = *p;
	if (*p < 0x80)
		return (1);
	n = (*p & 0xe0) == 0xc0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 :
	    (*p & 0xf8) == 0xf0 ? 4 : 0;
	if (n == 0 || n > left)
		return (0);
	*c = *p & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return (0);
		*c = *c << 6 | (p[i] & 0x3fU);
	}
	if (*c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff))
		return (0);
	return (n);
}

/* What stands for the character at p, and how many bytes it took. */
static size_t
escape(const uint8_t *p, size_t left, char word[LONGEST], size_t *len)
{
	size_t n, i;
	uint32_t c;

	if ((n = next(p, left, &c)) == 0) {
		*len = (size_t)snprintf(word, LONGEST, "<%02X>", *p);
		return (1);
	}
	if (visible_hides(c))
		*len = (size_t)snprintf(word, LONGEST, "<U+%04X>",
		    (unsigned)c);
	else
		for (*len = n, i = 0; i < n; i++)
			word[i] = (char)p[i];
	return (n);
}

char *
visible_text(const void *bytes, size_t size, size_t *n)
{
	const uint8_t *p = bytes;
	char word[LONGEST], *text;
	size_t at, len, i;

	for (*n = at = 0; at < size; *n += len)
		at += escape(p + at, size - at, word, &len);
	if ((text = malloc(*n + 1)) == NULL)
		return (NULL);
	for (*n = at = 0; at < size; ) {
		at += escape(p + at, size - at, word, &len);
		for (i = 0; i < len; i++)
			text[(*n)++] = word[i];
	}
	text[*n] = '\0';
	return (text);
}
