/*
 * Channels: their life, and sending.  Receiving is in imsg_receive.c, what a
 * message holds in imsg_field.c, the checks of protocol.h in imsg_check.c.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "imsg_internal.h"
#include "without.h"

static int tracing;

void
channel_trace(int on)
{
	tracing = on;
}

/* ---- a channel's life ---- */

int
channel_pair(int fds[2])
{
	return (socketpair(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds));
}

struct channel *
channel_new(int fd, enum channel_kind kind, enum channel_end end,
    const struct channel_ops *ops, void *arg)
{
	struct channel *ch;

	if ((ch = calloc(1, sizeof(*ch))) == NULL) {
		close(fd);
		return (NULL);
	}
	ch->fd = fd;
	ch->kind = kind;
	ch->end = end;
	ch->state = ST_UP;
	ch->ops = ops;
	ch->arg = arg;
	TAILQ_INIT(&ch->queue);
	return (ch);
}

static void
channel_drop_queue(struct channel *ch)
{
	struct imsg *m;

	while ((m = TAILQ_FIRST(&ch->queue)) != NULL) {
		TAILQ_REMOVE(&ch->queue, m, entry);
		imsg_free(m);
	}
	ch->queued_bytes = 0;
	ch->queued_count = 0;
}

void
channel_hold(struct channel *ch)
{
	ch->holds++;
}

int
channel_release(struct channel *ch)
{
	if (--ch->holds > 0 || !ch->freed)
		return (ch->freed);
	free(ch);
	return (1);
}

void
channel_free(struct channel *ch)
{
	if (ch == NULL || ch->freed)
		return;
	if (ch->detach != NULL)
		ch->detach(ch);
	channel_drop_queue(ch);
	if (ch->fd != -1)
		close(ch->fd);
	ch->fd = -1;
	ch->dead = ch->told = ch->shut = 1;
	ch->freed = 1;
	channel_hold(ch);
	channel_release(ch);
}

void
channel_set_state(struct channel *ch, enum channel_state state)
{
	ch->state = state;
}

enum channel_state
channel_state(const struct channel *ch)
{
	return (ch->state);
}

enum channel_kind
channel_kind(const struct channel *ch)
{
	return (ch->kind);
}

int
channel_fd(const struct channel *ch)
{
	return (ch->fd);
}

const char *
channel_reason(const struct channel *ch)
{
	return (ch->dead ? ch->reason : NULL);
}

size_t
channel_queued(const struct channel *ch)
{
	return (ch->queued_bytes);
}

void
channel_die(struct channel *ch, const char *fmt, ...)
{
	va_list ap;

	if (ch->dead)
		return;
	va_start(ap, fmt);
	vsnprintf(ch->reason, sizeof(ch->reason), fmt, ap);
	va_end(ap);
	ch->dead = ch->shut = 1;
	channel_drop_queue(ch);
	if (ch->wake != NULL)
		ch->wake(ch);
}

void
channel_tell(struct channel *ch)
{
	if (!ch->dead || ch->told)
		return;
	ch->told = 1;
	if (strcmp(ch->reason, "closed") != 0)
		log_warnx("channel %s: %s", channel_name(ch->kind),
		    ch->reason);
	if (ch->ops->dead != NULL)
		ch->ops->dead(ch->arg, ch->reason);
}

void
imsg_trace(const struct channel *ch, const char *verb, unsigned type,
    size_t size, unsigned nfds)
{
	if (tracing)
		log_info("imsg %s %s %s, %zu bytes, %u fds",
		    channel_name(ch->kind), verb, msg_name(type), size, nfds);
}

/* ---- sending ---- */

int
channel_bundles(const struct channel *ch)
{
	return ((ch->kind & (CH_API | CH_OPERATOR | CH_JUDGE)) != 0);
}

static void
put_header(uint8_t header[IMSG_HEADER], const struct imsg *m)
{
	size_t size = enc_size(m->enc), i;

	header[0] = (uint8_t)m->type;
	header[1] = (uint8_t)(m->type >> 8);
	header[2] = (uint8_t)m->nfds;
	header[3] = 0;
	for (i = 0; i < 4; i++)
		header[4 + i] = (uint8_t)(size >> (8 * i));
}

/*
 * A packet: the message, and up to most - 1 that are queued behind it as far
 * as they fit.  How many were sent, 0 not now, -1 the other end is gone or the
 * socket broken.
 */
static int
imsg_write(struct channel *ch, const struct imsg *m, int most)
{
	uint8_t headers[IMSG_BUNDLE][IMSG_HEADER];
	union {
		struct cmsghdr	 align;
		char		 buf[CMSG_SPACE(sizeof(int) *
				    MSG_MAX_FDS_NEURON)];
	} control;
	struct iovec iov[2 * IMSG_BUNDLE];
	struct msghdr msg;
	struct cmsghdr *cmsg;
	const struct imsg *last;
	size_t size, total = 0;
	int n = 0;

	memset(&msg, 0, sizeof(msg));
	msg.msg_iov = iov;
	do {
		last = m;
		size = enc_size(m->enc);
		total += IMSG_HEADER + size;
		put_header(headers[n], m);
		if (n > 0)
			headers[n - 1][3] = IMSG_F_MORE;
		iov[msg.msg_iovlen].iov_base = headers[n++];
		iov[msg.msg_iovlen++].iov_len = IMSG_HEADER;
		if (size > 0) {
			iov[msg.msg_iovlen].iov_base =
			    (void *)(uintptr_t)enc_data(m->enc);
			iov[msg.msg_iovlen++].iov_len = size;
		}
	} while (n < most && m->nfds == 0 &&
	    (m = TAILQ_NEXT(m, entry)) != NULL &&
	    total + IMSG_HEADER + enc_size(m->enc) <= MSG_MAX_SIZE);
	if (last->nfds > 0) {
		memset(&control, 0, CMSG_SPACE(sizeof(int) * last->nfds));
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * last->nfds);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * last->nfds);
		memcpy(CMSG_DATA(cmsg), last->fds, sizeof(int) * last->nfds);
	}
	for (;;) {
		if (sendmsg(ch->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) != -1)
			return (n);
		if (errno == EINTR)
			continue;
		/* Too many fds in flight is back-pressure, not a fault. */
		ch->starved = errno == ETOOMANYREFS || errno == ENOBUFS;
		if (errno == EAGAIN || ch->starved)
			return (0);
		return (-1);
	}
}

