/*
 * Hosts: one canonical form, from whatever a client wrote.  What two readers
 * could understand differently has none and is refused.
 */
#ifndef EGRESSD_HOST_H
#define EGRESSD_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "address.h"
#include "refusal.h"
#include "slice.h"

struct host {
	int		 is_address;
	char		 name[EGRESS_NAME_MAX + 1];	/* or the address */
	struct address	 address;	/* if is_address */
};

/*
 * Reads exactly size bytes: a name, an IPv4 address, or an IPv6 address in
 * brackets.  A name becomes lower case, loses one dot at its end, and what is
 * not ASCII (UTF-8) becomes A-labels (UTS 46, not transitional).  ASCII names
 * are letters, digits, '-' and '_', labels of 1 to 63 bytes, 253 bytes in all.
 * Returns REFUSE_NOT, or REFUSE_BAD_HOST or, where the last label is a number
 * but the whole is no address in its usual form, or the brackets hold none,
 * REFUSE_BAD_ADDRESS; *why is then a constant that says what is wrong.
 * The canonical name read again gives itself (IPv6: in brackets).
 */
enum refusal host_read(const char *, size_t size, struct host *,
	    const char **why);

/*
 * Reads "HOST[:PORT]", decimal, 1 to 65535.  Without a port *port is usual,
 * and a missing one is REFUSE_BAD_REQUEST where usual is 0.
 */
enum refusal host_port_read(const char *, size_t size, uint16_t usual,
	    struct host *, uint16_t *port, const char **why);

void	host_of_address(const struct address *, struct host *);
int	host_same(const struct host *, const struct host *);

/* "name", or "name:port" if that is not usual; IPv6 in brackets. */
#define HOST_PORT_MAX	(EGRESS_NAME_MAX + 10)
void	host_port_text(const struct host *, uint16_t port, uint16_t usual,
	    char [HOST_PORT_MAX]);

#endif
