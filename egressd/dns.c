/*
 * The resolver inside a neuron: queries and answers.
 *
 * One question, no name compressed, nothing behind it but EDNS: what else
 * comes is answered FORMERR.  The question goes back as it came, so that
 * clients that mix cases know it again.
 */
#include <string.h>

#include "dns.h"

#define HEADER		12
#define FLAG_QR		0x8000
#define FLAG_OPCODE	0x7800
#define FLAG_RD		0x0100
#define FLAG_RA		0x0080
#define CLASS_IN	1
#define TYPE_OPT	41
#define LABEL_MAX	63
#define POINTER		0xc0

static unsigned
get16(const uint8_t *p)
{
	return ((unsigned)p[0] << 8 | p[1]);
}

static void
put16(uint8_t *p, unsigned value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static void
put32(uint8_t *p, uint32_t value)
{
	put16(p, value >> 16);
	put16(p + 2, value & 0xffff);
}

/*
 * The name as text with dots; a dot or a NUL within a label has no text.
 * Returns the bytes that it takes up, or 0.
 */
static size_t
read_labels(const uint8_t *p, size_t size, char *text, size_t *ntext)
{
	size_t at = 0, n;

	*ntext = 0;
	while (at < size && p[at] != 0) {
		n = p[at++];
		if (n > LABEL_MAX || n >= size - at || *ntext + n + 1 >
		    EGRESS_NAME_MAX + 1 || memchr(p + at, '.', n) != NULL ||
		    memchr(p + at, '\0', n) != NULL)
			return (0);
		if (*ntext > 0)
			text[(*ntext)++] = '.';
		memcpy(text + *ntext, p + at, n);
		*ntext += n;
		at += n;
	}
	return (at < size ? at + 1 : 0);
}

/* D.C.B.A.in-addr.arpa */
static int
read_reverse(const char *name, struct address *a)
{
	static const char zone[] = ".in-addr.arpa";
	size_t n = strlen(name), i;
	struct address back;

	if (n < sizeof(zone) || strcmp(name + n - sizeof(zone) + 1,
	    zone) != 0 || address_read(name, n - sizeof(zone) + 1,
	    &back) == -1 || back.family != AF_INET)
		return (0);
	memset(a, 0, sizeof(*a));
	a->family = AF_INET;
	for (i = 0; i < 4; i++)
		a->bytes[i] = back.bytes[3 - i];
	return (1);
}

/* An OPT record and nothing else; the root's name, so 11 bytes and its data. */
static int
read_opt(const uint8_t *p, size_t size)
{
	return (size >= 11 && p[0] == 0 && get16(p + 1) == TYPE_OPT &&
	    size - 11 == get16(p + 9));
}

static int
read_question(const uint8_t *p, size_t size, struct dns_query *q,
    unsigned more)
{
	char text[EGRESS_NAME_MAX + 2];
	size_t n, ntext;
	const char *why;
	unsigned class;

	n = read_labels(p, size, text, &ntext);
	if (n == 0 || size - n < 4)
		return (DNS_FORMERR);
	q->type = (uint16_t)get16(p + n);
	class = get16(p + n + 2);
	q->question = n + 4;
	p += n + 4;
	size -= n + 4;
	if (more == 1 && !read_opt(p, size))
		return (DNS_FORMERR);
	if (more == 0 && size > 0)
		return (DNS_FORMERR);
	q->edns = more == 1;
	if (class != CLASS_IN)
		return (DNS_REFUSED);
	if (ntext == 0 || host_read(text, ntext, &q->name, &why) !=
	    REFUSE_NOT || q->name.is_address)
		return (DNS_REFUSED);
	q->reverse = q->type == DNS_PTR && read_reverse(q->name.name,
	    &q->address);
	return (DNS_NOERROR);
}

int
dns_read(const uint8_t *p, size_t size, struct dns_query *q)
{
	memset(q, 0, sizeof(*q));
	if (size < HEADER)
		return (-1);
	q->id = (uint16_t)get16(p);
	q->flags = (uint16_t)get16(p + 2);
	if (q->flags & FLAG_QR)
		return (-1);
	if (q->flags & FLAG_OPCODE)
		return (DNS_NOTIMP);
	if (size > DNS_QUERY_MAX || get16(p + 4) != 1 || get16(p + 6) != 0 ||
	    get16(p + 8) != 0 || get16(p + 10) > 1)
		return (DNS_FORMERR);
	return (read_question(p + HEADER, size - HEADER, q, get16(p + 10)));
}

/* The name as labels; its bytes.  It is canonical, so that it fits. */
static size_t
put_name(uint8_t *p, const char *name)
{
	size_t at = 0, n;

	for (;;) {
		n = strcspn(name, ".");
		p[at++] = (uint8_t)n;
		memcpy(p + at, name, n);
		at += n;
		if (name[n] == '\0')
			break;
		name += n + 1;
	}
	p[at++] = 0;
	return (at);
}

static size_t
put_record(uint8_t *p, unsigned type, uint32_t address, const char *name)
{
	size_t n = 4;

	put16(p, POINTER << 8 | HEADER);
	put16(p + 2, type);
	put16(p + 4, CLASS_IN);
	put32(p + 6, DNS_TTL);
	if (type == DNS_A)
		put32(p + 12, address);
	else
		n = put_name(p + 12, name);
	put16(p + 10, (unsigned)n);
	return (12 + n);
}

size_t
dns_answer(const uint8_t *query, const struct dns_query *q, int rcode,
    uint32_t address, const char *name, uint8_t out[DNS_ANSWER_MAX])
{
	size_t n = HEADER;
	int has = rcode == DNS_NOERROR && ((q->type == DNS_A &&
	    address != 0) || (q->type == DNS_PTR && name != NULL));

	memset(out, 0, HEADER);
	put16(out, q->id);
	put16(out + 2, FLAG_QR | (q->flags & (FLAG_OPCODE | FLAG_RD)) |
	    FLAG_RA | (unsigned)rcode);
	if (q->question > 0) {
		put16(out + 4, 1);
		memcpy(out + n, query + HEADER, q->question);
		n += q->question;
	}
	if (has) {
		put16(out + 6, 1);
		n += put_record(out + n, q->type, address, name);
	}
	if (q->edns) {
		put16(out + 10, 1);
		memset(out + n, 0, 11);
		put16(out + n + 1, TYPE_OPT);
		put16(out + n + 3, DNS_QUERY_MAX);
		n += 11;
	}
	return (n);
}
