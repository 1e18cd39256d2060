/*
 * The tool fetch: arguments, a NUL, and what hosts say to it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fetch.h"

#define MOST	512

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
sink(void *arg, const uint8_t *p, size_t size)
{
	size_t *total = arg;

	(void)p;
	*total += size;
	if (*total > MOST)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char usual[] = "{\"url\":\"http://a.b/c\"}";
	const uint8_t *nul = memchr(data, '\0', size);
	size_t n = nul == NULL ? 0 : (size_t)(nul - data), total = 0, out;
	struct fetch *f;
	unsigned hops = 0;
	int failed;
	char *text;

	f = n == 0 ? fetch_new(usual, sizeof(usual) - 1, MOST, NULL, sink,
	    &total) : fetch_new((const char *)data, n, MOST, NULL, sink,
	    &total);
	if (nul != NULL) {
		data += n + 1;
		size -= n + 1;
	}
	while (fetch_state(f) == FETCH_DIAL || fetch_state(f) == FETCH_TALK) {
		if (fetch_state(f) == FETCH_DIAL) {
			if (hops++ > FETCH_REDIRECTS_MAX ||
			    fetch_host(f)->name[0] == '\0' ||
			    fetch_port(f) == 0)
				abort();
			fetch_dialled(f);
			continue;
		}
		(void)fetch_output(f, &out);
		fetch_sent(f, out);
		if (size == 0) {
			fetch_eof(f);
			continue;
		}
		n = 1 + data[0] % 64;
		n = n < size ? n : size;
		fetch_input(f, data, n);
		data += n;
		size -= n;
	}
	text = fetch_result(f, &failed);
	if (text == NULL || strlen(text) > FETCH_RESULT_MAX)
		abort();
	free(text);
	fetch_free(f);
	return (0);
}
