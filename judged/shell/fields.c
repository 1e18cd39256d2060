/*
 * Fields of a word while they are made: splitting, and the alternatives.
 */
#include <string.h>

#include "fields.h"

#define FIELD_MAX	JUDGE_TEXT_MAX

/* More of what is not all known. */
static void
whole_add(struct builds *b, struct build *x, const char *s, size_t len)
{
	size_t room;
	char *more;

	if (x->wlen + len > FIELD_MAX || !judging_afford(b->r->j, len)) {
		x->whole = NULL;
		return;
	}
	if (x->whole == NULL || x->wlen + len > x->wroom) {
		room = (x->wlen + len) * 2 + 32;
		more = judging_alloc(b->r->j, room);
		if (x->wlen > 0)
			memcpy(more, x->whole, x->wlen);
		x->whole = more;
		x->wroom = room;
	}
	memcpy(x->whole + x->wlen, s, len);
	x->wlen += len;
}

/* What follows the text of a word that is not known to its end. */
static void
whole_unknown(struct builds *b, struct build *x, const struct word *w,
    int more)
{
	if (!more) {
		x->whole = NULL;
		x->wlen = x->wroom = 0;
		whole_add(b, x, x->len > 0 ? x->text : "", x->len);
	}
	if (x->whole == NULL)
		return;
	if (w->whole != NULL && strlen(w->whole) >= w->len)
		whole_add(b, x, w->whole + w->len, strlen(w->whole) - w->len);
	else
		whole_add(b, x, WORD_HOLE, strlen(WORD_HOLE));
}

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
	if (x->whole != NULL && (x->flags & WORD_PREFIX) != 0)
		w->whole = judging_strndup(j, x->whole, x->wlen);
	x->whole = NULL;
	x->wlen = x->wroom = 0;
	if (x->len > 0 || !(x->flags & WORD_PREFIX))
		w->text = judging_strndup(j, x->text, x->len);
	if (x->len > 0 && !(x->flags & WORD_SPLITS))
		w->flags &= ~(unsigned)WORD_EMPTY;
	x->len = 0;
	x->flags = 0;
	x->open = 0;
	x->bracket = 0;
}

void
build_text(struct builds *b, struct build *x, const char *s, size_t len)
{
	struct judging *j = b->r->j;
	size_t room;
	char *more;

	x->open = 1;
	/* Of several paths only the last has what follows. */
	if (len > 0 && (x->flags & WORD_SEVERAL))
		x->flags |= WORD_PREFIX | WORD_SPLITS;
	if (len > 0)
		x->flags &= ~(unsigned)WORD_FOUND;
	if ((x->flags & WORD_PREFIX) != 0 && len > 0 && x->whole != NULL)
		whole_add(b, x, s, len);
	if ((x->flags & WORD_PREFIX) || len == 0)
		return;
	if (x->len + len > FIELD_MAX || !judging_afford(j, len)) {
		x->flags |= WORD_PREFIX;
		return;
	}
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
int
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
	if (from->whole != NULL)
		to->whole = judging_strndup(j, from->whole, from->wlen);
	to->wroom = from->wlen;
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
	int splits = !quoted && (b->flags & EXPAND_SPLIT), unknown;
	unsigned carried = w->flags & (WORD_NETWORK | WORD_WORKSPACE |
	    WORD_GLOB);

	/* Not even read, if there is no room for it. */
	if (!judging_afford(b->r->j, w->len)) {
		x->open = 1;
		x->flags |= WORD_PREFIX | WORD_SPLITS | WORD_EMPTY | carried;
		if (!(b->flags & EXPAND_SPLIT))
			x->flags &= ~(unsigned)WORD_SPLITS;
		return;
	}

	if (!splits) {
		int more = x->len > 0 || (x->flags & WORD_PREFIX) != 0;

		unknown = (x->flags & WORD_PREFIX) != 0;
		if ((w->flags & WORD_SEVERAL) && x->len > 0)
			x->flags |= WORD_PREFIX | WORD_SPLITS;
		if (w->text != NULL)
			build_text(b, x, w->text, w->len);
		x->open = 1;
		x->flags |= w->flags;
		/* "$f/.." is not what was found */
		if (more)
			x->flags &= ~(unsigned)WORD_FOUND;
		if (w->flags & WORD_SPLITS)
			x->flags |= WORD_PREFIX;
		if ((w->flags & (WORD_PREFIX | WORD_SPLITS)) != 0)
			whole_unknown(b, x, w, unknown);
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
	unknown = (x->flags & WORD_PREFIX) != 0;
	if (w->text != NULL) {
		if (unknown && strpbrk(w->text, " \t\n") != NULL)
			unknown = 0;
		split(b, x, w->text, w->len);
		if (carried && x->open)
			x->flags |= carried;
		else if ((carried & WORD_NETWORK) && x->ndone > 0)
			x->done[x->ndone - 1].flags |= carried;
	}
	if (w->flags & (WORD_PREFIX | WORD_SPLITS)) {
		x->open = 1;
		whole_unknown(b, x, w, unknown);
		x->flags |= (w->flags & ~(unsigned)WORD_FOUND) | WORD_PREFIX;
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
void
add_pieces(struct builds *b, const struct pieces *p, int quoted)
{
	struct word unknown = word_unknown(0);
	struct fields all = { &unknown, 1 };
	size_t i, k, n = b->n, fields = 0;

	for (k = 0; k < p->n; k++) {
		fields += p->alt[k].n;
		if (p->alt[k].n != 1)
			unknown.flags |= WORD_SPLITS;
	}
	if (p->n * n > JUDGE_VALUES_MAX ||
	    !judging_afford(b->r->j, fields * n * sizeof(unknown))) {
		for (k = 0; k < p->n; k++)
			for (i = 0; i < p->alt[k].n && i < LOOKED_MAX; i++)
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

void
builds_init(struct builds *b, struct resolver *r, unsigned flags)
{
	const struct value *ifs = var_get(r, "IFS");

	b->r = r;
	b->n = 1;
	b->flags = flags;
	b->ifs = (struct word){ .text = NULL };
	memset(&b->v[0], 0, sizeof(b->v[0]));
	if (ifs != NULL && ifs->n == 1 && (ifs->alt[0].flags & ALT_UNSET))
		b->ifs = word_text(" \t\n", 3);
	else if (ifs != NULL && ifs->n == 1 && ifs->alt[0].n == 1 &&
	    (ifs->alt[0].v[0].flags & WORD_PREFIX) == 0)
		b->ifs = ifs->alt[0].v[0];
}

void
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
