/*
 * What maker and spawner begin with: executed by neurond with their channel
 * as fd 3 and the log's socket, if there is one, as fd 4; the spawner with
 * neuron-tool (program.h) as fd 6.
 */
#ifndef MYELIN_NEUROND_HELPER_MAIN_H
#define MYELIN_NEUROND_HELPER_MAIN_H

#include <stdint.h>

#include "imsg.h"

#define HELPER_CHANNEL_FD	3
#define HELPER_LOG_FD		4
#define HELPER_TOOL_FD		6	/* 5: fault.h */

struct channel *helper_start(int argc, char **argv, const char *name,
	    enum channel_kind, const struct channel_ops *);

/* Says HELPER_UP: failed is NULL, or the step that did with its errno. */
void	helper_up(struct channel *, unsigned abi, int error,
	    const char *failed);

#endif
