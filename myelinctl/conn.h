/*
 * One connection to Myelin's socket, for one request at a time.  Nothing
 * blocks but conn_open (10 s at most) and conn_finish.
 */
#ifndef MYELINCTL_CONN_H
#define MYELINCTL_CONN_H

#include <stddef.h>
#include <stdint.h>

#include "http.h"

enum conn_state { CONN_IDLE, CONN_BUSY, CONN_DONE, CONN_FAILED };

struct conn {
	int			 fd;
	enum conn_state		 state;
	const char		*why;		/* CONN_FAILED */
	char			*out;
	size_t			 out_len;
	size_t			 out_off;
	struct http_response	 r;
};

/* 0; or -1 after saying what is wrong with the socket and what may help. */
int	conn_open(struct conn *, const char *path);
/* The same in silence: 0, or errno. */
int	conn_try(struct conn *, const char *path);
void	conn_close(struct conn *);

struct conn_request {
	const char	*method;
	const char	*target;
	const char	*accept;
	const char	*headers;	/* more lines, each with its CRLF; NULL */
	const char	*type;		/* of the body; NULL: there is none */
	const void	*body;
	size_t		 len;
};

/* Starts a request on an idle connection.  body_fn takes the answer's body. */
void	conn_send(struct conn *, const struct conn_request *, http_body_fn *,
	    void *arg);

/* What poll(2) should wait for; may_read 0 leaves the answer where it is. */
short	conn_events(const struct conn *, int may_read);
/* Writes and reads what can be, after poll said so; moves the state. */
void	conn_io(struct conn *, short revents);
/* Waits for the whole answer, at most ms between two pieces of it. */
void	conn_finish(struct conn *, int ms);
/* Idle, and the server has closed it, or said what nobody asked for. */
int	conn_stale(const struct conn *);
/* Done: ready for the next request, if the server keeps the connection. */
int	conn_again(struct conn *);

#endif
