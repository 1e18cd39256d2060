/*
 * Looking through bytes: are they text, how do their lines end.
 */
#ifndef MYELIN_TOOL_TEXT_H
#define MYELIN_TOOL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Fed piece by piece; all zero to begin with. */
struct text_scan {
	uint64_t	 lf;		/* line feeds */
	uint64_t	 crlf;		/* of them, behind a carriage return */
	int		 bad;		/* a NUL, or no UTF-8 */
	uint8_t		 last;		/* the last byte */
	uint8_t		 part[4];	/* a character that is not whole yet */
	size_t		 npart;
};

void	text_scan(struct text_scan *, const uint8_t *, size_t);

/* After the last piece: 1 if all of it was text. */
int	text_is(const struct text_scan *);

/* "lf", "crlf", "mixed" or "none". */
const char *text_eol(const struct text_scan *);

/* The media type of a file that begins so; text: it is known to be UTF-8. */
const char *media_type(const uint8_t *, size_t, int text);

#endif
