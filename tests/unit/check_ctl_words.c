/*
 * Guarantee N1 on the command line: what comes from calls can't drive a
 * terminal.  And output that never blocks.
 */
#include <sys/wait.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sink.h"
#include "unit.h"
#include "words.h"

static const char *const texts[][2] = {
	{ "plain text \303\244 \342\202\254 \360\237\230\200",
	    "plain text \303\244 \342\202\254 \360\237\230\200" },
	{ "\033[2J\007\b", "\\x1b[2J\\x07\\x08" },
	{ "a\nb\tc\r", "a\\nb\\tc\\x0d" },
	{ "\177", "\\x7f" },
	{ "\302\233", "\\u{9b}" },
	{ "\342\200\256x\342\201\246", "\\u{202e}x\\u{2066}" },
	{ "\357\273\277", "\\u{feff}" },
	{ "\363\240\200\201", "\\u{e0001}" },
	{ "\377\300\200", "\\xff\\xc0\\x80" },
	{ "\355\240\200", "\\xed\\xa0\\x80" },
	{ "\342\202", "\\xe2\\x82" },
	{ "\360\237\230", "\\xf0\\x9f\\x98" },
	{ "", "" },
};

START_TEST(test_texts)
{
	char *safe = words_escape(texts[_i][0], strlen(texts[_i][0]));

	ck_assert_str_eq(safe, texts[_i][1]);
	free(safe);
}
END_TEST

START_TEST(test_every_byte)
{
	char all[256], *safe, *p;
	int i;

	for (i = 0; i < 256; i++)
		all[i] = (char)(i + 1);	/* a NUL last */
	safe = words_escape(all, sizeof(all));
	for (p = safe; *p != '\0'; p++)
		ck_assert((unsigned char)*p >= ' ' && *p != 0x7f);
	free(safe);
}
END_TEST

START_TEST(test_values)
{
	static const char *const values[][2] = {
		{ "null", "-" }, { "true", "yes" }, { "7", "7" },
		{ "\"a\\u001b\"", "a\\x1b" }, { "[]", "-" },
		{ "[\"a\",1]", "a, 1" }, { "{\"a\":1}", "{\"a\":1}" },
		{ "\"a\\u0000b\"", "a\\x00b" },
	};
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		json_t *json = json_loads(values[i][0], JSON_DECODE_ANY |
		    JSON_ALLOW_NUL, NULL);
		char *text = words_value(json);

		ck_assert_str_eq(text, values[i][1]);
		free(text);
		json_decref(json);
	}
	free(words_value(NULL));
}
END_TEST

/* A pipe that nobody reads takes what it can, the rest is kept. */
START_TEST(test_sink)
{
	static char bytes[300000], got[300000];
	struct pollfd pfd;
	struct sink sink;
	size_t at = 0;
	ssize_t n;
	int fds[2];

	for (at = 0; at < sizeof(bytes); at++)
		bytes[at] = (char)(at * 7 + at / 256);
	ck_assert_int_eq(pipe(fds), 0);
	sink_init(&sink, fds[1]);
	ck_assert_int_eq(sink_put(&sink, bytes, 100000), 0);
	ck_assert_int_eq(sink_pending(&sink), 1);
	ck_assert_int_eq(sink_put(&sink, bytes + 100000, 200000), 0);
	/* Others who have the pipe open are not made not to block. */
	ck_assert_int_eq(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
	for (at = 0; at < sizeof(got); at += (size_t)n) {
		pfd.fd = fds[0];
		pfd.events = POLLIN;
		ck_assert_int_eq(poll(&pfd, 1, 60000), 1);
		n = read(fds[0], got + at, sizeof(got) - at);
		ck_assert_int_gt(n, 0);
		ck_assert_int_eq(sink_flush(&sink), 0);
	}
	ck_assert_int_eq(sink_pending(&sink), 0);
	ck_assert_mem_eq(bytes, got, sizeof(got));
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(sink_put(&sink, "x", 1), -1);
	ck_assert_int_eq(sink.error, EPIPE);
	sink_free(&sink);
	close(fds[1]);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ctl_words");
	TCase *tc = tcase_create("words");

	tcase_add_loop_test(tc, test_texts, 0,
	    sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(tc, test_every_byte);
	tcase_add_test(tc, test_values);
	tcase_add_test(tc, test_sink);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
