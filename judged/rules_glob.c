/*
 * Whether two patterns have a text in common: each position of the one
 * against each of the other, no more.
 */
#include <stdint.h>
#include <string.h>

#include "rules_glob.h"
#include "shell/judging.h"
#include "slice.h"

#define ANY	0x100	/* one character, whichever */
#define STAR	0x101	/* any number of them */

/* A bracket expression counts as any character: wide enough for a deny. */
static size_t
compile(const char *s, int glob, uint16_t *out, size_t most)
{
	const char *close;
	size_t n = 0;

	for (; *s != '\0' && n < most; s++) {
		if (glob && *s == '*')
			out[n++] = STAR;
		else if (glob && *s == '?')
			out[n++] = ANY;
		else if (glob && *s == '[' && s[1] != '\0' &&
		    (close = strchr(s + 2, ']')) != NULL) {
			out[n++] = ANY;
			s = close;
		} else {
			if (glob && *s == '\\' && s[1] != '\0')
				s++;
			out[n++] = (unsigned char)*s;
		}
	}
	return (n);
}

static int
together(uint16_t a, uint16_t b)
{
	return (a == b || a == ANY || b == ANY);
}

/*
 * What can be said without comparing all positions: 1 or 0, or -1 where it
 * takes that, of what stands behind the beginning that both share.
 */
static int
at_once(const char **p, const char **t, int glob, int open)
{
	const char *pattern, *text;

	for (;; (*p)++, (*t)++) {
		pattern = *p;
		text = *t;
		/* the rest of one of them is whatever the other's is */
		if (pattern[0] == '*' && pattern[1] == '\0')
			return (1);
		if (*text == '\0' ? open : glob && text[0] == '*' &&
		    text[1] == '\0')
			return (1);
		if (*text == '\0' || *pattern == '\0')
			return (*text == *pattern ? 1 : -1);
		if (strchr("*?[\\", *pattern) != NULL || (glob &&
		    strchr("*?[\\", *text) != NULL))
			return (-1);
		if (*pattern != *text)
			return (0);
	}
}

int
glob_overlaps(const char *pattern, const char *text, int glob, int open)
{
	/* no more of them is looked at than was set */
	uint16_t p[RULE_WORD_MAX + 4] SET_BEFORE_USE;
	uint16_t q[GLOB_TEXT_MAX + 1] SET_BEFORE_USE;
	uint8_t rows[2][GLOB_TEXT_MAX + 2] SET_BEFORE_USE, *row, *below;
	size_t np, nq, i, k;
	int once;

	if (strlen(text) >= GLOB_TEXT_MAX || strlen(pattern) > RULE_WORD_MAX + 2)
		return (1);
	if ((once = at_once(&pattern, &text, glob, open)) != -1)
		return (once);
	np = compile(pattern, 1, p, sizeof(p) / sizeof(p[0]));
	nq = compile(text, glob, q, GLOB_TEXT_MAX);
	if (open)
		q[nq++] = STAR;
	/* row[k]: p from i on and q from k on have a text in common */
	for (i = np + 1; i-- > 0;) {
		row = rows[i % 2];
		below = rows[(i + 1) % 2];
		for (k = nq + 1; k-- > 0;) {
			if (i == np && k == nq)
				row[k] = 1;
			else if (i < np && p[i] == STAR)
				row[k] = below[k] || (k < nq && row[k + 1]);
			else if (k < nq && q[k] == STAR)
				row[k] = row[k + 1] || (i < np && below[k]);
			else
				row[k] = i < np && k < nq && below[k + 1] &&
				    together(p[i], q[k]);
		}
	}
	return (rows[0][0]);
}
