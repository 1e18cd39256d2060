/*
 * Connections that clients in a neuron made.
 */
#ifndef EGRESSD_CONN_H
#define EGRESSD_CONN_H

#include "neuron.h"

/* Accepts what waits on a listener. */
void	conns_accept(struct neuron *, unsigned which, int fd);
/* Ends all of the neuron's. */
void	conns_close(struct neuron *, enum egress_end);
/* The rules have changed: who may no longer be connected is cut. */
void	conns_judge_again(struct neuron *);

#endif
