/*
 * Lines of a transcript: of the second of each two, which an apid wrote, only
 * what may be taken is; the first stays what policyd said.
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "transcript.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* The state in the first line must be the one in the answer. */
static void
check(const char *lines, const char *answer)
{
	const char *end = strchr(lines, '\n');
	json_t *said, *got;

	said = json_loadb(lines, (size_t)(end - lines), JSON_REJECT_DUPLICATES,
	    NULL);
	got = json_loads(answer, 0, NULL);
	if (said == NULL || got == NULL)
		abort();
	if (json_object_get(said, "state") != NULL && !json_equal(
	    json_object_get(said, "state"), json_object_get(got, "state")))
		abort();
	if (json_object_get(said, "state") == NULL &&
	    json_object_get(got, "state") != NULL)
		abort();
	json_decref(said);
	json_decref(got);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy, *text;

	if ((copy = malloc(size + 1)) == NULL)
		abort();
	memcpy(copy, data, size);
	copy[size] = '\0';
	if ((text = transcript_call(copy, size)) != NULL)
		check(copy, text);
	free(text);
	free(transcript_session(copy, size));
	free(copy);
	return (0);
}
