/*
 * Output in memory.  A chunk is filled once by a read from a pipe; the ring
 * of events and what is kept for the result refer to parts of it, and the
 * last to let go frees it.
 */
#ifndef APID_CHUNK_H
#define APID_CHUNK_H

#include <sys/queue.h>
#include <stddef.h>
#include <stdint.h>

#define CHUNK_MIN	512
#define CHUNK_MAX	65536

struct chunk {
	unsigned	 refs;
	uint32_t	 used;
	uint32_t	 cap;
	uint8_t		 data[];
};

/* One reference, the caller's; NULL when memory is out. */
struct chunk	*chunk_new(size_t cap);
struct chunk	*chunk_ref(struct chunk *);
void		 chunk_unref(struct chunk *);	/* NULL is nothing */

/* A part of a chunk, in a list that holds a reference. */
struct seg {
	TAILQ_ENTRY(seg) entry;
	struct chunk	*chunk;
	uint32_t	 off;
	uint32_t	 len;
};

struct seglist {
	TAILQ_HEAD(seghead, seg) segs;
	uint64_t	 bytes;
};

void	seglist_init(struct seglist *);
void	seglist_free(struct seglist *);
/* Appends; joins it with the last part where they touch.  0, or -1. */
int	seglist_add(struct seglist *, struct chunk *, uint32_t off,
	    uint32_t len);
/* Drops bytes from either end, at most what is there. */
void	seglist_drop_front(struct seglist *, uint64_t);
void	seglist_drop_back(struct seglist *, uint64_t);
/* Appends all of src, which keeps its own references.  0, or -1. */
int	seglist_copy(struct seglist *dst, const struct seglist *src);

#endif
