/*
 * Programs that start another one: the table of wrappers, a row a program.
 */
#include <ctype.h>
#include <string.h>

#include "judge_int.h"
#include "../shell/names.h"
#include "options.h"
#include "zone.h"

/*
 * How what it starts stands in its words, behind the options:
 *
 *	PREFIX	the rest is the command
 *	STRING	the next operand is code for a shell, or all that follow
 *	RUN	the first operand is one of "subs", the rest the command
 */
enum wrap_kind { WRAP_PREFIX, WRAP_STRING, WRAP_RUN };

struct wrap_row {
	const char	*name;
	enum wrap_kind	 kind;
	unsigned	 skip;		/* operands in front of the command */
	const char	*shorts;	/* options that take a value */
	const char	*longs;
	const char	*subs;		/* RUN: "run exec" */
	unsigned	 flags;
};
#define WRAP_NEVER	1000	/* no command stands in its words */
#define WRAP_ASSIGNS	0x01	/* NAME=VALUE words in front */
#define WRAP_ELEVATED	0x02
#define WRAP_ONE_DASH	0x04
#define WRAP_CODE_C	0x08	/* -c STRING is code */
#define WRAP_ELSEWHERE	0x10	/* another user or root directory */
#define WRAP_ALONE	0x20	/* without a command it starts a shell */
#define WRAP_AGAIN	0x40	/* options may follow what is skipped, too */
#define WRAP_LOGIN	0x80	/* as su, unless it is told a user by -u */
#define WRAP_ONE_CODE	0x100	/* one word alone is code, more are words */
#define WRAP_REMOTE	0x200	/* on other hosts */
#define WRAP_EACH	0x800	/* each word is code of its own */
#define WRAP_DASH_E	0x400	/* terminals: what is behind -e or "--" */

