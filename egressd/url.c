/*
 * URLs of http and https.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "url.h"

static enum refusal
bad(const char **why, const char *text)
{
	*why = text;
	return (REFUSE_BAD_URL);
}

/* What may not stand in a path as it is sent. */
static int
is_escaped(unsigned char c)
{
	return (c <= 0x20 || c >= 0x7f || strchr("\"<>\\^`{|}", c) != NULL);
}

/* Appends size bytes to the path.  -1: no room, or a control among them. */
static int
add_path(struct url *u, const char *p, size_t size)
{
	size_t n = strlen(u->path), i;
	unsigned char c;

	for (i = 0; i < size; i++) {
		c = (unsigned char)p[i];
		if (c < 0x20 || c == 0x7f || n + 4 > sizeof(u->path))
			return (-1);
		if (is_escaped(c)) {
			(void)snprintf(u->path + n, 4, "%%%02X", c);
			n += 3;
		} else
			u->path[n++] = (char)c;
		u->path[n] = '\0';
	}
	return (0);
}

/* The bytes before the first of these characters. */
static size_t
before(const char *p, size_t size, const char *chars)
{
	size_t i;

	for (i = 0; i < size && (p[i] == '\0' || strchr(chars, p[i]) == NULL);
	    i++)
		;
	return (i);
}

/* AUTHORITY[/PATH][?QUERY], behind "//". */
static enum refusal
read_authority(struct url *u, const char *p, size_t size, const char **why)
{
	size_t n = before(p, size, "/?\\");
	enum refusal r;

	r = host_port_read(p, n, u->tls ? 443 : 80, &u->host, &u->port, why);
	if (r != REFUSE_NOT)
		return (r);
	u->path[0] = '\0';
	if (n == size || p[n] != '/')
		(void)add_path(u, "/", 1);
	if (add_path(u, p + n, size - n) == -1)
		return (bad(why, "the URL holds a control character, or is "
		    "too long"));
	return (REFUSE_NOT);
}

/* The size of "SCHEME:" at the front, or 0. */
static size_t
scheme(const char *p, size_t size)
{
	size_t n = before(p, size, ":/?#");

	return (n > 0 && n < size && p[n] == ':' &&
	    ((p[0] | 0x20) >= 'a' && (p[0] | 0x20) <= 'z') ? n + 1 : 0);
}

static enum refusal
read_absolute(struct url *u, const char *p, size_t size, size_t n,
    const char **why)
{
	if (n == 5 && strncasecmp(p, "http:", 5) == 0)
		u->tls = 0;
	else if (n == 6 && strncasecmp(p, "https:", 6) == 0)
		u->tls = 1;
	else
		return (bad(why, "the URL is not of http or https"));
	if (size < n + 2 || memcmp(p + n, "//", 2) != 0)
		return (bad(why, "the URL names no host"));
	return (read_authority(u, p + n + 2, size - n - 2, why));
}

enum refusal
url_read(const char *p, size_t size, struct url *u, const char **why)
{
	size_t n;

	*why = "";
	memset(u, 0, sizeof(*u));
	if (size > URL_MAX)
		return (bad(why, "the URL is over 8192 bytes"));
	size = before(p, size, "#");
	if ((n = scheme(p, size)) == 0)
		return (bad(why, "the URL is not of http or https"));
	return (read_absolute(u, p, size, n, why));
}

/* Takes "." and ".." out of a path, which begins with '/', in place. */
static void
remove_dots(char *path)
{
	size_t end = strcspn(path, "?"), in = 0, out = 0, n;
	int last;

	while (in < end) {
		n = 1 + strcspn(path + in + 1, "/?");
		last = in + n == end;
		if (n == 3 && memcmp(path + in, "/..", 3) == 0) {
			while (out > 0 && path[--out] != '/')
				;
			if (last)
				path[out++] = '/';
		} else if (n == 2 && memcmp(path + in, "/.", 2) == 0) {
			if (last)
				path[out++] = '/';
		} else {
			memmove(path + out, path + in, n);
			out += n;
		}
		in += n;
	}
	memmove(path + out, path + end, strlen(path + end) + 1);
}

/* A reference without scheme and authority. */
static enum refusal
join_path(struct url *u, const char *p, size_t size, const char **why)
{
	char *slash;

	if (size == 0)
		return (REFUSE_NOT);
	if (p[0] == '/')
		u->path[0] = '\0';
	else {
		u->path[strcspn(u->path, "?")] = '\0';
		if (p[0] != '?' && (slash = strrchr(u->path, '/')) != NULL)
			slash[1] = '\0';
	}
	if (add_path(u, p, size) == -1)
		return (bad(why, "the URL holds a control character, or is "
		    "too long"));
	remove_dots(u->path);
	return (REFUSE_NOT);
}

enum refusal
url_join(const struct url *base, const char *p, size_t size, struct url *u,
    const char **why)
{
	size_t n;

	*why = "";
	if (size > URL_MAX)
		return (bad(why, "the URL is over 8192 bytes"));
	size = before(p, size, "#");
	if (u != base)
		*u = *base;
	if ((n = scheme(p, size)) > 0)
		return (read_absolute(u, p, size, n, why));
	if (size >= 2 && memcmp(p, "//", 2) == 0)
		return (read_authority(u, p + 2, size - 2, why));
	return (join_path(u, p, size, why));
}

void
url_text(const struct url *u, char text[URL_TEXT_MAX])
{
	char host[HOST_PORT_MAX];

	host_port_text(&u->host, u->port, u->tls ? 443 : 80, host);
	(void)snprintf(text, URL_TEXT_MAX, "%s://%s%s", u->tls ? "https" :
	    "http", host, u->path);
}

int
url_same_origin(const struct url *a, const struct url *b)
{
	return (a->tls == b->tls && a->port == b->port &&
	    host_same(&a->host, &b->host));
}
