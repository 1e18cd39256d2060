/*
 * The tool fetch: hops, and the answer of the last one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fetch_int.h"

#define INTERIMS_MAX	16

void
fetch_fail(struct fetch *f, enum refusal why, const char *detail)
{
	f->state = FETCH_FAILED;
	f->why = why;
	(void)snprintf(f->detail, sizeof(f->detail), "%s", detail != NULL &&
	    detail[0] != '\0' ? detail : refusal_sentence(why));
}

/* What belongs to one hop. */
static void
end_hop(struct fetch *f)
{
	tls_free(f->tls);
	free(f->out);
	free(f->in);
	f->tls = NULL;
	f->out = NULL;
	f->in = NULL;
	f->nout = f->sent = f->nin = f->scanned = 0;
	f->interims = 0;
	f->shaken = f->has_head = 0;
}

struct fetch *
fetch_new(const char *arguments, size_t size, uint64_t most,
    const struct fetch_trust *trust, fetch_sink *sink, void *arg)
{
	struct fetch *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return (NULL);
	f->state = FETCH_DIAL;
	f->most = most;
	f->trust = trust;
	f->sink = sink;
	f->arg = arg;
	if ((f->redirects = json_array()) == NULL ||
	    (f->answer = json_object()) == NULL) {
		fetch_free(f);
		return (NULL);
	}
	fetch_arguments(f, arguments, size);
	return (f);
}

void
fetch_free(struct fetch *f)
{
	if (f == NULL)
		return;
	end_hop(f);
	json_decref(f->headers);
	json_decref(f->redirects);
	json_decref(f->answer);
	free(f);
}

enum fetch_state
fetch_state(const struct fetch *f)
{
	return (f->state);
}

const struct host *
fetch_host(const struct fetch *f)
{
	return (&f->url.host);
}

uint16_t
fetch_port(const struct fetch *f)
{
	return (f->url.port);
}

int
fetch_is_tls(const struct fetch *f)
{
	return (f->url.tls);
}

const char *
fetch_method(const struct fetch *f)
{
	return (f->head ? "HEAD" : "GET");
}

void
fetch_refuse(struct fetch *f, enum refusal why, const char *detail,
    const char *rule)
{
	fetch_fail(f, why, detail);
	if (rule != NULL)
		(void)snprintf(f->rule, sizeof(f->rule), "%s", rule);
}

/*
 * The answer
 */

static void
take_body(struct fetch *f, const uint8_t *p, size_t size)
{
	enum body_result r = BODY_MORE;
	const uint8_t *data;
	size_t used, n;

	while (f->state == FETCH_TALK) {
		r = body_data(&f->body, p, size, &used, &data, &n);
		if (n > f->most - f->bytes) {
			n = (size_t)(f->most - f->bytes);
			f->truncated = 1;
		}
		if (n > 0)
			f->sink(f->arg, data, n);
		f->bytes += n;
		p += used;
		size -= used;
		if (f->truncated || r == BODY_DONE)
			f->state = FETCH_DONE;
		else if (r == BODY_BAD)
			fetch_fail(f, REFUSE_UPSTREAM,
			    "the chunks of the answer are malformed");
		else if (size == 0)
			return;
	}
}

static int
is_redirect(unsigned status)
{
	return (status == 301 || status == 302 || status == 303 ||
	    status == 307 || status == 308);
}

/* On to another hop: only its host, its port and what is judged of them. */
static void
redirect(struct fetch *f, struct span where)
{
	char *text;
	struct url *next;
	const char *why;
	enum refusal r;

	if (json_array_size(f->redirects) == FETCH_REDIRECTS_MAX) {
		fetch_fail(f, REFUSE_REDIRECTS,
		    "the host redirects more than 10 times");
		return;
	}
	next = calloc(1, sizeof(*next));
	text = malloc(URL_TEXT_MAX);
	if (next == NULL || text == NULL) {
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		goto done;
	}
	url_text(&f->url, text);
	if (json_array_append_new(f->redirects, json_string(text)) == -1) {
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		goto done;
	}
	r = url_join(&f->url, where.p, where.n, next, &why);
	if (r != REFUSE_NOT) {
		fetch_fail(f, r, why);
		goto done;
	}
	f->away |= !url_same_origin(&f->url, next);
	f->url = *next;
	end_hop(f);
	f->state = FETCH_DIAL;
done:
	free(next);
	free(text);
}

static void
take_head(struct fetch *f, const struct response *r)
{
	struct span where;
	int n = is_redirect(r->status) ? head_one(&r->head, "Location",
	    &where) : 0;

	if (n == -1) {
		fetch_fail(f, REFUSE_UPSTREAM, "Location is there twice");
		return;
	}
	if (n == 1) {
		redirect(f, where);
		return;
	}
	f->status = r->status;
	if (fetch_keep_headers(f, r) == -1) {
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		return;
	}
	f->has_head = 1;
	body_start(&f->body, r->framing, r->length, 1);
}

