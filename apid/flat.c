/*
 * Plain JSON, read where it lies.
 */
#include <string.h>

#include "flat.h"

static const char *skip_value(const char *, const char *, unsigned);

/* Each returns what is behind it, or NULL if it is not one. */

static const char *
skip_string(const char *p, const char *end)
{
	if (p == end || *p != '"')
		return (NULL);
	for (p++; p < end && *p != '"'; p++)
		if (*p < ' ' || *p > '~' || *p == '\\')
			return (NULL);
	return (p < end ? p + 1 : NULL);
}

static const char *
skip_digits(const char *p, const char *end)
{
	const char *first = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return (p > first ? p : NULL);
}

/* Integers alone: fractions and exponents are not of our making. */
static const char *
skip_number(const char *p, const char *end)
{
	const char *first;

	if (p < end && *p == '-')
		p++;
	first = p;
	if ((p = skip_digits(p, end)) == NULL || p - first > 18 ||
	    (*first == '0' && p - first > 1))
		return (NULL);
	return (p < end && (*p == '.' || *p == 'e' || *p == 'E') ? NULL : p);
}

static const char *
skip_word(const char *p, const char *end)
{
	static const char *const words[] = { "null", "true", "false" };
	size_t i, n;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		n = strlen(words[i]);
		if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0)
			return (p + n);
	}
	return (NULL);
}

static const char *
skip_name(const char *p, const char *end)
{
	p = skip_string(p, end);
	return (p != NULL && p < end && *p == ':' ? p + 1 : NULL);
}

/* From an opening brace or bracket to the closing one. */
static const char *
skip_nest(const char *p, const char *end, unsigned depth)
{
	const char close = *p == '{' ? '}' : ']';

	if (depth == FLAT_DEPTH || ++p == end)
		return (NULL);
	if (*p == close)
		return (p + 1);
	for (;;) {
		if (close == '}' && (p = skip_name(p, end)) == NULL)
			return (NULL);
		if ((p = skip_value(p, end, depth + 1)) == NULL || p == end)
			return (NULL);
		if (*p == close)
			return (p + 1);
		if (*p++ != ',')
			return (NULL);
	}
}

static const char *
skip_value(const char *p, const char *end, unsigned depth)
{
	if (p == end)
		return (NULL);
	switch (*p) {
	case '{':
	case '[':
		return (skip_nest(p, end, depth));
	case '"':
		return (skip_string(p, end));
	case 'n':
	case 't':
	case 'f':
		return (skip_word(p, end));
	default:
		return (skip_number(p, end));
	}
}

int
flat_ok(const char *json, size_t n)
{
	return (n > 0 && *json == '{' &&
	    skip_value(json, json + n, 0) == json + n);
}

const char *
flat_member(const char *json, size_t n, const char *name, size_t *size)
{
	const char *p = json + 1, *end = json + n, *value;
	size_t length = strlen(name);

	while (p < end && *p == '"') {
		if ((value = skip_name(p, end)) == NULL)
			break;
		/* two quotes and a colon are around it */
		if ((size_t)(value - p) == length + 3 &&
		    memcmp(p + 1, name, length) == 0) {
			p = skip_value(value, end, 1);
			if (p == NULL)
				break;
			*size = (size_t)(p - value);
			return (value);
		}
		if ((p = skip_value(value, end, 1)) == NULL || p == end ||
		    *p++ != ',')
			break;
	}
	return (NULL);
}

/* Takes what stands between a and b if it is one of the names. */
static void
take_value(const char *name, size_t length, const char *a, const char *b,
    const char *const *names, struct flat_value *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (values[i].p == NULL && strncmp(names[i], name, length) ==
		    0 && names[i][length] == '\0') {
			values[i].p = a;
			values[i].n = (size_t)(b - a);
			break;
		}
	}
}

int
flat_read(const char *json, size_t n, const char *const *names,
    struct flat_value *values, size_t count)
{
	const char *p = json + 1, *end = json + n, *value, *next;

	memset(values, 0, count * sizeof(*values));
	if (n < 2 || *json != '{')
		return (-1);
	if (*p == '}')
		return (n == 2 ? 0 : -1);
	for (;; p++) {
		if ((value = skip_name(p, end)) == NULL ||
		    (next = skip_value(value, end, 1)) == NULL || next == end)
			return (-1);
		/* two quotes and a colon are around it */
		take_value(p + 1, (size_t)(value - p) - 3, value, next, names,
		    values, count);
		p = next;
		if (*p == '}')
			return (p + 1 == end ? 0 : -1);
		if (*p != ',')
			return (-1);
	}
}

void
flat_string(const char *json, size_t n, const char *name, char *dst,
    size_t size)
{
	size_t length;
	const char *v = flat_member(json, n, name, &length);

	*dst = '\0';
	if (v == NULL || *v != '"')
		return;
	length -= 2;
	if (length > size - 1)
		length = size - 1;
	memcpy(dst, v + 1, length);
	dst[length] = '\0';
}
