/*
 * Guarantee C1: names and values of the environment.
 */
#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "unit.h"

struct sample {
	const char		*name;
	const char		*value;
	enum env_verdict	 want;
};

static const struct sample samples[] = {
	{ "LANG", "C.UTF-8", ENV_OK },
	{ "LC_ALL", "C", ENV_OK },
	{ "TZ", "Europe/Berlin", ENV_OK },
	{ "TERM", "xterm", ENV_OK },
	{ "CI", "1", ENV_OK },
	{ "PYTHONPATH", "src", ENV_OK },
	{ "GIT_AUTHOR_NAME", "A", ENV_OK },
	{ "TOKENIZERS_PARALLELISM", "false", ENV_OK },
	{ "MAX_TOKENS", "5", ENV_OK },
	{ "KEYBOARD", "de", ENV_OK },
	{ "SORT_KEY", "name", ENV_OK },
	{ "COMPASS", "n", ENV_OK },
	{ "PROXY", "http://host:3128", ENV_OK },
	{ "EMPTY", "", ENV_OK },
	{ "_x9", "1", ENV_OK },
	{ "", "x", ENV_BAD_NAME },
	{ "9A", "x", ENV_BAD_NAME },
	{ "A-B", "x", ENV_BAD_NAME },
	{ "A B", "x", ENV_BAD_NAME },
	{ "A=B", "x", ENV_BAD_NAME },
	{ "\303\204", "x", ENV_BAD_NAME },
	{ "BASH_FUNC_ls%%", "() { :; }", ENV_BAD_NAME },
	{ "HOME", "/", ENV_RESERVED },
	{ "PATH", "/x", ENV_RESERVED },
	{ "USER", "root", ENV_RESERVED },
	{ "SHELL", "/x", ENV_RESERVED },
	{ "MYELIN_CALL", "c", ENV_RESERVED },
	{ "MYELIN_MCP_SERVERS", "{}", ENV_RESERVED },
	{ "LD_PRELOAD", "/x.so", ENV_LOADER },
	{ "ld_preload", "/x.so", ENV_LOADER },
	{ "LD_LIBRARY_PATH", "/x", ENV_LOADER },
	{ "GLIBC_TUNABLES", "x", ENV_LOADER },
	{ "BASH_ENV", "/x", ENV_LOADER },
	{ "ENV", "/x", ENV_LOADER },
	{ "NODE_OPTIONS", "--require x", ENV_LOADER },
	{ "OPENAI_API_KEY", "x", ENV_CREDENTIAL },
	{ "openai_api_key", "x", ENV_CREDENTIAL },
	{ "GITHUB_TOKEN", "x", ENV_CREDENTIAL },
	{ "TOKEN", "x", ENV_CREDENTIAL },
	{ "GITHUB_TOKEN_2", "x", ENV_CREDENTIAL },
	{ "CLIENT_SECRET", "x", ENV_CREDENTIAL },
	{ "SECRET_KEY_BASE", "x", ENV_CREDENTIAL },
	{ "DB_PASSWORD", "x", ENV_CREDENTIAL },
	{ "MYSQL_PWD", "x", ENV_CREDENTIAL },
	{ "PGPASSWORD", "x", ENV_CREDENTIAL },
	{ "AWS_REGION", "x", ENV_CREDENTIAL },
	{ "AWS_SECRET_ACCESS_KEY", "x", ENV_CREDENTIAL },
	{ "SSH_AUTH_SOCK", "/x", ENV_CREDENTIAL },
	{ "STRIPE_PRIVATE_KEY", "x", ENV_CREDENTIAL },
	{ "DATABASE_URL", "x", ENV_CREDENTIAL },
	{ "KUBECONFIG", "/x", ENV_CREDENTIAL },
	{ "FOO", "ghp_0123456789abcdefghijABCDEFGHIJ012345", ENV_KEY_VALUE },
	{ "FOO", "x sk-ant-api03-abcdefghijklmnopqrstuv y", ENV_KEY_VALUE },
	{ "FOO", "AKIAIOSFODNN7EXAMPLE", ENV_KEY_VALUE },
	{ "HTTP_PROXY", "http://me:pw@host:3128", ENV_KEY_VALUE },
};

START_TEST(test_samples)
{
	const struct sample *s = &samples[_i];

	ck_assert_msg(env_check(s->name, strlen(s->name), s->value) ==
	    s->want, "%s=%s: %s", s->name, s->value,
	    env_verdict_words(env_check(s->name, strlen(s->name), s->value)));
}
END_TEST

START_TEST(test_bounds)
{
	char name[130], *value;

	memset(name, 'A', sizeof(name));
	ck_assert_int_eq(env_check(name, 128, "x"), ENV_OK);
	ck_assert_int_eq(env_check(name, 129, "x"), ENV_BAD_NAME);
	/* The name need not end where nlen says. */
	ck_assert_int_eq(env_check("LANGxxLD_", 4, "x"), ENV_OK);
	value = malloc(32 * 1024 + 2);
	memset(value, 'a', 32 * 1024 + 1);
	value[32 * 1024 + 1] = '\0';
	ck_assert_int_eq(env_check("A", 1, value), ENV_TOO_LONG);
	ck_assert_int_eq(env_check("A", 1, value + 1), ENV_OK);
	free(value);
}
END_TEST

START_TEST(test_words)
{
	ck_assert_str_eq(env_verdict_words(ENV_CREDENTIAL),
	    "is named like a credential");
	ck_assert_ptr_nonnull(env_verdict_words(ENV_TOO_LONG));
	ck_assert_ptr_nonnull(env_verdict_words(99));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("env");
	TCase *tc = tcase_create("env");

	tcase_add_loop_test(tc, test_samples, 0,
	    sizeof(samples) / sizeof(samples[0]));
	tcase_add_test(tc, test_bounds);
	tcase_add_test(tc, test_words);
	suite_add_tcase(suite, tc);
	return (unit_main(suite));
}
