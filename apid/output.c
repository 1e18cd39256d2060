/*
 * Reading a call's pipes: each read becomes one event and a part of what is
 * kept.  A character that a read cuts waits for its rest.
 */
#include <event2/event.h>
#include <sys/ioctl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "body.h"
#include "call.h"
#include "log.h"
#include "output.h"
#include "policy.h"
#include "proc.h"
#include "stream.h"
#include "text.h"
#include "without.h"

#define PIPE_BYTES	(128 * 1024)	/* of stdout, while the call runs */
#define READ_BURST	4		/* reads before others get their turn */
#define ROOM_MIN	4096		/* a chunk with less is left as it is */

static void	on_readable(evutil_socket_t, short, void *);

int
output_start(struct output *o, struct call *call, int stream, int fd)
{
	o->call = call;
	o->stream = stream;
	o->fd = fd;
	o->ev = event_new(proc_base(), fd, EV_READ | EV_PERSIST,
	    on_readable, o);
	return (o->ev == NULL ? -1 : 0);
}

void
output_enable(struct output *o)
{
	event_add(o->ev, NULL);
}

void
output_widen(struct output *o)
{
	/* Over the user's quota of pipe pages it stays as it is. */
	if (o->fd != -1 && fcntl(o->fd, F_SETPIPE_SZ, PIPE_BYTES) == -1)
		log_debug("call %s: pipe_small", o->call->id);
}

/* ---- room ---- */

/*
 * Whether an event may leave the ring.  With flow "block" it may once its
 * consumer has it, and any may after the consumer left.
 */
static int
may_drop(const struct call *call, uint64_t id)
{
	if (!call->block || call->consumer_state == CONSUMER_LEFT ||
	    WITHOUT(flow_block))
		return (1);
	return (call->consumer_state == CONSUMER_HERE &&
	    stream_has_sent(call->consumer, id));
}

static int
make_room(struct call *call)
{
	uint64_t oldest;

	while (call->ring.bytes + ring_cost(CHUNK_MAX) > RING_BYTES) {
		if ((oldest = ring_oldest(&call->ring)) == 0)
			return (1);
		if (!may_drop(call, oldest)) {
			/* What an ended program left in its pipes is bounded
			 * by the pipes. */
			return (call->state >= CALL_ENDED);
		}
		ring_drop(&call->ring);
	}
	return (1);
}

/* A chunk with room for what is in the pipe, the held bytes in front. */
static struct chunk *
make_chunk(struct output *o)
{
	struct chunk *c = o->chunk, *fresh;
	size_t cap;
	int there = 0;

	(void)ioctl(o->fd, FIONREAD, &there);
	cap = there > 0 ? (size_t)there + o->held : CHUNK_MIN;
	if (c != NULL && (c->cap - c->used >= ROOM_MIN ||
	    c->cap - c->used >= cap))
		return (c);
	if (cap > CHUNK_MAX)
		cap = CHUNK_MAX;
	if (cap < CHUNK_MIN)
		cap = CHUNK_MIN;
	if ((fresh = chunk_new(cap)) == NULL)
		return (NULL);
	if (o->held > 0)
		memcpy(fresh->data, c->data + c->used - o->held, o->held);
	fresh->used = o->held;
	chunk_unref(c);
	o->chunk = fresh;
	return (fresh);
}

/* ---- events ---- */

/* The len bytes before the last `left` of the chunk are an event. */
static void
emit(struct output *o, uint32_t len, uint32_t left,
    const struct text_scan *scan)
{
	struct chunk *c = o->chunk;
	struct event_row row;

	memset(&row, 0, sizeof(row));
	row.kind = EVENT_OUTPUT;
	row.stream = (uint8_t)o->stream;
	row.base64 = !scan->valid;
	row.chunk = chunk_ref(c);
	row.off = c->used - left - len;
	row.len = len;
	row.coded = (uint32_t)(scan->valid ? scan->escaped :
	    base64_size(len));
	row.seq = o->told;
	o->told += len;
	call_announce(o->call, &row);
}

