/* JSON written as text. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "util.h"

#define FIRST_SIZE	4096

void
text_clear(struct text *t)
{
	t->len = 0;
}

void
text_free(struct text *t)
{
	free(t->p);
	memset(t, 0, sizeof(*t));
}

/* Room for so many bytes and a NUL. */
static char *
room(struct text *t, size_t len)
{
	size_t size = t->size != 0 ? t->size : FIRST_SIZE;

	while (size - t->len <= len)
		size *= 2;
	if (size != t->size) {
		if ((t->p = realloc(t->p, size)) == NULL)
			fatal("text");
		t->size = size;
	}
	return (t->p + t->len);
}

void
text_bytes(struct text *t, const char *bytes, size_t len)
{
	memcpy(room(t, len), bytes, len);
	t->len += len;
	t->p[t->len] = '\0';
}

/* The comma, where something is before it, and the key. */
static void
begin(struct text *t, const char *key)
{
	size_t n = key != NULL ? strlen(key) : 0;
	char *p = room(t, n + 4), *start = p;

	if (t->len > 0 && p[-1] != '{' && p[-1] != '[')
		*p++ = ',';
	if (key != NULL) {
		*p++ = '"';
		memcpy(p, key, n);
		p += n;
		*p++ = '"';
		*p++ = ':';
	}
	t->len += (size_t)(p - start);
}

static void
value(struct text *t, const char *key, const char *bytes, size_t len)
{
	begin(t, key);
	text_bytes(t, bytes, len);
}

void
text_open(struct text *t, const char *key)
{
	value(t, key, "{", 1);
}

void
text_close(struct text *t)
{
	text_bytes(t, "}", 1);
}

void
text_list(struct text *t, const char *key)
{
	value(t, key, "[", 1);
}

void
text_list_end(struct text *t)
{
	text_bytes(t, "]", 1);
}

/* A backslash and what follows it, 7 bytes at most. */
static char *
escape(char *p, unsigned char c)
{
	static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	size_t i;

	*p++ = '\\';
	for (i = 0; i < sizeof(named) - 1; i += 2) {
		if (named[i] == (char)c) {
			*p++ = named[i + 1];
			return (p);
		}
	}
	return (p + snprintf(p, 6, "u%04X", c));
}

/* Whatever jansson takes for it, which is seldom asked. */
static int
is_utf8(const char *s, size_t n)
{
	json_t *json;
	size_t i;

	for (i = 0; i < n && (unsigned char)s[i] < 0x80; i++)
		;
	if (i == n)
		return (1);
	if ((json = json_stringn(s, n)) == NULL)
		return (0);
	json_decref(json);
	return (1);
}

static void
put_string(struct text *t, const char *key, const char *s)
{
	size_t i, n = strlen(s);
	int utf8 = is_utf8(s, n);
	char *p;

	begin(t, key);
	p = room(t, 6 * n + 2);
	*p++ = '"';
	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= 0x80 && !utf8)
			*p++ = '?';
		else if (c < 0x20 || c == '"' || c == '\\')
			p = escape(p, c);
		else
			*p++ = (char)c;
	}
	*p++ = '"';
	*p = '\0';
	t->len = (size_t)(p - t->p);
}

void
text_string(struct text *t, const char *key, const char *s)
{
	char *copy;

	if (t->clean == NULL) {
		put_string(t, key, s);
		return;
	}
	if ((copy = strdup(s)) == NULL)
		fatal("text");
	t->clean(copy);
	put_string(t, key, copy);
	free(copy);
}

void
text_string_or_null(struct text *t, const char *key, const char *s)
{
	if (s == NULL || *s == '\0')
		text_null(t, key);
	else
		text_string(t, key, s);
}

void
text_word(struct text *t, const char *key, const char *s)
{
	size_t n = strlen(s);
	char *p;

	begin(t, key);
	p = room(t, n + 2);
	*p++ = '"';
	memcpy(p, s, n);
	p += n;
	*p++ = '"';
	*p = '\0';
	t->len += n + 2;
}

void
text_word_or_null(struct text *t, const char *key, const char *s)
{
	if (s == NULL || *s == '\0')
		text_null(t, key);
	else
		text_word(t, key, s);
}

void
text_int(struct text *t, const char *key, int64_t n)
{
	uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
	char digits[24], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + left % 10);
	while ((left /= 10) != 0);
	if (n < 0)
		*--p = '-';
	value(t, key, p, (size_t)(digits + sizeof(digits) - p));
}

void
text_bool(struct text *t, const char *key, int on)
{
	if (on)
		value(t, key, "true", 4);
	else
		value(t, key, "false", 5);
}

void
text_null(struct text *t, const char *key)
{
	value(t, key, "null", 4);
}

void
text_when(struct text *t, const char *key, uint64_t wall)
{
	char buf[TIME_TEXT];

	if (wall == 0)
		text_null(t, key);
	else
		text_word(t, key, time_text(wall, buf));
}

void
text_json(struct text *t, const char *key, const char *json)
{
	value(t, key, json, strlen(json));
}

json_t *
text_tree(const struct text *t)
{
	json_t *json = json_loadb(t->p, t->len, 0, NULL);

	if (json == NULL)
		fatalx("text that is no JSON");
	return (json);
}
