/*
 * The tool fetch: its result.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fetch_int.h"
#include "visible.h"

#define NAME_MAX_BYTES	128

/* Any bytes, as text that JSON can hold. */
static json_t *
text_of(const char *p, size_t size)
{
	size_t n;
	char *text = visible_text(p, size, &n);
	json_t *value = text == NULL ? NULL : json_stringn(text, n);

	free(text);
	return (value);
}

/* Another value of a field goes behind a comma (RFC 9110, 5.3). */
static json_t *
joined(const json_t *before, struct span more)
{
	size_t n = json_string_length(before);
	char *text = malloc(n + 2 + more.n + 1);
	json_t *value;

	if (text == NULL)
		return (NULL);
	memcpy(text, json_string_value(before), n);
	memcpy(text + n, ", ", 2);
	memcpy(text + n + 2, more.p, more.n);
	value = text_of(text, n + 2 + more.n);
	free(text);
	return (value);
}

int
fetch_keep_headers(struct fetch *f, const struct response *r)
{
	const struct head_field *field;
	char name[NAME_MAX_BYTES];
	const json_t *before;
	size_t i, j;

	for (i = 0; i < r->head.nfields; i++) {
		field = &r->head.fields[i];
		if (field->name.n >= sizeof(name))
			continue;
		for (j = 0; j < field->name.n; j++)
			name[j] = (char)tolower((unsigned char)
			    field->name.p[j]);
		name[j] = '\0';
		before = json_object_get(f->answer, name);
		if (json_object_set_new(f->answer, name, before != NULL ?
		    joined(before, field->value) : text_of(field->value.p,
		    field->value.n)) == -1)
			return (-1);
	}
	return (0);
}

static int
set_url(const struct fetch *f, json_t *root)
{
	char *text;
	int r;

	if (f->url.host.name[0] == '\0')
		return (0);
	if ((text = malloc(URL_TEXT_MAX)) == NULL)
		return (-1);
	url_text(&f->url, text);
	r = json_object_set_new(root, "url", json_string(text));
	free(text);
	return (r);
}

static json_t *
error_of(const struct fetch *f)
{
	const char *host = f->url.host.name;
	char next[512];
	json_t *error;

	error = json_pack("{s:s,s:o}", "code", refusal_word(f->why),
	    "message", text_of(f->detail, strlen(f->detail)));
	if (error == NULL)
		return (NULL);
	if (host[0] != '\0' && (json_object_set_new(error, "host",
	    json_string(host)) == -1 || json_object_set_new(error, "port",
	    json_integer(f->url.port)) == -1))
		goto fail;
	if (f->rule[0] != '\0' && json_object_set_new(error, "rule",
	    text_of(f->rule, strlen(f->rule))) == -1)
		goto fail;
	refusal_next(f->why, host, f->url.port, next, sizeof(next));
	if (next[0] != '\0' && host[0] != '\0' && json_object_set_new(error,
	    "next", json_string(next)) == -1)
		goto fail;
	return (error);
fail:
	json_decref(error);
	return (NULL);
}

static json_t *
result(const struct fetch *f)
{
	json_t *root = json_object();

	if (root == NULL)
		return (NULL);
	if (set_url(f, root) == -1 ||
	    json_object_set(root, "redirects", f->redirects) == -1 ||
	    json_object_set_new(root, "bytes",
	    json_integer((json_int_t)f->bytes)) == -1)
		goto fail;
	if (f->state != FETCH_DONE) {
		if (json_object_set_new(root, "error", error_of(f)) == -1)
			goto fail;
		return (root);
	}
	if (json_object_set_new(root, "status",
	    json_integer((json_int_t)f->status)) == -1 ||
	    json_object_set(root, "headers", f->answer) == -1 ||
	    json_object_set_new(root, "truncated",
	    json_boolean(f->truncated)) == -1)
		goto fail;
	return (root);
fail:
	json_decref(root);
	return (NULL);
}

char *
fetch_result(const struct fetch *f, int *failed)
{
	static const char *const spare[] = { "headers", "redirects", "url" };
	json_t *root = result(f);
	char *text = NULL;
	size_t i;

	*failed = f->state != FETCH_DONE;
	if (root == NULL)
		return (NULL);
	for (i = 0;; i++) {
		text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
		if (text == NULL || strlen(text) <= FETCH_RESULT_MAX ||
		    i == sizeof(spare) / sizeof(spare[0]))
			break;
		free(text);
		(void)json_object_del(root, spare[i]);
	}
	json_decref(root);
	return (text);
}
