/*
 * Channels: receiving.  No message reaches its handler but one that its row of
 * protocol.h allows here and now.
 */
#include <sys/socket.h>
#include <sys/uio.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "imsg_internal.h"
#include "without.h"

/* Every fd that came, wherever in the control part; the rest is closed. */
static void
collect_fds(struct msghdr *msg, struct imsg *m)
{
	struct cmsghdr *cmsg;
	size_t n, i;
	int fd;

	for (cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL;
	    cmsg = CMSG_NXTHDR(msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET ||
		    cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		n = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int),
			    sizeof(int));
			if (m->nfds < MSG_MAX_FDS_NEURON)
				m->fds[m->nfds++] = fd;
			else
				close(fd);
		}
	}
}

/* Reads one packet.  1 there is one, 0 nothing now, -1 dead (reason kept). */
static int
imsg_read(struct channel *ch, struct imsg *m, uint8_t *buf)
{
	union {
		struct cmsghdr	 align;
		char		 buf[CMSG_SPACE(sizeof(int) *
				    MSG_MAX_FDS_NEURON)];
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = MSG_MAX_SIZE };
	struct msghdr msg;
	ssize_t n;

	memset(&msg, 0, sizeof(msg));
	msg.msg_iov = &iov;
	msg.msg_iovlen = 1;
	msg.msg_control = control.buf;
	msg.msg_controllen = sizeof(control.buf);
	do
		n = recvmsg(ch->fd, &msg, MSG_DONTWAIT |
		    (WITHOUT(imsg_cloexec) ? 0 : MSG_CMSG_CLOEXEC));
	while (n == -1 && errno == EINTR);
	if (n == -1 && errno == EAGAIN)
		return (0);
	memset(m, 0, sizeof(*m));
	if (n == -1) {
		if (errno == ECONNRESET)
			channel_die(ch, "closed");
		else
			channel_die(ch, "recvmsg failed, errno %d", errno);
		return (-1);
	}
	collect_fds(&msg, m);
	if (n == 0)
		channel_die(ch, "closed");
	else if (msg.msg_flags & MSG_TRUNC)
		channel_die(ch, "a message over %d bytes", MSG_MAX_SIZE);
	else if (msg.msg_flags & MSG_CTRUNC)
		channel_die(ch, "a message with more fds than fit");
	else if (n < IMSG_HEADER)
		channel_die(ch, "a message of %zd bytes", n);
	else
		dec_init(&m->dec, buf, (size_t)n);
	if (ch->dead) {
		imsg_close_fds(m->fds, m->nfds);
		return (-1);
	}
	return (1);
}

/* What a header says. */
struct header {
	unsigned	 type;
	unsigned	 nfds;
	unsigned	 flags;
	uint32_t	 len;
};

/*
 * The next message of a packet, whose fds are the last one's; NULL if it is
 * one, else how it is not.
 */
static const char *
imsg_next(const struct channel *ch, struct imsg *packet, struct imsg *m,
    struct header *h, int may_follow)
{
	struct dec *d = &packet->dec;

	h->type = dec_u16(d);
	h->nfds = dec_u8(d);
	h->flags = dec_u8(d);
	h->len = dec_u32(d);
	if (h->type == MSG_NONE || h->type >= MSG_COUNT)
		return ("of no type that there is");
	m->type = h->type;
	if (h->flags == IMSG_F_MORE && may_follow && channel_bundles(ch) &&
	    h->len < d->left && h->nfds == 0) {
		dec_init(&m->dec, d->p, h->len);
		d->p += h->len;
		d->left -= h->len;
		return (NULL);
	}
	m->dec = *d;
	d->left = 0;
	m->nfds = packet->nfds;
	memcpy(m->fds, packet->fds, sizeof(m->fds[0]) * m->nfds);
	packet->nfds = 0;
	if ((h->flags != 0 || h->len != m->dec.left || h->nfds != m->nfds) &&
	    !WITHOUT(imsg_header))
		return ("with a header that does not fit it");
	return (NULL);
}

/* Header and row; 0 if the message may be handled, else the channel is dead. */
static int
imsg_check(struct channel *ch, struct imsg *packet, struct imsg *m,
    int may_follow)
{
	enum msg_dir dir = ch->end == END_A ? DIR_UP : DIR_DOWN;
	const struct msg_row *row;
	const char *wrong;
	struct header h;

	wrong = imsg_next(ch, packet, m, &h, may_follow);
	if (m->type == MSG_NONE) {
		channel_die(ch, "unknown message type %u", h.type);
		return (-1);
	}
	row = &msg_table[m->type];
	if (wrong != NULL || (wrong = imsg_row_mismatch(row, ch, dir, h.len,
	    h.nfds)) != NULL)
		;
	else if ((row->states & ch->state) == 0 && !WITHOUT(imsg_state))
		wrong = "not allowed now";
	else if (!imsg_kinds_ok(row, m) && !WITHOUT(imsg_kinds))
		wrong = "with an fd of the wrong kind";
	if (wrong == NULL)
		return (0);
	channel_die(ch, "%s is %s", row->name, wrong);
	return (-1);
}

static const struct channel_handler *
find_handler(const struct channel *ch, enum msg_type type)
{
	size_t i;

	for (i = 0; i < ch->ops->nhandlers; i++)
		if (ch->ops->handlers[i].type == type)
			return (&ch->ops->handlers[i]);
	return (NULL);
}

static void
imsg_handle(struct channel *ch, struct imsg *m)
{
	const struct channel_handler *h;

	if ((h = find_handler(ch, m->type)) == NULL) {
		channel_die(ch, "%s has no handler here", msg_name(m->type));
		return;
	}
	imsg_trace(ch, "gets", m->type, m->dec.left, m->nfds);
	if (h->fn(ch->arg, m) == -1)
		channel_die(ch, "%s can't be right", msg_name(m->type));
	else if (!m->ended && !WITHOUT(imsg_end))
		channel_die(ch, "%s was not read to its end",
		    msg_name(m->type));
}

/* Handles the messages of a packet, one after the other; returns how many. */
static int
packet_handle(struct channel *ch, struct imsg *packet)
{
	struct imsg m;
	int n = 0;

	do {
		memset(&m, 0, sizeof(m));
		n++;
		if (imsg_check(ch, packet, &m, n < IMSG_BUNDLE) == 0)
			imsg_handle(ch, &m);
		imsg_close_fds(m.fds, m.nfds);
	} while (packet->dec.left > 0 && !ch->dead);
	imsg_close_fds(packet->fds, packet->nfds);
	return (n);
}

int
channel_dispatch(struct channel *ch, int most)
{
	uint8_t buf[MSG_MAX_SIZE];
	struct imsg packet;
	int handled = 0, got, dead;

	if (most == 0)
		most = 64;
	channel_hold(ch);
	while (handled < most && !ch->dead) {
		if ((got = imsg_read(ch, &packet, buf)) <= 0)
			break;
		handled += packet_handle(ch, &packet);
	}
	channel_tell(ch);
	dead = ch->dead;
	channel_release(ch);
	return (dead ? -1 : handled);
}

int
channel_dispatch_wait(struct channel *ch, int ms)
{
	struct pollfd pfd = { .fd = ch->fd, .events = POLLIN };
	int n;

	if (ch->dead)
		return (-1);
	do
		n = poll(&pfd, 1, ms);
	while (n == -1 && errno == EINTR);
	return (n == 0 ? 0 : channel_dispatch(ch, 1));
}
