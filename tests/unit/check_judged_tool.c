/*
 * Tool declarations and their argv templates: strict, and safe by form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "template.h"
#include "tool.h"
#include "unit.h"

#define SCHEMA								\
	"{\"type\":\"object\",\"properties\":{"				\
	"\"path\":{\"type\":\"string\"},"				\
	"\"count\":{\"type\":\"integer\"},"				\
	"\"deep\":{\"type\":\"boolean\"},"				\
	"\"mode\":{\"type\":\"string\",\"enum\":[\"fast\",\"slow\"],"	\
	"\"default\":\"slow\"},"						\
	"\"wrong\":{\"type\":\"string\",\"default\":1},"			\
	"\"share\":{\"type\":\"number\",\"default\":0.5},"			\
	"\"names\":{\"type\":\"array\","				\
	"\"items\":{\"type\":\"string\"}}},"				\
	"\"required\":[\"path\",\"names\"],\"additionalProperties\":false}"

#define HEAD(name)							\
	"{\"name\":\"" name "\",\"title\":\"T\",\"description\":\"D\","	\
	"\"effect\":\"read\",\"marks\":[\"opaque\",\"self\"],\"asks\":true,"

static int
parse(struct tool *tool, const char *text, struct why *why)
{
	int line;

	why->text[0] = '\0';
	return (tool_parse(tool, "t", (const uint8_t *)text, strlen(text),
	    &line, why));
}

START_TEST(test_good)
{
	struct tools tools = { .n = 0 };
	struct tool tool;
	struct why why;

	ck_assert_msg(parse(&tool, HEAD("t") "\"timeout_ms\":5000,"
	    "\"input_schema\":" SCHEMA ",\"argv\":[\"/bin/x\",\"--\","
	    "{\"arg\":\"path\"}]}", &why) == 0, "%s", why.text);
	ck_assert_str_eq(tool.name, "t");
	ck_assert_uint_eq(tool.effect, EFFECT_READ);
	ck_assert_uint_eq(tool.marks, MARK_OPAQUE | MARK_SELF);
	ck_assert_int_eq(tool.asks, 1);
	ck_assert_uint_eq(tool.timeout_ms, 5000);
	ck_assert_int_eq(tools_add(&tools, &tool), 0);
	ck_assert_ptr_nonnull(tools_find(&tools, "t"));
	ck_assert_ptr_null(tools_find(&tools, "u"));
	tools_free(&tools);
}
END_TEST

START_TEST(test_digest)
{
	/* SHA-256 of these bytes, as sha256sum(1) says. */
	static const char text[] = "{\"name\":\"t\",\"title\":\"\","
	    "\"description\":\"\",\"effect\":\"read\",\"marks\":[],"
	    "\"asks\":false,\"input_schema\":{\"type\":\"object\","
	    "\"additionalProperties\":false},\"argv\":[\"/bin/true\"]}";
	char command[1024], want[65], got[65];
	struct tool tool;
	struct why why;
	FILE *pipe;
	int i;

	ck_assert_msg(parse(&tool, text, &why) == 0, "%s", why.text);
	snprintf(command, sizeof(command), "printf %%s '%s' | sha256sum",
	    text);
	ck_assert_ptr_nonnull(pipe = popen(command, "r"));
	ck_assert_int_eq(fscanf(pipe, "%64s", want), 1);
	pclose(pipe);
	for (i = 0; i < TOOL_SHA256; i++)
		snprintf(got + 2 * i, 3, "%02x", tool.sha256[i]);
	ck_assert_str_eq(got, want);
	tool_free(&tool);
}
END_TEST

struct bad {
	const char	*text;
	const char	*want;
};

#define REST	"\"input_schema\":" SCHEMA ",\"argv\":[\"/x\"]}"

