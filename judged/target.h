/*
 * What a call touches whose tool runs no command: the path that a body of
 * neuron-tool gets, or the program that a template makes.
 */
#ifndef JUDGED_TARGET_H
#define JUDGED_TARGET_H

#include "arguments.h"
#include "shell/judging.h"
#include "tool.h"

/*
 * Finds it, as a command's words are found: Myelin's own is denied, rules
 * have their say.  run_fd is the call's run block, or -1.
 */
void	target_run(struct judging *, const struct tool *,
	    const struct arguments *, int run_fd);

#endif
