/*
 * Code of interpreters: the calls in it that execute or delete, as far as what
 * they are given is certain.
 */
#include <ctype.h>
#include <string.h>

#include "class.h"
#include "judge_int.h"

#define CODE_COST	8	/* bytes of work, of one of code */

/*
 * A call that executes or deletes, with what it is given as literals: all
 * that is certain.  Everything else in the code is the neuron's to contain.
 */
static const char *const exec_calls[] = {
	"os.system", "os.popen", "os.exec", "os.spawn", "os.posix_spawn",
	"subprocess.run", "subprocess.call", "subprocess.Popen",
	"subprocess.check_call", "subprocess.check_output",
	"subprocess.getoutput", "subprocess.getstatusoutput",
	"commands.getoutput", "pty.spawn", "Popen", "check_output",
	"check_call", "system", "exec", "execSync", "execFile",
	"execFileSync", "spawnSync", "spawn", "popen", "shell_exec",
	"passthru", "proc_open", "qx", "open", "IO.popen", "os.execute",
	"execute", "shell-command", "call-process", "start-process",
	"call-process-shell-command", "shell-command-to-string", "posix_spawn",
	"pcntl_exec", "create_subprocess_shell", "create_subprocess_exec",
	"execvp", "execv", "execl", "execlp", "exec_command", "getoutput",
	"getstatusoutput", "Process.spawn", "Kernel.system", "Command.new",
	"sh", "execa", "execaSync", "ProcessBuilder", "doShellScript",
	"Open3.capture2",
	"Open3.capture2e", "Open3.capture3", "Deno.run", "Bun.spawn", "run",
	"Deno.Command", "System.cmd", "System.shell", "shell", "system2",
	"Process.run", "Command", NULL
};
static const char *const delete_calls[] = {
	"shutil.rmtree", "rmtree", "rm_rf", "rm_r", "remove_tree",
	"FileUtils.rm_rf", "FileUtils.rm_r", "FileUtils.remove_dir",
	"remove_entry_secure", "rmSync", "rmdirSync", "removeSync", "rimraf",
	"fs.rm", "fs.rmdir", "promises.rm", "rm_rf!", "remove_entry",
	"rmtree_p", "delete-directory", "os.RemoveAll", "remove_dir_all",
	"Deno.removeSync", "File.rm_rf", NULL
};

static int
is_word(const struct subject *s, char c)
{
	/* a name of Lisp holds "-" */
	return ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '.' ||
	    (c == '-' && (same_name(s->name, "emacs") ||
	    same_name(s->name, "guile"))));
}

/*
 * Loops without an end whose body begins with a fork, blanks taken out.
 */
static int
forks_forever(struct judging *j, const char *code, size_t len)
{
	static const char *const heads[] = { "whileTrue:", "while1:",
		"while(1)", "while(true)", "while(True):", "for(;;)", "loop",
		"loopdo", "whiletruedo", "whiletrue", "while1", NULL };
	static const char *const forks[] = { "fork", "os.fork(", "{fork",
		"{os.fork(", "Process.fork", "{pcntl_fork(", "pcntl_fork(",
		"posix.fork(", "{posix.fork(", NULL };
	char *text = judging_alloc(j, len + 1);
	const char *p, *at;
	size_t i, k, n = 0;

	for (i = 0; i < len; i++)
		if (strchr(" \t\n;", code[i]) == NULL || code[i] == '\0')
			text[n++] = code[i];
	if (strstr(text, "forkwhilefork") != NULL ||
	    strstr(text, "forkwhile1") != NULL ||
	    strstr(text, "fork()while1") != NULL ||
	    strstr(text, "forkwhiletrue") != NULL)
		return (1);
	for (i = 0; heads[i] != NULL; i++)
		for (p = text; (at = strstr(p, heads[i])) != NULL; p = at + 1)
			for (k = 0; forks[k] != NULL; k++)
				if (strncmp(at + strlen(heads[i]), forks[k],
				    strlen(forks[k])) == 0)
					return (1);
	return (0);
}

/*
 * A string literal at p: its end, its text in the arena.  NULL if there is
 * none.  Escapes as in C, as far as commands need.  unclosed is set when too
 * much was read in vain to look for more.
 */
static const char *
literal(struct judging *j, const char *p, const char *end, char **text,
    int *unclosed)
{
	char quote = *p, *to;
	const char *close;
	int triple;

	if (*unclosed || (quote != '"' && quote != '\'' && quote != '`'))
		return (NULL);
	triple = end - p >= 3 && p[1] == quote && p[2] == quote;
	p += triple ? 3 : 1;
	for (close = p; close < end && !(*close == quote && (!triple ||
	    (end - close >= 3 && close[1] == quote && close[2] == quote)));
	    close++)
		if (*close == '\\' && close + 1 < end)
			close++;
	if (close >= end) {
		/* Of a quote that is tried again each try is paid for. */
		*unclosed |= !judging_afford(j, (size_t)(end - p));
		return (NULL);
	}
	to = *text = judging_alloc(j, (size_t)(close - p) + 1);
	while (p < close) {
		if (*p == '\\') {
			p++;
			*to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
			p++;
		} else
			*to++ = *p++;
	}
	return (close + (triple ? 3 : 1));
}

