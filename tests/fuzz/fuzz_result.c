/*
 * The result of a tool, as a neuron's process may write it: it ends in a
 * record that is JSON, with words for stderr that are bounded.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "json.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct body *b = body_new();
	json_t *record = json_object(), *again;
	size_t n = 0;
	char *words, *text;

	if (b == NULL || (b->text = malloc(size + 1)) == NULL)
		abort();
	memcpy(b->text, data, size);
	b->size = b->room = size;
	b->total = size;
	words = body_end(b, &n);
	if (words != NULL && (n < 2 || n > BODY_MESSAGE_MAX + 1 ||
	    words[n - 1] != '\n'))
		abort();
	json_object_set_new(record, "state", json_string("completed"));
	body_seal(b, record);
	if ((text = json_text(record)) == NULL)
		abort();
	again = json_loads(text, JSON_ALLOW_NUL, NULL);
	if (!json_is_object(json_object_get(again, "result")) &&
	    !json_is_object(json_object_get(again, "error")))
		abort();
	json_decref(again);
	json_decref(record);
	free(text);
	free(words);
	body_free(b);
	return (0);
}
