/*
 * Egress: what a profile lets its neurons reach, and where egressd listens
 * inside of them.  The parser fills it, a slice carries it, egressd obeys it.
 * Included by slice.h.
 */
#ifndef MYELIN_EGRESS_H
#define MYELIN_EGRESS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Inside a neuron, all on its loopback.  The proxy answers on PROXY_ADDRESS
 * alone; TLS, PLAIN and DNS on every address, for what names resolve to is in
 * NAMES_NET.
 */
#define EGRESS_PROXY_ADDRESS	"127.0.0.1"
#define EGRESS_PROXY_PORT	3128
#define EGRESS_TLS_PORT		443
#define EGRESS_PLAIN_PORT	80
#define EGRESS_DNS_PORT		53
#define EGRESS_NAMES_NET	UINT32_C(0x7f400000)	/* 127.64.0.0 */
#define EGRESS_NAMES_MASK	UINT32_C(0xffc00000)	/* /10 */

/* The longest name of a host, without a dot at its end (RFC 1035, 2.3.4). */
#define EGRESS_NAME_MAX		253

#define EGRESS_PORTS_MAX		16
#define EGRESS_METHODS_MAX	8
#define EGRESS_HOSTS_MAX	1024	/* lines of a profile */

#define EGRESS_METHOD_MAX	32	/* bytes of one */

#define HOST_F_OPAQUE		0x01	/* not TLS, or TLS without that name */
#define HOST_F_PRIVATE		0x02	/* may have an address of RFC 1918,
					   RFC 4193 or RFC 6598 */
#define HOST_FLAGS	0x03

/*
 * A line of "egress { }".  allow|deny host "NAME"|"*.SUFFIX" [port N, ...]
 * [method "M", ...] [opaque] [private].  Without ports: 443 and 80.  Without
 * methods plain HTTP may read (GET, HEAD, OPTIONS).
 */
struct cf_host {
	struct where	 where;
	int		 allow;
	int		 suffix;	/* name is what follows "*." */
	char		*name;		/* lower case, A-labels, no last dot */
	uint16_t	 ports[EGRESS_PORTS_MAX];	size_t nports;
	struct strings	 methods;
	unsigned	 flags;		/* HOST_F_* */
};

struct cf_egress {
	int		 on;		/* the profile has a block, maybe empty */
	int		 transparent;	/* TLS, PLAIN and DNS beside the proxy */
	struct cf_host	*hosts;		size_t nhosts;
};

/* LISTENER_* of a neuron that is made from a profile with it; 0: none. */
unsigned egress_listeners(const struct cf_egress *);
/* 1 if one of its lines allows something. */
int	egress_allows(const struct cf_egress *);

/* Its part of a profile in a slice; what is read is bounded and checked. */
struct enc;
struct dec;
void	egress_put(struct enc *, const struct cf_egress *);
void	egress_get(struct dec *, struct cf_egress *);
/* Frees what it holds. */
void	egress_free(struct cf_egress *);

#endif
