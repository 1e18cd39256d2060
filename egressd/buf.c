/*
 * Bytes that came and are not yet gone.
 */
#include <sys/socket.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"

#define BUF_LEAST	512

uint8_t *
buf_room(struct buf *b, size_t n)
{
	size_t cap, size = buf_size(b);
	uint8_t *p;

	if (b->cap - b->end >= n)
		return (b->p + b->end);
	if (b->start > 0) {
		memmove(b->p, b->p + b->start, size);
		b->start = 0;
		b->end = size;
		if (b->cap - b->end >= n)
			return (b->p + b->end);
	}
	for (cap = b->cap == 0 ? BUF_LEAST : b->cap; cap < size + n; cap *= 2)
		continue;
	if ((p = realloc(b->p, cap)) == NULL)
		return (NULL);
	b->p = p;
	b->cap = cap;
	return (b->p + b->end);
}

void
buf_filled(struct buf *b, size_t n)
{
	b->end += n;
}

int
buf_add(struct buf *b, const void *bytes, size_t n)
{
	uint8_t *p;

	if (n == 0)
		return (0);
	if ((p = buf_room(b, n)) == NULL)
		return (-1);
	memcpy(p, bytes, n);
	b->end += n;
	return (0);
}

void
buf_drop(struct buf *b, size_t n)
{
	b->start += n;
	if (b->start >= b->end)
		buf_free(b);
}

void
buf_free(struct buf *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

ssize_t
buf_read(struct buf *b, int fd, size_t most)
{
	uint8_t *p;
	ssize_t n;

	if ((p = buf_room(b, most)) == NULL) {
		errno = ENOMEM;
		return (-1);
	}
	do {
		n = recv(fd, p, most, 0);
	} while (n == -1 && errno == EINTR);
	if (n > 0)
		b->end += (size_t)n;
	else if (buf_size(b) == 0)
		buf_free(b);
	return (n);
}

ssize_t
buf_send(struct buf *b, int fd)
{
	ssize_t n;

	if (buf_size(b) == 0)
		return (0);
	do {
		n = send(fd, buf_data(b), buf_size(b), MSG_NOSIGNAL);
	} while (n == -1 && errno == EINTR);
	if (n > 0)
		buf_drop(b, (size_t)n);
	return (n);
}
