/*
 * Plain HTTP: a verdict for each request, whatever connection it comes on.
 *
 * What goes to the host is written new from what was read, and a body goes on
 * only as far as its framing says: two readers can't part at different
 * places.  A host's connection is used again for the same host alone.
 */
#include <event2/event.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "conn_int.h"
#include "http.h"
#include "log.h"
#include "proc.h"
#include "response.h"

static void	on_client(struct conn *);

/* ---- the host's connection ---- */

void
http_close_up(struct conn *c)
{
	struct http *h = c->http;

	event_del(&h->up_in);
	event_del(&h->up_out);
	if (c->up != -1)
		close(c->up);
	c->up = -1;
	buf_free(&h->from_up);
	buf_free(&h->to_up);
	h->up_eof = 0;
}

static void
on_up_in(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;
	struct http *h = c->http;
	size_t most = neuron_allowance(c->neuron, CHUNK);
	ssize_t n;

	(void)what;
	if (most == 0) {
		event_del(&h->up_in);
		event_del(&c->ev);
		neuron_wait(c->neuron, &h->waiter);
		return;
	}
	n = buf_read(&h->from_up, fd, most);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		h->moved = now_ms();
		h->down += (uint64_t)n;
		if (neuron_moved(c->neuron, (size_t)n) == -1) {
			conn_end(c, EGRESS_END_BYTES);
			return;
		}
	} else {
		/* A reset ends what has no end of its own, too, but badly. */
		h->up_eof = 1;
		h->up_failed = n == -1;
	}
	http_go(c);
}

static void
on_up_out(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	http_go(arg);
}

static void
on_wake(void *arg)
{
	http_go(arg);
}

static void
up_ready(struct conn *c, int fd)
{
	struct http *h = c->http;

	c->up = fd;
	event_assign(&h->up_in, proc_base(), fd, EV_READ | EV_PERSIST,
	    on_up_in, c);
	event_assign(&h->up_out, proc_base(), fd, EV_WRITE, on_up_out, c);
}

static void
on_reached(void *arg, const struct reached *r)
{
	struct conn *c = arg;
	struct http *h = c->http;

	c->reach = NULL;
	(void)strlcpy(c->address, r->address, sizeof(c->address));
	if (r->why != REFUSE_NOT) {
		conn_refuse_http(c, r->why, r->detail, NULL, r->address,
		    strcmp(h->method, "HEAD") == 0);
		return;
	}
	up_ready(c, r->fd);
	h->up_host = c->host;
	h->up_port = c->port;
	h->up_flags = h->flags;
	http_exchange(c);
}

/* The way to the host of the request, unless there is one already. */
void
http_reach(struct conn *c)
{
	struct http *h = c->http;

	if (c->up != -1 && !h->up_eof && h->up_port == c->port &&
	    h->up_flags == h->flags && host_same(&h->up_host, &c->host)) {
		h->reused = 1;
		http_exchange(c);
		return;
	}
	http_close_up(c);
	h->reused = 0;
	h->phase = HTTP_REACH;
	conn_listen(c, 0);
	event_del(&c->timer);
	c->reach = reach_start(c->neuron, &c->host, c->port, h->flags,
	    on_reached, c);
	if (c->reach == NULL)
		conn_refuse_http(c, REFUSE_INTERNAL, NULL, NULL, NULL, 0);
}

/* ---- a request ---- */

/* The host that a connection is for may not change on its way. */
static int
other_host(const struct conn *c, const struct request *r)
{
	return (c->fixed && (!host_same(&c->http->fixed_host, &r->host) ||
	    r->port != c->http->fixed_port));
}

static void
connect_request(struct conn *c, size_t used)
{
	/* No tunnel begins where another host's answers could still come. */
	http_free(c->http);
	c->http = NULL;
	if (c->up != -1)
		close(c->up);
	c->up = -1;
	c->via = EGRESS_VIA_CONNECT;
	c->address[0] = '\0';
	buf_drop(&c->in, used);
	tunnel_want(c);
}

static void
take_request(struct conn *c, const struct request *r, size_t used)
{
	struct http *h = c->http;
	struct host_verdict v;
	enum refusal why;
	char *head;
	size_t size;

	(void)strlcpy(h->method, r->method, sizeof(h->method));
	c->host = r->host;
	c->port = r->port;
	if (r->connect) {
		connect_request(c, used);
		return;
	}
	if (other_host(c, r)) {
		conn_refuse_http(c, REFUSE_HOST_DIFFERS, "Host is not the "
		    "host that the connection is for", NULL, NULL,
		    strcmp(r->method, "HEAD") == 0);
		return;
	}
	why = neuron_judge(c->neuron, &c->host, c->port, h->method, &c->once,
	    &v);
	if (why != REFUSE_NOT) {
		conn_refuse_http(c, why, NULL, v.rule, NULL,
		    strcmp(r->method, "HEAD") == 0);
		return;
	}
	conn_passes(c, &v);
	h->flags = v.flags;
	h->close = r->close;
	h->retried = 0;
	h->up = h->down = 0;
	h->req_framing = r->framing;
	body_start(&h->req, r->framing, r->length, 0);
	h->req_done = r->framing == FRAME_NONE ||
	    (r->framing == FRAME_LENGTH && r->length == 0);
	h->res_head = h->res_done = 0;
	h->scanned_up = 0;
	buf_free(&h->head);
	if ((head = request_head(r, &size)) == NULL ||
	    buf_add(&h->head, head, size) == -1) {
		free(head);
		conn_end(c, EGRESS_END_FAILED);
		return;
	}
	free(head);
	buf_drop(&c->in, used);
	http_reach(c);
}

