/*
 * Bytes that came and are not yet gone.  An empty one holds no memory.
 */
#ifndef EGRESSD_BUF_H
#define EGRESSD_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf {
	uint8_t	*p;
	size_t	 start, end, cap;
};

static inline size_t
buf_size(const struct buf *b)
{
	return (b->end - b->start);
}

/* Never NULL, so that it can be handed on where there is nothing. */
static inline const uint8_t *
buf_data(const struct buf *b)
{
	static const uint8_t nothing;

	return (b->p == NULL ? &nothing : b->p + b->start);
}

/* Makes room for n bytes behind what is there: where to write, or NULL. */
uint8_t	*buf_room(struct buf *, size_t n);
void	 buf_filled(struct buf *, size_t n);	/* that many were written */
int	 buf_add(struct buf *, const void *, size_t);	/* 0, or -1 */
/* Forgets n bytes at the front; the last ones give the memory back. */
void	 buf_drop(struct buf *, size_t n);
void	 buf_free(struct buf *);

/* What a socket can give, up to most: as read(2), -1 with errno. */
ssize_t	 buf_read(struct buf *, int fd, size_t most);
/* Sends what it can: bytes, or -1 with errno. */
ssize_t	 buf_send(struct buf *, int fd);

#endif
