/*
 * Where a call's output goes: our own standard output or error.  Writing
 * never blocks on a pipe that is full, so that a signal, the call's input and
 * its end are still heard.
 */
#ifndef MYELINCTL_SINK_H
#define MYELINCTL_SINK_H

#include <stddef.h>

struct sink {
	int	 fd;		/* to write to */
	int	 own;		/* fd is ours, and does not block */
	int	 looked;	/* at what kind of file it is */
	int	 piecemeal;	/* it may block: small pieces after poll(2) */
	int	 error;		/* errno of a write that failed for good */
	char	*p;		/* not yet written */
	size_t	 len;
	size_t	 off;
	size_t	 room;
};

void	sink_init(struct sink *, int fd);
void	sink_free(struct sink *);
/* Writes, or keeps what can't be written now.  0, or -1: see error. */
int	sink_put(struct sink *, const void *, size_t);
/* Writes what was kept, after poll(2) said that the fd takes more. */
int	sink_flush(struct sink *);
int	sink_pending(const struct sink *);

#endif
