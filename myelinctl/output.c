/*
 * Decoding call.output.
 */
#include <stdint.h>
#include <string.h>

#include "output.h"

struct cursor {
	char	*p;
	char	*end;
};

static void
blanks(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' ||
	    *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static int
expect(struct cursor *c, char what)
{
	blanks(c);
	if (c->p == c->end || *c->p != what)
		return (-1);
	c->p++;
	return (0);
}

/* ---- strings ---- */

static int
hex4(const char *p, uint32_t *value)
{
	int i;

	*value = 0;
	for (i = 0; i < 4; i++) {
		uint32_t digit;

		if (p[i] >= '0' && p[i] <= '9')
			digit = (uint32_t)(p[i] - '0');
		else if (p[i] >= 'a' && p[i] <= 'f')
			digit = (uint32_t)(p[i] - 'a' + 10);
		else if (p[i] >= 'A' && p[i] <= 'F')
			digit = (uint32_t)(p[i] - 'A' + 10);
		else
			return (-1);
		*value = *value << 4 | digit;
	}
	return (0);
}

static char *
put_utf8(char *w, uint32_t c)
{
	if (c < 0x80) {
		*w++ = (char)c;
		return (w);
	}
	if (c < 0x800) {
		*w++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*w++ = (char)(0xe0 | c >> 12);
		} else {
			*w++ = (char)(0xf0 | c >> 18);
			*w++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*w++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*w++ = (char)(0x80 | (c & 0x3f));
	return (w);
}

/* After "\u": one character, or two halves of one.  An escape is longer than
 * what it stands for, so writing never overtakes reading. */
static int
unicode(struct cursor *c, char **w)
{
	uint32_t high, low;

	if (c->end - c->p < 4 || hex4(c->p, &high) == -1)
		return (-1);
	c->p += 4;
	if (high >= 0xdc00 && high <= 0xdfff)
		return (-1);
	if (high >= 0xd800 && high <= 0xdbff) {
		if (c->end - c->p < 6 || c->p[0] != '\\' || c->p[1] != 'u' ||
		    hex4(c->p + 2, &low) == -1 || low < 0xdc00 || low > 0xdfff)
			return (-1);
		c->p += 6;
		high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	*w = put_utf8(*w, high);
	return (0);
}

static int
escape(struct cursor *c, char **w)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (c->p == c->end)
		return (-1);
	if (*c->p == 'u') {
		c->p++;
		return (unicode(c, w));
	}
	if (*c->p == '\0' || (at = strchr(from, *c->p)) == NULL)
		return (-1);
	*(*w)++ = to[at - from];
	c->p++;
	return (0);
}

/* A string, unescaped where it lies. */
static int
string(struct cursor *c, char **start, size_t *len)
{
	char *w, *run;

	if (expect(c, '"') == -1)
		return (-1);
	*start = w = c->p;
	for (;;) {
		run = c->p;
		while (c->p < c->end && *c->p != '"' && *c->p != '\\' &&
		    (unsigned char)*c->p >= ' ')
			c->p++;
		if (w != run)
			memmove(w, run, (size_t)(c->p - run));
		w += c->p - run;
		if (c->p == c->end)
			return (-1);
		if (*c->p == '"')
			break;
		if (*c->p++ != '\\' || escape(c, &w) == -1)
			return (-1);
	}
	c->p++;
	*len = (size_t)(w - *start);
	return (0);
}

/* A number or a word: skipped. */
static int
skip_scalar(struct cursor *c)
{
	char *start = c->p;

	while (c->p < c->end && *c->p != '\0' &&
	    strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *c->p) != NULL)
		c->p++;
	return (c->p == start ? -1 : 0);
}

/* ---- base64 ---- */

#define NO_DIGIT	64

static unsigned char sextets[256];

static void
make_sextets(void)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned char i;

	memset(sextets, NO_DIGIT, sizeof(sextets));
	for (i = 0; i < 64; i++)
		sextets[(unsigned char)digits[i]] = i;
}

/* A group of two to four digits; -1 if one is none. */
static int
group(const unsigned char *p, size_t n, char *w)
{
	unsigned char a = sextets[p[0]], b = sextets[p[1]];
	unsigned char c = n > 2 ? sextets[p[2]] : 0;
	unsigned char d = n > 3 ? sextets[p[3]] : 0;

	if ((a | b | c | d) & NO_DIGIT)
		return (-1);
	w[0] = (char)(a << 2 | b >> 4);
	if (n > 2)
		w[1] = (char)(b << 4 | c >> 2);
	if (n > 3)
		w[2] = (char)(c << 6 | d);
	return (0);
}

long long
base64_decode(char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t full = len, n = 0;

	if (sextets[0] == 0)
		make_sextets();
	if (len % 4 != 0)
		return (-1);
	while (full > 0 && len - full < 2 && text[full - 1] == '=')
		full--;
	/* Three bytes are written where four were read: never ahead. */
	for (; full > 0; p += 4, n += 3, full -= 4) {
		if (group(p, full < 4 ? full : 4, text + n) == -1)
			return (-1);
		if (full < 4)
			return ((long long)(n + full - 1));
	}
	return ((long long)n);
}

/* ---- the object ---- */

static int
is(const char *p, size_t len, const char *word)
{
	return (len == strlen(word) && memcmp(p, word, len) == 0);
}

struct members {
	char	*data;
	size_t	 data_len;
	char	*stream;
	size_t	 stream_len;
	char	*encoding;
	size_t	 encoding_len;
};

static int
member(struct cursor *c, struct members *m)
{
	char *key, *value;
	size_t klen, len;

	if (string(c, &key, &klen) == -1 || expect(c, ':') == -1)
		return (-1);
	blanks(c);
	if (c->p == c->end || *c->p != '"')
		return (skip_scalar(c));
	if (string(c, &value, &len) == -1)
		return (-1);
	if (is(key, klen, "data")) {
		m->data = value;
		m->data_len = len;
	} else if (is(key, klen, "stream")) {
		m->stream = value;
		m->stream_len = len;
	} else if (is(key, klen, "encoding")) {
		m->encoding = value;
		m->encoding_len = len;
	}
	return (0);
}

static int
finish(const struct members *m, struct output *out)
{
	long long n;

	if (m->data == NULL || m->stream == NULL)
		return (-1);
	if (is(m->stream, m->stream_len, "stdout"))
		out->stream = 1;
	else if (is(m->stream, m->stream_len, "stderr"))
		out->stream = 2;
	else
		return (-1);
	out->bytes = m->data;
	out->len = m->data_len;
	if (m->encoding != NULL && is(m->encoding, m->encoding_len,
	    "base64")) {
		if ((n = base64_decode(m->data, m->data_len)) == -1)
			return (-1);
		out->len = (size_t)n;
	}
	return (0);
}

int
output_decode(char *text, size_t len, struct output *out)
{
	struct cursor c = { text, text + len };
	struct members m = { NULL, 0, NULL, 0, NULL, 0 };

	if (expect(&c, '{') == -1)
		return (-1);
	blanks(&c);
	if (c.p < c.end && *c.p == '}')
		return (-1);
	do {
		if (member(&c, &m) == -1)
			return (-1);
	} while (expect(&c, ',') == 0);
	if (expect(&c, '}') == -1)
		return (-1);
	blanks(&c);
	if (c.p != c.end)
		return (-1);
	return (finish(&m, out));
}
