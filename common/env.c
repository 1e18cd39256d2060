/*
 * Guarantee C1: which environment names and values a call may carry.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "env.h"
#include "redact.h"

#define ENV_NAME_MAX	128
#define ENV_VALUE_MAX	(32 * 1024)

enum match { EXACT, PREFIX, SUFFIX };

struct rule {
	const char		*text;
	enum match		 match;
	enum env_verdict	 verdict;
};

/*
 * The first row that matches decides.  Case does not count: no program tells
 * "ld_preload" from a typing error, but several read "http_proxy" and
 * "HTTP_PROXY" alike, and a rule that has two spellings has a way round it.
 */
static const struct rule rules[] = {
	/* Pinned inside: a call that could set them would lie about itself. */
	{ "MYELIN_",		PREFIX,	ENV_RESERVED },
	{ "HOME",		EXACT,	ENV_RESERVED },
	{ "USER",		EXACT,	ENV_RESERVED },
	{ "LOGNAME",		EXACT,	ENV_RESERVED },
	{ "SHELL",		EXACT,	ENV_RESERVED },
	{ "PATH",		EXACT,	ENV_RESERVED },
	{ "PWD",		EXACT,	ENV_RESERVED },
	{ "OLDPWD",		EXACT,	ENV_RESERVED },
	/*
	 * What runs other code than the program that was judged: the loader,
	 * the C library's plug-ins, start-up files and options of shells and
	 * interpreters.  Search paths for libraries of a language
	 * (PYTHONPATH, NODE_PATH) stay: projects need them.
	 */
	{ "LD_",		PREFIX,	ENV_LOADER },
	{ "GLIBC_TUNABLES",	EXACT,	ENV_LOADER },
	{ "GCONV_PATH",		EXACT,	ENV_LOADER },
	{ "GETCONF_DIR",	EXACT,	ENV_LOADER },
	{ "LOCPATH",		EXACT,	ENV_LOADER },
	{ "NLSPATH",		EXACT,	ENV_LOADER },
	{ "MALLOC_",		PREFIX,	ENV_LOADER },
	{ "BASH_ENV",		EXACT,	ENV_LOADER },
	{ "BASH_FUNC_",		PREFIX,	ENV_LOADER },
	{ "BASH_LOADABLES_PATH", EXACT,	ENV_LOADER },
	{ "BASHOPTS",		EXACT,	ENV_LOADER },
	{ "SHELLOPTS",		EXACT,	ENV_LOADER },
	{ "ENV",		EXACT,	ENV_LOADER },
	{ "ZDOTDIR",		EXACT,	ENV_LOADER },
	{ "IFS",		EXACT,	ENV_LOADER },
	{ "PS4",		EXACT,	ENV_LOADER },
	{ "PROMPT_COMMAND",	EXACT,	ENV_LOADER },
	{ "PYTHONSTARTUP",	EXACT,	ENV_LOADER },
	{ "PYTHONHOME",		EXACT,	ENV_LOADER },
	{ "PERL5OPT",		EXACT,	ENV_LOADER },
	{ "PERL5DB",		EXACT,	ENV_LOADER },
	{ "RUBYOPT",		EXACT,	ENV_LOADER },
	{ "NODE_OPTIONS",	EXACT,	ENV_LOADER },
	{ "JAVA_TOOL_OPTIONS",	EXACT,	ENV_LOADER },
	{ "LUA_INIT",		PREFIX,	ENV_LOADER },
	{ "PYTHONBREAKPOINT",	EXACT,	ENV_LOADER },
	{ "DOTNET_STARTUP_HOOKS", EXACT, ENV_LOADER },
	{ "CORECLR_",		PREFIX,	ENV_LOADER },
	{ "OPENSSL_CONF",	EXACT,	ENV_LOADER },
	{ "OPENSSL_MODULES",	EXACT,	ENV_LOADER },
	{ "OPENSSL_ENGINES",	EXACT,	ENV_LOADER },
	{ "TERMINFO",		PREFIX,	ENV_LOADER },
	{ "LESSOPEN",		EXACT,	ENV_LOADER },
	{ "LESSCLOSE",		EXACT,	ENV_LOADER },
	{ "RIPGREP_CONFIG_PATH", EXACT,	ENV_LOADER },
	{ "TAR_OPTIONS",	EXACT,	ENV_LOADER },
	{ "GREP_OPTIONS",	EXACT,	ENV_LOADER },
	{ "GIT_EXTERNAL_DIFF",	EXACT,	ENV_LOADER },
	{ "GIT_PROXY_COMMAND",	EXACT,	ENV_LOADER },
	{ "GIT_SSH",		PREFIX,	ENV_LOADER },
	{ "GIT_ASKPASS",	EXACT,	ENV_LOADER },
	{ "SUDO_ASKPASS",	EXACT,	ENV_LOADER },
	{ "JDK_JAVA_OPTIONS",	EXACT,	ENV_LOADER },
	{ "_JAVA_OPTIONS",	EXACT,	ENV_LOADER },
	/* Whole families of credentials, whatever follows. */
	{ "AWS_",		PREFIX,	ENV_CREDENTIAL },
	{ "AZURE_",		PREFIX,	ENV_CREDENTIAL },
	{ "SSH_",		PREFIX,	ENV_CREDENTIAL },
	{ "GPG_",		PREFIX,	ENV_CREDENTIAL },
	{ "VAULT_",		PREFIX,	ENV_CREDENTIAL },
	{ "OP_SESSION_",	PREFIX,	ENV_CREDENTIAL },
	{ "CLOUDSDK_",		PREFIX,	ENV_CREDENTIAL },
	{ "SOPS_",		PREFIX,	ENV_CREDENTIAL },
	{ "KUBECONFIG",		PREFIX,	ENV_CREDENTIAL },
	/* Names that hold one, or the way to one, without saying so. */
	{ "DATABASE_URL",	SUFFIX,	ENV_CREDENTIAL },
	{ "_DSN",		SUFFIX,	ENV_CREDENTIAL },
	{ "CONNECTION_STRING",	SUFFIX,	ENV_CREDENTIAL },
	{ "DOCKER_AUTH_CONFIG",	EXACT,	ENV_CREDENTIAL },
	{ "DATABASE_URI",	SUFFIX,	ENV_CREDENTIAL },
	{ "REDIS_URL",		SUFFIX,	ENV_CREDENTIAL },
	{ "MONGO_URL",		SUFFIX,	ENV_CREDENTIAL },
	{ "MONGODB_URI",	SUFFIX,	ENV_CREDENTIAL },
	{ "MONGODB_URL",	SUFFIX,	ENV_CREDENTIAL },
	{ "AMQP_URL",		SUFFIX,	ENV_CREDENTIAL },
	{ "BROKER_URL",		SUFFIX,	ENV_CREDENTIAL },
	{ "JDBC_URL",		SUFFIX,	ENV_CREDENTIAL },
	{ "WEBHOOK_URL",	SUFFIX,	ENV_CREDENTIAL },
	{ "WEBHOOK",		SUFFIX,	ENV_CREDENTIAL },
	{ "SAS_URL",		SUFFIX,	ENV_CREDENTIAL },
	/* Lists of servers with their own environments and headers. */
	{ "MCP_SERVER",		SUFFIX,	ENV_CREDENTIAL },
	{ "MCP_SERVERS",	SUFFIX,	ENV_CREDENTIAL },
	{ "MCP_SERVERS_JSON",	SUFFIX,	ENV_CREDENTIAL },
	{ "MCP_CONFIG",		SUFFIX,	ENV_CREDENTIAL },
	{ "OTLP_HEADERS",	SUFFIX,	ENV_CREDENTIAL },
	{ "CUSTOM_HEADERS",	SUFFIX,	ENV_CREDENTIAL },
	{ "EXTRA_HEADERS",	SUFFIX,	ENV_CREDENTIAL },
	{ "COOKIES",		SUFFIX,	ENV_CREDENTIAL },
	{ "_JWT",		SUFFIX,	ENV_CREDENTIAL },
	{ "JWT",		EXACT,	ENV_CREDENTIAL },
	{ "HMAC_KEY",		SUFFIX,	ENV_CREDENTIAL },
	{ "SSH_KEY",		SUFFIX,	ENV_CREDENTIAL },
	{ "APPLICATION_KEY",	SUFFIX,	ENV_CREDENTIAL },
	{ "OPENAI_KEY",		SUFFIX,	ENV_CREDENTIAL },
	{ "ANTHROPIC_KEY",	SUFFIX,	ENV_CREDENTIAL },
	{ "GEMINI_KEY",		SUFFIX,	ENV_CREDENTIAL },
	{ "XAI_KEY",		SUFFIX,	ENV_CREDENTIAL },
	{ "PASSCOMMAND",	SUFFIX,	ENV_CREDENTIAL },
	{ "BW_SESSION",		EXACT,	ENV_CREDENTIAL },
	{ "GNUPGHOME",		EXACT,	ENV_CREDENTIAL },
	{ "PGPASSFILE",		EXACT,	ENV_CREDENTIAL },
	{ "PGSERVICEFILE",	EXACT,	ENV_CREDENTIAL },
	{ "DOCKER_CONFIG",	EXACT,	ENV_CREDENTIAL },
	{ "NPM_CONFIG_USERCONFIG", EXACT, ENV_CREDENTIAL },
	{ "BOTO_CONFIG",	EXACT,	ENV_CREDENTIAL },
	{ "KRB5CCNAME",		EXACT,	ENV_CREDENTIAL },
	{ "NETRC",		EXACT,	ENV_CREDENTIAL },
	{ "XAUTHORITY",		EXACT,	ENV_CREDENTIAL },
	{ "DBUS_SESSION_BUS_ADDRESS", EXACT, ENV_CREDENTIAL },
};

