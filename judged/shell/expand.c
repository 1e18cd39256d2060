/*
 * Expansion of words: from parts to the fields that a command would get, in
 * all known alternatives.
 */
#include <string.h>

#include "fields.h"

/* Bytes of a word that is expanded that count as one more. */
#define PART_WEIGHT	32

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

		w = word_unknown((c->kind == CONTENT_NETWORK ?
		    WORD_NETWORK : 0) | ((c->names & NAMES_INSIDE) != 0 ?
		    WORD_WORKSPACE : 0));
		if (c->kind == CONTENT_NONE)
			w = word_text("", 0);
		if (c->kind == CONTENT_TEXT && judging_afford(r->j, c->len)) {
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

	if (to->n * e->n > JUDGE_VALUES_MAX || !judging_afford(r->j,
	    to->n * e->n * (to->alt[0].n + e->alt[0].n) * sizeof(*v)))
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

static size_t
parts_length(const struct part *p)
{
	size_t n = 0;

	for (; p != NULL; p = p->next)
		n += p->len;
	return (n);
}

int
expand_literal(struct resolver *r, const struct ast_word *word,
    struct word *w)
{
	const struct part *p = word->parts;

	if (p == NULL || p->next != NULL || (p->kind != PART_QUOTED &&
	    (p->kind != PART_TEXT || p->text[0] == '~' ||
	    strpbrk(p->text, "*?[{") != NULL)))
		return (0);
	*w = word_text(p->text, p->len);
	w->flags = p->kind == PART_QUOTED ? WORD_QUOTED : 0;
	w->from = r->fixed ? r->from : word->from;
	w->to = r->fixed ? r->to : word->to;
	r->j->steps++;
	return (1);
}

void
expand_word(struct resolver *r, const struct ast_word *word,
    struct expansion *out)
{
	struct part *braces[JUDGE_BRACES_MAX];
	struct word literal, *w;
	struct expansion e;
	size_t n, i;

	if (expand_literal(r, word, &literal)) {
		w = judging_alloc(r->j, sizeof(*w));
		*w = literal;
		out->n = 1;
		out->alt[0] = (struct fields){ w, 1 };
		return;
	}
	(void)judging_words(r->j, parts_length(word->parts) / PART_WEIGHT);
	if (r->dialect == DIALECT_DASH || !brace_possible(word->parts)) {
		expand_parts(r, word->parts, EXPAND_WORD, out);
		place_fields(r, word, out);
		return;
	}
	/* What many words make of themselves is not followed for ever. */
	if (r->j->braces > JUDGE_BRACES_ALL) {
		judging_bound(r->j, "braces make more words than are judged",
		    r->starter);
		w = judging_alloc(r->j, sizeof(*w));
		*w = word_unknown(WORD_SPLITS);
		out->n = 1;
		out->alt[0] = (struct fields){ w, 1 };
		place_fields(r, word, out);
		return;
	}
	n = brace_expand(r, word->parts, braces, JUDGE_BRACES_MAX);
	r->j->braces += n;
	out->n = 1;
	out->alt[0] = (struct fields){ NULL, 0 };
	w = judging_alloc(r->j, n * sizeof(*w));
	for (i = 0; i < n; i++) {
		expand_parts(r, braces[i], EXPAND_WORD, &e);
		if (w != NULL && e.n == 1 && e.alt[0].n == 1) {
			/* As most are: one field each, in one list. */
			w[i] = e.alt[0].v[0];
			out->alt[0] = (struct fields){ w, i + 1 };
			continue;
		}
		w = NULL;
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
	if (!judging_afford(r->j, len)) {
		judging_bound(r->j, "more is expanded than is followed", c);
		return;
	}
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
