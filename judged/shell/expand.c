/*
 * Expansion of words: from parts to the fields that a command would get, in
 * all known alternatives.
 */
#include <string.h>

#include "pattern.h"
#include "resolver.h"

#define FIELD_MAX	JUDGE_TEXT_MAX

/* One alternative being built. */
struct build {
	struct word	*done;
	size_t		 ndone;
	size_t		 maxdone;
	char		*text;
	size_t		 len;
	size_t		 room;
	unsigned	 flags;
	int		 open;		/* there is a field, if an empty one */
	int		 bracket;	/* an unquoted "[" is in it */
};

struct builds {
	struct resolver	*r;
	size_t		 n;
	struct build	 v[JUDGE_VALUES_MAX];
	unsigned	 flags;		/* EXPAND_* */
	struct word	 ifs;		/* text NULL: unknown */
};

static void
build_close(struct builds *b, struct build *x)
{
	struct judging *j = b->r->j;
	struct word *more, *w;
	size_t max;

	if (!x->open)
		return;
	if (x->ndone == x->maxdone) {
		max = x->maxdone == 0 ? 2 : x->maxdone * 2;
		more = judging_alloc(j, max * sizeof(*more));
		if (x->ndone > 0)
			memcpy(more, x->done, x->ndone * sizeof(*more));
		x->done = more;
		x->maxdone = max;
	}
	w = &x->done[x->ndone++];
	memset(w, 0, sizeof(*w));
	w->flags = x->flags & ~(unsigned)WORD_SEVERAL;
	w->len = x->len;
	if (x->len > 0 || !(x->flags & WORD_PREFIX))
		w->text = judging_strndup(j, x->text, x->len);
	if (x->len > 0 && !(x->flags & WORD_SPLITS))
		w->flags &= ~(unsigned)WORD_EMPTY;
	x->len = 0;
	x->flags = 0;
	x->open = 0;
	x->bracket = 0;
}

static void
build_text(struct builds *b, struct build *x, const char *s, size_t len)
{
	struct judging *j = b->r->j;
	size_t room;
	char *more;

	x->open = 1;
	/* Of several paths only the last has what follows. */
	if (len > 0 && (x->flags & WORD_SEVERAL))
		x->flags |= WORD_PREFIX | WORD_SPLITS;
	if ((x->flags & WORD_PREFIX) || len == 0)
		return;
	if (x->len + len > FIELD_MAX || j->grown + len > GROWN_MAX) {
		x->flags |= WORD_PREFIX;
		return;
	}
	j->grown += len;
	if (x->len + len > x->room) {
		room = (x->len + len) * 2;
		more = judging_alloc(j, room);
		if (x->len > 0)
			memcpy(more, x->text, x->len);
		x->text = more;
		x->room = room;
	}
	memcpy(x->text + x->len, s, len);
	x->len += len;
}

/*
 * Unquoted text: 1 if it makes the field a pattern.  A "[" does so only with
 * a "]" behind it, else the program "[" would be one.
 */
static int
makes_pattern(struct build *x, const char *s, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (s[i] == '*' || s[i] == '?' || (s[i] == ']' && x->bracket))
			return (1);
		if (s[i] == '[')
			x->bracket = 1;
	}
	return (0);
}

static void
build_copy(struct builds *b, struct build *to, const struct build *from)
{
	struct judging *j = b->r->j;

	*to = *from;
	to->text = judging_strndup(j, from->text, from->len);
	to->room = from->len;
	to->maxdone = from->ndone;
	to->done = NULL;
	if (from->ndone > 0) {
		to->done = judging_alloc(j, from->ndone * sizeof(*to->done));
		memcpy(to->done, from->done, from->ndone * sizeof(*to->done));
	}
}

/* ---- field splitting ---- */

static int
is_ifs(const struct builds *b, char c)
{
	return (b->ifs.text != NULL && b->ifs.len > 0 &&
	    memchr(b->ifs.text, c, b->ifs.len) != NULL);
}

static int
is_ifs_white(const struct builds *b, char c)
{
	return ((c == ' ' || c == '\t' || c == '\n') && is_ifs(b, c));
}

