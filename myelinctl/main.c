/*
 * myelinctl: the command line of Myelin's users and operators.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "option.h"
#include "words.h"

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

/* ---- saying things ---- */

static void	say(const char *, const char *, va_list)
    __attribute__((__format__(__printf__, 2, 0)));

static void
say(const char *before, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) == -1)
		return;
	/* Before what was printed already stands beside it in a file. */
	fflush(stdout);
	fputs(before, stderr);
	words_put(stderr, text, strlen(text));
	fputc('\n', stderr);
	free(text);
}

void
complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("myelinctl: ", fmt, ap);
	va_end(ap);
}

void
advise(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("  next: ", fmt, ap);
	va_end(ap);
}

int
usage_error(const struct options *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("myelinctl: ", fmt, ap);
	va_end(ap);
	advise("myelinctl -h shows how");
	return (o->failure == EXIT_MYELIN ? EXIT_MYELIN : EXIT_USAGE);
}

/* The letters stand for options: option.c has their table. */
static const struct command commands[] = {
	{ "run", "swWCepPTD", 1, EXIT_MYELIN, "[--] program [argument ...]",
	    "run a program in a neuron (sandbox) of its own", cmd_run },
	{ "shell", "swWCepPTS", 1, EXIT_MYELIN, "[--] [program [argument ...]]",
	    "run a shell, or another program, in a neuron on this terminal",
	    cmd_shell },
	{ "call", "sojwWCepPTSD", 0, EXIT_FAILED,
	    "TOOL JSON | show ID | explain ID | cancel ID", "use a tool; "
	    "print its result, or what became of a call; end one", cmd_call },
	{ "cp", "sr", 0, EXIT_FAILED, "FROM TO", "copy a file from or to a "
	    "session, SESSION:PATH", cmd_cp },
	{ "files", "sjn", 0, EXIT_FAILED, "SESSION [PATH]", "list a directory "
	    "of a session's neuron", cmd_files },
	{ "sessions", "sojnwWpPXU", 0, EXIT_FAILED,
	    "[open | end ID | end all | show ID]",
	    "list, open, end and read sessions", cmd_sessions },
	{ "calls", "sojnS", 0, EXIT_FAILED, "", "list calls", cmd_calls },
	{ "neurons", "sojnwpNBI", 0, EXIT_FAILED,
	    "[list | create | show NEURON | destroy NEURON ...]", "list "
	    "neurons, and make, read and destroy persistent ones",
	    cmd_neurons },
	{ "tools", "sj", 0, EXIT_FAILED, "", "list the tools of your preset",
	    cmd_tools },
	{ "whoami", "soj", 0, EXIT_FAILED, "", "who you are here, and what "
	    "you may do", cmd_whoami },
	{ "limits", "soj", 0, EXIT_FAILED, "", "show every limit",
	    cmd_limits },
	{ "status", "sj", 0, EXIT_FAILED, "", "how the service is "
	    "(operators)", cmd_status },
	{ "metrics", "s", 0, EXIT_FAILED, "", "numbers of the service, as "
	    "Prometheus reads them (operators)", cmd_metrics },
	{ "log", "sj1", 0, EXIT_FAILED, "ID", "all there is of a request, "
	    "call, approval, session, neuron or key (operators)", cmd_log },
	{ "log-level", "s", 0, EXIT_FAILED, "[verbose | brief]", "how much the "
	    "service logs (operators)", cmd_log_level },
	{ "backup", "s", 0, EXIT_FAILED, "FILE [STATE]", "copy the state to a "
	    "file (root)", cmd_backup },
	{ "restore", "", 0, EXIT_FAILED, "FILE [STATE]", "put a backup in the "
	    "state's place (root)", cmd_restore },
	{ "drain", "sjTZ", 0, EXIT_FAILED, "", "take no new calls, and wait "
	    "for those that run (operators)", cmd_drain },
	{ "prune", "sjOD", 0, EXIT_FAILED, "", "remove old transcripts "
	    "(operators)", cmd_prune },
	{ "secrets", "sj", 0, EXIT_FAILED, "[list | add NAME | delete NAME]",
	    "register values that output must not show (operators)",
	    cmd_secrets },
	{ "keys", "sjXV", 0, EXIT_FAILED,
	    "[list | add NAME | rotate KEY | revoke KEY]", "keys of clients "
	    "that come over TCP (operators)", cmd_keys },
	{ "approvals", "sjnARx", 0, EXIT_FAILED, "[show ID | revoke ID | "
	    "watch [argument ...] | suggest]", "what waits for a decision "
	    "(operators)", cmd_approvals },
	{ "approve", "sjFGYd", 0, EXIT_FAILED, "ID", "show what waits, and "
	    "allow it (operators)", cmd_approve },
	{ "reject", "sjGd", 0, EXIT_FAILED, "ID", "reject what waits "
	    "(operators)", cmd_reject },
	{ "audit", "sjnf1234", 0, EXIT_FAILED,
	    "verify [DIR | FILE ...] | tail | export [FILE]",
	    "check, read or copy the audit log (operators)", cmd_audit },
	{ "mcp", "swWpPT", 0, EXIT_FAILED, "", "the stdio server for clients "
	    "of MCP: what an agent's configuration starts", cmd_mcp },
	{ "doctor", "sj", 0, EXIT_FAILED, "[LAYER ...]", "what this host has "
	    "of what Myelin needs, or all of some layers", cmd_doctor },
	{ "judge", "jEwCL", 1, EXIT_FAILED, "[--] TEXT | -", "what the judge "
	    "would say of a shell command", cmd_judge },
	{ "version", "sj", 0, EXIT_FAILED, "", "print the version",
	    cmd_version },
};

