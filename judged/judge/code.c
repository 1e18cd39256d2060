/*
 * Programs that are given code: shells, interpreters, editors, make.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "judge_int.h"
#include "options.h"
#include "zone.h"

/* A file that nothing here wrote: the workspace's own, as one named is. */
static int
own_file(const struct content *in)
{
	return (in->kind == CONTENT_UNKNOWN && in->path != NULL &&
	    in->text == NULL);
}

/* ---- shells ---- */

static enum dialect
dialect_of(const char *name)
{
	static const char *const dash[] = { "sh", "dash", "ash", NULL };

	if (name[0] == '-')
		name++;
	if (in_list(name, dash))
		return (DIALECT_DASH);
	return (strcmp(name, "bash") == 0 || strcmp(name, "rbash") == 0 ?
	    DIALECT_BASH : DIALECT_OTHER);
}

struct shell_words {
	int			 code;	/* -c was there */
	int			 input;	/* -s was there */
	const struct word	*first;	/* operand */
	size_t			 at;	/* its index */
	int			 traces;
};

static void
shell_words(const struct subject *s, struct shell_words *w)
{
	static const struct optspec spec = { "oO", "rcfile init-file",
	    OPT_STOPS };
	struct optscan o;
	struct opt opt;

	memset(w, 0, sizeof(*w));
	w->at = s->argc;
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			/* "+x" is an option, too */
			if (word_start(opt.word)[0] == '+' &&
			    w->first == NULL) {
				o.ended = 0;
				if (strchr("oO", opt.word->text[1]) != NULL &&
				    opt.word->text[1] != '\0')
					o.next++;
				continue;
			}
			if (strcmp(word_start(opt.word), "-") == 0 &&
			    w->first == NULL)
				continue;
			w->first = opt.word;
			w->at = opt.at;
			return;
		}
		if (opt.letter == 'c')
			w->code = 1;
		else if (opt.letter == 's')
			w->input = 1;
		else if (opt.value != NULL && (opt_is(&opt, 0, "rcfile") ||
		    opt_is(&opt, 0, "init-file"))) {
			struct content content;
			struct shell_start start = {
				.who = SHELL_CHILD, .command = s->c
			};

			shell_file_get(s->j, s->c, opt.value, &content);
			if (content.kind != CONTENT_INHERITED)
				shell_judge_content(s->j, &content,
				    DIALECT_BASH, &start, NULL);
		}
	}
}

void
handle_shell(const struct subject *s)
{
	enum dialect dialect = dialect_of(s->name);
	struct shell_start start = { .who = SHELL_CHILD, .command = s->c };
	struct shell_words w;
	struct content content;

	shell_words(s, &w);
	class_find(s, CLASS_READ, "starts a shell");
	if (w.code) {
		if (w.first == NULL)
			return;		/* an error */
		start.argv = s->argv + w.at + 1;
		start.argc = s->argc - w.at - 1;
		shell_judge_word(s->j, w.first, dialect, &start, s->out);
		return;
	}
	if (w.first != NULL && !w.input) {
		start.argv = s->argv + w.at;
		start.argc = s->argc - w.at;
		shell_file_get(s->j, s->c, w.first, &content);
		if (!word_known(w.first) && content.kind == CONTENT_INHERITED)
			class_findf(s, CLASS_OPAQUE, "the script is not "
			    "known: %s", w.first);
		else if (content.kind != CONTENT_INHERITED)
			shell_judge_content(s->j, &content, dialect, &start,
			    s->out);
		return;
	}
	start.code_on_stdin = 1;
	if (s->c->input.kind == CONTENT_INHERITED) {
		if (judging_context(s->j)->streamed)
			class_find(s, CLASS_OPAQUE, "a shell that reads its "
			    "commands from the call's stdin");
	} else if (!own_file(&s->c->input))
		shell_judge_content(s->j, &s->c->input, dialect, &start,
		    s->out);
}