/*
 * The other end is gone for writing, yet may have left us words to read
 * (CONFIG_BAD, then exit): reading goes on to the end and says "closed".  Any
 * other error is our own: a channel that can only listen serves nobody.
 */
static void
channel_shut(struct channel *ch, int error)
{
	if (error != EPIPE && error != ECONNRESET) {
		channel_die(ch, "send: %s", strerror(error));
		return;
	}
	ch->shut = 1;
	channel_drop_queue(ch);
}

int
channel_flush(struct channel *ch)
{
	int most = channel_bundles(ch) ? IMSG_BUNDLE : 1, sent;
	struct imsg *m;

	ch->full = 0;
	while ((m = TAILQ_FIRST(&ch->queue)) != NULL) {
		sent = imsg_write(ch, m, most);
		if (sent == -1) {
			channel_shut(ch, errno);
			return (-1);
		}
		if (sent == 0) {
			ch->full = 1;
			return (0);
		}
		for (; sent > 0; sent--) {
			m = TAILQ_FIRST(&ch->queue);
			TAILQ_REMOVE(&ch->queue, m, entry);
			ch->queued_bytes -= enc_size(m->enc);
			ch->queued_count--;
			imsg_free(m);
		}
	}
	if (ch->soon_set && ch->calm != NULL)
		ch->calm(ch);
	ch->soon_set = 0;
	return (ch->shut ? -1 : 1);
}

static int
imsg_sendable(struct channel *ch, struct imsg *m)
{
	enum msg_dir dir = ch->end == END_A ? DIR_DOWN : DIR_UP;
	const char *wrong;

	if (enc_error(m->enc) != 0)
		wrong = "too large";
	else
		wrong = imsg_row_mismatch(&msg_table[m->type], ch, dir,
		    enc_size(m->enc), m->nfds);
	if (wrong == NULL)
		return (1);
	log_warnx("channel %s: not sent: %s is %s", channel_name(ch->kind),
	    msg_name(m->type), wrong);
	return (0);
}

/* Into the queue.  0, or -1 if that killed the channel. */
static int
enqueue(struct channel *ch, struct imsg *m)
{
	TAILQ_INSERT_TAIL(&ch->queue, m, entry);
	ch->queued_bytes += enc_size(m->enc);
	ch->queued_count++;
	if ((ch->queued_bytes > QUEUE_MAX_BYTES ||
	    ch->queued_count > QUEUE_MAX_COUNT) && !WITHOUT(imsg_queue)) {
		channel_die(ch, "queue over %d bytes or %d messages",
		    QUEUE_MAX_BYTES, QUEUE_MAX_COUNT);
		return (-1);
	}
	return (0);
}

static int
may_send(struct channel *ch, struct imsg *m)
{
	if (ch == NULL || ch->shut || !imsg_sendable(ch, m)) {
		imsg_free(m);
		return (0);
	}
	imsg_trace(ch, "sends", m->type, enc_size(m->enc), m->nfds);
	return (1);
}

int
channel_send(struct channel *ch, struct imsg *m)
{
	int sent = 0;

	if (!may_send(ch, m))
		return (-1);
	if (TAILQ_EMPTY(&ch->queue))
		sent = imsg_write(ch, m, 1);
	if (sent != 0) {
		if (sent == -1)
			channel_shut(ch, errno);
		imsg_free(m);
		return (sent == -1 ? -1 : 0);
	}
	if (enqueue(ch, m) == -1)
		return (-1);
	/* What is before it may only have waited for it. */
	if (!ch->full && channel_flush(ch) != 0)
		return (ch->shut ? -1 : 0);
	if (ch->wake != NULL)
		ch->wake(ch);
	return (0);
}

int
channel_send_soon(struct channel *ch, struct imsg *m, unsigned us)
{
	if (!may_send(ch, m) || enqueue(ch, m) == -1)
		return (-1);
	if (ch->full || ch->soon == NULL)
		return (0);
	ch->soon_set = 1;
	ch->soon(ch, us);
	return (0);
}

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

int
channel_flush_wait(struct channel *ch, int ms)
{
	int64_t end = now_ms() + ms, left;
	struct pollfd pfd = { .fd = ch->fd, .events = POLLOUT };
	int r;

	while ((r = channel_flush(ch)) == 0) {
		left = ms < 0 ? 100 : end - now_ms();
		if (left <= 0)
			return (-1);
		/* ETOOMANYREFS leaves the socket writable: never spin on it. */
		(void)poll(&pfd, 1, left > 100 ? 100 : (int)left);
		(void)poll(NULL, 0, 1);
	}
	return (r == 1 ? 0 : -1);
}
