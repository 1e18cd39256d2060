/*
 * Blocks of uids.  Whoever uses one holds flock(2) on DIR/START for the life
 * of its process, and neurond with it, as long as a neuron may have one of
 * them; the file says "COUNT INSTANCE PID".  DIR itself is locked
 * while somebody looks around and chooses.
 */
#ifndef MYELIN_UIDS_H
#define MYELIN_UIDS_H

#include <stdint.h>

#include "why.h"

#define UIDS_DIR	"/run/myelin-uids"

struct uids {
	const char	*dir;		/* UIDS_DIR, but for tests */
	const char	*instance;
	uint32_t	 start;		/* 0: the first free private block */
	uint32_t	 count;
	uint32_t	 wish;		/* the block it had before, or 0 */
	int		 fd;		/* -1: not locked */
};

/*
 * Locks the block that start names, or the one wished, or the first free
 * one, and fills start.  Refuses a block that overlaps a locked one, and an
 * instance whose name is in use.  0, or -1 and why.
 */
int	uids_lock(struct uids *, char why[WHY_MAX]);
void	uids_unlock(struct uids *);

#endif
