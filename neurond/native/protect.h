/*
 * Protected names in a neuron: each, and each directory above it, bound onto
 * itself.
 */
#ifndef MYELIN_NATIVE_PROTECT_H
#define MYELIN_NATIVE_PROTECT_H

#include <stdint.h>

#include "plan.h"

/*
 * ws is the workspace's mount, at path inside; its owner appears as kuid.
 * Adds its mounts to the plan.  0, or -1 with errno.
 */
int	protect_names(int ws, const char *path, uint32_t kuid, struct plan *);

#endif
