/*
 * All that myelinctl reads from a socket: responses, events, output, audit
 * records, and text for a terminal.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "http.h"
#include "output.h"
#include "sse.h"
#include "words.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int
on_event(void *arg, const struct sse_event *event)
{
	struct output out;

	(void)arg;
	if (output_decode(event->data, event->len, &out) == 0 &&
	    (out.bytes < event->data ||
	    out.bytes + out.len > event->data + event->len))
		abort();
	return (0);
}

static int
on_body(void *arg, const uint8_t *bytes, size_t len)
{
	return (sse_feed(arg, bytes, len));
}

static void
check_terminal(const uint8_t *data, size_t size)
{
	char *safe = words_escape((const char *)data, size), *p;

	for (p = safe; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			abort();
	}
	free(safe);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_response r;
	struct chain chain;
	struct sse sse;
	size_t at, used, n, piece;

	if (size == 0)
		return (0);
	/* The first byte says in how large pieces the rest comes. */
	piece = data[0] == 0 ? size : data[0];
	data++;
	size--;
	sse_init(&sse, on_event, NULL);
	http_init(&r, on_body, &sse);
	for (at = 0; at < size; at += used) {
		n = size - at < piece ? size - at : piece;
		if (http_feed(&r, data + at, n, &used) != 0)
			break;
		if (used != n)
			abort();
	}
	http_end(&r);
	sse_free(&sse);
	sse_init(&sse, on_event, NULL);
	sse_feed(&sse, data, size);
	sse_free(&sse);
	chain_init(&chain);
	chain_add(&chain, (const char *)data, size);
	check_terminal(data, size);
	return (0);
}
