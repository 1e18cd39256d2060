/*
 * The state directory: its layout, owners and lock.
 *
 *	STATE		0711 root
 *	STATE/lock	held while an instance uses it
 *	STATE/policy	0700 policyd's, and its root directory
 *	STATE/neurons	0700 root, homes
 *	STATE/empty	0755 root, root directory of apid and judged
 */
#ifndef MYELIN_STATE_H
#define MYELIN_STATE_H

#include <stdint.h>
#include <sys/types.h>

#include "why.h"

struct state {
	const char	*path;
	int		 fd;		/* -1: not open */
	int		 lock;
	uid_t		 policy_owner;	/* of STATE/policy; -1: not there */
};

/* Makes and opens it, takes the lock.  0, or -1 and why. */
int	state_open(struct state *, char why[WHY_MAX]);

/*
 * Makes what is missing and checks the rest.  With reown, a policy directory
 * of another uid is given to the new one: a private instance may get another
 * block each time.
 */
int	state_fill(struct state *, uid_t, gid_t, int reown,
	    char why[WHY_MAX]);
void	state_close(struct state *);

#endif
