/*
 * Who may have a workspace at the same time: what two neurons write to, each
 * can use to reach the other.
 */
#ifndef MYELIN_POLICYD_WORKSPACE_H
#define MYELIN_POLICYD_WORKSPACE_H

#include "neuron.h"

/*
 * 0 if no other neuron stands in the way of this one's workspace: by its
 * path, and once it is up by its device and inode as well.  -1 and 409.
 */
int	workspace_free(const struct neuron *, struct refusal *);

#endif
