/*
 * tar archives, decoded piece by piece as they come.  Strict: ustar and pax,
 * plain files and directories with names that lead down, and nothing else:
 * an archive that holds a link, a device, an absolute name or a ".." is
 * refused as a whole, because whoever made it is not to be trusted.
 */
#ifndef MYELINCTL_TAR_H
#define MYELINCTL_TAR_H

#include <stddef.h>
#include <stdint.h>

#define TAR_BLOCK	512
#define TAR_NAME_MAX	4096	/* bytes of a name, NUL included */
#define TAR_PAX_MAX	16384	/* bytes of a pax header */

/* Each returns 0, or -1 to end the decoding. */
struct tar_ops {
	/* Names have no empty and no "." component; "" is the top itself. */
	int	(*directory)(void *arg, const char *name, unsigned mode);
	int	(*file)(void *arg, const char *name, unsigned mode,
		    uint64_t size);
	/* The bytes of the file that began last; then its end. */
	int	(*bytes)(void *arg, const uint8_t *, size_t);
	int	(*end)(void *arg);
};

enum tar_state { TAR_HEADER, TAR_DATA, TAR_PAX, TAR_PADDING, TAR_END, TAR_BAD };

struct tar {
	const struct tar_ops *ops;
	void		*arg;
	enum tar_state	 state;
	const char	*why;		/* TAR_BAD */
	uint8_t		 block[TAR_BLOCK];
	size_t		 have;		/* bytes of the block */
	uint64_t	 left;		/* of the data */
	unsigned	 padding;
	unsigned	 zeros;		/* blocks of zeros in a row */
	char		 pax[TAR_PAX_MAX];
	size_t		 pax_len;
	char		 name[TAR_NAME_MAX];	/* of a pax header, or "" */
	int		 has_size;
	uint64_t	 size;		/* of a pax header */
};

void	tar_init(struct tar *, const struct tar_ops *, void *arg);
/* 0, or -1: see why. */
int	tar_feed(struct tar *, const uint8_t *, size_t);
/* No more comes: 0 if the archive was whole, else -1. */
int	tar_end(struct tar *);

#endif
