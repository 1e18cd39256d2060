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
	{ "LANG", "de_DE.UTF-8@euro", ENV_OK },
	{ "LANGUAGE", "de:en", ENV_OK },
	{ "LANG", "", ENV_OK },
	{ "LANG", "../../etc", ENV_BAD_VALUE },
	{ "LANG", "a b", ENV_BAD_VALUE },
	{ "LC_ALL", "/tmp/x", ENV_BAD_VALUE },
	{ "LC_SECRET", "C", ENV_BAD_VALUE },
	{ "lc_all", "C", ENV_BAD_VALUE },
	{ "LC_", "C", ENV_BAD_VALUE },
	{ "TZ", "UTC", ENV_OK },
	{ "TZ", "<+03>-3", ENV_OK },
	{ "TZ", "EST5EDT,M3.2.0,M11.1.0/3:30", ENV_OK },
	{ "TZ", ":/etc/shadow", ENV_BAD_VALUE },
	{ "TZ", "/etc/shadow", ENV_BAD_VALUE },
	{ "TZ", "../../etc/shadow", ENV_BAD_VALUE },
	{ "TERM", "screen.xterm-256color", ENV_OK },
	{ "TERM", "x/../y", ENV_BAD_VALUE },
	{ "TERM", "0123456789012345678901234567890123456789012345678901234567"
	    "8901234", ENV_BAD_VALUE },
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
	{ "LUA_INIT", "x", ENV_LOADER },
	{ "LUA_INIT_5_4", "x", ENV_LOADER },
	{ "PYTHONBREAKPOINT", "x", ENV_LOADER },
	{ "DOTNET_STARTUP_HOOKS", "x", ENV_LOADER },
	{ "CORECLR_PROFILER", "x", ENV_LOADER },
	{ "OPENSSL_CONF", "x", ENV_LOADER },
	{ "TERMINFO", "x", ENV_LOADER },
	{ "TERMINFO_DIRS", "x", ENV_LOADER },
	{ "LESSOPEN", "x", ENV_LOADER },
	{ "RIPGREP_CONFIG_PATH", "x", ENV_LOADER },
	{ "TAR_OPTIONS", "x", ENV_LOADER },
	{ "GREP_OPTIONS", "x", ENV_LOADER },
	{ "GIT_EXTERNAL_DIFF", "x", ENV_LOADER },
	{ "GIT_SSH", "x", ENV_LOADER },
	{ "GIT_SSH_COMMAND", "x", ENV_LOADER },
	{ "GIT_ASKPASS", "x", ENV_LOADER },
	{ "SUDO_ASKPASS", "x", ENV_LOADER },
	{ "GCONV_PATH", "x", ENV_LOADER },
	{ "NLSPATH", "x", ENV_LOADER },
	{ "BASH_LOADABLES_PATH", "x", ENV_LOADER },
	{ "SHELLOPTS", "x", ENV_LOADER },
	{ "PS4", "x", ENV_LOADER },
	{ "PROMPT_COMMAND", "x", ENV_LOADER },
	{ "PYTHONSTARTUP", "x", ENV_LOADER },
	{ "PYTHONHOME", "x", ENV_LOADER },
	{ "PERL5OPT", "x", ENV_LOADER },
	{ "RUBYOPT", "x", ENV_LOADER },
	{ "_JAVA_OPTIONS", "x", ENV_LOADER },
	{ "MALLOC_TRACE", "x", ENV_LOADER },
	{ "IFS", "x", ENV_LOADER },
	{ "ZDOTDIR", "x", ENV_LOADER },
	{ "AZURE_CLIENT_ID", "x", ENV_CREDENTIAL },
	{ "VAULT_ADDR", "x", ENV_CREDENTIAL },
	{ "GPG_AGENT_INFO", "x", ENV_CREDENTIAL },
	{ "OP_SESSION_me", "x", ENV_CREDENTIAL },
	{ "CLOUDSDK_CONFIG", "x", ENV_CREDENTIAL },
	{ "SOPS_AGE_KEY", "x", ENV_CREDENTIAL },
	{ "KUBECONFIG_DATA", "x", ENV_CREDENTIAL },
	{ "APP_DATABASE_URL", "x", ENV_CREDENTIAL },
	{ "DATABASE_URI", "x", ENV_CREDENTIAL },
	{ "REDIS_URL", "x", ENV_CREDENTIAL },
	{ "MONGODB_URI", "x", ENV_CREDENTIAL },
	{ "CELERY_BROKER_URL", "x", ENV_CREDENTIAL },
	{ "SPRING_JDBC_URL", "x", ENV_CREDENTIAL },
	{ "SLACK_WEBHOOK_URL", "x", ENV_CREDENTIAL },
	{ "SLACK_WEBHOOK", "x", ENV_CREDENTIAL },
	{ "MCP_SERVERS", "x", ENV_CREDENTIAL },
	{ "CLAUDE_MCP_SERVERS", "x", ENV_CREDENTIAL },
	{ "mcp_servers", "x", ENV_CREDENTIAL },
	{ "APP_MCP_CONFIG", "x", ENV_CREDENTIAL },
	{ "OTEL_EXPORTER_OTLP_HEADERS", "x", ENV_CREDENTIAL },
	{ "ANTHROPIC_CUSTOM_HEADERS", "x", ENV_CREDENTIAL },
	{ "SESSION_COOKIES", "x", ENV_CREDENTIAL },
	{ "USER_JWT", "x", ENV_CREDENTIAL },
	{ "JWT", "x", ENV_CREDENTIAL },
	{ "HMAC_KEY", "x", ENV_CREDENTIAL },
	{ "B2_APPLICATION_KEY", "x", ENV_CREDENTIAL },
	{ "OPENAI_KEY", "x", ENV_CREDENTIAL },
	{ "ANTHROPIC_KEY", "x", ENV_CREDENTIAL },
	{ "BORG_PASSCOMMAND", "x", ENV_CREDENTIAL },
	{ "BORG_PASSPHRASE", "x", ENV_CREDENTIAL },
	{ "BW_SESSION", "x", ENV_CREDENTIAL },
	{ "GNUPGHOME", "x", ENV_CREDENTIAL },
	{ "PGPASSFILE", "x", ENV_CREDENTIAL },
	{ "DOCKER_CONFIG", "x", ENV_CREDENTIAL },
	{ "DOCKER_AUTH_CONFIG", "x", ENV_CREDENTIAL },
	{ "SENTRY_DSN", "x", ENV_CREDENTIAL },
	{ "AZURE_STORAGE_CONNECTION_STRING", "x", ENV_CREDENTIAL },
	{ "ANTHROPIC_API_KEY", "x", ENV_CREDENTIAL },
	{ "XAI_API_KEY", "x", ENV_CREDENTIAL },
	{ "GEMINI_API_KEY", "x", ENV_CREDENTIAL },
	{ "GOOGLE_APPLICATION_CREDENTIALS", "x", ENV_CREDENTIAL },
	{ "GH_TOKEN", "x", ENV_CREDENTIAL },
	{ "GITLAB_TOKEN", "x", ENV_CREDENTIAL },
	{ "CI_JOB_TOKEN", "x", ENV_CREDENTIAL },
	{ "NPM_TOKEN", "x", ENV_CREDENTIAL },
	{ "NODE_AUTH_TOKEN", "x", ENV_CREDENTIAL },
	{ "PYPI_TOKEN", "x", ENV_CREDENTIAL },
	{ "TWINE_PASSWORD", "x", ENV_CREDENTIAL },
	{ "CARGO_REGISTRY_TOKEN", "x", ENV_CREDENTIAL },
	{ "HF_TOKEN", "x", ENV_CREDENTIAL },
	{ "SLACK_BOT_TOKEN", "x", ENV_CREDENTIAL },
	{ "STRIPE_SECRET_KEY", "x", ENV_CREDENTIAL },
	{ "DISCORD_TOKEN", "x", ENV_CREDENTIAL },
	{ "TELEGRAM_BOT_TOKEN", "x", ENV_CREDENTIAL },
	{ "RAILS_MASTER_KEY", "x", ENV_CREDENTIAL },
	{ "ENCRYPTION_KEY", "x", ENV_CREDENTIAL },
	{ "SIGNING_KEY", "x", ENV_CREDENTIAL },
	{ "SMTP_PASS", "x", ENV_CREDENTIAL },
	{ "REDIS_PASSWORD", "x", ENV_CREDENTIAL },
	{ "HTTP_AUTHORIZATION", "x", ENV_CREDENTIAL },
	{ "COMPOSER_AUTH", "x", ENV_CREDENTIAL },
	{ "AUTH_TOKEN", "x", ENV_CREDENTIAL },
	{ "ACCESS_TOKEN", "x", ENV_CREDENTIAL },
	{ "REFRESH_TOKEN", "x", ENV_CREDENTIAL },
	{ "CLIENT_SECRET", "x", ENV_CREDENTIAL },
	{ "apiKey", "x", ENV_CREDENTIAL },
	{ "clientSecret", "x", ENV_CREDENTIAL },
	{ "KRB5CCNAME", "x", ENV_CREDENTIAL },
	{ "NETRC", "x", ENV_CREDENTIAL },
	{ "XAUTHORITY", "x", ENV_CREDENTIAL },
	{ "DBUS_SESSION_BUS_ADDRESS", "x", ENV_CREDENTIAL },
	{ "SSH_AGENT_PID", "x", ENV_CREDENTIAL },
	{ "SSH_CONNECTION", "x", ENV_CREDENTIAL },
	{ "MYELIN_NEURON", "x", ENV_RESERVED },
	{ "MYELIN_SESSION", "x", ENV_RESERVED },
	{ "MYELIN_API_KEY", "x", ENV_RESERVED },
	{ "MYELIN_", "x", ENV_RESERVED },
	{ "myelin_mcp_servers", "x", ENV_RESERVED },
	{ "LOGNAME", "x", ENV_RESERVED },
	{ "PWD", "x", ENV_RESERVED },
	{ "OLDPWD", "x", ENV_RESERVED },
	{ "GIT_EDITOR", "x", ENV_OK },
	{ "GIT_CONFIG_COUNT", "x", ENV_OK },
	{ "GIT_PAGER", "x", ENV_OK },
	{ "PAGER", "x", ENV_OK },
	{ "EDITOR", "x", ENV_OK },
	{ "NO_COLOR", "x", ENV_OK },
	{ "COLUMNS", "x", ENV_OK },
	{ "PORT", "x", ENV_OK },
	{ "DEBUG", "x", ENV_OK },
	{ "NODE_ENV", "x", ENV_OK },
	{ "RUST_BACKTRACE", "x", ENV_OK },
	{ "GOFLAGS", "x", ENV_OK },
	{ "CFLAGS", "x", ENV_OK },
	{ "MAKEFLAGS", "x", ENV_OK },
	{ "HTTP_PROXY", "x", ENV_OK },
	{ "HTTPS_PROXY", "x", ENV_OK },
	{ "PIP_INDEX_URL", "x", ENV_OK },
	{ "BASE_URL", "x", ENV_OK },
	{ "API_URL", "x", ENV_OK },
	{ "HEADERS", "x", ENV_OK },
	{ "PRIMARY_KEY", "x", ENV_OK },
	{ "PUBLIC_KEY", "x", ENV_OK },
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
