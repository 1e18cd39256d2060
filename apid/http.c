/*
 * The strict HTTP/1.1 reader.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http.h"

/* A run of bytes inside the head. */
struct span {
	const char	*p;
	size_t		 n;
};

struct reader {
	struct http_head *head;
	struct http_bad	*bad;
	unsigned	 seen;		/* bits of fields[] */
};

struct field {
	const char	*name;
	int		 (*fn)(struct reader *, struct span);	/* or NULL */
	int		 text;		/* enum http_text, or -1 */
};

static int	bad(struct reader *, enum api_error, const char *, ...)
		    __attribute__((__format__(__printf__, 3, 4)));
static int	field_host(struct reader *, struct span);
static int	field_length(struct reader *, struct span);
static int	field_transfer(struct reader *, struct span);
static int	field_connection(struct reader *, struct span);
static int	field_expect(struct reader *, struct span);
static int	field_accept(struct reader *, struct span);
static int	field_type(struct reader *, struct span);
static int	field_last_id(struct reader *, struct span);
static int	field_authorization(struct reader *, struct span);

/* The fields that mean something here.  None may come twice. */
static const struct field fields[] = {
	{ "Host",		field_host,	TEXT_HOST },
	{ "Content-Length",	field_length,	-1 },
	{ "Transfer-Encoding",	field_transfer,	-1 },
	{ "Connection",		field_connection, -1 },
	{ "Expect",		field_expect,	-1 },
	{ "Accept",		field_accept,	-1 },
	{ "Content-Type",	field_type,	-1 },
	{ "Last-Event-ID",	field_last_id,	-1 },
	{ "Origin",		NULL,		TEXT_ORIGIN },
	{ "MCP-Protocol-Version", NULL,		TEXT_MCP_VERSION },
	{ "Mcp-Method",		NULL,		TEXT_MCP_METHOD },
	{ "Mcp-Name",		NULL,		TEXT_MCP_NAME },
	{ "Mcp-Session-Id",	NULL,		TEXT_MCP_SESSION },
	{ "Myelin-Session",	NULL,		TEXT_SESSION },
	{ "Myelin-Profile",	NULL,		TEXT_PROFILE },
	{ "Myelin-Preset",	NULL,		TEXT_PRESET },
	{ "Myelin-Workspace",	NULL,		TEXT_WORKSPACE },
	{ "Myelin-Read-Only",	NULL,		TEXT_READ_ONLY },
	{ "Myelin-Timeout",	NULL,		TEXT_TIMEOUT },
	{ "Authorization",	field_authorization, -1 }
};
#define FIELD_HOST	0x01U
#define FIELD_LENGTH	0x02U
#define NFIELDS		(sizeof(fields) / sizeof(fields[0]))

/* Says what was wrong; returns -1 for the caller to return. */
static int
bad(struct reader *r, enum api_error code, const char *fmt, ...)
{
	va_list ap;

	r->bad->code = code;
	r->bad->huge = 0;
	va_start(ap, fmt);
	(void)vsnprintf(r->bad->why, sizeof(r->bad->why), fmt, ap);
	va_end(ap);
	return (-1);
}

