/*
 * Exact replacement in a text, as a function of bytes alone.
 *
 * Line ends: where neither old nor new holds a CR, a line end of old matches
 * both LF and CR LF, what old and new have in common stays as it is in the
 * text, and each line end of the rest of new becomes what the replaced text
 * had in its place, or else what the lines there have.  Where old holds a CR
 * it is compared, and where either does new is written, byte for byte.
 */
#ifndef MYELIN_TOOL_EDIT_TEXT_H
#define MYELIN_TOOL_EDIT_TEXT_H

#include <stddef.h>

#define EDIT_LINES_MAX	16	/* lines told of a text that is not unique */
#define EDIT_HINT_MAX	256

struct edit_one {
	const char	*old;		/* at least a byte */
	size_t		 oldlen;
	const char	*new;
	size_t		 newlen;
	int		 all;		/* each occurrence, from the left */
};

enum edit_end {
	EDIT_DONE,
	EDIT_NO_MATCH,		/* which, hint */
	EDIT_NOT_UNIQUE,	/* which, count, line */
	EDIT_TOO_LARGE,		/* which */
	EDIT_NO_MEMORY
};

struct edit_out {
	char		*text;		/* malloc; EDIT_DONE alone */
	size_t		 len;
	size_t		 replacements;	/* of all edits */
	size_t		 which;		/* edit that failed, from 0 */
	size_t		 count;		/* matches, overlapping ones too */
	size_t		 line[EDIT_LINES_MAX];	/* of the first, from 1 */
	size_t		 nlines;
	char		 hint[EDIT_HINT_MAX];	/* a clause, or "" */
};

/*
 * Does n edits, each on the result of the one before; no result may be larger
 * than max bytes.
 */
enum edit_end edit_text(const char *text, size_t len,
	    const struct edit_one *, size_t n, size_t max, struct edit_out *);

/*
 * Why old is not in the text, as far as that can be seen: a clause such as
 * "but for white space it matches at line 7", or "".
 */
void	edit_hint(const char *text, size_t len, const char *old,
	    size_t oldlen, char *hint, size_t size);

#endif
