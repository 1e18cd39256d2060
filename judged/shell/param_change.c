/*
 * Operators that change a parameter's text: ${x#p} ${x/p/s} ${x,,} ${x:1}
 * ${x@P}.
 */
#include <ctype.h>
#include <string.h>
#include <sys/types.h>

#include "pattern.h"
#include "resolver.h"

/* Tries of a pattern, in bytes looked at: over it the result is unknown. */
#define MATCH_MAX	(1024 * 1024)

/* What remains of what is known when a text has changed somehow. */
static struct word
changed(const struct word *w)
{
	return (word_unknown(w->flags & (WORD_NETWORK | WORD_WORKSPACE)));
}

/* The one text of the operand; 0 if it is not certain. */
static int
operand(struct resolver *r, const struct part *parts, struct word *w)
{
	struct texts t;

	/* Quoted pattern characters would want escaping: not followed. */
	expand_text(r, parts, 0, &t);
	*w = t.v[0];
	if (w->text == NULL && t.n == 1 && (w->flags & WORD_PREFIX) == 0)
		*w = word_text("", 0);
	return (t.n == 1 && w->text != NULL && (w->flags & WORD_PREFIX) == 0);
}

static int
too_long(struct resolver *r, const struct word *w, const struct word *pattern,
    int everywhere)
{
	size_t tries = (w->len + 1) * (w->len + 1);

	/* A star at each place looks at all that follows, again and again. */
	if (everywhere && w->len < MATCH_MAX &&
	    memchr(pattern->text, '*', pattern->len) != NULL)
		tries *= w->len / 4 + 1;

	return (w->len > 0 && (tries > MATCH_MAX / (pattern->len + 1) ||
	    !judging_afford(r->j, tries * (pattern->len + 1) / 4)));
}

static struct word
sub(struct resolver *r, const struct word *w, size_t from, size_t to)
{
	struct word out = *w;

	out.text = judging_strndup(r->j, w->text + from, to - from);
	out.len = to - from;
	return (out);
}

static struct word
trim(struct resolver *r, const struct param *p, const struct word *w)
{
	struct word pat;
	size_t i, n;
	int front = p->op == '#';

	if (!operand(r, p->word, &pat) || too_long(r, w, &pat, 0))
		return (changed(w));
	for (i = 0; i <= w->len; i++) {
		/* The shortest first, or with ## and %% the longest. */
		n = p->doubled ? w->len - i : i;
		if (front ? pattern_match(pat.text, pat.len, w->text, n) :
		    pattern_match(pat.text, pat.len, w->text + w->len - n, n))
			return (front ? sub(r, w, n, w->len) :
			    sub(r, w, 0, w->len - n));
	}
	return (*w);
}

/* The longest match at a place; -1 if there is none. */
static ssize_t
match_at(const struct param *p, const struct word *w, const struct word *pat,
    size_t at)
{
	size_t n;

	if ((p->anchor == '#' && at != 0))
		return (-1);
	for (n = w->len - at + 1; n-- > 0;) {
		if (p->anchor == '%' && at + n != w->len)
			continue;
		if (pattern_match(pat->text, pat->len, w->text + at, n))
			return ((ssize_t)n);
	}
	return (-1);
}

static struct word
replace(struct resolver *r, const struct param *p, const struct word *w)
{
	struct word pat, with = word_text("", 0);
	size_t i = 0, n = 0, room;
	ssize_t m;
	char *out;
	int once = 0;

	if (!operand(r, p->word, &pat) ||
	    (p->has_with && !operand(r, p->with, &with)) ||
	    too_long(r, w, &pat, 1) || with.len > 4096)
		return (changed(w));
	room = (w->len + 1) * (with.len + 1) + 1;
	if (room > JUDGE_TEXT_MAX * 4)
		return (changed(w));
	out = judging_alloc(r->j, room);
	while (i <= w->len) {
		m = once && !p->doubled ? -1 : match_at(p, w, &pat, i);
		if (m > 0 || (m == 0 && p->anchor != 0 && !once)) {
			once = 1;
			memcpy(out + n, with.text, with.len);
			n += with.len;
			i += (size_t)m;
			if (m > 0)
				continue;
		}
		if (i < w->len)
			out[n++] = w->text[i];
		i++;
	}
	out[n] = '\0';
	return ((struct word){ .text = out, .len = n, .flags = w->flags });
}

