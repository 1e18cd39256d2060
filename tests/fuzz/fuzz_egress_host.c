/*
 * Hosts, addresses and URLs: whatever comes, what is made of it is canonical,
 * and read again is itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "url.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int yes)
{
	if (!yes)
		abort();
}

static void
check_host(const struct host *h, uint16_t port)
{
	static const char set[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
	char text[HOST_PORT_MAX];
	struct host again;
	struct address a;
	uint16_t port_again;
	const char *why;
	size_t n = strlen(h->name);

	must(n > 0 && n <= EGRESS_NAME_MAX && port > 0);
	host_port_text(h, port, 80, text);
	must(host_port_read(text, strlen(text), 80, &again, &port_again,
	    &why) == REFUSE_NOT);
	must(host_same(h, &again) && port == port_again &&
	    strcmp(h->name, again.name) == 0);
	if (h->is_address) {
		must(address_read(h->name, n, &a) == 0 &&
		    address_same(&a, &h->address));
		must(address_class(&a) < ADDRESS_CLASSES);
		must(!address_allowed(&a, 0) || address_class(&a) ==
		    ADDRESS_PUBLIC);
	} else
		must(strspn(h->name, set) == n && h->name[n - 1] != '.' &&
		    h->name[0] != '.' && strstr(h->name, "..") == NULL &&
		    address_read(h->name, n, &a) == -1);
}

static void
check_url(const struct url *u)
{
	static char text[URL_TEXT_MAX];
	static struct url again;
	const char *why;

	check_host(&u->host, u->port);
	must(u->path[0] == '/' && strpbrk(u->path, " \r\n\t#") == NULL);
	url_text(u, text);
	if (strlen(text) <= URL_MAX)
		must(url_read(text, strlen(text), &again, &why) ==
		    REFUSE_NOT && url_same_origin(u, &again) &&
		    strcmp(u->path, again.path) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *why = NULL;
	static struct url u, base;
	struct host h;
	struct address a;
	uint16_t port;

	if (host_port_read(p, size, 80, &h, &port, &why) == REFUSE_NOT)
		check_host(&h, port);
	else
		must(h.name[0] == '\0' && why[0] != '\0');
	if (host_read(p, size, &h, &why) == REFUSE_NOT)
		check_host(&h, 1);
	if (address_read(p, size, &a) == 0) {
		host_of_address(&a, &h);
		check_host(&h, 1);
	}
	if (url_read(p, size, &u, &why) == REFUSE_NOT)
		check_url(&u);
	must(url_read("http://a.b/c/d?e", 16, &base, &why) == REFUSE_NOT);
	if (url_join(&base, p, size, &u, &why) == REFUSE_NOT)
		check_url(&u);
	return (0);
}
