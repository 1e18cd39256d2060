/*
 * The JSON bodies of requests.
 */
#include <string.h>

#include "request.h"
#include "text.h"
#include "unit.h"

static struct limits limits;

static int
read_body(struct request *q, unsigned which, const char *body,
    struct http_bad *bad)
{
	return (request_read(q, which, body, strlen(body), &limits, bad));
}

START_TEST(argument_bytes)
{
	struct request q;
	struct http_bad bad;

	ck_assert_int_eq(read_body(&q, REQUEST_ONCE, "{ \"tool\":\"exec\","
	    "\"env\": {\"B\":\"2\",\"A\":\"1\"}, \"cwd\":\"/x\", \"args\": "
	    "{\"z\": [1, 2], \"argv\": [\"\\u00e9\"]}, \"timeout_ms\": 5,"
	    "\"flow\":\"block\",\"wait_ms\":7,\"owner\":{\"uid\":5,"
	    "\"gid\":6},\"workspace\":\"/w\",\"profile\":\"p\","
	    "\"preset\":\"s\"}", &bad), 0);
	ck_assert_str_eq(q.arguments, "{\"args\":{\"argv\":[\"\xc3\xa9\"],"
	    "\"z\":[1,2]},\"cwd\":\"/x\",\"env\":{\"A\":\"1\",\"B\":\"2\"}}");
	ck_assert_uint_eq(q.arguments_size, strlen(q.arguments));
	ck_assert_uint_eq(q.timeout_ms, 5);
	ck_assert_uint_eq(q.wait_ms, 7);
	ck_assert(q.block && q.owner_uid == 5 && q.owner_gid == 6);
	ck_assert_str_eq(q.workspace, "/w");
	ck_assert_int_eq(q.input, STDIN_NONE);
	request_free(&q);
	ck_assert_int_eq(read_body(&q, REQUEST_CALL,
	    "{\"tool\":\"t\",\"args\":{}}", &bad), 0);
	ck_assert_str_eq(q.arguments, "{\"args\":{}}");
	ck_assert_uint_eq(q.owner_uid, OWNER_PEER_ID);
	request_free(&q);
}
END_TEST

START_TEST(inputs)
{
	static const char *const stdins[] = {
		"\"hi\"", "{\"text\":\"hi\"}", "{\"base64\":\"aGk=\"}"
	};
	struct request q;
	struct http_bad bad;
	char body[200];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(body, sizeof(body), "{\"tool\":\"t\",\"args\":{},"
		    "\"stdin\":%s}", stdins[i]);
		ck_assert_int_eq(read_body(&q, REQUEST_CALL, body, &bad), 0);
		ck_assert_int_eq(q.input, STDIN_INLINE);
		ck_assert_uint_eq(q.text_size, 2);
		ck_assert_mem_eq(q.text, "hi", 2);
		request_free(&q);
	}
	ck_assert_int_eq(read_body(&q, REQUEST_CALL, "{\"tool\":\"t\","
	    "\"args\":{},\"stdin\":{\"stream\":true}}", &bad), 0);
	ck_assert_int_eq(q.input, STDIN_STREAM);
	request_free(&q);
}
END_TEST

/* Which body may have which member. */
static const struct {
	unsigned	 which;
	const char	*body;
	enum api_error	 code;
	const char	*word;
} refused[] = {
	{ REQUEST_CALL, "{\"tool\":\"t\",\"args\":{},\"profile\":\"p\"}",
	    API_BAD_REQUEST, "profile" },
	{ REQUEST_SESSION, "{\"args\":{}}", API_BAD_REQUEST, "args" },
	{ REQUEST_ONCE, "{\"tool\":\"t\",\"args\":{},\"expires\":1}",
	    API_BAD_REQUEST, "expires" },
	{ REQUEST_SESSION, "{\"neuron\":\"n\"}", API_NOT_BUILT, "neuron" },
	{ REQUEST_CALL, "{\"dry_run\":true}", API_NOT_BUILT, "dry_run" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"tool\":\"t\"}", API_BAD_REQUEST,
	    "twice" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"args\":{\"a\":\"\\u0000\"}}",
	    API_BAD_REQUEST, "JSON" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"args\":{},\"wait_ms\":50001}",
	    API_BAD_REQUEST, "50000" },
	{ REQUEST_CALL, "[]", API_BAD_REQUEST, "object" },
	{ REQUEST_CALL, "", API_BAD_REQUEST, "JSON" }
};

START_TEST(refuses)
{
	struct request q;
	struct http_bad bad;

	ck_assert_int_eq(read_body(&q, refused[_i].which, refused[_i].body,
	    &bad), -1);
	ck_assert_int_eq(bad.code, refused[_i].code);
	ck_assert_msg(strstr(bad.why, refused[_i].word) != NULL, "%s",
	    bad.why);
	request_free(&q);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("apid_request");
	TCase *t = tcase_create("bodies");

	text_init();
	limits_init(&limits);
	tcase_add_test(t, argument_bytes);
	tcase_add_test(t, inputs);
	tcase_add_loop_test(t, refuses, 0,
	    sizeof(refused) / sizeof(refused[0]));
	suite_add_tcase(s, t);
	return (unit_main(s));
}