static const struct wrap_row wrappers[] = {
	{ "command", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "builtin", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "exec", WRAP_PREFIX, 0, "a", NULL, NULL, 0 },
	{ "noglob", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "nocorrect", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "env", WRAP_PREFIX, 0, "uCSP", "unset chdir split-string",
	    NULL, WRAP_ASSIGNS },
	{ "nohup", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "nice", WRAP_PREFIX, 0, "n", "adjustment", NULL, 0 },
	{ "ionice", WRAP_PREFIX, 0, "cnpPu", "class classdata pid pgid uid",
	    NULL, 0 },
	{ "chrt", WRAP_PREFIX, 1, "TPDp", "sched-runtime sched-period "
	    "sched-deadline", NULL, 0 },
	{ "taskset", WRAP_PREFIX, 1, NULL, NULL, NULL, 0 },
	{ "numactl", WRAP_PREFIX, 0, "NmCip", "cpunodebind membind "
	    "physcpubind interleave preferred", NULL, 0 },
	{ "timeout", WRAP_PREFIX, 1, "ks", "kill-after signal", NULL, 0 },
	{ "stdbuf", WRAP_PREFIX, 0, "ioe", "input output error", NULL, 0 },
	{ "unbuffer", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "setsid", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	/* the architecture is a wrapper, and may be missing */
	{ "setarch", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "linux32", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "linux64", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "i386", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "i486", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "i586", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "i686", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "x86_64", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "aarch64", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "armv7l", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "uname26", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "time", WRAP_PREFIX, 0, "fo", "format output", NULL, 0 },
	{ "prlimit", WRAP_PREFIX, 0, "p", "pid", NULL, 0 },
	{ "sudo", WRAP_PREFIX, 0, "ugpChDRTrtU", "user group prompt "
	    "close-from host chdir chroot role type command-timeout "
	    "other-user", NULL, WRAP_ASSIGNS | WRAP_ELEVATED |
	    WRAP_ONE_CODE },
	{ "doas", WRAP_PREFIX, 0, "uCa", NULL, NULL,
	    WRAP_ASSIGNS | WRAP_ELEVATED },
	{ "pkexec", WRAP_PREFIX, 0, NULL, "user", NULL, WRAP_ELEVATED },
	{ "run0", WRAP_PREFIX, 0, "ugD", "user group chdir unit slice nice "
	    "property setenv", NULL, WRAP_ELEVATED },
	{ "sudoedit", WRAP_PREFIX, WRAP_NEVER, "u", NULL, NULL, WRAP_ELEVATED },
	{ "su", WRAP_PREFIX, WRAP_NEVER, "cgGsTw", "command group supp-group "
	    "shell session-command", NULL,
	    WRAP_ELEVATED | WRAP_CODE_C | WRAP_ALONE },
	{ "runuser", WRAP_PREFIX, 0, "ucgGsTw", "user command group "
	    "supp-group shell session-command", NULL,
	    WRAP_ELEVATED | WRAP_CODE_C | WRAP_LOGIN },
	{ "sg", WRAP_STRING, 1, "c", NULL, NULL,
	    WRAP_ELEVATED | WRAP_CODE_C | WRAP_ALONE | WRAP_AGAIN },
	{ "newgrp", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL, WRAP_ELEVATED },
	{ "chroot", WRAP_PREFIX, 1, NULL, "userspec groups", NULL,
	    WRAP_ELEVATED | WRAP_ELSEWHERE },
	{ "unshare", WRAP_PREFIX, 0, "RwSG", "root wd setuid setgid "
	    "propagation map-user map-group monotonic boottime", NULL,
	    WRAP_ELEVATED },
	{ "nsenter", WRAP_PREFIX, 0, "tSGW", "target setuid setgid wdns",
	    NULL, WRAP_ELEVATED },
	{ "setpriv", WRAP_PREFIX, 0, NULL, "reuid regid groups "
	    "inh-caps ambient-caps bounding-set securebits pdeathsig "
	    "selinux-label apparmor-profile", NULL, WRAP_ELEVATED },
	{ "capsh", WRAP_PREFIX, WRAP_NEVER, "c", NULL, NULL,
	    WRAP_ELEVATED | WRAP_CODE_C },
	{ "gosu", WRAP_PREFIX, 1, NULL, NULL, NULL, WRAP_ELEVATED },
	{ "su-exec", WRAP_PREFIX, 1, NULL, NULL, NULL, WRAP_ELEVATED },
	{ "setuidgid", WRAP_PREFIX, 1, NULL, NULL, NULL, WRAP_ELEVATED },
	{ "s6-setuidgid", WRAP_PREFIX, 1, NULL, NULL, NULL, WRAP_ELEVATED },
	{ "chpst", WRAP_PREFIX, 0, "uUbe/nlmdoprftc", NULL, NULL,
	    WRAP_ELEVATED },
	{ "aa-exec", WRAP_PREFIX, 0, "pn", "profile namespace", NULL,
	    WRAP_ELEVATED },
	{ "runcon", WRAP_PREFIX, 1, "turl", "type user role range", NULL,
	    WRAP_ELEVATED },
	{ "cgexec", WRAP_PREFIX, 0, "g", NULL, NULL, WRAP_ELEVATED },
	{ "schroot", WRAP_PREFIX, 0, "cnudsro", "chroot session-name user "
	    "directory shell option", NULL, WRAP_ELEVATED | WRAP_ELSEWHERE },
	{ "systemd-nspawn", WRAP_PREFIX, 0, "DtiMupSEbhU", "directory "
	    "template image machine user property slice setenv bind bind-ro "
	    "tmpfs chdir", NULL, WRAP_ELEVATED | WRAP_ELSEWHERE },
	{ "nsjail", WRAP_PREFIX, 0, "MCcpxuguHTDBRlLtdE", "mode config "
	    "chroot user group cwd env bindmount bindmount_ro time_limit",
	    NULL, WRAP_ELEVATED },
	{ "minijail0", WRAP_PREFIX, 0, "ugcbkPSTaef", NULL, NULL,
	    WRAP_ELEVATED },
	{ "systemd-run", WRAP_PREFIX, 0, "HMpuE", "host machine unit "
	    "property slice description uid gid nice working-directory "
	    "setenv on-active on-boot on-calendar timer-property", NULL,
	    WRAP_ELEVATED },
	{ "systemd-inhibit", WRAP_PREFIX, 0, NULL, "what who why mode",
	    NULL, 0 },
	{ "start-stop-daemon", WRAP_PREFIX, WRAP_NEVER, "xnpcgkrdusaNPIO",
	    "start! stop! status! exec startas name pidfile chuid user group "
	    "umask chroot chdir "
	    "signal retry nicelevel procsched iosched ppid pid output",
	    NULL, WRAP_ELEVATED },
	{ "bwrap", WRAP_PREFIX, 0, NULL, "chdir hostname uid gid "
	    "seccomp dir tmpfs proc dev unsetenv mqueue lock-file sync-fd "
	    "info-fd json-status-fd block-fd userns pidns cap-add cap-drop "
	    "args argv0 size perms remount-ro add-seccomp-fd bind+ "
	    "bind-try+ dev-bind+ dev-bind-try+ ro-bind+ ro-bind-try+ "
	    "symlink+ setenv+ file+ bind-data+ ro-bind-data+ chmod+", NULL,
	    WRAP_ELEVATED },
	{ "firejail", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "fakeroot", WRAP_PREFIX, 0, "lfisub", "lib faked", NULL, 0 },
	{ "fakechroot", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "proot", WRAP_PREFIX, 0, "rbwq", NULL, NULL, 0 },
	{ "strace", WRAP_PREFIX, 0, "abeEIoOpPsSuUX", "trace signal output "
	    "attach string-limit user env", NULL, 0 },
	{ "ltrace", WRAP_PREFIX, 0, "aAeDFlnopsuxX", "output library", NULL,
	    0 },
	{ "valgrind", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "uftrace", WRAP_PREFIX, 0, "dFNDPATLZ", NULL, NULL, 0 },
	{ "bpftrace", WRAP_PREFIX, WRAP_NEVER, "ecpolB", NULL, NULL,
	    WRAP_ELEVATED | WRAP_CODE_C },
	{ "kcov", WRAP_PREFIX, 1, NULL, NULL, NULL, 0 },
	{ "rlwrap", WRAP_PREFIX, 0, "bcCdDfFgHlmMoOpPqsStUwzAN", NULL,
	    NULL, 0 },
	{ "faketime", WRAP_PREFIX, 1, "f", "exclude-monotonic", NULL, 0 },
	{ "eatmydata", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "cpulimit", WRAP_PREFIX, 0, "lpe", "limit pid exe", NULL, 0 },
	{ "schedtool", WRAP_PREFIX, 0, "apnM", NULL, NULL, 0 },
	{ "tini", WRAP_PREFIX, 0, "pe", NULL, NULL, 0 },
	{ "dumb-init", WRAP_PREFIX, 0, "r", "rewrite", NULL, 0 },
	{ "catatonit", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "envdir", WRAP_PREFIX, 1, NULL, NULL, NULL, 0 },
	{ "softlimit", WRAP_PREFIX, 0, "acdflmoprst", NULL, NULL, 0 },
	{ "setlock", WRAP_PREFIX, 1, NULL, NULL, NULL, 0 },
	{ "nq", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "tsp", WRAP_PREFIX, 0, "LNDEPSkprtwicu", NULL, NULL, 0 },
	{ "sem", WRAP_PREFIX, 0, "j", "jobs id semaphoretimeout", NULL,
	    WRAP_ONE_CODE },
	{ "lvm", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "spawn", WRAP_PREFIX, 0, NULL, NULL, NULL, WRAP_ONE_DASH },
	{ "cross-env", WRAP_PREFIX, 0, NULL, NULL, NULL, WRAP_ASSIGNS },
	{ "dtach", WRAP_PREFIX, 1, "ncAap", NULL, NULL, 0 },
	{ "abduco", WRAP_PREFIX, 0, "ncAae", NULL, NULL, 0 },
	{ "sshpass", WRAP_PREFIX, 0, "fdpPeV", NULL, NULL, 0 },
	{ "pssh", WRAP_STRING, 0, "HhlptoeOxXi", "host hosts user par "
	    "timeout outdir errdir options extra-args extra-arg", NULL,
	    WRAP_REMOTE },
	{ "parallel-ssh", WRAP_STRING, 0, "HhlptoeOxX", "host hosts user "
	    "par timeout outdir errdir options extra-args extra-arg", NULL,
	    WRAP_REMOTE },
	{ "pdsh", WRAP_STRING, 0, "wxlftugjnFGR", NULL, NULL, WRAP_REMOTE },
	{ "clush", WRAP_STRING, 0, "wxgXlfotu", NULL, NULL, WRAP_REMOTE },
	{ "rr", WRAP_RUN, 0, NULL, NULL, "record", 0 },
	{ "perf", WRAP_RUN, 0, "eocFtpCr", "event output freq repeat",
	    "record stat trace", 0 },
	{ "heaptrack", WRAP_PREFIX, 0, "o", NULL, NULL, 0 },
	{ "catchsegv", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "caffeinate", WRAP_PREFIX, 0, "tw", NULL, NULL, 0 },
	{ "gtimeout", WRAP_PREFIX, 1, "ks", "kill-after signal", NULL, 0 },
	{ "gnice", WRAP_PREFIX, 0, "n", "adjustment", NULL, 0 },
	{ "genv", WRAP_PREFIX, 0, "uCS", "unset chdir split-string", NULL,
	    WRAP_ASSIGNS },
	{ "xvfb-run", WRAP_PREFIX, 0, "efnpsw", "error-file auth-file "
	    "server-num xauth-protocol server-args wait", NULL, 0 },
	{ "dbus-run-session", WRAP_PREFIX, 0, NULL, "config-file "
	    "dbus-daemon", NULL, 0 },
	{ "dbus-launch", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "ssh-agent", WRAP_PREFIX, 0, "aEtP", NULL, NULL, 0 },
	{ "proxychains", WRAP_PREFIX, 0, "f", NULL, NULL, 0 },
	{ "proxychains4", WRAP_PREFIX, 0, "f", NULL, NULL, 0 },
	{ "torsocks", WRAP_PREFIX, 0, "upP", NULL, NULL, 0 },
	{ "torify", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "tsocks", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "busybox", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "toybox", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "ld.so", WRAP_PREFIX, 0, NULL, "library-path preload audit "
	    "argv0 inhibit-rpath glibc-hwcaps-prepend "
	    "glibc-hwcaps-mask", NULL, 0 },
	{ "winpty", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "ccache", WRAP_PREFIX, 0, "CdFMo", NULL, NULL, 0 },
	{ "distcc", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "bear", WRAP_PREFIX, 0, NULL, "output", NULL, 0 },
	{ "dotenv", WRAP_RUN, 0, "fq", "file", "run", 0 },
	{ "chronic", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "ifne", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "pseudo", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "daemonize", WRAP_PREFIX, 0, "aceopluEv", NULL, NULL, 0 },
	{ "uv", WRAP_RUN, 0, "p", "python with project directory extra "
	    "group env-file", "run", 0 },
	{ "poetry", WRAP_RUN, 0, "CP", "directory project", "run", 0 },
	{ "pdm", WRAP_RUN, 0, "p", "project", "run", 0 },
	{ "hatch", WRAP_RUN, 0, "e", "env", "run", 0 },
	{ "pipenv", WRAP_RUN, 0, NULL, "python", "run", 0 },
	{ "rye", WRAP_RUN, 0, NULL, NULL, "run", 0 },
	{ "conda", WRAP_RUN, 0, "np", "name prefix cwd", "run", 0 },
	{ "mamba", WRAP_RUN, 0, "np", "name prefix cwd", "run", 0 },
	{ "micromamba", WRAP_RUN, 0, "np", "name prefix cwd", "run", 0 },
	{ "bundle", WRAP_RUN, 0, NULL, "gemfile", "exec", 0 },
	{ "rbenv", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "pyenv", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "nodenv", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "mise", WRAP_RUN, 0, "Cj", "cd", "exec x", 0 },
	{ "asdf", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "jenv", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "goenv", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "plenv", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "volta", WRAP_RUN, 0, NULL, "node npm pnpm yarn", "run", 0 },
	{ "fnm", WRAP_RUN, 0, NULL, "using", "exec", 0 },
	{ "pnpm", WRAP_RUN, 0, "CF", "dir filter", "exec", 0 },
	{ "yarn", WRAP_RUN, 0, NULL, "cwd", "exec", 0 },
	{ "lerna", WRAP_RUN, 0, NULL, "scope ignore concurrency", "exec", 0 },
	{ "tox", WRAP_RUN, 0, "ec", NULL, "exec", 0 },
	{ "devbox", WRAP_RUN, 0, "ce", "config env", "run", WRAP_ONE_CODE },
	{ "op", WRAP_RUN, 0, NULL, "env-file account", "run", 0 },
	{ "doppler", WRAP_RUN, 0, "pc", "project config command", "run",
	    0 },
	{ "aws-vault", WRAP_RUN, 1, "dt", "duration region", "exec",
	    WRAP_AGAIN },
	{ "chamber", WRAP_RUN, 1, NULL, NULL, "exec", WRAP_AGAIN },
	{ "sops", WRAP_RUN, 1, NULL, "user", "exec-env exec-file",
	    WRAP_ONE_CODE },
	{ "guix", WRAP_RUN, WRAP_NEVER, "emLf", "expression manifest load-path "
	    "file", "shell environment", WRAP_DASH_E },
	{ "tmux", WRAP_RUN, 0, "ceFfnstxylSTL", NULL, "new-session new "
	    "new-window neww split-window splitw respawn-pane respawnp "
	    "respawn-window respawnw run-shell run if-shell if pipe-pane "
	    "pipep display-popup popup send-keys send", WRAP_ONE_CODE },
	{ "screen", WRAP_PREFIX, 0, "cehpsStT", NULL, NULL, WRAP_ONE_CODE },
	{ "zellij", WRAP_RUN, 0, "dn", "direction name cwd", "run", 0 },
	{ "direnv", WRAP_RUN, 1, NULL, NULL, "exec", 0 },
	{ "opam", WRAP_RUN, 0, NULL, "switch", "exec", 0 },
	{ "stack", WRAP_RUN, 0, NULL, NULL, "exec", 0 },
	{ "rustup", WRAP_RUN, 1, NULL, NULL, "run", 0 },
	{ "nvm", WRAP_RUN, 1, NULL, NULL, "exec", 0 },
	{ "entr", WRAP_PREFIX, 0, NULL, NULL, NULL, 0 },
	{ "watchexec", WRAP_PREFIX, 0, "efiwsd", "exts filter ignore watch "
	    "signal debounce", NULL, WRAP_ONE_CODE },
	{ "concurrently", WRAP_STRING, 0, "ncpm", "names prefix-colors "
	    "prefix max-processes", NULL, WRAP_EACH },
	{ "watch", WRAP_STRING, 0, "nq", "interval equexit", NULL, 0 },
	{ "hyperfine", WRAP_STRING, 0, "wmMrpcPDLSnu", "warmup min-runs "
	    "max-runs runs parameter-scan parameter-step-size "
	    "parameter-list shell style sort export-json export-csv "
	    "export-markdown export-asciidoc time-unit command-name "
	    "output input", NULL, WRAP_EACH },
	{ "nodemon", WRAP_PREFIX, 0, "ewix", "ext watch ignore exec delay "
	    "signal config", NULL, 0 },
	{ "script", WRAP_STRING, WRAP_NEVER, "cEIOBToT", "command echo log-in "
	    "log-out log-io log-timing logging-format output-limit", NULL,
	    WRAP_CODE_C },
	{ "flock", WRAP_PREFIX, 1, "wEc", "timeout conflict-exit-code "
	    "command", NULL, WRAP_CODE_C | WRAP_AGAIN },
	/* Tcl, read as if it were shell: spawn, exec, system of one line */
	{ "expect", WRAP_PREFIX, WRAP_NEVER, "c", NULL, NULL, WRAP_CODE_C },
	{ "xterm", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL, WRAP_DASH_E },
	{ "rxvt", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL, WRAP_DASH_E },
	{ "urxvt", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL, WRAP_DASH_E },
	{ "konsole", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL, WRAP_DASH_E },
	{ "alacritty", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL, WRAP_DASH_E },
	{ "kitty", WRAP_PREFIX, 0, "ocTd", "config override title", NULL,
	    WRAP_DASH_E },
	{ "gnome-terminal", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL,
	    WRAP_DASH_E },
	{ "xfce4-terminal", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL,
	    WRAP_DASH_E },
	{ "x-terminal-emulator", WRAP_PREFIX, WRAP_NEVER, NULL, NULL, NULL,
	    WRAP_DASH_E }
};

/* ---- env and its kin ---- */

/* NAME=VALUE: 1 and judged as a variable, else 0.  to may be NULL. */
static int
take_assignment(const struct subject *s, const struct word *w,
    struct assignment *to)
{
	const char *text = word_start(w), *eq = strchr(text, '=');
	const struct word *value;
	char *name;

	if (eq == NULL || eq == text)
		return (0);
	name = judging_strndup(s->j, text, (size_t)(eq - text));
	value = word_rest(s->j, w, (size_t)(eq + 1 - text));
	shell_variable(s->j, s->c, name, value);
	judge_variable(s->j, s->c, name, value);
	if (to != NULL)
		*to = (struct assignment){ name, *value, 0 };
	return (1);
}

/* env -S: words, which more words follow. */
static void
split_string(const struct subject *s, const struct word *string,
    size_t rest, struct command **next)
{
	struct word *argv;
	const char *text = word_static(string);
	size_t n = 0, len, most;

	if (text == NULL || strpbrk(text, "'\"\\$`") != NULL) {
		subject_code(s, DIALECT_DASH, SHELL_CHILD, string);
		return;
	}
	most = strlen(text) / 2 + 1 + (s->argc - rest);
	if (!judging_afford(s->j, (s->argc - rest) * sizeof(*argv))) {
		class_find(s, CLASS_OPAQUE, "more words are put together than "
		    "is followed");
		if (rest < s->argc)
			*next = subject_command(s, s->c->cwd, s->argv + rest,
			    s->argc - rest);
		return;
	}
	argv = judging_alloc(s->j, most * sizeof(*argv));
	for (;; text += len) {
		text += strspn(text, " \t\n");
		if ((len = strcspn(text, " \t\n")) == 0)
			break;
		argv[n] = *word_make(s->j, judging_strndup(s->j, text, len),
		    string);
		if (n > 0 || !take_assignment(s, &argv[n], NULL))
			n++;
	}
	while (rest < s->argc)
		argv[n++] = s->argv[rest++];
	if (n > 0)
		*next = subject_command(s, s->c->cwd, argv, n);
}

/* ---- any wrapper ---- */

static struct names by_name = NAMES(wrappers);

int
wrapper_use(size_t i, struct wrapper_use *u)
{
	const struct wrap_row *row = &wrappers[i];

	if (i >= sizeof(wrappers) / sizeof(wrappers[0]))
		return (0);
	memset(u, 0, sizeof(*u));
	u->name = row->name;
	u->sub = row->kind == WRAP_RUN ? row->subs : NULL;
	u->code_c = (row->flags & WRAP_CODE_C) != 0;
	if (row->skip == WRAP_NEVER)
		u->none = 1;
	else
		u->skip = row->skip;
	u->is_string = row->kind == WRAP_STRING;
	return (1);
}

static const struct wrap_row *
find_row(const char *name)
{
	if (name_begins(name, "ld-linux") || name_begins(name, "ld-musl"))
		name = "ld.so";
	return (names_find(&by_name, name));
}

static int
listed(const char *list, const char *name)
{
	size_t n, len = strlen(name);

	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && strncmp(list, name, n) == 0)
			return (1);
	}
	return (0);
}

