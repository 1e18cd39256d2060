/*
 * Tunnels.  Small pieces go through one buffer that all share; where a read
 * fills it, the direction is a bulk one and goes on by splice(2), which copies
 * nothing, through one of a few pipes.
 */
#include <event2/event.h>
#include <sys/socket.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "proc.h"
#include "relay.h"

#define SHARED_SIZE	65536
#define PIPES_MAX	64		/* in use at a time */
#define PIPE_SIZE	(1024 * 1024)
/* Of all connections of a neuron, roughly; then others have their turn. */
#define TURN_BYTES	(2 * 1024 * 1024)
#define TURN_LEAST	SHARED_SIZE	/* of one */
#define SMALL		16384		/* a splice below it is no bulk */

struct pipes {
	int		 fd[2];
	size_t		 size;
};

struct side {
	struct relay	*relay;
	int		 from, to;
	struct event	 in, out;
	struct buf	 pending;	/* read, not yet written */
	struct pipes	 pipe;		/* fd[0] -1: none */
	size_t		 piped;		/* bytes in it */
	uint64_t	 bytes;
	struct waiter	 waiter;
	int		 bulk;
	int		 eof;		/* no more will come */
	int		 over;		/* and all of it is gone */
};

struct relay {
	struct neuron	*neuron;
	relay_done	*done;
	void		*arg;
	uint64_t	 moved;
	struct event	 first;		/* what is there already */
	struct side	 up, down;
};

static uint8_t		 shared[SHARED_SIZE];
static struct pipes	 spare[PIPES_MAX];
static size_t		 nspare, nused;

/* ---- pipes ---- */

static int
pipe_get(struct side *s)
{
	int n;

	if (s->pipe.fd[0] != -1)
		return (0);
	if (nused == PIPES_MAX)
		return (-1);
	if (nspare > 0)
		s->pipe = spare[--nspare];
	else {
		if (pipe2(s->pipe.fd, O_NONBLOCK | O_CLOEXEC) == -1) {
			s->pipe.fd[0] = -1;
			return (-1);
		}
		/* Over what a user may have in pipes it stays as it is. */
		(void)fcntl(s->pipe.fd[1], F_SETPIPE_SZ, PIPE_SIZE);
		n = fcntl(s->pipe.fd[1], F_GETPIPE_SZ);
		s->pipe.size = n > 0 ? (size_t)n : 65536;
	}
	nused++;
	return (0);
}

static void
pipe_put(struct side *s)
{
	if (s->pipe.fd[0] == -1)
		return;
	nused--;
	if (s->piped == 0 && nspare < PIPES_MAX)
		spare[nspare++] = s->pipe;
	else {
		close(s->pipe.fd[0]);
		close(s->pipe.fd[1]);
	}
	s->pipe.fd[0] = -1;
	s->piped = 0;
}

/* ---- one direction ---- */

enum moved { MOVED, MOVED_WAIT_IN, MOVED_WAIT_OUT, MOVED_WAIT_TURN,
	MOVED_END, MOVED_FAILED, MOVED_OVER };

static enum moved
failed(int wait)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return (wait);
	return (errno == EINTR ? MOVED : MOVED_FAILED);
}

/* Bytes that are out of our hands.  MOVED, or MOVED_OVER. */
static enum moved
account(struct side *s, size_t n)
{
	s->bytes += n;
	s->relay->moved = now_ms();
	return (neuron_moved(s->relay->neuron, n) == -1 ? MOVED_OVER : MOVED);
}

static enum moved
ended(struct side *s)
{
	s->eof = 1;
	return (MOVED_END);
}

static enum moved
flush(struct side *s)
{
	ssize_t n;

	if (buf_size(&s->pending) > 0) {
		n = buf_send(&s->pending, s->to);
		return (n == -1 ? failed(MOVED_WAIT_OUT) :
		    account(s, (size_t)n));
	}
	n = splice(s->pipe.fd[0], NULL, s->to, NULL, s->piped,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n == -1)
		return (failed(MOVED_WAIT_OUT));
	s->piped -= (size_t)n;
	return (account(s, (size_t)n));
}

static enum moved
copy(struct side *s, size_t most)
{
	ssize_t n, sent = 0;

	n = recv(s->from, shared, most < SHARED_SIZE ? most : SHARED_SIZE, 0);
	if (n == -1)
		return (failed(MOVED_WAIT_IN));
	if (n == 0)
		return (ended(s));
	s->bulk = n == SHARED_SIZE;
	sent = send(s->to, shared, (size_t)n, MSG_NOSIGNAL);
	if (sent == -1) {
		if (errno != EAGAIN && errno != EINTR)
			return (MOVED_FAILED);
		sent = 0;
	}
	if (sent < n && buf_add(&s->pending, shared + sent,
	    (size_t)(n - sent)) == -1)
		return (MOVED_FAILED);
	return (account(s, (size_t)sent));
}