/* The literals between here and the closing parenthesis, by spaces. */
static const char *
call_literals(struct judging *j, const char *p, const char *end, char *joined,
    size_t room, int *unclosed)
{
	const char *next;
	char *text;
	size_t used = 0, n;
	int depth = 1;

	joined[0] = '\0';
	while (p < end && depth > 0) {
		if ((*p == '"' || *p == '\'' || *p == '`') &&
		    (next = literal(j, p, end, &text, unclosed)) != NULL) {
			n = strlen(text);
			if (used + n + 2 < room) {
				if (used > 0)
					joined[used++] = ' ';
				memcpy(joined + used, text, n + 1);
				used += n;
			}
			p = next;
			continue;
		}
		if (*p == '(' || *p == '[' || *p == '{')
			depth++;
		else if (*p == ')' || *p == ']' || *p == '}')
			depth--;
		p++;
	}
	return (p);
}

void
interpreter_command(const struct subject *s, const char *text, int is_line)
{
	struct shell_start start = { .who = SHELL_CHILD, .command = s->c };
	size_t len = strlen(text);
	enum verdict v;

	if (len == 0 || !judging_again(s->j, len, s->c))
		return;
	v = subject_code_verdict(s, text, len);
	if (v == VERDICT_DENY || (is_line && v == VERDICT_ASK))
		shell_judge(s->j, text, len, DIALECT_BASH, &start, NULL);
}

/* Calls whose first literal is a line for a shell, and nothing else. */
static const char *const line_calls[] = {
	"os.system", "os.popen", "subprocess.run", "subprocess.call",
	"subprocess.Popen", "subprocess.check_call",
	"subprocess.check_output", "subprocess.getoutput",
	"subprocess.getstatusoutput", "execSync", "child_process.exec",
	"shell_exec", "passthru", "os.execute", "io.popen", "IO.popen", NULL
};

/* Calls that make or change a file, by its name. */
static const char *const write_calls[] = {
	"open", "writeFileSync", "appendFileSync", "writeFile", "appendFile",
	"createWriteStream", "file_put_contents", "fopen", "File.write",
	"File.open", NULL
};

/* open("FILE", "w"), open(F, ">FILE"), open(F, "COMMAND|") */
static void
opens(const struct subject *s, const char *called, const char *joined)
{
	const char *mode = strchr(joined, ' ');
	size_t n = mode == NULL ? strlen(joined) : (size_t)(mode - joined);
	char *text;

	/* perl, ruby: a pipe */
	if (joined[0] == '|' || strncmp(joined, "-|", 2) == 0) {
		interpreter_command(s, joined + strcspn(joined, "|") + 1, 1);
		return;
	}
	if (joined[0] != '\0' && joined[strlen(joined) - 1] == '|') {
		text = judging_strndup(s->j, joined, strlen(joined) - 1);
		interpreter_command(s, text, 1);
		return;
	}
	text = judging_alloc(s->j, strlen(joined) + 8);
	if (joined[0] == '>') {
		memcpy(text, ": ", 2);
		strcpy(text + 2, joined);
	} else if (strstr(called, "rite") != NULL || strstr(called,
	    "append") != NULL || strstr(called, "put") != NULL ||
	    (mode != NULL && strpbrk(mode, "wax+") == mode + 1)) {
		memcpy(text, ": > ", 4);
		memcpy(text + 4, joined, n);
		text[4 + n] = '\0';
	} else
		return;
	interpreter_command(s, text, 0);
}

/* qx(...), qx{...} of perl, %x(...) of ruby: the command; NULL: none. */
static const char *
quoted_command(const struct subject *s, const char *p, const char *end)
{
	static const char open[] = "({[<", close[] = ")}]>";
	const char *at, *stop;

	if (p >= end || isspace((unsigned char)*p))
		return (NULL);
	at = strchr(open, *p);
	stop = memchr(p + 1, at == NULL ? *p : close[at - open],
	    (size_t)(end - p - 1));
	if (stop == NULL) {
		/* Of one that is tried again each try is paid for. */
		(void)subject_affords(s, (size_t)(end - p));
		return (NULL);
	}
	interpreter_command(s, judging_strndup(s->j, p + 1, (size_t)(stop - p -
	    1)), 1);
	return (stop + 1);
}

/* Calls that take any text and start nothing. */
static const char *const harmless[] = {
	"print", "log", "puts", "echo", "printf", "println", "write", "info",
	"debug", "warn", "error", "format", "append", "push", "search",
	"match", "sub", "replace", "test", "includes", "find", "split",
	"join", "len", "input", "str", "encode", "strip", "if", "while",
	"require", "import", "p", "say", "assert", "assertEqual", "expect",
	"add_argument", "compile", "dumps", "loads", "stringify", NULL
};

