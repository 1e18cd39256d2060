/*
 * Output as JSON text: what is UTF-8, what is written, of what size.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "unit.h"

/* Random bytes that are mostly text: lines, characters of all lengths. */
static size_t
make_text(uint8_t *p, size_t max)
{
	static const char *const parts[] = {
		"a", "line of text\n", "\"", "\\", "\t", "\x01", "\x7f",
		"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9d\x84\x9e", "\xef\xbf\xbf",
		"0123456789abcdef0123456789abcdef", "\xed\x9f\xbf"
	};
	size_t n = 0, len;
	const char *s;

	for (;;) {
		s = parts[(size_t)rand() % (sizeof(parts) / sizeof(parts[0]))];
		len = strlen(s);
		if (n + len > max)
			return (n);
		memcpy(p + n, s, len);
		n += len;
	}
}

static int
is_utf8(const uint8_t *p, size_t n)
{
	json_t *j = json_stringn((const char *)p, n);
	int ok = j != NULL;

	json_decref(j);
	return (ok);
}

/* What is escaped, jansson reads back as the same bytes. */
START_TEST(round_trip)
{
	uint8_t raw[512];
	char *text;
	struct text_scan scan;
	json_t *j;
	size_t n;
	int i;

	for (i = 0; i < 2000; i++) {
		n = make_text(raw, 1 + (size_t)rand() % sizeof(raw));
		text_scan(raw, n, &scan);
		ck_assert(scan.valid && scan.tail == 0);
		text = malloc(scan.escaped + 2 + TEXT_SLACK);
		text[0] = '"';
		ck_assert_ptr_eq(text_escape(text + 1, raw, n),
		    text + 1 + scan.escaped);
		text[scan.escaped + 1] = '"';
		j = json_loadb(text, scan.escaped + 2, JSON_DECODE_ANY |
		    JSON_ALLOW_NUL, NULL);
		ck_assert_ptr_nonnull(j);
		ck_assert_uint_eq(json_string_length(j), n);
		ck_assert_mem_eq(json_string_value(j), raw, n);
		json_decref(j);
		free(text);
	}
}
END_TEST

/* Damaged text: valid or not as jansson sees it, cut tails aside. */
START_TEST(validity)
{
	uint8_t raw[64];
	struct text_scan scan;
	size_t n;
	int i;

	for (i = 0; i < 100000; i++) {
		n = make_text(raw, 1 + (size_t)rand() % sizeof(raw));
		if (n == 0)
			continue;
		raw[(size_t)rand() % n] = (uint8_t)rand();
		text_scan(raw, n, &scan);
		ck_assert_uint_le(scan.tail, 3);
		ck_assert_int_eq(scan.valid && scan.tail == 0,
		    is_utf8(raw, n));
		if (scan.valid)
			ck_assert(is_utf8(raw, n - scan.tail));
	}
}
END_TEST

static const struct {
	const char	*bytes;
	int		 valid;
	size_t		 tail;
} cases[] = {
	{ "", 1, 0 }, { "\xc3", 1, 1 }, { "\xe2\x82", 1, 2 },
	{ "\xf0\x9d\x84", 1, 3 }, { "\xc0\x80", 0, 0 }, { "\xc1", 0, 0 },
	{ "\xe0\x9f", 0, 0 }, { "\xed\xa0\x80", 0, 0 },
	{ "\xf0\x8f", 0, 0 }, { "\xf4\x90", 0, 0 }, { "\xf5", 0, 0 },
	{ "\x80", 0, 0 }, { "a\xff", 0, 0 }, { "\xffz\xc3", 0, 1 },
	{ "\xc3\xa9\xc3", 1, 1 }, { "\xf4\x8f\xbf\xbf", 1, 0 }
};

START_TEST(known)
{
	struct text_scan scan;

	text_scan((const uint8_t *)cases[_i].bytes, strlen(cases[_i].bytes),
	    &scan);
	ck_assert_int_eq(scan.valid, cases[_i].valid);
	ck_assert_uint_eq(scan.tail, cases[_i].tail);
}
END_TEST

/* In whatever parts it comes, the sum is that of the whole. */
START_TEST(in_parts)
{
	uint8_t raw[300];
	struct text_scan scan;
	struct text_state state;
	size_t n, at, part;
	int i;

	for (i = 0; i < 5000; i++) {
		n = make_text(raw, sizeof(raw));
		if (i % 2)
			raw[(size_t)rand() % n] = (uint8_t)rand();
		text_scan(raw, n, &scan);
		text_begin(&state);
		for (at = 0; at < n; at += part) {
			part = 1 + (size_t)rand() % 5;
			part = part > n - at ? n - at : part;
			text_feed(&state, raw + at, part);
		}
		ck_assert_int_eq(state.valid && state.npart == 0,
		    scan.valid && scan.tail == 0);
		if (scan.valid && scan.tail == 0)
			ck_assert_uint_eq(state.escaped, scan.escaped);
	}
}
END_TEST

START_TEST(base64)
{
	uint8_t raw[100] = { 0 }, back[120];
	char whole[140], parts[140], *end;
	struct base64_state state;
	size_t n, at, part, used, i;

	for (n = 0; n < sizeof(raw); n++) {
		for (i = 0; i < n; i++)
			raw[i] = (uint8_t)rand();
		end = base64_write(whole, raw, n);
		ck_assert_uint_eq((size_t)(end - whole), base64_size(n));
		memset(&state, 0, sizeof(state));
		end = parts;
		for (at = 0; at < n; at += part) {
			part = 1 + (size_t)rand() % 7;
			part = part > n - at ? n - at : part;
			end = base64_feed(&state, end, raw + at, part);
		}
		end = base64_end(&state, end);
		ck_assert_uint_eq((size_t)(end - parts), base64_size(n));
		ck_assert_mem_eq(whole, parts, base64_size(n));
		ck_assert_int_eq(base64_read(back, whole, base64_size(n),
		    &used), 0);
		ck_assert_uint_eq(used, n);
		ck_assert_mem_eq(back, raw, n);
	}
}
END_TEST

START_TEST(base64_refused)
{
	static const char *const bad[] = {
		"a", "ab", "abc", "ab=", "ab=c", "=abc", "a===", "====",
		"ab c", "ab\n=", "aa==aa==", "ab==", "abc*", "aab="
	};
	uint8_t back[16];
	size_t used;

	ck_assert_int_eq(base64_read(back, bad[_i], strlen(bad[_i]), &used),
	    -1);
}
END_TEST

START_TEST(continuation)
{
	ck_assert_uint_eq(text_continuation((const uint8_t *)"\x82\xac" "a",
	    3), 2);
	ck_assert_uint_eq(text_continuation((const uint8_t *)"a", 1), 0);
	ck_assert_uint_eq(text_continuation(
	    (const uint8_t *)"\x82\x82\x82\x82", 4), 3);
	ck_assert_uint_eq(text_continuation((const uint8_t *)"", 0), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("apid_text");
	TCase *t = tcase_create("text");

	text_init();
	tcase_add_test(t, round_trip);
	tcase_add_test(t, validity);
	tcase_add_loop_test(t, known, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, in_parts);
	tcase_add_test(t, base64);
	tcase_add_loop_test(t, base64_refused, 0, 14);
	tcase_add_test(t, continuation);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