/* ---- interpreters ---- */

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
	"sh", "execa", "execaSync", "ProcessBuilder", "doShellScript", "Open3.capture2",
	"Open3.capture2e", "Open3.capture3", "Deno.run", "Bun.spawn", "run",
	NULL
};
static const char *const delete_calls[] = {
	"shutil.rmtree", "rmtree", "rm_rf", "rm_r", "remove_tree",
	"FileUtils.rm_rf", "FileUtils.rm_r", "FileUtils.remove_dir",
	"remove_entry_secure", "rmSync", "rmdirSync", "removeSync", "rimraf",
	"fs.rm", "fs.rmdir", "promises.rm", "rm_rf!", "remove_entry",
	"rmtree_p", "delete-directory", "os.RemoveAll", "remove_dir_all",
	NULL
};

static int
is_word(const struct subject *s, char c)
{
	/* a name of Lisp holds "-" */
	return ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c == '.' ||
	    (c == '-' && (strcmp(s->name, "emacs") == 0 ||
	    strcmp(s->name, "guile") == 0)));
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
		if ((*p == '"' || *p == '\'') &&
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

static void
deny_if(const struct subject *s, const char *text, const char *what)
{
	size_t len = strlen(text);

	if (len > 0 && judging_again(s->j, len, s->c) &&
	    subject_code_would_deny(s, text, len)) {
		struct shell_start start = {
			.who = SHELL_CHILD, .command = s->c
		};

		(void)what;
		shell_judge(s->j, text, len, DIALECT_BASH, &start, NULL);
	}
}

void
interpreter_code(const struct subject *s, const char *code, size_t len)
{
	const char *p = code, *end = code + len, *name, *next, *word;
	char *joined, *text, *called, *rm;
	size_t n, room;
	int unclosed = 0;

	if (!subject_affords(s, len * CODE_COST))
		return;
	room = len + 16;
	joined = judging_alloc(s->j, room);
	if (forks_forever(s->j, code, len)) {
		class_find(s, HARD_FORKBOMB, "forks for ever");
		return;
	}
	while (p < end) {
		/* `...` of perl, ruby, php */
		if (*p == '`' && strcmp(s->name, "node") != 0 &&
		    (next = literal(s->j, p, end, &text, &unclosed)) != NULL) {
			deny_if(s, text, "backticks");
			p = next;
			continue;
		}
		if ((*p == '"' || *p == '\'') &&
		    (next = literal(s->j, p, end, &text, &unclosed)) != NULL) {
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
		word = name;
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		if (p >= end)
			break;
		if (*p == '(')
			p++;
		else if (*p != '"' && *p != '\'' && *p != '{' && *p != '[')
			continue;
		called = judging_strndup(s->j, word, n);
		/* the last part counts: x.run, child_process.execSync */
		name = strrchr(called, '.');
		name = name == NULL ? called : name + 1;
		if (in_list(called, exec_calls) || in_list(name, exec_calls) ||
		    strncmp(called, "os.exec", 7) == 0 ||
		    strncmp(called, "os.spawn", 8) == 0) {
			next = call_literals(s->j, p, end, joined, room,
			    &unclosed);
			if (!subject_affords(s, (size_t)(next - p)))
				return;
			deny_if(s, joined, called);
		} else if (in_list(called, delete_calls) ||
		    in_list(name, delete_calls)) {
			next = call_literals(s->j, p, end, joined, room,
			    &unclosed);
			if (!subject_affords(s, (size_t)(next - p)))
				return;
			rm = judging_alloc(s->j, strlen(joined) + 8);
			memcpy(rm, "rm -rf ", 7);
			memcpy(rm + 7, joined, strlen(joined) + 1);
			deny_if(s, rm, called);
		}
	}
}

struct interpreter {
	const char	*name;
	const char	*code;		/* letters whose value is code */
	const char	*values;	/* letters that take a value */
	const char	*longs;
	const char	*module;	/* letter of a module to run, or NULL */
};

static const struct interpreter interpreters[] = {
	{ "python", "c", "cmWXQ", "check-hash-based-pycs", "m" },
	{ "pypy", "c", "cmWXQ", NULL, "m" },
	{ "perl", "eE", "eEIFmM", NULL, NULL },
	{ "ruby", "e", "eIrCEFKxTW", "encoding", NULL },
	{ "node", "ep", "eprC", "eval print require import conditions "
	    "input-type", NULL },
	{ "nodejs", "ep", "epr", "eval print require", NULL },
	{ "deno", "", "", NULL, NULL },
	{ "bun", "e", "e", "eval", NULL },
	{ "php", "r", "rcdzBREFS", "run define", NULL },
	{ "lua", "e", "el", NULL, NULL },
	{ "Rscript", "e", "e", NULL, NULL },
	{ "tclsh", "", "", NULL, NULL },
	{ "osascript", "e", "el", NULL, NULL },
	{ "guile", "c", "ceslL", NULL, NULL },
	{ "groovy", "e", "e", NULL, NULL },
	{ "jshell", "", "", NULL, NULL },
	{ "emacs", "", "fluLqT", "eval execute load file funcall user "
	    "directory script", NULL }
};

static const struct interpreter *
interpreter_of(const char *name)
{
	size_t i, n;

	for (i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		n = strlen(interpreters[i].name);
		/* python3, python3.11, perl5.36 */
		if (strncmp(name, interpreters[i].name, n) == 0 &&
		    strspn(name + n, "0123456789.") == strlen(name + n))
			return (&interpreters[i]);
	}
	return (NULL);
}

static void
interpret(const struct subject *s, const struct content *content)
{
	switch (content->kind) {
	case CONTENT_NETWORK:
		class_findf(s, CLASS_REMOTE, "%s runs code from the network",
		    &s->argv[0]);
		break;
	case CONTENT_TEXT:
		interpreter_code(s, content->text, content->len);
		break;
	case CONTENT_UNKNOWN:
		class_findf(s, CLASS_OPAQUE, "%s runs code that is not known",
		    &s->argv[0]);
		break;
	default:
		break;
	}
}

static void
interpret_word(const struct subject *s, const struct word *code)
{
	if ((code->flags & WORD_NETWORK) != 0)
		class_findf(s, CLASS_REMOTE, "%s runs code from the network",
		    &s->argv[0]);
	else if (code->text == NULL)
		class_findf(s, CLASS_OPAQUE, "%s runs code that is not known",
		    &s->argv[0]);
	else
		interpreter_code(s, code->text, code->len);
}

/* python -m MODULE: some modules are programs of the tables. */
static void
run_module(const struct subject *s, const struct word *module, size_t next)
{
	static const char *const programs[] = { "pip", "pipx", "poetry",
		"uv", "conda", "ensurepip", "twine", "build", NULL };
	struct word *argv;
	size_t i, n = 0;

	if (word_static(module) == NULL) {
		class_findf(s, CLASS_OPAQUE, "a module that is not known: %s",
		    module);
		return;
	}
	if (!in_list(module->text, programs))
		return;
	argv = judging_alloc(s->j, (s->argc + 1) * sizeof(*argv));
	argv[n++] = *module;
	for (i = next; i < s->argc; i++)
		argv[n++] = s->argv[i];
	subject_argv(s, argv, n);
}

static int
is_url(const char *text)
{
	static const char *const kinds[] = { "http://", "https://", "npm:",
		"jsr:", "ftp://", NULL };
	size_t i;

	for (i = 0; kinds[i] != NULL; i++)
		if (strncasecmp(text, kinds[i], strlen(kinds[i])) == 0)
			return (1);
	return (0);
}

/* perl -i, ruby -i: its operands are changed in place. */
static void
edits_in_place(const struct subject *s, const struct optspec *spec)
{
	struct optscan o;
	struct opt opt;
	int in_place = 0, code = 0;

	opt_begin(&o, s, 1, spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			if (in_place && code)
				zone_write(s, opt.word, CLASS_MUTATE,
				    "changes files");
			continue;
		}
		/* -i.bak: the rest of the word is a suffix */
		if (opt.letter == 'i') {
			in_place = 1;
			if (opt.value == NULL)
				o.cluster = 0;
			else if (opt.at + 1 < o.next)
				o.next--;
		}
		code |= opt.letter == 'e' || opt.letter == 'E';
	}
}

void
handle_interpreter(const struct subject *s)
{
	const struct interpreter *in = interpreter_of(s->name);
	struct optspec spec = { in->values, in->longs, OPT_STOPS };
	struct content content;
	struct optscan o;
	struct opt opt;
	int code = 0;

	class_findf(s, CLASS_READ, "%s runs code", &s->argv[0]);
	if (strncmp(s->name, "perl", 4) == 0 ||
	    strncmp(s->name, "ruby", 4) == 0) {
		/* -i may have a suffix, never a value */
		struct optspec flags = { "eEIlFmMrCKxTW", NULL, 0 };

		edits_in_place(s, &flags);
	}
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind == OPT_OPERAND) {
			if (code)
				return;
			if (strcmp(word_start(opt.word), "-") == 0)
				break;
			if (is_url(word_start(opt.word)))
				class_findf(s, CLASS_REMOTE, "%s runs code "
				    "from the network", &s->argv[0]);
			shell_file_get(s->j, s->c, opt.word, &content);
			interpret(s, &content);
			if (content.kind == CONTENT_INHERITED &&
			    !word_known(opt.word))
				class_findf(s, CLASS_OPAQUE, "the script is "
				    "not known: %s", opt.word);
			return;
		}
		if (opt.value != NULL && ((opt.letter != 0 &&
		    strchr(in->code, opt.letter) != NULL) ||
		    (opt.kind == OPT_LONG && (opt_is(&opt, 0, "eval") ||
		    opt_is(&opt, 0, "execute") ||
		    opt_is(&opt, 0, "print") || opt_is(&opt, 0, "run"))))) {
			interpret_word(s, opt.value);
			code = 1;
			/* python -c ends the options */
			if (opt.letter == 'c')
				return;
		}
		if (in->module != NULL && opt.letter == in->module[0] &&
		    opt.value != NULL) {
			run_module(s, opt.value, o.next);
			return;
		}
	}
	if (code)
		return;
	if (s->c->input.kind == CONTENT_INHERITED) {
		if (judging_context(s->j)->streamed)
			class_find(s, CLASS_OPAQUE, "an interpreter that "
			    "reads its code from the call's stdin");
	} else if (!own_file(&s->c->input))
		interpret(s, &s->c->input);
}

