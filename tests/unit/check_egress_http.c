/*
 * Requests, answers and bodies of HTTP/1.1: one meaning or none.
 */
#include <stdio.h>
#include <string.h>

#include "request.h"
#include "response.h"
#include "unit.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))
#define S(text)		text, sizeof(text) - 1

static enum head_result
read_request(const char *p, size_t n, enum request_place place,
    struct request *r, struct head_bad *bad)
{
	size_t scanned = 0, used = 0, i;
	enum head_result whole, parts = HEAD_MORE;

	for (i = 0; i <= n && parts == HEAD_MORE; i++)
		parts = request_read((const uint8_t *)p, i, &scanned, place,
		    r, &used, bad);
	scanned = 0;
	whole = request_read((const uint8_t *)p, n, &scanned, place, r,
	    &used, bad);
	ck_assert_msg(whole == parts, "%s", p);
	return (whole);
}

static const struct {
	enum request_place place;
	const char	*text;
	size_t		 size;
	const char	*method, *host;
	uint16_t	 port;
	const char	*sent;		/* NULL: CONNECT */
} good[] = {
	{ REQUEST_PROXY, S("CONNECT ok.com:443 HTTP/1.1\r\n"
	    "Host: ok.com:443\r\n\r\n"), "CONNECT", "ok.com", 443, NULL },
	/* As http.client and Java have it. */
	{ REQUEST_PROXY, S("CONNECT ok.com:443 HTTP/1.0\r\n\r\n"),
	    "CONNECT", "ok.com", 443, NULL },
	{ REQUEST_PROXY, S("CONNECT OK.com.:443 HTTP/1.1\r\nHost: ok.com\r\n"
	    "Proxy-Authorization: Basic eA==\r\nContent-Length: 0\r\n\r\n"),
	    "CONNECT", "ok.com", 443, NULL },
	{ REQUEST_PROXY, S("CONNECT [2001:db8::1]:22 HTTP/1.1\r\n"
	    "Host: [2001:db8:0::1]:22\r\n\r\n"), "CONNECT", "2001:db8::1",
	    22, NULL },
	{ REQUEST_PROXY, S("GET http://OK.com/a?b HTTP/1.1\r\nHost: ok.com\r\n"
	    "Proxy-Connection: keep-alive\r\nProxy-Authorization: x\r\n"
	    "Connection: X-Mine, keep-alive\r\nX-Mine: 1\r\nX-Other:  2 \r\n"
	    "Upgrade: h2c\r\nHTTP2-Settings: AA\r\nTE: trailers\r\n\r\n"),
	    "GET", "ok.com", 80,
	    "GET /a?b HTTP/1.1\r\nHost: ok.com\r\nX-Other: 2\r\n\r\n" },
	{ REQUEST_PROXY, S("GET HTTP://ok.com:8080 HTTP/1.1\r\n"
	    "Host: ok.com:8080\r\n\r\n"), "GET", "ok.com", 8080,
	    "GET / HTTP/1.1\r\nHost: ok.com:8080\r\n\r\n" },
	{ REQUEST_PROXY, S("GET http://ok.com?q HTTP/1.0\r\n\r\n"), "GET",
	    "ok.com", 80, "GET /?q HTTP/1.0\r\nHost: ok.com\r\n"
	    "Connection: close\r\n\r\n" },
	{ REQUEST_PROXY, S("POST http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n"
	    "Content-Length: 3\r\nExpect: 100-continue\r\n\r\nabc"), "POST",
	    "ok.com", 80, "POST / HTTP/1.1\r\nHost: ok.com\r\n"
	    "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n" },
	{ REQUEST_PROXY, S("PUT http://ok.com/ HTTP/1.1\r\nHost: ok.com\r\n"
	    "Transfer-Encoding: Chunked\r\nConnection: close\r\n\r\n"), "PUT",
	    "ok.com", 80, "PUT / HTTP/1.1\r\nHost: ok.com\r\n"
	    "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" },
	{ REQUEST_PLAIN, S("GET /a HTTP/1.1\r\nhost: OK.com:80\r\n\r\n"),
	    "GET", "ok.com", 80,
	    "GET /a HTTP/1.1\r\nHost: ok.com\r\n\r\n" },
	{ REQUEST_PLAIN, S("OPTIONS * HTTP/1.1\r\nHost: ok.com\r\n\r\n"),
	    "OPTIONS", "ok.com", 80,
	    "OPTIONS * HTTP/1.1\r\nHost: ok.com\r\n\r\n" },
	{ REQUEST_PLAIN, S("GET http://ok.com/ HTTP/1.1\r\n"
	    "Host: ok.com\r\n\r\n"), "GET", "ok.com", 80,
	    "GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n" }
};

