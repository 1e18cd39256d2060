/*
 * Dialling the addresses of a host, with a start for each that the one before
 * does not answer in time (RFC 8305, 5).
 */
#include <event2/event.h>
#include <event2/event_struct.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "dial.h"

#define NEXT_MS		250

struct attempt {
	struct event	 ev;
	int		 fd;		/* -1: not begun, or over */
};

struct dial {
	struct event_base *base;
	struct event	 timer;
	dial_cb		*cb;
	void		*arg;
	uint64_t	 until;
	uint16_t	 port;
	size_t		 n, next, open;
	enum refusal	 why;		/* of the last that failed */
	struct address	 v[DIAL_MAX];
	struct attempt	 tries[DIAL_MAX];
};

static void	next(struct dial *);

static void
attempt_end(struct dial *d, struct attempt *a, int keep)
{
	if (a->fd == -1)
		return;
	event_del(&a->ev);
	if (!keep)
		close(a->fd);
	a->fd = -1;
	d->open--;
}

void
dial_cancel(struct dial *d)
{
	size_t i;

	if (d == NULL)
		return;
	for (i = 0; i < d->n; i++)
		attempt_end(d, &d->tries[i], 0);
	event_del(&d->timer);
	free(d);
}

static void
finish(struct dial *d, enum refusal why, struct attempt *won)
{
	struct address address;
	dial_cb *cb = d->cb;
	void *arg = d->arg;
	int fd = -1;

	memset(&address, 0, sizeof(address));
	if (won != NULL) {
		fd = won->fd;
		address = d->v[won - d->tries];
		attempt_end(d, won, 1);
	}
	dial_cancel(d);
	cb(arg, why, fd, &address);
}

static enum refusal
why_of(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return (REFUSE_REFUSED);
	case ETIMEDOUT:
		return (REFUSE_TIMEOUT);
	default:
		return (REFUSE_UNREACHABLE);
	}
}

static void
on_connected(evutil_socket_t fd, short what, void *arg)
{
	struct dial *d = arg;
	struct attempt *a = NULL;
	socklen_t size = sizeof(int);
	size_t i;
	int error = 0;

	(void)what;
	for (i = 0; i < d->n; i++)
		if (d->tries[i].fd == fd)
			a = &d->tries[i];
	if (a == NULL)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == -1)
		error = errno;
	if (error == 0) {
		finish(d, REFUSE_NOT, a);
		return;
	}
	d->why = why_of(error);
	attempt_end(d, a, 0);
	next(d);
}

/* Begins one; 0 if it is under way. */
static int
begin(struct dial *d, size_t i)
{
	struct attempt *a = &d->tries[i];
	struct sockaddr_storage ss;
	socklen_t size;
	int fd, on = 1;

	size = address_sockaddr(&d->v[i], d->port, &ss);
	fd = socket(d->v[i].family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, 0);
	if (fd == -1)
		return (-1);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, (struct sockaddr *)&ss, size) == -1 &&
	    errno != EINPROGRESS) {
		d->why = why_of(errno);
		close(fd);
		return (-1);
	}
	a->fd = fd;
	d->open++;
	event_assign(&a->ev, d->base, fd, EV_WRITE, on_connected, d);
	event_add(&a->ev, NULL);
	return (0);
}

static void
timer_add(struct dial *d, uint64_t ms)
{
	struct timeval tv = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_usec = (suseconds_t)(ms % 1000 * 1000)
	};

	evtimer_add(&d->timer, &tv);
}

static void
next(struct dial *d)
{
	uint64_t now = now_ms(), left = d->until > now ? d->until - now : 0;

	while (d->next < d->n && left > 0)
		if (begin(d, d->next++) == 0)
			break;
	if (d->open == 0 || left == 0) {
		finish(d, left == 0 ? REFUSE_TIMEOUT : d->why, NULL);
		return;
	}
	timer_add(d, d->next < d->n && left > NEXT_MS ? NEXT_MS : left);
}

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	next(arg);
}

struct dial *
dial_start(struct event_base *base, const struct address *v, size_t n,
    uint16_t port, uint64_t ms, dial_cb *cb, void *arg)
{
	struct dial *d;
	size_t i;

	if ((d = calloc(1, sizeof(*d))) == NULL)
		return (NULL);
	d->base = base;
	d->cb = cb;
	d->arg = arg;
	d->port = port;
	d->until = now_ms() + ms;
	d->why = REFUSE_UNREACHABLE;
	d->n = n < DIAL_MAX ? n : DIAL_MAX;
	memcpy(d->v, v, d->n * sizeof(*v));
	for (i = 0; i < d->n; i++)
		d->tries[i].fd = -1;
	evtimer_assign(&d->timer, base, on_timer, d);
	/* The first begins now; who fails at once is told by the timer. */
	while (d->next < d->n)
		if (begin(d, d->next++) == 0)
			break;
	timer_add(d, d->open == 0 ? 0 : d->next < d->n && ms > NEXT_MS ?
	    NEXT_MS : ms);
	return (d);
}
