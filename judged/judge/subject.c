/*
 * Words, and judging one command out of another.
 */
#include <string.h>

#include "class.h"
#include "judge_int.h"
#include "subject.h"

const char *
word_static(const struct word *w)
{
	return (w != NULL && WORD_IS_STATIC(w) ? w->text : NULL);
}

const char *
word_start(const struct word *w)
{
	return (w == NULL || w->text == NULL ? "" : w->text);
}

int
word_known(const struct word *w)
{
	return (w->text != NULL &&
	    (w->flags & (WORD_PREFIX | WORD_SPLITS)) == 0);
}

int
word_is(const struct word *w, const char *text)
{
	size_t n;

	if (w->text == NULL)
		return (0);
	n = strlen(w->text);
	if ((w->flags & (WORD_PREFIX | WORD_SPLITS)) != 0)
		return (n > 0 && strncmp(text, w->text, n) == 0);
	return (strcmp(w->text, text) == 0);
}

struct word *
word_make(struct judging *j, const char *text, const struct word *w)
{
	struct word *fresh = judging_alloc(j, sizeof(*fresh));

	fresh->text = text;
	fresh->len = text == NULL ? 0 : strlen(text);
	fresh->flags = text == NULL ? WORD_PREFIX : 0;
	if (w != NULL) {
		fresh->from = w->from;
		fresh->to = w->to;
	}
	return (fresh);
}

struct word *
word_rest(struct judging *j, const struct word *w, size_t n)
{
	struct word *fresh = judging_alloc(j, sizeof(*fresh));

	*fresh = *w;
	fresh->text = w->text + n;
	fresh->len = w->len - n;
	return (fresh);
}

const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return (slash == NULL ? path : slash + 1);
}

int
in_list(const char *name, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strcmp(name, *list) == 0)
			return (1);
	return (0);
}

/* ---- commands within commands ---- */

static void
inner(const struct subject *s, const char *cwd, const struct content *input,
    const struct word *argv, size_t argc)
{
	struct command *c;

	if (argc == 0)
		return;
	if (judging_enter(s->j, s->c) == 0)
		return;
	c = judging_alloc(s->j, sizeof(*c));
	*c = *s->c;
	c->argv = argv;
	c->argc = argc;
	c->nassigns = 0;
	c->nredirects = 0;
	c->flags &= ~(unsigned)COMMAND_BUILTIN;
	c->cwd = cwd;
	if (input != NULL)
		c->input = *input;
	judge_program(s->j, c, s->out);
	judging_leave(s->j);
}

void
subject_argv(const struct subject *s, const struct word *argv, size_t argc)
{
	inner(s, s->c->cwd, NULL, argv, argc);
}

void
subject_argv_at(const struct subject *s, const char *cwd,
    const struct word *argv, size_t argc)
{
	inner(s, cwd, NULL, argv, argc);
}

void
subject_code(const struct subject *s, enum dialect dialect,
    enum shell_who who, const struct word *code)
{
	struct shell_start start = { .who = who, .command = s->c };

	shell_judge_word(s->j, code, dialect, &start, s->out);
}

void
subject_hidden_code(const struct subject *s, const struct word *code)
{
	size_t i = judging_count(s->j);
	const struct finding *f;
	struct outcome out;

	{
		struct subject inside = *s;

		memset(&out, 0, sizeof(out));
		inside.out = &out;
		subject_code(&inside, DIALECT_DASH, SHELL_CHILD, code);
	}
	for (; i < judging_count(s->j); i++) {
		f = judging_at(s->j, i);
		if (f->verdict == VERDICT_ALLOW &&
		    strcmp(f->class, class_name(CLASS_READ)) != 0) {
			class_findf(s, CLASS_OPAQUE, "an option that executes "
			    "a command: %s", code);
			return;
		}
	}
}

/* ---- what would be denied ---- */

struct probe {
	const struct subject	*s;
	const struct word	*argv;
	size_t			 argc;
	const char		*text;
	size_t			 len;
};

static void
probe_argv(void *arg)
{
	struct probe *p = arg;
	struct subject inside = *p->s;
	struct outcome out;

	memset(&out, 0, sizeof(out));
	inside.out = &out;
	subject_argv(&inside, p->argv, p->argc);
}

static void
probe_code(void *arg)
{
	struct probe *p = arg;
	struct shell_start start = { .who = SHELL_CHILD, .command = p->s->c };
	struct outcome out;

	memset(&out, 0, sizeof(out));
	shell_judge(p->s->j, p->text, p->len, DIALECT_BASH, &start, &out);
}

int
subject_would_deny(const struct subject *s, const struct word *argv,
    size_t argc)
{
	struct probe p = { .s = s, .argv = argv, .argc = argc };

	return (judging_probe(s->j, probe_argv, &p) == VERDICT_DENY);
}

int
subject_code_would_deny(const struct subject *s, const char *text, size_t len)
{
	struct probe p = { .s = s, .text = text, .len = len };

	return (judging_probe(s->j, probe_code, &p) == VERDICT_DENY);
}
