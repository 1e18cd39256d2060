/* A hostile peer on policyd's channel EGRESS. */

#include "fuzz_policyd.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_policyd(CH_EGRESS, data, size);
	return (0);
}
