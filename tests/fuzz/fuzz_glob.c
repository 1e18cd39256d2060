/*
 * Any pattern against any name, against a matcher that tries everything; and
 * any bytes as a .gitignore.
 *
 * Input: the pattern up to a NUL, then the name, of which a NUL may follow
 * with the text of rules.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "find_ignore.h"
#include "globs.h"

#define SIZE	2048
#define TRIED	24		/* bytes, for what tries everything */

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* Stars, ?, and letters alone: the definition. */
static int
naive(const char *p, size_t n, const char *s, size_t len)
{
	if (n == 0)
		return (len == 0);
	if (*p == '*')
		return (naive(p + 1, n - 1, s, len) || (len > 0 &&
		    *s != '/' && naive(p, n, s + 1, len - 1)));
	return (len > 0 && (*p == *s || (*p == '?' && *s != '/')) &&
	    naive(p + 1, n - 1, s + 1, len - 1));
}

/* 1 if the naive matcher knows all that is in both. */
static int
simple(const char *p, size_t n, const char *s, size_t len)
{
	size_t i, stars = 0;

	for (i = 0; i < n; i++) {
		if ((unsigned char)p[i] >= 0x80 || strchr("[]{}\\", p[i]) !=
		    NULL || (i > 0 && p[i] == '*' && p[i - 1] == '*'))
			return (0);
		stars += p[i] == '*';
	}
	for (i = 0; i < len; i++) {
		if ((unsigned char)s[i] >= 0x80)
			return (0);
	}
	return (n <= TRIED && len <= TRIED && stars <= 4);
}

static void
globs(const char *p, size_t n, const char *s, size_t len)
{
	const char *why;
	struct glob *g = glob_make(p, n, 0, &why);
	int match;

	if (g == NULL)
		abort();
	match = glob_match(g, s, len);
	if (simple(p, n, s, len) && match != naive(p, n, s, len))
		abort();
	glob_free(g);
	if ((g = glob_make(p, n, GLOB_BRACES, &why)) != NULL)
		(void)glob_match(g, s, len);
	glob_free(g);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *pattern = (const char *)data, *name, *rules;
	struct ignore *ignore = NULL;
	size_t n, len, base;

	if (size > SIZE || (name = memchr(pattern, '\0', size)) == NULL)
		return (0);
	n = (size_t)(name - pattern);
	name++;
	size -= n + 1;
	rules = memchr(name, '\0', size);
	len = rules == NULL ? size : (size_t)(rules - name);
	globs(pattern, n, name, len);
	if (rules != NULL &&
	    ignore_add(&ignore, rules + 1, size - len - 1) == 0) {
		for (base = len; base > 0 && name[base - 1] != '/'; base--)
			;
		(void)ignore_match(ignore, name, len, base, 0);
		(void)ignore_match(ignore, name, len, base, 1);
	}
	ignore_free(ignore);
	return (0);
}
