/*
 * The decoder of HTTP/1.1 responses.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "http.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define BODY_MAX	(1ULL << 50)
#define CHUNK_LINE_MAX	64

void
http_init(struct http_response *r, http_body_fn *body, void *arg)
{
	/* The head's room is not cleared: len says what is in it. */
	memset(r, 0, offsetof(struct http_response, head));
	r->body = body;
	r->arg = arg;
	r->state = HTTP_HEAD;
}

int
http_headed(const struct http_response *r)
{
	return (r->state != HTTP_HEAD && r->state != HTTP_BAD);
}

static int
bad(struct http_response *r, const char *why)
{
	r->state = HTTP_BAD;
	r->why = why;
	return (-1);
}

/* ---- the head ---- */

/* Digits only; 0, or -1 if there is another character or too large a number. */
static int
number(const char *s, uint64_t max, uint64_t *value)
{
	*value = 0;
	if (*s == '\0')
		return (-1);
	for (; *s != '\0'; s++) {
		if (!isdigit((unsigned char)*s) || *value > max / 10)
			return (-1);
		*value = *value * 10 + (uint64_t)(*s - '0');
	}
	return (*value > max ? -1 : 0);
}

static int
set_length(struct http_response *r, char *value)
{
	if (r->sized || number(value, BODY_MAX, &r->left) == -1)
		return (bad(r, "a bad Content-Length"));
	r->sized = 1;
	return (0);
}

static int
set_encoding(struct http_response *r, char *value)
{
	if (r->chunked || strcasecmp(value, "chunked") != 0)
		return (bad(r, "a Transfer-Encoding that is not chunked"));
	r->chunked = 1;
	return (0);
}

static int
set_type(struct http_response *r, char *value)
{
	size_t i, len = strcspn(value, "; ");

	if (len >= sizeof(r->type))
		return (bad(r, "a Content-Type that is too long"));
	for (i = 0; i < len; i++)
		r->type[i] = (char)tolower((unsigned char)value[i]);
	r->type[len] = '\0';
	return (0);
}

static int
set_retry(struct http_response *r, char *value)
{
	uint64_t seconds;

	if (number(value, UINT32_MAX, &seconds) == 0)
		r->retry_after = (uint32_t)seconds;
	return (0);
}

static int
set_connection(struct http_response *r, char *value)
{
	if (strcasecmp(value, "close") == 0)
		r->keep_alive = 0;
	return (0);
}

/* One that does not fit is none. */
static int
set_session(struct http_response *r, char *value)
{
	size_t len = strlen(value);

	if (len < sizeof(r->session))
		memcpy(r->session, value, len + 1);
	return (0);
}

static int
set_over(struct http_response *r, char *value)
{
	(void)value;
	r->over = 1;
	return (0);
}

static const struct {
	const char	*name;
	int		(*set)(struct http_response *, char *);
} headers[] = {
	{ "Content-Length",	set_length },
	{ "Transfer-Encoding",	set_encoding },
	{ "Content-Type",	set_type },
	{ "Retry-After",	set_retry },
	{ "Connection",		set_connection },
	{ "Mcp-Session-Id",	set_session },
	{ "Myelin-Session-Ended", set_over },
};

static int
header(struct http_response *r, char *line)
{
	char *colon = strchr(line, ':'), *value, *end;
	size_t i;

	if (colon == NULL || colon == line || *line == ' ' || *line == '\t')
		return (bad(r, "a bad header line"));
	*colon = '\0';
	value = colon + 1 + strspn(colon + 1, " \t");
	end = value + strlen(value);
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	for (i = 0; i < NITEMS(headers); i++) {
		if (strcasecmp(line, headers[i].name) == 0)
			return (headers[i].set(r, value));
	}
	return (0);
}

static int
status_line(struct http_response *r, const char *line)
{
	if (strncmp(line, "HTTP/1.1 ", 9) != 0 ||
	    !isdigit((unsigned char)line[9]) ||
	    !isdigit((unsigned char)line[10]) ||
	    !isdigit((unsigned char)line[11]) ||
	    (line[12] != ' ' && line[12] != '\0'))
		return (bad(r, "no HTTP/1.1 status line"));
	r->status = (line[9] - '0') * 100 + (line[10] - '0') * 10 +
	    (line[11] - '0');
	r->keep_alive = 1;
	return (0);
}

static void
choose_body(struct http_response *r)
{
	if (r->status / 100 == 1) {
		/* An interim answer: the real one follows. */
		http_init(r, r->body, r->arg);
	} else if (r->status == 204 || r->status == 304)
		r->state = HTTP_DONE;
	else if (r->chunked)
		r->state = HTTP_CHUNK_SIZE;
	else if (r->sized)
		r->state = r->left == 0 ? HTTP_DONE : HTTP_FIXED;
	else {
		r->state = HTTP_UNTIL_CLOSE;
		r->keep_alive = 0;
	}
	r->len = 0;
}

