/*
 * Requests, answers and bodies of HTTP: the same in every split, and what goes
 * on can be understood in one way alone, by ourselves first.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"
#include "response.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
must(int yes)
{
	if (!yes)
		abort();
}

/* The head that goes on, read again as its host reads it. */
static void
check_sent(const struct request *r)
{
	static struct request again;
	struct head_bad bad;
	size_t n, scanned = 0, used;
	char *text;

	text = request_head(r, &n);
	must(text != NULL);
	if (r->port == 80 && n <= HEAD_MAX && r->head.nfields <
	    HEAD_FIELDS_MAX - 4) {
		must(request_read((uint8_t *)text, n, &scanned,
		    REQUEST_PLAIN, &again, &used, &bad) == HEAD_OK);
		must(used == n && host_same(&r->host, &again.host) &&
		    strcmp(r->method, again.method) == 0 &&
		    r->framing == again.framing &&
		    r->length == again.length && r->close == again.close);
	}
	free(text);
}

static void
one_request(const uint8_t *p, size_t size, enum request_place place)
{
	static struct request whole, parts;
	struct head_bad bad;
	size_t n, scanned = 0, used = 0, used_parts = 0;
	enum head_result a, b = HEAD_MORE;

	a = request_read(p, size, &scanned, place, &whole, &used, &bad);
	must(a != HEAD_BAD || (bad.detail[0] != '\0' &&
	    refusal_denial(bad.why)));
	scanned = 0;
	for (n = 0; n < size && b == HEAD_MORE; n += 1 + n / 64)
		b = request_read(p, n, &scanned, place, &parts, &used_parts,
		    &bad);
	if (b == HEAD_MORE)
		b = request_read(p, size, &scanned, place, &parts,
		    &used_parts, &bad);
	must(a == b);
	if (a != HEAD_OK)
		return;
	must(used == used_parts && used <= size && used <= HEAD_MAX);
	must(host_same(&whole.host, &parts.host) && whole.port ==
	    parts.port && whole.port != 0 && whole.host.name[0] != '\0');
	must(whole.connect == (strcmp(whole.method, "CONNECT") == 0));
	if (!whole.connect)
		check_sent(&whole);
}

static void
one_answer(const uint8_t *p, size_t size)
{
	static struct response r, again;
	struct head_bad bad;
	size_t n, scanned = 0, used = 0;
	char *text;

	if (response_read(p, size, &scanned, "GET", &r, &used, &bad) !=
	    HEAD_OK)
		return;
	must(used <= size && r.status >= 100 && r.status != 101);
	text = response_head(&r, 0, &n);
	must(text != NULL);
	scanned = 0;
	if (n <= HEAD_MAX && r.head.nfields < HEAD_FIELDS_MAX - 4)
		must(response_read((uint8_t *)text, n, &scanned, "GET",
		    &again, &used, &bad) == HEAD_OK && used == n &&
		    r.status == again.status && r.framing == again.framing &&
		    r.length == again.length);
	free(text);
}

/* Followed in steps: as many bytes, and the same of the body. */
static void
one_body(const uint8_t *p, size_t size, int answer)
{
	struct body a, b;
	const uint8_t *data;
	size_t used, at = 0, n, ndata, whole = 0, parts = 0;
	enum body_result ra, rb;

	body_start(&a, FRAME_CHUNKED, 0, answer);
	b = a;
	do {
		ra = body_data(&a, p + at, size - at, &used, &data, &ndata);
		must(used <= size - at && ndata <= used);
		must(ndata == 0 || (data >= p + at &&
		    data + ndata <= p + at + used));
		whole += ndata;
		at += used;
	} while (ra == BODY_MORE && used > 0 && at < size);
	for (n = 0, rb = BODY_MORE; n < size && rb == BODY_MORE; n += used) {
		rb = body_data(&b, p + n, 1, &used, &data, &ndata);
		parts += ndata;
	}
	must(whole == parts && (size == 0 || (ra == rb && n == at)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	one_request(data, size, REQUEST_PROXY);
	one_request(data, size, REQUEST_PLAIN);
	one_answer(data, size);
	one_body(data, size, 0);
	one_body(data, size, 1);
	return (0);
}
