/*
 * TLS, between its ClientHello and the rest: a server may ask for a second
 * ClientHello, and goes by the name in that one.  So the first goes on alone,
 * until the server's answer says that there is none, or the second was read.
 */
#include <event2/event.h>
#include <errno.h>

#include "clock.h"
#include "conn_int.h"
#include "hello.h"
#include "proc.h"
#include "without.h"

static void
moved(struct conn *c, uint64_t *count, size_t n)
{
	*count += n;
	(void)neuron_moved(c->neuron, n);
}

static void
again_late(struct conn *c)
{
	conn_end(c, EGRESS_END_IDLE);
}

/* ---- the second ClientHello ---- */

static void
read_again(struct conn *c)
{
	struct hello hello;
	const char *why = NULL;
	enum refusal refused;
	size_t used;

	switch (hello_read_again(buf_data(&c->in), buf_size(&c->in), &hello,
	    &used, &why)) {
	case HELLO_MORE:
		break;
	case HELLO_BAD:
		conn_refuse(c, REFUSE_NOT_TLS, why, NULL, NULL);
		break;
	case HELLO_OK:
		refused = WITHOUT(egress_sni) ? REFUSE_NOT :
		    hello_check(&hello, &c->host);
		if (refused != REFUSE_NOT)
			conn_refuse(c, refused, "the second ClientHello",
			    NULL, NULL);
		else
			tunnel_relay(c);
		break;
	}
}

/* ---- the server's answer ---- */

/* What the server said is for the client now. */
static int
hand_down(struct conn *c)
{
	if (buf_size(&c->answer) > 0 && buf_add(&c->out,
	    buf_data(&c->answer), buf_size(&c->answer)) == -1) {
		conn_end(c, EGRESS_END_FAILED);
		return (-1);
	}
	buf_free(&c->answer);
	return (0);
}

static void
read_answer(struct conn *c)
{
	enum hello_answer answer;

	answer = hello_answer(buf_data(&c->answer), buf_size(&c->answer));
	if (answer != ANSWER_MORE && hand_down(c) == -1)
		return;
	switch (answer) {
	case ANSWER_MORE:
		event_add(&c->up_ev, NULL);
		break;
	case ANSWER_OTHER:
		tunnel_relay(c);
		break;
	case ANSWER_BAD:
		conn_refuse(c, REFUSE_UPSTREAM, NULL, NULL, c->address);
		break;
	case ANSWER_RETRY:
		moved(c, &c->early_down, buf_size(&c->out));
		c->readable = read_again;
		conn_listen(c, 1);
		if (conn_flush(c) == 0 && buf_size(&c->in) > 0)
			read_again(c);
		break;
	}
}

static void
on_answer(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	ssize_t n;

	(void)what;
	n = buf_read(&c->answer, fd, READ_SIZE);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		event_add(&c->up_ev, NULL);
	else if (n > 0)
		read_answer(c);
	else if (hand_down(c) == 0)
		tunnel_relay(c);	/* it ends as it does */
}

/* ---- the first ClientHello ---- */

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	ssize_t n;

	(void)what;
	while (buf_size(&c->first) > 0) {
		n = buf_send(&c->first, fd);
		if (n == -1 && errno == EAGAIN) {
			event_add(&c->up_ev, NULL);
			return;
		}
		if (n == -1) {
			conn_end(c, EGRESS_END_FAILED);
			return;
		}
		moved(c, &c->early_up, (size_t)n);
	}
	event_assign(&c->up_ev, proc_base(), fd, EV_READ, on_answer, c);
	event_add(&c->up_ev, NULL);
}

void
tunnel_hello(struct conn *c, size_t used)
{
	conn_listen(c, 0);
	c->late = again_late;
	conn_timer(c, neuron_limit(c->neuron, LIMIT_EGRESS_IDLE));
	if (buf_add(&c->first, buf_data(&c->in), used) == -1) {
		conn_end(c, EGRESS_END_FAILED);
		return;
	}
	buf_drop(&c->in, used);
	event_assign(&c->up_ev, proc_base(), c->up, EV_WRITE, on_writable, c);
	on_writable(c->up, EV_WRITE, c);
}
