/*
 * $'...': quotes with the escapes of C.
 */
#include <string.h>

#include "escape.h"
#include "parse_internal.h"

static int
hex(int c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (c - 'A' + 10);
	return (-1);
}

/* Up to max digits of a base; how many were there. */
static size_t
number(const char *s, size_t len, size_t max, int base, uint32_t *value)
{
	size_t n;
	int d;

	*value = 0;
	for (n = 0; n < max && n < len; n++) {
		d = hex((unsigned char)s[n]);
		if (d < 0 || d >= base)
			break;
		*value = *value * (uint32_t)base + (uint32_t)d;
	}
	return (n);
}

size_t
utf8_encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return (1);
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | (c >> 6));
		out[1] = (char)(0x80 | (c & 0x3f));
		return (2);
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | (c >> 12));
		out[1] = (char)(0x80 | ((c >> 6) & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return (3);
	}
	out[0] = (char)(0xf0 | ((c >> 18) & 0x07));
	out[1] = (char)(0x80 | ((c >> 12) & 0x3f));
	out[2] = (char)(0x80 | ((c >> 6) & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return (4);
}

/* \c for one letter; 0 if it has no such meaning. */
static int
simple(int c)
{
	static const char from[] = "abeEfnrtv\\'\"?";
	static const char to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	const char *at = c == 0 ? NULL : strchr(from, c);

	return (at == NULL ? 0 : to[at - from]);
}

size_t
escape_decode(const char *s, size_t len, unsigned how, char out[4],
    size_t *outlen)
{
	size_t n, digits;
	uint32_t v;
	int c = len == 0 ? 0 : (unsigned char)s[0];

	*outlen = 1;
	if (c != 0 && (n = (size_t)simple(c)) != 0 &&
	    !((c == '\'' || c == '"' || c == '?') && (how & ESCAPE_ECHO)) &&
	    !((c == 'e' || c == 'E') && (how & ESCAPE_DASH))) {
		out[0] = (char)n;
		return (1);
	}
	if (c == 'x' && !(how & ESCAPE_DASH)) {
		if ((n = number(s + 1, len - 1, 2, 16, &v)) > 0) {
			out[0] = (char)v;
			return (n + 1);
		}
	} else if ((c == 'u' || c == 'U') && !(how & ESCAPE_DASH)) {
		n = number(s + 1, len - 1, c == 'u' ? 4 : 8, 16, &v);
		if (n > 0) {
			*outlen = utf8_encode(v, out);
			return (n + 1);
		}
	} else if (c >= '0' && c <= '7') {
		/* echo and %b want \0nnn, and dash takes both. */
		digits = (how & ESCAPE_ZERO) && c == '0' ? 4 : 3;
		if (!(how & ESCAPE_ECHO) || (how & ESCAPE_OCTAL) ||
		    c == '0') {
			n = number(s, len, digits, 8, &v);
			out[0] = (char)v;
			return (n);
		}
	} else if (c == 'c' && len > 1 && (how & ESCAPE_ANSI)) {
		out[0] = (char)(s[1] & 0x1f);
		return (2);
	}
	*outlen = 0;
	return (0);
}

void
parse_ansi(struct parser *p, struct parts *w)
{
	size_t i = p->pos + 1, n, k, outlen;
	char out[4];
	int cut = 0;

	parts_flush(p, w);
	for (; i < p->len && p->s[i] != '\'';) {
		p->steps++;
		if (p->s[i] != '\\' || i + 1 >= p->len) {
			if (!cut)
				parts_char(p, w, p->s[i], 1);
			i++;
			continue;
		}
		i++;
		n = escape_decode(p->s + i, p->len - i, ESCAPE_ANSI, out,
		    &outlen);
		if (n == 0) {
			out[0] = '\\';
			out[1] = p->s[i];
			outlen = 2;
			n = 1;
		}
		/* A NUL ends what the string says, not where it ends. */
		if (outlen == 1 && out[0] == '\0')
			cut = 1;
		for (k = 0; k < outlen && !cut; k++)
			parts_char(p, w, out[k], 1);
		i += n;
	}
	if (i >= p->len) {
		p->pos = p->len;
		syntax_error(p, "a $' is not closed");
		return;
	}
	if (w->len == 0) {
		struct part *part = parts_add(p, w, PART_QUOTED, p->pos);

		part->text = "";
	}
	parts_flush(p, w);
	p->pos = i + 1;
}
