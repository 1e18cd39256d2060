/*
 * The JSON bodies of requests.
 */
#include <signal.h>
#include <string.h>

#include "request.h"
#include "signals.h"
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
	{ REQUEST_SESSION, "{\"neuron\":\"n\"}", API_BAD_REQUEST,
	    "neuron" },
	{ REQUEST_SESSION, "{\"labels\":{}}", API_BAD_REQUEST, "labels" },
	{ REQUEST_NEURON, "{\"preset\":\"p\"}", API_BAD_REQUEST, "preset" },
	{ REQUEST_NEURON, "{\"persistent\":false}", API_BAD_REQUEST,
	    "opening a session" },
	{ REQUEST_NEURON, "{\"persistent\":1}", API_BAD_REQUEST,
	    "persistent" },
	{ REQUEST_NEURON, "{\"name\":\"a b\"}", API_BAD_REQUEST, "name" },
	{ REQUEST_NEURON, "{\"name\":\"n-00000000000000000000\"}",
	    API_BAD_REQUEST, "id" },
	{ REQUEST_NEURON, "{\"idle_expiry\":0}", API_BAD_REQUEST,
	    "idle_expiry" },
	{ REQUEST_NEURON, "{\"labels\":[]}", API_BAD_REQUEST, "labels" },
	{ REQUEST_NEURON, "{\"labels\":{\"a b\":\"\"}}", API_BAD_REQUEST,
	    "key" },
	{ REQUEST_NEURON, "{\"labels\":{\"a\":1}}", API_BAD_REQUEST,
	    "labels: the value of a" },
	{ REQUEST_NEURON, "{\"labels\":{\"a\":\"\\n\"}}", API_BAD_REQUEST,
	    "control" },
	{ REQUEST_NEURON, "{\"labels\":{\"a\":\"\",\"b\":\"\",\"c\":\"\","
	    "\"d\":\"\",\"e\":\"\",\"f\":\"\",\"g\":\"\",\"h\":\"\","
	    "\"i\":\"\",\"j\":\"\",\"k\":\"\",\"l\":\"\",\"m\":\"\","
	    "\"n\":\"\",\"o\":\"\",\"p\":\"\",\"q\":\"\"}}",
	    API_BAD_REQUEST, "16" },
	{ REQUEST_CALL, "{\"dry_run\":1}", API_BAD_REQUEST, "dry_run" },
	{ REQUEST_SESSION, "{\"dry_run\":true}", API_BAD_REQUEST,
	    "dry_run" },
	{ REQUEST_CALL, "{\"idempotency_key\":\"\"}", API_BAD_REQUEST,
	    "1 to 255 bytes" },
	{ REQUEST_CALL, "{\"idempotency_key\":\"a\\u0007\"}",
	    API_BAD_REQUEST, "control" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"args\":{},\"stdin\":"
	    "{\"stream\":true},\"idempotency_key\":\"a\"}",
	    API_BAD_REQUEST, "streamed stdin" },
	{ REQUEST_ONCE, "{\"tool\":\"t\",\"args\":{},\"dry_run\":true,"
	    "\"idempotency_key\":\"a\"}", API_BAD_REQUEST, "dry_run" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"tool\":\"t\"}", API_BAD_REQUEST,
	    "twice" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"args\":{\"a\":\"\\u0000\"}}",
	    API_BAD_REQUEST, "JSON" },
	{ REQUEST_CALL, "{\"tool\":\"t\",\"args\":{},\"wait_ms\":50001}",
	    API_BAD_REQUEST, "50000" },
	{ REQUEST_CALL, "{\"pty\":7}", API_BAD_REQUEST, "pty" },
	{ REQUEST_CALL, "{\"pty\":{}}", API_BAD_REQUEST, "pty.rows" },
	{ REQUEST_CALL, "{\"pty\":{\"rows\":1}}", API_BAD_REQUEST,
	    "pty.cols" },
	{ REQUEST_CALL, "{\"pty\":{\"rows\":0,\"cols\":1}}",
	    API_BAD_REQUEST, "1 to 4096" },
	{ REQUEST_CALL, "{\"pty\":{\"rows\":1,\"cols\":4097}}",
	    API_BAD_REQUEST, "pty.cols" },
	{ REQUEST_CALL, "{\"pty\":{\"rows\":1,\"cols\":1,\"x\":1}}",
	    API_BAD_REQUEST, "pty.x" },
	{ REQUEST_CALL, "{\"pty\":{\"rows\":1,\"cols\":1,\"term\":1}}",
	    API_BAD_REQUEST, "pty.term" },
	{ REQUEST_SESSION, "{\"pty\":{}}", API_BAD_REQUEST, "pty" },
	{ REQUEST_CALL, "{\"timeout_ms\":\"min\"}", API_BAD_REQUEST,
	    "\"max\"" },
	{ REQUEST_CALL, "{\"timeout_ms\":4294967295}", API_BAD_REQUEST,
	    "timeout_ms" },
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

