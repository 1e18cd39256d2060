/*
 * The resolver inside a neuron: queries, answers, and which address stands for
 * which name.  Nothing is looked up: a name that may be reached has an address
 * of EGRESS_NAMES_NET, and who connects there means that name.
 */
#ifndef EGRESSD_DNS_H
#define EGRESSD_DNS_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"

#define DNS_QUERY_MAX	512		/* bytes of a query */
#define DNS_ANSWER_MAX	(DNS_QUERY_MAX + 300)
#define DNS_TTL		30		/* seconds */

enum { DNS_NOERROR, DNS_FORMERR, DNS_SERVFAIL, DNS_NXDOMAIN, DNS_NOTIMP,
	DNS_REFUSED };
enum { DNS_A = 1, DNS_PTR = 12, DNS_AAAA = 28, DNS_HTTPS = 65 };

struct dns_query {
	uint16_t	 id;
	uint16_t	 flags;
	uint16_t	 type;		/* DNS_A ... */
	size_t		 question;	/* bytes of the question */
	int		 edns;
	struct host	 name;
	int		 reverse;	/* of the address in it: PTR */
	struct address	 address;
};

/*
 * Decodes one datagram.  0, -1 if nothing can be answered (too short, itself
 * an answer), or the DNS_* code that is the answer; query is filled as far as
 * dns_answer() needs it unless it is -1.
 */
int	dns_read(const uint8_t *, size_t size, struct dns_query *);

/*
 * Encodes the answer to a query that was read from these bytes: rcode, and
 * with DNS_NOERROR the address (host order) for a query of DNS_A, or the name
 * for one of DNS_PTR; 0 and NULL give an empty answer.  Returns its size.
 */
size_t	dns_answer(const uint8_t *, const struct dns_query *, int rcode,
	    uint32_t address, const char *name, uint8_t [DNS_ANSWER_MAX]);

/*
 * Names and their addresses, of one neuron.  The NAMES_MAX that were new last
 * are known; an address is not given to another name for very long.
 */
#define NAMES_MAX	4096
struct names;

struct names *names_new(void);		/* NULL when memory is out */
void	names_free(struct names *);	/* NULL is fine */
/* The name's address (host order), a new one if it has none; 0: no memory. */
uint32_t names_address(struct names *, const char *name);
/* The name of an address, or NULL; valid until the next names_address(). */
const char *names_name(const struct names *, uint32_t address);

#endif
