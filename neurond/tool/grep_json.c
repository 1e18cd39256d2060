/*
 * The decoder of "rg --json".
 *
 * ripgrep writes the members of its objects in one order, without blanks, and
 * escapes as few bytes as it can.  Only that is understood; what looks
 * otherwise is an error, so that a change there is noticed.
 */
#include <string.h>

#include "grep_json.h"

/* A line of JSON on its way through; p is NULL once it was not understood. */
struct scan {
	char		*p, *end;
	int		 cut;		/* the line goes on behind end */
};

static int
literal(struct scan *s, const char *text)
{
	size_t n = strlen(text);

	if (s->p == NULL || (size_t)(s->end - s->p) < n ||
	    memcmp(s->p, text, n) != 0) {
		s->p = NULL;
		return (0);
	}
	s->p += n;
	return (1);
}

/* 1 and past it if it is there, 0 and nothing changed if not. */
static int
if_literal(struct scan *s, const char *text)
{
	char *p = s->p;

	if (literal(s, text))
		return (1);
	s->p = p;
	return (0);
}

/* A number that is not negative, or null: -1. */
static int64_t
number(struct scan *s)
{
	int64_t v = 0;
	char *begin;

	if (s->p == NULL || if_literal(s, "null"))
		return (-1);
	for (begin = s->p; s->p < s->end && *s->p >= '0' && *s->p <= '9';
	    s->p++) {
		if (v > (INT64_MAX - 9) / 10)
			break;
		v = v * 10 + (*s->p - '0');
	}
	if (s->p == begin)
		s->p = NULL;
	return (v);
}

/* \uXXXX at p; its bytes go to dst, their number is returned, 0: none. */
static size_t
escaped(const char *p, const char *end, char *dst)
{
	unsigned v = 0, digit;
	int i;

	if (end - p < 6)
		return (0);
	for (i = 2; i < 6; i++) {
		if (p[i] >= '0' && p[i] <= '9')
			digit = (unsigned)(p[i] - '0');
		else if ((p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'f')
			digit = (unsigned)((p[i] | 0x20) - 'a') + 10;
		else
			return (0);
		v = v << 4 | digit;
	}
	/* rg has no need of surrogates */
	if (v >= 0xd800 && v <= 0xdfff)
		return (0);
	if (v < 0x80) {
		dst[0] = (char)v;
		return (1);
	}
	if (v < 0x800) {
		dst[0] = (char)(0xc0 | v >> 6);
		dst[1] = (char)(0x80 | (v & 0x3f));
		return (2);
	}
	dst[0] = (char)(0xe0 | v >> 12);
	dst[1] = (char)(0x80 | (v >> 6 & 0x3f));
	dst[2] = (char)(0x80 | (v & 0x3f));
	return (3);
}

/*
 * The rest of a string up to its quote, decoded where it stands.  1; or 0 if
 * the line ends within: *len has what is there, and s->p is past it.
 */
static int
string(struct scan *s, const char **text, size_t *len)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char *dst = s->p, *p = s->p;
	const char *which;
	size_t n;

	*text = s->p;
	while (p < s->end && *p != '"') {
		if (*p != '\\') {
			*dst++ = *p++;
			continue;
		}
		if (s->end - p < 6 && s->cut &&
		    (s->end - p < 2 || p[1] == 'u'))
			break;		/* it may be whole behind the cut */
		if (p + 1 < s->end && p[1] == 'u') {
			if ((n = escaped(p, s->end, dst)) == 0)
				goto bad;
			dst += n;
			p += 6;
			continue;
		}
		if (p + 1 >= s->end || p[1] == '\0' ||
		    (which = strchr(from, p[1])) == NULL)
			goto bad;
		*dst++ = to[which - from];
		p += 2;
	}
	*len = (size_t)(dst - *text);
	if (p < s->end && *p == '"') {
		s->p = p + 1;
		return (1);
	}
	if (!s->cut)
		goto bad;
	s->p = p;
	return (0);
bad:
	s->p = NULL;
	return (0);
}

