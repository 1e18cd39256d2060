/*
 * The schema validator: which schemas it takes, what fits, and the sentence
 * when something does not.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "unit.h"

static json_t *
parse(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);

	ck_assert_msg(json != NULL, "not JSON: %s", text);
	return (json);
}

struct sample {
	const char	*schema;
	const char	*value;
	const char	*want;		/* NULL: it fits */
};

static const struct sample values[] = {
	{ "{}", "17", NULL },
	{ "{\"type\":\"string\"}", "\"a\"", NULL },
	{ "{\"type\":\"string\"}", "1", "v: expected string, got integer" },
	{ "{\"type\":\"string\"}", "null", "v: expected string, got null" },
	{ "{\"type\":\"integer\"}", "1", NULL },
	{ "{\"type\":\"integer\"}", "\"1\"",
	    "v: expected integer, got string" },
	{ "{\"type\":\"integer\"}", "1.0", NULL },
	{ "{\"type\":\"integer\"}", "1.5", "v: expected integer, got number" },
	{ "{\"type\":\"integer\"}", "true",
	    "v: expected integer, got boolean" },
	{ "{\"type\":\"number\"}", "1", NULL },
	{ "{\"type\":\"number\"}", "1.5", NULL },
	{ "{\"type\":\"boolean\"}", "false", NULL },
	{ "{\"type\":\"boolean\"}", "0", "v: expected boolean, got integer" },
	{ "{\"type\":\"boolean\"}", "\"true\"",
	    "v: expected boolean, got string" },
	{ "{\"type\":[\"string\",\"null\"]}", "null", NULL },
	{ "{\"type\":[\"string\",\"null\"]}", "[]",
	    "v: expected string or null, got array" },
	{ "{\"required\":[\"a\"]}", "{}", "v: \"a\" is required" },
	{ "{\"required\":[\"a\"]}", "{\"a\":null}", NULL },
	{ "{\"required\":[\"a\"]}", "[]", NULL },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":{}}",
	    "v.a: expected string, got object" },
	{ "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":{}}",
	    NULL },
	{ "{\"additionalProperties\":false}", "{\"x\":1}",
	    "v.x: no such property" },
	{ "{\"additionalProperties\":false}", "{\"x\\n\\\"\":1}",
	    "v[\"x\\x0a\\x22\"]: no such property" },
	{ "{\"properties\":{\"x\":{}},\"additionalProperties\":false}",
	    "{\"x\":1}", NULL },
	{ "{\"additionalProperties\":{\"type\":\"string\"}}", "{\"x\":1}",
	    "v.x: expected string, got integer" },
	{ "{\"additionalProperties\":true}", "{\"x\":1}", NULL },
	{ "{\"items\":{\"type\":\"string\"}}", "[\"a\",\"b\",3]",
	    "v[2]: expected string, got integer" },
	{ "{\"items\":{\"items\":{\"type\":\"string\"}}}", "[[],[\"a\",1]]",
	    "v[1][1]: expected string, got integer" },
	{ "{\"items\":false}", "[1]", "v[0]: no item is allowed here" },
	{ "{\"minItems\":1}", "[]", "v: 0 items, minItems is 1" },
	{ "{\"minItems\":1}", "[1]", NULL },
	{ "{\"minItems\":1}", "{}", NULL },
	{ "{\"maxItems\":2}", "[1,2,3]", "v: 3 items, maxItems is 2" },
	{ "{\"minLength\":2}", "\"\\u00e4\"",
	    "v: 1 characters, minLength is 2" },
	{ "{\"maxLength\":2}", "\"\\u00e4\\ud83d\\ude00\"", NULL },
	{ "{\"maxLength\":2}", "\"abc\"", "v: 3 characters, maxLength is 2" },
	{ "{\"minimum\":0}", "-1", "v: -1, minimum is 0" },
	{ "{\"minimum\":0}", "0", NULL },
	{ "{\"maximum\":1.5}", "2", "v: 2, maximum is 1.5" },
	{ "{\"maximum\":9007199254740992}", "9007199254740993",
	    "v: 9007199254740993, maximum is 9007199254740992" },
	{ "{\"enum\":[\"a\",1]}", "1", NULL },
	{ "{\"enum\":[\"a\",1]}", "2", "v: must be one of \"a\", 1" },
	{ "{\"enum\":[\"a\",1]}", "\"1\"", "v: must be one of \"a\", 1" },
	{ "{\"const\":{\"a\":[1]}}", "{\"a\":[1]}", NULL },
	{ "{\"const\":\"x\"}", "\"y\"", "v: must be \"x\"" },
	{ "{\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":"
	    "\"null\"}}}}}", "{\"a\":{\"b\":0}}",
	    "v.a.b: expected null, got integer" },
	{ "{\"const\":1}", "1.0", NULL },
	{ "{\"enum\":[[1]]}", "[1.0]", NULL },
	{ "{\"uniqueItems\":true}", "[1,1.0]", "v: an item is there twice" },
	{ "{\"uniqueItems\":true}", "[1,true,\"1\"]", NULL },
	{ "{\"pattern\":\"^a+$\"}", "\"aa\"", NULL },
	{ "{\"pattern\":\"^a+$\"}", "\"ab\"",
	    "v: does not match the pattern ^a+$" },
	{ "{\"pattern\":\"^a$\"}", "\"a\\n\"",
	    "v: does not match the pattern ^a$" },
	{ "{\"pattern\":\"^(a+)+$\"}", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
	    "v: the pattern ^(a+)+$ takes more than 200000 steps on it" },
	{ "{\"not\":{\"pattern\":\"^(a+)+$\"}}",
	    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
	    "v: the pattern ^(a+)+$ takes more than 200000 steps on it" },
	{ "{\"patternProperties\":{\"^x\":{\"type\":\"null\"}},"
	    "\"additionalProperties\":false}", "{\"xa\":null}", NULL },
	{ "{\"patternProperties\":{\"^x\":{\"type\":\"null\"}},"
	    "\"additionalProperties\":false}", "{\"ya\":null}",
	    "v.ya: no such property" },
	{ "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]}", "1",
	    "v: fits none of the 2 forms of anyOf; the first says: v: "
	    "expected null, got integer" },
	{ "{\"oneOf\":[{},{}]}", "1",
	    "v: fits more than one of the 2 forms of oneOf" },
	{ "{\"not\":{}}", "1", "v: must not be what it is (not)" },
	{ "{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":[\"b\"]},"
	    "\"else\":{\"required\":[\"c\"]}}", "{\"a\":1}",
	    "v: \"b\" is required" },
	{ "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
	    "v: \"b\" is required beside \"a\"" },
	{ "{\"exclusiveMaximum\":2}", "2", "v: 2, exclusiveMaximum is 2" },
	{ "{\"multipleOf\":0.01}", "0.07", NULL },
	{ "{\"multipleOf\":0.01}", "0.075", "v: 0.074999999999999997, "
	    "multipleOf is 0.01" },
	{ "{\"$defs\":{\"n\":{\"type\":\"null\"}},\"items\":{\"$ref\":"
	    "\"#/$defs/n\"}}", "[1]", "v[0]: expected null, got integer" },
	{ "{\"prefixItems\":[{\"type\":\"null\"}],\"items\":false}", "[null,1]",
	    "v[1]: no item is allowed here" },
	{ "{\"$ref\":\"#\"}", "1", "v: deeper than 128 schemas" },
	{ "{\"not\":{\"$ref\":\"#\"}}", "1", "v: deeper than 128 schemas" },
	{ "{\"format\":\"email\",\"deprecated\":true}", "\"no\"", NULL },
	{ "{\"title\":\"t\",\"description\":\"d\",\"default\":1,"
	    "\"examples\":[1],\"$comment\":\"c\"}", "0", NULL },
};

