/*
 * A connection that carries plain requests: http.c (requests, and the way to
 * their hosts), exchange.c (a request's bytes and its answer's).
 */
#ifndef EGRESSD_HTTP_H
#define EGRESSD_HTTP_H

#include "conn_int.h"

enum http_phase {
	HTTP_WAIT,		/* for a request */
	HTTP_REACH,		/* for its host */
	HTTP_EXCHANGE
};

struct http {
	struct neuron	*neuron;
	enum request_place place;
	enum http_phase	 phase;
	struct event	 up_in, up_out;
	struct waiter	 waiter;
	struct buf	 head;		/* of the request, as it goes up */
	struct buf	 to_up, from_up;
	size_t		 scanned, scanned_up;
	int		 begun;		/* some of a request is there */
	/* If c->fixed: what the connection is for. */
	struct host	 fixed_host;
	uint16_t	 fixed_port;
	/* Whom c->up leads to. */
	struct host	 up_host;
	uint16_t	 up_port;
	unsigned	 up_flags;
	int		 up_eof, up_failed;
	/* The request under way. */
	char		 method[REQUEST_METHOD_MAX];
	unsigned	 flags;		/* HOST_F_* of its verdict */
	int		 close;		/* no other may follow */
	int		 reused;	/* on a connection that had another */
	int		 retried;
	enum framing	 req_framing;
	struct body	 req, res;
	int		 req_done, res_head, res_done;
	int		 res_close;	/* the host's side is then done */
	uint64_t	 up, down;	/* its bytes */
	uint64_t	 moved;		/* ms */
};

/* Whatever has happened: moves what can be moved. */
void	http_go(struct conn *);
void	http_next(struct conn *);
void	http_reach(struct conn *);
void	http_exchange(struct conn *);
void	http_close_up(struct conn *);
/* Nothing is under way: the idle time begins. */
void	http_rest(struct conn *);

#endif
