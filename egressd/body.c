/*
 * Where a message's body ends.  Chunks are followed byte by byte where their
 * lines are and in whole runs where their data is.  Of a request no extension
 * and no trailer is let through, for readers differ on them.
 */
#include <string.h>

#include "head.h"

#define LINE_MAX_BYTES		4096	/* of a chunk's line, or all trailers */
#define SIZE_DIGITS_MAX		15

enum {
	CHUNK_SIZE,		/* digits of the size */
	CHUNK_EXT,		/* after them */
	CHUNK_LF,		/* the line's LF */
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	TRAILER_START,		/* of a line */
	TRAILER_LINE,
	TRAILER_LF,
	TRAILER_END,		/* LF of the empty line */
	STATE_DONE,
	STATE_BAD
};

void
body_start(struct body *b, enum framing framing, uint64_t length, int answer)
{
	memset(b, 0, sizeof(*b));
	b->framing = framing;
	b->answer = answer;
	if (framing == FRAME_LENGTH)
		b->left = length;
	b->state = framing == FRAME_NONE || (framing == FRAME_LENGTH &&
	    length == 0) ? STATE_DONE : CHUNK_SIZE;
}

static int
hex(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (c - 'A' + 10);
	return (-1);
}

/* What may stand in an extension or a trailer. */
static int
is_text(uint8_t c)
{
	return (c == '\t' || (c >= 0x20 && c != 0x7f));
}

/* The state after a byte of the line with a chunk's size. */
static int
step_size(struct body *b, uint8_t c)
{
	int digit;

	switch (b->state) {
	case CHUNK_SIZE:
		digit = hex(c);
		if (digit >= 0 && b->line < SIZE_DIGITS_MAX) {
			b->left = b->left << 4 | (unsigned)digit;
			b->line++;
			return (CHUNK_SIZE);
		}
		if (digit >= 0 || b->line == 0)
			return (STATE_BAD);
		if (c == '\r')
			return (CHUNK_LF);
		return (b->answer && (c == ';' || c == ' ' || c == '\t') ?
		    CHUNK_EXT : STATE_BAD);
	case CHUNK_EXT:
		if (c == '\r')
			return (CHUNK_LF);
		return (is_text(c) && ++b->line < LINE_MAX_BYTES ?
		    CHUNK_EXT : STATE_BAD);
	default:		/* CHUNK_LF */
		b->line = 0;
		if (c != '\n')
			return (STATE_BAD);
		return (b->left > 0 ? CHUNK_DATA : TRAILER_START);
	}
}

static int
step_trailer(struct body *b, uint8_t c)
{
	switch (b->state) {
	case TRAILER_START:
		if (c == '\r')
			return (TRAILER_END);
		return (b->answer && is_text(c) && c != ' ' && c != '\t' ?
		    TRAILER_LINE : STATE_BAD);
	case TRAILER_LINE:
		if (c == '\r')
			return (TRAILER_LF);
		return (is_text(c) && ++b->line < LINE_MAX_BYTES ?
		    TRAILER_LINE : STATE_BAD);
	case TRAILER_LF:
		return (c == '\n' && ++b->line < LINE_MAX_BYTES ?
		    TRAILER_START : STATE_BAD);
	default:		/* TRAILER_END */
		return (c == '\n' ? STATE_DONE : STATE_BAD);
	}
}

static int
step(struct body *b, uint8_t c)
{
	if (b->state == CHUNK_DATA_CR)
		return (c == '\r' ? CHUNK_DATA_LF : STATE_BAD);
	if (b->state == CHUNK_DATA_LF)
		return (c == '\n' ? CHUNK_SIZE : STATE_BAD);
	return (b->state <= CHUNK_LF ? step_size(b, c) : step_trailer(b, c));
}

static enum body_result
data_chunked(struct body *b, const uint8_t *p, size_t size, size_t *used,
    const uint8_t **data, size_t *ndata)
{
	size_t at = 0, n;

	while (at < size && b->state != STATE_DONE) {
		if (b->state == CHUNK_DATA) {
			if (*data != NULL)
				break;		/* the next call's */
			n = b->left < size - at ? (size_t)b->left : size - at;
			*data = p + at;
			*ndata = n;
			b->left -= n;
			at += n;
			if (b->left == 0)
				b->state = CHUNK_DATA_CR;
			continue;
		}
		b->state = step(b, p[at]);
		if (b->state == STATE_BAD)
			break;
		at++;
	}
	*used = at;
	return (b->state == STATE_BAD ? BODY_BAD : b->state == STATE_DONE ?
	    BODY_DONE : BODY_MORE);
}

enum body_result
body_data(struct body *b, const uint8_t *p, size_t size, size_t *used,
    const uint8_t **data, size_t *ndata)
{
	*used = 0;
	*data = NULL;
	*ndata = 0;
	if (b->state == STATE_DONE || b->state == STATE_BAD)
		return (b->state == STATE_DONE ? BODY_DONE : BODY_BAD);
	if (b->framing == FRAME_CHUNKED)
		return (data_chunked(b, p, size, used, data, ndata));
	if (b->framing == FRAME_LENGTH && b->left < size)
		size = (size_t)b->left;
	*used = size;
	if (size > 0) {
		*data = p;
		*ndata = size;
	}
	if (b->framing == FRAME_LENGTH && (b->left -= size) == 0)
		b->state = STATE_DONE;
	return (b->state == STATE_DONE ? BODY_DONE : BODY_MORE);
}

enum body_result
body_feed(struct body *b, const uint8_t *p, size_t size, size_t *used)
{
	const uint8_t *data;
	enum body_result r;
	size_t n, ndata;

	*used = 0;
	do {
		r = body_data(b, p + *used, size - *used, &n, &data, &ndata);
		*used += n;
	} while (r == BODY_MORE && *used < size && n > 0);
	return (r);
}

int
body_end(const struct body *b)
{
	return (b->state == STATE_DONE || b->framing == FRAME_CLOSE);
}
