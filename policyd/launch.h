/*
 * The channel to neurond: what is made, started and killed there.
 */
#ifndef MYELIN_POLICYD_LAUNCH_H
#define MYELIN_POLICYD_LAUNCH_H

#include <stdint.h>

#include "imsg.h"

struct call;
struct event_base;
struct neuron;

extern const struct channel_ops launch_ops;

void	launch_plumb(int fd, struct event_base *);
/* Forgets the channel; neurons and calls are lost with it. */
void	launch_lost(void);
int	launch_up(void);

/* These send one message each; -1 where there is no channel. */
int	launch_make(const struct neuron *);
int	launch_drop(const struct neuron *);
/* Asks for the listeners of all neurons that have some. */
int	launch_listeners(void);
/* HOMES_ASK; HOME_DROP. */
int	launch_homes(void);
int	launch_home_drop(const char *neuron);
/* Hands the call's run block, pipes and input over. */
int	launch_call(struct call *);
/* The same for what is no call: its block, pipes and input, taken over. */
int	launch_run(const char *neuron, const char *id, uint32_t timeout,
	    const int fds[4]);
int	launch_kill(const char *call, enum end_cause);
/* signal: of signals.h.  size: PTY_SIZE. */
int	launch_signal(const char *call, uint32_t signal);
int	launch_resize(const char *call, uint32_t size);

#endif
