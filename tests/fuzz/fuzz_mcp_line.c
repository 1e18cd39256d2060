/*
 * A line of a client's for "myelinctl mcp": whatever it says becomes whole
 * header lines of plain text and nothing else, as many as there may be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* "Name: value" lines, each with its CRLF. */
static void
check_lines(const char *p)
{
	const char *end, *colon;

	if (strlen(p) >= HTTP_HEAD_MAX / 2)
		abort();
	for (; *p != '\0'; p = end + 2) {
		if ((end = strstr(p, "\r\n")) == NULL ||
		    (colon = strstr(p, ": ")) == NULL || colon > end)
			abort();
		for (; p < end; p++)
			if (*p < ' ' || *p > '~')
				abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct options o = { .preset = "readonly", .timeout_ms = 1000 };
	struct bridge b = { .options = &o, .id = "s-00000000000000000000",
	    .mcp_version = "2025-11-25" };
	struct post post = { 0 };

	if ((post.body = malloc(size + 1)) == NULL)
		abort();
	memcpy(post.body, data, size);
	post.len = size;
	mcp_parse(&post);
	if (post.method == NULL || (post.version != NULL && post.root == NULL))
		abort();
	check_lines(mcp_headers(&b, &post));
	json_decref(post.root);
	free(post.body);
	return (0);
}
