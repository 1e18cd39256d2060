/*
 * The strict HTTP reader.
 */
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "unit.h"

#define LINE	"GET /v1/calls?a=1&b=22 HTTP/1.1\r\n"

static enum http_result
parse_bytes(const char *p, size_t n, struct http_head *h,
    struct http_bad *bad, size_t *used)
{
	size_t scanned = 0;

	return (http_head_read((const uint8_t *)p, n, &scanned, h, used,
	    bad));
}

static enum http_result
parse(const char *text, struct http_head *h, struct http_bad *bad)
{
	size_t used;

	return (parse_bytes(text, strlen(text), h, bad, &used));
}

START_TEST(whole)
{
	static const char text[] = LINE "Host: [::1]:80\r\n"
	    "content-LENGTH:  12 \r\nAccept: a/b, text/event-stream;q=1\r\n"
	    "Content-Type: application/json;charset=utf-8\r\n"
	    "Connection: x, Close\r\nLast-Event-ID: 7\r\n"
	    "Expect: 100-Continue\r\nX-Odd: \xc3\xa9\r\n\r\nbody";
	struct http_head h;
	struct http_bad bad;
	size_t used;

	ck_assert_int_eq(parse_bytes(text, sizeof(text) - 1, &h, &bad,
	    &used), HTTP_OK);
	ck_assert_uint_eq(used, sizeof(text) - 5);
	ck_assert_str_eq(h.method, "GET");
	ck_assert_str_eq(h.path, "/v1/calls");
	ck_assert_str_eq(h.query, "a=1&b=22");
	ck_assert(h.has_length && h.length == 12);
	ck_assert(h.wants_events && h.close && h.expect);
	ck_assert(h.has_last_id && h.last_id == 7);
	ck_assert_int_eq(h.type, HTTP_TYPE_JSON);
}
END_TEST

/* However the bytes come: the answer is the same, and never too early. */
START_TEST(in_parts)
{
	static const char text[] = LINE "Host: x\r\nA: b\r\n\r\n";
	size_t n = sizeof(text) - 1, i, scanned = 0, used;
	struct http_head h;
	struct http_bad bad;

	for (i = 0; i < n; i++)
		ck_assert_int_eq(http_head_read((const uint8_t *)text, i,
		    &scanned, &h, &used, &bad), HTTP_MORE);
	ck_assert_int_eq(http_head_read((const uint8_t *)text, n, &scanned,
	    &h, &used, &bad), HTTP_OK);
	ck_assert_uint_eq(used, n);
}
END_TEST

static const struct {
	const char	*text;
	enum api_error	 code;
	const char	*word;
} refused[] = {
	{ LINE "\r\n", API_BAD_REQUEST, "Host is missing" },
	{ LINE "Host: a\r\nHost: a\r\n\r\n", API_BAD_REQUEST, "twice" },
	{ LINE "Host: a\r\n b\r\n\r\n", API_BAD_REQUEST, "folded" },
	{ LINE "Host : a\r\n\r\n", API_BAD_REQUEST, "name" },
	{ LINE "Host: a b\r\n\r\n", API_BAD_REQUEST, "Host" },
	{ LINE "Host: a\n\r\n", API_BAD_REQUEST, "LF" },
	{ LINE "Host: a\rX: b\r\n\r\n", API_BAD_REQUEST, "CR" },
	{ LINE "Host: a\r\nB: \x01\r\n\r\n", API_BAD_REQUEST, "0x01" },
	{ LINE "Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
	    API_BAD_REQUEST, "twice" },
	{ LINE "Host: a\r\nContent-Length: 1,1\r\n\r\n", API_BAD_REQUEST,
	    "Content-Length" },
	{ LINE "Host: a\r\nContent-Length: 1234567890123456789\r\n\r\n",
	    API_BAD_REQUEST, "Content-Length" },
	{ LINE "Host: a\r\nTransfer-Encoding: chunked\r\n\r\n", API_LENGTH,
	    "Content-Length" },
	{ LINE "Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: x\r\n"
	    "\r\n", API_BAD_REQUEST, "both" },
	{ "GET / HTTP/1.1\r\nno colon\r\n\r\n", API_BAD_REQUEST, "colon" },
	{ "GET x HTTP/1.1\r\nHost: a\r\n\r\n", API_BAD_REQUEST, "slash" },
	{ "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", API_BAD_REQUEST, "target" },
	{ "GET / HTTP/1.1 x\r\nHost: a\r\n\r\n", API_BAD_REQUEST,
	    "HTTP/1.1" },
	{ "GET / HTTP/2\r\nHost: a\r\n\r\n", API_BAD_REQUEST, "HTTP/1.1" },
	{ " GET / HTTP/1.1\r\nHost: a\r\n\r\n", API_BAD_REQUEST, "method" },
	{ "VERYLONGMETHODNAME / HTTP/1.1\r\nHost: a\r\n\r\n",
	    API_BAD_REQUEST, "method" },
	{ "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", API_BAD_REQUEST, "empty" }
};

START_TEST(refuses)
{
	struct http_head h;
	struct http_bad bad;

	ck_assert_int_eq(parse(refused[_i].text, &h, &bad), HTTP_BAD);
	ck_assert_int_eq(bad.code, refused[_i].code);
	ck_assert_msg(strstr(bad.why, refused[_i].word) != NULL, "%s",
	    bad.why);
}
END_TEST

START_TEST(nul)
{
	static const char text[] = LINE "Host: a\0\r\n\r\n";
	struct http_head h;
	struct http_bad bad;
	size_t used;

	ck_assert_int_eq(parse_bytes(text, sizeof(text) - 1, &h, &bad,
	    &used), HTTP_BAD);
}
END_TEST