/* Unquoted text of an expansion. */
static void
split(struct builds *b, struct build *x, const char *s, size_t len)
{
	size_t i = 0, start;

	while (i < len) {
		if (is_ifs(b, s[i])) {
			if (is_ifs_white(b, s[i]) && !x->open) {
				i++;
				continue;
			}
			if (!is_ifs_white(b, s[i]))
				x->open = 1;
			build_close(b, x);
			while (i < len && is_ifs_white(b, s[i]))
				i++;
			if (i < len && is_ifs(b, s[i]) &&
			    !is_ifs_white(b, s[i]) && i > 0 &&
			    is_ifs_white(b, s[i - 1]))
				i++;
			else if (i < len && !is_ifs_white(b, s[i]) &&
			    is_ifs(b, s[i]))
				i++;
			continue;
		}
		start = i;
		while (i < len && !is_ifs(b, s[i]))
			i++;
		if ((b->flags & EXPAND_GLOB) &&
		    makes_pattern(x, s + start, i - start))
			x->flags |= WORD_GLOB;
		build_text(b, x, s + start, i - start);
	}
}

/* One word of an expansion into one alternative. */
static void
add_word(struct builds *b, struct build *x, const struct word *w, int quoted)
{
	int splits = !quoted && (b->flags & EXPAND_SPLIT);
	unsigned carried = w->flags & (WORD_NETWORK | WORD_WORKSPACE |
	    WORD_GLOB);

	if (!splits) {
		if ((w->flags & WORD_SEVERAL) && x->len > 0)
			x->flags |= WORD_PREFIX | WORD_SPLITS;
		if (w->text != NULL)
			build_text(b, x, w->text, w->len);
		x->open = 1;
		x->flags |= w->flags;
		if (w->flags & WORD_SPLITS)
			x->flags |= WORD_PREFIX;
		if (!(b->flags & EXPAND_SPLIT))
			x->flags &= ~(unsigned)(WORD_SPLITS | WORD_SEVERAL);
		if (!quoted && (b->flags & EXPAND_GLOB) && w->text != NULL &&
		    makes_pattern(x, w->text, w->len))
			x->flags |= WORD_GLOB;
		return;
	}
	if (b->ifs.text == NULL && w->len > 0) {
		x->open = 1;
		x->flags |= WORD_PREFIX | WORD_SPLITS | WORD_EMPTY | carried;
		return;
	}
	if (w->text != NULL) {
		split(b, x, w->text, w->len);
		if (carried && x->open)
			x->flags |= carried;
		else if ((carried & WORD_NETWORK) && x->ndone > 0)
			x->done[x->ndone - 1].flags |= carried;
	}
	if (w->flags & (WORD_PREFIX | WORD_SPLITS)) {
		x->open = 1;
		x->flags |= w->flags | WORD_PREFIX;
		/* Numbers and single paths stay one word. */
		if (w->flags & WORD_EMPTY)
			x->flags |= WORD_SPLITS;
	}
}

/* Fields of one expansion into one alternative. */
static void
add_fields(struct builds *b, struct build *x, const struct fields *f,
    int quoted)
{
	struct word unknown = word_unknown(WORD_SPLITS);
	size_t i;

	/* An element that may be none lets its neighbours join. */
	for (i = 0; f->n > 1 && i < f->n; i++)
		if (quoted && (f->v[i].flags & WORD_SPLITS)) {
			for (i = 0; i < f->n; i++)
				unknown.flags |= f->v[i].flags & WORD_NETWORK;
			add_word(b, x, &unknown, 1);
			return;
		}
	for (i = 0; i < f->n; i++) {
		if (i > 0) {
			if (b->flags & EXPAND_SPLIT)
				build_close(b, x);
			else
				build_text(b, x, " ", 1);
		}
		add_word(b, x, &f->v[i], quoted);
	}
}

/*
 * Alternatives of one expansion into all that there are.  More than can be
 * kept become one unknown: that is true of all of them.
 */
