/* Text in which nothing is hidden. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "visible.h"

static const struct {
	const char	*bytes;
	size_t		 size;		/* 0: up to the NUL */
	const char	*text;
} rows[] = {
	{ "", 0, "" },
	{ "rm -rf build\n", 0, "rm -rf build\n" },
	{ "na\303\257ve \344\275\240", 0, "na\303\257ve \344\275\240" },
	{ "a\0b", 3, "a<U+0000>b" },
	{ "\t\r\033[2J\177", 0, "<U+0009><U+000D><U+001B>[2J<U+007F>" },
	{ "\302\205", 0, "<U+0085>" },
	{ "a\342\200\256b", 0, "a<U+202E>b" },
	{ "a\342\201\246b\342\201\251", 0, "a<U+2066>b<U+2069>" },
	{ "a\342\200\213b\357\273\277", 0, "a<U+200B>b<U+FEFF>" },
	{ "a\302\240b", 0, "a<U+00A0>b" },
	{ "\363\240\201\201", 0, "<U+E0041>" },
	{ "\360\237\230\200", 0, "\360\237\230\200" },
	/* no UTF-8: overlong, surrogate, cut off, a lone byte, too large */
	{ "\300\257", 0, "<C0><AF>" },
	{ "\355\240\200", 0, "<ED><A0><80>" },
	{ "a\342\200", 0, "a<E2><80>" },
	{ "\237x", 0, "<9F>x" },
	{ "\364\220\200\200", 0, "<F4><90><80><80>" },
};

START_TEST(texts)
{
	size_t size = rows[_i].size, n;
	char *text;

	if (size == 0)
		size = strlen(rows[_i].bytes);
	text = visible_text(rows[_i].bytes, size, &n);
	ck_assert_str_eq(text, rows[_i].text);
	ck_assert_uint_eq(n, strlen(rows[_i].text));
	free(text);
}
END_TEST

/* All of Unicode, each as itself or by its number. */
START_TEST(every_character)
{
	static const uint32_t bidi[] = { 0x61c, 0x200e, 0x200f, 0x202a,
	    0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069 };
	static const uint32_t none[] = { 0xad, 0x200b, 0x200c, 0x200d,
	    0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0xfeff, 0x180e };
	uint32_t c;
	size_t i;

	for (c = 0; c < 0x20; c++)
		ck_assert_int_eq(visible_hides(c), c != '\n');
	for (c = 0x20; c < 0x7f; c++)
		ck_assert(!visible_hides(c));
	for (c = 0x7f; c < 0xa0; c++)
		ck_assert(visible_hides(c));
	for (i = 0; i < sizeof(bidi) / sizeof(bidi[0]); i++)
		ck_assert(visible_hides(bidi[i]));
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert(visible_hides(none[i]));
	ck_assert(!visible_hides(0xe9));
	ck_assert(!visible_hides(0x4f60));
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("visible");
	TCase *t = tcase_create("visible");

	tcase_add_loop_test(t, texts, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(t, every_character);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
