/*
 * SOCKS5 (RFC 1928): CONNECT without authentication.
 */
#include <string.h>

#include "socks.h"

#define METHOD_NONE	0
#define METHOD_REFUSED	0xff
#define COMMAND_CONNECT	1
#define TYPE_V4		1
#define TYPE_NAME	3
#define TYPE_V6		4
#define REPLY_FAILED	1
#define REPLY_RULES	2
#define REPLY_COMMAND	7
#define REPLY_TYPE	8

enum head_result
socks_greeting(const uint8_t *p, size_t size, size_t *used,
    uint8_t answer[SOCKS_METHOD_SIZE])
{
	answer[0] = SOCKS_VERSION;
	answer[1] = METHOD_REFUSED;
	if (size > 0 && p[0] != SOCKS_VERSION)
		return (HEAD_BAD);
	if (size < 2 || size < 2u + p[1])
		return (HEAD_MORE);
	*used = 2u + p[1];
	if (memchr(p + 2, METHOD_NONE, p[1]) == NULL)
		return (HEAD_BAD);
	answer[1] = METHOD_NONE;
	return (HEAD_OK);
}

static enum head_result
bad(struct head_bad *b, int *reply, int value, const char *detail)
{
	*reply = value;
	return (head_refuse(b, REFUSE_BAD_REQUEST, detail));
}

static enum head_result
read_address(const uint8_t *p, int family, size_t n, struct host *host)
{
	struct address a;

	memset(&a, 0, sizeof(a));
	a.family = family;
	memcpy(a.bytes, p, n);
	host_of_address(&a, host);
	return (HEAD_OK);
}

static enum head_result
read_name(const uint8_t *p, size_t n, struct host *host, struct head_bad *b,
    int *reply)
{
	enum refusal refused;
	const char *why;

	refused = host_read((const char *)p, n, host, &why);
	if (refused == REFUSE_NOT)
		return (HEAD_OK);
	*reply = REPLY_RULES;
	return (head_refuse(b, refused, why));
}

enum head_result
socks_request(const uint8_t *p, size_t size, size_t *used, struct host *host,
    uint16_t *port, struct head_bad *b, int *reply)
{
	enum head_result result;
	size_t at = 4, n;

	memset(host, 0, sizeof(*host));
	*port = 0;
	*reply = REPLY_FAILED;
	if (size > 0 && p[0] != SOCKS_VERSION)
		return (bad(b, reply, REPLY_FAILED, "not SOCKS5"));
	if (size > 1 && p[1] != COMMAND_CONNECT)
		return (bad(b, reply, REPLY_COMMAND,
		    "SOCKS5 is for CONNECT alone"));
	if (size > 2 && p[2] != 0)
		return (bad(b, reply, REPLY_FAILED, "not SOCKS5"));
	if (size < 5)
		return (HEAD_MORE);
	if (p[3] != TYPE_V4 && p[3] != TYPE_NAME && p[3] != TYPE_V6)
		return (bad(b, reply, REPLY_TYPE,
		    "the type of SOCKS5's address is unknown"));
	n = p[3] == TYPE_V4 ? 4 : p[3] == TYPE_V6 ? 16 : p[4];
	at += p[3] == TYPE_NAME;
	if (size < at + n + 2)
		return (HEAD_MORE);
	if (p[3] == TYPE_NAME)
		result = read_name(p + at, n, host, b, reply);
	else
		result = read_address(p + at, p[3] == TYPE_V4 ? AF_INET :
		    AF_INET6, n, host);
	if (result != HEAD_OK)
		return (result);
	*port = (uint16_t)(p[at + n] << 8 | p[at + n + 1]);
	if (*port == 0) {
		memset(host, 0, sizeof(*host));
		return (bad(b, reply, REPLY_FAILED, "the port is 0"));
	}
	*used = at + n + 2;
	*reply = 0;
	return (HEAD_OK);
}

void
socks_reply(int reply, uint8_t out[SOCKS_REPLY_SIZE])
{
	memset(out, 0, SOCKS_REPLY_SIZE);
	out[0] = SOCKS_VERSION;
	out[1] = (uint8_t)reply;
	out[3] = TYPE_V4;
}
