/*
 * Output as JSON text.  All output of all calls passes here: sixteen bytes at
 * a time as long as they are plain, by table where they are not.
 */
#include <string.h>

#include "text.h"

#define BLOCK	16

typedef uint8_t block __attribute__((__vector_size__(BLOCK)));
typedef uint64_t halves __attribute__((__vector_size__(BLOCK)));

/* What each byte becomes, and of how many bytes that is. */
static uint8_t	escaped_size[256];
static char	escaped_text[256][TEXT_SLACK];
/* Two letters of base64 for each twelve bits; the value of each letter. */
static char	base64_pair[4096][2];
static uint8_t	base64_value[256];

static const char base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char hex[] = "0123456789abcdef";

void
text_init(void)
{
	static const char *const letters[] = {
		"\"\"", "\\\\", "\bb", "\ff", "\nn", "\rr", "\tt"
	};
	size_t i;

	for (i = 0; i < 256; i++) {
		escaped_size[i] = i < ' ' ? 6 : 1;
		escaped_text[i][0] = (char)i;
		if (i < ' ')
			memcpy(escaped_text[i], (const char [6]){ '\\', 'u',
			    '0', '0', hex[i >> 4], hex[i & 15] }, 6);
	}
	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		escaped_size[(uint8_t)letters[i][0]] = 2;
		escaped_text[(uint8_t)letters[i][0]][0] = '\\';
		escaped_text[(uint8_t)letters[i][0]][1] = letters[i][1];
	}
	for (i = 0; i < 4096; i++) {
		base64_pair[i][0] = base64_letters[i >> 6];
		base64_pair[i][1] = base64_letters[i & 63];
	}
	memset(base64_value, 0xff, sizeof(base64_value));
	for (i = 0; i < 64; i++)
		base64_value[(uint8_t)base64_letters[i]] = (uint8_t)i;
}

static inline int
any(block mask)
{
	halves h = (halves)mask;

	return ((h[0] | h[1]) != 0);
}

/* Bytes that must be escaped, as a mask. */
static inline block
special(block b)
{
	return ((block)(b < 0x20) | (block)(b == '"') | (block)(b == '\\'));
}

static inline block
load(const uint8_t *p)
{
	block b;

	memcpy(&b, p, sizeof(b));
	return (b);
}

/*
 * The length of the UTF-8 character at p; 0 if there is none, and -1 if the
 * bytes end before it does.
 */
static int
utf8_length(const uint8_t *p, size_t left)
{
	uint8_t c = p[0], low = 0x80, high = 0xbf;
	int n, i;

	if (c < 0x80)
		return (1);
	if (c >= 0xc2 && c <= 0xdf)
		n = 2;
	else if (c >= 0xe0 && c <= 0xef)
		n = 3;
	else if (c >= 0xf0 && c <= 0xf4)
		n = 4;
	else
		return (0);
	/* Overlong forms, surrogates, beyond U+10FFFF: by the second byte. */
	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	for (i = 1; i < n; i++) {
		if ((size_t)i >= left)
			return (-1);
		if (p[i] < low || p[i] > high)
			return (0);
		low = 0x80;
		high = 0xbf;
	}
	return (n);
}

void
text_scan(const uint8_t *p, size_t size, struct text_scan *scan)
{
	const uint8_t *end = p + size;
	size_t escaped = 0;
	block b;
	int n;

	scan->valid = 1;
	scan->tail = 0;
	while (p < end) {
		if (end - p >= BLOCK) {
			b = load(p);
			if (!any(special(b) | (block)(b >= 0x80))) {
				escaped += BLOCK;
				p += BLOCK;
				continue;
			}
		}
		/* Up to the next block, or a little further. */
		for (n = 0; n < BLOCK && p < end && *p < 0x80; n++)
			escaped += escaped_size[*p++];
		for (; n < BLOCK && p < end && *p >= 0x80;) {
			int length = utf8_length(p, (size_t)(end - p));

			if (length == -1) {
				scan->tail = (size_t)(end - p);
				escaped += scan->tail;
				p = end;
				break;
			}
			if (length == 0) {
				scan->valid = 0;
				escaped++;
				p++;
				n++;
				continue;
			}
			escaped += (size_t)length;
			p += length;
			n += length;
		}
	}
	scan->escaped = escaped;
}

void
text_begin(struct text_state *t)
{
	memset(t, 0, sizeof(*t));
	t->valid = 1;
}

