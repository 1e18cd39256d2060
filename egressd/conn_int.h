/*
 * A connection, to the files that carry it on: conn.c (its life), front.c
 * (what the client says first), tunnel.c (CONNECT, SOCKS5, TLS), retry.c (a
 * second hello of TLS), sniff.c (other ports), http.c (plain HTTP).
 *
 * Whoever calls conn_end() or conn_refuse() returns at once: the connection is
 * gone, or on its way.  So does whoever calls a function that may.
 */
#ifndef EGRESSD_CONN_INT_H
#define EGRESSD_CONN_INT_H

#include <event2/event_struct.h>

#include "buf.h"
#include "conn.h"
#include "reach.h"
#include "relay.h"
#include "request.h"

#define HEAD_MS		10000	/* for what a client has to say first */
#define READ_SIZE	4096
#define CHUNK		65536	/* of plain HTTP, each way */

struct http;

struct conn {
	TAILQ_ENTRY(conn) entry;
	struct neuron	*neuron;
	enum egress_via	 via;
	unsigned	 which;		/* LISTENER_* that it came in on */
	int		 client;
	int		 up;		/* -1: none */
	uint16_t	 port;
	int		 fixed;		/* host is what any request must name */
	int		 passed;	/* it was let through: to be logged */
	int		 once;		/* by a grant that is used up */
	int		 closing;	/* an answer goes out, then it ends */
	int		 deaf;		/* what comes is thrown away */
	size_t		 thrown;	/* bytes of it */
	uint64_t	 began;		/* ms */
	uint64_t	 let;		/* ms: when it was let through */
	struct event	 ev;		/* the client: reading */
	struct event	 out_ev;	/* the client: writing */
	struct event	 timer;
	struct event	 up_ev;		/* the host speaks first (sniff.c) */
	unsigned	 flags;		/* HOST_F_* of the verdict */
	/* What came from the client, to be read by who is told of it. */
	void		(*readable)(struct conn *);
	void		(*flushed)(struct conn *);	/* out is empty */
	void		(*late)(struct conn *);		/* the timer */
	struct buf	 in, out;
	/* A ClientHello on its way, and what the host says to it. */
	size_t		 hello;		/* bytes of it; 0: no second one */
	struct buf	 first, answer;
	uint64_t	 early_up, early_down;	/* bytes, before the relay */
	struct host	 host;
	char		*rule;
	char		 address[ADDRESS_TEXT_MAX];
	struct reach	*reach;
	struct relay	*relay;
	struct http	*http;
};

/* ---- conn.c ---- */

void	conn_end(struct conn *, enum egress_end);
/* Time for c->late, ms from now. */
void	conn_timer(struct conn *, uint64_t ms);
/* Reads on or stops. */
void	conn_listen(struct conn *, int on);
/* Sends what is in c->out; then c->flushed.  -1: it is gone. */
int	conn_flush(struct conn *);
/* c->out goes, and the connection ends when the client has it. */
void	conn_finish(struct conn *);
/* Remembers the rule that lets it through. */
void	conn_passes(struct conn *, const struct host_verdict *);
void	conn_log(struct conn *, enum egress_end);

/*
 * Refuses: policyd is told if it is a denial, the client in the way that it
 * speaks.  rule and address may be NULL.
 */
void	conn_refuse(struct conn *, enum refusal, const char *detail,
	    const char *rule, const char *address);
void	conn_refuse_http(struct conn *, enum refusal, const char *detail,
	    const char *rule, const char *address, int head);

/* ---- front.c ---- */

void	front_start(struct conn *);

/* ---- tunnel.c ---- */

/* The client wants c->host on c->port: the verdict, then the way there. */
void	tunnel_want(struct conn *);
/* A connection to the transparent port 443. */
void	tunnel_tls(struct conn *);

/* The host is reached, and what comes goes on. */
void	tunnel_relay(struct conn *);
/* The host is reached, and TLS has yet to name it. */
void	tunnel_await_hello(struct conn *);

/* ---- retry.c ---- */

/* The host is reached, and TLS has named it in the first bytes of c->in: they
 * go on, the rest when no second hello can name another. */
void	tunnel_hello(struct conn *, size_t used);

/* ---- sniff.c ---- */

/* The host is reached, and what is spoken there has yet to be seen. */
void	sniff_start(struct conn *);

/* ---- http.c ---- */

/* Plain requests from now on, the first in c->in as far as it has come.  If
 * c->up is there, it leads to c->host. */
void	http_start(struct conn *, enum request_place);
void	http_free(struct http *);
/* The rules have changed: 1 if what is under way may not go on. */
int	http_cut(struct conn *);
/* How much to read from the client at a time. */
size_t	http_read_size(const struct conn *);
void	http_bytes(const struct conn *, uint64_t *up, uint64_t *down);

#endif
