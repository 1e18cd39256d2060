/*
 * The explanation of a judging: commands, classes, paths, in bounded JSON.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "explain.h"
#include "protocol.h"
#include "report.h"

#define UNKNOWN		"[...]"
#define MORE		" ..."
#define WORD_SHOWN	160	/* bytes of a word in a line */
#define ENVELOPE	128	/* bytes around the two lists */
#define PATHS_SHARE	(EXPLANATION_MAX / 4)
#define PATHS_MAX	1024

struct explanation {
	json_t		*commands;
	json_t		*paths;
	json_t		*seen;		/* their names: each is listed once */
	size_t		 room;		/* bytes that commands may still take */
	size_t		 path_room;
	int		 cut;
};

/* ---- words ---- */

static int
is_known(const struct word *w)
{
	return (WORD_IS_STATIC(w));
}

static json_t *
word_text_json(const struct word *w)
{
	json_t *text;
	char *both;

	if (w->text == NULL)
		return (json_string(UNKNOWN));
	if ((w->flags & (WORD_PREFIX | WORD_SPLITS)) == 0)
		return (report_text(w->text, w->len));
	if ((both = malloc(w->len + sizeof(UNKNOWN))) == NULL)
		return (NULL);
	memcpy(both, w->text, w->len);
	memcpy(both + w->len, UNKNOWN, sizeof(UNKNOWN));
	text = report_text(both, w->len + strlen(UNKNOWN));
	free(both);
	return (text);
}

/* A word as it stands in a line; its bytes, or -1 if they do not fit. */
static int
put_word(const struct word *w, const char *before, char *dst, size_t room)
{
	int open = (w->flags & (WORD_PREFIX | WORD_SPLITS)) != 0, n;

	if (w->text != NULL && w->len > WORD_SHOWN)
		n = snprintf(dst, room, "%s[%zu bytes]", before, w->len);
	else
		n = snprintf(dst, room, "%s%s%s", before, w->text == NULL ?
		    "" : w->text, open ? UNKNOWN : "");
	return (n < 0 || (size_t)n >= room ? -1 : n);
}

void
explain_words(const struct command *c, char *dst, size_t size)
{
	size_t i, used = 0, room = size - sizeof(MORE) + 1;
	int n;

	dst[0] = '\0';
	for (i = 0; c != NULL && i < c->argc; i++) {
		if ((n = put_word(&c->argv[i], i > 0 ? " " : "", dst + used,
		    room - used)) == -1) {
			/* no half of a word, and so of a secret */
			memcpy(dst + used, MORE, sizeof(MORE));
			return;
		}
		used += (size_t)n;
	}
}

int
explain_unresolved(const struct judging *j)
{
	const struct command *c;
	size_t i, k;

	for (i = 0; i < judging_count(j); i++) {
		if ((c = judging_at(j, i)->command) == NULL)
			continue;
		for (k = 0; k < c->argc; k++) {
			if (!is_known(&c->argv[k]))
				return (1);
		}
	}
	return ((judging_marks(j) & MARK_OPAQUE) != 0);
}

/* ---- paths ---- */

/* Absolute, as it was named: links are the neuron's matter. */
static void
add_path(struct explanation *e, const char *cwd, const char *path)
{
	char whole[2 * PATH_BYTES_MAX];
	json_t *text;
	size_t n;

	if (*path == '/')
		n = (size_t)snprintf(whole, sizeof(whole), "%s", path);
	else if (cwd != NULL)
		n = (size_t)snprintf(whole, sizeof(whole), "%s/%s", cwd, path);
	else
		return;
	if (n >= sizeof(whole) || n > e->path_room ||
	    json_array_size(e->paths) >= PATHS_MAX) {
		e->cut = 1;
		return;
	}
	if ((text = report_text(whole, n)) == NULL)
		return;
	if (json_object_get(e->seen, json_string_value(text)) != NULL) {
		json_decref(text);
		return;
	}
	json_object_set_new(e->seen, json_string_value(text), json_true());
	e->path_room -= n + 3 < e->path_room ? n + 3 : e->path_room;
	json_array_append_new(e->paths, text);
}

