/*
 * Myelin's own processes, units and packages, by their names.
 */
#ifndef JUDGE_SELF_H
#define JUDGE_SELF_H

#include "subject.h"

/* 1 if a word names a unit or package: "myelin", "myelin.service", ... */
int	self_names(const struct word *);
/* 1 if a word is the name of a process, or a pattern for one. */
int	self_process(const struct word *);

/*
 * pidof and pgrep of Myelin's own: what is killed behind them, and is not
 * known, may be that.
 */
void	self_looked_up(struct judging *);
int	self_was_looked_up(const struct judging *);

#endif