struct unwrapped {
	const struct wrap_row	*row;
	const char		*cwd;
	int			 is_code;	/* judged already */
	int			 query;		/* command -v: a name */
	int			 string;	/* entr -s: the rest is code */
	const struct word	*program;	/* start-stop-daemon --exec */
	struct command		**next;
	struct assignment	*assigns;	/* for what it starts, or NULL */
	size_t			 nassigns;
};
#define ASSIGNS_MAX	16

/* Words from there on are a command; one alone is code. */
static void
words_or_code(const struct subject *s, size_t at)
{
	if (at + 1 == s->argc && s->argv[at].text != NULL &&
	    strpbrk(s->argv[at].text, " \t\n;&|<>$`()") != NULL)
		subject_code(s, DIALECT_DASH, SHELL_CHILD, &s->argv[at]);
	else if (at < s->argc)
		subject_argv(s, s->argv + at, s->argc - at);
}

/* start-stop-daemon --exec FILE ... -- ARGUMENTS */
static void
start_daemon(const struct subject *s, const struct word *program)
{
	struct word *argv = judging_alloc(s->j, (s->argc + 1) * sizeof(*argv));
	size_t i, n = 0;

	argv[n++] = *program;
	for (i = 1; i < s->argc && !word_is(&s->argv[i], "--"); i++)
		continue;
	while (++i < s->argc)
		argv[n++] = s->argv[i];
	subject_argv(s, argv, n);
}

