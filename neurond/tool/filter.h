/*
 * The filter that neuron-tool loads first of all: only what bodies need.
 */
#ifndef MYELIN_TOOL_FILTER_H
#define MYELIN_TOOL_FILTER_H

/*
 * Allows the file calls, and answers exec, sockets and all else with an
 * error.  With BODY_EXEC: everything but sockets, clone3 and kin is left, as
 * the neuron's own filter leaves it.  0, or -1 with errno.
 */
int	tool_filter(unsigned body_flags);

/*
 * For the child of a body with BODY_EXEC, just before its exec: what every
 * other program of the neuron does without (clone3 and openat2).
 */
int	tool_filter_child(void);

#endif
