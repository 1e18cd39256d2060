/*
 * Plain HTTP: a request's bytes to the host, and the answer's to the client.
 */
#include <event2/event.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "http.h"
#include "response.h"

/* What a step says: GONE is of the connection itself. */
enum step { STEP_OK, STEP_GONE };

/* ---- up: the request ---- */

/* The body, as far as its framing says that it goes. */
static enum step
feed_request(struct conn *c)
{
	struct http *h = c->http;
	enum body_result result;
	size_t used;

	if (h->req_done || buf_size(&c->in) == 0 || buf_size(&h->to_up) >=
	    CHUNK)
		return (STEP_OK);
	if (neuron_allowance(c->neuron, CHUNK) == 0) {
		neuron_wait(c->neuron, &h->waiter);
		return (STEP_OK);
	}
	result = body_feed(&h->req, buf_data(&c->in), buf_size(&c->in), &used);
	if (result == BODY_BAD) {
		report_denied(c->neuron, REFUSE_FRAMING, c->via, c->host.name,
		    c->port, c->address, NULL, "the request's body");
		conn_end(c, EGRESS_END_FAILED);
		return (STEP_GONE);
	}
	if (used > 0 && buf_add(&h->to_up, buf_data(&c->in), used) == -1) {
		conn_end(c, EGRESS_END_FAILED);
		return (STEP_GONE);
	}
	buf_drop(&c->in, used);
	h->req_done = result == BODY_DONE;
	return (STEP_OK);
}

static enum step
send_up(struct conn *c)
{
	struct http *h = c->http;
	ssize_t n;

	while (c->up != -1 && buf_size(&h->to_up) > 0) {
		n = buf_send(&h->to_up, c->up);
		if (n == -1 && errno == EAGAIN) {
			event_add(&h->up_out, NULL);
			return (STEP_OK);
		}
		if (n == -1) {
			/* The answer may be there already. */
			buf_free(&h->to_up);
			h->req_done = h->close = 1;
			return (STEP_OK);
		}
		h->up += (uint64_t)n;
		h->moved = now_ms();
		if (neuron_moved(c->neuron, (size_t)n) == -1) {
			conn_end(c, EGRESS_END_BYTES);
			return (STEP_GONE);
		}
	}
	return (STEP_OK);
}

/* ---- down: the answer ---- */

/* There is none. */
static enum step
no_answer(struct conn *c)
{
	struct http *h = c->http;

	/*
	 * The host had closed it as this was sent: once more, on a new one,
	 * unless it could have done something the first time.
	 */
	if (h->reused && !h->retried && method_reads(h->method) &&
	    h->req_framing == FRAME_NONE && h->down == 0) {
		h->retried = 1;
		http_close_up(c);
		http_reach(c);
		return (STEP_GONE);
	}
	conn_refuse_http(c, REFUSE_UPSTREAM, "the host closed the connection "
	    "before its answer was whole", NULL, c->address,
	    strcmp(h->method, "HEAD") == 0);
	return (STEP_GONE);
}

static enum step
read_answer_head(struct conn *c)
{
	struct http *h = c->http;
	struct response r;
	struct head_bad bad;
	size_t used, size;
	char *head;

	switch (response_read(buf_data(&h->from_up), buf_size(&h->from_up),
	    &h->scanned_up, h->method, &r, &used, &bad)) {
	case HEAD_MORE:
		return (h->up_eof ? no_answer(c) : STEP_OK);
	case HEAD_BAD:
		conn_refuse_http(c, bad.why, bad.detail, NULL, c->address,
		    strcmp(h->method, "HEAD") == 0);
		return (STEP_GONE);
	case HEAD_OK:
		break;
	}
	h->scanned_up = 0;
	if (!r.interim) {
		h->res_head = 1;
		h->res_close = r.close || r.framing == FRAME_CLOSE;
		/* What comes before the request is whole is the last. */
		if (r.framing == FRAME_CLOSE || !h->req_done)
			h->close = 1;
		body_start(&h->res, r.framing, r.length, 1);
		h->res_done = r.framing == FRAME_NONE ||
		    (r.framing == FRAME_LENGTH && r.length == 0);
	}
	head = response_head(&r, !r.interim && h->close, &size);
	if (head == NULL || buf_add(&c->out, head, size) == -1) {
		free(head);
		conn_end(c, EGRESS_END_FAILED);
		return (STEP_GONE);
	}
	free(head);
	buf_drop(&h->from_up, used);
	return (STEP_OK);
}

