/*
 * F0, the system call filter of a neuron: one table, compiled once by the
 * spawner to a binary-search program for each variant and loaded by each PID 1.
 */
#ifndef MYELIN_NATIVE_FILTER_H
#define MYELIN_NATIVE_FILTER_H

#include <stddef.h>
#include <linux/filter.h>

#define FILTER_MAX	1024	/* instructions; the kernel takes 4096 */

/*
 * Fills prog, of the strict variant or the standard one.  Returns the number
 * of instructions, 0 if they don't fit.
 */
size_t	filter_build(struct sock_filter *prog, size_t max, int strict);

/*
 * The filter that each call adds: clone3 and openat2 carry flags and modes
 * behind a pointer, so only PID 1 may use them.
 */
size_t	filter_build_call(struct sock_filter *prog, size_t max);

/* Loads a program into this process.  0, or -1 with errno. */
int	filter_load(const struct sock_filter *prog, size_t n);

#endif
