/*
 * Channels and messages.
 *
 * A channel is one end of a SOCK_SEQPACKET socketpair: a message is a packet,
 * so its fds can't part from it.  Where many are said of each call (to apid
 * and judged), what waits in a queue goes as a packet of a few, of which the
 * last alone may have fds.  What may travel on it stands in protocol.h;
 * a message that breaks the table, a truncated control part, an unconsumed
 * byte or a handler that says -1 kills the channel: it is closed, the reason
 * kept, its owner told once.  Received fds are close-on-exec, and closed with
 * the message unless a handler claimed them.
 *
 * Nothing here blocks, except channel_recv_wait and channel_flush_wait.
 */
#ifndef MYELIN_IMSG_H
#define MYELIN_IMSG_H

#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct channel;
struct imsg;

/*
 * A handler takes its fields with the imsg_get functions, in order, calls
 * imsg_end() before it acts on any of them, and returns 0; or -1 for a message
 * that can't be right, which kills the channel.  A wrong *request* is not a
 * wrong message: it is answered and the handler returns 0.
 */
struct channel_handler {
	enum msg_type	 type;
	int		(*fn)(void *arg, struct imsg *);
};

struct channel_ops {
	const struct channel_handler	*handlers;
	size_t				 nhandlers;
	/*
	 * Told once, never from inside a send.  The owner frees the channel
	 * here or later.  reason is "closed" when the other end closed it.
	 */
	void		(*dead)(void *arg, const char *reason);
};

/* ---- making and ending a channel ---- */

/* A pair of ends, both CLOEXEC and non-blocking.  0, or -1 with errno. */
int	channel_pair(int fds[2]);

/*
 * Takes fd over.  end says which end this process holds.  The state starts as
 * ST_UP; NULL only when memory is out (fd is closed then).
 */
struct channel *channel_new(int fd, enum channel_kind, enum channel_end end,
	    const struct channel_ops *, void *arg);
/* Closes the fd, frees queued messages.  May be called from a handler. */
void	channel_free(struct channel *);
void	channel_set_state(struct channel *, enum channel_state);
enum channel_state channel_state(const struct channel *);
enum channel_kind channel_kind(const struct channel *);
/* For sandbox and event set-up only; the fd stays the channel's. */
int	channel_fd(const struct channel *);
/* Why it is dead, or NULL while it lives. */
const char *channel_reason(const struct channel *);

/* ---- sending ---- */

/*
 * A new message.  The put functions keep a sticky error that channel_send
 * reports, so their results need no checks.
 */
struct imsg *imsg_new(enum msg_type);
void	imsg_put_u8(struct imsg *, uint8_t);
void	imsg_put_u16(struct imsg *, uint16_t);
void	imsg_put_u32(struct imsg *, uint32_t);
void	imsg_put_u64(struct imsg *, uint64_t);
void	imsg_put_i32(struct imsg *, int32_t);
void	imsg_put_str(struct imsg *, const char *);
void	imsg_put_bytes(struct imsg *, const void *, size_t);
void	imsg_put_raw(struct imsg *, const void *, size_t);
/* The message owns fd from now on and closes it, sent or not. */
void	imsg_put_fd(struct imsg *, int fd);

/*
 * Sends or queues m and frees it, whatever happens.  Returns 0; or -1 if the
 * channel is dead, died now, or the message breaks the table (a fault of the
 * caller's: logged).  A queue over its bound (4 MiB, 4,096 messages) kills
 * the channel.
 */
int	channel_send(struct channel *, struct imsg *m);
/*
 * The same for what nobody waits for: it goes, in its order, with the next
 * message that is sent, or else within us (0: at the end of this turn of the
 * loop).  So its reader is woken once for both.  Without a loop it waits for
 * the next message.
 */
int	channel_send_soon(struct channel *, struct imsg *m, unsigned us);
/* Bytes waiting to be sent. */
size_t	channel_queued(const struct channel *);

/* ---- receiving ---- */

/*
 * Reads and handles what is there, at most `most` messages (0: 64).  Returns
 * the number handled, or -1 if the channel is dead.
 */
int	channel_dispatch(struct channel *, int most);

/* For processes without an event loop: wait, at most ms (-1: for ever). */
int	channel_dispatch_wait(struct channel *, int ms);
int	channel_flush_wait(struct channel *, int ms);

enum msg_type imsg_type(const struct imsg *);
uint8_t	imsg_get_u8(struct imsg *);
uint16_t imsg_get_u16(struct imsg *);
uint32_t imsg_get_u32(struct imsg *);
uint64_t imsg_get_u64(struct imsg *);
int32_t	imsg_get_i32(struct imsg *);
void	imsg_get_str(struct imsg *, char *dst, size_t size);
const uint8_t *imsg_get_bytes(struct imsg *, size_t *size);
void	imsg_get_raw(struct imsg *, void *dst, size_t size);
/* 0 if every get fitted and every byte was taken, else -1. */
int	imsg_end(struct imsg *);
/* The number of fds that came; claiming one hands it over (-1: none there). */
unsigned imsg_fds(const struct imsg *);
int	imsg_claim_fd(struct imsg *, unsigned i);

/* ---- with libevent (imsg_event.c) ---- */

struct event_base;
/* Reads, writes and the dead callback by the loop.  0, or -1. */
int	channel_attach(struct channel *, struct event_base *);

/* ---- tracing ---- */

/* With on, every message sent or received is logged by name (-T imsg). */
void	channel_trace(int on);

#endif
