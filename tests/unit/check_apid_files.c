/*
 * Files in apid: paths of URLs, names of downloads, results of bodies.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "body.h"
#include "file_name.h"
#include "unit.h"

static const struct {
	const char	*url;
	const char	*path;		/* NULL: refused */
} paths[] = {
	{ "", "" },
	{ "a/b", "a/b" },
	{ "%2Fetc%2fpasswd", "/etc/passwd" },
	{ "a%20b+c", "a b+c" },
	{ "%ff%FE", "\377\376" },
	{ "%252e", "%2e" },
	{ "%", NULL },
	{ "%1", NULL },
	{ "%g0", NULL },
	{ "%0g", NULL },
	{ "a%00b", NULL },
	{ "0123456789012345", NULL },
};

START_TEST(test_paths)
{
	char path[16];

	ck_assert_int_eq(url_path_decode(paths[_i].url, path, sizeof(path)),
	    paths[_i].path == NULL ? -1 : 0);
	if (paths[_i].path != NULL)
		ck_assert_str_eq(path, paths[_i].path);
}
END_TEST

#define A(name)	"attachment; filename=\"" name

static const struct {
	const char	*path;
	const char	*want;
} names[] = {
	{ "a.txt", A("a.txt\"; filename*=UTF-8''a.txt") },
	{ "d/e/a.txt", A("a.txt\"; filename*=UTF-8''a.txt") },
	{ "/", A("files\"; filename*=UTF-8''files") },
	{ "", A("files\"; filename*=UTF-8''files") },
	{ "a/..", A("files\"; filename*=UTF-8''files") },
	{ "a/", A("a\"; filename*=UTF-8''a") },
	{ "a\"\r\nX: y", A("a___X__y\"; filename*=UTF-8''a%22__X%3A%20y") },
	{ "\303\244", A("__\"; filename*=UTF-8''%C3%A4") },
	{ "\303", A("_\"; filename*=UTF-8''_") },
	{ "\377a", A("_a\"; filename*=UTF-8''_a") },
	{ "\355\240\200", A("___\"; filename*=UTF-8''___") },
};

START_TEST(test_names)
{
	char value[DISPOSITION_MAX], name[300];

	disposition(names[_i].path, "", value);
	ck_assert_str_eq(value, names[_i].want);
	disposition("d", ".tar", value);
	ck_assert_str_eq(value, A("d.tar\"; filename*=UTF-8''d.tar"));
	memset(name, '\n', 299);
	name[299] = '\0';
	disposition(name, "", value);
	ck_assert_uint_lt(strlen(value), DISPOSITION_MAX);
}
END_TEST

/* What a pipe of those bytes becomes in a record, compact. */
static void
becomes(const char *bytes, size_t n, const char *words, const char *record)
{
	struct body *b = body_new();
	json_t *j = json_pack("{s:s}", "state", "completed");
	size_t size = 0;
	char *said, *text;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], bytes, n), (ssize_t)n);
	close(fds[1]);
	while (body_read(b, fds[0]) == 1)
		continue;
	close(fds[0]);
	said = body_end(b, &size);
	ck_assert_uint_eq(size, words == NULL ? 0 : strlen(words));
	if (words != NULL)
		ck_assert_mem_eq(said, words, size);
	body_seal(b, j);
	text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
	ck_assert_str_eq(text, record);
	free(text);
	free(said);
	json_decref(j);
	body_free(b);
}

START_TEST(test_results)
{
	static char deep[64], many[60000];
	size_t i;

	becomes("{\"a\":[1]}", 9, NULL,
	    "{\"result\":{\"a\":[1]},\"state\":\"completed\"}");
	becomes("{\"a\":\"\\u0000\"}", 14, NULL,
	    "{\"result\":{\"a\":\"\\u0000\"},\"state\":\"completed\"}");
	becomes("{\"error\":{\"message\":\"no\"}}", 26, "no\n",
	    "{\"result\":{\"error\":{\"message\":\"no\"}},"
	    "\"state\":\"completed\"}");
	becomes("", 0, NULL, "{\"error\":{\"code\":\"result_invalid\","
	    "\"message\":\"the tool gave no result\"},\"result\":null,"
	    "\"state\":\"completed\"}");
	becomes("[]", 2, NULL, "{\"error\":{\"code\":\"result_invalid\","
	    "\"message\":\"the tool's result is not a JSON object\"},"
	    "\"result\":null,\"state\":\"completed\"}");
	becomes("{\"a\":\"\377\"}", 9, NULL,
	    "{\"error\":{\"code\":\"result_invalid\","
	    "\"message\":\"the tool's result is not a JSON object\"},"
	    "\"result\":null,\"state\":\"completed\"}");
	memset(deep, '[', sizeof(deep));
	becomes(deep, sizeof(deep), NULL,
	    "{\"error\":{\"code\":\"result_invalid\",\"message\":\"the "
	    "tool's result has more than 32 levels or 262144 values\"},"
	    "\"result\":null,\"state\":\"completed\"}");
	/* Within both bounds, but an array. */
	for (i = 0; i < sizeof(many); i++)
		many[i] = i % 2 == 0 ? '1' : ',';
	many[0] = '[';
	many[sizeof(many) - 1] = ']';
	becomes(many, sizeof(many), NULL,
	    "{\"error\":{\"code\":\"result_invalid\","
	    "\"message\":\"the tool's result is not a JSON object\"},"
	    "\"result\":null,\"state\":\"completed\"}");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("files");
	TCase *tc = tcase_create("files");

	tcase_add_loop_test(tc, test_paths, 0,
	    sizeof(paths) / sizeof(paths[0]));
	tcase_add_loop_test(tc, test_names, 0,
	    sizeof(names) / sizeof(names[0]));
	tcase_add_test(tc, test_results);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
