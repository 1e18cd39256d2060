/*
 * Any bytes as a configuration slice.
 */
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *why;

	slice_free(slice_decode(data, size, &why));
	return (0);
}
