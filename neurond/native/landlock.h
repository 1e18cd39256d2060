/*
 * Landlock: the second layer under the mounts, and the scopes of each call.
 */
#ifndef MYELIN_NATIVE_LANDLOCK_H
#define MYELIN_NATIVE_LANDLOCK_H

#include <stdint.h>

struct build_request;

/* The kernel's ABI, 0 without Landlock. */
unsigned landlock_abi(void);

/* File rights of a whole neuron.  Adds to *layers.  0, or -1 with errno. */
int	landlock_neuron(unsigned abi, const struct build_request *,
	    uint64_t *layers);

/*
 * A call's own domain: no signals and abstract sockets out of it (ABI 6).  The
 * rules are the same for every call: *ruleset is an fd, or -1 where the kernel
 * knows none.  0, or -1 with errno.
 */
int	landlock_call_rules(unsigned abi, int *ruleset);
/* Puts the caller into such a domain.  0, or -1 with errno. */
int	landlock_call_enter(unsigned abi, int ruleset);

/* The rights that an ABI knows, of all that this program knows. */
uint64_t landlock_rights(unsigned abi);

#endif
