/*
 * JSON that somebody untrusted sent.
 */
#include <stdio.h>
#include <string.h>

#include "json.h"

/*
 * Counts before anything is built: a value costs jansson some 60 bytes, and
 * may take one byte of the body.
 */
int
json_within(const char *p, size_t size, size_t levels, size_t most)
{
	size_t i, depth = 0, values = 1;
	int in_string = 0;

	for (i = 0; i < size; i++) {
		if (in_string) {
			if (p[i] == '\\')
				i++;
			else if (p[i] == '"')
				in_string = 0;
			continue;
		}
		switch (p[i]) {
		case '"':
			in_string = 1;
			break;
		case '[':
		case '{':
			depth++;
			values++;
			break;
		case ']':
		case '}':
			if (depth > 0)
				depth--;
			break;
		case ',':
			values++;
			break;
		default:
			break;
		}
		if (depth > levels || values > most)
			return (0);
	}
	return (1);
}

json_t *
json_read_any(const char *p, size_t size, struct http_bad *bad)
{
	json_error_t error;
	json_t *j;

	bad->code = API_BAD_REQUEST;
	if (!json_within(p, size, JSON_DEPTH_MAX, JSON_VALUES_MAX)) {
		(void)snprintf(bad->why, sizeof(bad->why),
		    "the body has more than %d levels or %d values",
		    JSON_DEPTH_MAX, JSON_VALUES_MAX);
		return (NULL);
	}
	j = json_loadb(p, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
	    &error);
	if (j == NULL)
		(void)snprintf(bad->why, sizeof(bad->why),
		    "the body is not JSON that is taken here: line %d, "
		    "column %d: %.100s", error.line, error.column,
		    json_error_code(&error) == json_error_duplicate_key ?
		    "a member comes twice" : error.text);
	return (j);
}

json_t *
json_read(const char *p, size_t size, struct http_bad *bad)
{
	json_t *j = json_read_any(p, size, bad);

	if (j != NULL && !json_is_object(j)) {
		(void)snprintf(bad->why, sizeof(bad->why),
		    "the body is not a JSON object");
		json_decref(j);
		return (NULL);
	}
	return (j);
}

/* A request's arguments and a tool's result are deeper in it, and together. */
json_t *
json_read_kept(const char *p, size_t size)
{
	json_t *j;

	if (!json_within(p, size, JSON_DEPTH_MAX + 4, 4 * JSON_VALUES_MAX))
		return (NULL);
	j = json_loadb(p, size, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(j))
		return (j);
	json_decref(j);
	return (NULL);
}

char *
json_text(const json_t *j)
{
	return (json_dumps(j, JSON_COMPACT));
}
