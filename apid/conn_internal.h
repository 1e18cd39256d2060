/*
 * What conn.c (life), listen.c (accepting) and answer.c (answers) share.
 */
#ifndef APID_CONN_INTERNAL_H
#define APID_CONN_INTERNAL_H

#include "conn.h"

struct conn	*conn_new(int fd);
void		 conn_free(struct conn *);
unsigned	 conns_count(void);
/* conn.c: the answer is all in the buffer. */
void		 conn_answered(struct conn *);

/* listen.c */
void		 listen_config(int fd);
void		 listen_room(void);	/* a connection went */
void		 listen_stop(void);

#endif
