/*
 * Addresses: their one written form, and what kind of place each leads to.
 *
 * Of IPv6 only 2000::/3 has been given out: the table names what is special
 * within and what has a name outside, the rest is reserved.  Prefixes are
 * tried in order, so that a special one stands before the one around it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <string.h>

#include "address.h"
#include "slice.h"
#include "without.h"

struct prefix {
	uint8_t			 bytes[16];
	unsigned		 bits;
	enum address_class	 class;
	unsigned		 embeds;	/* at this byte, 0: nothing */
};

/* IANA's registry of special addresses, and what clouds answer on. */
static const struct prefix v4[] = {
	{ { 169, 254, 169, 254 }, 32, ADDRESS_METADATA, 0 },
	{ { 169, 254, 170, 2 }, 32, ADDRESS_METADATA, 0 },
	{ { 100, 100, 100, 200 }, 32, ADDRESS_METADATA, 0 },
	{ { 168, 63, 129, 16 }, 32, ADDRESS_METADATA, 0 },
	{ { 192, 0, 0, 192 }, 32, ADDRESS_METADATA, 0 },
	{ { 0 }, 32, ADDRESS_UNSPECIFIED, 0 },
	{ { 0 }, 8, ADDRESS_RESERVED, 0 },
	{ { 10 }, 8, ADDRESS_PRIVATE, 0 },
	{ { 100, 64 }, 10, ADDRESS_PRIVATE, 0 },
	{ { 127 }, 8, ADDRESS_LOOPBACK, 0 },
	{ { 169, 254 }, 16, ADDRESS_LINK_LOCAL, 0 },
	{ { 172, 16 }, 12, ADDRESS_PRIVATE, 0 },
	{ { 192, 0, 0 }, 24, ADDRESS_RESERVED, 0 },
	{ { 192, 0, 2 }, 24, ADDRESS_RESERVED, 0 },
	{ { 192, 88, 99 }, 24, ADDRESS_RESERVED, 0 },
	{ { 192, 168 }, 16, ADDRESS_PRIVATE, 0 },
	{ { 198, 18 }, 15, ADDRESS_RESERVED, 0 },
	{ { 198, 51, 100 }, 24, ADDRESS_RESERVED, 0 },
	{ { 203, 0, 113 }, 24, ADDRESS_RESERVED, 0 },
	{ { 224 }, 4, ADDRESS_MULTICAST, 0 },
	{ { 240 }, 4, ADDRESS_RESERVED, 0 },
	{ { 0 }, 0, ADDRESS_PUBLIC, 0 }
};

static const struct prefix v6[] = {
	{ { 0 }, 128, ADDRESS_UNSPECIFIED, 0 },
	{ { [15] = 1 }, 128, ADDRESS_LOOPBACK, 0 },
	{ { [10] = 0xff, 0xff }, 96, ADDRESS_EMBEDDED, 12 },	/* mapped */
	{ { [8] = 0xff, 0xff }, 96, ADDRESS_EMBEDDED, 12 },	/* SIIT */
	{ { 0 }, 96, ADDRESS_EMBEDDED, 12 },			/* compatible */
	{ { 0, 0x64, 0xff, 0x9b }, 96, ADDRESS_PUBLIC, 12 },	/* NAT64 */
	{ { 0, 0x64, 0xff, 0x9b, 0, 1 }, 48, ADDRESS_EMBEDDED, 0 },
	{ { 0xfd, 0, 0x0e, 0xc2, [14] = 2, 0x54 }, 128, ADDRESS_METADATA, 0 },
	{ { 0xfd, 0x20, 0, 0xce, [14] = 2, 0x54 }, 128, ADDRESS_METADATA, 0 },
	{ { 0xfc }, 7, ADDRESS_PRIVATE, 0 },
	{ { 0xfe, 0x80 }, 10, ADDRESS_LINK_LOCAL, 0 },
	{ { 0xff }, 8, ADDRESS_MULTICAST, 0 },
	{ { 0x20, 0x02 }, 16, ADDRESS_EMBEDDED, 2 },		/* 6to4 */
	{ { 0x20, 0x01 }, 32, ADDRESS_EMBEDDED, 0 },		/* Teredo */
	{ { 0x20, 0x01 }, 23, ADDRESS_RESERVED, 0 },
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32, ADDRESS_RESERVED, 0 },
	{ { 0x3f, 0xff }, 20, ADDRESS_RESERVED, 0 },
	{ { 0x20 }, 3, ADDRESS_PUBLIC, 0 },
	{ { 0 }, 0, ADDRESS_RESERVED, 0 }
};

static const char *const names[ADDRESS_CLASSES] = {
	[ADDRESS_PUBLIC] = "public",
	[ADDRESS_PRIVATE] = "private",
	[ADDRESS_EMBEDDED] = "embedded",
	[ADDRESS_RESERVED] = "reserved",
	[ADDRESS_UNSPECIFIED] = "unspecified",
	[ADDRESS_LOOPBACK] = "loopback",
	[ADDRESS_LINK_LOCAL] = "link-local",
	[ADDRESS_METADATA] = "metadata",
	[ADDRESS_MULTICAST] = "multicast"
};

