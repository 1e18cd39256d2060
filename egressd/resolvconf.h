/*
 * resolv.conf(5): the nameservers, and nothing else of it.
 */
#ifndef EGRESSD_RESOLVCONF_H
#define EGRESSD_RESOLVCONF_H

#include <stddef.h>

#include "address.h"

#define RESOLVCONF_MAX		65536	/* bytes that are read */
#define RESOLVCONF_SERVERS	3	/* as resolv.conf(5) has it */

struct resolvconf {
	struct address	 servers[RESOLVCONF_SERVERS];
	size_t		 nservers;
	/* Lines of servers that were not taken: no address, with a zone, one
	 * too many. */
	size_t		 skipped;
};

/*
 * Reads size bytes.  0, or -1 if they are more than RESOLVCONF_MAX or hold a
 * NUL.  Without a server it is 127.0.0.1, as resolv.conf(5) has it.
 */
int	resolvconf_read(const char *, size_t size, struct resolvconf *);

#endif
