/*
 * TLS: the ClientHello out of the first bytes of a connection.
 *
 * The handshake message is put together from its records first, so that every
 * split of it reads the same.  Extensions that are read must be whole and
 * stand there once; the others are skipped.
 */
#include <string.h>

#include "hello.h"
#include "without.h"

#define RECORD_HEADER		5
#define RECORD_MAX		16384	/* RFC 8446, 5.1 */
#define RECORD_HANDSHAKE	22
#define MESSAGE_HEADER		4
#define MESSAGE_CLIENT_HELLO	1
#define MESSAGE_SERVER_HELLO	2
#define RECORD_CIPHER		20
#define RECORD_DATA		23
#define RECORD_DATA_MAX		(RECORD_MAX + 256)
#define EXT_SERVER_NAME		0
#define EXT_ALPN		16
#define EXT_VERSIONS		43
#define EXT_ESNI		0xffce	/* drafts before ECH */
#define EXT_ECH			0xfe0d
#define VERSION_13		0x0304

/* A cursor, with a sticky error. */
struct cursor {
	const uint8_t	*p;
	size_t		 left;
	int		 bad;
};

static unsigned
get(struct cursor *c, size_t width)
{
	unsigned value = 0;

	if (c->left < width) {
		c->bad = 1;
		c->left = 0;
		return (0);
	}
	for (; width > 0; width--, c->left--)
		value = value << 8 | *c->p++;
	return (value);
}

/* A field with its length before it, of so many bytes. */
static struct cursor
get_field(struct cursor *c, size_t width)
{
	struct cursor field = { NULL, 0, 0 };
	size_t n = get(c, width);

	if (c->bad || n > c->left) {
		c->bad = 1;
		c->left = 0;
		return (field);
	}
	field.p = c->p;
	field.left = n;
	c->p += n;
	c->left -= n;
	return (field);
}

/*
 * Copies what the records carry.  HELLO_OK: a whole message; *used is where
 * its last record ends.
 */
static enum hello_result
join(const uint8_t *p, size_t size, uint8_t *message, size_t *total,
    size_t *used, const char **why)
{
	size_t at = 0, have = 0, need = MESSAGE_HEADER, n, records;

	for (records = 0; have < need; records++) {
		if (records == HELLO_RECORDS_MAX) {
			*why = "the ClientHello is in too many records";
			return (HELLO_BAD);
		}
		if ((size > at && p[at] != RECORD_HANDSHAKE) ||
		    (size > at + 1 && p[at + 1] != 3)) {
			*why = "this is no TLS handshake";
			return (HELLO_BAD);
		}
		if (at + RECORD_HEADER > HELLO_MAX) {
			*why = "the ClientHello is too large";
			return (HELLO_BAD);
		}
		if (size < at + RECORD_HEADER)
			return (HELLO_MORE);
		n = (size_t)p[at + 3] << 8 | p[at + 4];
		if (n == 0 || n > RECORD_MAX || at + RECORD_HEADER + n >
		    HELLO_MAX) {
			*why = n == 0 ? "a record is empty" :
			    "the ClientHello is too large";
			return (HELLO_BAD);
		}
		at += RECORD_HEADER;
		if (size > at && have == 0 && p[at] != MESSAGE_CLIENT_HELLO) {
			*why = "the handshake begins with no ClientHello";
			return (HELLO_BAD);
		}
		if (size < at + n)
			return (HELLO_MORE);
		memcpy(message + have, p + at, n);
		have += n;
		at += n;
		if (need == MESSAGE_HEADER && have >= MESSAGE_HEADER)
			need += (size_t)message[1] << 16 |
			    (size_t)message[2] << 8 | message[3];
		if (need > HELLO_MAX) {
			*why = "the ClientHello is too large";
			return (HELLO_BAD);
		}
	}
	if (have != need) {
		*why = "something follows the ClientHello in its record";
		return (HELLO_BAD);
	}
	*total = need;
	*used = at;
	return (HELLO_OK);
}

/* One name, of the only type there is (RFC 6066, 3). */
static const char *
server_name(struct cursor body, struct hello *h)
{
	struct cursor list = get_field(&body, 2), name;
	const char *why;
	unsigned type;

	type = get(&list, 1);
	name = get_field(&list, 2);
	if (body.bad || body.left > 0 || list.bad || list.left > 0 ||
	    type != 0)
		return ("server_name is malformed");
	if (host_read((const char *)name.p, name.left, &h->name, &why) !=
	    REFUSE_NOT)
		return ("server_name is no host's name");
	h->has_name = 1;
	return (NULL);
}

static const char *
alpn(struct cursor body, struct hello *h)
{
	struct cursor list = get_field(&body, 2), name;

	if (body.bad || body.left > 0)
		return ("the ALPN extension is malformed");
	while (list.left > 0) {
		name = get_field(&list, 1);
		if (list.bad || name.left == 0)
			return ("the ALPN extension is malformed");
		if (name.left == 2 && memcmp(name.p, "h2", 2) == 0)
			h->http2 = 1;
	}
	return (NULL);
}

static const char *
versions(struct cursor body, struct hello *h)
{
	struct cursor list = get_field(&body, 1);

	if (body.bad || body.left > 0 || list.left % 2 != 0)
		return ("supported_versions is malformed");
	while (list.left > 0)
		if (get(&list, 2) == VERSION_13)
			h->version13 = 1;
	return (NULL);
}

