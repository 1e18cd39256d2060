/*
 * What is kept of a call's output for its result: a head that is filled once
 * and a tail that moves on, half the limit each, shared by both streams.
 */
#ifndef APID_KEPT_H
#define APID_KEPT_H

#include "chunk.h"

#define STREAM_STDOUT	0
#define STREAM_STDERR	1
#define STREAMS		2

struct kept_stream {
	struct seglist	 head;
	struct seglist	 tail;
	uint64_t	 total;		/* bytes that came */
	int		 past_head;	/* nothing more goes to the head */
};

struct kept {
	uint64_t	 limit;
	struct kept_stream stream[STREAMS];
};

void	kept_init(struct kept *, uint64_t limit);
void	kept_free(struct kept *);
/* Bytes held now. */
uint64_t kept_bytes(const struct kept *);
uint64_t kept_dropped(const struct kept *, int stream);
/* Takes the next bytes of a stream, dropping from the tails over the limit. */
void	kept_add(struct kept *, int stream, struct chunk *, uint32_t off,
	    uint32_t len);
/* The next bytes of a stream, of which nothing can be kept. */
void	kept_skip(struct kept *, int stream, uint64_t len);
/* Drops up to n bytes of the tails; returns how many. */
uint64_t kept_shed(struct kept *, uint64_t n);

#endif