/* ---- help ---- */

static void
help_command(const struct command *command)
{
	const struct option_row *row;
	char left[48];
	const char *p;

	printf("usage: myelinctl %s%s%s%s\n\n%s\n\n", command->name,
	    command->letters[0] != '\0' ? " [options]" : "",
	    command->operands[0] != '\0' ? " " : "", command->operands,
	    command->words);
	for (p = command->letters; *p != '\0'; p++) {
		row = option_find(*p);
		snprintf(left, sizeof(left), "%c%c%s--%s%s%s",
		    row->is_short ? '-' : ' ', row->is_short ? row->letter :
		    ' ', row->is_short ? ", " : "  ", row->name,
		    row->value != NULL ? " " : "",
		    row->value != NULL ? row->value : "");
		printf("  %-26s %s\n", left, row->words);
	}
}

static void
help(void)
{
	size_t i;

	printf("usage: myelinctl [-s socket] command [options] ...\n\n");
	for (i = 0; i < NITEMS(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].words);
	printf("\nmyelinctl command -h shows the options of a command; "
	    "myelinctl(1) tells all.\n");
}

/* ---- a command ---- */

static const struct command *
command_find(const char *name)
{
	size_t i;

	for (i = 0; i < NITEMS(commands); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return (&commands[i]);
	}
	return (NULL);
}

/* A program that was started with fds closed must not take a socket for one
 * of them. */
static void
hold_stdio(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
		    open("/dev/null", O_RDWR) == -1)
			exit(EXIT_MYELIN);
	}
}

static int
run_command(const struct command *command, struct options *o, int argc,
    char **argv)
{
	int status;

	o->failure = command->failure;
	switch (options_read(o, command->letters, command->first_ends, argc,
	    argv)) {
	case 0:
		break;
	case 1:
		help_command(command);
		return (0);
	default:
		return (o->failure == EXIT_MYELIN ? EXIT_MYELIN : EXIT_USAGE);
	}
	status = command->fn(o, argc - optind, argv + optind);
	json_decref(o->env);
	json_decref(o->labels);
	if (fflush(stdout) == EOF && status == 0) {
		complain("writing output: %s", strerror(errno));
		status = o->failure;
	}
	return (status);
}

int
main(int argc, char **argv)
{
	struct options o = { .failure = EXIT_FAILED, .older_than = -1 };
	const struct command *command;

	hold_stdio();
	signal(SIGPIPE, SIG_IGN);
	/* Which characters the terminal knows; nothing else of the locale. */
	(void)setlocale(LC_CTYPE, "");
	if (argc == 2 && strcmp(argv[1], "--version") == 0)
		return (cmd_version(&o, 0, NULL));
	switch (options_read(&o, "so", 1, argc, argv)) {
	case 0:
		break;
	case 1:
		help();
		return (0);
	default:
		return (EXIT_USAGE);
	}
	argc -= optind;
	argv += optind;
	if (argc == 0) {
		help();
		return (EXIT_USAGE);
	}
	if ((command = command_find(argv[0])) == NULL) {
		complain("no command \"%s\"", argv[0]);
		advise("myelinctl -h lists them");
		return (EXIT_USAGE);
	}
	return (run_command(command, &o, argc, argv));
}
