/*
 * Arguments for the transcript.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "redact.h"
#include "scan.h"
#include "shown.h"
#include "without.h"

#define MASK	"***"

static json_t	*shown(json_t *, int);

/* The end of a text of at most n bytes, between two characters. */
static size_t
cut_at(const char *text, size_t len, size_t n)
{
	if (len <= n)
		return (len);
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return (n);
}

/* A copy that is masked first: a cut must not hide half a key's shape. */
static json_t *
shown_string(const json_t *v)
{
	size_t len = json_string_length(v), n;
	char *text, *whole, *clean;
	json_t *s = NULL;

	if ((text = strndup(json_string_value(v), len)) == NULL)
		return (NULL);
	if (!WITHOUT(transcript_redaction)) {
		if ((clean = scan_text(text, len, &n)) != NULL) {
			free(text);
			text = clean;
		}
		(void)redact_line(text);
	}
	len = strlen(text);
	n = cut_at(text, len, SHOWN_TEXT);
	if (n == len)
		s = json_string(text);
	else if (asprintf(&whole, "%.*s... (%zu bytes more)", (int)n, text,
	    len - n) != -1) {
		s = json_string(whole);
		free(whole);
	}
	free(text);
	/* no UTF-8 any more: nothing of it is worth a risk */
	return (s != NULL ? s : json_string(MASK));
}

/* A name is the caller's as well, and may be anything. */
static void
put_shown(json_t *object, const char *name, json_t *value)
{
	json_t *text = json_string(name), *clean;

	clean = text == NULL ? NULL : shown_string(text);
	json_object_set_new(object, clean != NULL ? json_string_value(clean) :
	    MASK, value);
	json_decref(clean);
	json_decref(text);
}

static json_t *
shown_object(json_t *v, int secret)
{
	json_t *object = json_object(), *one;
	const char *name;

	json_object_foreach(v, name, one)
		put_shown(object, name, shown(one, secret ||
		    (redact_secret_name(name, strlen(name)) &&
		    !WITHOUT(transcript_redaction))));
	return (object);
}

static json_t *
shown_array(json_t *v, int secret)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach(v, i, one)
		json_array_append_new(list, shown(one, secret));
	return (list);
}

/* secret: a name above it says so, and whatever it is goes. */
static json_t *
shown(json_t *v, int secret)
{
	if (json_is_object(v))
		return (shown_object(v, secret));
	if (json_is_array(v))
		return (shown_array(v, secret));
	if (secret && !json_is_null(v))
		return (json_string(MASK));
	if (json_is_string(v))
		return (shown_string(v));
	return (json_incref(v));
}

char *
shown_arguments(json_t *arguments)
{
	json_t *j = shown(arguments, 0);
	char *text = NULL;

	if (j != NULL)
		text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(j);
	if (text != NULL && strlen(text) > SHOWN_MAX) {
		free(text);
		text = strdup("null");
	}
	return (text);
}
