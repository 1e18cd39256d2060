/*
 * Reading a call's pipes: each read, without its secrets and, where that is
 * asked for, its terminal noise, becomes one event and a part of what is
 * kept.  A character that a read cuts waits for its rest, and so does what
 * may become a secret.
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
#include "scan.h"
#include "stream.h"
#include "strip.h"
#include "text.h"
#include "without.h"

#define PIPE_BYTES	(128 * 1024)	/* of stdout, while the call runs */
#define READ_BURST	4		/* reads before others get their turn */
#define ROOM_MIN	4096		/* a chunk with less is left as it is */
#define STRIP_READ	(32 * 1024)	/* a read whose noise is taken out */

static void	close_pipe(struct output *);
static void	on_readable(evutil_socket_t, short, void *);
static void	on_idle(evutil_socket_t, short, void *);

int
output_start(struct output *o, struct call *call, int stream, int fd)
{
	o->call = call;
	o->stream = stream;
	o->fd = fd;
	o->ev = event_new(proc_base(), fd, EV_READ | EV_PERSIST,
	    on_readable, o);
	o->idle = evtimer_new(proc_base(), on_idle, o);
	if (call->strip)
		o->strip = strip_new();
	return (o->ev == NULL || o->idle == NULL ||
	    (call->strip && o->strip == NULL) ? -1 : 0);
}

static void
widen(struct output *o)
{
	/* Over the user's quota of pipe pages it stays as it is. */
	if (o->fd != -1 && fcntl(o->fd, F_SETPIPE_SZ, PIPE_BYTES) == -1)
		log_debug("call %s: pipe_small", o->call->id);
}

void
output_started(struct call *call)
{
	if (call->watched)
		widen(&call->out[STREAM_STDOUT]);
}

