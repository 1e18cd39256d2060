/*
 * Patterns of the shell: *, ?, [...] and \c.  Two pointers, no recursion:
 * at most pattern times text.
 */
#include <string.h>

#include "pattern.h"

/*
 * The bracket expression at p, which is behind "[": whether it holds c, and
 * where it ends.  NULL if there is no "]": then "[" is itself.
 */
static const char *
bracket(const char *p, const char *end, unsigned char c, int *holds)
{
	const char *first;
	unsigned char low, high;
	int negated = 0, found = 0;

	if (p < end && (*p == '!' || *p == '^')) {
		negated = 1;
		p++;
	}
	for (first = p; p < end && (*p != ']' || p == first); p++) {
		if (*p == '[' && p + 1 < end && p[1] == ':') {
			/* A class: which characters does not matter enough
			 * to list them; it may be any. */
			const char *close = p + 2;

			while (close + 1 < end &&
			    !(close[0] == ':' && close[1] == ']'))
				close++;
			if (close + 1 < end) {
				found = 1;
				p = close + 1;
				continue;
			}
		}
		if (*p == '\\' && p + 1 < end)
			p++;
		low = high = (unsigned char)*p;
		if (p + 2 < end && p[1] == '-' && p[2] != ']') {
			high = (unsigned char)p[2];
			p += 2;
		}
		if (c >= low && c <= high)
			found = 1;
	}
	if (p >= end)
		return (NULL);
	*holds = found != negated;
	return (p + 1);
}

/* One step of the pattern against one character; NULL: it doesn't fit. */
static const char *
step(const char *p, const char *end, unsigned char c)
{
	const char *after;
	int holds = 0;

	switch (*p) {
	case '?':
		return (p + 1);
	case '[':
		after = bracket(p + 1, end, c, &holds);
		if (after != NULL)
			return (holds ? after : NULL);
		break;
	case '\\':
		if (p + 1 < end)
			p++;
		break;
	}
	return ((unsigned char)*p == c ? p + 1 : NULL);
}

int
pattern_match(const char *p, size_t plen, const char *s, size_t slen)
{
	const char *pend = p + plen, *send = s + slen, *next;
	const char *star = NULL, *back = NULL;

	while (s < send) {
		if (p < pend && *p == '*') {
			star = ++p;
			back = s;
			continue;
		}
		next = p < pend ? step(p, pend, (unsigned char)*s) : NULL;
		if (next != NULL) {
			p = next;
			s++;
		} else if (star != NULL) {
			p = star;
			s = ++back;
		} else
			return (0);
	}
	while (p < pend && *p == '*')
		p++;
	return (p == pend);
}

int
shell_match(const char *pattern, const char *text)
{
	return (pattern_match(pattern, strlen(pattern), text, strlen(text)));
}

int
pattern_is(const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (s[i] == '*' || s[i] == '?' || s[i] == '[')
			return (1);
	return (0);
}