/* It is among what is judged, and the longest time has a name. */
START_TEST(terminal)
{
	struct request q;
	struct http_bad bad;

	ck_assert_int_eq(read_body(&q, REQUEST_CALL, "{\"tool\":\"t\","
	    "\"args\":{},\"timeout_ms\":\"max\",\"pty\":{\"term\":\"x\","
	    "\"rows\":4096,\"cols\":1}}", &bad), 0);
	ck_assert_str_eq(q.arguments, "{\"args\":{},\"pty\":{\"cols\":1,"
	    "\"rows\":4096,\"term\":\"x\"}}");
	ck_assert(q.pty);
	ck_assert_uint_eq(q.timeout_ms, TIMEOUT_MOST);
	request_free(&q);
	ck_assert_int_eq(read_body(&q, REQUEST_CALL,
	    "{\"tool\":\"t\",\"args\":{}}", &bad), 0);
	ck_assert(!q.pty);
	request_free(&q);
}
END_TEST

/* Labels are one text, in the order of their keys. */
START_TEST(neuron)
{
	struct http_bad bad;
	struct request q;

	ck_assert_int_eq(read_body(&q, REQUEST_NEURON, "{\"persistent\":true,"
	    "\"name\":\"mine\",\"idle_expiry\":60,\"profile\":\"p\","
	    "\"labels\":{\"b\":\"x=y z\",\"a\":\"\"}}", &bad), 0);
	ck_assert_str_eq(q.labels, "a=\nb=x=y z\n");
	ck_assert_str_eq(q.name, "mine");
	ck_assert_str_eq(q.profile, "p");
	ck_assert_uint_eq(q.idle, 60);
	request_free(&q);
	ck_assert_int_eq(read_body(&q, REQUEST_NEURON, "{}", &bad), 0);
	ck_assert_ptr_null(q.labels);
	request_free(&q);
	ck_assert_int_eq(read_body(&q, REQUEST_SESSION,
	    "{\"neuron\":\"n-00000000000000000000\"}", &bad), 0);
	ck_assert_str_eq(q.neuron, "n-00000000000000000000");
	request_free(&q);
}
END_TEST

static const struct {
	const char	*body;
	int		 ok;
	uint32_t	 value;
} small[] = {
	/* signals */
	{ "{\"signal\":\"INT\"}", 1, SIGINT },
	{ "{\"signal\":\"WINCH\"}", 1, SIGWINCH },
	{ "{\"signal\":\"SIGINT\"}", 0, 0 },
	{ "{\"signal\":\"SEGV\"}", 0, 0 },
	{ "{\"signal\":2}", 0, 0 },
	{ "{\"signal\":null}", 0, 0 },
	{ "{\"signal\":\"INT\",\"x\":1}", 0, 0 },
	{ "{}", 0, 0 },
	{ "[]", 0, 0 },
	{ "", 0, 0 },
	/* sizes */
	{ "{\"rows\":24,\"cols\":80}", 2, PTY_SIZE(24, 80) },
	{ "{\"rows\":4096,\"cols\":4096}", 2, PTY_SIZE(4096, 4096) },
	{ "{\"rows\":0,\"cols\":80}", 0, 0 },
	{ "{\"rows\":65536,\"cols\":80}", 0, 0 },
	{ "{\"rows\":-1,\"cols\":80}", 0, 0 },
	{ "{\"rows\":24.0,\"cols\":80}", 0, 0 },
	{ "{\"rows\":24}", 0, 0 },
	{ "{\"rows\":24,\"cols\":80,\"x\":1}", 0, 0 }
};

START_TEST(signal_and_size)
{
	const char *body = small[_i].body;
	struct http_bad bad;
	uint32_t value = 0;

	ck_assert_int_eq(request_signal(body, strlen(body), &value, &bad),
	    small[_i].ok == 1 ? 0 : -1);
	if (small[_i].ok == 1)
		ck_assert_uint_eq(value, small[_i].value);
	else
		ck_assert_int_eq(bad.code, API_BAD_REQUEST);
	ck_assert_int_eq(request_resize(body, strlen(body), &value, &bad),
	    small[_i].ok == 2 ? 0 : -1);
	if (small[_i].ok == 2)
		ck_assert_uint_eq(value, small[_i].value);
	else
		ck_assert_int_eq(bad.code, API_BAD_REQUEST);
}
END_TEST

/* The list is closed, and the same both ways. */
START_TEST(signal_names_are_a_list)
{
	unsigned number, have = 0;
	const char *name;

	for (number = 0; number < 256; number++) {
		if ((name = signal_name(number)) == NULL)
			continue;
		ck_assert_uint_eq(signal_find(name), number);
		ck_assert_ptr_nonnull(strstr(signal_names(), name));
		have++;
	}
	ck_assert_uint_eq(have, 11);
	ck_assert_ptr_null(signal_name(SIGSEGV));
	ck_assert_ptr_null(signal_name(SIGRTMIN));
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
	tcase_add_test(t, terminal);
	tcase_add_test(t, neuron);
	tcase_add_loop_test(t, signal_and_size, 0,
	    sizeof(small) / sizeof(small[0]));
	tcase_add_test(t, signal_names_are_a_list);
	tcase_add_loop_test(t, refuses, 0,
	    sizeof(refused) / sizeof(refused[0]));
	suite_add_tcase(s, t);
	return (unit_main(s));
}
