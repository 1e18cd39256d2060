/*
 * Terminal noise: the text cut anywhere against all of it, byte by byte
 * against at once, and a naive reading of lines that have no sequences.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strip.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static size_t
run(const uint8_t *p, size_t size, uint8_t *out, const uint8_t *cuts,
    size_t ncuts)
{
	struct strip *s = strip_new();
	size_t at = 0, n, m = 0, i;

	for (i = 0; at < size; i++) {
		n = ncuts > 0 ? 1 + (size_t)cuts[i % ncuts] : size;
		n = n < size - at ? n : size - at;
		m += strip_feed(s, out + m, p + at, n);
		at += n;
	}
	m += strip_end(s, out + m);
	strip_free(s);
	return (m);
}

/* Line by line: what stands behind the last CR that text follows. */
static size_t
naive(const uint8_t *p, size_t size, uint8_t *out)
{
	size_t m = 0, start, end, i, last;

	for (start = 0; start < size; start = end + 1) {
		for (end = start; end < size && p[end] != '\n'; end++)
			;
		/* CRs at the end overwrite nothing. */
		for (last = end; last > start && p[last - 1] == '\r'; last--)
			;
		for (i = last; i > start && p[i - 1] != '\r'; i--)
			;
		memcpy(out + m, p + i, last - i);
		m += last - i;
		if (end < size)
			out[m++] = '\n';
	}
	return (m);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t one[] = { 0 };
	uint8_t *a, *b;
	size_t n, m;

	if (size < 4 || size > 256 * 1024)
		return (0);
	a = malloc(size + STRIP_LINE);
	b = malloc(size + STRIP_LINE);
	n = run(data + 4, size - 4, a, NULL, 0);
	m = run(data + 4, size - 4, b, data, 4);
	if (n != m || memcmp(a, b, n) != 0)
		abort();
	m = run(data + 4, size - 4, b, one, 1);
	if (n != m || memcmp(a, b, n) != 0 || n > size - 4 ||
	    memchr(a, '\r', n) != NULL || memchr(a, 0x1b, n) != NULL)
		abort();
	if (size < STRIP_LINE && memchr(data + 4, 0x1b, size - 4) == NULL &&
	    memchr(data + 4, 0x07, size - 4) == NULL &&
	    memchr(data + 4, '\b', size - 4) == NULL) {
		m = naive(data + 4, size - 4, b);
		if (n != m || memcmp(a, b, n) != 0)
			abort();
	}
	free(a);
	free(b);
	return (0);
}
