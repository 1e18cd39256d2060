/*
 * Tunnels to ports that have no protocol of their own: who speaks first, and
 * what, says which it is.  TLS has to name the host, and plain HTTP is judged
 * request by request, as on the ports that these usually have: a tunnel is no
 * way around either.  All else goes on as it is.
 */
#include <event2/event.h>
#include <string.h>
#include <strings.h>

#include "conn_int.h"
#include "proc.h"
#include "without.h"

#define TLS_HANDSHAKE	0x16

enum kind { KIND_MORE, KIND_TLS, KIND_HTTP, KIND_OTHER };

/* RFC 9110, 5.6.2 */
static int
is_token(uint8_t b)
{
	return ((b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') ||
	    (b >= 'a' && b <= 'z') ||
	    (b != '\0' && strchr("!#$%&'*+-.^_`|~", b) != NULL));
}

static int
is_blank(uint8_t b)
{
	return (b == ' ' || b == '\t' || b == '\r' || b == '\v' || b == '\f');
}

/* Whether a line ends with HTTP's version, read as the laxest server would. */
static int
has_version(const uint8_t *line, size_t n)
{
	size_t end = n, at;

	while (end > 0 && is_blank(line[end - 1]))
		end--;
	for (at = end; at > 0 && !is_blank(line[at - 1]); at--)
		continue;
	return (at > 0 && end - at > 5 &&
	    strncasecmp((const char *)line + at, "HTTP/", 5) == 0);
}

static enum kind
kind_of(const uint8_t *p, size_t n)
{
	const uint8_t *end;
	size_t i;

	if (WITHOUT(egress_ports))
		return (KIND_OTHER);
	/* Servers pass over empty lines before a request (RFC 9112, 2.2). */
	for (; n > 0 && (*p == '\r' || *p == '\n'); p++)
		n--;
	if (n == 0)
		return (KIND_MORE);
	if (*p == TLS_HANDSHAKE)
		return (KIND_TLS);
	for (i = 0; i < n && is_token(p[i]); i++)
		continue;
	if (i == n && i < REQUEST_METHOD_MAX)
		return (KIND_MORE);
	if (i == 0 || i >= REQUEST_METHOD_MAX || !is_blank(p[i]))
		return (KIND_OTHER);
	if ((end = memchr(p, '\n', n)) == NULL)
		return (n < HEAD_MAX ? KIND_MORE : KIND_HTTP);
	return (has_version(p, (size_t)(end - p)) ? KIND_HTTP : KIND_OTHER);
}

/* Empty lines that came before a request are no part of it. */
static void
drop_empty_lines(struct buf *b)
{
	while (buf_size(b) > 0 && (*buf_data(b) == '\r' ||
	    *buf_data(b) == '\n'))
		buf_drop(b, 1);
}

/*
 * What it stands on is used up here: only now is it one connection, and not a
 * row of requests, each with a verdict of its own.
 */
static int
use(struct conn *c)
{
	struct host_verdict v;
	enum refusal why;

	event_del(&c->up_ev);
	why = neuron_judge(c->neuron, &c->host, c->port, NULL, &c->once,
	    &v);
	if (why == REFUSE_NOT)
		return (0);
	conn_refuse(c, why, NULL, v.rule, NULL);
	return (-1);
}

static void
on_up(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	(void)what;
	if (use(c) == 0)
		tunnel_relay(c);
}

static void
read_sniff(struct conn *c)
{
	switch (kind_of(buf_data(&c->in), buf_size(&c->in))) {
	case KIND_MORE:
		break;
	case KIND_TLS:
		if (use(c) == 0)
			tunnel_await_hello(c);
		break;
	case KIND_HTTP:
		event_del(&c->up_ev);
		drop_empty_lines(&c->in);
		c->fixed = 1;
		c->passed = 0;
		http_start(c, REQUEST_TUNNEL);
		break;
	case KIND_OTHER:
		if (use(c) == 0)
			tunnel_relay(c);
		break;
	}
}

static void
sniff_late(struct conn *c)
{
	conn_end(c, EGRESS_END_IDLE);
}

void
sniff_start(struct conn *c)
{
	event_assign(&c->up_ev, proc_base(), c->up, EV_READ, on_up, c);
	event_add(&c->up_ev, NULL);
	c->readable = read_sniff;
	c->late = sniff_late;
	conn_timer(c, neuron_limit(c->neuron, LIMIT_EGRESS_IDLE));
	conn_listen(c, 1);
	if (buf_size(&c->in) > 0)
		read_sniff(c);
}
