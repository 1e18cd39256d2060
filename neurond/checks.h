/*
 * What a host must have before the first neuron is made.
 */
#ifndef MYELIN_NEUROND_CHECKS_H
#define MYELIN_NEUROND_CHECKS_H

#include <stddef.h>

struct cg_base;

/* 0, or -1 and why, which names what is missing. */
int	checks_layers(char *why, size_t size);
int	checks_host(unsigned slots, unsigned neurons, char *why, size_t size);
int	checks_cgroups(const struct cg_base *, char *why, size_t size);

#endif
