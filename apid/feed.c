/*
 * Streamed stdin.  A request is answered when its bytes are in the pipe or in
 * a bounded buffer before it: a program that does not read holds up its
 * feeder, and nobody else.
 */
#include <event2/buffer.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <unistd.h>

#include "call.h"
#include "conn.h"
#include "feed.h"
#include "log.h"
#include "proc.h"

#define BUFFER_MAX	(1024 * 1024)
#define IDLE_TICKS	4	/* CONN_TICKs that a body may keep us waiting */

struct feed {
	int		 fd;		/* -1: closed */
	struct event	*ev;
	struct evbuffer	*buf;
	int		 eof;		/* close when the buffer is empty */
	/* The request under way. */
	struct conn	*conn;
	uint64_t	 accepted;
	int		 conn_eof;
	unsigned	 idle;		/* ticks without a byte of it */
};

static void	on_input(struct conn *, void *);
static void	on_tick(struct conn *, void *);
static void	on_gone(struct conn *, void *);
static void	on_pipe(evutil_socket_t, short, void *);

static const struct conn_ops ops = {
	.input = on_input,
	.tick = on_tick,
	.gone = on_gone
};

struct feed *
feed_new(int fd)
{
	struct feed *f;

	if ((f = calloc(1, sizeof(*f))) == NULL)
		goto fail;
	f->fd = fd;
	f->buf = evbuffer_new();
	f->ev = event_new(proc_base(), fd, EV_WRITE, on_pipe, f);
	if (f->buf != NULL && f->ev != NULL)
		return (f);
	if (f->buf != NULL)
		evbuffer_free(f->buf);
	if (f->ev != NULL)
		event_free(f->ev);
	free(f);
fail:
	close(fd);
	return (NULL);
}

static void
close_pipe(struct feed *f)
{
	if (f->fd == -1)
		return;
	event_free(f->ev);
	close(f->fd);
	f->ev = NULL;
	f->fd = -1;
	evbuffer_drain(f->buf, SIZE_MAX);
}

static void
refuse(struct feed *f, const char *why)
{
	struct conn *c = f->conn;

	if (c == NULL)
		return;
	f->conn = NULL;
	conn_release(c);
	conn_error(c, API_CONFLICT, "%s; %llu bytes were accepted", why,
	    (unsigned long long)f->accepted);
}

void
feed_free(struct feed *f)
{
	if (f == NULL)
		return;
	refuse(f, "the call has ended");
	close_pipe(f);
	evbuffer_free(f->buf);
	free(f);
}

/* Writes until the pipe is full or the buffer empty. */
static void
flush(struct feed *f)
{
	while (f->fd != -1 && evbuffer_get_length(f->buf) > 0) {
		if (evbuffer_write(f->buf, f->fd) != -1)
			continue;
		if (errno == EAGAIN || errno == EINTR) {
			event_add(f->ev, NULL);
			return;
		}
		close_pipe(f);
		refuse(f, "the program has closed its stdin");
		return;
	}
	if (f->eof)
		close_pipe(f);
}

static void
answer(struct feed *f)
{
	struct conn *c = f->conn;
	char text[64];
	int n;

	f->conn = NULL;
	conn_release(c);
	f->eof = f->conn_eof;
	if (f->eof && evbuffer_get_length(f->buf) == 0)
		close_pipe(f);
	n = snprintf(text, sizeof(text), "{\"accepted\":%llu}",
	    (unsigned long long)f->accepted);
	conn_json(c, 200, text, (size_t)n);
}

/* Takes what the connection has, as far as the buffer has room. */
static void
take(struct feed *f)
{
	struct conn *c = f->conn;
	struct evbuffer *in = bufferevent_get_input(c->bev);
	size_t have = evbuffer_get_length(f->buf), n;
	int moved;

	n = have < BUFFER_MAX ? BUFFER_MAX - have : 0;
	if (n > c->body_left)
		n = c->body_left;
	if (n > 0 && (moved = evbuffer_remove_buffer(in, f->buf, n)) > 0) {
		c->body_left -= (size_t)moved;
		f->accepted += (size_t)moved;
		f->idle = 0;
	}
	flush(f);
	/* It may have been refused just now. */
	if (f->conn != NULL && c->body_left == 0)
		answer(f);
}

static void
on_pipe(evutil_socket_t fd, short what, void *arg)
{
	struct feed *f = arg;

	(void)fd;
	(void)what;
	flush(f);
	if (f->conn != NULL)
		take(f);
}

static void
on_input(struct conn *c, void *arg)
{
	(void)c;
	take(arg);
}

/* A program may take its time, a client may not: others want to feed. */
static void
on_tick(struct conn *c, void *arg)
{
	struct feed *f = arg;

	if (evbuffer_get_length(bufferevent_get_input(c->bev)) > 0 ||
	    ++f->idle < IDLE_TICKS)
		return;
	f->conn = NULL;
	conn_error(c, API_BAD_REQUEST, "no byte of the body came for %d s; "
	    "%llu bytes were accepted", IDLE_TICKS * CONN_TICK,
	    (unsigned long long)f->accepted);
}

/* What was accepted stays accepted. */
static void
on_gone(struct conn *c, void *arg)
{
	struct feed *f = arg;

	(void)c;
	f->conn = NULL;
}

void
feed_request(struct conn *c, struct call *call, int eof)
{
	struct feed *f = call->feed;
	const char *why = NULL;

	if (f == NULL)
		why = call->state >= CALL_ENDED ? "the call has ended" :
		    "the call's stdin is not a stream";
	else if (f->conn != NULL)
		why = "another request is feeding this call";
	else if (f->eof || f->fd == -1)
		why = "the call's stdin is closed";
	if (why != NULL) {
		conn_error(c, API_CONFLICT, "%s: %s", call->id, why);
		return;
	}
	f->conn = c;
	f->accepted = 0;
	f->idle = 0;
	f->conn_eof = eof;
	conn_hold(c, &ops, f);
	conn_continue(c);
	take(f);
}