static void
add_pieces(struct builds *b, const struct pieces *p, int quoted)
{
	struct word unknown = word_unknown(0);
	struct fields all = { &unknown, 1 };
	size_t i, k, n = b->n;

	if (p->n * n > JUDGE_VALUES_MAX) {
		for (k = 0; k < p->n; k++)
			for (i = 0; i < p->alt[k].n; i++)
				unknown.flags |= p->alt[k].v[i].flags &
				    WORD_NETWORK;
		for (i = 0; i < n; i++)
			add_fields(b, &b->v[i], &all, quoted);
		return;
	}
	for (k = 1; k < p->n; k++)
		for (i = 0; i < n; i++) {
			build_copy(b, &b->v[b->n], &b->v[i]);
			add_fields(b, &b->v[b->n], &p->alt[k], quoted);
			b->n++;
		}
	if (p->n > 0)
		for (i = 0; i < n; i++)
			add_fields(b, &b->v[i], &p->alt[0], quoted);
}

/* ---- parts ---- */

/* What a substitution put out, as words of a variable. */
static void
pieces_of_stream(struct resolver *r, const struct stream *s,
    struct pieces *out)
{
	struct word w;
	size_t i, k, n;
	char *text;

	out->n = 0;
	for (i = 0; i < s->n; i++) {
		const struct content *c = &s->v[i];

		w = word_unknown(c->kind == CONTENT_NETWORK ?
		    WORD_NETWORK : 0);
		if (c->kind == CONTENT_NONE)
			w = word_text("", 0);
		if (c->kind == CONTENT_TEXT) {
			text = judging_alloc(r->j, c->len + 1);
			for (n = k = 0; k < c->len; k++)
				if (c->text[k] != '\0')
					text[n++] = c->text[k];
			while (n > 0 && text[n - 1] == '\n')
				n--;
			text[n] = '\0';
			w = word_text(text, n);
		}
		pieces_word(r, out, w);
	}
}

static void
expand_command(struct resolver *r, const struct part *part,
    struct pieces *out)
{
	struct stream s;
	int wants = r->wants;
	size_t mark = scope_mark(r->scope);
	int fixed = r->fixed, dead = r->dead;
	uint32_t from = r->from, to = r->to;

	r->wants = 1;
	stream_none(&s);
	if (judging_enter(r->j, r->starter)) {
		if (part->kind == PART_COMMAND)
			run_subshell(r, part->list, &s);
		else if (judging_again(r->j, part->len, r->starter)) {
			if (!fixed) {
				r->fixed = 1;
				r->from = part->from;
				r->to = part->to;
			}
			run_text(r, part->text, part->len, &s);
		} else
			stream_set(&s, CONTENT_UNKNOWN);
		judging_leave(r->j);
	} else
		stream_set(&s, CONTENT_UNKNOWN);
	scope_rollback(r->scope, mark);
	r->wants = wants;
	r->dead = dead;
	r->fixed = fixed;
	r->from = from;
	r->to = to;
	pieces_of_stream(r, &s, out);
}

/* <( ): a path that holds what the list puts out. */
static void
expand_process(struct resolver *r, const struct part *part,
    struct pieces *out)
{
	const struct stream *in = r->in;
	struct stream s, *file, unknown;
	char name[32];
	int wants = r->wants;
	unsigned n = 63 + r->processes++;

	stream_none(&s);
	r->wants = 1;
	r->spawned++;
	if (part->sign == '>') {
		stream_set(&unknown, CONTENT_UNKNOWN);
		r->in = &unknown;
	}
	if (judging_enter(r->j, r->starter)) {
		run_subshell(r, part->list, &s);
		judging_leave(r->j);
	}
	r->spawned--;
	r->wants = wants;
	r->in = in;
	strcpy(name, "/dev/fd/");
	name[8] = (char)('0' + n / 1000 % 10);
	name[9] = (char)('0' + n / 100 % 10);
	name[10] = (char)('0' + n / 10 % 10);
	name[11] = (char)('0' + n % 10);
	name[12] = '\0';
	file = judging_alloc(r->j, sizeof(*file));
	*file = s;
	if (part->sign == '<')
		scope_set(r->scope, SLOT_FILE, name, file);
	out->n = 0;
	pieces_word(r, out, word_text(judging_strndup(r->j, name, 12), 12));
}

