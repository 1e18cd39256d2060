/*
 * What "run" and "shell" share: one program in a neuron, and how its end shows
 * as an exit status.
 */
#ifndef MYELINCTL_RUN_H
#define MYELINCTL_RUN_H

#include <jansson.h>

#include "ctl.h"
#include "follow.h"

/* {"argv": [...]}, or NULL after a complaint. */
json_t	*run_args(int argc, char **argv);

/* The exit status of what follow_call() has followed; says why it failed. */
int	run_status(const struct options *, const char *program,
	    const struct follow *);

#endif