static enum step
read_answer_body(struct conn *c)
{
	struct http *h = c->http;
	enum body_result result = BODY_MORE;
	size_t used = 0;

	if (buf_size(&h->from_up) > 0) {
		result = body_feed(&h->res, buf_data(&h->from_up),
		    buf_size(&h->from_up), &used);
		if (result == BODY_BAD || (used > 0 && buf_add(&c->out,
		    buf_data(&h->from_up), used) == -1)) {
			conn_end(c, EGRESS_END_FAILED);
			return (STEP_GONE);
		}
		buf_drop(&h->from_up, used);
	}
	if (result == BODY_DONE)
		h->res_done = 1;
	else if (h->up_eof && buf_size(&h->from_up) == 0) {
		/* Not whole: the client has to see that it is not. */
		if (h->up_failed || !body_end(&h->res)) {
			(void)buf_send(&c->out, c->client);
			conn_end(c, EGRESS_END_FAILED);
			return (STEP_GONE);
		}
		h->res_done = 1;
	}
	return (STEP_OK);
}

static enum step
read_answer(struct conn *c)
{
	struct http *h = c->http;
	size_t before;

	while (!h->res_done && buf_size(&c->out) < CHUNK) {
		before = buf_size(&h->from_up);
		if (before == 0 && !h->up_eof)
			break;
		if ((h->res_head ? read_answer_body(c) :
		    read_answer_head(c)) == STEP_GONE)
			return (STEP_GONE);
		if (buf_size(&h->from_up) == before && !h->res_done)
			break;
	}
	return (STEP_OK);
}

static enum step
send_down(struct conn *c)
{
	while (buf_size(&c->out) > 0) {
		if (buf_send(&c->out, c->client) != -1)
			continue;
		if (errno == EAGAIN) {
			event_add(&c->out_ev, NULL);
			return (STEP_OK);
		}
		conn_end(c, EGRESS_END_FAILED);
		return (STEP_GONE);
	}
	return (STEP_OK);
}

/* ---- both ---- */

/* What is to be read next, now that all that could move has. */
static void
listen_on(struct conn *c)
{
	struct http *h = c->http;
	int up = c->up != -1 && buf_size(&h->from_up) < CHUNK &&
	    buf_size(&c->out) < CHUNK && !h->up_eof;

	conn_listen(c, !h->req_done && buf_size(&c->in) < CHUNK);
	if (!up)
		event_del(&h->up_in);
	else if (!event_pending(&h->up_in, EV_READ, NULL))
		event_add(&h->up_in, NULL);
}

static void
exchange_done(struct conn *c)
{
	struct http *h = c->http;

	conn_log(c, EGRESS_END_CLOSED);
	buf_free(&h->head);
	/* Bytes behind an answer are nobody's. */
	if (h->res_close || h->up_eof || buf_size(&h->from_up) > 0)
		http_close_up(c);
	if (h->close || !h->req_done) {
		conn_finish(c);
		return;
	}
	http_rest(c);
	http_next(c);
}

static void
flushed(struct conn *c)
{
	c->flushed = NULL;
	http_go(c);
}

static void
go_on(struct conn *c)
{
	struct http *h = c->http;
	size_t in;

	do {
		in = buf_size(&c->in);
		if (feed_request(c) == STEP_GONE || send_up(c) == STEP_GONE)
			return;
	} while (buf_size(&c->in) < in && buf_size(&h->to_up) == 0);
	if (read_answer(c) == STEP_GONE || send_down(c) == STEP_GONE)
		return;
	if (h->res_done && buf_size(&c->out) == 0) {
		/* A host that has answered needs no more of the request. */
		if (buf_size(&h->to_up) > 0)
			h->close = 1;
		exchange_done(c);
	} else {
		if (buf_size(&c->out) > 0)
			c->flushed = flushed;
		listen_on(c);
	}
}

void
http_go(struct conn *c)
{
	struct http *h = c->http;

	switch (h->phase) {
	case HTTP_WAIT:
		/* A host that says something unasked is left. */
		if (c->up != -1 && (h->up_eof || buf_size(&h->from_up) > 0))
			http_close_up(c);
		http_next(c);
		break;
	case HTTP_REACH:
		break;
	case HTTP_EXCHANGE:
		go_on(c);
		break;
	}
}

/* The request's head, and all else as it comes. */
void
http_exchange(struct conn *c)
{
	struct http *h = c->http;

	h->phase = HTTP_EXCHANGE;
	http_rest(c);
	/* It stays, in case that it has to be sent again. */
	if (buf_add(&h->to_up, buf_data(&h->head), buf_size(&h->head)) == -1) {
		conn_end(c, EGRESS_END_FAILED);
		return;
	}
	go_on(c);
}
