/*
 * Tunnels: CONNECT, SOCKS5 and TLS to a host that the client thinks it has
 * reached.  On port 443 the ClientHello has to name the host that the verdict
 * was on, unless the rule says "opaque"; on port 80 each request in it is
 * judged as any other; sniff.c has the other ports.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "conn_int.h"
#include "hello.h"
#include "socks.h"
#include "without.h"

static const char established[] = "HTTP/1.1 200 Connection established\r\n\r\n";

static void	reach(struct conn *, const struct host_verdict *);

/* ---- bytes flow ---- */

static void
on_done(void *arg, enum egress_end end)
{
	conn_end(arg, end);
}

/* Ends what is idle, or has lasted for too long; else looks again. */
static void
tunnel_late(struct conn *c)
{
	uint64_t idle = neuron_limit(c->neuron, LIMIT_EGRESS_IDLE);
	uint64_t most = neuron_limit(c->neuron, LIMIT_EGRESS_TOTAL);
	uint64_t now = now_ms(), since = now - relay_moved(c->relay);
	uint64_t age = now - c->let;

	if (age >= most)
		conn_end(c, EGRESS_END_TOTAL);
	else if (since >= idle)
		conn_end(c, EGRESS_END_IDLE);
	else
		conn_timer(c, idle - since < most - age ? idle - since :
		    most - age);
}

void
tunnel_relay(struct conn *c)
{
	event_del(&c->out_ev);
	conn_listen(c, 0);
	c->relay = relay_start(c->neuron, c->client, c->up, &c->in, &c->out,
	    on_done, c);
	if (c->relay == NULL) {
		conn_end(c, EGRESS_END_FAILED);
		return;
	}
	c->late = tunnel_late;
	tunnel_late(c);
}

/* ---- the ClientHello ---- */

static void	read_hello(struct conn *);

static void
hello_late(struct conn *c)
{
	if (buf_size(&c->in) > 0)
		conn_refuse(c, REFUSE_NOT_TLS, "no ClientHello in time", NULL,
		    NULL);
	else
		conn_end(c, EGRESS_END_IDLE);
}

void
tunnel_await_hello(struct conn *c)
{
	c->readable = read_hello;
	c->late = hello_late;
	conn_timer(c, HEAD_MS);
	conn_listen(c, 1);
	if (buf_size(&c->in) > 0)
		read_hello(c);
}

/* It names a host, and the one of the verdict if there was one. */
static enum refusal
check(struct conn *c, const struct hello *hello)
{
	if (!c->fixed && c->which == LISTENER_TLS) {
		if (!hello->has_name)
			return (REFUSE_NO_SNI);
		c->host = hello->name;
	}
	return (WITHOUT(egress_sni) ? REFUSE_NOT :
	    hello_check(hello, &c->host));
}

/* On with the hello, alone where there could be a second one. */
static void
hello_sent(struct conn *c)
{
	if (c->hello > 0)
		tunnel_hello(c, c->hello);
	else
		tunnel_relay(c);
}

static void
hello_read_whole(struct conn *c, const struct hello *hello, size_t used)
{
	enum refusal why;
	struct host_verdict v;

	if ((why = check(c, hello)) != REFUSE_NOT) {
		conn_refuse(c, why, NULL, NULL, NULL);
		return;
	}
	c->hello = hello->version13 ? used : 0;
	if (c->up != -1) {
		hello_sent(c);
		return;
	}
	why = neuron_judge(c->neuron, &c->host, c->port, NULL, &c->once, &v);
	if (why != REFUSE_NOT)
		conn_refuse(c, why, NULL, v.rule, NULL);
	else
		reach(c, &v);
}

static void
read_hello(struct conn *c)
{
	struct hello hello;
	const char *why = NULL;
	size_t used;

	switch (hello_read(buf_data(&c->in), buf_size(&c->in), &hello, &used,
	    &why)) {
	case HELLO_MORE:
		break;
	case HELLO_BAD:
		conn_refuse(c, REFUSE_NOT_TLS, why, NULL, NULL);
		break;
	case HELLO_OK:
		hello_read_whole(c, &hello, used);
		break;
	}
}

/* ---- the way there ---- */

