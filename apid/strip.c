/*
 * Terminal noise taken out of text.
 */
#include <stdlib.h>
#include <string.h>

#include "strip.h"

#define ESC	0x1b
#define BEL	0x07

enum state {
	TEXT,
	ESCAPE,		/* behind ESC */
	SHORT,		/* ESC and intermediate bytes: one byte ends it */
	CSI,		/* ESC [ ... to a byte from @ to ~ */
	STRING,		/* ESC ] and the like, to BEL or ESC \ */
	STRING_ESCAPE	/* ESC in one */
};

struct strip {
	enum state	 state;
	int		 returned;	/* a CR, and no text since */
	size_t		 n;
	uint8_t		 line[STRIP_LINE];
};

struct strip *
strip_new(void)
{
	return (calloc(1, sizeof(struct strip)));
}

void
strip_free(struct strip *s)
{
	free(s);
}

static size_t
flush(struct strip *s, uint8_t *dst)
{
	size_t n = s->n;

	memcpy(dst, s->line, n);
	s->n = 0;
	return (n);
}

/* A whole character goes, not its last byte. */
static void
backspace(struct strip *s)
{
	while (s->n > 0 && (s->line[s->n - 1] & 0xc0) == 0x80)
		s->n--;
	if (s->n > 0)
		s->n--;
}

static uint8_t *
text(struct strip *s, uint8_t *dst, uint8_t c)
{
	switch (c) {
	case ESC:
		s->state = ESCAPE;
		return (dst);
	case BEL:
		return (dst);
	case '\r':
		s->returned = 1;
		return (dst);
	case '\b':
		if (!s->returned)
			backspace(s);
		return (dst);
	case '\n':
		s->returned = 0;
		dst += flush(s, dst);
		*dst++ = c;
		return (dst);
	}
	if (s->returned)
		s->n = 0;
	s->returned = 0;
	if (s->n == STRIP_LINE)
		dst += flush(s, dst);
	s->line[s->n++] = c;
	return (dst);
}

static enum state
escape(uint8_t c)
{
	switch (c) {
	case '[':
		return (CSI);
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return (STRING);
	case ESC:
		return (ESCAPE);
	}
	return (c >= 0x20 && c <= 0x2f ? SHORT : TEXT);
}

/*
 * A byte of a sequence.  Returns 0 if it is none: then the sequence was cut
 * off, and the byte is text.
 */
static int
sequence(struct strip *s, uint8_t c)
{
	/* No sequence goes over the end of a line; one that is never ended
	 * must not swallow all that follows. */
	if (c == '\n' || (c < 0x20 && c != ESC && c != BEL &&
	    s->state != STRING && s->state != STRING_ESCAPE)) {
		s->state = TEXT;
		return (0);
	}
	switch (s->state) {
	case ESCAPE:
		s->state = escape(c);
		return (s->state != TEXT || (c >= 0x30 && c < 0x80));
	case SHORT:
		s->state = c >= 0x20 && c <= 0x2f ? SHORT : TEXT;
		return (c < 0x80);
	case CSI:
		if (c == ESC) {
			s->state = ESCAPE;
			return (1);
		}
		if (c >= 0x80) {
			s->state = TEXT;
			return (0);
		}
		if (c < 0x40 || c == 0x7f)
			return (1);
		/* The line is erased where the cursor stands at its front. */
		if (c == 'K' && s->returned)
			s->n = 0;
		s->state = TEXT;
		return (1);
	case STRING:
		if (c == BEL)
			s->state = TEXT;
		else if (c == ESC)
			s->state = STRING_ESCAPE;
		return (1);
	case STRING_ESCAPE:
		s->state = c == '\\' ? TEXT : escape(c);
		return (1);
	case TEXT:
		break;
	}
	return (0);
}

size_t
strip_feed(struct strip *s, uint8_t *dst, const uint8_t *p, size_t n)
{
	uint8_t *start = dst;
	size_t i;

	for (i = 0; i < n; i++) {
		if (s->state != TEXT && sequence(s, p[i]))
			continue;
		dst = text(s, dst, p[i]);
	}
	return ((size_t)(dst - start));
}

size_t
strip_end(struct strip *s, uint8_t *dst)
{
	s->state = TEXT;
	s->returned = 0;
	return (flush(s, dst));
}
