/*
 * Variables of the environment that a command sets: some make programs execute
 * what they hold.
 */
#include <string.h>

#include "../rules.h"
#include "class.h"
#include "judge_int.h"

/* Variables whose value is executed by programs that know them. */
static const char *const code_variables[] = {
	"GIT_SSH_COMMAND", "GIT_SSH", "GIT_PAGER", "GIT_EDITOR",
	"GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS",
	"GIT_PROXY_COMMAND", "SSH_ASKPASS", "SUDO_ASKPASS", "PAGER",
	"MANPAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "LESSCLOSE",
	"FCEDIT", "SUDO_EDITOR", "SYSTEMD_PAGER", "BAT_PAGER", "AWS_PAGER",
	"GH_PAGER", "RSYNC_RSH", "CVS_RSH", "TAR_OPTIONS", "MAKEFLAGS",
	"FZF_DEFAULT_COMMAND", NULL
};

/* Variables that make a program load code from elsewhere. */
static const char *const load_variables[] = {
	"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PYTHONSTARTUP",
	"PERL5OPT", "PERL5DB", "RUBYOPT", "NODE_OPTIONS", "BASH_LOADABLES_PATH",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "GIT_EXEC_PATH",
	"GIT_TEMPLATE_DIR", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM",
	"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "DYLD_INSERT_LIBRARIES",
	"PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONWARNINGS", NULL
};

static const char *const harmless[] = {
	"", "cat", "less", "more", "vim", "vi", "nano", "emacs", "true", ":",
	"nvim", "ed", "ssh", "code", "code --wait", "less -R", "less -FRX",
	"firefox", "chromium", "most", "bat", "-j", "delta", NULL
};

void
judge_variable(struct judging *j, const struct command *c, const char *name,
    const struct word *value)
{
	struct subject s = { .j = j, .c = c, .argv = value, .argc = 1,
	    .name = name, .flags = FINDING_SIDE };
	struct outcome out;
	const char *text = word_static(value);

	rules_variable(j, name);
	memset(&out, 0, sizeof(out));
	s.out = &out;
	if (in_list(name, code_variables)) {
		if (text != NULL && in_list(text, harmless))
			return;
		/* LESSOPEN="|command %s" */
		if (strncmp(name, "LESS", 4) == 0 && text != NULL)
			value = word_rest(j, value, strspn(text, "|-"));
		/* options, no command */
		if (strcmp(name, "TAR_OPTIONS") == 0 ||
		    strcmp(name, "MAKEFLAGS") == 0) {
			if (text == NULL || strstr(text, "exec") != NULL ||
			    strstr(text, "eval") != NULL ||
			    strstr(text, "SHELL") != NULL ||
			    strstr(text, "command") != NULL)
				class_find(&s, CLASS_OPAQUE, "a variable that "
				    "may make a program execute something");
			return;
		}
		subject_hidden_code(&s, value);
	} else if (in_list(name, load_variables)) {
		if (text != NULL && text[0] == '\0')
			return;
		/* memory limits are what most have in mind */
		if (strcmp(name, "NODE_OPTIONS") == 0 && text != NULL &&
		    strstr(text, "require") == NULL &&
		    strstr(text, "import") == NULL &&
		    strstr(text, "loader") == NULL)
			return;
		if (strcmp(name, "PYTHONWARNINGS") == 0 && text != NULL &&
		    strchr(text, '.') == NULL)
			return;
		if ((strcmp(name, "LD_LIBRARY_PATH") == 0 ||
		    strstr(name, "JAVA") != NULL) && text != NULL)
			return;
		class_findf(&s, CLASS_OPAQUE, "a variable that makes programs "
		    "load code: %s", value);
	}
}
