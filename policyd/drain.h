/*
 * Draining: no new calls and sessions, and word when the last call has ended.
 */
#ifndef MYELIN_POLICYD_DRAIN_H
#define MYELIN_POLICYD_DRAIN_H

#include <stdint.h>

#include "api.h"

#define DRAIN_WAIT_MAX	60000	/* ms; apid waits no longer for us */

int	drain_on(void);
/* Refuses what is new; returns -1. */
int	drain_refuse(struct refusal *);

/*
 * Begins, or goes on.  Answers when no call is left, or after ms with how
 * many are.
 */
void	drain_begin(const struct reply_to *, const struct peer *, uint32_t ms);
/* Ends it; whoever waits is told so. */
void	drain_resume(const struct reply_to *, const struct peer *);
/* The last call has ended. */
void	drain_idle(void);
/* This process ends. */
void	drain_end(void);

#endif
