/*
 * Builtins that change the shell: variables, arguments, directory, options.
 */
#include <string.h>

#include "resolver.h"

#define NAME_PLAIN	64	/* bytes of a name that are of no weight */

static int
is(const struct command *c, size_t i, const char *text)
{
	return (i < c->argc && WORD_IS_STATIC(&c->argv[i]) &&
	    strcmp(c->argv[i].text, text) == 0);
}

/* ---- declare, export, readonly, local ---- */

static unsigned
attributes(const struct word *w)
{
	static const struct {
		char		letter;
		unsigned	attr;
	} letters[] = {
		{ 'x', ATTR_EXPORT }, { 'i', ATTR_INTEGER },
		{ 'n', ATTR_NAMEREF }, { 'l', ATTR_LOWER },
		{ 'u', ATTR_UPPER }, { 'A', ATTR_ASSOC }
	};
	unsigned attr = 0;
	size_t i;

	for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (strchr(w->text, letters[i].letter) != NULL)
			attr |= letters[i].attr;
	return (attr);
}

static const struct value *
plus(struct resolver *r, const struct value *old, const struct word *w)
{
	struct word both;
	const char *was = old == NULL ? NULL : value_static(old);
	size_t n;
	char *text;

	if (was == NULL || !WORD_IS_STATIC(w) ||
	    strlen(was) + w->len > JUDGE_TEXT_MAX ||
	    !judging_afford(r->j, strlen(was)))
		return (value_unknown(r->j, 0));
	n = strlen(was);
	text = judging_alloc(r->j, n + w->len + 1);
	memcpy(text, was, n);
	memcpy(text + n, w->text, w->len);
	both = word_text(text, n + w->len);
	return (value_word(r->j, &both));
}

/* name=value, name+=value, name[sub]=value, name */
static void
declare_one(struct resolver *r, const struct command *c,
    const struct word *w, unsigned attr)
{
	const struct value *old, *v;
	struct word value = *w;
	const char *name;
	size_t n = 0, eq;
	int appends;

	if (w->text == NULL) {
		judging_ask(r->j, "opaque", "an unknown variable is set", c);
		return;
	}
	while (n < w->len && w->text[n] != '=' && w->text[n] != '[' &&
	    w->text[n] != '+')
		n++;
	if (!is_identifier(w->text, n) || (n > NAME_PLAIN &&
	    !judging_afford(r->j, n))) {
		arith_judge(r, w, c);
		return;
	}
	name = judging_strndup(r->j, w->text, n);
	old = scope_get(r->scope, SLOT_VARIABLE, name);
	for (eq = n; eq < w->len && w->text[eq] != '='; eq++)
		;
	if (eq > n)
		arith_judge(r, w, c);
	if (eq >= w->len) {
		/* Declared alone: as it was, with what is new of it. */
		v = old != NULL ? old : (attr & ~(unsigned)ATTR_EXPORT) ?
		    value_unset(r->j) : NULL;
		if (v != NULL)
			scope_set(r->scope, SLOT_VARIABLE, name,
			    value_attr(r->j, v, v->attr | attr));
		return;
	}
	appends = eq > n && w->text[eq - 1] == '+';
	value.text = w->text + eq + 1;
	value.len = w->len - eq - 1;
	value.flags &= ~(unsigned)(WORD_QUOTED | WORD_GLOB | WORD_SPLITS);
	if (w->text[n] == '[')
		v = value_join(r->j, old, value_unknown(r->j, 0));
	else if (appends)
		v = plus(r, old, &value);
	else
		v = value_word(r->j, &value);
	var_set(r, name, value_attr(r->j, v, attr), c);
}

static void
export_function(struct resolver *r, const struct word *w)
{
	const struct function *f;
	struct function *copy;

	if (!WORD_IS_STATIC(w) || (f = scope_get(r->scope, SLOT_FUNCTION,
	    w->text)) == NULL)
		return;
	copy = judging_alloc(r->j, sizeof(*copy));
	*copy = *f;
	copy->exported = 1;
	scope_set(r->scope, SLOT_FUNCTION, w->text, copy);
}

