/*
 * Programs that no table knows: what their words would be as a command.
 */
#include <string.h>

#include "class.h"
#include "judge_int.h"
#include "../rules.h"
#include "../shell/names.h"
#include "zone.h"

/* Programs that start no other, whatever their words: no tail is looked at. */
static const char *const inert[] = {
	":", "[", "[[", "apropos", "arch", "b2sum", "base32", "base64",
	"basename", "bat", "bg", "break", "cal", "cat", "cd", "cksum", "cmp",
	"column", "comm", "compgen", "complete", "continue", "csplit", "cut",
	"date", "df", "diff", "diff3", "dig", "dircolors", "dirname", "dirs",
	"du", "echo", "egrep", "eza", "exa", "exit", "expand", "expr", "factor",
	"false", "fc", "fg", "fgrep", "file", "fmt", "fold", "free", "getconf",
	"getent", "getfacl", "getopt", "getopts", "grep", "groups", "hash",
	"head", "help", "hexdump", "history", "hostid", "hostname", "iconv",
	"id", "info", "jobs", "join", "jq", "last", "lastlog", "let", "local",
	"locale", "locate", "logname", "look", "ls", "lsattr", "lsb_release",
	"lsblk", "lscpu", "lsof", "lspci", "lsusb", "md5sum", "mesg", "namei",
	"nl", "nm", "nproc", "numfmt", "objdump", "od", "paste", "pathchk",
	"pgrep", "pidof", "pinky", "pmap", "popd", "pr", "printenv", "printf",
	"ps", "pstree", "ptx", "pushd", "pwd", "pwdx", "read", "readelf",
	"readlink", "readonly", "realpath", "return", "rev", "seq", "set",
	"sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shift",
	"shuf", "size", "sleep", "stat", "strings", "stty", "sum", "sync",
	"tac", "tail", "test", "tldr", "top", "tput", "tr", "tree", "true",
	"tsort", "tty", "type", "ulimit", "umask", "uname", "unexpand", "uniq",
	"unset", "uptime", "users", "vdir", "vmstat", "w", "wait", "wc",
	"whatis", "whereis", "which", "who", "whoami", "xxd", "yes", "yq",
	"zcat", "zgrep", "zless", "git-grep", NULL
};
static struct names inert_by_name = NAMES(inert);

int
dangerous_tail(const struct subject *s, size_t at)
{
	const char *text = word_static(&s->argv[at]), *name;

	if (text == NULL)
		return (0);
	name = base_name(text);
	if (!is_dangerous(name) && !rules_name(s->j, text))
		return (0);
	if (subject_would_deny(s, s->argv + at, s->argc - at))
		class_findf(s, CLASS_OPAQUE, "a program that is not known is "
		    "given a command that would be denied: %s",
		    &s->argv[at]);
	return (1);
}

void
option_output(const struct subject *s)
{
	static const char *const names[] = { "-o", "-out", "--output", "--out",
		"--output-file", "--outfile", "--outdir", "--output-dir",
		"--out-dir", "--output-directory", "--dest", "--destination",
		NULL };
	static const char *const last[] = { "ffmpeg", "convert", "magick",
		"sox", "objcopy", "strip", NULL };
	const struct word *w;
	const char *text, *eq;
	size_t i;

	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		eq = strchr(text, '=');
		w = NULL;
		if (strncmp(text, "-o/", 3) == 0)
			w = word_rest(s->j, &s->argv[i], 2);
		else if (eq != NULL && in_list(judging_strndup(s->j, text,
		    (size_t)(eq - text)), names))
			w = word_rest(s->j, &s->argv[i], (size_t)(eq + 1 -
			    text));
		else if (in_list(text, names) && i + 1 < s->argc)
			w = &s->argv[i + 1];
		else if (i + 1 == s->argc && in_list(s->name, last))
			w = &s->argv[i];
		/* only what is a path for certain */
		if (w != NULL && word_start(w)[0] == '/')
			zone_write(s, w, CLASS_READ, "writes its output");
	}
}

void
option_code(const struct subject *s)
{
	static const char *const stems[] = { "exec", "cmd", "command", "run",
		"pager", "preview", "shell", "program", "wrapper", "hook",
		"bind", "script", "filter", NULL };
	const char *text, *value;
	char *code, *p;
	int lists, wraps;
	size_t i, k;

	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if (text[0] != '-')
			continue;
		value = strchr(text, '=');
		if (value != NULL)
			value++;
		else if (i + 1 < s->argc)
			value = word_start(&s->argv[i + 1]);
		if (value == NULL || strpbrk(value, " ,") == NULL)
			continue;
		for (k = 0; stems[k] != NULL; k++)
			if (strstr(text, stems[k]) != NULL)
				break;
		if (stems[k] == NULL || !judging_again(s->j, strlen(value),
		    s->c))
			continue;
		/* gcc -wrapper rm,-rf,/; fzf --bind 'key:execute(rm -rf /)' */
		code = judging_strndup(s->j, value, strlen(value));
		lists = strchr(code, ' ') == NULL;
		wraps = strstr(text, "wrapper") != NULL;
		for (p = code; *p != '\0'; p++) {
			if (*p == ',' && lists)
				*p = ';';
			if (*p == ';' && wraps)
				*p = ' ';
		}
		if ((p = strchr(code, '(')) != NULL && p[strlen(p) - 1] == ')') {
			p[strlen(p) - 1] = '\0';
			code = p + 1;
		}
		if (subject_code_verdict(s, code, strlen(code)) ==
		    VERDICT_DENY)
			class_findf(s, CLASS_OPAQUE, "an option may execute "
			    "a command that would be denied: %s",
			    &s->argv[i]);
	}
}

/* cmake -E NAME ...: a program of its own by another name. */
static void
cmake_command(const struct subject *s)
{
	static const char *const same[][2] = { { "rename", "mv" },
		{ "copy", "cp" }, { "copy_directory", "cp" },
		{ "copy_if_different", "cp" }, { "remove", "rm" },
		{ "make_directory", "mkdir" }, { "create_symlink", "ln" } };
	struct word *argv = judging_alloc(s->j, (s->argc + 1) * sizeof(*argv));
	size_t i, n = 0;

	argv[n++] = s->argv[2];
	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (word_is(&s->argv[2], same[i][0]))
			argv[0] = *word_make(s->j, same[i][1], &s->argv[2]);
	if (word_is(&s->argv[2], "remove_directory")) {
		argv[0] = *word_make(s->j, "rm", &s->argv[2]);
		argv[n++] = *word_make(s->j, "-rf", &s->argv[2]);
	}
	for (i = 3; i < s->argc; i++)
		argv[n++] = s->argv[i];
	subject_argv(s, argv, n);
}

/* A program that no table knows, with what a deny would be behind it. */
void
unknown_program(const struct subject *s)
{
	static const char *const writers[] = { "shuf", "iconv", "tree",
		"column", NULL };
	size_t i;

	if (names_find(&inert_by_name, s->name) != NULL) {
		if (in_list(s->name, writers))
			option_output(s);
		class_findf(s, CLASS_READ, "%s", &s->argv[0]);
		return;
	}
	/* cmake -E rm, -E env ... */
	if (same_name(s->name, "cmake") && s->argc > 2 &&
	    word_is(&s->argv[1], "-E")) {
		cmake_command(s);
		return;
	}
	option_code(s);
	option_output(s);
	for (i = 1; i < s->argc; i++)
		if (dangerous_tail(s, i))
			break;
	class_findf(s, CLASS_READ, "%s", &s->argv[0]);
}