static int
digit64(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (c - 'A');
	if (c >= 'a' && c <= 'z')
		return (c - 'a' + 26);
	if (c >= '0' && c <= '9')
		return (c - '0' + 52);
	return (c == '+' ? 62 : c == '/' ? 63 : -1);
}

/* Base64 in the place of what it stands for; what is left of four is not. */
static int
unbase64(char *text, size_t *len)
{
	size_t i, n = 0;
	unsigned bits = 0, v = 0;
	int d;

	while (*len > 0 && text[*len - 1] == '=')
		(*len)--;
	for (i = 0; i < *len; i++) {
		if ((d = digit64(text[i])) == -1)
			return (-1);
		v = (v << 6 | (unsigned)d) & 0xffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			text[n++] = (char)(v >> bits & 0xff);
		}
	}
	*len = n;
	return (0);
}

/*
 * {"text":"..."} or {"bytes":"..."}, decoded where it stands.  1; or 0 if it
 * was cut (s->p is set) or is not one (it is NULL).
 */
static int
data(struct scan *s, const char **text, size_t *len)
{
	int bytes, whole;
	char *begin;

	if (s->p == NULL)
		return (0);
	bytes = if_literal(s, "{\"bytes\":\"");
	if (!bytes && !literal(s, "{\"text\":\""))
		return (0);
	begin = s->p;
	whole = string(s, text, len);
	if (s->p != NULL && bytes && unbase64(begin, len) == -1)
		s->p = NULL;
	/* the brace may be what was cut off */
	return (whole && ((s->cut && s->p == s->end) || literal(s, "}")));
}

/* What stands behind a line of a file: its number, and the first match. */
static void
behind(struct scan *s, struct rg_event *e)
{
	const char *text;
	char *before;
	size_t len;
	int64_t n;

	(void)literal(s, ",\"line_number\":");
	e->line = number(s);
	if (s->p == NULL || s->p == s->end)
		e->line = -1;	/* it, or more of it, may follow */
	/* of a match only its place is wanted; it may be cut off */
	if (s->p == NULL || e->kind != RG_MATCH)
		return;
	before = s->p;
	(void)literal(s, ",\"absolute_offset\":");
	(void)number(s);
	if (literal(s, ",\"submatches\":[{\"match\":") &&
	    data(s, &text, &len) && literal(s, ",\"start\":") &&
	    (n = number(s)) >= 0 && s->p != NULL)
		e->start = (size_t)n;
	s->p = before;
}

/*
 * A whole line, or the begin of one (cut).  1 and an event; 0 if it has none,
 * or the event waits for the rest of the line; -1 if it is not understood.
 */
static int
parse(struct rg_reader *r, int cut, struct rg_event *e)
{
	static const struct {
		const char	*word;
		enum rg_kind	 kind;
	} kinds[] = {
		{ "{\"type\":\"match\",\"data\":{\"path\":", RG_MATCH },
		{ "{\"type\":\"context\",\"data\":{\"path\":", RG_CONTEXT },
		{ "{\"type\":\"begin\",\"data\":{\"path\":", RG_BEGIN },
		{ "{\"type\":\"end\",\"data\":{\"path\":", RG_END }
	};
	struct scan s = { r->head, r->head + r->n, cut };
	size_t i;
	int whole;

	memset(e, 0, sizeof(*e));
	e->line = e->binary = -1;
	if (if_literal(&s, "{\"data\":{\"elapsed_total\":"))
		return (0);	/* the summary */
	for (i = 0; i < 4 && !if_literal(&s, kinds[i].word); i++)
		;
	if (i == 4)
		return (-1);
	e->kind = kinds[i].kind;
	if (!data(&s, &e->path, &e->pathlen))
		return (-1);
	if (e->kind == RG_END) {
		(void)literal(&s, ",\"binary_offset\":");
		e->binary = number(&s);
	}
	if (e->kind == RG_BEGIN || e->kind == RG_END)
		return (s.p == NULL ? -1 : 1);
	if (!literal(&s, ",\"lines\":"))
		return (-1);
	whole = data(&s, &e->text, &e->textlen);
	if (s.p == NULL)
		return (-1);
	if (whole) {
		behind(&s, e);
		/* cut within the number, which then is not told */
		if (s.p == NULL && !cut)
			return (-1);
		return (1);
	}
	e->cut = 1;
	r->escape = 0;
	r->long_one = *e;
	/* an escape that was begun is looked at again */
	for (; s.p < s.end; s.p++)
		r->escape = !r->escape && *s.p == '\\';
	return (0);
}

