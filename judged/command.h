/*
 * What the command of a call would do: its tool's declaration names the
 * argument that is one ("judge"), the rest is judged/shell and judged/judge.
 */
#ifndef JUDGED_COMMAND_H
#define JUDGED_COMMAND_H

#include "arguments.h"
#include "judge.h"
#include "tool.h"

/*
 * Judges the command of a call that fits its schema.  A hard deny becomes the
 * verdict of j, with its class, and words on what and where; of anything else
 * j gets class and marks, and its verdict stays.  Where nothing can be judged
 * (memory), j's verdict becomes that of the call's own tool, at least an ask.
 */
void	command_judge(const struct tools *, const struct tool *,
	    const struct arguments *, const struct judge_place *,
	    struct judgement *);

#endif
