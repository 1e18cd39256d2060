/*
 * What goes into a transcript, and what is believed of one.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"
#include "transcript.h"
#include "unit.h"

static const struct {
	const char	*arguments;
	const char	*shown;
} samples[] = {
	{ "{\"args\":{\"a\":1}}", "{\"args\":{\"a\":1}}" },
	{ "{\"args\":{\"z\":[true,null,\"x\"],\"b\":1.5}}",
	    "{\"args\":{\"b\":1.5,\"z\":[true,null,\"x\"]}}" },
	{ "{\"args\":{\"command\":\"PASSWORD=hunter2 id\"}}",
	    "{\"args\":{\"command\":\"PASSWORD=[redacted:password] id\"}}" },
	{ "{\"args\":{\"password\":\"x\",\"token\":{\"a\":[1,\"y\",null]}}}",
	    "{\"args\":{\"password\":\"***\",\"token\":{\"a\":[\"***\",\"***\","
	    "null]}}}" },
	{ "{\"args\":{\"list\":[\"ghp_0123456789abcdefghijABCDEFGHIJ0123\"]}}",
	    "{\"args\":{\"list\":[\"[redacted:github]\"]}}" },
	{ "{\"env\":{\"apiKey\":\"x\",\"FINE\":\"y\"}}",
	    "{\"env\":{\"FINE\":\"y\",\"apiKey\":\"***\"}}" },
	{ "{\"args\":{\"text\":\"two\\nlines\"}}",
	    "{\"args\":{\"text\":\"two\\nlines\"}}" },
};

START_TEST(shown)
{
	json_t *j = json_loads(samples[_i].arguments, 0, NULL);
	char *text = shown_arguments(j);

	ck_assert_str_eq(text, samples[_i].shown);
	free(text);
	json_decref(j);
}
END_TEST

static char *
shown_text(size_t n, const char *fill, size_t times)
{
	size_t len = strlen(fill), i;
	char *text = malloc(n + len + 1), *s;
	json_t *list = json_array(), *j;

	for (i = 0; i < n; i += len)
		memcpy(text + i, fill, len);
	text[i] = '\0';
	for (i = 0; i < times; i++)
		json_array_append_new(list, json_string(text));
	j = json_pack("{s:o}", "args", list);
	s = shown_arguments(j);
	json_decref(j);
	free(text);
	return (s);
}

START_TEST(long_texts)
{
	char *s;

	/* at most 32 KiB of each, whole characters, and how much is missing */
	s = shown_text(SHOWN_TEXT + 2, "\303\244\342\202\254", 1);
	ck_assert_uint_lt(strlen(s), SHOWN_TEXT + 64);
	ck_assert_ptr_nonnull(strstr(s, "... ("));
	ck_assert_ptr_nonnull(strstr(s, " bytes more)\"]}"));
	free(s);
	s = shown_text(SHOWN_TEXT - 8, "x", 7);
	ck_assert_ptr_null(strstr(s, "bytes more"));
	free(s);
	/* and 256 KiB of all */
	s = shown_text(SHOWN_TEXT - 8, "x", 9);
	ck_assert_str_eq(s, "null");
	free(s);
}
END_TEST

/* A key is masked before it is cut in half. */
START_TEST(a_key_at_the_cut)
{
	static const char key[] = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
	char *text = malloc(SHOWN_TEXT + 100), *s;
	json_t *j;

	memset(text, ' ', SHOWN_TEXT + 100);
	memcpy(text + SHOWN_TEXT - 20, key, sizeof(key) - 1);
	text[SHOWN_TEXT + 60] = '\0';
	j = json_pack("{s:s}", "args", text);
	s = shown_arguments(j);
	ck_assert_ptr_null(strstr(s, "ghp_"));
	free(s);
	free(text);
	json_decref(j);
}
END_TEST

#define RECORD	"{\"call\":\"c\",\"state\":\"failed\",\"principal\":\"uid:1\"}"

static const struct {
	const char	*lines;
	const char	*call;		/* NULL: none */
} lines[] = {
	{ RECORD "\n{\"stdout\":\"x\",\"state\":\"completed\",\"principal\":"
	    "\"uid:2\",\"verdict\":\"allow\"}\n",
	    "{\"call\":\"c\",\"state\":\"failed\",\"principal\":\"uid:1\","
	    "\"stdout\":\"x\"}" },
	{ RECORD "\n\n", RECORD },
	{ RECORD "\nno JSON\n", RECORD },
	{ RECORD "\n[1]\n", RECORD },
	{ RECORD "\n{\"stdout\":\"a\",\"stdout\":\"b\"}\n", RECORD },
	{ RECORD "\n", NULL },
	{ RECORD, NULL },
	{ "", NULL },
	{ "\n\n", NULL },
	{ RECORD "\n\n" RECORD "\n\n", NULL },
};

START_TEST(of_one)
{
	char *text;

	text = transcript_call(lines[_i].lines, strlen(lines[_i].lines));
	if (lines[_i].call == NULL)
		ck_assert_ptr_null(text);
	else
		ck_assert_str_eq(text, lines[_i].call);
	free(text);
}
END_TEST

START_TEST(of_a_session)
{
	static const char good[] = "{\"session\":\"s\",\"next\":7}\n"
	    RECORD "\n{\"stdout\":\"x\"}\n" RECORD "\n\n";
	static const char bad[] = "{\"session\":\"s\"}\n" RECORD "\n";
	char *text = transcript_session(good, strlen(good));

	ck_assert_str_eq(text, "{\"session\":\"s\",\"next\":7,\"calls\":["
	    "{\"call\":\"c\",\"state\":\"failed\",\"principal\":\"uid:1\","
	    "\"stdout\":\"x\"}," RECORD "]}");
	free(text);
	ck_assert_ptr_null(transcript_session(bad, strlen(bad)));
}
END_TEST

/* What a hostile apid could make another one build is bounded. */
START_TEST(too_much)
{
	size_t n = 4 * 1024 * 1024, at;
	char *text = malloc(n), *got;

	at = (size_t)sprintf(text, RECORD "\n{\"arguments\":[1");
	while (at < n - 16) {
		memcpy(text + at, ",1", 2);
		at += 2;
	}
	at += (size_t)sprintf(text + at, "]}\n");
	got = transcript_call(text, at);
	ck_assert_str_eq(got, RECORD);
	free(got);
	free(text);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("apid_transcript");
	TCase *t = tcase_create("transcript");

	tcase_add_loop_test(t, shown, 0,
	    sizeof(samples) / sizeof(samples[0]));
	tcase_add_test(t, long_texts);
	tcase_add_test(t, a_key_at_the_cut);
	tcase_add_loop_test(t, of_one, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(t, of_a_session);
	tcase_add_test(t, too_much);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