START_TEST(test_values)
{
	const struct sample *s = &values[_i];
	json_t *schema = parse(s->schema), *value = parse(s->value);
	struct why why = { "" };

	ck_assert_msg(schema_check(schema, &why) == 0, "%s: %s", s->schema,
	    why.text);
	if (s->want == NULL) {
		ck_assert_msg(schema_validate(schema, value, "v", &why) == 0,
		    "%s", why.text);
	} else {
		ck_assert_int_eq(schema_validate(schema, value, "v", &why),
		    -1);
		ck_assert_str_eq(why.text, s->want);
	}
	json_decref(schema);
	json_decref(value);
}
END_TEST

static const struct sample schemas[] = {
	{ "[]", NULL, "input_schema: expected a schema (an object), got "
	    "array" },
	{ "{\"pattern\":\"(\"}", NULL, "input_schema.pattern: not a pattern: "
	    "missing closing parenthesis, at character 1" },
	{ "{\"patternProperties\":{\"[\":{}}}", NULL,
	    "input_schema.patternProperties: not a pattern: missing "
	    "terminating ] for character class, at character 1" },
	{ "{\"unevaluatedItems\":false}", NULL,
	    "input_schema: keyword \"unevaluatedItems\" is not supported" },
	{ "{\"properties\":{\"a\":{\"formats\":\"x\"}}}", NULL,
	    "input_schema.a: keyword \"formats\" is not supported" },
	{ "{\"allOf\":[]}", NULL,
	    "input_schema.allOf: not a list of schemas" },
	{ "{\"not\":{\"type\":\"text\"}}", NULL, "input_schema.not.type: not "
	    "the name of a type, or a list of them" },
	{ "{\"multipleOf\":0}", NULL,
	    "input_schema.multipleOf: not a number above 0" },
	{ "{\"uniqueItems\":1}", NULL,
	    "input_schema.uniqueItems: neither true nor false" },
	{ "{\"dependentRequired\":{\"a\":\"b\"}}", NULL,
	    "input_schema.dependentRequired: not a list of names" },
	{ "{\"type\":\"text\"}", NULL, "input_schema.type: not the name of a "
	    "type, or a list of them" },
	{ "{\"type\":[]}", NULL, "input_schema.type: not the name of a type, "
	    "or a list of them" },
	{ "{\"minLength\":-1}", NULL,
	    "input_schema.minLength: not an integer of at least 0" },
	{ "{\"maxItems\":1.5}", NULL,
	    "input_schema.maxItems: not an integer of at least 0" },
	{ "{\"maximum\":\"1\"}", NULL,
	    "input_schema.maximum: expected number, got string" },
	{ "{\"required\":[1]}", NULL,
	    "input_schema.required: not a list of names" },
	{ "{\"enum\":[]}", NULL, "input_schema.enum: not a list of values" },
	{ "{\"items\":[{}]}", NULL,
	    "input_schema.items: expected a schema (an object), got array" },
	{ "{\"additionalProperties\":1}", NULL,
	    "input_schema.additionalProperties: expected a schema (an object), "
	    "got integer" },
	{ "{\"$schema\":\"http://json-schema.org/draft-07/schema\"}", NULL,
	    "input_schema.$schema: must be "
	    "\"https://json-schema.org/draft/2020-12/schema\"" },
};

