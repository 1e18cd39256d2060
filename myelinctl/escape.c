/*
 * The escape of "shell".
 */
#include "escape.h"

static enum escape_state
after(char c)
{
	return (c == '\r' || c == '\n' ? ESCAPE_LINE : ESCAPE_TEXT);
}

size_t
escape_filter(struct escape *e, const char *p, size_t len, char *out)
{
	size_t n = 0;

	for (; len > 0 && !e->left; p++, len--) {
		if (e->state == ESCAPE_LINE && *p == '~') {
			e->state = ESCAPE_TILDE;
			continue;
		}
		if (e->state == ESCAPE_TILDE && *p == '.') {
			e->left = 1;
			break;
		}
		if (e->state == ESCAPE_TILDE && *p == '?') {
			e->help = 1;
			e->state = ESCAPE_LINE;
			continue;
		}
		if (e->state == ESCAPE_TILDE && *p != '~')
			out[n++] = '~';
		out[n++] = *p;
		e->state = after(*p);
	}
	return (n);
}
