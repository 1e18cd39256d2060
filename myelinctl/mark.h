/*
 * The mark in a stopped instance's database: the last audit record that was
 * on disk.
 */
#ifndef MYELINCTL_MARK_H
#define MYELINCTL_MARK_H

#include <stdint.h>

#include "chain.h"

/*
 * Reads it from dir/state.db without changing anything there.  0, or -1
 * after a complaint; an instance that runs is one.
 */
int	mark_read(int dir, const char *name, uint64_t *sequence,
	    char hash[CHAIN_HASH]);

#endif
