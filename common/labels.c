/* Labels: JSON to text, and back. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

#define KEY_CHARS							\
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

static int
key_ok(const char *key, size_t n)
{
	return (n > 0 && n <= LABEL_KEY_MAX && strspn(key, KEY_CHARS) >= n);
}

/* That it is UTF-8 is for whoever makes JSON of it to see. */
static int
value_ok(const char *value, size_t n)
{
	size_t i;

	if (n > LABEL_VALUE_MAX)
		return (0);
	for (i = 0; i < n; i++)
		if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f)
			return (0);
	return (1);
}

static int
by_key(const void *a, const void *b)
{
	return (strcmp(*(const char *const *)a, *(const char *const *)b));
}

static int
label_put(const json_t *labels, const char *key, char *dst, size_t *used,
    char *why, size_t size)
{
	const json_t *v = json_object_get(labels, key);
	size_t n = json_string_length(v);

	if (!key_ok(key, strlen(key))) {
		(void)snprintf(why, size, "labels: a key is 1 to %d letters, "
		    "digits, \"_\", \".\" and \"-\"", LABEL_KEY_MAX);
		return (-1);
	}
	if (!json_is_string(v) || !value_ok(json_string_value(v), n)) {
		(void)snprintf(why, size, "labels: the value of %s is not a "
		    "string of at most %d bytes without control characters",
		    key, LABEL_VALUE_MAX);
		return (-1);
	}
	*used += (size_t)snprintf(dst + *used, LABELS_SIZE - *used,
	    "%s=%s\n", key, json_string_value(v));
	return (0);
}

int
labels_read(const json_t *labels, char dst[LABELS_SIZE], char *why,
    size_t size)
{
	const char *keys[LABELS_MOST], *key;
	size_t n = 0, used = 0, i;
	void *at;

	dst[0] = '\0';
	if (!json_is_object(labels)) {
		(void)snprintf(why, size, "labels: not an object");
		return (-1);
	}
	if (json_object_size(labels) > LABELS_MOST) {
		(void)snprintf(why, size, "labels: over %d of them",
		    LABELS_MOST);
		return (-1);
	}
	for (at = json_object_iter((json_t *)(uintptr_t)labels); at != NULL;
	    at = json_object_iter_next((json_t *)(uintptr_t)labels, at)) {
		key = json_object_iter_key(at);
		keys[n++] = key;
	}
	qsort(keys, n, sizeof(keys[0]), by_key);
	for (i = 0; i < n; i++)
		if (label_put(labels, keys[i], dst, &used, why, size) == -1)
			return (-1);
	return (0);
}

/* The next label of a text: its key and value.  NULL: that was no label. */
static const char *
label_next(const char *text, size_t *key, const char **value, size_t *n)
{
	const char *end = strchr(text, '\n');

	*key = strcspn(text, "=\n");
	if (end == NULL || text[*key] != '=')
		return (NULL);
	*value = text + *key + 1;
	*n = (size_t)(end - *value);
	return (end + 1);
}

int
labels_ok(const char *text)
{
	const char *before = NULL, *next, *value;
	size_t key, last = 0, n, count = 0;
	json_t *utf8;
	int order;

	for (; *text != '\0'; text = next) {
		if ((next = label_next(text, &key, &value, &n)) == NULL ||
		    ++count > LABELS_MOST || !key_ok(text, key) ||
		    !value_ok(value, n))
			return (0);
		if ((utf8 = json_stringn(value, n)) == NULL)
			return (0);
		json_decref(utf8);
		/* rising, so that no key comes twice */
		order = before == NULL ? -1 : memcmp(before, text,
		    last < key ? last : key);
		if (order > 0 || (order == 0 && last >= key))
			return (0);
		before = text;
		last = key;
	}
	return (1);
}

json_t *
labels_json(const char *text)
{
	char name[LABEL_KEY_MAX + 1];
	json_t *labels = json_object();
	const char *next, *value;
	size_t key, n;

	for (; labels != NULL && *text != '\0'; text = next) {
		if ((next = label_next(text, &key, &value, &n)) == NULL ||
		    key > LABEL_KEY_MAX)
			break;
		memcpy(name, text, key);
		name[key] = '\0';
		json_object_set_new(labels, name, json_stringn(value, n));
	}
	return (labels);
}

int
labels_have(const char *text, const char *label)
{
	size_t wanted = strlen(label), key, n;
	int valued = strchr(label, '=') != NULL;
	const char *next, *value;

	for (; *text != '\0'; text = next) {
		if ((next = label_next(text, &key, &value, &n)) == NULL)
			return (0);
		if (wanted == (valued ? (size_t)(next - text) - 1 : key) &&
		    memcmp(text, label, wanted) == 0)
			return (1);
	}
	return (0);
}
