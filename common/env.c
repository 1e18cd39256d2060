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
	{ "JDK_JAVA_OPTIONS",	EXACT,	ENV_LOADER },
	{ "_JAVA_OPTIONS",	EXACT,	ENV_LOADER },
	/* Whole families of credentials, whatever follows. */
	{ "AWS_",		PREFIX,	ENV_CREDENTIAL },
	{ "AZURE_",		PREFIX,	ENV_CREDENTIAL },
	{ "SSH_",		PREFIX,	ENV_CREDENTIAL },
	{ "GPG_",		PREFIX,	ENV_CREDENTIAL },
	{ "VAULT_",		PREFIX,	ENV_CREDENTIAL },
	{ "OP_SESSION_",	PREFIX,	ENV_CREDENTIAL },
	/* Names that hold one, or the way to one, without saying so. */
	{ "DATABASE_URL",	SUFFIX,	ENV_CREDENTIAL },
	{ "_DSN",		SUFFIX,	ENV_CREDENTIAL },
	{ "CONNECTION_STRING",	SUFFIX,	ENV_CREDENTIAL },
	{ "DOCKER_AUTH_CONFIG",	EXACT,	ENV_CREDENTIAL },
	{ "KUBECONFIG",		EXACT,	ENV_CREDENTIAL },
	{ "KRB5CCNAME",		EXACT,	ENV_CREDENTIAL },
	{ "NETRC",		EXACT,	ENV_CREDENTIAL },
	{ "XAUTHORITY",		EXACT,	ENV_CREDENTIAL },
	{ "DBUS_SESSION_BUS_ADDRESS", EXACT, ENV_CREDENTIAL },
};

static const char *const words[] = {
	[ENV_OK] = "is allowed",
	[ENV_BAD_NAME] = "is no name of at most 128 letters, digits and _",
	[ENV_RESERVED] = "is set by Myelin alone",
	[ENV_LOADER] = "steers a loader, a shell or an interpreter",
	[ENV_CREDENTIAL] = "is named like a credential",
	[ENV_KEY_VALUE] = "has a value of the shape of a key",
	[ENV_TOO_LONG] = "has a value over 32768 bytes",
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
