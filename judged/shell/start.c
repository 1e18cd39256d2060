/*
 * Where a text begins: the outermost one, and strings that become code.
 */
#include <string.h>

#include "resolver.h"
#include "without.h"

/* What is as it is at the start of every call. */
static void
known(struct resolver *r)
{
	const struct judge_context *c = judging_context(r->j);
	const struct {
		const char	*name;
		const char	*text;
	} vars[] = {
		{ "HOME", c->home }, { "USER", c->user },
		{ "LOGNAME", c->user }, { "SHELL", c->shell },
		{ "IFS", " \t\n" }
	};
	size_t i;

	for (i = 0; i < sizeof(vars) / sizeof(vars[0]); i++)
		if (vars[i].text != NULL)
			scope_set(r->scope, SLOT_VARIABLE, vars[i].name,
			    value_attr(r->j, value_text(r->j, vars[i].text,
			    strlen(vars[i].text)), ATTR_EXPORT));
	if (c->cwd != NULL)
		scope_set(r->scope, SLOT_STATE, "cwd", value_text(r->j,
		    c->cwd, strlen(c->cwd)));
	var_set_args(r, NULL, 0, 0);
}

static const struct stream inherited = {
	.n = 1, .v = { { .kind = CONTENT_INHERITED } }
};

struct resolver *
resolver_new(struct judging *j)
{
	struct resolver *r = judging_alloc(j, sizeof(*r));

	r->j = j;
	r->scope = judging_alloc(j, sizeof(*r->scope));
	scope_init(r->scope, j);
	r->in = &inherited;
	return (r);
}

/* ---- strings that become code ---- */

struct start {
	struct resolver		 was;
	size_t			 mark;
	struct stream		 in;
};

/* A variable that the child does not certainly get. */
static void
hide(struct scope *s, const char *name, const void *data, void *arg)
{
	const struct value *v = data;
	struct resolver *r = arg;

	/* Arrays are never exported. */
	if (v->n > 0 && (v->alt[0].flags & ALT_ARRAY)) {
		scope_set(s, SLOT_VARIABLE, name, value_join(r->j, v,
		    value_unset(r->j)));
		return;
	}
	if (v->attr & ATTR_EXPORT)
		return;
	scope_set(s, SLOT_VARIABLE, name, strcmp(name, "IFS") == 0 ?
	    value_text(r->j, " \t\n", 3) :
	    value_join(r->j, v, value_unknown(r->j, 0)));
}

static void
hide_function(struct scope *s, const char *name, const void *data, void *arg)
{
	const struct function *f = data;

	(void)arg;
	if (!f->exported)
		scope_set(s, SLOT_FUNCTION, name, NULL);
}

static void
hide_alias(struct scope *s, const char *name, const void *data, void *arg)
{
	(void)data;
	(void)arg;
	scope_set(s, SLOT_ALIAS, name, NULL);
}

/* The state of a shell that starts anew. */
static void
begin_child(struct resolver *r, const struct shell_start *start)
{
	const struct command *c = start->command;
	const char *home = judging_context(r->j)->home;
	struct word w;
	size_t i;

	if (start->who == SHELL_ELSEWHERE || !scope_affords(r->scope)) {
		r->scope = judging_alloc(r->j, sizeof(*r->scope));
		scope_init(r->scope, r->j);
		scope_set(r->scope, SLOT_VARIABLE, "IFS",
		    value_text(r->j, " \t\n", 3));
		if (home != NULL) {
			/* its own: a home is a home, and it begins there */
			w = word_text(home, strlen(home));
			scope_set(r->scope, SLOT_VARIABLE, "HOME",
			    value_word(r->j, &w));
			if (start->who == SHELL_ELSEWHERE)
				var_set_state(r, "cwd", &w);
		}
	} else {
		scope_each(r->scope, SLOT_VARIABLE, hide, r);
		scope_each(r->scope, SLOT_FUNCTION, hide_function, r);
		scope_each(r->scope, SLOT_ALIAS, hide_alias, r);
		if (c->cwd != NULL) {
			w = word_text(c->cwd, strlen(c->cwd));
			var_set_state(r, "cwd", &w);
		} else
			scope_set(r->scope, SLOT_STATE, "cwd", NULL);
	}
	for (i = 0; i < c->nassigns; i++)
		if (is_identifier(c->assigns[i].name,
		    strlen(c->assigns[i].name)))
			scope_set(r->scope, SLOT_VARIABLE,
			    c->assigns[i].name, value_attr(r->j,
			    value_word(r->j, &c->assigns[i].value),
			    ATTR_EXPORT));
	r->extglob = r->xtrace = r->allexport = r->dead = 0;
	r->call = NULL;
	r->loops = 0;
}

