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
	int			 reads;	/* -n was there: runs nothing */
	int			 talks;	/* -i: which -n says nothing to */
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
		if (opt.letter == 'n' || (opt.letter == 'o' &&
		    opt.value != NULL && word_is(opt.value, "noexec")))
			w->reads = 1;
		else if (opt.letter == 'i')
			w->talks = 1;
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
	if (w.reads && !w.talks && dialect != DIALECT_OTHER)
		return;
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
		/* Tcl looks like a shell: exec rm -rf / */
		if (strncmp(s->name, "tclsh", 5) == 0)
			interpreter_command(s, judging_strndup(s->j,
			    content->text, content->len), 0);
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
	const char *text;

	if ((code->flags & WORD_NETWORK) != 0)
		class_findf(s, CLASS_REMOTE, "%s runs code from the network",
		    &s->argv[0]);
	else if (code->text == NULL || ((code->flags & WORD_PREFIX) != 0 &&
	    code->whole == NULL))
		class_findf(s, CLASS_OPAQUE, "%s runs code that is not known",
		    &s->argv[0]);
	if (word_code(code)[0] != '\0') {
		text = word_code(code);
		interpreter_code(s, text, strlen(text));
		if (!word_known(code) && interpreter_starts(text,
		    strlen(text)))
			class_findf(s, CLASS_OPAQUE, "%s starts a command "
			    "that is not known", &s->argv[0]);
	}
}

/* Programs with other tables that take code in a word as well. */
static const struct inline_row {
	const char	*name;
	const char	*options;	/* the word behind one is code */
} inline_rows[] = {
	{ "deno", "eval" }, { "bun", "-e --eval -p --print" },
	{ "julia", "-e -E --eval --print" }, { "elixir", "-e --eval" },
	{ "iex", "-e --eval" }, { "crystal", "eval" }, { "swift", "-e" },
	{ "scala", "-e" }, { "raku", "-e" }, { "erl", "-eval" },
	{ "R", "-e" }, { "octave", "--eval" }, { "ghc", "-e" },
	{ "ts-node", "-e --eval -p" }, { "tsx", "-e --eval -p" },
	{ "pwsh", "-c -Command -command" }, { "nu", "-c --commands" },
	{ "xonsh", "-c" }, { "elvish", "-c" }, { "ipython", "-c" },
	{ "sage", "-c" }, { "racket", "-e" }, { "sbcl", "--eval" },
	{ "clisp", "-x" }, { "clojure", "-e" }, { "luajit", "-e" }
};
static struct names inline_by_name = NAMES(inline_rows);

void
inline_judge(const struct subject *s)
{
	const struct inline_row *row = names_find(&inline_by_name, s->name);
	const char *p;
	size_t i, n;

	for (i = 1; row != NULL && i + 1 < s->argc; i++)
		for (p = row->options; *p != '\0'; p += n + (p[n] == ' ')) {
			n = strcspn(p, " ");
			if (s->argv[i].len == n && strncmp(word_start(
			    &s->argv[i]), p, n) == 0)
				interpret_word(s, &s->argv[i + 1]);
		}
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
	for (i = next; strcmp(module->text, "venv") == 0 && i < s->argc; i++)
		if (word_start(&s->argv[i])[0] != '-')
			zone_write(s, &s->argv[i], CLASS_READ,
			    "makes an environment");
	if (strcmp(module->text, "timeit") == 0)
		for (i = next; i < s->argc; i++)
			interpret_word(s, &s->argv[i]);
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
	struct optspec spec = { in->values, in->longs, OPT_STOPS |
	    (same_name(s->name, "emacs") ? OPT_ONE_DASH : 0) };
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