/* su USER ... -- WORDS: the words are a shell's. */
static void
login_words(const struct subject *s)
{
	static const struct word shell = { .text = "sh", .len = 2 };
	struct word *argv;
	size_t i, n = 0;

	for (i = 1; i < s->argc && !word_is(&s->argv[i], "--"); i++)
		continue;
	if (i + 1 >= s->argc)
		return;
	argv = judging_alloc(s->j, (s->argc + 1) * sizeof(*argv));
	argv[n++] = shell;
	/* the user may stand on either side */
	if (word_start(&s->argv[++i])[0] != '-' && i + 1 < s->argc)
		i++;
	while (i < s->argc)
		argv[n++] = s->argv[i++];
	if (n > 1)
		subject_argv(s, argv, n);
}

/* An option of a wrapper; 0 if the rest was judged with it. */
static int
wrapper_option(const struct subject *s, struct unwrapped *u,
    const struct opt *opt, size_t next)
{
	const char *name = u->row->name;

	if (strcmp(name, "command") == 0 && (opt_is(opt, 'v', NULL) ||
	    opt_is(opt, 'V', NULL)))
		u->query = 1;
	if ((strcmp(name, "env") == 0 || strcmp(name, "genv") == 0) &&
	    opt->value != NULL) {
		if (opt_is(opt, 'S', "split-string")) {
			split_string(s, opt->value, next, u->next);
			return (0);
		}
		if (opt_is(opt, 'C', "chdir"))
			u->cwd = word_static(opt->value) == NULL ? NULL :
			    shell_path(s->j, s->c->cwd, opt->value->text);
	}
	if ((u->row->flags & WRAP_CODE_C) != 0 && opt->value != NULL &&
	    (opt_is(opt, 'c', "command") || opt_is(opt, 0,
	    "session-command"))) {
		subject_code(s, DIALECT_BASH, SHELL_CHILD, opt->value);
		u->is_code = 1;
	}
	if (strcmp(name, "hyperfine") == 0 && opt->value != NULL &&
	    (opt_is(opt, 'p', "prepare") || opt_is(opt, 'c', "cleanup") ||
	    opt_is(opt, 's', "setup") || opt_is(opt, 0, "conclude")))
		subject_code(s, DIALECT_DASH, SHELL_CHILD, opt->value);
	if (strcmp(name, "nodemon") == 0 && opt->value != NULL &&
	    opt_is(opt, 'x', "exec")) {
		subject_code(s, DIALECT_DASH, SHELL_CHILD, opt->value);
		u->is_code = 1;
	}
	if (strcmp(name, "start-stop-daemon") == 0 && opt->value != NULL &&
	    (opt_is(opt, 'x', "exec") || opt_is(opt, 'a', "startas")))
		u->program = opt->value;
	if (strcmp(name, "entr") == 0 && opt_is(opt, 's', NULL))
		u->string = 1;
	if ((u->row->flags & WRAP_DASH_E) != 0 && (opt_is(opt, 'e', "command") ||
	    opt_is(opt, 'x', "execute"))) {
		if (opt->value != NULL)
			subject_code(s, DIALECT_DASH, SHELL_CHILD,
			    opt->value);
		else
			words_or_code(s, next);
		return (0);
	}
	if (strcmp(name, "time") == 0 && opt->value != NULL &&
	    opt_is(opt, 'o', "output"))
		zone_write(s, opt->value, CLASS_MUTATE, "writes its times");
	if (strcmp(name, "strace") == 0 && opt->value != NULL &&
	    opt_is(opt, 'o', "output"))
		zone_write(s, opt->value, CLASS_MUTATE, "writes a trace");
	return (1);
}

