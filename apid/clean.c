/*
 * Secrets taken out of JSON and words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "json.h"
#include "log.h"
#include "redact.h"
#include "scan.h"
#include "values.h"

#define DEPTH_MAX	64	/* deeper ones are not passed on */

static json_t	*clean_value(const char *, json_t *, unsigned);

/* The value of a property that is named like a secret's. */
static json_t *
clean_named(const char *name, json_t *v)
{
	json_t *fresh = NULL;
	char *text, *clean;
	size_t n, named = strlen(name) + 1;
	int len;

	if (strchr(json_string_value(v), '\n') != NULL ||
	    !redact_secret_name(name, strlen(name)))
		return (NULL);
	len = asprintf(&text, "%s=%s", name, json_string_value(v));
	if (len == -1)
		fatal("a record");
	/* What begins in the name, which is a caller's too, may end behind. */
	if ((clean = scan_text(text, (size_t)len, &n)) != NULL)
		fresh = strncmp(clean, text, named) == 0 ?
		    json_string(clean + named) : json_string("[redacted]");
	free(clean);
	free(text);
	return (fresh);
}

static json_t *
clean_string(const char *name, json_t *v)
{
	json_t *fresh;
	size_t n;
	char *text;

	text = scan_text(json_string_value(v), json_string_length(v), &n);
	if (text == NULL)
		return (name != NULL ? clean_named(name, v) : NULL);
	fresh = json_stringn(text, n);
	free(text);
	return (fresh != NULL ? fresh : json_string("[redacted]"));
}

static void
clean_object(json_t *j, unsigned depth)
{
	const char *name;
	json_t *v, *fresh;
	void *next;

	json_object_foreach_safe(j, next, name, v)
		if ((fresh = clean_value(name, v, depth)) != NULL)
			json_object_set_new(j, name, fresh);
}

static void
clean_array(json_t *j, unsigned depth)
{
	json_t *v, *fresh;
	size_t i;

	json_array_foreach(j, i, v)
		if ((fresh = clean_value(NULL, v, depth)) != NULL)
			json_array_set_new(j, i, fresh);
}

/* What takes its place, or NULL. */
static json_t *
clean_value(const char *name, json_t *v, unsigned depth)
{
	if (json_is_string(v))
		return (clean_string(name, v));
	if (!json_is_object(v) && !json_is_array(v))
		return (NULL);
	if (depth == DEPTH_MAX)
		return (json_null());
	if (json_is_object(v))
		clean_object(v, depth + 1);
	else
		clean_array(v, depth + 1);
	return (NULL);
}

void
clean_values(json_t *j)
{
	(void)clean_value(NULL, j, 0);
}

int
clean_is(const char *text, size_t size)
{
	return (!values_any() && memchr(text, '\\', size) == NULL &&
	    !scan_dirty(text, size));
}

char *
clean_json(const char *text, size_t size, size_t *n)
{
	char *fresh;
	json_t *j;

	/*
	 * Nearly all of it is clean, and is passed on as it is; but what JSON
	 * makes of a registered value is not the value.
	 */
	if (!values_any() && !scan_dirty(text, size))
		return (NULL);
	if ((j = json_loadb(text, size, JSON_ALLOW_NUL, NULL)) == NULL)
		return (NULL);
	clean_values(j);
	if ((fresh = json_text(j)) == NULL)
		fatalx("an answer: memory");
	json_decref(j);
	*n = strlen(fresh);
	return (fresh);
}

void
clean_words(char *text, size_t size)
{
	char *clean;
	size_t n;

	if ((clean = scan_text(text, strlen(text), &n)) == NULL)
		return;
	(void)snprintf(text, size, "%s", clean);
	free(clean);
}