static void
bad_request(struct conn *c, const struct request *r,
    const struct head_bad *bad)
{
	c->host = r->host;
	c->port = r->port;
	conn_refuse_http(c, bad->why, bad->detail, NULL, NULL,
	    strcmp(r->method, "HEAD") == 0);
}

/* Looks for the next request in what has come. */
void
http_next(struct conn *c)
{
	struct http *h = c->http;
	struct head_bad bad;
	struct request r;
	size_t used;

	h->phase = HTTP_WAIT;
	conn_listen(c, 1);
	/* So that it is seen when the host closes its side. */
	if (c->up != -1 && !event_pending(&h->up_in, EV_READ, NULL))
		event_add(&h->up_in, NULL);
	if (buf_size(&c->in) == 0)
		return;
	if (report_busy()) {
		/* No request more than policyd can hear of. */
		conn_listen(c, 0);
		neuron_wait(c->neuron, &h->waiter);
		return;
	}
	memset(&r, 0, sizeof(r));
	switch (request_read(buf_data(&c->in), buf_size(&c->in), &h->scanned,
	    h->place, &r, &used, &bad)) {
	case HEAD_MORE:
		if (!h->begun) {
			h->begun = 1;
			conn_timer(c, HEAD_MS);
		}
		break;
	case HEAD_BAD:
		bad_request(c, &r, &bad);
		break;
	case HEAD_OK:
		h->scanned = 0;
		h->begun = 0;
		take_request(c, &r, used);
		break;
	}
}

/* ---- its life ---- */

static void
on_client(struct conn *c)
{
	http_go(c);
}

static void
http_late(struct conn *c)
{
	struct http *h = c->http;
	uint64_t idle = neuron_limit(c->neuron, LIMIT_EGRESS_IDLE);
	uint64_t most = neuron_limit(c->neuron, LIMIT_EGRESS_TOTAL);
	uint64_t now = now_ms(), since = now - h->moved, age = now - c->began;

	if (h->phase == HTTP_WAIT && h->begun)
		conn_end(c, EGRESS_END_IDLE);
	else if (age >= most)
		conn_end(c, EGRESS_END_TOTAL);
	else if (since >= idle)
		conn_end(c, EGRESS_END_IDLE);
	else
		conn_timer(c, idle - since < most - age ? idle - since :
		    most - age);
}

void
http_rest(struct conn *c)
{
	c->http->moved = now_ms();
	conn_timer(c, neuron_limit(c->neuron, LIMIT_EGRESS_IDLE));
}

void
http_start(struct conn *c, enum request_place place)
{
	struct http *h;

	if ((h = calloc(1, sizeof(*h))) == NULL) {
		conn_end(c, EGRESS_END_FAILED);
		return;
	}
	c->http = h;
	h->neuron = c->neuron;
	h->place = place;
	h->fixed_host = c->host;
	h->fixed_port = c->port;
	h->moved = now_ms();
	h->waiter.wake = on_wake;
	h->waiter.arg = c;
	up_ready(c, c->up);
	if (c->up != -1) {
		h->up_host = c->host;
		h->up_port = c->port;
		h->up_flags = c->flags;
	}
	c->readable = on_client;
	c->late = http_late;
	conn_timer(c, HEAD_MS);
	h->begun = 1;
	http_next(c);
}

void
http_free(struct http *h)
{
	if (h == NULL)
		return;
	event_del(&h->up_in);
	event_del(&h->up_out);
	neuron_wait_end(h->neuron, &h->waiter);
	buf_free(&h->head);
	buf_free(&h->to_up);
	buf_free(&h->from_up);
	free(h);
}

int
http_cut(struct conn *c)
{
	struct host_verdict v;

	(void)neuron_judge(c->neuron, &c->host, c->port,
	    c->http->method[0] == '\0' ? "GET" : c->http->method, NULL, &v);
	if (v.why == REFUSE_NOT || v.why == REFUSE_BYTES)
		return (0);
	return (!c->once || v.why == REFUSE_DENIED ||
	    v.why == REFUSE_NO_PROFILE);
}

size_t
http_read_size(const struct conn *c)
{
	return (c->http->phase == HTTP_EXCHANGE ? CHUNK : READ_SIZE);
}

void
http_bytes(const struct conn *c, uint64_t *up, uint64_t *down)
{
	*up = c->http->up;
	*down = c->http->down;
}
