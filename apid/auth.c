/*
 * Requests that must say whose they are: bearer tokens.
 *
 * A token goes to policyd unread, for every request anew, so that a key which
 * was revoked is good for nothing from the next request on, and a connection
 * that a proxy shares among its clients is never anybody's for good.  Until
 * policyd has answered, nothing of the request but its head is looked at: a
 * stranger can't tell a path that is there from one that is not.
 */
#include <event2/bufferevent.h>
#include <string.h>

#include "conn_internal.h"
#include "mcp_read.h"
#include "policy.h"
#include "rate.h"
#include "without.h"

#define AUTH_TIME	10	/* s until policyd must have answered */

/* The one question that anybody may ask. */
static int
is_open(const struct conn *c)
{
	return (strcmp(c->head.path, "/healthz") == 0 &&
	    strcmp(c->head.method, "GET") == 0);
}

int
auth_needed(const struct conn *c)
{
	unsigned flags = listen_of(c)->flags;

	if ((flags & LISTEN_TCP) != 0)
		return (1);
	return ((flags & LISTEN_TOKEN) != 0 && !is_open(c));
}

void
auth_refuse(struct conn *c)
{
	conn_header(c, "WWW-Authenticate", "Bearer");
	conn_error(c, API_UNAUTHORIZED, "no token that is good");
}

/* Whoever it was before, it is not known to be the same again. */
static void
forget(struct conn *c)
{
	if (c->peer == PEER_KNOWN || c->peer == PEER_OVER)
		policy_peer_gone(c->handle);
	c->peer = PEER_UNASKED;
}

static const char *
wrong_host(const struct conn *c)
{
	const struct conn_listen *l = listen_of(c);

	if ((l->flags & LISTEN_TCP) == 0)
		return (NULL);
	return (host_wrong(http_text(&c->head, TEXT_HOST),
	    http_text(&c->head, TEXT_ORIGIN), &l->hosts, l->address));
}

void
auth_begin(struct conn *c)
{
	const char *wrong = wrong_host(c);

	if (c->peer == PEER_KNOWN && WITHOUT(auth_each)) {
		conn_route(c);
		return;
	}
	forget(c);
	if (wrong != NULL) {
		conn_error(c, API_FORBIDDEN, "%s", wrong);
		return;
	}
	if (is_open(c) || WITHOUT(auth_tcp)) {
		conn_route(c);
		return;
	}
	/* A number of its own: no late answer is taken for this one's. */
	if (!WITHOUT(auth_number))
		conn_renumber(c);
	if (!policy_up() || policy_auth(c, c->head.token) == -1) {
		conn_error_retry(c, API_UNAVAILABLE, 1,
		    "policyd is away; it is being started again");
		return;
	}
	explicit_bzero(c->head.token, sizeof(c->head.token));
	c->peer = PEER_WAITING;
	c->state = CONN_AUTH;
	conn_set_timer(c, AUTH_TIME);
}

void
auth_end(struct conn *c)
{
	switch (c->peer) {
	case PEER_KNOWN:
		if (rate_ok(c))
			conn_route(c);
		break;
	case PEER_OVER:
		conn_error_retry(c, API_TOO_MANY, 1, "%s is over the limit "
		    "\"%s\", %llu", c->who,
		    limit_table[LIMIT_CONNECTIONS_UID].keyword,
		    (unsigned long long)
		    conns_limits()->v[LIMIT_CONNECTIONS_UID]);
		break;
	case PEER_REFUSED:
		if (c->refused == 403)
			conn_error(c, API_FORBIDDEN, "you are %s: %s", c->who,
			    c->missing);
		else if (c->refused == 429)
			conn_error_retry(c, API_TOO_MANY, c->retry, "%s",
			    c->missing);
		else
			auth_refuse(c);
		break;
	default:
		conn_error_retry(c, API_UNAVAILABLE, 1,
		    "policyd is away; it is being started again");
		break;
	}
}
