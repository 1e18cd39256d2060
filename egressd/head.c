/*
 * Heads of HTTP/1.1: lines and fields.
 *
 * Refused: CR or LF alone, NUL and other controls, folded lines, blanks before
 * a colon, names that are no tokens.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "head.h"

enum head_result
head_refuse(struct head_bad *b, enum refusal why, const char *detail)
{
	b->why = why;
	(void)snprintf(b->detail, sizeof(b->detail), "%s", detail);
	return (HEAD_BAD);
}

static int
is_token(unsigned char c)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	return ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	    (c >= 'a' && c <= 'z') || (c != '\0' && strchr(others, c)));
}

static int
is_blank(char c)
{
	return (c == ' ' || c == '\t');
}

int
span_is(struct span s, const char *text)
{
	return (s.n == strlen(text) && strncasecmp(s.p, text, s.n) == 0);
}

static struct span
trimmed(const char *p, size_t n)
{
	while (n > 0 && is_blank(p[0])) {
		p++;
		n--;
	}
	while (n > 0 && is_blank(p[n - 1]))
		n--;
	return ((struct span){ p, n });
}

/*
 * The size of the head, 0 if its end is not there yet.  *scanned is where the
 * next look begins.
 */
static size_t
find_end(const uint8_t *p, size_t size, size_t *scanned)
{
	size_t from = *scanned > 3 ? *scanned - 3 : 0;
	const uint8_t *end;

	*scanned = size;
	end = memmem(p + from, size - from, "\r\n\r\n", 4);
	return (end == NULL ? 0 : (size_t)(end - p) + 4);
}

/*
 * What is wrong with bytes whose end may still be to come, or NULL: so that
 * what can never be a head need not be waited for.
 */
static const char *
stray(const uint8_t *p, size_t size, size_t from)
{
	size_t i;

	for (i = from; i < size; i++) {
		if (p[i] == '\n' && (i == 0 || p[i - 1] != '\r'))
			return ("a line ends in LF alone");
		if (p[i] == '\r' && i + 1 < size && p[i + 1] != '\n')
			return ("CR stands alone");
		if ((p[i] < 0x20 && p[i] != '\r' && p[i] != '\n' &&
		    p[i] != '\t') || p[i] == 0x7f)
			return ("a control character in the head");
	}
	return (NULL);
}

static const char *
read_field(const char *p, size_t n, struct head *h)
{
	struct head_field *f;
	size_t i;

	if (is_blank(p[0]))
		return ("a folded line in the head");
	for (i = 0; i < n && is_token((unsigned char)p[i]); i++)
		;
	if (i == 0 || i == n || p[i] != ':')
		return ("a field's name is malformed");
	if (h->nfields == HEAD_FIELDS_MAX)
		return ("the head has more than 128 fields");
	f = &h->fields[h->nfields++];
	f->name = (struct span){ p, i };
	f->value = trimmed(p + i + 1, n - i - 1);
	return (NULL);
}

/* The lines of a whole head, size bytes with the empty line. */
static enum head_result
read_lines(const char *p, size_t size, struct head *h, struct head_bad *b)
{
	const char *end = p + size - 2, *line = p, *stop, *why;

	h->nfields = 0;
	for (line = p; line < end; line = stop + 2) {
		stop = memmem(line, (size_t)(end - line), "\r\n", 2);
		if (line == p) {
			h->first = (struct span){ line,
			    (size_t)(stop - line) };
			continue;
		}
		why = read_field(line, (size_t)(stop - line), h);
		if (why != NULL)
			return (head_refuse(b, h->nfields == HEAD_FIELDS_MAX ?
			    REFUSE_TOO_LARGE : REFUSE_BAD_REQUEST, why));
	}
	if (h->first.n == 0 || is_blank(h->first.p[0]))
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "the head has no first line"));
	return (HEAD_OK);
}

