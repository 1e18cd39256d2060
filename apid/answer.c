/*
 * Answers: heads, JSON bodies, errors.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean.h"
#include "conn_internal.h"
#include "json.h"
#include "log.h"
#include "routes.h"

#define ERROR_MAX	1024

static void	put_error(struct conn *, enum api_error, unsigned,
		    const char *, va_list)
		    __attribute__((__format__(__printf__, 4, 0)));

struct evbuffer *
conn_output(struct conn *c)
{
	return (bufferevent_get_output(c->bev));
}

int
conn_room(struct conn *c)
{
	return (evbuffer_get_length(conn_output(c)) <= CONN_PENDING_MAX);
}

void
conn_header(struct conn *c, const char *name, const char *value)
{
	size_t n = strlen(c->extra);

	if ((size_t)snprintf(c->extra + n, sizeof(c->extra) - n,
	    "%s: %s\r\n", name, value) >= sizeof(c->extra) - n)
		c->extra[n] = '\0';
}

static void
put_head(struct conn *c, int status, const char *type, int64_t length,
    unsigned retry, const char *fields)
{
	struct evbuffer *out = conn_output(c);
	char id[REQUEST_ID_SIZE], size[48];

	/* A body that nobody read can't be told from the next request. */
	if (c->body_left > 0)
		c->close = 1;
	if (length >= 0)
		(void)snprintf(size, sizeof(size), "Content-Length: %lld",
		    (long long)length);
	else
		(void)strlcpy(size, "Transfer-Encoding: chunked", sizeof(size));
	evbuffer_add_printf(out, "HTTP/1.1 %d %s\r\n%s%s%s"
	    "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
	    "Myelin-Request-Id: %s\r\n%s%s\r\n", status,
	    http_reason(status), type != NULL ? "Content-Type: " : "",
	    type != NULL ? type : "", type != NULL ? "\r\n" : "",
	    request_id(c->rid, id), c->extra, size);
	if (retry > 0)
		evbuffer_add_printf(out, "Retry-After: %u\r\n", retry);
	if (status == 405)
		evbuffer_add_printf(out, "Allow: %s\r\n", route_allow(c));
	evbuffer_add_printf(out, "%s%s\r\n", fields,
	    c->close ? "Connection: close\r\n" : "");
	c->chunked = length < 0;
}

void
conn_begin(struct conn *c, int status, const char *type, int64_t length)
{
	put_head(c, status, type, length, 0, "");
}

void
conn_begin_with(struct conn *c, int status, const char *type,
    int64_t length, const char *fields)
{
	put_head(c, status, type, length, 0, fields);
}

void
conn_end(struct conn *c)
{
	if (c->chunked)
		evbuffer_add(conn_output(c), "0\r\n\r\n", 5);
	conn_answered(c);
}

static void
put_json(struct conn *c, int status, unsigned retry, const char *json,
    size_t n)
{
	put_head(c, status, "application/json", (int64_t)n, retry, "");
	evbuffer_add(conn_output(c), json, n);
	conn_answered(c);
}

void
conn_json(struct conn *c, int status, const char *json, size_t n)
{
	put_json(c, status, 0, json, n);
}

void
conn_empty(struct conn *c, int status)
{
	put_head(c, status, NULL, 0, 0, "");
	conn_answered(c);
}

/* Words that may quote what the client sent, cut anywhere. */
static void
make_ascii(char *s)
{
	for (; *s != '\0'; s++)
		if ((unsigned char)*s >= 0x7f || (unsigned char)*s < ' ')
			*s = '?';
}

/* Once: an error in making this answer is a plain one. */
static void
put_dressed(struct conn *c, enum api_error e, unsigned retry,
    const char *why)
{
	const struct conn_dress *dress = c->dress;
	const struct log_about about = { .request = c->rid };
	void *arg = c->dress_arg;

	if (e == API_INTERNAL)
		log_warnx_of(&about, "%s %s: %s", c->head.method,
		    c->head.path, why);
	c->dress = NULL;
	dress->error(c, arg, e, retry, why);
	dress->end(arg);
}

static void
put_error(struct conn *c, enum api_error e, unsigned retry, const char *fmt,
    va_list ap)
{
	const struct log_about about = { .request = c->rid };
	char why[ERROR_MAX], id[REQUEST_ID_SIZE];
	json_t *body, *error;
	char *text = NULL;

	(void)vsnprintf(why, sizeof(why), fmt, ap);
	(void)request_id(c->rid, id);
	clean_words(why, sizeof(why));
	make_ascii(why);
	if (c->dress != NULL) {
		put_dressed(c, e, retry, why);
		return;
	}
	/* The cause of a 500 is for the operator alone. */
	if (e == API_INTERNAL)
		log_warnx_of(&about, "request %s: %s %s: %s", id,
		    c->head.method, c->head.path, why);
	else
		log_debug_of(&about, "request %s: %s: %s", id,
		    api_error_code(e), why);
	body = json_object();
	error = json_object();
	json_object_set_new(error, "code", json_string(api_error_code(e)));
	if (!api_error_is_mute(e))
		json_object_set_new(error, "message", json_string(why));
	json_object_set_new(error, "request_id", json_string(id));
	json_object_set_new(body, "error", error);
	text = json_text(body);
	json_decref(body);
	if (text == NULL)
		fatalx("memory");
	put_json(c, api_error_status(e), retry, text, strlen(text));
	free(text);
}

void
conn_error(struct conn *c, enum api_error e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_error(c, e, 0, fmt, ap);
	va_end(ap);
}

void
conn_error_retry(struct conn *c, enum api_error e, unsigned seconds,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_error(c, e, seconds, fmt, ap);
	va_end(ap);
}
