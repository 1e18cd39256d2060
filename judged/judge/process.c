/*
 * Judging what reaches processes: those that signal or look for them, and at,
 * which has commands run later.
 */
#include <string.h>

#include "class.h"
#include "judge_int.h"
#include "options.h"
#include "self.h"

/* What it reads is run later, by a shell. */
void
handle_at(const struct subject *s)
{
	struct shell_start start = {
		.who = SHELL_CHILD, .command = s->c, .code_on_stdin = 1
	};
	static const struct optspec spec = { "qft", "file", 0 };
	struct content jobs = s->c->input;
	struct optscan o;
	struct opt opt;

	if (opt_has(s, 1, &spec, 'l', NULL)) {
		class_find(s, CLASS_READ, "shows what will run");
		return;
	}
	class_find(s, CLASS_ELEVATED, "runs a command later, outside of the "
	    "call");
	opt_begin(&o, s, 1, &spec);
	while (opt_next(&o, &opt))
		if (opt.value != NULL && opt_is(&opt, 'f', "file"))
			shell_file_get(s->j, s->c, opt.value, &jobs);
	if (jobs.kind == CONTENT_INHERITED)
		class_find(s, CLASS_OPAQUE, "the commands are not known");
	else
		shell_judge_content(s->j, &jobs, DIALECT_DASH, &start,
		    s->out);
}

/* pkill, killall, kill: of Myelin's own is refused. */
static int
names_process(const struct subject *s)
{
	size_t i;

	for (i = 1; i < s->argc; i++)
		if (self_process(&s->argv[i]))
			return (1);
	return (0);
}

/* kill of everything; a known process is one's own. */
void
handle_kill(const struct subject *s)
{
	size_t i;
	const char *text;
	int signal = 1;

	if (names_process(s)) {
		class_find(s, HARD_SELF, "ends Myelin's own processes");
		return;
	}
	for (i = 1; i < s->argc; i++) {
		text = word_start(&s->argv[i]);
		if (strcmp(text, "--") == 0) {
			signal = 0;
			continue;
		}
		/* the first "-9" is the signal */
		if (text[0] == '-' && signal) {
			signal = 0;
			if (strcmp(text, "-s") == 0 || strcmp(text, "-n") == 0)
				i++;
			if (strcmp(text, "-1") != 0 || i + 1 < s->argc)
				continue;
		}
		if (!word_known(&s->argv[i]) && self_was_looked_up(s->j)) {
			class_find(s, HARD_SELF, "ends Myelin's own processes");
			return;
		}
		if (strcmp(text, "-1") == 0 || strcmp(text, "1") == 0) {
			class_find(s, CLASS_DESTROY, "kills every process");
			return;
		}
	}
	class_find(s, CLASS_READ, "signals a process");
}

/*
 * pgrep, pidof: which numbers is not known, but whose.  Kept as the name, so
 * that a kill of them is known as one of Myelin's own.
 */
void
handle_pids(const struct subject *s)
{
	class_find(s, CLASS_READ, "looks for processes");
	s->out->output.kind = CONTENT_UNKNOWN;
	if (names_process(s)) {
		self_looked_up(s->j);
		s->out->output.kind = CONTENT_TEXT;
		s->out->output.text = "myelind\n";
		s->out->output.len = strlen("myelind\n");
	}
}

/* pkill, killall: of Myelin's own is refused. */
void
handle_pkill(const struct subject *s)
{
	static const struct optspec spec = { "uUgGPstFoO", "uid euid group "
	    "pgroup parent session terminal pidfile signal user newer-than "
	    "older-than", 0 };
	const struct word *first;

	if (names_process(s)) {
		class_find(s, HARD_SELF, "ends Myelin's own processes");
		return;
	}
	/* -9, -KILL */
	first = opt_operand(s, s->argc > 1 && word_start(&s->argv[1])[0] ==
	    '-' && word_start(&s->argv[1])[1] != '-' && strspn(word_start(
	    &s->argv[1]) + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
	    s->argv[1].len - 1 && s->argv[1].len > 2 ? 2 : 1, &spec, 0);
	if (s->argc == 1)
		class_find(s, CLASS_READ, "signals nothing");
	else if (!same_name(s->name, "killall") &&
	    (first == NULL || (word_static(first) != NULL &&
	    strspn(first->text, ".*^$") == first->len)))
		class_find(s, CLASS_DESTROY, "kills every process");
	else
		class_find(s, CLASS_READ, "signals processes by name");
}
