/*
 * Host and Origin.  A web page can make a browser on this host send requests
 * here, by a name of its own that leads to the loopback; such a request says
 * so in these two.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mcp_read.h"
#include "without.h"

/* ":1" to ":65535", or nothing. */
static int
is_port(const char *s)
{
	size_t n;
	long port = 0;

	if (*s == '\0')
		return (1);
	if (*s++ != ':')
		return (0);
	for (n = 0; s[n] >= '0' && s[n] <= '9' && n < 6; n++)
		port = port * 10 + (s[n] - '0');
	return (n > 0 && s[n] == '\0' && s[0] != '0' && port <= 65535);
}

/* Behind "127." of four decimal numbers without leading zeros, or NULL. */
static const char *
skip_loopback4(const char *s)
{
	int part, n, value;

	for (part = 0; part < 4; part++) {
		if (part > 0 && *s++ != '.')
			return (NULL);
		for (n = value = 0; *s >= '0' && *s <= '9' && n < 4; n++)
			value = value * 10 + (*s++ - '0');
		if (n == 0 || n > 3 || value > 255 ||
		    (n > 1 && s[-n] == '0') || (part == 0 && value != 127))
			return (NULL);
	}
	return (s);
}

/* An authority of this host's loopback: name or address, and a port. */
static int
is_loopback(const char *s)
{
	static const char *const names[] = { "localhost", "[::1]" };
	const char *port;
	size_t i, n;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		n = strlen(names[i]);
		if (strncasecmp(s, names[i], n) == 0 && is_port(s + n))
			return (1);
	}
	port = skip_loopback4(s);
	return (port != NULL && is_port(port));
}

/* A name of the list, or the address that is listened on, and a port. */
static int
is_named(const char *s, const struct strings *names, const char *address)
{
	char six[64];
	size_t i, n;

	for (i = 0; names != NULL && i < names->n; i++) {
		n = strlen(names->v[i]);
		if (strncasecmp(s, names->v[i], n) == 0 && is_port(s + n))
			return (1);
	}
	if (address == NULL)
		return (0);
	if (strchr(address, ':') != NULL) {
		(void)snprintf(six, sizeof(six), "[%s]", address);
		address = six;
	}
	n = strlen(address);
	return (strncasecmp(s, address, n) == 0 && is_port(s + n));
}

const char *
host_wrong(const char *host, const char *origin, const struct strings *names,
    const char *address)
{
	static const char *const schemes[] = { "http://", "https://" };
	const char *authority = NULL;
	size_t i;

	if (WITHOUT(mcp_host))
		return (NULL);
	if (host == NULL || (!is_loopback(host) &&
	    !is_named(host, names, address)))
		return (address == NULL ? "Host is not this host's loopback "
		    "(localhost, 127.0.0.1, [::1])" : "Host is not what this "
		    "goes by: the loopback, its address, or a \"host\" of its "
		    "configuration");
	if (origin == NULL)
		return (NULL);
	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncmp(origin, schemes[i], strlen(schemes[i])) == 0)
			authority = origin + strlen(schemes[i]);
	if (authority == NULL || strcasecmp(authority, host) != 0)
		return ("Origin is not the same as Host: web pages may not "
		    "use this");
	return (NULL);
}

const char *
mcp_host_wrong(const char *host, const char *origin)
{
	return (host_wrong(host, origin, NULL, NULL));
}
