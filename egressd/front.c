/*
 * What a client says first: SOCKS5, a request to the proxy, TLS or plain HTTP
 * to a host that it thinks it has reached.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <arpa/inet.h>
#include <string.h>

#include "conn_int.h"
#include "socks.h"

static void
socks_bad(struct conn *c, const struct head_bad *bad, int reply)
{
	uint8_t answer[SOCKS_REPLY_SIZE];

	report_denied(c->neuron, bad->why, c->via, c->host.name, c->port,
	    NULL, NULL, bad->detail);
	socks_reply(reply, answer);
	(void)buf_add(&c->out, answer, sizeof(answer));
	conn_finish(c);
}

static void
read_socks_request(struct conn *c)
{
	struct head_bad bad;
	size_t used;
	int reply;

	switch (socks_request(buf_data(&c->in), buf_size(&c->in), &used,
	    &c->host, &c->port, &bad, &reply)) {
	case HEAD_MORE:
		break;
	case HEAD_BAD:
		c->host.name[0] = '\0';
		socks_bad(c, &bad, reply);
		break;
	case HEAD_OK:
		buf_drop(&c->in, used);
		tunnel_want(c);
		break;
	}
}

static void
read_socks_greeting(struct conn *c)
{
	uint8_t answer[SOCKS_METHOD_SIZE];
	enum head_result result;
	size_t used;

	result = socks_greeting(buf_data(&c->in), buf_size(&c->in), &used,
	    answer);
	if (result == HEAD_MORE)
		return;
	(void)buf_add(&c->out, answer, sizeof(answer));
	if (result == HEAD_BAD) {
		report_denied(c->neuron, REFUSE_BAD_REQUEST, c->via, NULL, 0,
		    NULL, NULL, "SOCKS5 without a method that is known");
		conn_finish(c);
		return;
	}
	buf_drop(&c->in, used);
	c->readable = read_socks_request;
	if (conn_flush(c) == 0 && buf_size(&c->in) > 0)
		read_socks_request(c);
}

static void
read_first(struct conn *c)
{
	if (buf_data(&c->in)[0] == SOCKS_VERSION) {
		c->via = EGRESS_VIA_SOCKS;
		c->readable = read_socks_greeting;
		read_socks_greeting(c);
	} else {
		c->via = EGRESS_VIA_HTTP;
		http_start(c, REQUEST_PROXY);
	}
}

static void
read_plain(struct conn *c)
{
	http_start(c, REQUEST_PLAIN);
}

/* The name whose address the client has connected to, if it is one. */
static void
find_name(struct conn *c)
{
	struct sockaddr_in sin;
	socklen_t size = sizeof(sin);
	const char *name, *why;

	if (getsockname(c->client, (struct sockaddr *)&sin, &size) == -1 ||
	    sin.sin_family != AF_INET)
		return;
	name = names_name(c->neuron->names, ntohl(sin.sin_addr.s_addr));
	if (name != NULL && host_read(name, strlen(name), &c->host, &why) ==
	    REFUSE_NOT)
		c->fixed = 1;
	else
		memset(&c->host, 0, sizeof(c->host));
}

void
front_start(struct conn *c)
{
	switch (c->which) {
	case LISTENER_PROXY:
		c->via = EGRESS_VIA_HTTP;
		c->readable = read_first;
		break;
	case LISTENER_TLS:
		c->via = EGRESS_VIA_TLS;
		c->port = EGRESS_TLS_PORT;
		find_name(c);
		tunnel_tls(c);
		return;
	default:
		c->via = EGRESS_VIA_PLAIN;
		c->port = EGRESS_PLAIN_PORT;
		find_name(c);
		c->readable = read_plain;
		break;
	}
	conn_listen(c, 1);
}