/*
 * What every program may be told of, and the one form that it has.  Other
 * names that begin with LC_ are no locale's: they are how a value is passed
 * on where only LC_* may pass.
 */
static const struct {
	const char	*name;
	const char	*also;		/* beside letters and digits */
} plain[] = {
	{ "LANG", "_.@-" }, { "LANGUAGE", "_.@-:" }, { "LC_ALL", "_.@-" },
	{ "LC_ADDRESS", "_.@-" }, { "LC_COLLATE", "_.@-" },
	{ "LC_CTYPE", "_.@-" }, { "LC_IDENTIFICATION", "_.@-" },
	{ "LC_MEASUREMENT", "_.@-" }, { "LC_MESSAGES", "_.@-" },
	{ "LC_MONETARY", "_.@-" }, { "LC_NAME", "_.@-" },
	{ "LC_NUMERIC", "_.@-" }, { "LC_PAPER", "_.@-" },
	{ "LC_TELEPHONE", "_.@-" }, { "LC_TIME", "_.@-" },
	{ "TZ", "/_+-,.<>:" }, { "TERM", "_.+-" },
};

#define PLAIN_MAX	64	/* bytes of such a value */

static const char *const words[] = {
	[ENV_OK] = "is allowed",
	[ENV_BAD_NAME] = "is no name of at most 128 letters, digits and _",
	[ENV_RESERVED] = "is set by Myelin alone",
	[ENV_LOADER] = "steers a loader, a shell or an interpreter",
	[ENV_CREDENTIAL] = "is named like a credential",
	[ENV_KEY_VALUE] = "has a value of the shape of a key",
	[ENV_TOO_LONG] = "has a value over 32768 bytes",
	[ENV_BAD_VALUE] = "is no locale, time zone or terminal by its form",
};

