/*
 * resolv.conf(5): the nameservers, and nothing else of it.
 */
#include <string.h>

#include "resolvconf.h"

static int
is_blank(char c)
{
	return (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f');
}

/* "nameserver", a blank, and one word; others are not ours. */
static void
read_line(const char *p, size_t size, struct resolvconf *conf)
{
	static const char key[] = "nameserver";
	size_t n = sizeof(key) - 1;

	if (size <= n || memcmp(p, key, n) != 0 || !is_blank(p[n]))
		return;
	for (p += n, size -= n; size > 0 && is_blank(*p); size--)
		p++;
	for (n = 0; n < size && !is_blank(p[n]); n++)
		;
	if (conf->nservers == RESOLVCONF_SERVERS ||
	    address_read(p, n, &conf->servers[conf->nservers]) == -1)
		conf->skipped++;
	else
		conf->nservers++;
}

int
resolvconf_read(const char *p, size_t size, struct resolvconf *conf)
{
	const char *end;
	size_t n;

	memset(conf, 0, sizeof(*conf));
	if (size > RESOLVCONF_MAX || memchr(p, '\0', size) != NULL)
		return (-1);
	for (; size > 0; p += n, size -= n) {
		end = memchr(p, '\n', size);
		n = end == NULL ? size : (size_t)(end - p);
		read_line(p, n, conf);
		n += end != NULL;
	}
	if (conf->nservers == 0) {
		(void)address_read("127.0.0.1", 9, &conf->servers[0]);
		conf->nservers = 1;
	}
	return (0);
}
