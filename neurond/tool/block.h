/*
 * The run block of a body, as neuron-tool sees it: only the arguments.
 */
#ifndef MYELIN_TOOL_BLOCK_H
#define MYELIN_TOOL_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <jansson.h>

/* The arguments of the block at fd: an object, or NULL and a reason. */
json_t	*block_arguments(int fd, const char **why);

/* The same of bytes. */
json_t	*block_decode(const uint8_t *, size_t, const char **why);

#endif
