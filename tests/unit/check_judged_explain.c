/* The explanation of a judging: commands, paths, and its bounds. */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "codec.h"
#include "explain.h"
#include "protocol.h"
#include "unit.h"

#define BIG	(60 * 1024)

static const struct judge_context context = {
	.cwd = "/srv/work", .home = "/home/agent", .user = "agent",
	.shell = "/bin/bash"
};

/* The explanation of a text, read back as an operator's apid would. */
static json_t *
explained(const char *text, const char *args, int *unresolved)
{
	struct arguments arguments = { .cwd = (char *)(uintptr_t)"" };
	struct judging *j = judging_new(&context);
	const uint8_t *map;
	json_t *json;
	size_t size;
	int fd;

	ck_assert_ptr_nonnull(j);
	ck_assert_ptr_nonnull(arguments.args = json_loads(args, 0, NULL));
	judging_run(j, text, strlen(text), DIALECT_BASH);
	*unresolved = explain_unresolved(j);
	fd = explain_memfd(j, &arguments, context.cwd);
	ck_assert_int_ne(fd, -1);
	ck_assert_ptr_nonnull(map = memfd_map(fd, EXPLANATION_MAX, &size));
	json = json_loadb((const char *)map, size, 0, NULL);
	ck_assert_ptr_nonnull(json);
	memfd_unmap(map, size);
	close(fd);
	judging_free(j);
	json_decref((json_t *)(uintptr_t)arguments.args);
	return (json);
}

static const char *
word(const json_t *json, size_t command, size_t i)
{
	return (json_string_value(json_array_get(json_object_get(
	    json_array_get(json_object_get(json, "commands"), command),
	    "words"), i)));
}

static int
has_path(const json_t *json, const char *path)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(json, "paths"), i, one) {
		if (strcmp(json_string_value(one), path) == 0)
			return (1);
	}
	return (0);
}

static const json_t *
of(const json_t *json, size_t command, const char *key)
{
	return (json_object_get(json_array_get(json_object_get(json,
	    "commands"), command), key));
}

START_TEST(commands)
{
	int unresolved;
	json_t *json = explained("cat a/b >out; rm -r /etc/x", "{\"path\":"
	    "\"notes\"}", &unresolved);

	ck_assert_int_eq(unresolved, 0);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "commands")),
	    2);
	ck_assert_str_eq(word(json, 0, 0), "cat");
	ck_assert_str_eq(word(json, 0, 1), "a/b");
	ck_assert_str_eq(word(json, 1, 2), "/etc/x");
	ck_assert_int_eq(json_integer_value(of(json, 1, "from")), 14);
	ck_assert_int_eq(json_integer_value(of(json, 1, "to")), 26);
	ck_assert(json_is_false(of(json, 1, "unknown")));
	ck_assert_str_ne(json_string_value(of(json, 1, "class")), "read");
	ck_assert_str_ne(json_string_value(of(json, 1, "why")), "");
	ck_assert(has_path(json, "/srv/work/a/b"));
	ck_assert(has_path(json, "/srv/work/out"));
	ck_assert(has_path(json, "/etc/x"));
	ck_assert(has_path(json, "/srv/work/notes"));
	ck_assert(json_is_false(json_object_get(json, "cut")));
	json_decref(json);
}
END_TEST

/* What is not known is shown as such, and can't be remembered. */
START_TEST(unknown)
{
	static const char *const open[] = {
		"cat $X", "cat a$X", "ls *.c", "$(date)", "eval \"$(cat f)\""
	};
	static const char *const closed[] = {
		"cat a", "X=1; cat $X", "echo '*'", "ls \"a b\""
	};
	int unresolved;
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		json_decref(explained(open[i], "{}", &unresolved));
		ck_assert_msg(unresolved, "%s", open[i]);
	}
	for (i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
		json_decref(explained(closed[i], "{}", &unresolved));
		ck_assert_msg(!unresolved, "%s", closed[i]);
	}
	json = explained("cat a$X", "{}", &unresolved);
	ck_assert_str_eq(word(json, 0, 1), "a[...]");
	ck_assert(json_is_true(of(json, 0, "unknown")));
	json_decref(json);
}
END_TEST

/* More than it may hold: cut, and said to be. */
START_TEST(bounds)
{
	int unresolved;
	char *text = malloc(BIG + 16);
	json_t *json, *whole;
	size_t n = 0;

	ck_assert_ptr_nonnull(text);
	/* each says its path again: many commands of little text */
	while (n < BIG - 16)
		n += (size_t)sprintf(text + n, "rm /a/%zu;", n);
	json = explained(text, "{}", &unresolved);
	ck_assert(json_is_true(json_object_get(json, "cut")));
	ck_assert_uint_gt(json_array_size(json_object_get(json, "commands")),
	    100);
	json_decref(json);
	/* one word that every command repeats through a variable */
	n = (size_t)sprintf(text, "x=");
	memset(text + n, 'w', BIG / 2);
	n += BIG / 2;
	while (n < BIG - 16)
		n += (size_t)sprintf(text + n, ";echo $x");
	json = explained(text, "{}", &unresolved);
	ck_assert(json_is_true(json_object_get(json, "cut")));
	json_decref(json);
	/* control characters are six bytes each in JSON */
	memset(text, '\1', BIG);
	memcpy(text, "echo '", 6);
	memcpy(text + BIG - 2, "'", 2);
	whole = explained(text, "{}", &unresolved);
	ck_assert(json_is_true(json_object_get(whole, "cut")));
	json_decref(whole);
	free(text);
}
END_TEST

/* A line of words is cut between words, and no long one is in it. */
START_TEST(words)
{
	static char big[400];
	struct word v[4] = {
		{ .text = "\xc3\xa9\xc3\xa9", .len = 4 },
		{ .text = NULL, .flags = WORD_PREFIX },
		{ .text = "z", .len = 1, .flags = WORD_PREFIX },
		{ .text = big, .len = sizeof(big) - 1 },
	};
	struct command c = { .argv = v, .argc = 4 };
	char line[64];

	memset(big, 'b', sizeof(big) - 1);
	explain_words(&c, line, sizeof(line));
	ck_assert_str_eq(line, "\xc3\xa9\xc3\xa9 [...] z[...] [399 bytes]");
	explain_words(&c, line, 36);
	ck_assert_str_eq(line, "\xc3\xa9\xc3\xa9 [...] z[...] [399 bytes]");
	explain_words(&c, line, 33);
	ck_assert_str_eq(line, "\xc3\xa9\xc3\xa9 [...] z[...] ...");
	explain_words(&c, line, 16);
	ck_assert_str_eq(line, "\xc3\xa9\xc3\xa9 [...] ...");
	explain_words(&c, line, 9);
	ck_assert_str_eq(line, "\xc3\xa9\xc3\xa9 ...");
	explain_words(NULL, line, sizeof(line));
	ck_assert_str_eq(line, "");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("explain");
	TCase *tc = tcase_create("explain");

	tcase_add_test(tc, commands);
	tcase_add_test(tc, unknown);
	tcase_add_test(tc, bounds);
	tcase_add_test(tc, words);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