/* Code that starts commands gave the call another name, perhaps. */
static void
renamed_call(const struct subject *s, const char *text)
{
	size_t len = strlen(text);

	if (len > 0 && judging_again(s->j, len, s->c) &&
	    subject_code_verdict(s, text, len) == VERDICT_DENY)
		class_findf(s, CLASS_OPAQUE, "%s may start a command that "
		    "would be denied", &s->argv[0]);
}

/* Code that is read from its begin to its end. */
struct scan {
	const char	*end;
	char		*joined;	/* the literals of a call, room bytes */
	size_t		 room;
	int		 unclosed;
	int		 starts;	/* commands, somewhere */
};

/* Behind a literal, or behind a command that is one; NULL: neither is here. */
static const char *
scan_literal(const struct subject *s, struct scan *c, const char *p)
{
	const char *next = NULL;
	char *text;

	/* `...` of perl, ruby, php */
	if (*p == '`' && !same_name(s->name, "node") && (next = literal(s->j,
	    p, c->end, &text, &c->unclosed)) != NULL)
		interpreter_command(s, text, 1);
	else if (*p == '"' || *p == '\'')
		next = literal(s->j, p, c->end, &text, &c->unclosed);
	else if (*p == '%' && c->end - p > 3 && p[1] == 'x' &&
	    strncmp(s->name, "ruby", 4) == 0)
		next = quoted_command(s, p + 2, c->end);
	return (next);
}

static void
deletes(const struct subject *s, const char *joined)
{
	char *rm = judging_alloc(s->j, strlen(joined) + 8);

	memcpy(rm, "rm -rf ", 7);
	memcpy(rm + 7, joined, strlen(joined) + 1);
	interpreter_command(s, rm, 0);
}

enum call_kind { CALL_OTHER, CALL_OPENS, CALL_STARTS, CALL_DELETES, CALL_ANY };

static enum call_kind
call_kind(const char *called, const char *name, int starts)
{
	if (in_list(called, write_calls) || in_list(name, write_calls))
		return (CALL_OPENS);
	if (in_list(called, exec_calls) || in_list(name, exec_calls) ||
	    strncmp(called, "os.exec", 7) == 0 ||
	    strncmp(called, "os.spawn", 8) == 0)
		return (CALL_STARTS);
	if (in_list(called, delete_calls) || in_list(name, delete_calls))
		return (CALL_DELETES);
	return (starts && !in_list(name, harmless) ? CALL_ANY : CALL_OTHER);
}

/* A call whose arguments begin at p; 0 if there is no more to be afforded. */
static int
scan_call(const struct subject *s, struct scan *c, const char *called,
    const char *p)
{
	const char *name, *next;
	enum call_kind kind;

	/* the last part counts: x.run, child_process.execSync */
	name = strrchr(called, '.');
	name = name == NULL ? called : name + 1;
	if ((kind = call_kind(called, name, c->starts)) == CALL_OTHER)
		return (1);
	next = call_literals(s->j, p, c->end, c->joined, c->room,
	    &c->unclosed);
	if (!subject_affords(s, (size_t)(next - p)))
		return (0);
	if (kind == CALL_OPENS)
		opens(s, name, c->joined);
	else if (kind == CALL_STARTS)
		interpreter_command(s, c->joined,
		    in_list(called, line_calls) || in_list(name, line_calls));
	else if (kind == CALL_DELETES)
		deletes(s, c->joined);
	else
		renamed_call(s, c->joined);
	return (1);
}

void
interpreter_code(const struct subject *s, const char *code, size_t len)
{
	const char *p = code, *end = code + len, *name, *next;
	struct scan c = { .end = end, .room = len + 16 };
	char *called, buf[64];
	size_t n;

	if (!subject_affords(s, len * CODE_COST))
		return;
	c.joined = judging_alloc(s->j, c.room);
	if (forks_forever(s->j, code, len)) {
		class_find(s, HARD_FORKBOMB, "forks for ever");
		return;
	}
	c.starts = interpreter_starts(code, len);
	while (p < end) {
		if ((next = scan_literal(s, &c, p)) != NULL) {
			p = next;
			continue;
		}
		if (!is_word(s, *p)) {
			p++;
			continue;
		}
		for (name = p; p < end && is_word(s, *p); p++)
			continue;
		n = (size_t)(p - name);
		called = n < sizeof(buf) ? memcpy(buf, name, n) :
		    judging_strndup(s->j, name, n);
		called[n] = '\0';
		if (strcmp(called, "qx") == 0 && (next = quoted_command(s, p,
		    end)) != NULL) {
			p = next;
			continue;
		}
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p >= end)
			break;
		if (*p == '(')
			p++;
		else if (*p != '"' && *p != '\'' && *p != '{' &&
		    *p != '[' && strncmp(called, "open", 5) != 0)
			continue;
		if (!scan_call(s, &c, called, p))
			return;
	}
}

int
interpreter_starts(const char *code, size_t len)
{
	static const char *const starts[] = { "os.system", "os.popen",
		"subprocess", "child_process", "shell_exec", "passthru",
		"system(", "import system", "import popen", NULL };
	size_t i;

	for (i = 0; starts[i] != NULL; i++)
		if (memmem(code, len, starts[i], strlen(starts[i])) != NULL)
			return (1);
	return (0);
}