static void
set_arguments(struct resolver *r, const struct shell_start *start)
{
	if (start->argv == NULL) {
		if (start->who != SHELL_SAME) {
			var_set_args(r, NULL, 0, 0);
			scope_set(r->scope, SLOT_STATE, "arg0", NULL);
		}
		return;
	}
	if (start->argc > 0 &&
	    (start->argv[0].flags & (WORD_GLOB | WORD_SPLITS))) {
		/* It may be none or several: any of them may be $0. */
		scope_set(r->scope, SLOT_STATE, "arg0", NULL);
		var_set_args(r, start->argv, start->argc, 0);
		return;
	}
	if (start->argc > 0)
		var_set_state(r, "arg0", &start->argv[0]);
	var_set_args(r, start->argc > 0 ? start->argv + 1 : NULL,
	    start->argc > 0 ? start->argc - 1 : 0, 0);
}

static void
begin(struct resolver *r, const struct shell_start *start,
    enum dialect dialect, struct start *s)
{
	static const struct stream nothing = { .n = 1 };
	const struct command *c = start->command;

	s->was = *r;
	s->mark = scope_mark(r->scope);
	r->dialect = dialect;
	r->starter = c;
	r->fixed = 1;
	r->from = c->from;
	r->to = c->to;
	r->defined = NULL;
	r->traps = NULL;
	r->wants = 1;
	s->in.n = 1;
	s->in.v[0] = c->input;
	r->in = start->code_on_stdin ? &nothing : &s->in;
	if (start->who != SHELL_SAME)
		begin_child(r, start);
	set_arguments(r, start);
}

/* What a text defined and never called is judged at its end. */
static void
end(struct resolver *r, const struct shell_start *start, struct start *s)
{
	struct defined *d, *next;
	struct trapped *t;
	const struct scope *scope = r->scope;

	if (start->who != SHELL_SAME) {
		run_leftover(r);
		/* Of another scope nothing has to be undone. */
		r->scope = s->was.scope;
		if (scope == r->scope)
			scope_leave(r->scope, s->mark);
	} else {
		/* They may still be called by what comes. */
		for (d = r->defined; d != NULL; d = next) {
			next = d->next;
			d->next = s->was.defined;
			s->was.defined = d;
		}
		if (r->traps != NULL) {
			for (t = r->traps; t->next != NULL; t = t->next)
				;
			t->next = s->was.traps;
			s->was.traps = r->traps;
		}
		s->was.extglob = r->extglob;
		s->was.xtrace = r->xtrace;
		s->was.allexport = r->allexport;
	}
	s->was.processes = r->processes;
	*r = s->was;
}

void
shell_judge(struct judging *j, const char *text, size_t len,
    enum dialect dialect, const struct shell_start *start,
    struct outcome *out)
{
	struct resolver *r = j->resolver;
	struct start s;
	struct stream stream;

	stream_set(&stream, CONTENT_UNKNOWN);
	if (dialect == DIALECT_OTHER)
		judging_ask(j, "opaque", "a shell whose text is not known "
		    "well enough", start->command);
	if (!WITHOUT(shell_again) && judging_again(j, len, start->command) &&
	    judging_enter(j, start->command)) {
		begin(r, start, dialect, &s);
		run_text(r, text, len, &stream);
		end(r, start, &s);
		judging_leave(j);
	}
	if (out == NULL)
		return;
	memset(out, 0, sizeof(*out));
	out->output = stream.v[0];
	if (stream.n > 1)
		out->output.kind = CONTENT_UNKNOWN;
}

