/*
 * An approval's parts, which an agent's apid, judged and policyd wrote: the
 * answer has nothing hidden in what is for people.
 *
 *	u8 which come, three times u16 length, the parts; the rest is JSON
 */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "approval.h"
#include "visible.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

/* What is visible does not change when it is made so again. */
static void
check_text(const json_t *v)
{
	size_t n;
	char *text;

	if (!json_is_string(v))
		return;
	text = visible_text(json_string_value(v), json_string_length(v), &n);
	if (text == NULL || n != json_string_length(v) ||
	    memcmp(text, json_string_value(v), n) != 0)
		abort();
	free(text);
}

static void
check(const json_t *j)
{
	static const char *const names[] = { "shown", "reason", "command" };
	const json_t *one;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_text(json_object_get(j, names[i]));
	check_text(json_object_get(json_object_get(j, "input"), "text"));
	json_array_foreach(json_object_get(j, "paths"), i, one)
		check_text(one);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shown_part parts[SHOWN_PARTS];
	unsigned which, i;
	size_t len;
	json_t *j;
	char *text;

	memset(parts, 0, sizeof(parts));
	if (size == 0)
		return (0);
	which = *data++;
	size--;
	for (i = 0; i < SHOWN_JSON && size >= 2; i++) {
		len = (size_t)(data[0] | data[1] << 8);
		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		if ((which & (1U << i)) != 0) {
			parts[i].bytes = data;
			parts[i].size = len;
		}
		data += len;
		size -= len;
	}
	parts[SHOWN_JSON].bytes = data;
	parts[SHOWN_JSON].size = size;
	if ((j = approval_parts_json(parts, (which & 0x80) != 0)) == NULL)
		return (0);
	check(j);
	if ((text = json_dumps(j, JSON_COMPACT | JSON_ENSURE_ASCII)) == NULL)
		abort();
	free(text);
	json_decref(j);
	return (0);
}