/* n bytes more are in the chunk, behind those that are held. */
static void
take(struct output *o, uint32_t n)
{
	struct chunk *c = o->chunk;
	struct text_scan scan;
	uint32_t len = o->held + n;

	/* Its first byte may be here before policyd's word is. */
	call_started(o->call);
	c->used += n;
	call_keep(o->call, o->stream, c, c->used - n, n);
	text_scan(c->data + c->used - len, len, &scan);
	scan.escaped -= scan.tail;
	o->held = (uint32_t)scan.tail;
	if (len > o->held)
		emit(o, len - o->held, o->held, &scan);
}

static void
check_killed(struct call *call)
{
	uint64_t total = call->kept.stream[STREAM_STDOUT].total +
	    call->kept.stream[STREAM_STDERR].total +
	    (call->body != NULL ? call->body->total : 0);

	if (call->stopped || call->state >= CALL_ENDED ||
	    total < call->killed || WITHOUT(output_limit))
		return;
	call->stopped = 1;
	log_debug("call %s: output limit %llu", call->id,
	    (unsigned long long)call->killed);
	policy_stop(call->handle, STOP_OUTPUT_LIMIT, call->id);
}

/* ---- reading ---- */

/* Whether it is a result that comes here, and no output. */
static int
is_result(const struct output *o)
{
	return (o->stream == STREAM_STDERR && o->call->body != NULL);
}

static int
read_result(struct output *o)
{
	struct call *call = o->call;
	int r = body_read(call->body, o->fd);

	if (r == 1 && !call_keep_result(call))
		body_drop(call->body);
	check_killed(call);
	return (r);
}

/* The result is whole: the message of an error in it is output after all. */
static void
end_result(struct output *o)
{
	size_t size;
	char *words = body_end(o->call->body, &size);

	if (words == NULL)
		return;
	chunk_unref(o->chunk);
	if ((o->chunk = chunk_new(size)) != NULL) {
		memcpy(o->chunk->data, words, size);
		take(o, (uint32_t)size);
	}
	free(words);
}

static void
close_pipe(struct output *o)
{
	struct text_scan scan = { .valid = 0 };

	if (o->fd == -1)
		return;
	if (is_result(o))
		end_result(o);
	/* A character whose rest never came is no text. */
	if (o->held > 0)
		emit(o, o->held, 0, &scan);
	o->held = 0;
	event_free(o->ev);
	o->ev = NULL;
	close(o->fd);
	o->fd = -1;
	chunk_unref(o->chunk);
	o->chunk = NULL;
}

/* 1 if there may be more, 0 if not now, -1 at the end. */
static int
read_once(struct output *o)
{
	struct chunk *c;
	ssize_t n;

	if (is_result(o))
		return (read_result(o));
	if (!make_room(o->call)) {
		event_del(o->ev);
		o->paused = 1;
		return (0);
	}
	if ((c = make_chunk(o)) == NULL) {
		log_warn("call %s: output", o->call->id);
		return (-1);
	}
	n = read(o->fd, c->data + c->used, c->cap - c->used);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (n <= 0)
		return (-1);
	take(o, (uint32_t)n);
	check_killed(o->call);
	return (1);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct output *o = arg;
	struct call *call = o->call;
	int i, r = 1;

	(void)fd;
	(void)what;
	for (i = 0; i < READ_BURST && r == 1; i++)
		r = read_once(o);
	if (r == -1) {
		close_pipe(o);
		call_output_end(call);
	}
}

void
output_resume(struct call *call)
{
	int i;

	for (i = 0; i < STREAMS; i++) {
		if (!call->out[i].paused)
			continue;
		call->out[i].paused = 0;
		event_add(call->out[i].ev, NULL);
	}
}

void
output_finish(struct output *o)
{
	/* Bounded: nobody that could write is left, or should be. */
	int most = RING_BYTES / CHUNK_MIN;

	if (o->fd == -1)
		return;
	while (most-- > 0 && read_once(o) == 1)
		;
	close_pipe(o);
}

void
output_free(struct output *o)
{
	if (o->ev != NULL)
		event_free(o->ev);
	if (o->fd != -1)
		close(o->fd);
	chunk_unref(o->chunk);
	o->ev = NULL;
	o->fd = -1;
	o->chunk = NULL;
}