/* Extensions that are read; each may stand there once. */
static const struct {
	unsigned	 type;
	const char	*(*read)(struct cursor, struct hello *);
} readers[] = {
	{ EXT_SERVER_NAME, server_name },
	{ EXT_ALPN, alpn },
	{ EXT_VERSIONS, versions }
};
#define NREADERS	(sizeof(readers) / sizeof(readers[0]))

static const char *
extensions(struct cursor list, struct hello *h)
{
	struct cursor body;
	const char *why;
	unsigned type, seen = 0;
	size_t i;

	while (list.left > 0) {
		type = get(&list, 2);
		body = get_field(&list, 2);
		if (list.bad)
			return ("an extension is cut off");
		if (type == EXT_ECH || type == EXT_ESNI)
			h->ech = 1;
		for (i = 0; i < NREADERS; i++) {
			if (readers[i].type != type)
				continue;
			if (seen & 1u << i)
				return ("an extension is there twice");
			seen |= 1u << i;
			if ((why = readers[i].read(body, h)) != NULL)
				return (why);
		}
	}
	return (NULL);
}

static const char *
client_hello(struct cursor c, struct hello *h)
{
	struct cursor list;
	int i;

	(void)get(&c, MESSAGE_HEADER);
	if (get(&c, 2) >> 8 != 3)
		return ("the ClientHello is of no TLS version");
	for (i = 0; i < 8; i++)			/* random */
		(void)get(&c, 4);
	(void)get_field(&c, 1);			/* session id */
	(void)get_field(&c, 2);			/* cipher suites */
	(void)get_field(&c, 1);			/* compression */
	if (c.bad)
		return ("the ClientHello is cut off");
	if (c.left == 0)			/* before TLS had extensions */
		return (NULL);
	list = get_field(&c, 2);
	if (c.bad || c.left > 0)
		return ("the ClientHello's extensions are cut off");
	return (extensions(list, h));
}

enum hello_result
hello_read(const uint8_t *p, size_t size, struct hello *h, size_t *used,
    const char **why)
{
	uint8_t message[HELLO_MAX];
	struct hello found;
	enum hello_result r;
	size_t n = 0;

	*why = NULL;
	if (size > HELLO_MAX)
		size = HELLO_MAX;
	if ((r = join(p, size, message, &n, used, why)) != HELLO_OK)
		return (r);
	memset(&found, 0, sizeof(found));
	*why = client_hello((struct cursor){ message, n, 0 }, &found);
	if (*why != NULL)
		return (HELLO_BAD);
	*h = found;
	return (HELLO_OK);
}

enum hello_answer
hello_answer(const uint8_t *p, size_t size)
{
	/* The random of a ServerHello that is none (RFC 8446, 4.1.3). */
	static const uint8_t retry[32] = {
		0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
		0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
		0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
		0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c
	};
	size_t at = RECORD_HEADER + MESSAGE_HEADER + 2;

	if ((size > 0 && p[0] != RECORD_HANDSHAKE) ||
	    (size > RECORD_HEADER &&
	    p[RECORD_HEADER] != MESSAGE_SERVER_HELLO))
		return (ANSWER_OTHER);
	if (size <= RECORD_HEADER)
		return (ANSWER_MORE);
	if (((size_t)p[3] << 8 | p[4]) < MESSAGE_HEADER + 2 + sizeof(retry))
		return (ANSWER_BAD);
	if (size < at + sizeof(retry))
		return (ANSWER_MORE);
	return (memcmp(p + at, retry, sizeof(retry)) == 0 ? ANSWER_RETRY :
	    ANSWER_OTHER);
}

enum hello_result
hello_read_again(const uint8_t *p, size_t size, struct hello *h,
    size_t *used, const char **why)
{
	enum hello_result r;
	size_t at = 0, n;

	*why = NULL;
	while (at < size && (p[at] == RECORD_CIPHER || p[at] ==
	    RECORD_DATA)) {
		if (size < at + RECORD_HEADER)
			return (HELLO_MORE);
		n = (size_t)p[at + 3] << 8 | p[at + 4];
		if (n == 0 || n > RECORD_DATA_MAX || at + RECORD_HEADER + n >
		    HELLO_EARLY_MAX) {
			*why = "too much comes before the second ClientHello";
			return (HELLO_BAD);
		}
		at += RECORD_HEADER + n;
	}
	if (at > size)
		return (HELLO_MORE);
	r = hello_read(p + at, size - at, h, used, why);
	*used += at;
	return (r);
}

enum refusal
hello_check(const struct hello *h, const struct host *host)
{
	if (WITHOUT(egress_sni))
		return (REFUSE_NOT);
	if (h->ech)
		return (REFUSE_ECH);
	if (!h->has_name)
		return (REFUSE_NO_SNI);
	return (host_same(&h->name, host) ? REFUSE_NOT : REFUSE_SNI);
}

void
hello_alert(enum refusal why, uint8_t out[HELLO_ALERT_SIZE])
{
	static const uint8_t alert[HELLO_ALERT_SIZE] = {
		21, 3, 3, 0, 2, 2, 49		/* fatal, access_denied */
	};

	memcpy(out, alert, sizeof(alert));
	if (why == REFUSE_SNI || why == REFUSE_NO_SNI)
		out[6] = 112;			/* unrecognized_name */
}