/* The client hears that it is through. */
static int
answer(struct conn *c)
{
	uint8_t reply[SOCKS_REPLY_SIZE];
	int error = 0;

	if (c->via == EGRESS_VIA_CONNECT)
		error = buf_add(&c->out, established, sizeof(established) - 1);
	else if (c->via == EGRESS_VIA_SOCKS) {
		socks_reply(0, reply);
		error = buf_add(&c->out, reply, sizeof(reply));
	}
	if (error == -1) {
		conn_end(c, EGRESS_END_FAILED);
		return (-1);
	}
	return (0);
}

/* There, or not: then it is refused. */
static int
reached(struct conn *c, const struct reached *r)
{
	c->reach = NULL;
	(void)strlcpy(c->address, r->address, sizeof(c->address));
	if (r->why != REFUSE_NOT) {
		conn_refuse(c, r->why, r->detail, NULL, r->address);
		return (-1);
	}
	c->up = r->fd;
	return (answer(c));
}

/* What was said may go on as it is. */
static void
on_open(void *arg, const struct reached *r)
{
	if (reached(arg, r) == 0)
		tunnel_relay(arg);
}

/* TLS has named the host. */
static void
on_named(void *arg, const struct reached *r)
{
	if (reached(arg, r) == 0)
		hello_sent(arg);
}

/* TLS has yet to name the host. */
static void
on_tls(void *arg, const struct reached *r)
{
	if (reached(arg, r) == 0 && conn_flush(arg) == 0)
		tunnel_await_hello(arg);
}

/* Who knows what it is going to be. */
static void
on_other(void *arg, const struct reached *r)
{
	if (reached(arg, r) == 0 && conn_flush(arg) == 0)
		sniff_start(arg);
}

/*
 * While the way is looked for, the client is not read: its place is taken
 * until that ends, so that nobody can look up more than connections allow.
 */
static void
reach(struct conn *c, const struct host_verdict *v)
{
	reach_cb *then = on_other;

	if ((v->flags & HOST_F_OPAQUE) != 0)
		then = on_open;
	else if (c->which == LISTENER_TLS)
		then = on_named;
	else if (c->port == EGRESS_TLS_PORT)
		then = on_tls;
	conn_listen(c, 0);
	event_del(&c->timer);
	conn_passes(c, v);
	c->reach = reach_start(c->neuron, &c->host, c->port, v->flags, then,
	    c);
	if (c->reach == NULL)
		conn_refuse(c, REFUSE_INTERNAL, NULL, NULL, NULL);
}

/* Port 80: a verdict for each request, with its method, as it comes. */
static void
plain(struct conn *c)
{
	if (answer(c) == -1 || conn_flush(c) == -1)
		return;
	c->fixed = 1;
	conn_listen(c, 1);
	http_start(c, REQUEST_PLAIN);
}

void
tunnel_want(struct conn *c)
{
	int is_plain = c->port == EGRESS_PLAIN_PORT, opaque;
	enum refusal why;
	struct host_verdict v;

	why = neuron_judge(c->neuron, &c->host, c->port,
	    is_plain ? "GET" : NULL, NULL, &v);
	opaque = (v.flags & HOST_F_OPAQUE) != 0;
	/* A grant is used once, so not before it is known what for. */
	if (why == REFUSE_NOT && (opaque || c->port == EGRESS_TLS_PORT))
		why = neuron_judge(c->neuron, &c->host, c->port, NULL,
		    &c->once, &v);
	if (why != REFUSE_NOT)
		conn_refuse(c, why, NULL, v.rule, NULL);
	else if (is_plain && !opaque)
		plain(c);
	else
		reach(c, &v);
}

/*
 * Where the address said which host is meant and its line says "opaque", the
 * client may wait for the host to speak first.
 */
void
tunnel_tls(struct conn *c)
{
	struct host_verdict v;

	if (c->fixed && neuron_judge(c->neuron, &c->host, c->port, NULL, NULL,
	    &v) == REFUSE_NOT && (v.flags & HOST_F_OPAQUE) != 0 &&
	    neuron_judge(c->neuron, &c->host, c->port, NULL, &c->once, &v) ==
	    REFUSE_NOT) {
		reach(c, &v);
		return;
	}
	tunnel_await_hello(c);
}
