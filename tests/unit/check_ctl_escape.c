/*
 * The escape of "myelinctl shell".
 */
#include <string.h>

#include "escape.h"
#include "unit.h"

static const struct {
	const char	*typed;
	const char	*goes_on;
	int		 left;
	int		 help;
} rows[] = {
	{ "ls\r",		"ls\r",		0, 0 },
	{ "~.",			"",		1, 0 },
	{ "\r~.",		"\r",		1, 0 },
	{ "\n~.rest",		"\n",		1, 0 },
	{ "a~.",		"a~.",		0, 0 },
	{ "~~",			"~",		0, 0 },
	{ "~~.",		"~.",		0, 0 },
	{ "~~\r~.",		"~\r",		1, 0 },
	{ "~?",			"",		0, 1 },
	{ "~?~.",		"",		1, 1 },
	{ "~x.",		"~x.",		0, 0 },
	{ "~\r~.",		"~\r",		1, 0 },
	{ "cd ~\r~/bin\r",	"cd ~\r~/bin\r", 0, 0 },
	{ "~",			"",		0, 0 },
};

/* Whatever the pieces are: a key comes alone, what is pasted comes at once. */
START_TEST(in_pieces)
{
	const char *typed = rows[_i].typed;
	size_t len = strlen(typed), piece, at, n, have;
	char out[64];

	for (piece = 1; piece <= len; piece++) {
		struct escape e = { .state = ESCAPE_LINE };

		for (at = have = 0; at < len; at += n) {
			n = len - at < piece ? len - at : piece;
			have += escape_filter(&e, typed + at, n, out + have);
		}
		out[have] = '\0';
		ck_assert_str_eq(out, rows[_i].goes_on);
		ck_assert_int_eq(e.left, rows[_i].left);
		ck_assert_int_eq(e.help, rows[_i].help);
	}
}
END_TEST

/* The room that the header asks for is enough, and no byte more is used. */
START_TEST(room)
{
	struct escape e = { .state = ESCAPE_LINE };
	char out[8];

	memset(out, 'X', sizeof(out));
	ck_assert_uint_eq(escape_filter(&e, "~", 1, out), 0);
	ck_assert_uint_eq(escape_filter(&e, "abc", 3, out), 4);
	ck_assert_int_eq(memcmp(out, "~abcXXXX", 8), 0);
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("ctl_escape");
	TCase *t = tcase_create("escape");

	tcase_add_loop_test(t, in_pieces, 0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(t, room);
	suite_add_tcase(s, t);
	return (unit_main(s));
}
