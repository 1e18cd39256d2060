/*
 * A body's arguments.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "tool.h"

int
arg_has(const struct tool *t, const char *name)
{
	return (json_object_get(t->args, name) != NULL);
}

int
arg_int(struct tool *t, const char *name, int64_t initial, int64_t min,
    int64_t max, int64_t *value)
{
	json_t *json = json_object_get(t->args, name);

	*value = initial;
	if (json == NULL)
		return (0);
	if (!json_is_integer(json) || json_integer_value(json) < min ||
	    json_integer_value(json) > max)
		return (tool_fail(t, TOOL_BAD_ARGUMENT,
		    "%s is not a whole number of %" PRId64 " to %" PRId64,
		    name, min, max));
	*value = json_integer_value(json);
	return (0);
}

int
arg_bool_of(struct tool *t, const json_t *object, const char *name,
    int *value)
{
	json_t *json = json_object_get(object, name);

	*value = json_is_true(json);
	if (json != NULL && !json_is_boolean(json))
		return (tool_fail(t, TOOL_BAD_ARGUMENT,
		    "%s is neither true nor false", name));
	return (0);
}

int
arg_bool(struct tool *t, const char *name, int *value)
{
	return (arg_bool_of(t, t->args, name, value));
}

int
arg_str_of(struct tool *t, const json_t *object, const char *name,
    int required, const char **value, size_t *len)
{
	json_t *json = json_object_get(object, name);

	*value = NULL;
	*len = 0;
	if (json == NULL && !required)
		return (0);
	if (!json_is_string(json))
		return (tool_fail(t, TOOL_BAD_ARGUMENT, json == NULL ?
		    "%s is missing" : "%s is not a string", name));
	*value = json_string_value(json);
	*len = json_string_length(json);
	return (0);
}

int
arg_str(struct tool *t, const char *name, int required, const char **value,
    size_t *len)
{
	return (arg_str_of(t, t->args, name, required, value, len));
}

static int
digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (c - 'A');
	if (c >= 'a' && c <= 'z')
		return (c - 'a' + 26);
	if (c >= '0' && c <= '9')
		return (c - '0' + 52);
	return (c == '+' ? 62 : c == '/' ? 63 : -1);
}

/* The exact form of RFC 4648, padding and zero bits behind it included. */
static char *
unbase64(const char *text, size_t len, size_t *size)
{
	size_t pad = 0, i, k, n = 0;
	unsigned long v;
	char *bytes;
	int d;

	while (pad < 2 && pad < len && text[len - 1 - pad] == '=')
		pad++;
	if (len % 4 != 0 || (bytes = malloc(len / 4 * 3 + 1)) == NULL)
		return (NULL);
	for (i = 0; i < len; i += 4) {
		for (v = 0, k = 0; k < 4; k++) {
			d = i + k >= len - pad ? 0 : digit(text[i + k]);
			if (d == -1)
				goto bad;
			v = v << 6 | (unsigned long)d;
		}
		bytes[n++] = (char)(v >> 16 & 0xff);
		bytes[n++] = (char)(v >> 8 & 0xff);
		bytes[n++] = (char)(v & 0xff);
	}
	for (i = 1; i <= pad; i++)
		if (bytes[n - i] != 0)
			goto bad;
	*size = n - pad;
	/* The bits that padding leaves over were checked as whole bytes. */
	bytes[*size] = '\0';
	return (bytes);
bad:
	free(bytes);
	return (NULL);
}

int
arg_bytes(struct tool *t, const char *name, const char **value, size_t *len,
    char **freed)
{
	const char *text;
	char other[64];
	size_t size;

	*freed = NULL;
	(void)snprintf(other, sizeof(other), "%s_base64", name);
	if (arg_str(t, name, 0, value, len) == -1 ||
	    arg_str(t, other, 0, &text, &size) == -1)
		return (-1);
	if (text == NULL)
		return (0);
	if (*value != NULL)
		return (tool_fail(t, TOOL_BAD_ARGUMENT,
		    "both %s and %s are given", name, other));
	if ((*freed = unbase64(text, size, len)) == NULL)
		return (tool_fail(t, TOOL_BAD_ARGUMENT,
		    "%s is not base64 (RFC 4648, padded)", other));
	*value = *freed;
	return (0);
}
