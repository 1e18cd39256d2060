/*
 * The head of a request: whatever comes, in whatever parts, the reader ends,
 * keeps its bounds and gives the same answer.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file_name.h"
#include "http.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "cursor", "limit", NULL };
	struct http_head whole, parts;
	struct http_bad bad;
	size_t scanned = 0, used = 0, used_parts = 0, n;
	enum http_result a, b = HTTP_MORE;
	char name[16], path[64], value[DISPOSITION_MAX];
	uint64_t v;

	a = http_head_read(data, size, &scanned, &whole, &used, &bad);
	scanned = 0;
	for (n = 0; n <= size && b == HTTP_MORE; n += 1 + n / 64)
		b = http_head_read(data, n, &scanned, &parts, &used_parts,
		    &bad);
	if (b == HTTP_MORE)
		b = http_head_read(data, size, &scanned, &parts, &used_parts,
		    &bad);
	if (a != b || (a == HTTP_OK && (used != used_parts || used > size ||
	    used > HTTP_HEAD_MAX || memcmp(&whole, &parts,
	    sizeof(whole)) != 0)))
		abort();
	if (a == HTTP_OK) {
		(void)http_query_stray(&whole, names, name, sizeof(name));
		(void)http_query_number(&whole, "cursor", &v);
		(void)http_query_text(&whole, "limit", name, sizeof(name));
		if (url_path_decode(whole.path, path, sizeof(path)) == 0) {
			disposition(path, ".tar", value);
			/* Nothing of a name ends what it stands in. */
			if (strpbrk(value, "\r\n") != NULL ||
			    strchr(strchr(value, '"') + 1, '"') !=
			    strrchr(value, '"'))
				abort();
		}
	}
	return (0);
}
