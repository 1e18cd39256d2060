/*
 * Hooks: programs of the operator's that may refuse a call, after the rules
 * and before anyone is asked.
 *
 * Each runs in a neuron of its own, without workspace and egress, with the
 * call as JSON on its standard input.  Exit code 0 passes; whatever else
 * happens, that it can't be started too, denies the call for good, and what
 * it wrote to standard error says why.  Nothing remembered skips a hook.
 */
#ifndef MYELIN_POLICYD_HOOK_H
#define MYELIN_POLICYD_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct call;
struct call_end;
struct neuron;

#define HOOK_REASON	512	/* bytes of standard error */

/* ---- which there are (hook.c) ---- */

/* Takes the programs of a configuration; 0, or -1 after slice_bad(). */
int	hooks_config(struct slice *);
/* It is in force from now on; or will never be. */
void	hooks_commit(void);
void	hooks_abort(void);
size_t	hooks_count(void);
/* Another number whenever there are others, or others' bytes. */
uint64_t hooks_set(void);
/* Name, place in the configuration and run block (a new fd, or -1). */
const char *hook_name(size_t);
const struct where *hook_where(size_t);
int	hook_block(size_t);

/* ---- running them (hook_run.c) ---- */

/* Runs them all, in order; call_hooked() is told. */
void	hook_begin(struct call *);
/* The call ends: what still runs for it is killed. */
void	hook_over(struct call *);
/* ENDED of an id that is no call's. */
void	hook_ended(const char *id, const struct call_end *);
/* A neuron is gone that may be a hook's. */
void	hook_neuron_gone(const struct neuron *, const char *why);

#endif