/* The bound is on the head, not on what follows it. */
START_TEST(bound)
{
	static char text[HTTP_HEAD_MAX + 100];
	struct http_head h;
	struct http_bad bad;
	size_t n, used;

	n = (size_t)snprintf(text, sizeof(text), LINE "Host: a\r\nX: ");
	memset(text + n, 'x', sizeof(text) - n);
	memcpy(text + HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
	ck_assert_int_eq(parse_bytes(text, sizeof(text), &h, &bad, &used),
	    HTTP_OK);
	ck_assert_uint_eq(used, HTTP_HEAD_MAX);
	memcpy(text + HTTP_HEAD_MAX - 4, "xxxx", 4);
	memcpy(text + HTTP_HEAD_MAX - 3, "\r\n\r\n", 4);
	ck_assert_int_eq(parse_bytes(text, sizeof(text), &h, &bad, &used),
	    HTTP_BAD);
	ck_assert(strstr(bad.why, "16384") != NULL);
	ck_assert_int_eq(parse_bytes(text, HTTP_HEAD_MAX - 1, &h, &bad,
	    &used), HTTP_MORE);
}
END_TEST

/* What is no token of one's own is wrong like any other, never an error. */
START_TEST(authorization)
{
	static const struct {
		const char	*lines;
		const char	*token;
	} rows[] = {
		{ "", "" },
		{ "Authorization: Bearer abc\r\n", "abc" },
		{ "aUTHORIZATION:bEARER   a-._~+/b==\r\n", "a-._~+/b==" },
		{ "Authorization: Bearer\r\n", "?" },
		{ "Authorization: Bearer \r\n", "?" },
		{ "Authorization:\r\n", "?" },
		{ "Authorization: abc\r\n", "?" },
		{ "Authorization: Basic abc\r\n", "?" },
		{ "Authorization: Bearer a b\r\n", "?" },
		{ "Authorization: Bearer a,b\r\n", "?" },
		{ "Authorization: Bearer =a\r\n", "?" },
		{ "Authorization: Bearer a=b\r\n", "?" },
		{ "Authorization: Bearer \"a\"\r\n", "?" },
		{ "Authorization: Bearer \xc3\xa9\r\n", "?" },
		{ "Authorization: Bearer a\r\nAuthorization: Bearer a\r\n",
		    "?" },
		{ "Authorization: x\r\nAuthorization: Bearer a\r\n", "?" },
		{ "Authorization: Bearer a\r\nAuthorization: x\r\n"
		    "Authorization: Bearer a\r\n", "?" },
		{ "Proxy-Authorization: Bearer a\r\n", "" },
	};
	char text[4096];
	struct http_head h;
	struct http_bad bad;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		(void)snprintf(text, sizeof(text), LINE "Host: x\r\n%s\r\n",
		    rows[i].lines);
		ck_assert_int_eq(parse(text, &h, &bad), HTTP_OK);
		ck_assert_str_eq(h.token, rows[i].token);
	}
	(void)snprintf(text, sizeof(text), LINE "Host: x\r\nAuthorization: "
	    "Bearer %0511d\r\n\r\n", 1);
	ck_assert_int_eq(parse(text, &h, &bad), HTTP_OK);
	ck_assert_uint_eq(strlen(h.token), 511);
	(void)snprintf(text, sizeof(text), LINE "Host: x\r\nAuthorization: "
	    "Bearer %0512d\r\n\r\n", 1);
	ck_assert_int_eq(parse(text, &h, &bad), HTTP_OK);
	ck_assert_str_eq(h.token, "?");
}
END_TEST

START_TEST(query)
{
	static const char *const names[] = { "a", "b", NULL };
	static const char *const fewer[] = { "a", NULL };
	struct http_head h = { .query = "a=1&b=22" };
	char buf[4];
	uint64_t v;

	ck_assert_int_eq(http_query_number(&h, "b", &v), 1);
	ck_assert_uint_eq(v, 22);
	ck_assert_int_eq(http_query_number(&h, "c", &v), 0);
	ck_assert_ptr_null(http_query_stray(&h, names, buf, sizeof(buf)));
	ck_assert_str_eq(http_query_stray(&h, fewer, buf, sizeof(buf)), "b");
	ck_assert_str_eq(http_query_stray(&h, NULL, buf, sizeof(buf)), "a");
	strcpy(h.query, "a=1&a=2");
	ck_assert_str_eq(http_query_stray(&h, names, buf, sizeof(buf)), "a");
	strcpy(h.query, "a=%31");
	ck_assert_int_eq(http_query_number(&h, "a", &v), -1);
	strcpy(h.query, "a");
	ck_assert_int_eq(http_query_number(&h, "a", &v), -1);
}
END_TEST

START_TEST(errors)
{
	int i;

	for (i = 0; i < API_ERROR_COUNT; i++) {
		ck_assert_int_eq(api_error_find(api_error_code(i)), i);
		ck_assert_str_ne(http_reason(api_error_status(i)), "Other");
	}
	ck_assert_int_eq(api_error_find("what"), API_INTERNAL);
	ck_assert(api_error_is_mute(API_INTERNAL));
	ck_assert(!api_error_is_mute(API_FORBIDDEN));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("http");
	TCase *t = tcase_create("head");

	tcase_add_test(t, whole);
	tcase_add_test(t, in_parts);
	tcase_add_loop_test(t, refuses, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, nul);
	tcase_add_test(t, bound);
	tcase_add_test(t, authorization);
	tcase_add_test(t, query);
	tcase_add_test(t, errors);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
