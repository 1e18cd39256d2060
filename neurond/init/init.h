/*
 * PID 1 of a neuron: starts what it is told, reaps, reports in records of
 * fixed size.  It never executes a program itself.
 */
#ifndef MYELIN_INIT_INIT_H
#define MYELIN_INIT_INIT_H

#include <stdint.h>

struct build_request;
struct native;

_Noreturn void	init_main(const struct native *, const struct build_request *,
		    uint64_t layers);

#endif
