/*
 * Transcripts.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "codec.h"
#include "conn.h"
#include "json.h"
#include "log.h"
#include "policy.h"
#include "shown.h"
#include "text.h"
#include "transcript.h"


/* ---- what is kept of a stream ---- */

/* Bytes of one stream: head and tail of what the result has. */
struct excerpt {
	uint8_t	*data;
	size_t	 front;			/* bytes before the cut */
	size_t	 size;
	uint64_t total;
	int	 base64;
};

/* Copies n bytes of a list from an offset; returns how many there were. */
static size_t
copy_part(uint8_t *dst, const struct seglist *l, uint64_t from, size_t n)
{
	const struct seg *s;
	size_t done = 0, part;

	TAILQ_FOREACH(s, &l->segs, entry) {
		if (from >= s->len) {
			from -= s->len;
			continue;
		}
		part = s->len - (size_t)from;
		if (part > n - done)
			part = n - done;
		memcpy(dst + done, s->chunk->data + s->off + from, part);
		done += part;
		from = 0;
		if (done == n)
			break;
	}
	return (done);
}

/* The same of both lists, one behind the other. */
static size_t
copy_both(uint8_t *dst, const struct kept_stream *s, uint64_t from, size_t n)
{
	size_t done = 0;

	if (from < s->head.bytes)
		done = copy_part(dst, &s->head, from, n);
	if (done < n)
		done += copy_part(dst + done, &s->tail, from > s->head.bytes ?
		    from - s->head.bytes : 0, n - done);
	return (done);
}

/* Halves of characters at a new cut go. */
static void
mend_cut(struct excerpt *x)
{
	struct text_scan scan;
	size_t skip;

	text_scan(x->data, x->front, &scan);
	skip = text_continuation(x->data + x->front, x->size - x->front);
	memmove(x->data + x->front - scan.tail, x->data + x->front + skip,
	    x->size - x->front - skip);
	x->front -= scan.tail;
	x->size -= scan.tail + skip;
}

static int
excerpt_make(struct excerpt *x, const struct call *call, int stream,
    uint64_t share)
{
	const struct kept_stream *s = &call->kept.stream[stream];
	uint64_t have = s->head.bytes + s->tail.bytes, front, back;

	x->total = s->total;
	x->base64 = call->base64[stream];
	front = s->head.bytes;
	back = s->tail.bytes;
	if (have > share) {
		if (kept_dropped(&call->kept, stream) == 0) {
			/* contiguous: any place may be the cut */
			front = share / 2;
			back = share - front;
		} else {
			if (front > share / 2)
				front = share / 2;
			if (back > share - front)
				back = share - front;
		}
	}
	if ((x->data = malloc((size_t)(front + back) + 1)) == NULL)
		return (-1);
	x->front = copy_both(x->data, s, 0, (size_t)front);
	x->size = x->front + copy_both(x->data + x->front, s, have - back,
	    (size_t)back);
	if (have > share && !x->base64)
		mend_cut(x);
	return (0);
}

/* A few lines of one stream survive the flood of the other. */
static void
shares(const struct call *call, uint64_t most, uint64_t share[STREAMS])
{
	uint64_t have[STREAMS], half = most / 2;
	int i;

	for (i = 0; i < STREAMS; i++)
		have[i] = call->kept.stream[i].head.bytes +
		    call->kept.stream[i].tail.bytes;
	for (i = 0; i < STREAMS; i++)
		share[i] = have[!i] < half ? most - have[!i] : half;
}

/* ---- writing ---- */

static void
put_text(struct enc *to, const char *text)
{
	enc_raw(to, text, strlen(text));
}

static void
put_data(struct enc *to, const struct excerpt *x)
{
	struct text_scan scan;
	char *text, *end;
	size_t room;

	text_scan(x->data, x->size, &scan);
	room = x->base64 ? base64_size(x->size) : scan.escaped;
	if ((text = malloc(room + TEXT_SLACK)) == NULL)
		fatalx("memory for a transcript");
	end = x->base64 ? base64_write(text, x->data, x->size) :
	    text_escape(text, x->data, x->size);
	enc_raw(to, text, (size_t)(end - text));
	free(text);
}

static void
put_counts(struct enc *to, const struct excerpt *x)
{
	char cut[STREAMS][24], text[512];
	int i;

	for (i = 0; i < STREAMS; i++) {
		if (x[i].total == x[i].size)
			(void)snprintf(cut[i], sizeof(cut[i]), "null");
		else
			(void)snprintf(cut[i], sizeof(cut[i]), "%zu",
			    x[i].front);
	}
	(void)snprintf(text, sizeof(text),
	    "\"encoding\":{\"stdout\":\"%s\",\"stderr\":\"%s\"},"
	    "\"bytes\":{\"stdout\":%llu,\"stderr\":%llu},"
	    "\"dropped\":{\"stdout\":%llu,\"stderr\":%llu},"
	    "\"cut\":{\"stdout\":%s,\"stderr\":%s}",
	    x[0].base64 ? "base64" : "utf-8",
	    x[1].base64 ? "base64" : "utf-8",
	    (unsigned long long)x[0].total, (unsigned long long)x[1].total,
	    (unsigned long long)(x[0].total - x[0].size),
	    (unsigned long long)(x[1].total - x[1].size), cut[0], cut[1]);
	put_text(to, text);
}

