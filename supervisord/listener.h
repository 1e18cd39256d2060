/* The sockets that clients connect to. */
#ifndef MYELIN_LISTENER_H
#define MYELIN_LISTENER_H

#include <sys/types.h>

#include "slice.h"
#include "why.h"

struct listener {
	const struct cf_listen	*conf;
	uid_t			 also;	/* who else may own its directory */
	int			 fd;	/* -1: not bound */
	dev_t			 dev;	/* of the socket's file */
	ino_t			 ino;
};

/*
 * Binds and listens, with the group and mode configured, after making sure
 * that nobody answers at that path.  0, or -1 after putting words into why.
 */
int	listener_open(struct listener *, char why[WHY_MAX]);
/* Closes it, and unlinks its path if that is still ours. */
void	listener_close(struct listener *);

/* A listening socket that nobody can find, for a check.  -1 with errno. */
int	listener_nowhere(void);

#endif