static const struct bad bad[] = {
	{ "[]", "expected object, got array" },
	{ "{\"name\":\"t\",\"name\":\"t\"}", "a member is there twice" },
	{ "{", "declaration: the text ends too early" },
	{ HEAD("t") "\"extra\":1," REST, "no member \"extra\" is known" },
	{ HEAD("u") REST, "name: \"u\" in a file for \"t\"" },
	{ HEAD("T") REST, "name: a letter, then" },
	{ HEAD("../t") REST, "name: a letter, then" },
	{ HEAD("t") "\"input_schema\":{}}", "needs \"type\": \"object\"" },
	{ HEAD("t") "\"input_schema\":" SCHEMA "}", "\"argv\" is required" },
	{ HEAD("t") "\"input_schema\":" SCHEMA ",\"body\":\"rm\"}",
	    "body: neither neuron-tool nor egressd has such a body" },
	{ "{\"name\":\"t\",\"title\":\"T\",\"description\":\"D\","
	    "\"effect\":\"read\",\"marks\":[\"network-read\"],"
	    "\"asks\":false,\"input_schema\":" SCHEMA ","
	    "\"body\":\"request_egress\"}",
	    "asks: must be true with \"body\": \"request_egress\": who may "
	    "reach what is for people to say, or for a profile's \"egress\"" },
	{ HEAD("t") "\"input_schema\":" SCHEMA ",\"body\":\"fetch\"}",
	    "marks: must have \"network-read\" with \"body\": \"fetch\"" },
	{ HEAD("t") "\"body\":\"read\"," REST, "both \"argv\" and \"body\"" },
	{ HEAD("t") "\"output_schema\":{}," REST,
	    "output_schema: needs \"type\": \"object\"" },
	{ HEAD("t") "\"output_schema\":{\"type\":\"object\",\"x\":1}," REST,
	    "output_schema: keyword \"x\" is not supported" },
	{ HEAD("t") "\"exactly_one\":[[\"path\"]]," REST,
	    "exactly_one: not a list of lists" },
	{ HEAD("t") "\"at_most_one\":[[\"path\",\"none\"]]," REST,
	    "at_most_one: not a list of lists" },
	{ HEAD("t") "\"timeout_ms\":999," REST,
	    "timeout_ms: 999 is not between 1000 and 3600000" },
	{ HEAD("t") "\"input\":\"coerce\"," REST, "input: a declaration can "
	    "say \"strict\" alone" },
	{ HEAD("t") "\"env\":[]," REST, "env: expected object, got array" },
	{ HEAD("t") "\"env\":{\"A\":1}," REST,
	    "env: expected strings, got integer" },
	{ HEAD("t") "\"env\":{\"GITHUB_TOKEN\":\"x\"}," REST,
	    "env: \"GITHUB_TOKEN\" is named like a credential" },
	{ HEAD("t") "\"env\":{\"LD_PRELOAD\":\"x\"}," REST,
	    "env: \"LD_PRELOAD\" steers" },
	{ HEAD("t") "\"env\":{\"A\":\"ghp_0123456789abcdefghijABCDEFGHIJ01\""
	    "}," REST, "env: \"A\" has a value of the shape of a key" },
	{ HEAD("t") "\"timeout_ms\":\"1\"," REST,
	    "timeout_ms: expected integer, got string" },
	{ "{\"name\":\"t\"}", "\"title\" is required" },
	{ "{\"name\":\"t\",\"title\":\"T\",\"description\":\"D\","
	    "\"effect\":\"none\"}", "effect: none of" },
	{ "{\"name\":\"t\",\"title\":\"T\",\"description\":\"D\","
	    "\"effect\":\"read\",\"marks\":[\"x\"]}",
	    "marks: \"x\" is no mark" },
};

/* The line of the member that is wrong. */
START_TEST(test_line)
{
	static const char text[] = "{\n \"name\": \"t\",\n \"title\": \"effect\","
	    "\n \"description\": \"D\",\n \"effect\": \"none\"\n}";
	static const char extra[] = "{\n \"name\": \"t\",\n\n \"extra\": 1\n}";
	struct tool tool;
	struct why why;
	int line;

	ck_assert_int_eq(tool_parse(&tool, "t", (const uint8_t *)text,
	    strlen(text), &line, &why), -1);
	ck_assert_int_eq(line, 5);
	ck_assert_int_eq(tool_parse(&tool, "t", (const uint8_t *)extra,
	    strlen(extra), &line, &why), -1);
	ck_assert_int_eq(line, 4);
}
END_TEST

START_TEST(test_bad)
{
	struct tool tool;
	struct why why;

	ck_assert_int_eq(parse(&tool, bad[_i].text, &why), -1);
	ck_assert_msg(strstr(why.text, bad[_i].want) != NULL, "%s", why.text);
}
END_TEST