/* 1 if there was a head in what came so far. */
static int
read_head(struct fetch *f)
{
	struct head_bad bad;
	struct response *r;
	size_t used = 0;
	enum head_result result;

	if ((r = malloc(sizeof(*r))) == NULL) {
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		return (0);
	}
	result = response_read(f->in, f->nin, &f->scanned, fetch_method(f), r,
	    &used, &bad);
	if (result == HEAD_OK && !r->interim)
		take_head(f, r);
	else if (result == HEAD_OK && ++f->interims > INTERIMS_MAX)
		fetch_fail(f, REFUSE_UPSTREAM,
		    "the host answers 1xx more than 16 times");
	else if (result == HEAD_BAD)
		fetch_fail(f, bad.why, bad.detail);
	free(r);
	if (result == HEAD_OK && f->state == FETCH_TALK) {
		f->nin -= used;
		f->scanned = 0;
		memmove(f->in, f->in + used, f->nin);
	}
	return (result == HEAD_OK);
}

static void
take(struct fetch *f, const uint8_t *p, size_t size)
{
	size_t n;

	if (f->in == NULL && (f->in = malloc(HEAD_MAX)) == NULL) {
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		return;
	}
	while (f->state == FETCH_TALK && !f->has_head) {
		n = HEAD_MAX - f->nin < size ? HEAD_MAX - f->nin : size;
		if (n > 0)
			memcpy(f->in + f->nin, p, n);
		f->nin += n;
		p += n;
		size -= n;
		if (!read_head(f) && size == 0)
			return;
	}
	if (f->state == FETCH_TALK && (f->nin > 0 || size == 0)) {
		n = f->nin;
		f->nin = 0;
		take_body(f, f->in, n);
	}
	if (f->state == FETCH_TALK)
		take_body(f, p, size);
}

static void
ended(struct fetch *f)
{
	if (!f->has_head)
		fetch_fail(f, REFUSE_UPSTREAM,
		    "the host closed before it answered");
	else if (body_end(&f->body))
		f->state = FETCH_DONE;
	else
		fetch_fail(f, REFUSE_UPSTREAM,
		    "the host closed before the answer's end");
}

/*
 * The wire
 */

static void
pump(struct fetch *f)
{
	char text[REFUSAL_DETAIL_MAX];
	uint8_t buf[16384];
	long n;
	int r;

	if (!f->shaken) {
		r = tls_handshake(f->tls, text, sizeof(text));
		if (r == -1)
			fetch_fail(f, REFUSE_TLS, text);
		if (r != 1)
			return;
		f->shaken = 1;
		if (tls_write(f->tls, f->out, f->nout) == -1) {
			fetch_fail(f, REFUSE_TLS, NULL);
			return;
		}
	}
	while (f->state == FETCH_TALK) {
		n = tls_read(f->tls, buf, sizeof(buf), text, sizeof(text));
		if (n == 0)
			return;
		if (n > 0)
			take(f, buf, (size_t)n);
		else if (n == -1)
			ended(f);
		else
			fetch_fail(f, REFUSE_TLS, text);
	}
}

void
fetch_dialled(struct fetch *f)
{
	if (f->state != FETCH_DIAL)
		return;
	end_hop(f);
	f->state = FETCH_TALK;
	if ((f->out = fetch_request(f, &f->nout)) == NULL) {
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		return;
	}
	if (!f->url.tls)
		return;
	if (f->trust == NULL)
		fetch_fail(f, REFUSE_TLS,
		    "there are no CA certificates to trust");
	else if ((f->tls = tls_new(f->trust, &f->url.host)) == NULL)
		fetch_fail(f, REFUSE_INTERNAL, "out of memory");
	else
		pump(f);
}

const uint8_t *
fetch_output(struct fetch *f, size_t *size)
{
	*size = 0;
	if (f->state != FETCH_TALK)
		return (NULL);
	if (f->url.tls)
		return (tls_output(f->tls, size));
	*size = f->nout - f->sent;
	return ((const uint8_t *)f->out + f->sent);
}

void
fetch_sent(struct fetch *f, size_t n)
{
	if (f->tls != NULL)
		tls_sent(f->tls, n);
	else
		f->sent += n < f->nout - f->sent ? n : f->nout - f->sent;
}

void
fetch_input(struct fetch *f, const uint8_t *p, size_t size)
{
	size_t n;

	for (; size > 0 && f->state == FETCH_TALK; p += n, size -= n) {
		n = size < TLS_INPUT_MAX ? size : TLS_INPUT_MAX;
		if (!f->url.tls)
			take(f, p, n);
		else if (tls_input(f->tls, p, n) == -1)
			fetch_fail(f, REFUSE_INTERNAL, "out of memory");
		else
			pump(f);
	}
}

void
fetch_eof(struct fetch *f)
{
	if (f->state != FETCH_TALK)
		return;
	if (f->url.tls) {
		tls_eof(f->tls);
		pump(f);
		if (f->state == FETCH_TALK)
			fetch_fail(f, REFUSE_TLS, NULL);
	} else
		ended(f);
}