/* A call's own result, if it is no larger than what arguments may be. */
static void
put_result(struct enc *to, const json_t *result)
{
	char *text = NULL;

	if (result != NULL)
		text = json_dumps(result, JSON_COMPACT | JSON_ENCODE_ANY);
	if (text == NULL || strlen(text) > SHOWN_MAX)
		put_text(to, "null");
	else
		put_text(to, text);
	free(text);
}

static int
write_it(struct enc *to, const struct call *call)
{
	static const char *const names[] = { ",\"stdout\":\"",
	    "\",\"stderr\":\"" };
	uint64_t share[STREAMS];
	struct excerpt x[STREAMS] = { { .data = NULL } };
	char text[64];
	int i, ok = -1;

	shares(call, conns_limits()->v[LIMIT_TRANSCRIPT], share);
	for (i = 0; i < STREAMS; i++)
		if (excerpt_make(&x[i], call, i, share[i]) == -1)
			goto done;
	put_text(to, "{\"arguments\":");
	put_text(to, call->shown != NULL ? call->shown : "null");
	(void)snprintf(text, sizeof(text), ",\"arguments_bytes\":%zu,"
	    "\"result\":", call->arguments_size);
	put_text(to, text);
	put_result(to, call->result);
	put_text(to, ",");
	put_counts(to, x);
	for (i = 0; i < STREAMS; i++) {
		put_text(to, names[i]);
		put_data(to, &x[i]);
	}
	put_text(to, "\"}");
	ok = enc_error(to) == 0 ? 0 : -1;
done:
	for (i = 0; i < STREAMS; i++)
		free(x[i].data);
	return (ok);
}

void
transcript_send(struct call *call)
{
	struct enc *to;

	if (!policy_up() || call->generation != policy_generation())
		return;
	if ((to = enc_new(TRANSCRIPT_MAX)) == NULL)
		return;
	if (write_it(to, call) == -1 || policy_transcript(call->handle,
	    call->id, call->denied, to) == -1)
		log_warnx("call %s: its transcript can't be written",
		    call->id);
	enc_free(to);
}

/* ---- reading ---- */

/* The next line, without its newline; 0 at the end. */
static int
next_line(const char **p, size_t *n, const char **line, size_t *size)
{
	const char *end;

	if (*n == 0 || (end = memchr(*p, '\n', *n)) == NULL)
		return (0);
	*line = *p;
	*size = (size_t)(end - *p);
	*p = end + 1;
	*n -= *size + 1;
	return (1);
}

/* An object of a line; NULL if it is none, or too much for one. */
static json_t *
read_line(const char *line, size_t size)
{
	if (size == 0 || size > TRANSCRIPT_MAX)
		return (NULL);
	return (json_read_kept(line, size));
}

static json_t *
read_call(const char **p, size_t *n)
{
	static const char *const taken[] = { "arguments", "arguments_bytes",
	    "result", "encoding", "bytes", "dropped", "cut", "stdout",
	    "stderr" };
	const char *line, *more;
	json_t *call, *said, *v;
	size_t size, nmore, i;

	if (!next_line(p, n, &line, &size) ||
	    !next_line(p, n, &more, &nmore) ||
	    (call = read_line(line, size)) == NULL)
		return (NULL);
	if ((said = read_line(more, nmore)) == NULL)
		return (call);
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if ((v = json_object_get(said, taken[i])) != NULL)
			json_object_set(call, taken[i], v);
	json_decref(said);
	return (call);
}

char *
transcript_call(const char *lines, size_t n)
{
	json_t *call = read_call(&lines, &n);
	char *text = NULL;

	if (call != NULL && n == 0)
		text = json_text(call);
	json_decref(call);
	return (text);
}

char *
transcript_session(const char *lines, size_t n)
{
	json_t *j, *list, *call;
	const char *line;
	char *text = NULL;
	size_t size;
	int whole = 1;

	if (!next_line(&lines, &n, &line, &size) ||
	    (j = read_line(line, size)) == NULL)
		return (NULL);
	if ((list = json_array()) == NULL)
		fatalx("memory");
	while (n > 0) {
		if ((call = read_call(&lines, &n)) == NULL) {
			whole = 0;
			break;
		}
		json_array_append_new(list, call);
	}
	json_object_set_new(j, "calls", list);
	if (whole)
		text = json_text(j);
	json_decref(j);
	return (text);
}

void
transcript_answer(struct conn *c, int status, const char *json, size_t n,
    void *arg)
{
	int session = arg != NULL;
	char *text;

	/* compact JSON has no newline */
	if (memchr(json, '\n', n) == NULL) {
		conn_json(c, status, json, n);
		return;
	}
	text = session ? transcript_session(json, n) :
	    transcript_call(json, n);
	if (text == NULL) {
		conn_error(c, API_INTERNAL, "a transcript that is none");
		return;
	}
	conn_json(c, status, text, strlen(text));
	free(text);
}