void
output_watch(struct call *call)
{
	int i;

	if (call->watched)
		return;
	call->watched = 1;
	for (i = 0; i < STREAMS; i++)
		if (call->out[i].fd != -1)
			event_add(call->out[i].ev, NULL);
	if (call->state == CALL_RUNNING)
		widen(&call->out[STREAM_STDOUT]);
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

/*
 * A chunk with room for n bytes (0: it isn't known how many), or, unless it
 * must have all of it, for a good part of them; the held ones in front.
 */
static struct chunk *
make_chunk(struct output *o, size_t n, int all)
{
	struct chunk *c = o->chunk, *fresh;
	size_t cap = o->held + (n > 0 ? n : CHUNK_MIN);

	if (c != NULL && ((n > 0 && c->cap - c->used >= n) ||
	    (!all && c->cap - c->used >= ROOM_MIN)))
		return (c);
	if (!all && cap > CHUNK_MAX)
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

/* len bytes of the chunk are an event, and kept. */
static void
emit(struct output *o, struct chunk *c, uint32_t off, uint32_t len,
    const struct text_scan *scan)
{
	struct event_row row;

	memset(&row, 0, sizeof(row));
	row.kind = EVENT_OUTPUT;
	row.stream = (uint8_t)o->stream;
	row.base64 = !scan->valid;
	row.chunk = chunk_ref(c);
	row.off = off;
	row.len = len;
	row.coded = (uint32_t)(scan->valid ? scan->escaped :
	    base64_size(len));
	row.seq = o->told;
	o->told += len;
	call_keep(o->call, o->stream, c, off, len);
	call_announce(o->call, &row);
}

/* All of it but a character that is not whole yet; returns its bytes. */
static uint32_t
emit_text(struct output *o, struct chunk *c, uint32_t off, uint32_t len,
    int final)
{
	struct text_scan scan;

	text_scan(c->data + off, len, &scan);
	/* A character whose rest never comes is no text. */
	if (final && scan.tail > 0) {
		scan.valid = 0;
		scan.tail = 0;
	}
	scan.escaped -= scan.tail;
	len -= (uint32_t)scan.tail;
	if (len > 0)
		emit(o, c, off, len, &scan);
	return ((uint32_t)scan.tail);
}

/* The region's bytes from `from` on, markers in the place of secrets. */
static struct chunk *
rewrite(const uint8_t *region, size_t from, const struct scan_result *r)
{
	struct chunk *c;
	size_t i;

	c = chunk_new(r->upto - from + r->nspans * SCAN_MARKER);
	if (c == NULL)
		return (NULL);
	for (i = 0; i < r->nspans; i++) {
		const struct scan_span *s = &r->spans[i];

		memcpy(c->data + c->used, region + from, s->start - from);
		c->used += (uint32_t)(s->start - from);
		if (!s->quiet)
			c->used += (uint32_t)scan_marker((char *)c->data +
			    c->used, s->kind);
		from = s->end;
	}
	memcpy(c->data + c->used, region + from, r->upto - from);
	c->used += (uint32_t)(r->upto - from);
	return (c);
}

/*
 * What the scanner let go of the region, which is the end of the chunk.
 * o->gone bytes of it went out before.
 */
static int
deliver(struct output *o, const struct scan_result *r, int final)
{
	struct chunk *c = o->chunk, *clean;
	uint32_t region = c->used - o->held, upto = (uint32_t)r->upto, tail;

	if (r->nspans == 0) {
		tail = emit_text(o, c, region + o->gone, upto - o->gone,
		    final);
	} else {
		clean = rewrite(c->data + region, o->gone, r);
		if (clean == NULL)
			return (-1);
		tail = emit_text(o, clean, 0, clean->used, final);
		chunk_unref(clean);
	}
	o->gone = upto - tail - (uint32_t)r->keep;
	o->held -= (uint32_t)r->keep;
	return (0);
}

static void
set_idle(struct output *o, unsigned ms)
{
	struct timeval tv = { .tv_usec = (suseconds_t)ms * 1000 };

	if (ms > 0)
		evtimer_add(o->idle, &tv);
	else if (evtimer_pending(o->idle, NULL))
		evtimer_del(o->idle);
}

/*
 * A file that is fetched: its bytes go to who asked as they are, as a part
 * that was replaced would spoil what goes back to its place, or an archive.
 */
static int
is_file(const struct output *o)
{
	return (o->stream == STREAM_STDOUT && o->call->sink != NULL &&
	    o->call->sink->bytes != NULL);
}

/* They are in no result and no transcript: nothing unscanned is kept. */
static int
take_file(struct output *o, uint32_t n)
{
	struct chunk *c = o->chunk;
	struct event_row row;

	c->used += n;
	if (n == 0)
		return (0);
	memset(&row, 0, sizeof(row));
	row.kind = EVENT_OUTPUT;
	row.stream = (uint8_t)o->stream;
	row.base64 = 1;
	row.chunk = chunk_ref(c);
	row.off = c->used - n;
	row.len = n;
	row.coded = (uint32_t)base64_size(n);
	row.seq = o->told;
	o->told += n;
	call_announce(o->call, &row);
	return (0);
}

/* n bytes more are in the chunk, behind those that are held. */
static int
take(struct output *o, uint32_t n, int final)
{
	struct scan_result r;

	if (is_file(o))
		return (take_file(o, n));
	/* Most programs say nothing on one of both, or on either. */
	if (o->scan == NULL && (o->scan = scan_new()) == NULL)
		return (-1);
	o->chunk->used += n;
	o->held += n;
	if (scan_feed(o->scan, o->chunk->data + o->chunk->used - o->held,
	    o->held, n, final, &r) == -1 || deliver(o, &r, final) == -1)
		return (-1);
	set_idle(o, r.wait);
	return (0);
}

/* Nothing came for a while: what is held goes out if it is no secret yet. */
static void
on_idle(evutil_socket_t fd, short what, void *arg)
{
	struct output *o = arg;
	struct scan_result r;

	(void)fd;
	(void)what;
	if (o->fd == -1 || o->chunk == NULL)
		return;
	if (scan_idle(o->scan, o->chunk->data + o->chunk->used - o->held,
	    o->held, &r) == -1 || deliver(o, &r, 0) == -1) {
		log_warn("call %s: output", o->call->id);
		o->broken = 1;
		close_pipe(o);
		call_output_end(o->call);
	}
}

static void
check_killed(struct call *call)
{
	uint64_t total = call->out[STREAM_STDOUT].came +
	    call->out[STREAM_STDERR].came +
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
	struct chunk *c;
	size_t size;
	char *words = body_end(o->call->body, &size);

	if (words == NULL)
		return;
	if ((c = make_chunk(o, size, 1)) != NULL) {
		memcpy(c->data + c->used, words, size);
		o->came += size;
		if (take(o, (uint32_t)size, 0) == -1)
			log_warn("call %s: output", o->call->id);
	}
	free(words);
}

static void
let_go(struct output *o)
{
	if (o->ev != NULL)
		event_free(o->ev);
	if (o->idle != NULL)
		event_free(o->idle);
	if (o->fd != -1)
		close(o->fd);
	scan_free(o->scan);
	strip_free(o->strip);
	chunk_unref(o->chunk);
	o->ev = NULL;
	o->idle = NULL;
	o->fd = -1;
	o->scan = NULL;
	o->strip = NULL;
	o->chunk = NULL;
}

/* The stream ends: what is held is decided. */
static int
take_last(struct output *o)
{
	struct chunk *c;
	uint32_t n = 0;

	if (o->strip != NULL) {
		if ((c = make_chunk(o, STRIP_LINE, 1)) == NULL)
			return (-1);
		n = (uint32_t)strip_end(o->strip, c->data + c->used);
	}
	return (o->chunk == NULL ? 0 : take(o, n, 1));
}

static void
close_pipe(struct output *o)
{
	if (o->fd == -1)
		return;
	if (is_result(o))
		end_result(o);
	if (!o->broken && take_last(o) == -1)
		log_warn("call %s: output", o->call->id);
	o->redacted = o->scan == NULL ? 0 : scan_count(o->scan);
	let_go(o);
}

/* Reads into the chunk; what read(2) says.  *n: bytes that are in it. */
static ssize_t
fill(struct output *o, uint32_t *n)
{
	static uint8_t raw[STRIP_READ];
	struct chunk *c;
	ssize_t got;
	int there = 0;

	if (o->strip != NULL) {
		if ((got = read(o->fd, raw, sizeof(raw))) <= 0)
			return (got);
		c = make_chunk(o, (size_t)got + STRIP_LINE, 1);
		if (c == NULL)
			return (0);
		*n = (uint32_t)strip_feed(o->strip, c->data + c->used, raw,
		    (size_t)got);
		return (got);
	}
	/* One that nobody watched is at its end, most often. */
	if (o->call->watched)
		(void)ioctl(o->fd, FIONREAD, &there);
	/* No chunk for that. */
	if (there == 0) {
		if ((got = read(o->fd, raw, sizeof(raw))) <= 0)
			return (got);
		if ((c = make_chunk(o, (size_t)got, 1)) == NULL)
			return (0);
		memcpy(c->data + c->used, raw, (size_t)got);
		*n = (uint32_t)got;
		return (got);
	}
	c = make_chunk(o, there > 0 ? (size_t)there : 0, 0);
	if (c == NULL)
		return (0);
	if ((got = read(o->fd, c->data + c->used, c->cap - c->used)) > 0)
		*n = (uint32_t)got;
	return (got);
}

/* 1 if there may be more, 0 if not now, -1 at the end. */
static int
read_once(struct output *o)
{
	uint32_t n = 0;
	ssize_t got;

	if (is_result(o))
		return (read_result(o));
	if (!make_room(o->call)) {
		event_del(o->ev);
		o->paused = 1;
		return (0);
	}
	got = fill(o, &n);
	if (got == -1 && (errno == EAGAIN || errno == EINTR))
		return (0);
	if (got <= 0)
		return (-1);
	/* Its first byte may be here before policyd's word is. */
	call_started(o->call);
	o->came += (uint64_t)got;
	if (take(o, n, 0) == -1) {
		/* Rather nothing more than what was not looked at. */
		log_warn("call %s: output", o->call->id);
		o->broken = 1;
		return (-1);
	}
	check_killed(o->call);
	return (1);
}

/* A turn's worth.  1 if the pipe was closed by that. */
static int
read_burst(struct output *o)
{
	int i, r = 1;

	for (i = 0; i < READ_BURST && r == 1; i++)
		r = read_once(o);
	if (r == -1)
		close_pipe(o);
	return (r == -1);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct output *o = arg;
	struct call *call = o->call;

	(void)fd;
	(void)what;
	if (read_burst(o))
		call_output_end(call);
}

void
output_ended(struct call *call)
{
	int i;

	if (call->watched)
		return;
	for (i = 0; i < STREAMS; i++)
		if (call->out[i].fd != -1)
			(void)read_burst(&call->out[i]);
	output_watch(call);
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
	let_go(o);
}