static void
started(const struct subject *s, const struct unwrapped *u, size_t at)
{
	const struct wrap_row *row = u->row;
	const struct word *w;
	size_t i;

	if (at >= s->argc || u->query) {
		if ((row->flags & WRAP_ALONE) != 0 && !u->is_code &&
		    s->c->input.kind != CONTENT_NONE) {
			struct shell_start start = {
				.who = SHELL_CHILD, .command = s->c,
				.code_on_stdin = 1
			};
			shell_judge_content(s->j, &s->c->input, DIALECT_BASH,
			    &start, s->out);
		}
		class_find(s, CLASS_READ, "starts nothing");
		return;
	}
	if (row->kind == WRAP_STRING || u->string) {
		if ((row->flags & WRAP_EACH) != 0) {
			for (i = at; i < s->argc; i++)
				subject_code(s, DIALECT_DASH, SHELL_CHILD,
				    &s->argv[i]);
			return;
		}
		w = subject_join(s, at);
		subject_code(s, DIALECT_DASH, (row->flags & WRAP_REMOTE) !=
		    0 ? SHELL_ELSEWHERE : SHELL_CHILD, w);
		return;
	}
	if ((row->flags & WRAP_ONE_CODE) != 0 && (at + 1 == s->argc ||
	    strchr(word_start(&s->argv[at]), ' ') != NULL)) {
		/* tmux send-keys "make test" Enter */
		if (at + 1 == s->argc)
			words_or_code(s, at);
		else
			subject_code(s, DIALECT_DASH, SHELL_CHILD,
			    &s->argv[at]);
		return;
	}
	*u->next = subject_command(s, (row->flags & WRAP_ELSEWHERE) != 0 ?
	    "/" : u->cwd, s->argv + at, s->argc - at);
	(*u->next)->assigns = u->assigns != NULL ? u->assigns :
	    s->c->assigns;
	(*u->next)->nassigns = u->assigns != NULL ? u->nassigns :
	    s->c->nassigns;
}

