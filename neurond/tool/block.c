/*
 * From the run block to the arguments.
 *
 * PID 1 has decoded the block and looked at everything but the arguments,
 * which may have many megabytes: they are parsed where they lie.
 */
#include <stddef.h>

#include "block.h"
#include "codec.h"
#include "runblock.h"

json_t *
block_decode(const uint8_t *bytes, size_t size, const char **why)
{
	struct runblock *rb;
	json_t *args = NULL;

	if ((rb = runblock_decode(bytes, size, why)) == NULL)
		return (NULL);
	*why = "the run block is not one of a body";
	if (rb->args != NULL) {
		*why = "the arguments are no JSON object";
		args = json_loadb((const char *)rb->args, rb->args_size,
		    JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	}
	runblock_free(rb);
	if (args != NULL && !json_is_object(args)) {
		json_decref(args);
		args = NULL;
	}
	return (args);
}

json_t *
block_arguments(int fd, const char **why)
{
	const uint8_t *bytes;
	json_t *args;
	size_t size;

	*why = "the run block can't be read";
	if ((bytes = memfd_map(fd, RUNBLOCK_BODY_MAX, &size)) == NULL)
		return (NULL);
	args = block_decode(bytes, size, why);
	memfd_unmap(bytes, size);
	return (args);
}
