/*
 * Unpacking an archive into a new directory.
 */
#ifndef MYELINCTL_UNPACK_H
#define MYELINCTL_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "tar.h"

struct unpack {
	struct tar	 tar;
	int		 top;		/* the directory */
	int		 fd;		/* the file being written, or -1 */
	char		 what[TAR_NAME_MAX];	/* of the last error */
	int		 error;		/* errno, or 0: see tar.why */
	uint64_t	 files;
};

/* Makes the directory, which must not be there.  0, or -1 with errno. */
int	unpack_open(struct unpack *, const char *directory);
/* 0, or -1: error, or tar.why. */
int	unpack_feed(struct unpack *, const uint8_t *, size_t);
int	unpack_end(struct unpack *);
void	unpack_close(struct unpack *);

#endif
