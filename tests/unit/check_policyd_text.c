/* JSON written as text: the same bytes that jansson writes. */

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "../../policyd/text.h"
#include "../../policyd/util.h"
#include "unit.h"

static void
same(const char *s)
{
	struct text t = { .len = 0 };
	json_t *json = json_pack("{s:o,s:o}", "a", json_text(s), "b",
	    json_text_or_null(s));
	char *want = json_dumps(json, JSON_COMPACT);

	text_open(&t, NULL);
	text_string(&t, "a", s);
	text_string_or_null(&t, "b", s);
	text_close(&t);
	ck_assert_str_eq(t.p, want);
	ck_assert_uint_eq(t.len, strlen(want));
	text_free(&t);
	free(want);
	json_decref(json);
}

START_TEST(strings)
{
	static const char *const some[] = {
		"", "word", "\"", "\\", "/", "a\b\f\n\r\tb", "\x7f", "\xc3\xa4",
		"\xe2\x80\xa8", "\xf0\x9f\x92\xa9", "\xff", "\xc0\x80",
		"\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "x\xc3\xa4\xffy",
		"\xef\xbf\xbf", "\xe0\x80\x80",
	};
	char one[2] = "", two[3] = "";
	unsigned i, k;

	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		same(some[i]);
	for (i = 1; i < 256; i++) {
		one[0] = (char)i;
		same(one);
		for (k = 1; k < 256; k++) {
			two[0] = (char)i;
			two[1] = (char)k;
			same(two);
		}
	}
}
END_TEST

START_TEST(long_string)
{
	char *s = malloc(100001);

	memset(s, '\x01', 100000);
	s[100000] = '\0';
	same(s);
	free(s);
}
END_TEST

START_TEST(members)
{
	static const int64_t numbers[] = { 0, 1, -1, 9, 10, 4711, INT64_MAX,
	    INT64_MIN };
	struct text t = { .len = 0 };
	json_t *json = json_object(), *list = json_array();
	char *want, key[8];
	size_t i;

	text_open(&t, NULL);
	text_list(&t, "none");
	text_list_end(&t);
	text_open(&t, "empty");
	text_close(&t);
	json_object_set_new(json, "none", json_array());
	json_object_set_new(json, "empty", json_object());
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		snprintf(key, sizeof(key), "n%zu", i);
		text_int(&t, key, numbers[i]);
		json_object_set_new(json, key, json_integer(numbers[i]));
	}
	text_list(&t, "list");
	text_word(&t, NULL, "a");
	text_bool(&t, NULL, 1);
	text_bool(&t, NULL, 0);
	text_null(&t, NULL);
	text_json(&t, NULL, "{\"x\":1}");
	text_list_end(&t);
	json_array_append_new(list, json_string("a"));
	json_array_append_new(list, json_true());
	json_array_append_new(list, json_false());
	json_array_append_new(list, json_null());
	json_array_append_new(list, json_pack("{s:i}", "x", 1));
	json_object_set_new(json, "list", list);
	text_when(&t, "never", 0);
	text_when(&t, "when", UINT64_C(1234567890123456));
	text_word_or_null(&t, "word", "");
	json_object_set_new(json, "never", json_null());
	json_object_set_new(json, "when",
	    json_when(UINT64_C(1234567890123456)));
	json_object_set_new(json, "word", json_null());
	text_close(&t);
	want = json_dumps(json, JSON_COMPACT);
	ck_assert_str_eq(t.p, want);
	free(want);
	json_decref(json);
	json = text_tree(&t);
	ck_assert_uint_eq(json_object_size(json), 14);
	json_decref(json);
	text_free(&t);
}
END_TEST

/* A time that was written is read again; what is none is none. */
START_TEST(times)
{
	static const char *const none[] = { "", "2026-01-02T03:04:05Z",
	    "2026-01-02T03:04:05.678", "2026-01-02T03:04:05.678Zx",
	    "2026-01-02 03:04:05.678Z", "x" };
	char text[TIME_TEXT];
	size_t i;

	ck_assert_uint_eq(time_of(time_text(UINT64_C(1700000000123000), text)),
	    UINT64_C(1700000000123000));
	ck_assert_uint_eq(time_of(time_text(UINT64_C(1709251199999000), text)),
	    UINT64_C(1709251199999000));
	/* of the same second, of the next, of an earlier one */
	ck_assert_str_eq(time_text(UINT64_C(1700000000007999), text),
	    "2023-11-14T22:13:20.007Z");
	ck_assert_str_eq(time_text(UINT64_C(1700000001000000), text),
	    "2023-11-14T22:13:21.000Z");
	ck_assert_str_eq(time_text(UINT64_C(999), text),
	    "1970-01-01T00:00:00.000Z");
	ck_assert_str_eq(time_text(UINT64_C(253402300799999000), text),
	    "9999-12-31T23:59:59.999Z");
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_uint_eq(time_of(none[i]), 0);
}
END_TEST

static void
stars(char *s)
{
	memset(s, '*', strlen(s));
}

START_TEST(cleaned)
{
	struct text t = { .clean = stars };

	text_open(&t, NULL);
	text_word(&t, "id", "c-1");
	text_string(&t, "a", "b\"c");
	text_string_or_null(&t, "d", "e");
	text_close(&t);
	ck_assert_str_eq(t.p, "{\"id\":\"c-1\",\"a\":\"***\",\"d\":\"*\"}");
	text_free(&t);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("policyd_text");
	TCase *tc = tcase_create("text");

	tcase_add_test(tc, strings);
	tcase_add_test(tc, long_string);
	tcase_add_test(tc, members);
	tcase_add_test(tc, times);
	tcase_add_test(tc, cleaned);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
