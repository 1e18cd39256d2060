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

const char *
word_code(const struct word *w)
{
	if (w == NULL || w->whole == NULL || WORD_IS_STATIC(w))
		return (word_start(w));
	return (w->whole);
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
	return (same_name(w->text, text));
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
	fresh->whole = w->whole == NULL || w->len < n ? NULL : w->whole + n;
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
		if (same_name(name, *list))
			return (1);
	return (0);
}

/* ---- commands within commands ---- */

const struct word *
subject_join(const struct subject *s, size_t from)
{
	struct word *w = judging_alloc(s->j, sizeof(*w));
	size_t i, len = 0;
	char *text;

	*w = s->argv[from];
	w->whole = shell_whole(s->j, s->argv + from, s->argc - from);
	for (i = from; i < s->argc; i++)
		len += s->argv[i].len + 1;
	text = judging_alloc(s->j, len + 1);
	for (i = from, len = 0; i < s->argc; i++) {
		if (i > from)
			text[len++] = ' ';
		if (s->argv[i].text == NULL) {
			w->flags |= WORD_PREFIX;
			break;
		}
		memcpy(text + len, s->argv[i].text, s->argv[i].len);
		len += s->argv[i].len;
		w->flags |= s->argv[i].flags & (WORD_NETWORK);
		if ((s->argv[i].flags & (WORD_PREFIX | WORD_SPLITS)) != 0) {
			w->flags |= WORD_PREFIX;
			break;
		}
	}
	w->text = text;
	w->len = len;
	return (w);
}

struct command *
subject_command(const struct subject *s, const char *cwd,
    const struct word *argv, size_t argc)
{
	struct command *c = judging_alloc(s->j, sizeof(*c));

	*c = *s->c;
	c->argv = argv;
	c->argc = argc;
	c->nassigns = 0;
	c->nredirects = 0;
	c->flags &= ~(unsigned)COMMAND_BUILTIN;
	c->cwd = cwd;
	return (c);
}

/*
 * Programs that start programs, one in another, deeper than is judged: that
 * asks.  The last of them, and what it starts, are judged all the same, so
 * that no number of them hides a denial.
 */
static void
too_deep(const struct subject *s, const char *cwd, const struct word *argv,
    size_t argc)
{
	static const char *const starters[] = { "find", "gfind", "fd",
		"fdfind", "xargs", "gxargs", "parallel", NULL };
	unsigned flags = s->c->flags;
	struct command *c;
	struct outcome ignored;
	size_t i = 0;

	if ((flags & COMMAND_DEEPEST) != 0)
		return;
	if ((flags & COMMAND_DEEP) == 0)
		for (i = argc - 1; i > 0; i--)
			if (word_static(&argv[i]) != NULL &&
			    in_list(base_name(argv[i].text), starters))
				break;
	memset(&ignored, 0, sizeof(ignored));
	c = subject_command(s, cwd, argv + i, argc - i);
	c->flags |= (flags & COMMAND_DEEP) != 0 ? COMMAND_DEEPEST :
	    COMMAND_DEEP;
	judge_program(s->j, c, &ignored);
}

static void
inner(const struct subject *s, const char *cwd, const struct content *input,
    const struct word *argv, size_t argc)
{
	struct command *c;

	if (argc == 0)
		return;
	/* Over the bound that asks, and this is judged all the same. */
	(void)judging_step(s->j);
	if (judging_enter(s->j, s->c) == 0) {
		too_deep(s, cwd, argv, argc);
		return;
	}
	c = subject_command(s, cwd, argv, argc);
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

int
subject_affords(const struct subject *s, size_t len)
{
	if (judging_afford(s->j, len))
		return (1);
	class_find(s, CLASS_OPAQUE, "more code is read over and over than is "
	    "followed");
	return (0);
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

enum verdict
subject_code_verdict(const struct subject *s, const char *text, size_t len)
{
	struct probe p = { .s = s, .text = text, .len = len };

	return (judging_probe(s->j, probe_code, &p));
}
