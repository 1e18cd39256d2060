/*
 * A client's request: one reading of it, and the head that goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

static int
is_method(unsigned char c)
{
	return ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	    (c >= '0' && c <= '9') || c == '-' || c == '_');
}

/* METHOD SP TARGET SP HTTP/1.x, one blank each. */
static enum head_result
read_first(struct request *r, struct span *target, struct head_bad *b)
{
	const char *p = r->head.first.p;
	size_t n = r->head.first.n, i;

	for (i = 0; i < n && is_method((unsigned char)p[i]); i++)
		;
	if (i == 0 || i == n || p[i] != ' ' || i >= sizeof(r->method))
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "the request's method is malformed"));
	memcpy(r->method, p, i);
	r->method[i] = '\0';
	p += i + 1;
	n -= i + 1;
	if (n < 10 || memcmp(p + n - 9, " HTTP/1.", 8) != 0 ||
	    (p[n - 1] != '0' && p[n - 1] != '1'))
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "the request is of no version HTTP/1.0 or HTTP/1.1"));
	r->minor = p[n - 1] - '0';
	*target = (struct span){ p, n - 9 };
	for (i = 0; i < target->n; i++)
		if ((unsigned char)p[i] <= 0x20 || p[i] == '#' ||
		    p[i] == 0x7f)
			return (head_refuse(b, REFUSE_BAD_REQUEST,
			    "the request's target is malformed"));
	return (HEAD_OK);
}

static enum head_result
read_authority(struct request *r, struct span s, uint16_t usual,
    struct head_bad *b)
{
	const char *why;
	enum refusal refused;

	refused = host_port_read(s.p, s.n, usual, &r->host, &r->port, &why);
	return (refused == REFUSE_NOT ? HEAD_OK : head_refuse(b, refused, why));
}

/* http://AUTHORITY[/PATH][?QUERY] */
static enum head_result
read_url(struct request *r, struct span target, struct head_bad *b)
{
	size_t n, i;

	for (n = 0; n < target.n && target.p[n] != ':' && target.p[n] != '/';
	    n++)
		;
	if (target.n < n + 3 || memcmp(target.p + n, "://", 3) != 0)
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "the request's target is no URL with a host"));
	if (!span_is((struct span){ target.p, n }, "http"))
		return (head_refuse(b, REFUSE_SCHEME,
		    "only http goes through a request with a whole URL; "
		    "https goes through CONNECT"));
	target.p += n + 3;
	target.n -= n + 3;
	for (i = 0; i < target.n && target.p[i] != '/' &&
	    target.p[i] != '?'; i++)
		;
	r->path = (struct span){ target.p + i, target.n - i };
	return (read_authority(r, (struct span){ target.p, i }, 80, b));
}

/*
 * Host must be that of the target.  Clients leave it or its port away at times
 * when the target says all: what is there must fit.
 */
static enum head_result
read_host(struct request *r, int host_given, struct head_bad *b)
{
	struct span value;
	struct host host;
	uint16_t port;
	const char *why;
	enum refusal refused;
	int n = head_one(&r->head, "Host", &value);

	if (n == -1)
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "Host is there twice"));
	if (n == 0)
		return (host_given ? HEAD_OK : head_refuse(b,
		    REFUSE_BAD_REQUEST, "Host is missing"));
	refused = host_port_read(value.p, value.n, host_given ? r->port : 80,
	    &host, &port, &why);
	if (refused != REFUSE_NOT)
		return (head_refuse(b, refused, why));
	if (!host_given) {
		r->host = host;
		r->port = port;
		return (HEAD_OK);
	}
	if (!host_same(&host, &r->host) || port != r->port)
		return (head_refuse(b, REFUSE_HOST_DIFFERS,
		    "Host is not the host of the request's target"));
	return (HEAD_OK);
}

static enum head_result
read_target(struct request *r, struct span target, enum request_place place,
    struct head_bad *b)
{
	enum head_result result;
	int given = 1;

