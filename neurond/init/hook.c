/*
 * The program of a hook: out of its run block, into a memfd.  Runs in the
 * child, so that what it costs is the neuron's.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "../program.h"
#include "codec.h"
#include "runblock.h"
#include "hook.h"

int
run_hook_program(int block)
{
	struct runblock *rb;
	const uint8_t *data;
	const char *why;
	size_t size;
	int fd = -1, saved;

	if ((data = memfd_map(block, RUNBLOCK_BODY_MAX, &size)) == NULL)
		return (-1);
	errno = EPROTO;
	if ((rb = runblock_decode(data, size, &why)) != NULL &&
	    (rb->flags & RUNBLOCK_F_HOOK) != 0)
		fd = program_of_bytes(rb->args, rb->args_size, rb->argv[0]);
	saved = errno;
	runblock_free(rb);
	memfd_unmap(data, size);
	if (fd != -1 && fcntl(fd, F_SETFD, 0) == -1) {
		saved = errno;
		close(fd);
		fd = -1;
	}
	errno = saved;
	return (fd);
}