START_TEST(test_schemas)
{
	json_t *schema = parse(schemas[_i].schema);
	struct why why;

	ck_assert_int_eq(schema_check(schema, &why), -1);
	/* A "$" is no part of a plain name. */
	if (strchr(why.text, '[') == NULL)
		ck_assert_str_eq(why.text, schemas[_i].want);
	json_decref(schema);
}
END_TEST

static const struct sample refs[] = {
	{ "{\"$ref\":\"other.json\"}", NULL, "only references within" },
	{ "{\"$ref\":\"#/$defs/x\"}", NULL, "leads to nothing" },
	{ "{\"enum\":[{}],\"$ref\":\"#/enum/0\"}", NULL,
	    "does not lead to a schema" },
};

START_TEST(test_refs)
{
	json_t *schema = parse(refs[_i].schema);
	struct why why;

	ck_assert_int_eq(schema_check(schema, &why), -1);
	ck_assert_msg(strstr(why.text, refs[_i].want) != NULL, "%s",
	    why.text);
	json_decref(schema);
}
END_TEST

/* Twelve references to two references each: 2^13 schemas for one value. */
START_TEST(test_work)
{
	json_t *schema = json_object(), *defs = json_object(), *value;
	struct why why;
	char name[32];
	int i;

	for (i = 0; i < 24; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		json_object_set_new(defs, name, i == 23 ? json_object() :
		    json_pack("{s:[{s:o},{s:o}]}", "allOf",
		    "$ref", json_sprintf("#/$defs/d%d", i + 1),
		    "$ref", json_sprintf("#/$defs/d%d", i + 1)));
	}
	json_object_set_new(schema, "$defs", defs);
	json_object_set_new(schema, "$ref", json_string("#/$defs/d0"));
	ck_assert_int_eq(schema_check(schema, &why), 0);
	value = json_null();
	ck_assert_int_eq(schema_validate(schema, value, "v", &why), -1);
	ck_assert_str_eq(why.text, "v: more work than 1000000 steps of "
	    "checking");
	json_decref(schema);
}
END_TEST

