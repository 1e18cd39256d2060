/*
 * The table of protected names.  myelind(8) and SECURITY.md have the same.
 */
#include "protected.h"

const struct protected_name protected_names[] = {
	{ ".git/hooks",			NULL,	1 },
	{ ".git/config",		"",	1 },
	{ ".git/config.worktree",	"",	1 },
	/* Another directory with a config and hooks: "." is this one. */
	{ ".git/commondir",		".\n",	1 },
	{ ".git/info/attributes",	"",	1 },
	{ ".gitmodules",		NULL,	1 },
	{ ".mcp.json",			NULL,	0 },
	{ ".envrc",			NULL,	0 },
	{ ".claude/settings.json",	NULL,	0 },
	{ ".claude/settings.local.json", NULL,	0 },
	{ ".claude/hooks",		NULL,	0 },
	{ ".claude/commands",		NULL,	0 },
	{ ".claude/agents",		NULL,	0 },
	{ ".codex/config.toml",		NULL,	0 },
	{ ".cursor/mcp.json",		NULL,	0 },
	{ ".gemini/settings.json",	NULL,	0 },
	{ ".vscode/settings.json",	NULL,	0 },
	{ ".vscode/tasks.json",		NULL,	0 },
	{ ".vscode/launch.json",	NULL,	0 },
	{ ".vscode/mcp.json",		NULL,	0 }
};

const size_t protected_nnames = sizeof(protected_names) /
    sizeof(protected_names[0]);