static void
expand_arith(struct resolver *r, const struct part *part, struct pieces *out)
{
	struct texts t;
	char buf[32], *p;
	int64_t v;
	uint64_t u;
	size_t i;

	arith_parts(r, part->parts, &t);
	out->n = 0;
	for (i = 0; i < t.n; i++) {
		/* Of a number only digits can come; it is one word. */
		struct word w = { .flags = WORD_PREFIX };

		if (WORD_IS_STATIC(&t.v[i]) &&
		    arith_eval(r, t.v[i].text, t.v[i].len, &v)) {
			p = buf + sizeof(buf);
			u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
			do {
				*--p = (char)('0' + u % 10);
				u /= 10;
			} while (u != 0);
			if (v < 0)
				*--p = '-';
			w = word_text(judging_strndup(r->j, p,
			    (size_t)(buf + sizeof(buf) - p)),
			    (size_t)(buf + sizeof(buf) - p));
		}
		pieces_word(r, out, w);
	}
}

static void expand_part(struct builds *, const struct part *, int quoted);

static void
expand_list(struct builds *b, const struct part *part, int quoted)
{
	for (; part != NULL; part = part->next)
		expand_part(b, part, quoted);
}

/* "$@" alone may be no field at all; any other quote is one. */
static int
may_vanish(const struct part *parts)
{
	return (parts != NULL && parts->next == NULL &&
	    parts->kind == PART_PARAM && (parts->param->name[0] == '@' ||
	    (parts->param->has_subscript && parts->param->subscript != NULL &&
	    parts->param->subscript->kind == PART_TEXT &&
	    parts->param->subscript->text[0] == '@')));
}

static void
literal(struct builds *b, const struct part *part, int quoted)
{
	int is_quoted = part->kind == PART_QUOTED || quoted;
	size_t i;

	for (i = 0; i < b->n; i++) {
		build_text(b, &b->v[i], part->text, part->len);
		if (is_quoted)
			b->v[i].flags |= WORD_QUOTED;
		else if ((b->flags & EXPAND_GLOB) &&
		    makes_pattern(&b->v[i], part->text, part->len))
			b->v[i].flags |= WORD_GLOB;
	}
}

static void
expand_part(struct builds *b, const struct part *part, int quoted)
{
	struct resolver *r = b->r;
	struct pieces pieces;
	size_t i;

	r->j->steps++;
	pieces.n = 0;
	switch (part->kind) {
	case PART_TEXT:
	case PART_QUOTED:
		literal(b, part, quoted);
		return;
	case PART_DOUBLE:
		if (!may_vanish(part->parts))
			for (i = 0; i < b->n; i++)
				b->v[i].open = 1;
		expand_list(b, part->parts, 1);
		for (i = 0; i < b->n; i++)
			if (b->v[i].open)
				b->v[i].flags |= WORD_QUOTED;
		return;
	case PART_PARAM:
		expand_param(r, part->param, quoted, &pieces);
		break;
	case PART_COMMAND:
	case PART_BACKTICK:
		expand_command(r, part, &pieces);
		break;
	case PART_PROCESS:
		expand_process(r, part, &pieces);
		quoted = 1;
		break;
	case PART_ARITH:
		expand_arith(r, part, &pieces);
		break;
	}
	add_pieces(b, &pieces, quoted);
}

/* ---- tilde ---- */

/* The home that ~text (of len bytes) means. */
static struct word
home_of(struct resolver *r, const char *user, size_t len)
{
	const struct judge_context *c = judging_context(r->j);
	const struct value *v;
	const char *text;

	if (len == 0) {
		v = var_get(r, "HOME");
		if (v == NULL || v->n != 1)
			return (word_unknown(WORD_QUOTED));
		if (v->alt[0].n > 0)
			return (v->alt[0].v[0]);
		text = c->home;
	} else if (len == 4 && memcmp(user, "root", 4) == 0)
		text = "/root";
	else if (c->user != NULL && strlen(c->user) == len &&
	    memcmp(user, c->user, len) == 0)
		text = c->home;
	else if (len == 1 && user[0] == '+') {
		v = scope_get(r->scope, SLOT_STATE, "cwd");
		text = v == NULL ? NULL : value_static(v);
	} else
		text = NULL;
	return (text == NULL ? word_unknown(0) :
	    word_text(text, strlen(text)));
}