static enum moved
bulk(struct side *s, size_t most)
{
	ssize_t n;

	n = splice(s->from, NULL, s->pipe.fd[1], NULL,
	    most < s->pipe.size ? most : s->pipe.size,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (n == -1)
		return (failed(MOVED_WAIT_IN));
	if (n == 0)
		return (ended(s));
	s->piped = (size_t)n;
	s->bulk = n >= SMALL;
	return (MOVED);
}

static enum moved
step(struct side *s)
{
	size_t most;

	if (buf_size(&s->pending) > 0 || s->piped > 0)
		return (flush(s));
	if (s->eof)
		return (MOVED_END);
	if ((most = neuron_allowance(s->relay->neuron, PIPE_SIZE)) == 0)
		return (MOVED_WAIT_TURN);
	if (s->bulk && pipe_get(s) == 0)
		return (bulk(s, most));
	return (copy(s, most));
}

static void
finish(struct relay *r, enum egress_end end)
{
	event_del(&r->first);
	event_del(&r->up.in);
	event_del(&r->up.out);
	event_del(&r->down.in);
	event_del(&r->down.out);
	r->done(r->arg, end);
}

static uint64_t
turn(const struct neuron *n)
{
	uint64_t bytes = TURN_BYTES / (n->nconns + 1);

	return (bytes < TURN_LEAST ? TURN_LEAST : bytes);
}

/* Moves what it can.  0, or -1: the relay is gone. */
static int
run(struct side *s)
{
	struct relay *r = s->relay;
	uint64_t begin = s->bytes, most = turn(r->neuron);
	enum moved m = MOVED;

	while (m == MOVED && s->bytes - begin < most)
		m = step(s);
	switch (m) {
	case MOVED:
		/* The socket is still ready: its turn comes again. */
		break;
	case MOVED_WAIT_IN:
		pipe_put(s);
		break;
	case MOVED_WAIT_OUT:
		event_del(&s->in);
		event_add(&s->out, NULL);
		return (0);
	case MOVED_WAIT_TURN:
		event_del(&s->in);
		neuron_wait(r->neuron, &s->waiter);
		return (0);
	case MOVED_END:
		pipe_put(s);
		event_del(&s->in);
		s->over = 1;
		(void)shutdown(s->to, SHUT_WR);
		if (r->up.over && r->down.over) {
			finish(r, EGRESS_END_CLOSED);
			return (-1);
		}
		return (0);
	case MOVED_FAILED:
		finish(r, EGRESS_END_FAILED);
		return (-1);
	case MOVED_OVER:
		finish(r, EGRESS_END_BYTES);
		return (-1);
	}
	if (buf_size(&s->pending) > 0 || s->piped > 0) {
		event_del(&s->in);
		event_add(&s->out, NULL);
	} else if (!event_pending(&s->in, EV_READ, NULL))
		event_add(&s->in, NULL);
	return (0);
}

static void
on_event(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)run(arg);
}

static void
on_wake(void *arg)
{
	(void)run(arg);
}

static void
on_first(evutil_socket_t fd, short what, void *arg)
{
	struct relay *r = arg;

	(void)fd;
	(void)what;
	if (run(&r->up) == 0)
		(void)run(&r->down);
}

static void
side_init(struct relay *r, struct side *s, int from, int to, struct buf *b)
{
	s->relay = r;
	s->from = from;
	s->to = to;
	s->pipe.fd[0] = -1;
	s->pending = *b;
	memset(b, 0, sizeof(*b));
	s->waiter.wake = on_wake;
	s->waiter.arg = s;
	event_assign(&s->in, proc_base(), from, EV_READ | EV_PERSIST,
	    on_event, s);
	event_assign(&s->out, proc_base(), to, EV_WRITE, on_event, s);
}

struct relay *
relay_start(struct neuron *n, int client, int up, struct buf *to_up,
    struct buf *to_client, relay_done *done, void *arg)
{
	static const struct timeval now = { 0, 0 };
	struct relay *r;

	if ((r = calloc(1, sizeof(*r))) == NULL)
		return (NULL);
	r->neuron = n;
	r->done = done;
	r->arg = arg;
	r->moved = now_ms();
	side_init(r, &r->up, client, up, to_up);
	side_init(r, &r->down, up, client, to_client);
	evtimer_assign(&r->first, proc_base(), on_first, r);
	evtimer_add(&r->first, &now);
	return (r);
}

static void
side_free(struct relay *r, struct side *s)
{
	event_del(&s->in);
	event_del(&s->out);
	neuron_wait_end(r->neuron, &s->waiter);
	buf_free(&s->pending);
	pipe_put(s);
}

void
relay_free(struct relay *r)
{
	if (r == NULL)
		return;
	event_del(&r->first);
	side_free(r, &r->up);
	side_free(r, &r->down);
	free(r);
}

uint64_t
relay_up(const struct relay *r)
{
	return (r->up.bytes);
}

uint64_t
relay_down(const struct relay *r)
{
	return (r->down.bytes);
}

uint64_t
relay_moved(const struct relay *r)
{
	return (r->moved);
}
