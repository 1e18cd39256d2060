/*
 * Options of programs with subcommands: which take a value, which are given
 * a command.
 */
#include <string.h>

#include "judge_int.h"
#include "options.h"

/*
 * Options that take a value, beside those that most have.  Those of "code"
 * are given a line of shell; what follows those of "rest" is a command.
 */
static const struct sub_options {
	const char	*program;
	const char	*shorts;
	const char	*longs;
	const char	*code;		/* "c call" */
	const char	*rest;
} sub_options[] = {
	{ "ansible", "aimMefoBPuTl", "args inventory module-name", "a args",
	    NULL },
	{ "apt", "otca", "option target-release config-file", NULL, NULL },
	{ "apt-get", "otca", "option target-release config-file", NULL,
	    NULL },
	{ "aptitude", "otqw", "target-release", NULL, NULL },
	{ "bun", NULL, "cwd", NULL, NULL },
	{ "cargo", "ZC", "color", NULL, NULL },
	{ "composer", "d", "working-dir", NULL, NULL },
	{ "conda", "np", "name", NULL, NULL },
	{ "dnf", "cdexR", "enablerepo disablerepo releasever installroot "
	    "setopt", NULL, NULL },
	{ "docker", "Hlfp", "tlscacert tlscert tlskey file project-name "
	    "env-file profile", NULL, NULL },
	{ "docker-compose", "fp", "file project-name env-file profile", NULL,
	    NULL },
	{ "go", "C", NULL, NULL, NULL },
	{ "helm", "nf", "namespace kube-context kubeconfig values version",
	    NULL, NULL },
	{ "hg", "R", "repository", NULL, NULL },
	{ "jj", "R", "repository", NULL, NULL },
	{ "kubectl", "nflLcoks", "namespace kubeconfig cluster user "
	    "selector output filename container server token as "
	    "request-timeout", NULL, NULL },
	{ "nix", "j", "option", NULL, "c command" },
	{ "nix-shell", "pAIEj", "packages attr option", "run command", NULL },
	{ "nmcli", "fmecw", "fields mode escape colors wait", NULL, NULL },
	{ "npm", "Cw", "workspace userconfig cache loglevel call package",
	    "c call", NULL },
	{ "npx", "pc", "package call", "c call", NULL },
	{ "pip", NULL, "python log proxy timeout cache-dir", NULL, NULL },
	{ "pnpm", "CF", "dir filter", NULL, NULL },
	{ "poetry", "CP", NULL, NULL, NULL },
	{ "snapper", "c", "root", NULL, NULL },
	{ "svn", NULL, "username password config-dir", NULL, NULL },
	{ "systemctl", "HMtpnos", "type state property lines output machine "
	    "signal root image", NULL, NULL },
	{ "uv", NULL, "python cache-dir config-file", NULL, NULL },
	{ "virsh", "c", "connect", NULL, NULL },
	{ "yum", "cdexR", "enablerepo disablerepo releasever installroot",
	    NULL, NULL },
	{ "zypper", "Rc", "root", NULL, NULL }
};

static int
names(const char *list, const struct opt *opt)
{
	size_t n, len;

	if (list == NULL)
		return (0);
	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (opt->kind == OPT_SHORT && n == 1 &&
		    opt->letter == list[0])
			return (1);
		if (opt->kind != OPT_LONG)
			continue;
		len = strlen(opt->name);
		if (n > 1 && len > 1 && len <= n &&
		    strncmp(list, opt->name, len) == 0)
			return (1);
	}
	return (0);
}

/* Commands that options hold; the options of the program for the rest. */
void
sub_code(const struct subject *s, const char *name, struct optspec *spec)
{
	const struct sub_options *row = NULL;
	struct optscan o;
	struct opt opt;
	char *longs;
	size_t i, n;

	for (i = 0; i < sizeof(sub_options) / sizeof(sub_options[0]); i++)
		if (strcmp(sub_options[i].program, name) == 0)
			row = &sub_options[i];
	if (row == NULL)
		return;
	spec->shorts = row->shorts;
	if (row->longs != NULL) {
		n = strlen(spec->longs);
		longs = judging_alloc(s->j, n + strlen(row->longs) + 2);
		memcpy(longs, spec->longs, n);
		longs[n] = ' ';
		memcpy(longs + n + 1, row->longs, strlen(row->longs));
		spec->longs = longs;
	}
	if (row->code == NULL && row->rest == NULL)
		return;
	opt_begin(&o, s, 1, spec);
	while (opt_next(&o, &opt)) {
		if (names(row->code, &opt)) {
			if (opt.value == NULL && o.next < s->argc)
				opt.value = &s->argv[o.next];
			if (opt.value != NULL)
				subject_code(s, DIALECT_DASH, SHELL_CHILD,
				    opt.value);
		}
		if (names(row->rest, &opt) && o.next < s->argc) {
			subject_argv(s, s->argv + o.next, s->argc - o.next);
			return;
		}
	}
}