/*
 * A tilde at the start of an unquoted text; how many bytes it took, with the
 * home added.  last: nothing follows this text.
 */
static size_t
tilde(struct builds *b, const char *s, size_t len, int last, int assign)
{
	struct resolver *r = b->r;
	struct pieces p = { 0 };
	const struct value *v;
	size_t i, n;

	if (len == 0 || s[0] != '~')
		return (0);
	for (n = 1; n < len && s[n] != '/' && !(assign && s[n] == ':'); n++)
		if (!((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' &&
		    s[n] <= 'Z') || (s[n] >= '0' && s[n] <= '9') ||
		    strchr("+-_.", s[n]) != NULL))
			return (0);
	if (n == len && !last)
		return (0);
	v = n == 1 ? var_get(r, "HOME") : NULL;
	if (v != NULL && v->n > 1) {
		for (i = 0; i < v->n; i++)
			if (v->alt[i].n > 0)
				pieces_add(r, &p, v->alt[i].v, 1);
	} else
		pieces_word(r, &p, home_of(r, s + 1, n - 1));
	add_pieces(b, &p, 1);
	return (n);
}

/* A text at the beginning of a word, or of an assignment's value. */
static void
tilde_text(struct builds *b, const struct part *part, int assign)
{
	struct part rest = *part;
	size_t done, i, start;

	rest.next = NULL;
	done = tilde(b, part->text, part->len, part->next == NULL, assign);
	for (i = start = done; assign && i < part->len; i++) {
		if (part->text[i] != ':' || i + 1 >= part->len ||
		    part->text[i + 1] != '~')
			continue;
		rest.text = part->text + start;
		rest.len = i + 1 - start;
		literal(b, &rest, 0);
		start = i + 1;
		start += tilde(b, part->text + start, part->len - start,
		    part->next == NULL, 1);
		i = start - 1;
	}
	rest.text = part->text + start;
	rest.len = part->len - start;
	if (rest.len > 0)
		literal(b, &rest, 0);
}

/* ---- whole words ---- */

static void
builds_init(struct builds *b, struct resolver *r, unsigned flags)
{
	const struct value *ifs = var_get(r, "IFS");

	memset(b, 0, sizeof(*b));
	b->r = r;
	b->n = 1;
	b->flags = flags;
	if (ifs != NULL && ifs->n == 1 && (ifs->alt[0].flags & ALT_UNSET))
		b->ifs = word_text(" \t\n", 3);
	else if (ifs != NULL && ifs->n == 1 && ifs->alt[0].n == 1 &&
	    (ifs->alt[0].v[0].flags & WORD_PREFIX) == 0)
		b->ifs = ifs->alt[0].v[0];
}

static void
builds_finish(struct builds *b, struct expansion *out)
{
	size_t i, k;

	out->n = 0;
	for (i = 0; i < b->n; i++) {
		build_close(b, &b->v[i]);
		for (k = 0; k < b->v[i].ndone; k++) {
			struct word *w = &b->v[i].done[k];

			if ((w->flags & WORD_GLOB) && (w->text == NULL ||
			    (w->text[0] != '/' && w->text[0] != '~' &&
			    strstr(w->text, "..") == NULL)) &&
			    !(w->flags & WORD_PREFIX))
				w->flags |= WORD_WORKSPACE;
		}
		out->alt[out->n++] = (struct fields){ b->v[i].done,
		    b->v[i].ndone };
	}
}

void
expand_parts(struct resolver *r, const struct part *parts, unsigned flags,
    struct expansion *out)
{
	struct builds b;

