/*
 * The resolver inside a neuron: names that it may reach have an address there.
 */
#ifndef EGRESSD_DNSD_H
#define EGRESSD_DNSD_H

#include "neuron.h"

/* Answers what waits on the neuron's port 53. */
void	dnsd_serve(struct neuron *, int fd);

#endif