static int
within(const uint8_t *bytes, const struct prefix *p)
{
	size_t whole = p->bits / 8;
	unsigned rest = p->bits % 8, mask = (0xff00u >> rest) & 0xff;

	return (memcmp(bytes, p->bytes, whole) == 0 && (rest == 0 ||
	    (bytes[whole] & mask) == (p->bytes[whole] & mask)));
}

/* Both tables end with a prefix of no bits. */
static const struct prefix *
find(const struct prefix *p, const uint8_t *bytes)
{
	while (!within(bytes, p))
		p++;
	return (p);
}

/* ::0:5efe:a.b.c.d or ::200:5efe:a.b.c.d behind any prefix (RFC 5214). */
static int
is_isatap(const uint8_t *bytes)
{
	return ((bytes[8] & 0xfd) == 0 && bytes[9] == 0 &&
	    bytes[10] == 0x5e && bytes[11] == 0xfe);
}

static enum address_class
class_embedded(enum address_class outer, const uint8_t *bytes)
{
	enum address_class inner = find(v4, bytes)->class;

	if (inner == ADDRESS_PUBLIC)
		return (outer);
	return (inner == ADDRESS_PRIVATE ? ADDRESS_EMBEDDED : inner);
}

enum address_class
address_class(const struct address *a)
{
	const struct prefix *p;

	if (a->family == AF_INET)
		return (find(v4, a->bytes)->class);
	if (a->family != AF_INET6)
		return (ADDRESS_RESERVED);
	p = find(v6, a->bytes);
	if (p->embeds != 0)
		return (class_embedded(p->class, a->bytes + p->embeds));
	if (is_isatap(a->bytes) && (p->class == ADDRESS_PUBLIC ||
	    p->class == ADDRESS_PRIVATE))
		return (class_embedded(ADDRESS_EMBEDDED, a->bytes + 12));
	return (p->class);
}

const char *
address_class_name(enum address_class class)
{
	return ((unsigned)class < ADDRESS_CLASSES ? names[class] : "?");
}

int
address_allowed(const struct address *a, unsigned flags)
{
	enum address_class class = address_class(a);

	if (WITHOUT(egress_address))
		return (1);
	return (class == ADDRESS_PUBLIC ||
	    (class == ADDRESS_PRIVATE && (flags & HOST_F_PRIVATE)));
}

/* inet_pton(3) takes no leading zeros either; here it is ours to promise. */
static int
read_v4(const char *p, size_t size, uint8_t *bytes)
{
	unsigned value, i;
	size_t n;

	for (i = 0; i < 4; i++) {
		for (n = 0, value = 0; n < size && p[n] >= '0' && p[n] <= '9';
		    n++) {
			if (n == 3)
				return (-1);
			value = value * 10 + (unsigned)(p[n] - '0');
		}
		if (n == 0 || (n > 1 && p[0] == '0') || value > 255)
			return (-1);
		bytes[i] = (uint8_t)value;
		p += n;
		size -= n;
		if (i < 3) {
			if (size == 0 || *p != '.')
				return (-1);
			p++;
			size--;
		}
	}
	return (size == 0 ? 0 : -1);
}

int
address_read(const char *p, size_t size, struct address *a)
{
	char text[ADDRESS_TEXT_MAX];

	memset(a, 0, sizeof(*a));
	if (read_v4(p, size, a->bytes) == 0) {
		a->family = AF_INET;
		return (0);
	}
	memset(a, 0, sizeof(*a));
	if (size >= sizeof(text) || memchr(p, '\0', size) != NULL)
		return (-1);
	memcpy(text, p, size);
	text[size] = '\0';
	if (inet_pton(AF_INET6, text, a->bytes) != 1)
		return (-1);
	a->family = AF_INET6;
	return (0);
}

void
address_text(const struct address *a, char text[ADDRESS_TEXT_MAX])
{
	if (inet_ntop(a->family, a->bytes, text, ADDRESS_TEXT_MAX) == NULL)
		memcpy(text, "?", 2);
}

int
address_same(const struct address *a, const struct address *b)
{
	return (a->family == b->family && memcmp(a->bytes, b->bytes,
	    a->family == AF_INET ? 4 : 16) == 0);
}

int
address_of_sockaddr(const struct sockaddr *sa, struct address *a,
    uint16_t *port)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	memset(a, 0, sizeof(*a));
	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		memcpy(a->bytes, &in.sin_addr, 4);
		*port = ntohs(in.sin_port);
	} else if (sa->sa_family == AF_INET6) {
		memcpy(&in6, sa, sizeof(in6));
		memcpy(a->bytes, &in6.sin6_addr, 16);
		*port = ntohs(in6.sin6_port);
	} else
		return (-1);
	a->family = sa->sa_family;
	return (0);
}

socklen_t
address_sockaddr(const struct address *a, uint16_t port,
    struct sockaddr_storage *ss)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	memset(ss, 0, sizeof(*ss));
	if (a->family == AF_INET) {
		memset(&in, 0, sizeof(in));
		in.sin_family = AF_INET;
		in.sin_port = htons(port);
		memcpy(&in.sin_addr, a->bytes, 4);
		memcpy(ss, &in, sizeof(in));
		return (sizeof(in));
	}
	memset(&in6, 0, sizeof(in6));
	in6.sin6_family = AF_INET6;
	in6.sin6_port = htons(port);
	memcpy(&in6.sin6_addr, a->bytes, 16);
	memcpy(ss, &in6, sizeof(in6));
	return (sizeof(in6));
}