void
builtin_declare(struct resolver *r, const struct command *c,
    struct stream *out)
{
	unsigned attr = is(c, 0, "export") ? ATTR_EXPORT : 0;
	int functions = 0;
	size_t i;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (w->text != NULL && w->text[0] == '-' && w->len > 1) {
			if (!is(c, 0, "export") && !is(c, 0, "readonly"))
				attr |= attributes(w);
			functions |= strchr(w->text, 'f') != NULL;
			continue;
		}
		if (functions)
			export_function(r, w);
		else
			declare_one(r, c, w, attr);
	}
}

static void
remember(struct resolver *r, const struct word *w)
{
	struct saved *s;
	size_t n;

	if (r->call == NULL || w->text == NULL)
		return;
	n = identifier_length(w->text, w->len);
	if (n == 0 || (n > NAME_PLAIN && !judging_afford(r->j, n)))
		return;
	s = judging_alloc(r->j, sizeof(*s));
	s->name = judging_strndup(r->j, w->text, n);
	s->data = scope_get(r->scope, SLOT_VARIABLE, s->name);
	s->next = r->call->locals;
	r->call->locals = s;
}

void
builtin_local(struct resolver *r, const struct command *c,
    struct stream *out)
{
	size_t i;

	for (i = 1; i < c->argc; i++)
		remember(r, &c->argv[i]);
	builtin_declare(r, c, out);
}

/* ---- set, shift, shopt ---- */

static void
set_option(struct resolver *r, const char *letters, int on)
{
	for (; *letters != '\0'; letters++) {
		if (*letters == 'x')
			r->xtrace = on;
		else if (*letters == 'a')
			r->allexport = on;
	}
}

void
builtin_set(struct resolver *r, const struct command *c, struct stream *out)
{
	size_t i;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		const struct word *w = &c->argv[i];

		if (!WORD_IS_STATIC(w) || w->len < 2 ||
		    (w->text[0] != '-' && w->text[0] != '+'))
			break;
		if (is(c, i, "--")) {
			var_set_args(r, c->argv + i + 1, c->argc - i - 1, 0);
			return;
		}
		set_option(r, w->text + 1, w->text[0] == '-');
		if (w->text[w->len - 1] == 'o') {
			i++;
			if (is(c, i, "allexport"))
				r->allexport = w->text[0] == '-';
		}
	}
	if (i < c->argc)
		var_set_args(r, c->argv + i, c->argc - i, 0);
}

void
builtin_shift(struct resolver *r, const struct command *c,
    struct stream *out)
{
	const struct value *args = var_args(r);
	struct value *v;
	struct alt *alt;
	int64_t n = 1;
	size_t i;

	stream_none(out);
	if (c->argc > 1 && (!WORD_IS_STATIC(&c->argv[1]) ||
	    !arith_eval(r, c->argv[1].text, c->argv[1].len, &n) || n < 0)) {
		scope_set(r->scope, SLOT_STATE, "args", NULL);
		return;
	}
	v = judging_alloc(r->j, sizeof(*v));
	alt = judging_alloc(r->j, (args->n + 1) * sizeof(*alt));
	for (i = 0; i < args->n; i++) {
		alt[i] = args->alt[i];
		/* Which are gone is not known: all may be left. */
		if (alt[i].flags & ALT_LOOSE)
			continue;
		if ((int64_t)alt[i].n >= n) {
			alt[i].v += n;
			alt[i].n -= (size_t)n;
		} else if (alt[i].flags & ALT_MORE)
			alt[i].n = 0;
	}
	v->n = args->n;
	v->alt = alt;
	scope_set(r->scope, SLOT_STATE, "args", v);
}

void
builtin_shopt(struct resolver *r, const struct command *c,
    struct stream *out)
{
	size_t i;
	int on = 0;