static int
tell(struct rg_reader *r, const struct rg_event *e)
{
	return (r->event(r->arg, e) == -1 ? 1 : 0);
}

/* The head is full, or the line has ended. */
static int
head_done(struct rg_reader *r, int cut)
{
	struct rg_event e;

	switch (parse(r, cut, &e)) {
	case 1:
		r->state = cut ? RG_SKIP : RG_HEAD;
		r->n = 0;
		return (tell(r, &e));
	case 0:
		if (cut && e.cut) {
			r->state = RG_IN_STRING;
			r->ntail = 0;
			return (0);
		}
		r->state = cut ? RG_SKIP : RG_HEAD;
		r->n = 0;
		return (0);
	}
	return (-1);
}

/* Tells the long one, with its number if that was found. */
static int
tail_done(struct rg_reader *r, int at_end)
{
	struct rg_event e = r->long_one;
	struct scan s = { r->tail, r->tail + r->ntail, 1 };

	if (!literal(&s, "},\"line_number\":"))
		return (-1);
	e.line = number(&s);
	r->state = at_end ? RG_HEAD : RG_SKIP;
	r->n = 0;
	return (tell(r, &e));
}

/* Skips a string; returns the bytes taken. */
static size_t
in_string(struct rg_reader *r, const char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (r->escape) {
			r->escape = 0;
		} else if (p[i] == '\\') {
			r->escape = 1;
		} else if (p[i] == '"') {
			r->state = RG_TAIL;
			return (i + 1);
		}
	}
	return (len);
}

/* Takes what it can of bytes of one state; returns like rg_feed(). */
static int
take(struct rg_reader *r, const char *p, size_t len, size_t *taken)
{
	const char *nl;
	size_t n;
	int cut;

	*taken = len;
	switch (r->state) {
	case RG_HEAD:
		nl = memchr(p, '\n', len);
		n = nl == NULL ? len : (size_t)(nl - p);
		cut = n > r->room - r->n;
		if (cut)
			*taken = n = r->room - r->n;
		else if (nl != NULL)
			*taken = n + 1;
		memcpy(r->head + r->n, p, n);
		r->n += n;
		return (cut || nl != NULL ? head_done(r, cut) : 0);
	case RG_IN_STRING:
		*taken = in_string(r, p, len);
		return (0);
	case RG_TAIL:
		nl = memchr(p, '\n', len);
		n = nl == NULL ? len : (size_t)(nl - p);
		if (n > RG_TAIL_MAX - r->ntail) {
			n = RG_TAIL_MAX - r->ntail;
			nl = NULL;
		}
		memcpy(r->tail + r->ntail, p, n);
		r->ntail += n;
		*taken = n + (nl != NULL);
		if (nl == NULL && r->ntail < RG_TAIL_MAX)
			return (0);
		return (tail_done(r, nl != NULL));
	case RG_SKIP:
		nl = memchr(p, '\n', len);
		if (nl != NULL) {
			*taken = (size_t)(nl - p) + 1;
			r->state = RG_HEAD;
			r->n = 0;
		}
		return (0);
	}
	return (-1);
}

int
rg_feed(struct rg_reader *r, const char *p, size_t len)
{
	size_t taken;
	int error;

	while (len > 0) {
		if ((error = take(r, p, len, &taken)) != 0)
			return (error);
		p += taken;
		len -= taken;
	}
	return (0);
}