static int
name_ok(const char *name, size_t nlen)
{
	size_t i;

	if (nlen == 0 || nlen > ENV_NAME_MAX)
		return (0);
	for (i = 0; i < nlen; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c >= 0x80 || (!isalnum(c) && c != '_'))
			return (0);
	}
	return (!isdigit((unsigned char)name[0]));
}

static int
rule_matches(const struct rule *rule, const char *name, size_t nlen)
{
	size_t len = strlen(rule->text);

	if (nlen < len || (rule->match == EXACT && nlen != len))
		return (0);
	if (rule->match == SUFFIX)
		name += nlen - len;
	return (strncasecmp(name, rule->text, len) == 0);
}

static int
plain_find(const char *name, size_t nlen)
{
	size_t i;

	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (strlen(plain[i].name) == nlen &&
		    strncmp(plain[i].name, name, nlen) == 0)
			return ((int)i);
	}
	return (-1);
}

int
env_is_plain(const char *name, size_t nlen)
{
	return (plain_find(name, nlen) != -1);
}

/* No file, no path that leads elsewhere; "" means that it is not set. */
static int
plain_ok(int i, const char *value)
{
	size_t n;

	for (n = 0; value[n] != '\0'; n++) {
		unsigned char c = (unsigned char)value[n];

		if (n == PLAIN_MAX || c >= 0x80 ||
		    (!isalnum(c) && strchr(plain[i].also, c) == NULL))
			return (0);
	}
	/* TZ=:/file and TZ=/file name a file, ".." leads out of the zones */
	return (value[0] != '/' && value[0] != ':' &&
	    strstr(value, "..") == NULL);
}

enum env_verdict
env_check(const char *name, size_t nlen, const char *value)
{
	size_t i;

	if (!name_ok(name, nlen))
		return (ENV_BAD_NAME);
	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rule_matches(&rules[i], name, nlen))
			return (rules[i].verdict);
	}
	if ((i = (size_t)plain_find(name, nlen)) != (size_t)-1)
		return (plain_ok((int)i, value) ? ENV_OK : ENV_BAD_VALUE);
	if (nlen >= 3 && strncasecmp(name, "LC_", 3) == 0)
		return (ENV_BAD_VALUE);
	if (redact_secret_name(name, nlen))
		return (ENV_CREDENTIAL);
	if (strnlen(value, ENV_VALUE_MAX + 1) > ENV_VALUE_MAX)
		return (ENV_TOO_LONG);
	if (redact_has_key(value))
		return (ENV_KEY_VALUE);
	return (ENV_OK);
}

const char *
env_verdict_words(enum env_verdict verdict)
{
	if ((size_t)verdict >= sizeof(words) / sizeof(words[0]))
		return ("is not allowed");
	return (words[verdict]);
}
