/*
 * Plain JSON: what is, what is not, and what its members are.
 */
#include <stdio.h>
#include <string.h>

#include "flat.h"
#include "unit.h"

static int
ok(const char *json)
{
	return (flat_ok(json, strlen(json)));
}

START_TEST(objects_without_escapes_are_plain)
{
	static const char *const plain[] = {
		"{}", "{\"a\":1}", "{\"a\":-1,\"b\":null}",
		"{\"a\":\"\",\"b\":[],\"c\":{},\"d\":[true,false]}",
		"{\"a\":{\"b\":[{\"c\":\"d e\"}]}}",
		"{\"a\":999999999999999999,\"b\":0}"
	};
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		ck_assert_msg(ok(plain[i]), "%s", plain[i]);
}
END_TEST

START_TEST(all_else_is_not)
{
	static const char *const other[] = {
		"", "1", "[]", "\"a\"", "null", "{", "}", "{}}", "{} ",
		" {}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}",
		"{\"a\" :1}", "{\"a\": 1}", "{a:1}", "{\"a\":1.5}",
		"{\"a\":1e3}", "{\"a\":01}", "{\"a\":-}",
		"{\"a\":1234567890123456789}", "{\"a\":nul}",
		"{\"a\":\"\\n\"}", "{\"a\":\"\t\"}",
		"{\"a\":\"\x7f\"}", "{\"a\":\"\xc3\xa4\"}",
		"{\"a\":\"b}", "{\"a\":[1,]}", "{\"a\":[1}",
		"{\"a\":[1 2]}", "{\"a\":1\"b\":2}", "{\"a\":\"b\"\"c\"}"
	};
	size_t i;

	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		ck_assert_msg(!ok(other[i]), "%s", other[i]);
}
END_TEST

START_TEST(levels_are_counted)
{
	char text[256];
	size_t n;
	int depth;

	for (depth = FLAT_DEPTH - 1; depth <= FLAT_DEPTH; depth++) {
		n = (size_t)snprintf(text, sizeof(text), "{\"a\":");
		memset(text + n, '[', (size_t)depth);
		memset(text + n + depth, ']', (size_t)depth);
		n += 2 * (size_t)depth;
		text[n++] = '}';
		ck_assert_int_eq(flat_ok(text, n), depth < FLAT_DEPTH);
	}
}
END_TEST

START_TEST(members_are_found_at_the_top_alone)
{
	static const char json[] = "{\"a\":{\"b\":1,\"x\":\"b\"},\"bb\":"
	    "[\"b\",{\"b\":2}],\"b\":\"here\",\"c\":null}";
	const size_t n = sizeof(json) - 1;
	const char *v;
	char word[5];
	size_t size;

	ck_assert_int_eq(flat_ok(json, n), 1);
	v = flat_member(json, n, "b", &size);
	ck_assert_ptr_nonnull(v);
	ck_assert_uint_eq(size, 6);
	ck_assert_int_eq(memcmp(v, "\"here\"", 6), 0);
	v = flat_member(json, n, "a", &size);
	ck_assert_int_eq(memcmp(v, "{\"b\":1,\"x\":\"b\"}", size), 0);
	ck_assert_ptr_null(flat_member(json, n, "x", &size));
	ck_assert_ptr_null(flat_member("{}", 2, "a", &size));
	flat_string(json, n, "b", word, sizeof(word));
	ck_assert_str_eq(word, "here");
	flat_string(json, n, "b", word, 3);
	ck_assert_str_eq(word, "he");
	flat_string(json, n, "c", word, sizeof(word));
	ck_assert_str_eq(word, "");
	flat_string(json, n, "x", word, sizeof(word));
	ck_assert_str_eq(word, "");
}
END_TEST

START_TEST(members_are_read_at_once)
{
	static const char json[] = "{\"a\":{\"b\":1},\"b\":\"here\","
	    "\"c\":[],\"b\":2}";
	static const char *const names[] = { "b", "x", "c", "" };
	static const char *const bad[] = { "{\"a\":1", "{\"a\":1}}", "{",
	    "{\"a\":1,}", "{\"a\"1}", "[]", "{\"a\":1.5}", "{}x", "",
	    "{\"\\u0061\":1}", "{\"a\":1 }", "{\"a\":}", "{\"a\":1,\"b\"}" };
	struct flat_value v[4];
	size_t i;

	ck_assert_int_eq(flat_read(json, sizeof(json) - 1, names, v, 4), 0);
	ck_assert_uint_eq(v[0].n, 6);
	ck_assert_int_eq(memcmp(v[0].p, "\"here\"", 6), 0);
	ck_assert_ptr_null(v[1].p);
	ck_assert_uint_eq(v[2].n, 2);
	ck_assert_ptr_null(v[3].p);
	ck_assert_int_eq(flat_read("{}", 2, names, v, 4), 0);
	ck_assert_ptr_null(v[0].p);
	ck_assert_int_eq(flat_read("{\"\":7}", 6, names, v, 4), 0);
	ck_assert_ptr_nonnull(v[3].p);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(flat_ok(bad[i], strlen(bad[i])), 0);
		ck_assert_int_eq(flat_read(bad[i], strlen(bad[i]), names, v,
		    4), -1);
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("flat");
	TCase *tc = tcase_create("flat");

	tcase_add_test(tc, objects_without_escapes_are_plain);
	tcase_add_test(tc, all_else_is_not);
	tcase_add_test(tc, levels_are_counted);
	tcase_add_test(tc, members_are_found_at_the_top_alone);
	tcase_add_test(tc, members_are_read_at_once);
	suite_add_tcase(s, tc);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
