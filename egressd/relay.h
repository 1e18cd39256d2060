/*
 * A tunnel: bytes both ways between two sockets, each direction with an end of
 * its own.  One that carries nothing holds no buffer.
 */
#ifndef EGRESSD_RELAY_H
#define EGRESSD_RELAY_H

#include "buf.h"
#include "neuron.h"

struct relay;

/* Told once, and never from inside relay_start(). */
typedef void relay_done(void *arg, enum egress_end);

/*
 * Both fds stay the caller's, who closes them after relay_free().  What is in
 * the buffers goes first; they are emptied.  NULL when memory is out.
 */
struct relay *relay_start(struct neuron *, int client, int up,
	    struct buf *to_up, struct buf *to_client, relay_done *, void *arg);
void	relay_free(struct relay *);	/* NULL is fine */

uint64_t relay_up(const struct relay *);	/* bytes so far */
uint64_t relay_down(const struct relay *);
uint64_t relay_moved(const struct relay *);	/* ms: when it last carried */

#endif
