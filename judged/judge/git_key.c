/*
 * git: settings whose value is executed.
 */
#include <string.h>
#include <strings.h>

#include "class.h"
#include "judge_int.h"

/* Keys, lower case; "*" at either end. */
static const char *const code_keys[] = {
	"core.pager", "core.editor", "core.sshcommand", "core.fsmonitor",
	"core.askpass", "core.gitproxy", "core.alternaterefscommand",
	"diff.external", "sequence.editor", "credential.helper",
	"gpg.program", "gpg.ssh.program", "gpg.x509.program",
	"gpg.openpgp.program", "gpg.ssh.defaultkeycommand",
	"interactive.difffilter", "uploadpack.packobjectshook",
	"web.browser", "sendemail.sendmailcmd", "sendemail.tocmd",
	"sendemail.cccmd", "sendemail.headercmd", NULL
};
static const char *const code_prefixes[] = {
	"alias.", "pager.", "browser.", NULL
};
static const char *const code_suffixes[] = {
	".textconv", ".clean", ".smudge", ".process", ".driver", ".command",
	".cmd", ".uploadpack", ".receivepack", ".vcs", ".proxycommand",
	".helper", ".program", ".trustctime", NULL
};

int
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return (n >= m && strcasecmp(text + n - m, end) == 0);
}

static int
key_executes(const char *key)
{
	size_t i;

	for (i = 0; code_keys[i] != NULL; i++)
		if (strcasecmp(key, code_keys[i]) == 0)
			return (1);
	for (i = 0; code_prefixes[i] != NULL; i++)
		if (strncasecmp(key, code_prefixes[i],
		    strlen(code_prefixes[i])) == 0)
			return (1);
	for (i = 0; code_suffixes[i] != NULL; i++)
		if (ends_with(key, code_suffixes[i]))
			return (1);
	return (0);
}

void
git_key(const struct subject *s, const char *key, const struct word *value)
{
	const char *text = word_start(value);
	static const char *const flags[] = {
		"true", "false", "cat", "", "cache", "store", "less",
		"manager", "vim", "vi", "nano", "emacs", "code --wait",
		"osxkeychain", "libsecret", "delta", "less -R", "less -FRX",
		NULL
	};

	if (strcasecmp(key, "core.hookspath") == 0 ||
	    strcasecmp(key, "core.attributesfile") == 0 ||
	    strncasecmp(key, "include", 7) == 0 ||
	    strcasecmp(key, "init.templatedir") == 0) {
		class_find(s, CLASS_OPAQUE, "git will execute or read what "
		    "is there");
		return;
	}
	if (!key_executes(key))
		return;
	if (word_static(value) != NULL && in_list(text, flags))
		return;
	if (strncasecmp(key, "alias.", 6) == 0) {
		/* an alias without "!" is a command of git's */
		if (text[0] != '!')
			return;
		subject_hidden_code(s, word_rest(s->j, value, 1));
		return;
	}
	subject_hidden_code(s, text[0] == '!' ? word_rest(s->j, value, 1) :
	    value);
}