void
text_feed(struct text_state *t, const uint8_t *p, size_t size)
{
	struct text_scan scan;
	int n;

	while (t->npart > 0 && size > 0) {
		t->part[t->npart++] = *p++;
		size--;
		if ((n = utf8_length(t->part, t->npart)) == -1)
			continue;
		if (n == 0)
			t->valid = 0;
		t->escaped += t->npart;
		t->npart = 0;
	}
	if (size == 0)
		return;
	text_scan(p, size, &scan);
	t->valid = t->valid && scan.valid;
	t->escaped += scan.escaped - scan.tail;
	memcpy(t->part, p + size - scan.tail, scan.tail);
	t->npart = scan.tail;
}

/* Writes eight bytes whatever the size: a table is faster than a choice. */
static inline char *
escape_byte(char *dst, uint8_t c)
{
	memcpy(dst, escaped_text[c], TEXT_SLACK);
	return (dst + escaped_size[c]);
}

char *
text_escape(char *dst, const uint8_t *p, size_t size)
{
	const uint8_t *end = p + size;
	block b;
	int i;

	while (end - p >= BLOCK) {
		b = load(p);
		if (!any(special(b))) {
			memcpy(dst, &b, sizeof(b));
			dst += BLOCK;
			p += BLOCK;
			continue;
		}
		for (i = 0; i < BLOCK; i++)
			dst = escape_byte(dst, *p++);
	}
	while (p < end)
		dst = escape_byte(dst, *p++);
	return (dst);
}

size_t
text_continuation(const uint8_t *p, size_t size)
{
	size_t n = 0;

	while (n < size && n < 3 && (p[n] & 0xc0) == 0x80)
		n++;
	return (n);
}

size_t
base64_size(size_t n)
{
	return ((n + 2) / 3 * 4);
}

char *
base64_write(char *dst, const uint8_t *p, size_t size)
{
	uint32_t v;

	for (; size >= 3; size -= 3, p += 3, dst += 4) {
		v = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
		memcpy(dst, base64_pair[v >> 12], 2);
		memcpy(dst + 2, base64_pair[v & 4095], 2);
	}
	if (size == 0)
		return (dst);
	v = (uint32_t)p[0] << 16;
	if (size == 2)
		v |= (uint32_t)p[1] << 8;
	memcpy(dst, base64_pair[v >> 12], 2);
	memcpy(dst + 2, base64_pair[v & 4095], 2);
	dst[3] = '=';
	if (size == 1)
		dst[2] = '=';
	return (dst + 4);
}

char *
base64_feed(struct base64_state *b, char *dst, const uint8_t *p, size_t size)
{
	size_t whole;

	while (b->npart > 0 && size > 0) {
		b->part[b->npart++] = *p++;
		size--;
		if (b->npart == 3) {
			dst = base64_write(dst, b->part, 3);
			b->npart = 0;
		}
	}
	whole = size / 3 * 3;
	dst = base64_write(dst, p, whole);
	for (p += whole; whole < size; whole++)
		b->part[b->npart++] = *p++;
	return (dst);
}

char *
base64_end(struct base64_state *b, char *dst)
{
	dst = base64_write(dst, b->part, b->npart);
	b->npart = 0;
	return (dst);
}

int
base64_read(uint8_t *dst, const char *text, size_t size, size_t *used)
{
	const uint8_t *p = (const uint8_t *)text;
	const uint8_t *start = dst;
	uint32_t v;
	size_t i, j, pad = 0;

	if (size % 4 != 0)
		return (-1);
	if (size > 0 && p[size - 1] == '=')
		pad = p[size - 2] == '=' ? 2 : 1;
	for (i = 0; i < size; i += 4) {
		for (v = 0, j = 0; j < 4; j++) {
			uint8_t six = base64_value[p[i + j]];

			if (i + j >= size - pad)
				six = 0;
			if (six == 0xff)
				return (-1);
			v = v << 6 | six;
		}
		*dst++ = (uint8_t)(v >> 16);
		*dst++ = (uint8_t)(v >> 8);
		*dst++ = (uint8_t)v;
	}
	/* Bits that the padding cuts off must be none. */
	for (i = 1; i <= pad; i++)
		if (dst[-(ptrdiff_t)i] != 0)
			return (-1);
	*used = (size_t)(dst - start) - pad;
	return (0);
}
