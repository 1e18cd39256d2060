/*
 * Dry runs: the verdict of a call, and nothing of it runs.
 *
 * A dry run is judged as the call would be: under its session's or its own
 * build, preset and rules.  There is no neuron of its own and no row of it,
 * and no budget is spent; what bounds them is "dry-runs", a minute's number
 * for each principal, and the host's running calls while they are judged.
 * Hooks are not asked and nobody else is.
 */
#ifndef MYELIN_POLICYD_DRY_H
#define MYELIN_POLICYD_DRY_H

struct call;

/* Checks and asks judged.  Answers; consumes the call whatever happens. */
void	dry_ask(struct call *);
/* Its verdict is there, restricted as a call's: answers and consumes it. */
void	dry_judged(struct call *);
/* It ended before that, in words for who asked. */
void	dry_over(struct call *, const char *words);

#endif
