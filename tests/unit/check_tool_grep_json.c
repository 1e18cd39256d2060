/* grep: how its decoder takes ripgrep's output apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grep_json.h"
#include "unit.h"

struct told {
	char		 text[512];
	size_t		 len;
};

static int
tell(void *arg, const struct rg_event *e)
{
	static const char *const kinds[] = { "begin", "match", "context",
	    "end" };
	struct told *t = arg;

	t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len,
	    "%s %.*s|%zu|%.*s|%d %d %zu %d\n", kinds[e->kind],
	    (int)e->pathlen, e->path, e->textlen,
	    e->textlen > 9 ? 9 : (int)e->textlen,
	    e->text == NULL ? "" : e->text, (int)e->line, e->cut, e->start,
	    (int)e->binary);
	return (0);
}

#define PATH_A	"{\"path\":{\"text\":\"./a\"}"

static const struct {
	const char	*json, *told;
	int		 error;
} printed[] = {
	{ "{\"type\":\"begin\",\"data\":" PATH_A "}}\n",
	    "begin ./a|0||-1 0 0 -1\n", 0 },
	{ "{\"type\":\"match\",\"data\":" PATH_A ",\"lines\":{\"text\":"
	    "\"\\\"\\\\\\u001b\\u00e9\\n\"},\"line_number\":12,"
	    "\"absolute_offset\":7,\"submatches\":[{\"match\":{\"text\":\"x\"}"
	    ",\"start\":3,\"end\":4}]}}\n",
	    "match ./a|6|\"\\\x1b\xc3\xa9\n|12 0 3 -1\n", 0 },
	{ "{\"type\":\"context\",\"data\":" PATH_A ",\"lines\":{\"bytes\":"
	    "\"Zm9v/wo=\"},\"line_number\":1,\"absolute_offset\":0,"
	    "\"submatches\":[]}}\n", "context ./a|5|foo\xff\n|1 0 0 -1\n", 0 },
	{ "{\"type\":\"end\",\"data\":" PATH_A ",\"binary_offset\":null,"
	    "\"stats\":{}}}\n", "end ./a|0||-1 0 0 -1\n", 0 },
	{ "{\"type\":\"end\",\"data\":" PATH_A ",\"binary_offset\":42,\n",
	    "end ./a|0||-1 0 0 42\n", 0 },
	{ "{\"data\":{\"elapsed_total\":{}}}\n", "", 0 },
	{ "\n", "", -1 },
	{ "{}\n", "", -1 },
	{ "{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"a}}\n", "", -1 },
	{ "{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"\\x\"}}}\n", "",
	    -1 },
	{ "{\"type\":\"begin\",\"data\":{\"path\":{\"text\":\"\\ud800\"}}}\n",
	    "", -1 },
	{ "{\"type\":\"begin\",\"data\":{\"path\":{\"bytes\":\"*\"}}}\n", "",
	    -1 },
	{ "{\"type\":\"match\",\"data\":" PATH_A ",\"lines\":null\n", "", -1 },
	{ "{\"type\":\"match\",\"data\":" PATH_A ",\"lines\":{\"text\":\"\"}"
	    ",\"line_number\":x\n", "", -1 },
};

START_TEST(decodes)
{
	struct told t = { .len = 0 };
	struct rg_reader r = { .event = tell, .arg = &t };
	const char *json = printed[_i].json;
	size_t i;
	int error;

	r.head = malloc(RG_HEAD_MAX);
	r.room = RG_HEAD_MAX;
	ck_assert_int_eq(rg_feed(&r, json, strlen(json)), printed[_i].error);
	ck_assert_str_eq(t.text, printed[_i].told);
	/* and byte by byte */
	memset(&t, 0, sizeof(t));
	r.state = RG_HEAD;
	r.n = 0;
	for (i = 0, error = 0; error == 0 && json[i] != '\0'; i++)
		error = rg_feed(&r, json + i, 1);
	ck_assert_int_eq(error, printed[_i].error);
	ck_assert_str_eq(t.text, printed[_i].told);
	free(r.head);
}
END_TEST

/* The head ends wherever in what stands behind, or in an escape. */
START_TEST(decodes_long_ones)
{
	static const char begin[] = "{\"type\":\"match\",\"data\":" PATH_A
	    ",\"lines\":{\"text\":\"";
	static const char end[] = "\\\\\\\"\\u001b\"},\"line_number\":77,"
	    "\"absolute_offset\":7,\"submatches\":[{\"match\":{\"text\":\"x\"}"
	    ",\"start\":3,\"end\":4}]}}\n{\"type\":\"begin\",\"data\":" PATH_A
	    "}}\n";
	char *text = malloc(RG_HEAD_MAX + 1024);
	struct rg_reader r = { .event = tell };
	struct told t;
	size_t len, room;
	int shift;

	r.head = malloc(RG_HEAD_MAX);
	r.room = RG_HEAD_MAX;
	for (shift = -200; shift < 40; shift++) {
		memset(&t, 0, sizeof(t));
		r.arg = &t;
		r.state = RG_HEAD;
		r.n = 0;
		len = sizeof(begin) - 1;
		memcpy(text, begin, len);
		room = (size_t)((int)RG_HEAD_MAX - (int)len + shift);
		memset(text + len, 'x', room);
		strcpy(text + len + room, end);
		len += room + sizeof(end) - 1;
		ck_assert_int_eq(rg_feed(&r, text, len), 0);
		ck_assert_msg(strstr(t.text, "xxxxxxxxx|") != NULL &&
		    strstr(t.text, "begin ./a|0||-1 0 0 -1\n") != NULL, "%s",
		    t.text);
		/* the number is told, unless it was cut */
		ck_assert_msg(strstr(t.text, "|77 ") != NULL ||
		    strstr(t.text, "|-1 0 0 -1\nbegin") != NULL, "%d: %s",
		    shift, t.text);
		ck_assert_ptr_null(strstr(t.text, "|7 "));
	}
	free(r.head);
	free(text);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("grep_json");
	TCase *tc = tcase_create("json");

	tcase_add_loop_test(tc, decodes, 0,
	    (int)(sizeof(printed) / sizeof(printed[0])));
	tcase_add_test(tc, decodes_long_ones);
	suite_add_tcase(s, tc);
	return (unit_main(s));
}
