/*
 * The resolver inside a neuron.  It asks nobody: what a query says leaves the
 * host only if the name is one that may be reached, when a connection to it is
 * made.
 */
#include <sys/socket.h>
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "dnsd.h"
#include "log.h"

#define QUERIES_MAX	32	/* at a time */
#define PAUSE_MS	100

struct packet {
	uint8_t			 bytes[DNS_QUERY_MAX];
	size_t			 size;
	struct sockaddr_storage	 from;
	struct iovec		 iov;
	struct msghdr		 msg;
	/* The address that was asked answers. */
	_Alignas(struct cmsghdr) uint8_t control[128];
};

static size_t
refused(struct neuron *n, const struct packet *p, const struct dns_query *q,
    const struct host_verdict *v, uint8_t out[DNS_ANSWER_MAX])
{
	report_denied(n, v->why, EGRESS_VIA_DNS, q->name.name, 0, NULL,
	    v->rule, NULL);
	return (dns_answer(p->bytes, q, DNS_REFUSED, 0, NULL, out));
}

static size_t
answer_name(struct neuron *n, const struct packet *p,
    const struct dns_query *q, uint8_t out[DNS_ANSWER_MAX])
{
	uint32_t address = 0;
	struct host_verdict v;

	hosts_judge_name(n->egress, n->grants, &q->name, now_ms(), &v);
	if (v.why != REFUSE_NOT)
		return (refused(n, p, q, &v, out));
	if (q->type == DNS_A) {
		address = names_address(n->names, q->name.name);
		if (address == 0)
			return (dns_answer(p->bytes, q, DNS_SERVFAIL, 0, NULL,
			    out));
	}
	return (dns_answer(p->bytes, q, DNS_NOERROR, address, NULL, out));
}

static size_t
answer_reverse(struct neuron *n, const struct packet *p,
    const struct dns_query *q, uint8_t out[DNS_ANSWER_MAX])
{
	const uint8_t *b = q->address.bytes;
	const char *name = NULL;

	if (q->address.family == AF_INET)
		name = names_name(n->names, (uint32_t)b[0] << 24 |
		    (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]);
	return (dns_answer(p->bytes, q, name == NULL ? DNS_NXDOMAIN :
	    DNS_NOERROR, 0, name, out));
}

static void
serve(struct neuron *n, int fd, struct packet *p)
{
	uint8_t out[DNS_ANSWER_MAX];
	struct dns_query q;
	size_t size;
	int rcode;

	if ((rcode = dns_read(p->bytes, p->size, &q)) == -1)
		return;
	if (rcode != DNS_NOERROR)
		size = dns_answer(p->bytes, &q, rcode, 0, NULL, out);
	else if (q.reverse)
		size = answer_reverse(n, p, &q, out);
	else
		size = answer_name(n, p, &q, out);
	p->iov.iov_base = out;
	p->iov.iov_len = size;
	/* A client that is not there any more has no answer to miss. */
	(void)sendmsg(fd, &p->msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
dnsd_serve(struct neuron *n, int fd)
{
	struct packet p;
	ssize_t size;
	int i;

	for (i = 0; i < QUERIES_MAX; i++) {
		if (report_busy()) {
			neuron_pause(n, PAUSE_MS);
			return;
		}
		memset(&p.msg, 0, sizeof(p.msg));
		p.iov.iov_base = p.bytes;
		p.iov.iov_len = sizeof(p.bytes);
		p.msg.msg_name = &p.from;
		p.msg.msg_namelen = sizeof(p.from);
		p.msg.msg_iov = &p.iov;
		p.msg.msg_iovlen = 1;
		p.msg.msg_control = p.control;
		p.msg.msg_controllen = sizeof(p.control);
		size = recvmsg(fd, &p.msg, MSG_DONTWAIT);
		if (size == -1)
			return;
		if (p.msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
			continue;
		p.size = (size_t)size;
		p.msg.msg_flags = 0;
		serve(n, fd, &p);
	}
}