static void
ask_remote(struct judging *j, const struct command *c)
{
	struct finding f = {
		.verdict = VERDICT_ASK, .rank = 50, .class = "remote-code",
		.effect = EFFECT_MUTATE_IRREVERSIBLE, .marks = MARK_REMOTE_CODE |
		    MARK_NETWORK_READ,
		.rule = "text from the network becomes code",
		.next = "download it to a file, read it, then run the file",
		.command = c, .from = c->from, .to = c->to
	};

	judging_find(j, &f);
}

void
shell_judge_word(struct judging *j, const struct word *w,
    enum dialect dialect, const struct shell_start *start,
    struct outcome *out)
{
	if (out != NULL) {
		memset(out, 0, sizeof(*out));
		out->output.kind = CONTENT_UNKNOWN;
	}
	if (w->flags & WORD_NETWORK)
		ask_remote(j, start->command);
	else if (!WORD_IS_STATIC(w))
		judging_ask(j, "opaque", "a text that is not known becomes "
		    "code", start->command);
	if (w->text != NULL)
		shell_judge(j, w->text, w->len, dialect, start, out);
	/* what stands behind what is not known */
	if (w->whole != NULL && !WORD_IS_STATIC(w) &&
	    judging_afford(j, strlen(w->whole)))
		shell_judge(j, w->whole, strlen(w->whole), dialect, start,
		    NULL);
}

void
shell_judge_content(struct judging *j, const struct content *c,
    enum dialect dialect, const struct shell_start *start,
    struct outcome *out)
{
	struct word w = word_text(c->text, c->len);

	w.whole = c->whole;
	switch (c->kind) {
	case CONTENT_TEXT:
		break;
	case CONTENT_UNKNOWN:
		w.flags |= WORD_PREFIX;
		break;
	case CONTENT_NETWORK:
		w.flags |= WORD_PREFIX | WORD_NETWORK;
		break;
	default:
		if (out != NULL) {
			memset(out, 0, sizeof(*out));
			out->output.kind = CONTENT_UNKNOWN;
		}
		return;
	}
	shell_judge_word(j, &w, dialect, start, out);
}

/* Code that this shell itself evaluates. */
void
judge_code(struct resolver *r, const struct word *w, const struct command *c,
    struct stream *out)
{
	struct shell_start start = { .who = SHELL_SAME, .command = c };
	struct outcome o;

	shell_judge_word(r->j, w, r->dialect, &start, &o);
	if (out != NULL) {
		out->n = 1;
		out->v[0] = o.output;
	}
}

/* ---- variables that a shell executes ---- */

static int
is_prompt(const char *name)
{
	return (name[0] == 'P' && name[1] == 'S' && name[2] >= '0' &&
	    name[2] <= '4' && name[3] == '\0');
}

void
shell_variable(struct judging *j, const struct command *c, const char *name,
    const struct word *value)
{
	struct resolver *r = j->resolver;
	struct shell_start start = { .who = SHELL_SAME, .command = c };
	struct content content;
	struct texts t;
	const char *body;

	if (is_prompt(name)) {
		if (value->text != NULL)
			expand_string(r, value->text, value->len, c, &t);
		if (!WORD_IS_STATIC(value))
			judging_ask(j, "opaque", "an unknown prompt is "
			    "expanded", c);
	} else if (strcmp(name, "PROMPT_COMMAND") == 0) {
		shell_judge_word(j, value, DIALECT_BASH, &start, NULL);
	} else if (strcmp(name, "BASH_ENV") == 0 || strcmp(name, "ENV") == 0) {
		shell_file_get(j, c, value, &content);
		shell_judge_content(j, &content, DIALECT_BASH, &start, NULL);
		judging_ask(j, "opaque", "a file that every shell then runs",
		    c);
	} else if (strncmp(name, "BASH_FUNC_", 10) == 0) {
		/* () { body; } */
		if (value->text == NULL ||
		    (body = strchr(value->text, '{')) == NULL) {
			judging_ask(j, "opaque", "an unknown function", c);
			return;
		}
		shell_judge(j, body, strlen(body), DIALECT_BASH, &start,
		    NULL);
	} else if (strcmp(name, "SHELLOPTS") == 0 ||
	    strcmp(name, "BASHOPTS") == 0)
		judging_ask(j, "opaque", "options that shells start with", c);
}

