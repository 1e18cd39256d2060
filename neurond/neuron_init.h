/*
 * A neuron's channel to its PID 1: what lives inside is believed only in
 * numbers.
 */
#ifndef MYELIN_NEUROND_NEURON_INIT_H
#define MYELIN_NEUROND_NEURON_INIT_H

#include <stdint.h>

struct channel;
struct neuron;

struct channel *neuron_init_channel(struct neuron *, int fd);
/* Up once it was cloned and said that it is ready. */
void	neuron_init_check(struct neuron *);
/* Tells policyd that it is up, and starts what waits for it. */
void	neuron_init_tell(struct neuron *);
/* Layers that a neuron like this must have and it has not. */
uint64_t neuron_init_missing(const struct neuron *);
/* PID 1 died. */
void	neuron_init_lost(struct neuron *);

#endif
