/*
 * The client's decoder of HTTP responses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "unit.h"

static char	body[4096];
static size_t	body_len;
static int	refuse;

static int
take(void *arg, const uint8_t *bytes, size_t len)
{
	(void)arg;
	if (refuse)
		return (-1);
	ck_assert_uint_lt(body_len + len, sizeof(body));
	memcpy(body + body_len, bytes, len);
	body_len += len;
	body[body_len] = '\0';
	return (0);
}

static struct http_response r;

/* Decodes text in pieces of that size; the result of the last one. */
static int
feed(const char *text, size_t len, size_t piece, size_t *taken)
{
	size_t used, n;
	int done = 0;

	http_init(&r, take, NULL);
	body_len = 0;
	body[0] = '\0';
	*taken = 0;
	while (done == 0 && *taken < len) {
		n = len - *taken < piece ? len - *taken : piece;
		done = http_feed(&r, (const uint8_t *)text + *taken, n, &used);
		*taken += used;
	}
	return (done);
}

struct sample {
	const char	*text;
	const char	*body;		/* NULL: malformed */
	int		 status;
};

#define OK	"HTTP/1.1 200 OK\r\n"

static const struct sample samples[] = {
	{ OK "Content-Length: 3\r\n\r\nabc", "abc", 200 },
	{ OK "Content-Length: 0\r\n\r\n", "", 200 },
	{ "HTTP/1.1 404\r\ncontent-length:\t2 \r\n\r\nno", "no", 404 },
	{ "HTTP/1.1 204 No Content\r\n\r\n", "", 204 },
	{ "HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 1\r\n\r\nx",
	    "x", 200 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;e=1\r\n"
	    "0123456789\r\n0\r\nTrailer: x\r\n\r\n", "abc0123456789", 200 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", 200 },
	{ "HTTP/1.0 200 OK\r\n\r\n", NULL, 0 },
	{ "HTTP/1.1 20 OK\r\n\r\n", NULL, 0 },
	{ "HTTP/1.1 2000 OK\r\n\r\n", NULL, 0 },
	{ "\r\n\r\n", NULL, 0 },
	{ OK "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", NULL, 0 },
	{ OK "Content-Length: -3\r\n\r\n", NULL, 0 },
	{ OK "Content-Length: 0x3\r\n\r\n", NULL, 0 },
	{ OK "Content-Length: 99999999999999999999\r\n\r\n", NULL, 0 },
	{ OK "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", NULL,
	    0 },
	{ OK "Transfer-Encoding: gzip\r\n\r\n", NULL, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\nx\r\n", NULL, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n\r\n", NULL, 0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", NULL,
	    0 },
	{ OK "Transfer-Encoding: chunked\r\n\r\n1\r\nabc", NULL, 0 },
	{ OK "A: b\n\r\n\r\n", NULL, 0 },
	{ OK " folded\r\n\r\n", NULL, 0 },
	{ OK "nocolon\r\n\r\n", NULL, 0 },
	{ OK ": empty\r\n\r\n", NULL, 0 },
};

START_TEST(test_samples)
{
	const struct sample *s = &samples[_i];
	size_t piece, taken;
	int done;

	for (piece = 1; piece < 80; piece++) {
		done = feed(s->text, strlen(s->text), piece, &taken);
		if (s->body == NULL) {
			ck_assert_msg(done == -1, "%s", s->text);
			ck_assert_ptr_nonnull(r.why);
			continue;
		}
		ck_assert_msg(done == 1, "%s", s->text);
		ck_assert_uint_eq(taken, strlen(s->text));
		ck_assert_int_eq(r.status, s->status);
		ck_assert_str_eq(body, s->body);
	}
}
END_TEST

START_TEST(test_fields)
{
	static const char text[] = "HTTP/1.1 503 X\r\nRetry-After: 7\r\n"
	    "Content-Type: Application/JSON; charset=utf-8\r\n"
	    "Connection: close\r\nContent-Length: 0\r\n\r\nrest";
	size_t taken;

	ck_assert_int_eq(feed(text, strlen(text), 1000, &taken), 1);
	ck_assert_uint_eq(taken, strlen(text) - 4);
	ck_assert_uint_eq(r.retry_after, 7);
	ck_assert_str_eq(r.type, "application/json");
	ck_assert_int_eq(r.keep_alive, 0);
	ck_assert_int_eq(http_headed(&r), 1);
}
END_TEST

START_TEST(test_end)
{
	static const char until[] = OK "\r\nabc";
	static const char cut[] = OK "Content-Length: 5\r\n\r\nabc";
	size_t taken;

	ck_assert_int_eq(feed(until, strlen(until), 5, &taken), 0);
	ck_assert_int_eq(http_end(&r), 1);
	ck_assert_str_eq(body, "abc");
	ck_assert_int_eq(feed(cut, strlen(cut), 5, &taken), 0);
	ck_assert_int_eq(http_end(&r), -1);
	ck_assert_ptr_nonnull(r.why);
}
END_TEST

START_TEST(test_bounds)
{
	static char text[HTTP_HEAD_MAX + 100];
	static const char nul[] = OK "A: \0\r\n\r\n";
	size_t taken;

	memset(text, 'a', sizeof(text));
	memcpy(text, OK, strlen(OK));
	ck_assert_int_eq(feed(text, sizeof(text), 4096, &taken), -1);
	ck_assert_uint_le(taken, HTTP_HEAD_MAX + 1);
	ck_assert_int_eq(feed(nul, sizeof(nul) - 1, 4096, &taken), -1);
	refuse = 1;
	ck_assert_int_eq(feed(OK "\r\nabc", 20, 100, &taken), -1);
}
END_TEST

/* What the server of MCP says beside its answer. */
START_TEST(test_mcp_fields)
{
	char text[600];
	size_t taken;

	ck_assert_int_eq(feed(OK "mcp-session-id: m1.a\r\n"
	    "Myelin-Session-Ended: s-x\r\nContent-Length: 0\r\n\r\n", 87, 7,
	    &taken), 1);
	ck_assert_str_eq(r.session, "m1.a");
	ck_assert_int_eq(r.over, 1);
	/* of the answer before nothing is left; one that is too long is none */
	snprintf(text, sizeof(text), OK "Mcp-Session-Id: %0300d\r\n"
	    "Content-Length: 0\r\n\r\n", 1);
	ck_assert_int_eq(feed(text, strlen(text), 100, &taken), 1);
	ck_assert_str_eq(r.session, "");
	ck_assert_int_eq(r.over, 0);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ctl_http");
	TCase *tc = tcase_create("http");

	tcase_add_loop_test(tc, test_samples, 0,
	    sizeof(samples) / sizeof(samples[0]));
	tcase_add_test(tc, test_fields);
	tcase_add_test(tc, test_end);
	tcase_add_test(tc, test_bounds);
	tcase_add_test(tc, test_mcp_fields);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