/* r->head holds a whole head that ends with an empty line. */
static int
parse_head(struct http_response *r)
{
	char *line = r->head, *end;
	int first = 1;

	if (memchr(r->head, '\0', r->len) != NULL)
		return (bad(r, "a NUL in the head"));
	r->head[r->len - 2] = '\0';
	while (*line != '\0') {
		if ((end = strstr(line, "\r\n")) == NULL)
			return (bad(r, "a line without CRLF"));
		*end = '\0';
		if (strpbrk(line, "\r\n") != NULL)
			return (bad(r, "a bare CR or LF"));
		if ((first ? status_line(r, line) : header(r, line)) == -1)
			return (-1);
		first = 0;
		line = end + 2;
	}
	if (first)
		return (bad(r, "no HTTP/1.1 status line"));
	if (r->chunked && r->sized)
		return (bad(r, "both a length and chunks"));
	choose_body(r);
	return (0);
}

/* ---- pieces ---- */

/*
 * Copies into head up to and with the end mark.  1: it is there; 0: more must
 * come; -1: over max bytes.
 */
static int
collect(struct http_response *r, const uint8_t *p, size_t size, size_t *used,
    const char *mark, size_t max)
{
	size_t mlen = strlen(mark);

	while (*used < size) {
		if (r->len == max)
			return (-1);
		r->head[r->len++] = (char)p[(*used)++];
		if (r->len >= mlen && memcmp(r->head + r->len - mlen, mark,
		    mlen) == 0)
			return (1);
	}
	return (0);
}

static int
feed_head(struct http_response *r, const uint8_t *p, size_t size,
    size_t *used)
{
	int ok;

	ok = collect(r, p, size, used, "\r\n\r\n", HTTP_HEAD_MAX);
	if (ok == -1)
		return (bad(r, "a head of over 16384 bytes"));
	return (ok == 1 ? parse_head(r) : 0);
}

static int
feed_bytes(struct http_response *r, const uint8_t *p, size_t size,
    size_t *used)
{
	size_t n = size - *used;

	if (r->state != HTTP_UNTIL_CLOSE && n > r->left)
		n = (size_t)r->left;
	if (n > 0 && r->body(r->arg, p + *used, n) == -1)
		return (bad(r, "a body that can't be taken"));
	*used += n;
	if (r->state == HTTP_UNTIL_CLOSE)
		return (0);
	if ((r->left -= n) == 0) {
		r->state = r->state == HTTP_FIXED ? HTTP_DONE :
		    HTTP_CHUNK_END;
		r->len = 0;
	}
	return (0);
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (c - 'A' + 10);
	return (-1);
}

static int
feed_chunk_size(struct http_response *r, const uint8_t *p, size_t size,
    size_t *used)
{
	size_t i;
	int ok;

	ok = collect(r, p, size, used, "\r\n", CHUNK_LINE_MAX);
	if (ok != 1)
		return (ok == 0 ? 0 : bad(r, "a chunk size that is too long"));
	r->left = 0;
	for (i = 0; i < r->len - 2 && r->head[i] != ';'; i++) {
		if (hex(r->head[i]) == -1 || r->left > BODY_MAX)
			return (bad(r, "a bad chunk size"));
		r->left = r->left * 16 + (uint64_t)hex(r->head[i]);
	}
	if (i == 0)
		return (bad(r, "a bad chunk size"));
	r->state = r->left == 0 ? HTTP_TRAILER : HTTP_CHUNK;
	r->len = 0;
	return (0);
}

static int
feed_chunk_end(struct http_response *r, const uint8_t *p, size_t size,
    size_t *used)
{
	while (*used < size && r->len < 2) {
		if (p[(*used)++] != (r->len++ == 0 ? '\r' : '\n'))
			return (bad(r, "a chunk without its end"));
	}
	if (r->len == 2) {
		r->state = HTTP_CHUNK_SIZE;
		r->len = 0;
	}
	return (0);
}

static int
feed_trailer(struct http_response *r, const uint8_t *p, size_t size,
    size_t *used)
{
	int ok;

	ok = collect(r, p, size, used, "\r\n", HTTP_HEAD_MAX);
	if (ok == -1)
		return (bad(r, "a trailer of over 16384 bytes"));
	if (ok == 1) {
		if (r->len == 2)
			r->state = HTTP_DONE;
		r->len = 0;
	}
	return (0);
}

static int (*const feeders[])(struct http_response *, const uint8_t *, size_t,
    size_t *) = {
	[HTTP_HEAD] = feed_head,
	[HTTP_FIXED] = feed_bytes,
	[HTTP_UNTIL_CLOSE] = feed_bytes,
	[HTTP_CHUNK_SIZE] = feed_chunk_size,
	[HTTP_CHUNK] = feed_bytes,
	[HTTP_CHUNK_END] = feed_chunk_end,
	[HTTP_TRAILER] = feed_trailer,
};

int
http_feed(struct http_response *r, const uint8_t *p, size_t size,
    size_t *used)
{
	*used = 0;
	while (*used < size && r->state < HTTP_DONE) {
		if (feeders[r->state](r, p, size, used) == -1)
			break;
	}
	if (r->state == HTTP_BAD)
		return (-1);
	return (r->state == HTTP_DONE);
}

int
http_end(struct http_response *r)
{
	if (r->state == HTTP_UNTIL_CLOSE)
		r->state = HTTP_DONE;
	if (r->state == HTTP_DONE)
		return (1);
	return (r->state == HTTP_BAD ? -1 :
	    bad(r, "a connection that ended too early"));
}