START_TEST(requests)
{
	struct request r;
	struct head_bad bad;
	char *text;
	size_t i, n;

	for (i = 0; i < NITEMS(good); i++) {
		ck_assert_msg(read_request(good[i].text, good[i].size,
		    good[i].place, &r, &bad) == HEAD_OK, "%s: %s",
		    good[i].text, bad.detail);
		ck_assert_str_eq(r.method, good[i].method);
		ck_assert_str_eq(r.host.name, good[i].host);
		ck_assert_uint_eq(r.port, good[i].port);
		ck_assert_int_eq(r.connect, good[i].sent == NULL);
		if (r.connect)
			continue;
		text = request_head(&r, &n);
		ck_assert_ptr_nonnull(text);
		ck_assert_uint_eq(n, strlen(text));
		ck_assert_str_eq(text, good[i].sent);
		free(text);
	}
}
END_TEST

#define OK	"Host: ok.com\r\n"
#define GET	"GET http://ok.com/ HTTP/1.1\r\n" OK
#define POST	"POST http://ok.com/ HTTP/1.1\r\n" OK

static const struct {
	enum request_place place;
	const char	*text;
	size_t		 size;
	enum refusal	 why;
} wrong[] = {
	/* Smuggling. */
	{ REQUEST_PROXY, S(POST "Content-Length: 3\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length: 3\r\n"
	    "Content-Length: 4\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length: 3\r\n"
	    "Content-Length: 3\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length: 3, 3\r\n\r\n"),
	    REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length: +3\r\n\r\n"),
	    REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length: 0x3\r\n\r\n"),
	    REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length:\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length: 18446744073709551617\r\n"
	    "\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Transfer-Encoding: gzip, chunked\r\n\r\n"),
	    REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Transfer-Encoding: xchunked\r\n\r\n"),
	    REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Transfer-Encoding: chunked\r\n"
	    "Transfer-Encoding: identity\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S("POST http://ok.com/ HTTP/1.0\r\n" OK
	    "Transfer-Encoding: chunked\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(POST "Content-Length : 3\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "Transfer-Encoding\t: chunked\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X: a\r\n b\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X: a\r\n\tb\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST " X: a\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X: a\nY: b\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X: a\rY: b\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X: a\0b\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X: \x7f\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST ": a\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "X\xc3: a\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(POST "Connection: Content-Length\r\n"
	    "Content-Length: 3\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S(GET "Connection: host\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S("CONNECT ok.com:443 HTTP/1.1\r\n" OK
	    "Content-Length: 5\r\n\r\n"), REFUSE_FRAMING },
	{ REQUEST_PROXY, S("CONNECT ok.com:443 HTTP/1.1\r\n" OK
	    "Transfer-Encoding: chunked\r\n\r\n"), REFUSE_FRAMING },
	/* Two hosts. */
	{ REQUEST_PROXY, S("GET http://ok.com/ HTTP/1.1\r\n"
	    "Host: evil.com\r\n\r\n"), REFUSE_HOST_DIFFERS },
	{ REQUEST_PROXY, S("GET http://ok.com/ HTTP/1.1\r\n"
	    "Host: ok.com:81\r\n\r\n"), REFUSE_HOST_DIFFERS },
	{ REQUEST_PROXY, S("CONNECT ok.com:443 HTTP/1.1\r\n"
	    "Host: evil.com:443\r\n\r\n"), REFUSE_HOST_DIFFERS },
	{ REQUEST_PROXY, S(GET OK "\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(GET "hOST: evil.com\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/ HTTP/1.1\r\nHost:\r\n\r\n"),
	    REFUSE_BAD_HOST },
	{ REQUEST_PLAIN, S("GET http://ok.com/ HTTP/1.1\r\n"
	    "Host: evil.com\r\n\r\n"), REFUSE_HOST_DIFFERS },
	{ REQUEST_PLAIN, S("GET / HTTP/1.1\r\nHost: ok.com:22\r\n\r\n"),
	    REFUSE_HOST_DIFFERS },
	{ REQUEST_PLAIN, S("GET http://ok.com:22/ HTTP/1.1\r\n\r\n"),
	    REFUSE_HOST_DIFFERS },
	{ REQUEST_PLAIN, S("GET / HTTP/1.1\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PLAIN, S("GET / HTTP/1.0\r\n\r\n"), REFUSE_BAD_REQUEST },
	/* Names in every form. */
	{ REQUEST_PROXY, S("GET http://evil.com\0.ok.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com@evil.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_HOST },
	{ REQUEST_PROXY, S("GET http://u:p@ok.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_HOST },
	{ REQUEST_PROXY, S("GET http://ok%2ecom/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_HOST },
	{ REQUEST_PROXY, S("GET http://ok.com\\@evil.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_HOST },
	{ REQUEST_PROXY, S("GET http:///ok.com HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_HOST },
	{ REQUEST_PROXY, S("CONNECT [ok.com]:443 HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_ADDRESS },
	{ REQUEST_PROXY, S("CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_ADDRESS },
	{ REQUEST_PROXY, S("CONNECT ok.com HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("CONNECT http://ok.com:443/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	/* What is no request to a proxy, or to a host. */
	{ REQUEST_PROXY, S("GET / HTTP/1.1\r\nHost: ok.com\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PLAIN, S("CONNECT ok.com:443 HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PLAIN, S("GET * HTTP/1.1\r\n" OK "\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET https://ok.com/ HTTP/1.1\r\n" OK "\r\n"),
	    REFUSE_SCHEME },
	{ REQUEST_PROXY, S("GET ftp://ok.com/ HTTP/1.1\r\n" OK "\r\n"),
	    REFUSE_SCHEME },
	{ REQUEST_PROXY, S("GET ok.com HTTP/1.1\r\n" OK "\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/#x HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET  http://ok.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/ HTTP/1.1 \r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/ x HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/\tx HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/ HTTP/2.0\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET http://ok.com/\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("GET\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(" GET http://ok.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("G@T http://ok.com/ HTTP/1.1\r\n\r\n"),
	    REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S("PRI * HTTP/2.0\r\n\r\n"), REFUSE_BAD_REQUEST },
	{ REQUEST_PROXY, S(GET "Expect: a\r\nExpect: b\r\n\r\n"),
	    REFUSE_BAD_REQUEST }
};

START_TEST(requests_refused)
{
	struct request r;
	struct head_bad bad;
	size_t i;

	for (i = 0; i < NITEMS(wrong); i++) {
		ck_assert_msg(read_request(wrong[i].text, wrong[i].size,
		    wrong[i].place, &r, &bad) == HEAD_BAD, "%s",
		    wrong[i].text);
		ck_assert_msg(bad.why == wrong[i].why, "%s: %s %s",
		    wrong[i].text, refusal_word(bad.why), bad.detail);
		ck_assert(bad.detail[0] != '\0');
	}
}
END_TEST

/* What comes behind a head is left for the next reading of the stream. */
START_TEST(requests_in_a_row)
{
	static const char text[] = GET "\r\n"
	    "GET http://evil.com/ HTTP/1.1\r\nHost: evil.com\r\n\r\n";
	const uint8_t *p = (const uint8_t *)text;
	size_t n = sizeof(text) - 1, used = 0, scanned = 0;
	struct request r;
	struct head_bad bad;

	ck_assert_int_eq(request_read(p, n, &scanned, REQUEST_PROXY, &r,
	    &used, &bad), HEAD_OK);
	ck_assert_str_eq(r.host.name, "ok.com");
	scanned = 0;
	p += used;
	n -= used;
	ck_assert_int_eq(request_read(p, n, &scanned, REQUEST_PROXY, &r,
	    &used, &bad), HEAD_OK);
	ck_assert_str_eq(r.host.name, "evil.com");
	ck_assert_uint_eq(used, n);
}
END_TEST

START_TEST(heads_have_bounds)
{
	static char text[HEAD_MAX + 100];
	struct request r;
	struct head_bad bad;
	size_t scanned = 0, used, n, i;

	n = (size_t)snprintf(text, sizeof(text), GET "X: ");
	memset(text + n, 'a', sizeof(text) - n);
	ck_assert_int_eq(request_read((uint8_t *)text, HEAD_MAX - 1,
	    &scanned, REQUEST_PROXY, &r, &used, &bad), HEAD_MORE);
	ck_assert_int_eq(request_read((uint8_t *)text, HEAD_MAX, &scanned,
	    REQUEST_PROXY, &r, &used, &bad), HEAD_BAD);
	ck_assert_int_eq(bad.why, REFUSE_TOO_LARGE);
	memcpy(text + HEAD_MAX - 4, "\r\n\r\n", 4);
	scanned = 0;
	ck_assert_int_eq(request_read((uint8_t *)text, HEAD_MAX, &scanned,
	    REQUEST_PROXY, &r, &used, &bad), HEAD_OK);
	text[HEAD_MAX - 4] = 'a';
	memcpy(text + HEAD_MAX - 3, "\r\n\r\n", 4);
	scanned = 0;
	ck_assert_int_eq(request_read((uint8_t *)text, HEAD_MAX + 1,
	    &scanned, REQUEST_PROXY, &r, &used, &bad), HEAD_BAD);
	ck_assert_int_eq(bad.why, REFUSE_TOO_LARGE);
	n = (size_t)snprintf(text, sizeof(text), GET);
	for (i = 1; i <= HEAD_FIELDS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "A: b\r\n");
	n += (size_t)snprintf(text + n, sizeof(text) - n, "\r\n");
	scanned = 0;
	ck_assert_int_eq(request_read((uint8_t *)text, n, &scanned,
	    REQUEST_PROXY, &r, &used, &bad), HEAD_BAD);
	ck_assert_int_eq(bad.why, REFUSE_TOO_LARGE);
	n = (size_t)snprintf(text, sizeof(text),
	    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA http://ok.com/ HTTP/1.1\r\n"
	    "\r\n");
	ck_assert_int_eq(read_request(text, n, REQUEST_PROXY, &r, &bad),
	    HEAD_BAD);
}
END_TEST

static const struct {
	const char	*method, *text;
	enum framing	 framing;
	uint64_t	 length;
	int		 close;
	const char	*sent;
} answers[] = {
	{ "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n",
	    FRAME_LENGTH, 5, 0,
	    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\n" },
	{ "GET", "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n"
	    "Connection: close\r\n\r\n", FRAME_CHUNKED, 0, 1,
	    "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n" },
	{ "GET", "HTTP/1.1 200 \r\n\r\n", FRAME_CLOSE, 0, 1,
	    "HTTP/1.1 200 \r\nConnection: close\r\n\r\n" },
	{ "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
	    FRAME_NONE, 5, 0,
	    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n" },
	{ "GET", "HTTP/1.1 304 Not\r\nContent-Length: 5\r\n\r\n",
	    FRAME_NONE, 5, 0,
	    "HTTP/1.1 304 Not\r\nContent-Length: 5\r\n\r\n" },
	{ "GET", "HTTP/1.1 204 No Content\r\n\r\n", FRAME_NONE, 0, 0,
	    "HTTP/1.1 204 No Content\r\n\r\n" },
	{ "GET", "HTTP/1.1 100 Continue\r\n\r\n", FRAME_NONE, 0, 0,
	    "HTTP/1.1 100 Continue\r\n\r\n" },
	{ "GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
	    FRAME_LENGTH, 0, 1,
	    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" },
	{ "GET", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n"
	    "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n",
	    FRAME_LENGTH, 0, 0,
	    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" }
};

static const char *const bad_answers[] = {
	"HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
	"HTTP/1.1 2000\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n",
	"HTTP/1.1  200 x\r\n\r\n", "ICY 200 OK\r\n\r\n", "\r\n\r\n",
	"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
	"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n",
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
	"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
	"HTTP/1.1 200 OK\r\nConnection: content-length\r\n"
	    "Content-Length: 5\r\n\r\n",
	"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
	"HTTP/1.1 200 OK\nA: b\n\n"
};

START_TEST(answers_of_hosts)
{
	struct response r;
	struct head_bad bad;
	char *text;
	size_t i, n, scanned, used;

	for (i = 0; i < NITEMS(answers); i++) {
		scanned = 0;
		ck_assert_msg(response_read((const uint8_t *)answers[i].text,
		    strlen(answers[i].text), &scanned, answers[i].method, &r,
		    &used, &bad) == HEAD_OK, "%s", answers[i].text);
		ck_assert_int_eq(r.framing, answers[i].framing);
		ck_assert_int_eq(r.close, answers[i].close);
		ck_assert_int_eq(r.interim, r.status == 100);
		text = response_head(&r, 0, &n);
		ck_assert_ptr_nonnull(text);
		ck_assert_str_eq(text, answers[i].sent);
		free(text);
	}
	for (i = 0; i < NITEMS(bad_answers); i++) {
		scanned = 0;
		ck_assert_msg(response_read((const uint8_t *)bad_answers[i],
		    strlen(bad_answers[i]), &scanned, "GET", &r, &used,
		    &bad) == HEAD_BAD, "%s", bad_answers[i]);
		ck_assert_int_eq(bad.why, REFUSE_UPSTREAM);
	}
}
END_TEST

static const struct {
	enum framing	 framing;
	uint64_t	 length;
	int		 answer;
	const char	*text;
	enum body_result result;
	size_t		 used;
	const char	*data;
} bodies[] = {
	{ FRAME_NONE, 0, 0, "GET", BODY_DONE, 0, "" },
	{ FRAME_LENGTH, 0, 0, "GET", BODY_DONE, 0, "" },
	{ FRAME_LENGTH, 3, 0, "abcGET", BODY_DONE, 3, "abc" },
	{ FRAME_LENGTH, 9, 0, "abc", BODY_MORE, 3, "abc" },
	{ FRAME_CLOSE, 0, 1, "abc", BODY_MORE, 3, "abc" },
	{ FRAME_CHUNKED, 0, 0, "3\r\nabc\r\n0\r\n\r\nGET", BODY_DONE, 13,
	    "abc" },
	{ FRAME_CHUNKED, 0, 0, "1\r\na\r\n00A\r\n0123456789\r\n000\r\n\r\n",
	    BODY_DONE, 30, "a0123456789" },
	{ FRAME_CHUNKED, 0, 0, "3\r\nab", BODY_MORE, 5, "ab" },
	{ FRAME_CHUNKED, 0, 0, "0\r\n\r", BODY_MORE, 4, "" },
	{ FRAME_CHUNKED, 0, 1, "3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n",
	    BODY_DONE, 23, "abc" },
	{ FRAME_CHUNKED, 0, 0, "3;x=y\r\nabc\r\n0\r\n\r\n", BODY_BAD, 1, "" },
	{ FRAME_CHUNKED, 0, 0, "3 \r\nabc\r\n0\r\n\r\n", BODY_BAD, 1, "" },
	{ FRAME_CHUNKED, 0, 0, "0\r\nT: v\r\n\r\n", BODY_BAD, 3, "" },
	{ FRAME_CHUNKED, 0, 1, "0\r\n T: v\r\n\r\n", BODY_BAD, 3, "" },
	{ FRAME_CHUNKED, 0, 1, "3;x\nabc\r\n0\r\n\r\n", BODY_BAD, 3, "" },
	{ FRAME_CHUNKED, 0, 0, "3\nabc\n0\n\n", BODY_BAD, 1, "" },
	{ FRAME_CHUNKED, 0, 0, "3\r\nabcd\r\n0\r\n\r\n", BODY_BAD, 6,
	    "abc" },
	{ FRAME_CHUNKED, 0, 0, "3\r\nabc\n0\r\n\r\n", BODY_BAD, 6, "abc" },
	{ FRAME_CHUNKED, 0, 0, "+3\r\nabc\r\n", BODY_BAD, 0, "" },
	{ FRAME_CHUNKED, 0, 0, "0x3\r\nabc\r\n", BODY_BAD, 1, "" },
	{ FRAME_CHUNKED, 0, 0, "\r\n", BODY_BAD, 0, "" },
	{ FRAME_CHUNKED, 0, 0, "fffffffffffffffff\r\n", BODY_BAD, 15, "" },
	{ FRAME_CHUNKED, 0, 0, "0\r\n\rx", BODY_BAD, 4, "" }
};

/* Follows it in steps of so many bytes. */
static enum body_result
follow(size_t i, size_t each, size_t *total, char *data)
{
	const char *p = bodies[i].text;
	size_t size = strlen(p), n, used, ndata, have = 0;
	enum body_result r = BODY_MORE;
	const uint8_t *run;
	struct body b;

	body_start(&b, bodies[i].framing, bodies[i].length,
	    bodies[i].answer);
	*total = 0;
	do {
		n = size - *total < each ? size - *total : each;
		r = body_data(&b, (const uint8_t *)p + *total, n, &used, &run,
		    &ndata);
		ck_assert(used <= n);
		*total += used;
		if (ndata > 0)
			memcpy(data + have, run, ndata);
		have += ndata;
	} while (r == BODY_MORE && *total < size);
	data[have] = '\0';
	ck_assert_int_eq(body_end(&b), r == BODY_DONE ||
	    bodies[i].framing == FRAME_CLOSE);
	return (r);
}

START_TEST(bodies_end)
{
	char data[64];
	size_t i, each, total, used;
	struct body b;

	for (i = 0; i < NITEMS(bodies); i++) {
		for (each = 1; each < 40; each++) {
			ck_assert_msg(follow(i, each, &total, data) ==
			    bodies[i].result, "%s", bodies[i].text);
			ck_assert_msg(total == bodies[i].used, "%s: %zu",
			    bodies[i].text, total);
			ck_assert_str_eq(data, bodies[i].data);
		}
		body_start(&b, bodies[i].framing, bodies[i].length,
		    bodies[i].answer);
		ck_assert_int_eq(body_feed(&b,
		    (const uint8_t *)bodies[i].text, strlen(bodies[i].text),
		    &used), bodies[i].result);
		ck_assert_uint_eq(used, bodies[i].used);
	}
}
END_TEST

/* Lines of chunks and trailers don't go on for ever. */
START_TEST(bodies_have_bounds)
{
	static const char *const starts[] = { "1;", "0\r\nT: " };
	uint8_t a[512];
	struct body b;
	enum body_result r;
	size_t used, i, n;

	memset(a, 'a', sizeof(a));
	for (i = 0; i < NITEMS(starts); i++) {
		body_start(&b, FRAME_CHUNKED, 0, 1);
		r = body_feed(&b, (const uint8_t *)starts[i],
		    strlen(starts[i]), &used);
		for (n = 0; n < 20 && r == BODY_MORE; n++)
			r = body_feed(&b, a, sizeof(a), &used);
		ck_assert_int_eq(r, BODY_BAD);
	}
	body_start(&b, FRAME_CHUNKED, 0, 1);
	r = body_feed(&b, (const uint8_t *)"0\r\n", 3, &used);
	for (n = 0; n < 5000 && r == BODY_MORE; n++)
		r = body_feed(&b, (const uint8_t *)"a\r\n", 3, &used);
	ck_assert_int_eq(r, BODY_BAD);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("egress_http");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, requests);
	tcase_add_test(tc, requests_refused);
	tcase_add_test(tc, requests_in_a_row);
	tcase_add_test(tc, heads_have_bounds);
	tcase_add_test(tc, answers_of_hosts);
	tcase_add_test(tc, bodies_end);
	tcase_add_test(tc, bodies_have_bounds);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
