/*
 * Paths of files in URLs, and the names of downloads in headers.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "file_name.h"
#include "text.h"

#define NAME_MAX_BYTES	255	/* of a component, NAME_MAX */

static int
hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *p;

	if (c >= 'A' && c <= 'F')
		c = (char)(c - 'A' + 'a');
	p = c == '\0' ? NULL : strchr(digits, c);
	return (p == NULL ? -1 : (int)(p - digits));
}

int
url_path_decode(const char *path, char *dst, size_t size)
{
	int high, low;

	while (*path != '\0') {
		if (size < 2)
			return (-1);
		size--;
		if (*path != '%') {
			*dst++ = *path++;
			continue;
		}
		if ((high = hex(path[1])) == -1 || (low = hex(path[2])) == -1 ||
		    (high | low) == 0)
			return (-1);
		*dst++ = (char)(high << 4 | low);
		path += 3;
	}
	*dst = '\0';
	return (0);
}

/* The last component, or "files" where that names nothing. */
static size_t
last_component(const char *path, const char **name)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	*name = path + start;
	end -= start;
	if (end == 0 || (end <= 2 && strncmp(*name, "..", end) == 0)) {
		*name = "files";
		end = strlen(*name);
	}
	return (end > NAME_MAX_BYTES ? NAME_MAX_BYTES : end);
}

/* What both a quoted-string and RFC 8187 take as it is. */
static int
is_plain(unsigned char c)
{
	return ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_');
}

/* Length of the character that starts there, or 0 if it is none. */
static size_t
character(const char *p, size_t n)
{
	struct text_scan scan;
	size_t len;

	for (len = 1; len <= 4 && len <= n; len++) {
		text_scan((const uint8_t *)p, len, &scan);
		if (!scan.valid)
			return (0);
		if (scan.tail == 0)
			return (len);
	}
	return (0);
}

static size_t
put_ascii(char *dst, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		dst[i] = name[i];
	for (i = 0; i < n; i++)
		if (!is_plain((unsigned char)dst[i]))
			dst[i] = '_';
	return (n);
}

static size_t
put_extended(char *dst, const char *name, size_t n)
{
	char *p = dst;
	size_t i = 0, len;

	while (i < n) {
		len = character(name + i, n - i);
		if (len == 0 || (unsigned char)name[i] < ' ' ||
		    name[i] == 0x7f) {
			*p++ = '_';
			i++;
			continue;
		}
		for (; len > 0; len--, i++) {
			if (is_plain((unsigned char)name[i]))
				*p++ = name[i];
			else
				p += sprintf(p, "%%%02X",
				    (unsigned)(unsigned char)name[i]);
		}
	}
	return ((size_t)(p - dst));
}

void
disposition(const char *path, const char *suffix,
    char value[DISPOSITION_MAX])
{
	const char *name;
	size_t n = last_component(path, &name);
	char *p = value;

	p += sprintf(p, "attachment; filename=\"");
	p += put_ascii(p, name, n);
	p += sprintf(p, "%s\"; filename*=UTF-8''", suffix);
	p += put_extended(p, name, n);
	(void)sprintf(p, "%s", suffix);
}
