/*
 * The client's decoders of events and of a call's output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "sse.h"
#include "unit.h"

static char got[4096];

static int
take(void *arg, const struct sse_event *event)
{
	size_t len = strlen(got);

	(void)arg;
	ck_assert_uint_eq(strlen(event->data), event->len);
	snprintf(got + len, sizeof(got) - len, "%s/%llu/%s|", event->name,
	    (unsigned long long)event->id, event->data);
	return (strcmp(event->name, "refuse") == 0 ? -1 : 0);
}

static int
feed(const char *text, size_t piece)
{
	size_t len = strlen(text), at, n;
	struct sse sse;
	int ok = 0;

	got[0] = '\0';
	sse_init(&sse, take, NULL);
	for (at = 0; ok == 0 && at < len; at += n) {
		n = len - at < piece ? len - at : piece;
		ok = sse_feed(&sse, (const uint8_t *)text + at, n);
	}
	sse_free(&sse);
	return (ok);
}

static const char *const events[][2] = {
	{ "id: 1\nevent: a\ndata: x\n\n", "a/1/x|" },
	{ "id:1\r\nevent:a\r\ndata:x\r\n\r\n", "a/1/x|" },
	{ "data: x\ndata:\ndata:  y\n\n", "/0/x\n\n y|" },
	{ ": comment\ndata: x\n\n\n\n", "/0/x|" },
	{ "id: 7\ndata: a\n\ndata: b\n\n", "/7/a|/7/b|" },
	{ "event: a\n\ndata: b\n\n", "/0/b|" },
	{ "data\n\n", "/0/|" },
	{ "retry: 5\nother: x\ndata: a:b\n\n", "/0/a:b|" },
	{ "data: unfinished\n", "" },
};

START_TEST(test_events)
{
	size_t piece;

	for (piece = 1; piece < 40; piece++) {
		ck_assert_int_eq(feed(events[_i][0], piece), 0);
		ck_assert_str_eq(got, events[_i][1]);
	}
}
END_TEST

START_TEST(test_bad_events)
{
	char name[100];

	ck_assert_int_eq(feed("id: x\ndata: a\n\n", 99), -1);
	ck_assert_int_eq(feed("id: 99999999999999999999999\n", 99), -1);
	ck_assert_int_eq(feed("event: refuse\ndata: a\n\n", 99), -1);
	memset(name, 'a', sizeof(name));
	memcpy(name, "event:", 6);
	memcpy(name + 90, "\n", 2);
	ck_assert_int_eq(feed(name, 99), -1);
}
END_TEST

START_TEST(test_too_large)
{
	static uint8_t piece[1 << 20];
	struct sse sse;
	int i, ok = 0;

	memset(piece, 'a', sizeof(piece));
	sse_init(&sse, take, NULL);
	for (i = 0; i <= SSE_EVENT_MAX >> 20 && ok == 0; i++)
		ok = sse_feed(&sse, piece, sizeof(piece));
	ck_assert_int_eq(ok, -1);
	sse_free(&sse);
}
END_TEST

struct sample {
	const char	*text;
	int		 stream;	/* 0: malformed */
	const char	*bytes;
	size_t		 len;
};

#define S	"{\"stream\":\"stdout\",\"data\":"

static const struct sample outputs[] = {
	{ S "\"abc\"}", 1, "abc", 3 },
	{ S "\"\"}", 1, "", 0 },
	{ " { \"data\" : \"x\" , \"n\" : -1.5e3 , \"stream\":\"stderr\" } ",
	    2, "x", 1 },
	{ S "\"a\",\"call\":\"c-1\",\"seq\":3,\"x\":null,\"encoding\":"
	    "\"utf-8\"}", 1, "a", 1 },
	{ S "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", 1, "\"\\/\b\f\n\r\t", 8 },
	{ S "\"\\u0000\\u001b\\u00e4\\u20AC\\ud83d\\ude00z\"}", 1,
	    "\0\033\303\244\342\202\254\360\237\230\200z", 12 },
	{ S "\"AAH/\",\"encoding\":\"base64\"}", 1, "\0\1\377", 3 },
	{ S "\"AA==\",\"encoding\":\"base64\"}", 1, "\0", 1 },
	{ S "\"AAE=\",\"encoding\":\"base64\"}", 1, "\0\1", 2 },
	{ S "\"\",\"encoding\":\"base64\"}", 1, "", 0 },
	{ "", 0, NULL, 0 },
	{ "{}", 0, NULL, 0 },
	{ "[]", 0, NULL, 0 },
	{ S "\"a\"} x", 0, NULL, 0 },
	{ S "\"a\",}", 0, NULL, 0 },
	{ S "\"a", 0, NULL, 0 },
	{ S "\"a\\", 0, NULL, 0 },
	{ S "\"a\\x\"}", 0, NULL, 0 },
	{ S "\"\\u12\"}", 0, NULL, 0 },
	{ S "\"\\ud83d\"}", 0, NULL, 0 },
	{ S "\"\\ude00\"}", 0, NULL, 0 },
	{ S "\"\\ud83d\\u0041\"}", 0, NULL, 0 },
	{ S "\"a\nb\"}", 0, NULL, 0 },
	{ S "[\"a\"]}", 0, NULL, 0 },
	{ S "1}", 0, NULL, 0 },
	{ "{\"data\":\"a\"}", 0, NULL, 0 },
	{ "{\"stream\":\"other\",\"data\":\"a\"}", 0, NULL, 0 },
	{ S "\"AAA\",\"encoding\":\"base64\"}", 0, NULL, 0 },
	{ S "\"A===\",\"encoding\":\"base64\"}", 0, NULL, 0 },
	{ S "\"AA*=\",\"encoding\":\"base64\"}", 0, NULL, 0 },
};

START_TEST(test_outputs)
{
	const struct sample *s = &outputs[_i];
	struct output out;
	char *text = strdup(s->text);
	int ok;

	ok = output_decode(text, strlen(text), &out);
	if (s->stream == 0)
		ck_assert_int_eq(ok, -1);
	else {
		ck_assert_int_eq(ok, 0);
		ck_assert_int_eq(out.stream, s->stream);
		ck_assert_uint_eq(out.len, s->len);
		ck_assert_mem_eq(out.bytes, s->bytes, s->len);
	}
	free(text);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ctl_sse");
	TCase *tc = tcase_create("sse");

	tcase_add_loop_test(tc, test_events, 0,
	    sizeof(events) / sizeof(events[0]));
	tcase_add_test(tc, test_bad_events);
	tcase_add_test(tc, test_too_large);
	tcase_add_loop_test(tc, test_outputs, 0,
	    sizeof(outputs) / sizeof(outputs[0]));
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