static const struct bad templates[] = {
	{ "{}", "not a list" },
	{ "[]", "not a list" },
	{ "[1]", "expected string or object, got integer" },
	{ "[\"x\"]", "\"x\" is not an absolute path" },
	{ "[{\"arg\":\"path\"}]", "begins with the path of a program" },
	{ "[{\"args\":\"names\"},\"x\"]", "begins with the path" },
	{ "[\"/x\",{\"arg\":\"path\"}]", "could be read as an option" },
	{ "[\"/x\",\"y\",{\"arg\":\"path\"}]", "could be read as an option" },
	{ "[\"/x\",\"-e\",{\"args\":\"names\"}]",
	    "could be read as an option" },
	{ "[\"/x\",\"-e\",{\"arg\":\"path\"},{\"arg\":\"path\"}]",
	    "could be read as an option" },
	{ "[\"/x\",\"--\",{\"arg\":\"count\"},\"y\"]", "it needs a flag" },
	{ "[\"/x\",\"-n\",{\"arg\":\"count\"}]", "it needs a flag" },
	{ "[\"/x\",{\"arg\":\"path\",\"prefix\":\"p=\"}]",
	    "could be read as an option" },
	{ "[\"/x\",{\"arg\":\"path\",\"prefix\":\"--p=\",\"flag\":\"-p\"}]",
	    "both \"flag\" and \"prefix\"" },
	{ "[\"/x\",{\"arg\":\"path\",\"values\":{\"a\":\"b\"}}]",
	    "a string with an \"enum\"; \"path\" is not that" },
	{ "[\"/x\",{\"arg\":\"mode\",\"values\":{\"fast\":\"-f\"}}]",
	    "has not all of its \"enum\"" },
	{ "[\"/x\",{\"arg\":\"mode\",\"values\":{\"fast\":1}}]",
	    "expected strings or null, got integer" },
	{ "[\"/x\",\"--\",{\"arg\":\"wrong\"}]", "the default does not fit" },
	{ "[\"/x\",\"--\",{\"arg\":\"none\"}]", "has no property \"none\"" },
	{ "[\"/x\",\"--\",{\"arg\":\"names\"}]", "\"names\" is not that" },
	{ "[\"/x\",\"--\",{\"args\":\"path\"}]", "\"path\" is not that" },
	{ "[\"/x\",{\"arg\":\"count\",\"flag\":\"n\"}]",
	    "could be read as an option" },
	{ "[\"/x\",\"--\",{\"arg\":\"path\",\"shell\":true}]",
	    "\"shell\": expected string, got boolean" },
	{ "[\"/x\",\"--\",{\"arg\":\"path\",\"shell\":\"x\"}]",
	    "no member \"shell\" is known" },
	{ "[\"/x\",\"--\",{\"limit\":\"argument\"}]",
	    "without \"arg\" or \"args\"" },
	{ "[\"/x\",\"--\",{\"arg\":\"path\",\"limit\":\"pids\"}]",
	    "\"pids\" is no limit in bytes" },
	{ "[\"/x\",\"--\",{\"arg\":\"path\",\"args\":\"names\"}]",
	    "both \"arg\" and \"args\"" },
};

START_TEST(test_templates)
{
	json_t *schema = json_loads(SCHEMA, 0, NULL), *argv;
	struct why why;

	argv = json_loads(templates[_i].text, 0, NULL);
	ck_assert_int_eq(template_check(argv, schema, &why), -1);
	ck_assert_msg(strstr(why.text, templates[_i].want) != NULL, "%s",
	    why.text);
	json_decref(argv);
	json_decref(schema);
}
END_TEST

static const char plain[] = "[\"/x\",\"-e\",{\"arg\":\"path\"},"
    "{\"arg\":\"count\",\"flag\":\"-n\"},"
    "{\"arg\":\"deep\",\"flag\":\"--deep\"},"
    "\"--\",{\"args\":\"names\"}]";
static const char rich[] = "[\"/x\",{\"args\":\"names\",\"flag\":\"-e\"},"
    "{\"args\":\"names\",\"prefix\":\"--name=\"},"
    "{\"arg\":\"mode\",\"values\":{\"fast\":\"--fast\",\"slow\":null}},"
    "{\"arg\":\"share\",\"prefix\":\"--share=\"},"
    "\"--\",{\"arg\":\"path\"},{\"arg\":\"count\"}]";

static void
build(const char *text, const char *args_text, const char *want)
{
	json_t *schema = json_loads(SCHEMA, 0, NULL);
	json_t *template = json_loads(text, 0, NULL);
	json_t *args = json_loads(args_text, 0, NULL);
	struct limits limits;
	struct argv argv;
	struct why why;
	char got[256] = "";
	uint32_t i;

	limits_init(&limits);
	ck_assert_msg(template_check(template, schema, &why) == 0, "%s",
	    why.text);
	ck_assert_int_eq(template_build(template, schema, args, &limits,
	    &argv, &why), 0);
	for (i = 0; i < argv.n; i++) {
		strcat(got, argv.v[i]);
		strcat(got, "|");
	}
	ck_assert_str_eq(got, want);
	ck_assert_ptr_null(argv.v[argv.n]);
	argv_free(&argv);
	json_decref(schema);
	json_decref(template);
	json_decref(args);
}

START_TEST(test_build)
{
	build(plain, "{\"path\":\"-x\",\"names\":[]}", "/x|-e|-x|--|");
	build(plain, "{\"path\":\"p\",\"count\":-3,\"deep\":true,"
	    "\"names\":[\"-a\",\"\"]}", "/x|-e|p|-n|-3|--deep|--|-a||");
	build(plain, "{\"path\":\"p\",\"deep\":false,\"names\":[\"a\"]}",
	    "/x|-e|p|--|a|");
	build(rich, "{\"path\":\"-p\",\"names\":[\"-a\",\"b\"]}",
	    "/x|-e|-a|-e|b|--name=-a|--name=b|--share=0.5|--|-p|");
	build(rich, "{\"path\":\"p\",\"names\":[],\"mode\":\"fast\","
	    "\"share\":2.0,\"count\":3.0}",
	    "/x|--fast|--share=2|--|p|3|");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("tool");
	TCase *tc = tcase_create("tool");

	tcase_add_test(tc, test_good);
	tcase_add_test(tc, test_digest);
	tcase_add_test(tc, test_line);
	tcase_add_loop_test(tc, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(tc, test_templates, 0,
	    sizeof(templates) / sizeof(templates[0]));
	tcase_add_test(tc, test_build);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