/* ---- the outermost text ---- */

struct run {
	const char		*text;
	size_t			 len;
	enum dialect		 dialect;
	const char *const	*argv;
	size_t			 argc;
};

static int
is_utf8(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s, *e = p + len;
	uint32_t c;
	int n, i;

	while (p < e) {
		if (*p < 0x80) {
			p++;
			continue;
		}
		n = *p >= 0xf0 && *p < 0xf5 ? 3 : *p >= 0xe0 && *p < 0xf0 ?
		    2 : *p >= 0xc2 && *p < 0xe0 ? 1 : 0;
		if (n == 0 || e - p <= n)
			return (0);
		c = *p & (0x3fu >> n);
		for (i = 1; i <= n; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return (0);
			c = c << 6 | (p[i] & 0x3f);
		}
		if ((n == 2 && c < 0x800) || (n == 3 && c < 0x10000) ||
		    (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
			return (0);
		p += n + 1;
	}
	return (1);
}

static void
admit(struct judging *j, const struct run *run)
{
	if (run->len > JUDGE_TEXT_MAX)
		judging_ask(j, "opaque",
		    "the text is longer than is judged (65536 bytes)", NULL);
	if (memchr(run->text, '\0', run->len) != NULL)
		judging_ask(j, "unparsable", "the text holds a NUL", NULL);
	if (!is_utf8(run->text, run->len))
		judging_ask(j, "unparsable", "the text is not UTF-8", NULL);
}

static void
run_outermost(struct judging *j, void *arg)
{
	const struct run *run = arg;
	struct resolver *r;
	struct stream out;
	size_t len = run->len;

	admit(j, run);
	r = j->resolver = resolver_new(j);
	r->dialect = run->dialect;
	known(r);
	r->starter = command_here(r, 0, (uint32_t)len);
	/* The beginning of what is too long is judged all the same. */
	if (len > JUDGE_TEXT_MAX)
		len = JUDGE_TEXT_MAX;
	run_text(r, run->text, len, &out);
	run_leftover(r);
	nothing_found(j);
}

/* No command at all, or only such that say nothing: reads nothing. */
void
nothing_found(struct judging *j)
{
	struct finding f = {
		.verdict = VERDICT_ALLOW, .class = "read",
		.effect = EFFECT_READ, .rule = "runs no program",
		.next = "", .to = j->length
	};

	if (j->decides.verdict == 0)
		judging_find(j, &f);
}

void
judging_run(struct judging *j, const char *text, size_t len,
    enum dialect dialect)
{
	struct run run = { .text = text, .len = len, .dialect = dialect };

	j->length = (uint32_t)(len > JUDGE_TEXT_MAX ? JUDGE_TEXT_MAX : len);
	judging_guard(j, run_outermost, &run);
}

static void
run_argv(struct judging *j, void *arg)
{
	const struct run *run = arg;
	struct resolver *r;
	struct command *c;
	struct outcome out;
	struct word *v;
	size_t i, at = 0;

	r = j->resolver = resolver_new(j);
	known(r);
	c = command_here(r, 0, j->length);
	v = judging_alloc(j, run->argc * sizeof(*v) + 1);
	for (i = 0; i < run->argc; i++) {
		v[i] = word_text(run->argv[i], strlen(run->argv[i]));
		v[i].flags = WORD_QUOTED;
		v[i].from = (uint32_t)at;
		at += v[i].len;
		v[i].to = (uint32_t)at++;
	}
	c->argv = v;
	c->argc = run->argc;
	r->starter = c;
	r->fixed = 1;
	r->to = j->length;
	judge_command(j, c, &out);
	run_leftover(r);
	nothing_found(j);
}

void
judging_run_argv(struct judging *j, const char *const *argv, size_t argc)
{
	struct run run = { .argv = argv, .argc = argc };
	size_t i, len = 0;

	for (i = 0; i < argc; i++)
		len += strlen(argv[i]) + 1;
	j->length = (uint32_t)(len > 0 ? len - 1 : 0);
	judging_guard(j, run_argv, &run);
}
