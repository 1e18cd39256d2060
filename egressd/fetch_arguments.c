/*
 * The tool fetch: its arguments, and the request that is made of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fetch_int.h"

#define FIELDS_MAX	32
#define FIELD_NAME_MAX	128
#define FIELD_VALUE_MAX	8192

/* Fields that are the client's own to set, not the caller's. */
static int
is_own(const char *name)
{
	static const char *const own[] = {
		"Connection", "Content-Length", "Expect", "Host",
		"HTTP2-Settings", "Keep-Alive", "TE", "Trailer",
		"Transfer-Encoding", "Upgrade"
	};
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcasecmp(name, own[i]) == 0)
			return (1);
	return (strncasecmp(name, "Proxy-", 6) == 0);
}

/* What another host than the one that was asked may see. */
static int
is_plain(const char *name)
{
	return (strncasecmp(name, "Accept", 6) == 0 ||
	    strcasecmp(name, "User-Agent") == 0 ||
	    strcasecmp(name, "Range") == 0);
}

static const char *
bad_field(const char *name, const json_t *value)
{
	static const char token[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
	const char *p = json_string_value(value);

	if (name[0] == '\0' || strlen(name) > FIELD_NAME_MAX ||
	    name[strspn(name, token)] != '\0')
		return ("headers: a name is malformed");
	if (is_own(name))
		return ("headers: Host, Connection and what frames the "
		    "message can't be set");
	if (p == NULL || json_string_length(value) > FIELD_VALUE_MAX)
		return ("headers: a value is no text of 8192 bytes");
	for (; *p != '\0'; p++)
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
			return ("headers: a value holds a control character");
	return (NULL);
}

static const char *
read_headers(struct fetch *f, json_t *headers)
{
	const char *name, *why;
	json_t *value;

	if (headers == NULL)
		return (NULL);
	if (!json_is_object(headers) || json_object_size(headers) >
	    FIELDS_MAX)
		return ("headers is no object of at most 32 members");
	json_object_foreach(headers, name, value)
		if ((why = bad_field(name, value)) != NULL)
			return (why);
	f->headers = json_incref(headers);
	return (NULL);
}

static const char *
read_rest(struct fetch *f, const json_t *root)
{
	const json_t *method = json_object_get(root, "method");
	const json_t *most = json_object_get(root, "max_bytes");
	const char *text = json_string_value(method);

	if (method != NULL && (text == NULL || (strcmp(text, "GET") != 0 &&
	    strcmp(text, "HEAD") != 0)))
		return ("method is GET or HEAD; to send something use bash");
	f->head = text != NULL && strcmp(text, "HEAD") == 0;
	if (most == NULL)
		return (NULL);
	if (!json_is_integer(most) || json_integer_value(most) < 1)
		return ("max_bytes is no number from 1 on");
	if ((uint64_t)json_integer_value(most) < f->most)
		f->most = (uint64_t)json_integer_value(most);
	return (NULL);
}

static const char *
stray(json_t *root)
{
	const char *name;
	json_t *value;

	json_object_foreach(root, name, value)
		if (strcmp(name, "url") != 0 && strcmp(name, "method") != 0 &&
		    strcmp(name, "headers") != 0 &&
		    strcmp(name, "max_bytes") != 0)
			return ("there is an argument that fetch does not "
			    "have");
	return (NULL);
}

void
fetch_arguments(struct fetch *f, const char *p, size_t size)
{
	const json_t *url;
	const char *why;
	enum refusal r;
	json_t *root;

	root = size > FETCH_ARGUMENTS_MAX ? NULL : json_loadb(p, size,
	    JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(root)) {
		fetch_fail(f, REFUSE_BAD_ARGUMENT,
		    "the arguments are no JSON object of 65536 bytes");
		json_decref(root);
		return;
	}
	url = json_object_get(root, "url");
	if ((why = stray(root)) != NULL ||
	    (why = read_rest(f, root)) != NULL ||
	    (why = read_headers(f, json_object_get(root, "headers"))) != NULL)
		fetch_fail(f, REFUSE_BAD_ARGUMENT, why);
	else if (!json_is_string(url))
		fetch_fail(f, REFUSE_BAD_URL, "url is missing, or no text");
	else if ((r = url_read(json_string_value(url),
	    json_string_length(url), &f->url, &why)) != REFUSE_NOT)
		fetch_fail(f, r, why);
	json_decref(root);
}

static int
has_field(json_t *headers, const char *name, int away)
{
	const char *key;
	json_t *value;

	json_object_foreach(headers, key, value)
		if (strcasecmp(key, name) == 0 && (!away || is_plain(key)))
			return (1);
	return (0);
}

char *
fetch_request(const struct fetch *f, size_t *size)
{
	static const char *const usual[][2] = {
		{ "User-Agent", "myelin" },
		{ "Accept", "*/*" },
		{ "Accept-Encoding", "identity" }
	};
	char host[HOST_PORT_MAX], *text = NULL;
	const char *name;
	json_t *value;
	FILE *out;
	size_t i;

	if ((out = open_memstream(&text, size)) == NULL)
		return (NULL);
	host_port_text(&f->url.host, f->url.port, f->url.tls ? 443 : 80,
	    host);
	fprintf(out, "%s %s HTTP/1.1\r\nHost: %s\r\n", f->head ? "HEAD" :
	    "GET", f->url.path, host);
	json_object_foreach(f->headers, name, value)
		if (!f->away || is_plain(name))
			fprintf(out, "%s: %s\r\n", name,
			    json_string_value(value));
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!has_field(f->headers, usual[i][0], f->away))
			fprintf(out, "%s: %s\r\n", usual[i][0], usual[i][1]);
	fprintf(out, "Connection: close\r\n\r\n");
	if (fclose(out) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}
