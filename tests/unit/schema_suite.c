/*
 * Runs files of the JSON Schema test suite on judged's validator.
 *
 * usage: schema_suite FILE...
 *
 * A line for each group of tests: "ran FILE N", "left FILE N why", where N is
 * the number of its cases; and for a case that goes the other way than the
 * suite says "wrong FILE: group: case: words".
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

static int
run_case(const char *file, const json_t *group, const json_t *one)
{
	const json_t *schema = json_object_get(group, "schema");
	struct why why = { "" };
	int fits, want;

	fits = schema_validate(schema, json_object_get(one, "data"), "v",
	    &why) == 0;
	want = json_is_true(json_object_get(one, "valid"));
	if (fits == want)
		return (0);
	printf("wrong %s: %s: %s: %s\n", file,
	    json_string_value(json_object_get(group, "description")),
	    json_string_value(json_object_get(one, "description")),
	    fits ? "it fits" : why.text);
	return (1);
}

static int
run_group(const char *file, const json_t *group)
{
	const json_t *tests = json_object_get(group, "tests"), *one;
	struct why why = { "" };
	int wrong = 0;
	size_t i;

	if (schema_check(json_object_get(group, "schema"), &why) == -1) {
		printf("left %s %zu %s\n", file, json_array_size(tests),
		    why.text);
		return (0);
	}
	json_array_foreach(tests, i, one)
		wrong += run_case(file, group, one);
	printf("ran %s %zu\n", file, json_array_size(tests));
	return (wrong);
}

int
main(int argc, char **argv)
{
	const json_t *group;
	json_error_t error;
	const char *name;
	json_t *file;
	int i, wrong = 0;
	size_t k;

	for (i = 1; i < argc; i++) {
		name = strrchr(argv[i], '/');
		name = name != NULL ? name + 1 : argv[i];
		file = json_load_file(argv[i], JSON_DECODE_ANY |
		    JSON_ALLOW_NUL, &error);
		if (file == NULL) {
			printf("left %s 0 no JSON for us: %s\n", name,
			    error.text);
			continue;
		}
		json_array_foreach(file, k, group)
			wrong += run_group(name, group);
		json_decref(file);
	}
	return (wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
