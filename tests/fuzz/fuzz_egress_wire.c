/*
 * SOCKS5, DNS and resolv.conf.  The first byte says which.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns.h"
#include "resolvconf.h"
#include "socks.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int yes)
{
	if (!yes)
		abort();
}

static void
socks(const uint8_t *p, size_t size)
{
	uint8_t answer[SOCKS_METHOD_SIZE];
	struct host whole, parts;
	struct head_bad bad;
	uint16_t port = 0, port_parts = 0;
	size_t used = 0, used_parts = 0, n;
	enum head_result a, b = HEAD_MORE;
	int reply;

	if (socks_greeting(p, size, &used, answer) == HEAD_OK) {
		must(used <= size && used <= SOCKS_GREETING_MAX);
		p += used;
		size -= used;
	}
	a = socks_request(p, size, &used, &whole, &port, &bad, &reply);
	for (n = 0; n <= size && b == HEAD_MORE; n++)
		b = socks_request(p, n, &used_parts, &parts, &port_parts,
		    &bad, &reply);
	must(a == b && (a != HEAD_MORE || size < SOCKS_REQUEST_MAX));
	if (a == HEAD_OK)
		must(used == used_parts && used <= size &&
		    used <= SOCKS_REQUEST_MAX && port == port_parts &&
		    port != 0 && host_same(&whole, &parts) && reply == 0);
	if (a == HEAD_BAD)
		must(reply != 0 && whole.name[0] == '\0');
}

static void
dns(const uint8_t *p, size_t size)
{
	uint8_t out[DNS_ANSWER_MAX];
	struct dns_query q;
	size_t n;
	int rcode = dns_read(p, size, &q);

	if (rcode == -1)
		return;
	must(12 + q.question <= size);
	must(rcode != DNS_NOERROR || (q.name.name[0] != '\0' &&
	    !q.name.is_address));
	n = dns_answer(p, &q, rcode, 0x7f400001, rcode == DNS_NOERROR ?
	    q.name.name : NULL, out);
	must(n >= 12 && n <= sizeof(out) && (out[2] & 0x80) &&
	    (out[3] & 15) == rcode);
	/* Nothing that it says is a query: two of them never talk for ever. */
	must(dns_read(out, n, &q) == -1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct resolvconf conf;

	if (size == 0)
		return (0);
	switch (data[0] % 3) {
	case 0:
		socks(data + 1, size - 1);
		break;
	case 1:
		dns(data + 1, size - 1);
		break;
	default:
		if (resolvconf_read((const char *)data + 1, size - 1,
		    &conf) == 0)
			must(conf.nservers >= 1 &&
			    conf.nservers <= RESOLVCONF_SERVERS);
	}
	return (0);
}
