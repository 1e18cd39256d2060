/*
 * The JSON body of a request; the first byte says which kind of body, the two
 * highest a signal and a size.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "request.h"
#include "signals.h"
#include "text.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
small(int is_signal, const char *body, size_t size)
{
	struct http_bad bad;
	uint32_t value;

	if (is_signal && request_signal(body, size, &value, &bad) == 0 &&
	    signal_name(value) == NULL)
		abort();
	if (!is_signal && request_resize(body, size, &value, &bad) == 0 &&
	    !PTY_SIZE_OK(value))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned kinds[] = {
		REQUEST_SESSION, REQUEST_CALL, REQUEST_ONCE
	};
	static struct limits limits;
	struct request q;
	struct http_bad bad;
	unsigned which;

	if (size == 0)
		return (0);
	if (limits.v[LIMIT_WAIT] == 0) {
		limits_init(&limits);
		text_init();
		json_object_seed(1);
	}
	if (data[0] >= 0xfe) {
		small(data[0] == 0xfe, (const char *)data + 1, size - 1);
		return (0);
	}
	/* the last was added later: what seeds say of the others stays */
	which = data[0] == 3 ? REQUEST_NEURON : kinds[data[0] % 3];
	if (request_read(&q, which, (const char *)data + 1, size - 1,
	    &limits, &bad) == 0) {
		if (q.labels != NULL && !labels_ok(q.labels))
			abort();
		if ((which & (REQUEST_CALL | REQUEST_ONCE)) != 0 &&
		    (q.tool[0] == '\0' || strlen(q.arguments) !=
		    q.arguments_size || q.wait_ms > limits.v[LIMIT_WAIT]))
			abort();
	} else if (memchr(bad.why, '\0', sizeof(bad.why)) == NULL) {
		abort();
	}
	request_free(&q);
	return (0);
}