	r->connect = strcmp(r->method, "CONNECT") == 0;
	if (r->connect && place != REQUEST_PROXY)
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "CONNECT is for the proxy's port"));
	if (r->connect)
		result = read_authority(r, target, 0, b);
	else if (target.p[0] != '/' && !span_is(target, "*"))
		result = read_url(r, target, b);
	else if (place == REQUEST_PROXY)
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "a request to the proxy has a whole URL"));
	else {
		if (target.p[0] == '*' && strcmp(r->method, "OPTIONS") != 0)
			return (head_refuse(b, REFUSE_BAD_REQUEST,
			    "\"*\" is for OPTIONS"));
		r->path = target;
		given = 0;
		result = HEAD_OK;
	}
	if (result == HEAD_OK)
		result = read_host(r, given, b);
	if (result == HEAD_OK && place == REQUEST_PLAIN && r->port != 80)
		return (head_refuse(b, REFUSE_HOST_DIFFERS,
		    "Host has another port than 80"));
	return (result);
}

static enum head_result
read_rest(struct request *r, struct head_bad *b)
{
	struct span value;

	if (head_framing(&r->head, r->minor, &r->framing, &r->length,
	    b) == -1)
		return (HEAD_BAD);
	if (head_hides(&r->head))
		return (head_refuse(b, REFUSE_FRAMING,
		    "Connection names a field that is not its own"));
	if (r->connect && (r->framing == FRAME_CHUNKED || r->length > 0))
		return (head_refuse(b, REFUSE_FRAMING, "CONNECT with a body"));
	if (r->connect)
		r->framing = FRAME_NONE;
	r->close = r->minor == 0 || head_connection(&r->head, "close");
	switch (head_one(&r->head, "Expect", &value)) {
	case 0:
		break;
	case 1:
		r->expect = span_is(value, "100-continue");
		break;
	default:
		return (head_refuse(b, REFUSE_BAD_REQUEST,
		    "Expect is there twice"));
	}
	return (HEAD_OK);
}

enum head_result
request_read(const uint8_t *p, size_t size, size_t *scanned,
    enum request_place place, struct request *r, size_t *used,
    struct head_bad *b)
{
	struct span target = { NULL, 0 };
	enum head_result result;

	memset(r, 0, offsetof(struct request, head));
	result = head_read(p, size, scanned, &r->head, used, b);
	if (result == HEAD_OK)
		result = read_first(r, &target, b);
	if (result == HEAD_OK)
		result = read_target(r, target, place, b);
	if (result == HEAD_OK)
		result = read_rest(r, b);
	return (result);
}

/* Fields that are written new, or are for this hop. */
static int
is_dropped(const struct head *h, const struct head_field *f)
{
	return (span_is(f->name, "Host") ||
	    span_is(f->name, "Content-Length") || head_hop(h, f));
}

char *
request_head(const struct request *r, size_t *size)
{
	char host[HOST_PORT_MAX], *text = NULL;
	const struct head_field *f;
	FILE *out;
	size_t i;

	if ((out = open_memstream(&text, size)) == NULL)
		return (NULL);
	host_port_text(&r->host, r->port, 80, host);
	fprintf(out, "%s %s%.*s HTTP/1.%d\r\nHost: %s\r\n", r->method,
	    r->path.n == 0 || r->path.p[0] == '?' ? "/" : "",
	    (int)r->path.n, r->path.n > 0 ? r->path.p : "", r->minor, host);
	for (i = 0; i < r->head.nfields; i++) {
		f = &r->head.fields[i];
		if (!is_dropped(&r->head, f))
			fprintf(out, "%.*s: %.*s\r\n", (int)f->name.n,
			    f->name.p, (int)f->value.n, f->value.p);
	}
	if (r->framing == FRAME_CHUNKED)
		fprintf(out, "Transfer-Encoding: chunked\r\n");
	else if (r->framing == FRAME_LENGTH)
		fprintf(out, "Content-Length: %llu\r\n",
		    (unsigned long long)r->length);
	fprintf(out, "%s\r\n", r->close ? "Connection: close\r\n" : "");
	if (fclose(out) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}