/* ---- make ---- */

static void
make_rules(const struct subject *s, const struct content *content)
{
	if (content->kind == CONTENT_NETWORK)
		class_find(s, CLASS_REMOTE, "make runs rules from the "
		    "network");
	else if (content->kind == CONTENT_TEXT)
		makefile_text(s, content->text, content->len);
}

void
handle_make(const struct subject *s)
{
	static const char *const files[] = { "GNUmakefile", "makefile",
		"Makefile" };
	static const struct optspec spec = { "fCIjloWE", "file makefile "
	    "directory include-dir jobs load-average old-file assume-old "
	    "what-if new-file assume-new eval output-sync", 0 };
	struct optscan o;
	struct opt opt;
	const char *text;
	struct content content;
	int named = 0;
	size_t i;

	class_find(s, CLASS_READ, "runs the workspace's own rules");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt)) {
		if (opt.kind != OPT_OPERAND) {
			if (opt.value != NULL && (opt_is(&opt, 'E',
			    "eval"))) {
				class_find(s, CLASS_OPAQUE, "make is given "
				    "rules as text");
				makefile_text(s, word_start(opt.value),
				    strlen(word_start(opt.value)));
			}
			if (opt.value != NULL && opt_is(&opt, 'f', "file")) {
				shell_file_get(s->j, s->c, opt.value,
				    &content);
				if (word_is(opt.value, "-"))
					content = s->c->input;
				make_rules(s, &content);
				named = 1;
			}
			continue;
		}
		text = word_start(opt.word);
		if (strncmp(text, "SHELL=", 6) == 0)
			subject_hidden_code(s, word_rest(s->j, opt.word, 6));
	}
	for (i = 0; !named && i < 3; i++) {
		shell_file_get(s->j, s->c, word_make(s->j, files[i], NULL),
		    &content);
		make_rules(s, &content);
	}
}
