/*
 * What somebody who has taken a process over would try first.  One table,
 * used by the takeover builds (takeover.c) after the drop and by the control
 * (control.c) without it.
 */
#ifndef MYELIN_TAKEOVER_ATTEMPTS_H
#define MYELIN_TAKEOVER_ATTEMPTS_H

#include <stddef.h>
#include <sys/types.h>

#define TARGETS_MAX	16
#define SOCKET_FD	4	/* an unbound datagram socket: the log's place */

struct targets {
	pid_t	pid[TARGETS_MAX];	/* other processes of the instance */
	size_t	n;
	int	pidfd;			/* of the first, where one could be had */
};

/* Returns -1 with errno if it was denied, anything else if it worked. */
struct attempt {
	const char	*name;
	long		(*fn)(const struct targets *);
};

extern const struct attempt attempts[];
extern const size_t nattempts;

/*
 * Runs one in a child: before, if not NULL, is called in it first.  Writes
 * "denied ERRNO", "SIGSYS", "WORKED" or "broken ..." into result.
 */
void	attempt_run(const struct attempt *, const struct targets *,
	    void (*before)(void *), void *arg, char *result, size_t size);

#endif