static struct word
recase(struct resolver *r, const struct param *p, const struct word *w)
{
	struct word pat;
	char *out;
	size_t i;
	unsigned char c;

	if (!operand(r, p->word, &pat))
		return (changed(w));
	out = judging_strndup(r->j, w->text, w->len);
	for (i = 0; i < w->len && (p->doubled || i == 0); i++) {
		c = (unsigned char)out[i];
		if (pat.len > 0 && !pattern_match(pat.text, pat.len,
		    out + i, 1))
			continue;
		if (p->op == '^' || (p->op == '~' && islower(c)))
			out[i] = (char)toupper(c);
		else
			out[i] = (char)tolower(c);
	}
	return ((struct word){ .text = out, .len = w->len,
	    .flags = w->flags });
}

static int
number(struct resolver *r, const struct part *parts, int64_t *v)
{
	struct texts t;
	size_t i, n;

	arith_parts(r, parts, &t);
	if (t.n != 1 || !WORD_IS_STATIC(&t.v[0]))
		return (0);
	for (i = n = 0; i < t.v[0].len; i++)
		n += t.v[0].text[i] != ' ';
	*v = 0;
	return (n == 0 || arith_eval(r, t.v[0].text, t.v[0].len, v));
}

static struct word
substring(struct resolver *r, const struct param *p, const struct word *w)
{
	int64_t len = (int64_t)w->len, from, n = len;
	int known;

	/* Both are looked at in any case: they run code. */
	known = number(r, p->word, &from);
	if (p->has_with)
		known &= number(r, p->with, &n);
	if (!known)
		return (changed(w));
	if (from < 0)
		from += len;
	if (from < 0 || from > len)
		return (word_text("", 0));
	if (n < 0)
		n += len - from;
	if (n < 0)
		return (changed(w));
	if (n > len - from)
		n = len - from;
	return (sub(r, w, (size_t)from, (size_t)(from + n)));
}

/* ${x@P} expands the value again; the others quote, or change case. */
static struct word
transform(struct resolver *r, const struct param *p, const struct word *w)
{
	struct param as = { .doubled = 1 };
	struct texts t;
	struct word letter;

	if (!operand(r, p->word, &letter) || letter.len != 1)
		return (changed(w));
	switch (letter.text[0]) {
	case 'P':
		expand_string(r, w->text, w->len, r->starter, &t);
		return (t.n == 1 ? t.v[0] : changed(w));
	case 'U':
	case 'u':
		as.op = '^';
		as.doubled = letter.text[0] == 'U';
		return (recase(r, &as, w));
	case 'L':
		as.op = ',';
		return (recase(r, &as, w));
	default:
		return (changed(w));
	}
}

struct word
param_change(struct resolver *r, const struct param *p, const struct word *w)
{
	struct texts t;

	if (w->text == NULL || (w->flags & (WORD_PREFIX | WORD_GLOB)) ||
	    !judging_afford(r->j, w->len)) {
		/* The operands run all the same. */
		expand_text(r, p->word, EXPAND_QUOTED, &t);
		if (p->has_with)
			expand_text(r, p->with, EXPAND_QUOTED, &t);
		if (p->op == '@')
			judging_ask(r->j, "opaque",
			    "an unknown value is expanded again", r->starter);
		return (changed(w));
	}
	switch (p->op) {
	case '#':
	case '%':
		return (trim(r, p, w));
	case '/':
		return (replace(r, p, w));
	case '^':
	case ',':
	case '~':
		return (recase(r, p, w));
	case ':':
		return (substring(r, p, w));
	case '@':
		return (transform(r, p, w));
	default:
		return (changed(w));
	}
}