static const struct {
	const char	*schema, *before, *after;
} coerced[] = {
	{ "{\"properties\":{\"n\":{\"type\":\"integer\"}}}", "{\"n\":\"12\"}",
	    "{\"n\":12}" },
	{ "{\"properties\":{\"n\":{\"type\":\"integer\"}}}", "{\"n\":\"1.5\"}",
	    "{\"n\":\"1.5\"}" },
	{ "{\"properties\":{\"n\":{\"type\":\"integer\"}}}", "{\"n\":\"12 x\"}",
	    "{\"n\":\"12 x\"}" },
	{ "{\"properties\":{\"n\":{\"type\":[\"integer\",\"string\"]}}}",
	    "{\"n\":\"12\"}", "{\"n\":\"12\"}" },
	{ "{\"properties\":{\"n\":{}}}", "{\"n\":\"12\"}", "{\"n\":\"12\"}" },
	{ "{\"items\":{\"type\":\"boolean\"}}", "[\"true\",\"yes\",1]",
	    "[true,\"yes\",1]" },
	{ "{\"properties\":{\"n\":{\"type\":\"null\"}}}", "{\"n\":\"null\"}",
	    "{\"n\":null}" },
	{ "{\"properties\":{\"n\":{\"type\":\"object\"}}}", "{\"n\":\"{}\"}",
	    "{\"n\":\"{}\"}" },
	{ "{\"properties\":{\"n\":{\"type\":\"string\"}}}", "{\"n\":12}",
	    "{\"n\":12}" },
};

START_TEST(test_coerce)
{
	json_t *schema = parse(coerced[_i].schema);
	json_t *value = parse(coerced[_i].before);
	json_t *after = parse(coerced[_i].after);

	(void)schema_coerce(schema, value);
	ck_assert(json_equal(value, after));
	json_decref(schema);
	json_decref(value);
	json_decref(after);
}
END_TEST

/* A list of texts that are each nearly too much for the pattern. */
START_TEST(test_hard_patterns)
{
	json_t *schema = parse("{\"items\":{\"pattern\":\"^(a+)+$\"}}");
	json_t *value = json_array();
	struct why why;
	int i;

	for (i = 0; i < 1000; i++)
		json_array_append_new(value, json_string("aaaaaaaaaaaaaa"
		    "b"));
	ck_assert_int_eq(schema_check(schema, &why), 0);
	ck_assert_int_eq(schema_validate(schema, value, "v", &why), -1);
	json_decref(schema);
	schema = parse("{\"items\":{\"not\":{\"pattern\":\"^(a+)+$\"}}}");
	ck_assert_int_eq(schema_check(schema, &why), 0);
	ck_assert_int_eq(schema_validate(schema, value, "v", &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "more work than"));
	json_decref(schema);
	json_decref(value);
}
END_TEST

START_TEST(test_depth)
{
	json_t *schema = json_object(), *outer;
	struct why why;
	int i;

	for (i = 0; i < SCHEMA_DEPTH_MAX + 2; i++) {
		outer = json_object();
		json_object_set_new(outer, "items", schema);
		schema = outer;
	}
	ck_assert_int_eq(schema_check(schema, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "deeper than 16 schemas"));
	json_decref(schema);
}
END_TEST

START_TEST(test_long_sentence)
{
	json_t *schema, *value;
	struct why why;
	char name[4000];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	schema = parse("{\"additionalProperties\":false}");
	value = json_object();
	json_object_set_new(value, name, json_null());
	ck_assert_int_eq(schema_validate(schema, value, "v", &why), -1);
	ck_assert_uint_lt(strlen(why.text), 200);
	ck_assert_ptr_nonnull(strstr(why.text, "...\"]: no such property"));
	json_decref(value);

	/* A character at the cut is left whole or out. */
	memset(name, 'x', 63);
	memcpy(name + 63, "\303\244\303\244", 5);
	value = json_object();
	json_object_set_new(value, name, json_null());
	ck_assert_int_eq(schema_validate(schema, value, "v", &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "xxx...\"]"));
	json_decref(value);
	json_decref(schema);
}
END_TEST

START_TEST(test_why)
{
	struct why why;
	int i;

	why_set(&why, "a");
	for (i = 0; i < 600; i++)
		why_add(&why, "\303\244");
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 1);
	ck_assert_int_eq((unsigned char)why.text[sizeof(why.text) - 2], 0244);
	why_set(&why, "ab");
	for (i = 0; i < 600; i++)
		why_add(&why, "\303\244");
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 2);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("schema");
	TCase *tc = tcase_create("schema");

	tcase_add_loop_test(tc, test_values, 0,
	    sizeof(values) / sizeof(values[0]));
	tcase_add_loop_test(tc, test_schemas, 0,
	    sizeof(schemas) / sizeof(schemas[0]));
	tcase_add_loop_test(tc, test_refs, 0, sizeof(refs) / sizeof(refs[0]));
	tcase_add_loop_test(tc, test_coerce, 0,
	    sizeof(coerced) / sizeof(coerced[0]));
	tcase_add_test(tc, test_work);
	tcase_add_test(tc, test_hard_patterns);
	tcase_add_test(tc, test_depth);
	tcase_add_test(tc, test_long_sentence);
	tcase_add_test(tc, test_why);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
