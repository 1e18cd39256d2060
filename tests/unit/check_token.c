/* Tokens: what one looks like, and that half a one is none. */

#include <stdio.h>
#include <string.h>

#include "secret.h"
#include "token.h"
#include "unit.h"

START_TEST(made_and_whole)
{
	char token[TOKEN_SIZE], other[TOKEN_SIZE];
	int i;

	ck_assert_int_eq(token_make(other), 0);
	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(token_make(token), 0);
		ck_assert_uint_eq(strlen(token), TOKEN_LENGTH);
		ck_assert_uint_eq(TOKEN_LENGTH, 56);
		ck_assert_int_eq(strncmp(token, TOKEN_PREFIX, 7), 0);
		ck_assert_int_eq(token_whole(token, TOKEN_LENGTH), 1);
		ck_assert_str_ne(token, other);
		memcpy(other, token, sizeof(other));
	}
}
END_TEST

/* Each letter changed, each length, letters that are none. */
START_TEST(one_that_is_not_whole)
{
	char token[TOKEN_SIZE + 8] = "", wrong[TOKEN_SIZE + 8];
	size_t i;

	ck_assert_int_eq(token_make(token), 0);
	for (i = 0; i < TOKEN_LENGTH; i++) {
		memcpy(wrong, token, sizeof(wrong));
		wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
		ck_assert_msg(!token_whole(wrong, TOKEN_LENGTH), "%zu", i);
		wrong[i] = '\0';
		ck_assert_msg(!token_whole(wrong, TOKEN_LENGTH), "%zu", i);
		wrong[i] = (char)0xe9;
		ck_assert_msg(!token_whole(wrong, TOKEN_LENGTH), "%zu", i);
		ck_assert_msg(!token_whole(token, i), "%zu", i);
	}
	ck_assert(!token_whole(token, TOKEN_LENGTH + 1));
	/* two of the random ones changed places */
	memcpy(wrong, token, sizeof(wrong));
	for (i = 8; wrong[i] == wrong[i + 1]; i++)
		;
	wrong[i] = token[i + 1];
	wrong[i + 1] = token[i];
	ck_assert(!token_whole(wrong, TOKEN_LENGTH));
}
END_TEST

/* Made elsewhere by the same rule: letters, prefix and checksum stay. */
START_TEST(known)
{
	static const char *const tokens[] = {
		"myelin_0000000000000000000000000000000000000000000" "wI1FU0",
		"myelin_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz" "LbeLE2",
	};
	size_t i;

	for (i = 0; i < 2; i++)
		ck_assert_msg(token_whole(tokens[i], strlen(tokens[i])), "%s",
		    tokens[i]);
}
END_TEST

/* Guarantee C2: redaction knows one, and most of one. */
START_TEST(a_secret)
{
	char token[TOKEN_SIZE];

	ck_assert_int_eq(token_make(token), 0);
	ck_assert_uint_eq(secret_key_length(token, TOKEN_LENGTH),
	    TOKEN_LENGTH);
	ck_assert_uint_eq(secret_key_length(token, 40), 40);
	ck_assert_uint_eq(secret_key_length("myelin_without_1234", 19), 0);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("token");
	TCase *t = tcase_create("token");

	tcase_add_test(t, made_and_whole);
	tcase_add_test(t, one_that_is_not_whole);
	tcase_add_test(t, known);
	tcase_add_test(t, a_secret);
	suite_add_tcase(s, t);
	return (s);
}

int
main(void)
{
	return (unit_main(suite()));
}