/* A word with a slash, or the target of a redirect, names a path. */
static void
add_paths(struct explanation *e, const struct command *c)
{
	const struct redirect *r;
	const struct word *w;
	size_t i;

	for (i = 1; i < c->argc; i++) {
		w = &c->argv[i];
		if (is_known(w) && w->len > 0 && w->text[0] != '-' &&
		    strlen(w->text) == w->len && strchr(w->text, '/') != NULL &&
		    strstr(w->text, "://") == NULL)
			add_path(e, c->cwd, w->text);
	}
	for (i = 0; i < c->nredirects; i++) {
		r = &c->redirects[i];
		if (r->op != REDIRECT_DUP && is_known(&r->target) &&
		    r->target.len > 0)
			add_path(e, c->cwd, r->target.text);
	}
}

/* ---- commands ---- */

static int
worse(const struct finding *a, const struct finding *b)
{
	return (a->verdict > b->verdict ||
	    (a->verdict == b->verdict && a->rank > b->rank));
}

/*
 * The worst finding of the command at i, all marks of it, and where what was
 * found of the next one begins: findings of one command stand together.
 */
static const struct finding *
worst(const struct judging *j, size_t i, uint32_t *marks, size_t *next)
{
	const struct finding *first = judging_at(j, i), *f = first, *other;

	*marks = f->marks;
	for (*next = i + 1; (other = judging_at(j, *next)) != NULL &&
	    other->command == first->command && first->command != NULL;
	    (*next)++) {
		*marks |= other->marks;
		if (worse(other, f))
			f = other;
	}
	return (f);
}

static size_t
words_size(const struct command *c)
{
	size_t i, n = 0;

	for (i = 0; c != NULL && i < c->argc; i++)
		n += c->argv[i].len + 3;
	return (n);
}

static void
add_command(struct explanation *e, const struct finding *f, uint32_t marks)
{
	const struct command *c = f->command;
	json_t *words = json_array(), *one;
	int unknown = 0;
	size_t i, n;

	for (i = 0; c != NULL && i < c->argc; i++) {
		unknown |= !is_known(&c->argv[i]);
		json_array_append_new(words, word_text_json(&c->argv[i]));
	}
	one = json_pack("{s:o,s:b,s:I,s:I,s:s,s:s,s:o,s:o}", "words", words,
	    "unknown", unknown, "from", (json_int_t)f->from, "to",
	    (json_int_t)f->to, "class", f->class, "effect",
	    effect_name(f->effect), "marks", report_marks(marks),
	    "why", report_text(f->rule, strlen(f->rule)));
	if (one == NULL) {
		e->cut = 1;
		return;
	}
	n = json_dumpb(one, NULL, 0, JSON_COMPACT) + 1;
	if (n > e->room) {
		e->cut = 1;
		json_decref(one);
		return;
	}
	e->room -= n;
	json_array_append_new(e->commands, one);
}

static void
add_commands(struct explanation *e, const struct judging *j)
{
	const struct finding *f;
	uint32_t marks;
	size_t i, next;

	for (i = 0; i < judging_count(j); i = next) {
		f = worst(j, i, &marks, &next);
		/* no work for what can't fit */
		if (words_size(f->command) > e->room)
			e->cut = 1;
		else
			add_command(e, f, marks);
		if (f->command != NULL)
			add_paths(e, f->command);
	}
	if (judging_count(j) >= JUDGE_FINDINGS_MAX)
		e->cut = 1;
}

int
explain_memfd(const struct judging *j, const struct arguments *arguments,
    const char *cwd)
{
	struct explanation e = {
		.commands = json_array(), .paths = json_array(),
		.seen = json_object(),
		.room = EXPLANATION_MAX - PATHS_SHARE - ENVELOPE,
		.path_room = PATHS_SHARE / 6
	};
	const char *path;
	json_t *whole;
	char *text = NULL;
	int fd = -1;

	path = json_string_value(json_object_get(arguments->args, "path"));
	if (path != NULL)
		add_path(&e, cwd, path);
	if (j != NULL)
		add_commands(&e, j);
	whole = json_pack("{s:o,s:o,s:b}", "commands", e.commands, "paths",
	    e.paths, "cut", e.cut);
	if (whole != NULL)
		text = json_dumps(whole, JSON_COMPACT);
	if (text != NULL && strlen(text) <= EXPLANATION_MAX)
		fd = memfd_sealed("explanation", text, strlen(text));
	free(text);
	json_decref(e.seen);
	json_decref(whole);
	return (fd);
}