	builds_init(&b, r, flags);
	if (parts != NULL && parts->kind == PART_TEXT &&
	    (flags & (EXPAND_TILDE | EXPAND_ASSIGN))) {
		tilde_text(&b, parts, (flags & EXPAND_ASSIGN) != 0);
		parts = parts->next;
	}
	expand_list(&b, parts, (flags & EXPAND_QUOTED) != 0);
	builds_finish(&b, out);
}

void
expand_text(struct resolver *r, const struct part *parts, unsigned flags,
    struct texts *out)
{
	struct expansion e;
	size_t i;

	expand_parts(r, parts, flags & ~(unsigned)EXPAND_SPLIT, &e);
	out->n = e.n;
	for (i = 0; i < e.n; i++)
		out->v[i] = e.alt[i].n == 0 ? word_text("", 0) :
		    e.alt[i].v[0];
}

static void
place_fields(struct resolver *r, const struct ast_word *word,
    struct expansion *e)
{
	size_t i, k;

	for (i = 0; i < e->n; i++)
		for (k = 0; k < e->alt[i].n; k++) {
			struct word *w = (struct word *)(uintptr_t)
			    &e->alt[i].v[k];

			w->from = r->fixed ? r->from : word->from;
			w->to = r->fixed ? r->to : word->to;
		}
}

/* The fields of one behind those of the other, in all alternatives. */
static void
append(struct resolver *r, struct expansion *to, const struct expansion *e)
{
	struct word unknown = word_unknown(WORD_SPLITS);
	struct expansion out = { 0 };
	struct expansion all = { .n = 1, .alt = { { &unknown, 1 } } };
	size_t i, k, n;
	struct word *v;

	if (to->n * e->n > JUDGE_VALUES_MAX)
		e = &all;
	for (i = 0; i < to->n; i++)
		for (k = 0; k < e->n; k++) {
			n = to->alt[i].n + e->alt[k].n;
			v = judging_alloc(r->j, n * sizeof(*v) + 1);
			if (to->alt[i].n > 0)
				memcpy(v, to->alt[i].v, to->alt[i].n *
				    sizeof(*v));
			if (e->alt[k].n > 0)
				memcpy(v + to->alt[i].n, e->alt[k].v,
				    e->alt[k].n * sizeof(*v));
			out.alt[out.n++] = (struct fields){ v, n };
		}
	*to = out;
}

void
expand_word(struct resolver *r, const struct ast_word *word,
    struct expansion *out)
{
	struct part *braces[JUDGE_BRACES_MAX];
	struct expansion e;
	size_t n, i;

	if (r->dialect == DIALECT_DASH || !brace_possible(word->parts)) {
		expand_parts(r, word->parts, EXPAND_WORD, out);
		place_fields(r, word, out);
		return;
	}
	n = brace_expand(r, word->parts, braces, JUDGE_BRACES_MAX);
	out->n = 1;
	out->alt[0] = (struct fields){ NULL, 0 };
	for (i = 0; i < n; i++) {
		expand_parts(r, braces[i], EXPAND_WORD, &e);
		append(r, out, &e);
	}
	place_fields(r, word, out);
}

void
expand_string(struct resolver *r, const char *text, size_t len,
    const struct command *c, struct texts *out)
{
	struct parser p;
	struct part *parts;
	int fixed = r->fixed;
	uint32_t from = r->from, to = r->to;

	out->n = 1;
	out->v[0] = word_unknown(0);
	if (memchr(text, '$', len) == NULL && memchr(text, '`', len) == NULL &&
	    memchr(text, '\\', len) == NULL) {
		out->v[0] = word_text(judging_strndup(r->j, text, len), len);
		return;
	}
	if (!judging_again(r->j, len, c) || !judging_enter(r->j, c))
		return;
	parser_init(&p, r->j, text, len, r->dialect);
	if (!fixed) {
		r->fixed = 1;
		r->from = c->from;
		r->to = c->to;
	}
	p.fixed = 1;
	p.from = r->from;
	p.to = r->to;
	if (parser_quoted(&p, &parts) == -1)
		judging_ask(r->j, "unparsable", p.error_text, c);
	else
		expand_text(r, parts, EXPAND_QUOTED, out);
	r->fixed = fixed;
	r->from = from;
	r->to = to;
	judging_leave(r->j);
}
