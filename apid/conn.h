/*
 * Connections: a client's socket, one request at a time.
 *
 * A connection reads a head and, where the route wants one, a body, and hands
 * the request to its route's handler.  The handler answers at once, or holds
 * the connection with a set of ops and answers later; only then is the next
 * request looked at.  Only event callbacks free a connection: a handler may
 * use its connection until it returns.
 *
 * What a client does not read stays bounded: whoever has much to say asks
 * conn_room() and goes on when ops->writable says so.
 */
#ifndef APID_CONN_H
#define APID_CONN_H

#include <sys/queue.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stddef.h>
#include <stdint.h>

#include "errors.h"
#include "http.h"
#include "ids.h"
#include "limits.h"
#include "slice.h"

#define CONN_PENDING_MAX (256 * 1024)	/* bytes waiting for a client to read */
#define CONN_TICK	15		/* s between ops->tick */
#define CONN_SOURCE	64		/* bytes of where one comes from, NUL too */

struct call;
struct conn;
struct route;

struct conn_ops {
	void	(*writable)(struct conn *, void *);	/* may be NULL */
	void	(*tick)(struct conn *, void *);		/* may be NULL */
	/* Bytes of the body came; for routes that take it raw. */
	void	(*input)(struct conn *, void *);	/* may be NULL */
	/* The client left.  The connection goes when this returns. */
	void	(*gone)(struct conn *, void *);
	/* Ticks that a client may leave an answer unread; 0: a few. */
	unsigned patience;
};

/*
 * How the answer to a request is dressed where it is not the plain API's.
 * Each is told at most once and then answers; end is told when the request is
 * over, however.
 */
struct conn_dress {
	/* retry: seconds, or 0 */
	void	(*error)(struct conn *, void *, enum api_error,
		    unsigned retry, const char *why);
	/* The call that was asked for has its id. */
	void	(*call)(struct conn *, void *, struct call *);
	void	(*end)(void *);
};

enum conn_state {
	CONN_HEAD,		/* waits for a request */
	CONN_AUTH,		/* waits to know whose token it has */
	CONN_BODY,		/* waits for the rest of its body */
	CONN_PEER,		/* waits to know whose it is */
	CONN_BUSY,		/* a handler has it */
	CONN_FLUSH,		/* answered: waits for the client to read it */
	CONN_LINGER		/* to be closed: reads what still comes */
};

enum conn_peer {
	PEER_UNASKED, PEER_WAITING, PEER_KNOWN, PEER_REFUSED, PEER_OVER
};

/* What clients connect to. */
struct conn_listen {
	unsigned	 flags;		/* LISTEN_* of slice.h */
	char		*address;	/* NULL for a path's */
	struct strings	 hosts;		/* names it goes by */
	unsigned	 count;		/* connections */
};

struct conn {
	TAILQ_ENTRY(conn)	 entry;
	uint32_t		 number;	/* another for each token */
	unsigned		 listener;	/* listen_of() */
	char			 source[CONN_SOURCE];	/* an address */
	enum conn_state		 state;
	struct bufferevent	*bev;
	struct event		*closed;
	struct event		*timer;
	struct event		*next;		/* a step, from the loop */
	struct event		*push;		/* writing, in this turn */

	/* Who it is. */
	enum conn_peer		 peer;
	uint64_t		 handle;
	uint32_t		 principal;
	char			*who;		/* "uid:1000" */
	char			*missing;	/* PEER_REFUSED: what */
	int			 refused;	/* PEER_REFUSED: HTTP status */
	unsigned		 retry;		/* the same: s, or 0 */
	int			 ended;		/* its key is good no more */

	/* The request. */
	uint64_t		 rid;		/* request_id() */
	struct http_head	 head;
	size_t			 scanned;
	const struct route	*route;
	char			 id[ID_SIZE];	/* the one in its path, or "" */
	const char		*rest;		/* of the path, after that */
	char			 name[NAME_BYTES_MAX];	/* the same */
	char			*body;
	size_t			 body_size;
	uint64_t		 body_left;	/* not read yet */
	int			 body_counted;

	/* The answer. */
	const struct conn_ops	*ops;
	void			*arg;
	const struct conn_dress	*dress;
	void			*dress_arg;
	char			 extra[512];	/* more lines of its head */
	int			 chunked;
	int			 close;		/* after it */
	uint64_t		 sent;		/* bytes the client took */
	uint64_t		 sent_before;	/* at the tick before this */
	unsigned		 stalled;	/* ticks without one of them */
	unsigned		 requests;

	/* CONN_LINGER. */
	int			 still;		/* bytes came since its tick */
	unsigned		 lingered;	/* ticks */
};

/* ---- for all of apid ---- */

/*
 * The configuration in force; the listening sockets, one for each listen line,
 * are taken over.
 */
void	conns_config(const struct slice *, const int *fds);
/* What it was accepted on. */
const struct conn_listen *listen_of(const struct conn *);
const struct limits *conns_limits(void);
enum cf_plane conns_plane(void);
struct event_base *conns_base(void);
/* A new channel to policyd: every client must be introduced again. */
void	conns_introduce(void);
/* The channel died: nobody is known any more. */
void	conns_forget(void);
struct conn *conn_find(uint32_t number);
void	conn_peer_known(struct conn *, uint64_t handle, uint32_t principal,
	    const char *who);
void	conn_peer_refused(struct conn *, const char *who, const char *missing);
/* AUTH_NO: as the answer that it waits for, or all at once. */
void	conn_auth_refused(struct conn *, int status, unsigned retry,
	    const char *who, const char *missing);
void	conns_stop(void);

/* ---- for handlers ---- */

void	conn_hold(struct conn *, const struct conn_ops *, void *arg);
/* Back to the one who answers next: no ops any more. */
void	conn_release(struct conn *);

/* Until the request is answered. */
void	conn_set_dress(struct conn *, const struct conn_dress *, void *);
/* A line more in the answer's head; the value is ours, or checked. */
void	conn_header(struct conn *, const char *name, const char *value);

/* The request's body is not needed any more, before it is answered. */
void	conn_body_done(struct conn *);

/* Tells a client that waits for it to send its body. */
void	conn_continue(struct conn *);

/* A whole answer.  JSON of n bytes is copied. */
void	conn_json(struct conn *, int status, const char *, size_t n);
void	conn_empty(struct conn *, int status);	/* without a body */
void	conn_error(struct conn *, enum api_error, const char *, ...)
	    __attribute__((__format__(__printf__, 3, 4)));
/* The same with Retry-After. */
void	conn_error_retry(struct conn *, enum api_error, unsigned seconds,
	    const char *, ...) __attribute__((__format__(__printf__, 4, 5)));

/* An answer in parts: begin, put, end.  length -1: chunked. */
void	conn_begin(struct conn *, int status, const char *type,
	    int64_t length);
/* The same with header fields more, each with its CRLF. */
void	conn_begin_with(struct conn *, int status, const char *type,
	    int64_t length, const char *fields);
struct evbuffer *conn_output(struct conn *);
/* 1 if more may be put now. */
int	conn_room(struct conn *);
void	conn_end(struct conn *);
/* The answer can't be finished, which its reader shall see. */
void	conn_cut(struct conn *);

#endif