	stream_none(out);
	for (i = 1; i < c->argc; i++) {
		if (is(c, i, "-s"))
			on = 1;
		else if (is(c, i, "extglob") && on)
			r->extglob = 1;
	}
}

/* ---- the directory ---- */

static void
set_cwd(struct resolver *r, const char *path)
{
	struct word w;

	if (path == NULL) {
		scope_set(r->scope, SLOT_STATE, "cwd", NULL);
		return;
	}
	w = word_text(path, strlen(path));
	var_set_state(r, "cwd", &w);
}

static void
chdir_to(struct resolver *r, const struct command *c, size_t at)
{
	const struct value *was = scope_get(r->scope, SLOT_STATE, "cwd");
	const struct value *old, *v;
	const struct word *w;

	old = var_get(r, "OLDPWD");
	scope_set(r->scope, SLOT_VARIABLE, "OLDPWD",
	    was == NULL ? value_unknown(r->j, 0) : was);
	if (at >= c->argc) {
		v = var_get(r, "HOME");
		scope_set(r->scope, SLOT_STATE, "cwd", v);
		return;
	}
	w = &c->argv[at];
	if (is(c, at, "-"))
		scope_set(r->scope, SLOT_STATE, "cwd", old);
	else if (!WORD_IS_STATIC(w) || at + 1 < c->argc)
		set_cwd(r, NULL);
	else if (w->len > 0)
		set_cwd(r, shell_path(r->j, c->cwd, w->text));
	/* CDPATH takes it to places that are not known. */
	if (WORD_IS_STATIC(w) && w->len > 0 && w->text[0] != '/' &&
	    w->text[0] != '.' && (v = scope_get(r->scope, SLOT_VARIABLE,
	    "CDPATH")) != NULL && !(v->n == 1 && v->alt[0].n == 0))
		set_cwd(r, NULL);
}

void
builtin_cd(struct resolver *r, const struct command *c, struct stream *out)
{
	size_t i = 1;

	stream_none(out);
	while (i < c->argc && c->argv[i].text != NULL &&
	    c->argv[i].text[0] == '-' && c->argv[i].len > 1) {
		i++;
		if (strcmp(c->argv[i - 1].text, "--") == 0)
			break;
	}
	chdir_to(r, c, i);
}

void
builtin_pushd(struct resolver *r, const struct command *c,
    struct stream *out)
{
	const struct value *was = scope_get(r->scope, SLOT_STATE, "cwd");
	size_t i = is(c, 1, "-n") || is(c, 1, "--") ? 2 : 1;

	(void)out;
	if (is(c, 1, "-n"))
		return;
	if (i >= c->argc || (c->argv[i].text != NULL &&
	    (c->argv[i].text[0] == '+' || c->argv[i].text[0] == '-'))) {
		set_cwd(r, NULL);
		return;
	}
	scope_set(r->scope, SLOT_STATE, "pushed", was);
	chdir_to(r, c, i);
}

void
builtin_popd(struct resolver *r, const struct command *c, struct stream *out)
{
	(void)out;
	/* One level is followed; below it nothing is known. */
	scope_set(r->scope, SLOT_STATE, "cwd", c->argc > 1 ? NULL :
	    scope_get(r->scope, SLOT_STATE, "pushed"));
	scope_set(r->scope, SLOT_STATE, "pushed", NULL);
}

/* ---- the end ---- */

void
builtin_exit(struct resolver *r, const struct command *c, struct stream *out)
{
	(void)c;
	stream_none(out);
	r->dead = 1;
}

/* exec without a command: its redirects stay. */
void
builtin_exec(struct resolver *r, const struct command *c, struct stream *out)
{
	struct stream *in;

	if (c->argc > 1) {
		r->dead = 1;
		return;
	}
	stream_none(out);
	if (c->input.kind != CONTENT_INHERITED && r->exec_in != NULL) {
		in = judging_alloc(r->j, sizeof(*in));
		in->n = 1;
		in->v[0] = c->input;
		*r->exec_in = in;
	}
}