/* What stood in front of the wrapper counts, too; of many the first. */
static void
add_assignment(const struct subject *s, struct unwrapped *u,
    const struct assignment *given)
{
	if (u->assigns == NULL) {
		u->nassigns = s->c->nassigns < ASSIGNS_MAX ?
		    s->c->nassigns : ASSIGNS_MAX;
		if (u->nassigns == ASSIGNS_MAX)
			return;
		u->assigns = judging_alloc(s->j, ASSIGNS_MAX *
		    sizeof(*u->assigns));
		if (u->nassigns > 0)
			memcpy(u->assigns, s->c->assigns, u->nassigns *
			    sizeof(*u->assigns));
	}
	if (u->nassigns < ASSIGNS_MAX)
		u->assigns[u->nassigns++] = *given;
}

int
wrapper_judge(const struct subject *s, struct command **next)
{
	struct assignment given;
	struct unwrapped u = { .cwd = s->c->cwd, .next = next };
	struct optspec spec;
	struct optscan o;
	struct opt opt;
	size_t login = s->argc;
	unsigned skip;
	int first = 1;

	if ((u.row = find_row(s->name)) == NULL)
		return (0);
	spec.shorts = u.row->shorts;
	spec.longs = u.row->longs;
	spec.flags = (u.row->skip < WRAP_NEVER ? OPT_STOPS : 0) |
	    ((u.row->flags & WRAP_ONE_DASH) != 0 ? OPT_ONE_DASH : 0);
	if ((u.row->flags & WRAP_ELEVATED) != 0)
		class_findf(s, CLASS_ELEVATED, "%s acts with other rights",
		    &s->argv[0]);
	if ((u.row->flags & WRAP_REMOTE) != 0)
		class_findf(s, CLASS_NET_WRITE, "%s acts on other hosts",
		    &s->argv[0]);
	skip = u.row->skip;
	if ((u.row->flags & WRAP_LOGIN) != 0 && !opt_has(s, 1, &spec, 'u',
	    "user")) {
		skip = WRAP_NEVER;
		spec.flags &= ~(unsigned)OPT_STOPS;
	}
	if (skip >= WRAP_NEVER && (u.row->flags & WRAP_CODE_C) != 0)
		login_words(s);
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND) {
			if (!wrapper_option(s, &u, &opt, o.next))
				return (1);
			continue;
		}
		if ((u.row->flags & WRAP_ASSIGNS) != 0 &&
		    take_assignment(s, opt.word, &given)) {
			add_assignment(s, &u, &given);
			/* sudo takes them among its options */
			o.ended = (u.row->flags & WRAP_ELEVATED) == 0;
			continue;
		}
		/* env -: as -i */
		if ((u.row->flags & WRAP_ASSIGNS) != 0 &&
		    strcmp(word_start(opt.word), "-") == 0) {
			o.ended = 0;
			continue;
		}
		if (u.row->kind == WRAP_RUN && first) {
			if (word_static(opt.word) == NULL ||
			    !listed(u.row->subs, opt.word->text))
				return (0);
			first = 0;
			o.ended = 0;
			continue;
		}
		if ((u.row->flags & WRAP_DASH_E) != 0 && opt.at > 1 &&
		    word_is(&s->argv[opt.at - 1], "--")) {
			words_or_code(s, opt.at);
			return (1);
		}
		if (skip > 0) {
			skip--;
			/* a user; but rather too much than too little */
			if (login > opt.at)
				login = opt.at;
			if ((u.row->flags & WRAP_AGAIN) != 0)
				o.ended = 0;
			continue;
		}
		started(s, &u, opt.at);
		return (1);
	}
	if (u.program != NULL)
		start_daemon(s, u.program);
	if (u.row->kind == WRAP_RUN && first)
		return (0);
	started(s, &u, (u.row->flags & WRAP_LOGIN) != 0 ? login : s->argc);
	return (1);
}
