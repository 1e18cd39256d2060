/*
 * Addresses: their one written form, and what kind of place each leads to.
 */
#ifndef EGRESSD_ADDRESS_H
#define EGRESSD_ADDRESS_H

#include <sys/socket.h>

#include <stddef.h>
#include <stdint.h>

#define ADDRESS_TEXT_MAX	46	/* bytes, NUL included */

struct address {
	int	 family;	/* AF_INET or AF_INET6 */
	uint8_t	 bytes[16];	/* as on the wire; of AF_INET the first four */
};

/*
 * PUBLIC	may be dialled
 * PRIVATE	RFC 1918, RFC 6598 (CGNAT), RFC 4193: with "private" alone
 * EMBEDDED	an IPv4 address in an IPv6 form that hides it: mapped,
 *		compatible, 6to4, Teredo, ISATAP, NAT64 of a local prefix
 * RESERVED	what else is not of the public internet: documentation,
 *		benchmarks, 0/8, 240/4, IETF protocols, discard, not assigned
 * An address that embeds one that is worse than PUBLIC has that one's class,
 * but EMBEDDED instead of PRIVATE.  64:ff9b::/96 (RFC 6052) with a public
 * address is PUBLIC: so an IPv6 host with DNS64 reaches the rest.
 */
enum address_class {
	ADDRESS_PUBLIC, ADDRESS_PRIVATE, ADDRESS_EMBEDDED, ADDRESS_RESERVED,
	ADDRESS_UNSPECIFIED, ADDRESS_LOOPBACK, ADDRESS_LINK_LOCAL,
	ADDRESS_METADATA, ADDRESS_MULTICAST, ADDRESS_CLASSES
};

enum address_class address_class(const struct address *);
const char *address_class_name(enum address_class);	/* "public" ... "?" */

/* 1 if the address may be dialled for a host of these HOST_F_* flags. */
int	address_allowed(const struct address *, unsigned flags);

/*
 * Reads exactly size bytes: four decimal numbers without leading zeros, or an
 * IPv6 address without brackets and zone.  Returns 0, or -1 if it is neither.
 */
int	address_read(const char *, size_t size, struct address *);

/* Writes the form of RFC 5952 ("::ffff:1.2.3.4" as the kernel does). */
void	address_text(const struct address *, char [ADDRESS_TEXT_MAX]);

int	address_same(const struct address *, const struct address *);

/* 0, or -1 if it is of another family.  The port is in host order. */
int	address_of_sockaddr(const struct sockaddr *, struct address *,
	    uint16_t *port);
/* Returns the size of what it wrote. */
socklen_t address_sockaddr(const struct address *, uint16_t port,
	    struct sockaddr_storage *);

#endif
