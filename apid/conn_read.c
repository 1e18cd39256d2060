/*
 * The requests of a connection, as their bytes come.
 */
#include <stdlib.h>
#include <string.h>

#include "conn_internal.h"
#include "policy.h"
#include "rate.h"
#include "routes.h"

#define BODIES_ALL	4	/* times the largest body, of all clients */
#define BODY_SMALL	65536	/* such a body always has room */

static uint64_t		 bodies;	/* bytes, of the large ones */

void
conn_body_done(struct conn *c)
{
	free(c->body);
	c->body = NULL;
	c->body_size = 0;
	if (c->body_counted)
		bodies -= c->head.length;
	c->body_counted = 0;
}

static int
read_head(struct conn *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	size_t have = evbuffer_get_length(in), used;
	struct http_bad bad;
	enum http_result result;
	uint8_t *p;

	if (have == 0)
		return (0);
	/* The clock of a head does not start again with each of its bytes. */
	if (c->scanned == 0)
		conn_set_timer(c, HEAD_TIME);
	if (have > HTTP_HEAD_MAX)
		have = HTTP_HEAD_MAX;
	if ((p = evbuffer_pullup(in, (ev_ssize_t)have)) == NULL)
		return (0);
	result = http_head_read(p, have, &c->scanned, &c->head, &used, &bad);
	if (result == HTTP_MORE)
		return (0);
	c->scanned = 0;
	c->requests++;
	if (result == HTTP_BAD) {
		explicit_bzero(&c->head, sizeof(c->head));
		c->close = 1;
		/* A token that is larger than any is as wrong as any. */
		if (bad.huge && (listen_of(c)->flags & LISTEN_TOKEN) != 0)
			auth_refuse(c);
		else
			conn_error(c, bad.code, "%s", bad.why);
		return (1);
	}
	/* It is not to lie around in memory. */
	if (c->head.token[0] != '\0')
		explicit_bzero(p, used);
	evbuffer_drain(in, used);
	c->close = c->head.close;
	c->chunked = 0;
	c->body_left = c->head.length;
	if (auth_needed(c))
		auth_begin(c);
	else
		conn_route(c);
	return (1);
}

void
conn_route(struct conn *c)
{
	explicit_bzero(c->head.token, sizeof(c->head.token));
	if (route_find(c) == -1)
		return;
	c->state = CONN_BODY;
	conn_set_timer(c, BODY_TIME);
}

/* Room for a body, of which large ones share a bound. */
static int
make_body(struct conn *c)
{
	uint64_t n = c->head.length;

	if (n > BODY_SMALL) {
		if (bodies + n > BODIES_ALL * conns_limits()->v[LIMIT_BODY]) {
			conn_error_retry(c, API_TOO_MANY, 1, "the bodies "
			    "being read are over %d times the limit \"%s\"",
			    BODIES_ALL, limit_table[LIMIT_BODY].keyword);
			return (-1);
		}
		bodies += n;
		c->body_counted = 1;
	}
	if ((c->body = malloc(n + 1)) == NULL) {
		conn_error(c, API_INTERNAL, "memory for a body");
		return (-1);
	}
	return (0);
}

static void
run(struct conn *c)
{
	if (!c->route->anybody) {
		switch (c->peer) {
		case PEER_WAITING:
			c->state = CONN_PEER;
			conn_set_timer(c, PEER_TIME);
			return;
		case PEER_UNASKED:
			/* Another connection may be introduced again. */
			c->close = c->close || policy_up();
			conn_error_retry(c, API_UNAVAILABLE, 1,
			    "policyd is away; it is being started again");
			return;
		case PEER_REFUSED:
			conn_error(c, API_FORBIDDEN, "you are %s: %s",
			    c->who, c->missing);
			return;
		case PEER_OVER:
			c->close = 1;
			conn_error_retry(c, API_TOO_MANY, 1, "%s is over the "
			    "limit \"%s\", %llu", c->who,
			    limit_table[LIMIT_CONNECTIONS_UID].keyword,
			    (unsigned long long)
			    conns_limits()->v[LIMIT_CONNECTIONS_UID]);
			return;
		case PEER_KNOWN:
			/* With a token it was counted before its body came. */
			if ((listen_of(c)->flags & LISTEN_TOKEN) == 0 &&
			    !rate_ok(c))
				return;
			break;
		}
	}
	c->state = CONN_BUSY;
	c->stalled = 0;
	conn_set_timer(c, CONN_TICK);
	c->route->fn(c);
}

void
conn_continue(struct conn *c)
{
	if (c->head.expect &&
	    evbuffer_get_length(bufferevent_get_input(c->bev)) == 0)
		evbuffer_add_printf(conn_output(c),
		    "HTTP/1.1 100 Continue\r\n\r\n");
	c->head.expect = 0;
}

static int
read_body(struct conn *c)
{
	size_t n;

	if (c->route->body == BODY_RAW) {
		run(c);
		return (1);
	}
	if (c->route->body != BODY_NONE && c->body == NULL &&
	    make_body(c) == -1)
		return (1);
	if (c->body_left > 0)
		conn_continue(c);
	while (c->body_left > 0) {
		n = bufferevent_read(c->bev, c->body + c->body_size,
		    c->body_left);
		if (n == 0)
			return (0);
		c->body_size += n;
		c->body_left -= n;
		conn_set_timer(c, BODY_TIME);
	}
	run(c);
	return (1);
}

/* As far as it goes. */
void
conn_step(struct conn *c)
{
	int more = 1;

	while (more) {
		switch (c->state) {
		case CONN_HEAD:
			more = read_head(c);
			break;
		case CONN_BODY:
			more = read_body(c);
			break;
		case CONN_AUTH:
			if ((more = c->peer != PEER_WAITING))
				auth_end(c);
			break;
		case CONN_PEER:
			if ((more = c->peer != PEER_WAITING))
				run(c);
			break;
		case CONN_BUSY:
		case CONN_FLUSH:
		case CONN_LINGER:
			more = 0;
			break;
		}
	}
}