enum head_result
head_read(const uint8_t *p, size_t size, size_t *scanned, struct head *h,
    size_t *used, struct head_bad *b)
{
	size_t from = *scanned > 0 ? *scanned - 1 : 0, end, n;
	const char *why;

	end = find_end(p, size, scanned);
	n = end > 0 ? end : size;
	if (n > HEAD_MAX)
		n = HEAD_MAX;
	if ((why = stray(p, n, from)) != NULL)
		return (head_refuse(b, REFUSE_BAD_REQUEST, why));
	if (end > HEAD_MAX || (end == 0 && size >= HEAD_MAX)) {
		(void)head_refuse(b, REFUSE_TOO_LARGE, "");
		(void)snprintf(b->detail, sizeof(b->detail),
		    "the head is over %d bytes", HEAD_MAX);
		return (HEAD_BAD);
	}
	if (end == 0)
		return (HEAD_MORE);
	*used = end;
	return (read_lines((const char *)p, end, h, b));
}

int
head_one(const struct head *h, const char *name, struct span *value)
{
	size_t i;
	int n = 0;

	for (i = 0; i < h->nfields; i++)
		if (span_is(h->fields[i].name, name)) {
			*value = h->fields[i].value;
			n++;
		}
	return (n > 1 ? -1 : n);
}

/* The next word of a list with commas; 0 at its end. */
static int
next_word(struct span *list, struct span *word)
{
	size_t n;

	if (list->n == 0)
		return (0);
	for (n = 0; n < list->n && list->p[n] != ','; n++)
		;
	*word = trimmed(list->p, n);
	if (n < list->n)
		n++;
	list->p += n;
	list->n -= n;
	return (1);
}

static int
list_has(struct span list, struct span what)
{
	struct span word;

	while (next_word(&list, &word))
		if (word.n == what.n && strncasecmp(word.p, what.p,
		    what.n) == 0)
			return (1);
	return (0);
}

static int
connection_has(const struct head *h, struct span what)
{
	size_t i;

	for (i = 0; i < h->nfields; i++)
		if ((span_is(h->fields[i].name, "Connection") ||
		    span_is(h->fields[i].name, "Proxy-Connection")) &&
		    list_has(h->fields[i].value, what))
			return (1);
	return (0);
}

int
head_connection(const struct head *h, const char *word)
{
	return (connection_has(h, (struct span){ word, strlen(word) }));
}

int
head_hides(const struct head *h)
{
	return (head_connection(h, "Host") ||
	    head_connection(h, "Content-Length") ||
	    head_connection(h, "Transfer-Encoding"));
}

int
head_hop(const struct head *h, const struct head_field *f)
{
	static const char *const hops[] = {
		"Connection", "HTTP2-Settings", "Keep-Alive", "TE", "Trailer",
		"Transfer-Encoding", "Upgrade"
	};
	size_t i;

	for (i = 0; i < sizeof(hops) / sizeof(hops[0]); i++)
		if (span_is(f->name, hops[i]))
			return (1);
	if (f->name.n > 6 && strncasecmp(f->name.p, "Proxy-", 6) == 0)
		return (1);
	return (connection_has(h, f->name));
}

static int
read_length(struct span s, uint64_t *length)
{
	uint64_t value = 0;
	size_t i;

	/* 18 digits don't overflow, nor does any sum of two of them. */
	if (s.n == 0 || s.n > 18)
		return (-1);
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return (-1);
		value = value * 10 + (uint64_t)(s.p[i] - '0');
	}
	*length = value;
	return (0);
}

int
head_framing(const struct head *h, int minor, enum framing *framing,
    uint64_t *length, struct head_bad *b)
{
	struct span coding, size;
	int codings = head_one(h, "Transfer-Encoding", &coding);
	int sizes = head_one(h, "Content-Length", &size);
	const char *why = NULL;

	*framing = FRAME_NONE;
	*length = 0;
	if (codings != 0 && sizes != 0)
		why = "Content-Length beside Transfer-Encoding";
	else if (codings == -1 || (codings == 1 &&
	    !span_is(coding, "chunked")))
		why = "Transfer-Encoding is not \"chunked\" alone";
	else if (codings == 1 && minor == 0)
		why = "Transfer-Encoding in HTTP/1.0";
	else if (sizes == -1)
		why = "Content-Length is there twice";
	else if (sizes == 1 && read_length(size, length) == -1)
		why = "Content-Length is no decimal number of 18 digits";
	if (why != NULL) {
		(void)head_refuse(b, REFUSE_FRAMING, why);
		return (-1);
	}
	if (codings == 1)
		*framing = FRAME_CHUNKED;
	else if (sizes == 1)
		*framing = FRAME_LENGTH;
	return (0);
}
