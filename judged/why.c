/*
 * Sentences about what was wrong.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "why.h"

#define NAME_SHOWN	64

/* Drops a UTF-8 character that was cut at the end. */
static void
mend_end(char *text)
{
	size_t n = 0, need, len = strlen(text);
	unsigned char c;

	while (n < 4 && n < len) {
		c = (unsigned char)text[len - 1 - n++];
		if (c < 0x80)
			return;
		if (c >= 0xc0) {
			need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
			if (n < need)
				text[len - n] = '\0';
			return;
		}
	}
}

static void add(struct why *, size_t, const char *, va_list)
    __attribute__((__format__(__printf__, 3, 0)));

static void
add(struct why *why, size_t at, const char *fmt, va_list ap)
{
	size_t room = sizeof(why->text) - at;
	int n;

	n = vsnprintf(why->text + at, room, fmt, ap);
	if (n < 0)
		why->text[at] = '\0';
	else if ((size_t)n >= room)
		mend_end(why->text);
}

void
why_set(struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(why, 0, fmt, ap);
	va_end(ap);
}

void
why_add(struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(why, strlen(why->text), fmt, ap);
	va_end(ap);
}

const char *
why_name(const char *name, size_t nlen, char buf[WHY_NAME_SIZE])
{
	size_t i, n = 0, shown = nlen > NAME_SHOWN ? NAME_SHOWN : nlen;

	/* A cut falls between characters. */
	while (shown < nlen && shown > 0 &&
	    ((unsigned char)name[shown] & 0xc0) == 0x80)
		shown--;
	for (i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c < ' ' || c == 0x7f || c == '"' || c == '\\')
			n += (size_t)snprintf(buf + n, 5, "\\x%02x", c);
		else
			buf[n++] = (char)c;
	}
	memcpy(buf + n, shown < nlen ? "..." : "", shown < nlen ? 4 : 1);
	return (buf);
}
