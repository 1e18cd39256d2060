/*
 * The explanation of a dry run, as judged could write it, beside words of
 * policyd's: the answer is JSON, and holds nothing but those two.
 *
 *	the input: policyd's JSON, a line end, the explanation
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "codec.h"
#include "dry.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size), *rest;
	size_t n = end != NULL ? (size_t)(end - data) : size, left;
	json_t *answer, *explanation;
	int fd = -1;
	char *text;

	if (end != NULL) {
		rest = end + 1;
		left = size - n - 1;
		if ((fd = memfd_sealed("explanation", rest, left)) == -1)
			abort();
	}
	text = dry_answer((const char *)data, n, fd);
	if (fd != -1)
		close(fd);
	if (text == NULL)
		return (0);
	answer = json_loads(text, JSON_ALLOW_NUL, NULL);
	explanation = json_object_get(answer, "explanation");
	if (!json_is_object(explanation) && !json_is_null(explanation))
		abort();
	json_decref(answer);
	free(text);
	return (0);
}
