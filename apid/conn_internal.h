/*
 * What conn.c (life), conn_read.c (requests), listen.c (accepting) and
 * answer.c (answers) share.
 */
#ifndef APID_CONN_INTERNAL_H
#define APID_CONN_INTERNAL_H

#include "conn.h"

#define HEAD_TIME	10	/* s from a head's first byte to its last */
#define BODY_TIME	60	/* s without a byte of the body */
#define PEER_TIME	10	/* s until policyd must have said who it is */

struct conn	*conn_new(int fd, unsigned listener, const char *source);
void		 conn_free(struct conn *);
/* How many of a listener's come from there. */
unsigned	 conns_from(unsigned listener, const char *source);
/* conn.c: the answer is all in the buffer. */
void		 conn_answered(struct conn *);
void		 conn_set_timer(struct conn *, long seconds);
/* conn.c: who it is can be told, not from here but soon. */
void		 conn_soon(struct conn *);
/* conn.c: a number that no other connection has. */
void		 conn_renumber(struct conn *);

/* conn_read.c */

/* As far as it goes: with what has come, or was said. */
void		 conn_step(struct conn *);
/* The head is read and whoever sent it may be answered. */
void		 conn_route(struct conn *);

/* auth.c */

/* 1 if the request, whose head was read, must have a token. */
int		 auth_needed(const struct conn *);
/* Takes the token away and asks whose it is, or answers. */
void		 auth_begin(struct conn *);
/* It is known: goes on with the request, or answers. */
void		 auth_end(struct conn *);
/* The one answer to all that is wrong with a token. */
void		 auth_refuse(struct conn *);

/* listen.c */
void		 listen_config(const struct slice *, const int *fds);
void		 listen_room(unsigned listener);	/* a connection went */
void		 listen_stop(void);

#endif