static int
is_token(unsigned char c)
{
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z'))
		return (1);
	return (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int
span_is(struct span s, const char *word)
{
	return (s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0);
}

static struct span
span_trim(struct span s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return (s);
}

/* Cuts the part before a separator off the front of *s. */
static struct span
span_cut(struct span *s, char separator)
{
	struct span part = *s;
	const char *p = memchr(s->p, separator, s->n);

	if (p == NULL) {
		s->p += s->n;
		s->n = 0;
		return (part);
	}
	part.n = (size_t)(p - s->p);
	s->p = p + 1;
	s->n -= part.n + 1;
	return (part);
}

/* Digits alone, at most 18 of them. */
static int
span_number(struct span s, uint64_t *value)
{
	uint64_t v = 0;
	size_t i;

	if (s.n == 0 || s.n > 18)
		return (-1);
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return (-1);
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*value = v;
	return (0);
}

/* ---- fields ---- */

static int
field_host(struct reader *r, struct span value)
{
	size_t i;

	if (value.n == 0 || value.n > 255)
		return (bad(r, API_BAD_REQUEST,
		    "Host: empty or over 255 bytes"));
	for (i = 0; i < value.n; i++)
		if (strchr("0123456789abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_:[]%", value.p[i]) == NULL)
			return (bad(r, API_BAD_REQUEST,
			    "Host: not a host name"));
	return (0);
}

static int
field_length(struct reader *r, struct span value)
{
	if (span_number(value, &r->head->length) == -1)
		return (bad(r, API_BAD_REQUEST,
		    "Content-Length: not a plain decimal number"));
	r->head->has_length = 1;
	return (0);
}

static int
field_transfer(struct reader *r, struct span value)
{
	(void)value;
	return (bad(r, API_LENGTH, "Transfer-Encoding is not taken: send "
	    "the body with a Content-Length"));
}

static int
field_connection(struct reader *r, struct span value)
{
	while (value.n > 0)
		if (span_is(span_trim(span_cut(&value, ',')), "close"))
			r->head->close = 1;
	return (0);
}

static int
field_expect(struct reader *r, struct span value)
{
	if (!span_is(value, "100-continue"))
		return (bad(r, API_BAD_REQUEST,
		    "Expect: only 100-continue is known"));
	r->head->expect = 1;
	return (0);
}

static int
field_accept(struct reader *r, struct span value)
{
	struct span type;

	while (value.n > 0) {
		type = span_cut(&value, ',');
		type = span_trim(span_cut(&type, ';'));
		if (span_is(type, "text/event-stream"))
			r->head->wants_events = 1;
	}
	return (0);
}

static int
field_type(struct reader *r, struct span value)
{
	struct span parameter = value;
	struct span type = span_trim(span_cut(&parameter, ';'));

	r->head->type = HTTP_TYPE_OTHER;
	if (!span_is(type, "application/json"))
		return (0);
	parameter = span_trim(parameter);
	if (parameter.n > 0 && !span_is(parameter, "charset=utf-8") &&
	    !span_is(parameter, "charset=\"utf-8\""))
		return (bad(r, API_BAD_REQUEST,
		    "Content-Type: JSON comes as UTF-8"));
	r->head->type = HTTP_TYPE_JSON;
	return (0);
}

static int
field_last_id(struct reader *r, struct span value)
{
	if (span_number(value, &r->head->last_id) == -1)
		return (bad(r, API_BAD_REQUEST,
		    "Last-Event-ID: not the id of an event"));
	r->head->has_last_id = 1;
	return (0);
}

/* RFC 6750's b64token, and no more than one. */
static int
is_token68(struct span s)
{
	size_t i = 0;

	for (; i < s.n && (is_token((unsigned char)s.p[i]) || s.p[i] == '/') &&
	    strchr("!#$%&'*^`|", s.p[i]) == NULL; i++)
		;
	for (; i < s.n && s.p[i] == '='; i++)
		;
	return (s.n > 0 && i == s.n);
}

static int
field_authorization(struct reader *r, struct span value)
{
	struct span scheme = span_cut(&value, ' ');

	value = span_trim(value);
	explicit_bzero(r->head->token, sizeof(r->head->token));
	memcpy(r->head->token, HTTP_TOKEN_NONE, sizeof(HTTP_TOKEN_NONE));
	if (!span_is(scheme, "bearer") || value.n >= HTTP_TOKEN_MAX ||
	    !is_token68(value))
		return (0);
	memcpy(r->head->token, value.p, value.n);
	r->head->token[value.n] = '\0';
	return (0);
}

/* ---- lines ---- */

static int
keep_text(struct reader *r, const struct field *f, struct span value)
{
	char *dst = r->head->text[f->text];

	if (value.n >= HTTP_TEXT_MAX)
		return (bad(r, API_BAD_REQUEST, "%s: over %d bytes", f->name,
		    HTTP_TEXT_MAX - 1));
	memcpy(dst, value.p, value.n);
	dst[value.n] = '\0';
	r->head->has_text |= 1U << f->text;
	return (0);
}

static int
take_field(struct reader *r, const struct field *f, struct span value)
{
	if (f->fn != NULL && f->fn(r, value) == -1)
		return (-1);
	return (f->text >= 0 ? keep_text(r, f, value) : 0);
}

static int
read_field(struct reader *r, struct span line)
{
	struct span name, value = line;
	size_t i;

	if (line.p[0] == ' ' || line.p[0] == '\t')
		return (bad(r, API_BAD_REQUEST, "a folded header line"));
	if (memchr(line.p, ':', line.n) == NULL)
		return (bad(r, API_BAD_REQUEST,
		    "a header line without a colon"));
	name = span_cut(&value, ':');
	if (name.n == 0)
		return (bad(r, API_BAD_REQUEST, "a header without a name"));
	for (i = 0; i < name.n; i++)
		if (!is_token((unsigned char)name.p[i]))
			return (bad(r, API_BAD_REQUEST,
			    "a character in a header's name that has no "
			    "place there"));
	value = span_trim(value);
	for (i = 0; i < NFIELDS; i++) {
		if (!span_is(name, fields[i].name))
			continue;
		/* One that comes twice is no good, as any that is wrong. */
		if ((r->seen & (1U << i)) &&
		    fields[i].fn == field_authorization)
			return (field_authorization(r, (struct span){ "", 0 }));
		if (r->seen & (1U << i))
			return (bad(r, API_BAD_REQUEST, "%s comes twice",
			    fields[i].name));
		r->seen |= 1U << i;
		return (take_field(r, &fields[i], value));
	}
	return (0);
}

static int
read_target(struct reader *r, struct span target)
{
	struct span path;
	size_t i;

	if (target.n == 0 || target.p[0] != '/')
		return (bad(r, API_BAD_REQUEST,
		    "the request's target must start with a slash"));
	for (i = 0; i < target.n; i++)
		if (target.p[i] <= ' ' || target.p[i] >= 0x7f ||
		    target.p[i] == '#')
			return (bad(r, API_BAD_REQUEST, "a character in the "
			    "request's target that has no place there"));
	path = span_cut(&target, '?');
	if (path.n >= HTTP_PATH_MAX || target.n >= HTTP_QUERY_MAX)
		return (bad(r, API_BAD_REQUEST, "the request's path is over "
		    "%d bytes, or its query over %d", HTTP_PATH_MAX - 1,
		    HTTP_QUERY_MAX - 1));
	memcpy(r->head->path, path.p, path.n);
	r->head->path[path.n] = '\0';
	memcpy(r->head->query, target.p, target.n);
	r->head->query[target.n] = '\0';
	return (0);
}

static int
read_request_line(struct reader *r, struct span line)
{
	struct span method, target;
	size_t i;

	method = span_cut(&line, ' ');
	if (method.n == 0 || method.n >= sizeof(r->head->method))
		return (bad(r, API_BAD_REQUEST, "no method"));
	for (i = 0; i < method.n; i++)
		if (method.p[i] < 'A' || method.p[i] > 'Z')
			return (bad(r, API_BAD_REQUEST, "no method"));
	memcpy(r->head->method, method.p, method.n);
	r->head->method[method.n] = '\0';
	target = span_cut(&line, ' ');
	if (line.n != 8 || memcmp(line.p, "HTTP/1.1", 8) != 0)
		return (bad(r, API_BAD_REQUEST,
		    "the request line does not end in HTTP/1.1"));
	return (read_target(r, target));
}

/* All lines; the bytes are checked already and end in an empty line. */
static int
read_lines(struct reader *r, struct span all)
{
	struct span line;
	unsigned n = 0;

	line = span_cut(&all, '\r');
	if (read_request_line(r, line) == -1)
		return (-1);
	for (;;) {
		all.p++;			/* the LF */
		all.n--;
		line = span_cut(&all, '\r');
		if (line.n == 0)
			break;
		if (++n > HTTP_FIELDS_MAX)
			return (bad(r, API_BAD_REQUEST,
			    "more than %d header lines", HTTP_FIELDS_MAX));
		if (read_field(r, line) == -1) {
			/* The one that both smugglers and proxies send. */
			if (r->bad->code == API_LENGTH &&
			    (r->seen & FIELD_LENGTH))
				return (bad(r, API_BAD_REQUEST, "both "
				    "Content-Length and Transfer-Encoding"));
			return (-1);
		}
	}
	if (!(r->seen & FIELD_HOST))
		return (bad(r, API_BAD_REQUEST, "Host is missing"));
	return (0);
}

/*
 * The end of the head, or 0 if it is not there yet; -1 for a byte that no
 * head may have.  Looks at each byte once, however slowly they come.
 */
static ssize_t
find_end(struct reader *r, const uint8_t *p, size_t size, size_t *scanned)
{
	size_t i;

	for (i = *scanned; i < size; i++) {
		if (p[i] == '\n') {
			if (i == 0 || p[i - 1] != '\r')
				return (bad(r, API_BAD_REQUEST,
				    "a line that ends in LF without CR"));
			if (i >= 3 && p[i - 2] == '\n')
				return ((ssize_t)i + 1);
			if (i == 1)
				return (bad(r, API_BAD_REQUEST,
				    "an empty line before the request"));
		} else if (i > 0 && p[i - 1] == '\r') {
			return (bad(r, API_BAD_REQUEST,
			    "a CR that no LF follows"));
		} else if ((p[i] < ' ' && p[i] != '\t' && p[i] != '\r') ||
		    p[i] == 0x7f) {
			return (bad(r, API_BAD_REQUEST,
			    "a control character (0x%02x) in the head", p[i]));
		}
	}
	*scanned = size;
	return (0);
}

enum http_result
http_head_read(const uint8_t *p, size_t size, size_t *scanned,
    struct http_head *head, size_t *used, struct http_bad *why)
{
	struct reader r = { .head = head, .bad = why };
	struct span all;
	ssize_t end;

	end = find_end(&r, p, size > HTTP_HEAD_MAX ? HTTP_HEAD_MAX : size,
	    scanned);
	if (end == -1)
		return (HTTP_BAD);
	if (end == 0) {
		if (size < HTTP_HEAD_MAX)
			return (HTTP_MORE);
		bad(&r, API_BAD_REQUEST, "the head is over %d bytes",
		    HTTP_HEAD_MAX);
		why->huge = 1;
		return (HTTP_BAD);
	}
	memset(head, 0, sizeof(*head));
	all.p = (const char *)p;
	all.n = (size_t)end;
	if (read_lines(&r, all) == -1)
		return (HTTP_BAD);
	*used = (size_t)end;
	return (HTTP_OK);
}

const char *
http_text(const struct http_head *head, enum http_text which)
{
	return ((head->has_text & (1U << which)) != 0 ? head->text[which] :
	    NULL);
}

/* ---- the query ---- */

int
http_query_number(const struct http_head *head, const char *name,
    uint64_t *value)
{
	struct span rest = { head->query, strlen(head->query) };
	struct span pair, key;

	while (rest.n > 0) {
		pair = span_cut(&rest, '&');
		key = span_cut(&pair, '=');
		if (key.n == strlen(name) && memcmp(key.p, name, key.n) == 0)
			return (span_number(pair, value) == -1 ? -1 : 1);
	}
	return (0);
}

int
http_query_text(const struct http_head *head, const char *name, char *dst,
    size_t size)
{
	struct span rest = { head->query, strlen(head->query) };
	struct span pair, key;

	while (rest.n > 0) {
		pair = span_cut(&rest, '&');
		key = span_cut(&pair, '=');
		if (key.n != strlen(name) || memcmp(key.p, name, key.n) != 0)
			continue;
		if (pair.n >= size)
			return (-1);
		memcpy(dst, pair.p, pair.n);
		dst[pair.n] = '\0';
		return (1);
	}
	return (0);
}

const char *
http_query_stray(const struct http_head *head, const char *const *names,
    char *buf, size_t size)
{
	struct span rest = { head->query, strlen(head->query) };
	struct span pair, key;
	unsigned seen = 0;
	size_t i;

	while (rest.n > 0) {
		pair = span_cut(&rest, '&');
		key = span_cut(&pair, '=');
		for (i = 0; names != NULL && names[i] != NULL; i++)
			if (key.n == strlen(names[i]) &&
			    memcmp(key.p, names[i], key.n) == 0)
				break;
		if (names != NULL && names[i] != NULL &&
		    !(seen & (1U << i))) {
			seen |= 1U << i;
			continue;
		}
		(void)snprintf(buf, size, "%.*s", (int)key.n, key.p);
		return (buf);
	}
	return (NULL);
}
