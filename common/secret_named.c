/*
 * Secrets that are known by what stands before them: the value of a property
 * named like one, of an Authorization header, the password in a URL.
 *
 * The log masks every such value (redact.c).  In a program's output, which is
 * often source text, that would make files unreadable: here a value must also
 * look like one, and not like a type, a variable, a call or a placeholder.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "redact.h"
#include "secret.h"

#define NAME_MOST	64	/* bytes of a name */
#define BLANKS_MOST	16
#define VALUE_MOST	160	/* bytes of a value that are looked at */
#define URL_MOST	512

/* Where in the text a matcher is, and what it found so far. */
struct reading {
	const struct secret_view *v;
	size_t		 i;
	size_t		 name;
	size_t		 name_len;
	size_t		 value;
	size_t		 len;
	char		 quote;
	char		 sep;
	char		 next;		/* behind the value; '\0': who knows */
	uint8_t		 rest;
	uint8_t		 kind;
	int		 tight;		/* no blank beside the separator */
	int		 compared;	/* == */
};

/* Last words that make a name one of a property of a secret. */
static const char *const about[] = {
	"type", "types", "count", "limit", "name", "names", "id", "ids",
	"url", "uri", "length", "len", "size", "expires", "expiry",
	"expiration", "ttl", "max", "min", "index", "class", "file", "path",
	"dir", "format", "kind", "method", "header", "field", "endpoint",
	"version", "enabled", "required", "policy", "algorithm", "style",
	"label", "placeholder", "regex", "pattern", "usage", "scope", "mode"
};

/* Values that stand where one would: types and the like. */
static const char *const placeholders[] = {
	"true", "false", "null", "none", "nil", "undefined", "string", "str",
	"text", "bool", "boolean", "number", "integer", "bytes", "object",
	"required", "optional", "default", "uint8array", "buffer", "varchar",
	"unknown", "empty", "utf8string", "redacted", "hidden", "masked", "changeme",
	"example", "placeholder", "todo", "prompt", "stdin", "file",
	"basic", "bearer", "digest", "oauth", "oauth2", "openid", "hmac",
	"sha256", "ed25519", "base64", "https", "disabled", "enabled",
	"never", "always", "static", "const", "function", "return", "async",
	"await", "import", "export", "private", "public", "secrets"
};

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

static int
name_char(unsigned char c)
{
	return (secret_run(REST_DOTTED, (const char *)&c, 1) == 1);
}

static int
one_of(const char *const *list, size_t n, const char *p, size_t len)
{
	size_t i;

	if (len == 0)
		return (0);
	for (i = 0; i < n; i++)
		if ((list[i][0] | 0x20) == (p[0] | 0x20) &&
		    strlen(list[i]) == len &&
		    strncasecmp(list[i], p, len) == 0)
			return (1);
	return (0);
}

static int
holds(const char *p, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (; len >= n; p++, len--)
		if (strncasecmp(p, word, n) == 0)
			return (1);
	return (0);
}

/* What there is does not decide.  Up to `safe` it can go out. */
static enum secret_answer
more(const struct reading *r, struct secret_match *m, size_t safe, int strong)
{
	if (r->v->final)
		return (SECRET_NO);
	m->safe = safe;
	m->strong = strong;
	return (SECRET_MORE);
}

/* ---- the name ---- */

/* Its first byte: not the n of \n in JSON text, nor what ends a colour. */
static size_t
name_start(const uint8_t *p, size_t at)
{
	size_t s = at, i;

	while (s > 0 && at - s < NAME_MOST && name_char(p[s - 1]))
		s--;
	if (s > 0 && s < at && p[s - 1] == '\\' &&
	    strchr("nrt", p[s]) != NULL)
		return (s + 1);
	if (s > 0 && (p[s - 1] == '[' || p[s - 1] == ';')) {
		for (i = s; i < at && isdigit(p[i]); i++)
			;
		if (i < at && (p[i] == 'm' || p[i] == 'K'))
			return (i + 1);
	}
	return (s);
}

static uint8_t
name_kind(const char *p, size_t len)
{
	if (holds(p, len, "pass") || holds(p, len, "pwd"))
		return (SECRET_PASSWORD);
	if (holds(p, len, "secret") || holds(p, len, "credential") ||
	    holds(p, len, "cookie"))
		return (SECRET_SECRET);
	if (holds(p, len, "key"))
		return (SECRET_KEY);
	return (SECRET_TOKEN);
}

/* 1 if it is about a secret, as "token_count" is, and holds none. */
static int
name_about(const char *p, size_t len)
{
	size_t i = len;

	while (i > 0 && p[i - 1] != '_' && p[i - 1] != '-' &&
	    p[i - 1] != '.' && !(i < len && isupper((unsigned char)p[i]) &&
	    islower((unsigned char)p[i - 1])))
		i--;
	return (i > 0 && one_of(about, NITEMS(about), p + i, len - i));
}

/* ---- between name and value ---- */

static size_t
blanks(const struct reading *r)
{
	const struct secret_view *v = r->v;
	size_t n;

	for (n = 0; n < BLANKS_MOST && r->i + n < v->len; n++)
		if (v->p[r->i + n] != ' ' && v->p[r->i + n] != '\t')
			break;
	return (n);
}

/* The byte at the place, or 0 where the text ends. */
static char
here(const struct reading *r, size_t ahead)
{
	return (r->i + ahead < r->v->len ?
	    (char)r->v->p[r->i + ahead] : '\0');
}

static int
at_end(const struct reading *r)
{
	return (r->i >= r->v->len);
}

/* NO: there is no value.  MORE: perhaps. */
static enum secret_answer
separator(struct reading *r)
{
	const char *name = (const char *)r->v->p + r->name;
	int option = r->name_len > 2 && name[0] == '-' && name[1] == '-';
	size_t n;

	if (here(r, 0) == '\\')
		r->i++;
	if (here(r, 0) == '"' || here(r, 0) == '\'')
		r->i++;
	if (here(r, 0) == ']')
		r->i++;
	n = blanks(r);
	r->i += n;
	r->tight = n == 0;
	if (at_end(r))
		return (SECRET_MORE);
	r->sep = here(r, 0);
	if (r->sep == '>' && r->name > 0 && r->v->p[r->name - 1] == '<') {
		r->i++;
	} else if (r->sep == '=' || r->sep == ':') {
		r->i++;
		if (at_end(r))
			return (SECRET_MORE);
		if (r->sep == ':' && (here(r, 0) == ':' || here(r, 0) == '/'))
			return (SECRET_NO);
		if (here(r, 0) == '=' || here(r, 0) == '>') {
			r->compared = r->sep == '=' && here(r, 0) == '=';
			r->i++;
			r->tight = 0;
		}
	} else if (option && n == 1) {
		r->sep = '=';
		r->tight = 1;
	} else {
		return (SECRET_NO);
	}
	n = blanks(r);
	r->i += n;
	r->tight = r->tight && (n == 0 || r->sep == ':');
	return (at_end(r) ? SECRET_MORE : SECRET_YES);
}

/* "Bearer abc": the word stays, what follows it is the value. */
static enum secret_answer
scheme(struct reading *r)
{
	static const char *const schemes[] = { "Bearer", "Basic", "Token" };
	const char *p = (const char *)r->v->p + r->i;
	size_t left = r->v->len - r->i, len, i;

	for (i = 0; i < NITEMS(schemes); i++) {
		len = strlen(schemes[i]);
		if (left <= len) {
			if (strncasecmp(p, schemes[i], left) == 0)
				return (SECRET_MORE);
		} else if (strncasecmp(p, schemes[i], len) == 0 &&
		    (p[len] == ' ' || p[len] == '\t')) {
			r->i += len;
			r->i += blanks(r);
			r->kind = i == 0 ? SECRET_BEARER :
			    i == 1 ? SECRET_BASIC : SECRET_TOKEN;
			return (SECRET_YES);
		}
	}
	return (SECRET_NO);
}

/* Its opening quote, if it has one. */
static enum secret_answer
opening(struct reading *r)
{
	r->rest = REST_BARE;
	if (here(r, 0) == '\\') {
		if (r->i + 1 >= r->v->len)
			return (SECRET_MORE);
		if (here(r, 1) != '"')
			return (SECRET_NO);
		r->i += 2;
		r->quote = '\\';
		r->rest = REST_ESCAPED;
		return (SECRET_YES);
	}
	r->quote = here(r, 0);
	switch (r->quote) {
	case '"':
		r->rest = REST_DOUBLE;
		break;
	case '\'':
		r->rest = REST_SINGLE;
		break;
	case '`':
		r->rest = REST_BACKTICK;
		break;
	default:
		r->quote = '\0';
		return (SECRET_YES);
	}
	r->i++;
	return (SECRET_YES);
}

/* ---- does it look like a secret? ---- */

struct letters {
	size_t	upper, lower, digit, blank, other;
	size_t	turns;		/* from one of the first three to another */
	int	same;		/* all one and the same */
	int	version;	/* "^1.2.3" */
};

static struct letters
letters(const char *p, size_t len)
{
	struct letters l = { .same = 1, .version = 1 };
	const size_t *before = NULL, *kind;
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		l.same = l.same && p[i] == p[0];
		if (l.version)
			l.version = c != '\0' && strchr(
			    "0123456789.^~>=<xX*-+v ", c) != NULL;
		kind = NULL;
		if (c >= 'A' && c <= 'Z')
			kind = &l.upper;
		else if (c >= 'a' && c <= 'z')
			kind = &l.lower;
		else if (c >= '0' && c <= '9')
			kind = &l.digit;
		else if (c == ' ' || c == '\t')
			l.blank++;
		else if (c != '_' && c != '-' && c != '.')
			l.other++;
		l.upper += kind == &l.upper;
		l.lower += kind == &l.lower;
		l.digit += kind == &l.digit;
		l.turns += kind != NULL && before != NULL && kind != before;
		before = kind != NULL ? kind : before;
	}
	return (l);
}

/* Names turn at the beginning of a word, what dice made all the time. */
static int
is_random(const struct letters *l, size_t len)
{
	return (len >= 10 && l->turns * 100 >= len * 40);
}

static int
stands_in(const char *p, size_t len)
{
	/* $VAR, ${VAR}, {{ value }}, <token>, %s, *** and our own marker. */
	if (strchr("${<*[(^@", p[0]) != NULL ||
	    (p[0] == '%' && len > 1 && strchr("s({v", p[1]) != NULL))
		return (1);
	if (len > 4 && (strncasecmp(p, "your", 4) == 0 ||
	    strncasecmp(p, "my_", 3) == 0 || strncasecmp(p, "xxxx", 4) == 0))
		return (1);
	return (one_of(placeholders, NITEMS(placeholders), p, len));
}

/* Words alone: of a secret only where people choose them. */
static int
words_are_secret(const struct reading *r, const char *p, size_t len)
{
	int chosen = r->kind == SECRET_PASSWORD || r->kind == SECRET_SECRET;
	char next = r->next;

	if (!chosen || len < 6 || memchr(p, '.', len) != NULL ||
	    redact_secret_name(p, len))
		return (0);
	if (r->quote != '\0')
		return (1);
	/* A word without quotes is a variable more often than not, or prose
	 * that goes on. */
	if (!r->tight || strchr(",)", next) != NULL)
		return (next == '\0');
	if (r->sep != ':')
		return (1);
	return (memchr(p, '_', len) == NULL && (next == '\n' ||
	    next == '\r' || next == '\0' || next == '\\') &&
	    !(p[0] >= 'A' && p[0] <= 'Z'));
}

/*
 * Letters and digits, as a variable's name or a type's has them.  Of a token
 * or key more is asked for than of what people choose.
 */
static int
code_like(const struct reading *r, const char *p, size_t len,
    const struct letters *l)
{
	int chosen = r->kind == SECRET_PASSWORD || r->kind == SECRET_SECRET;
	int joined = memchr(p, '_', len) != NULL ||
	    memchr(p, '.', len) != NULL;

	if (p[len - 1] == ':' || memmem(p, len, "%s", 2) != NULL)
		return (1);
	if (is_random(l, len))
		return (0);
	/* No token has no digit; a path has none either. */
	if (l->digit == 0 && (!chosen || (r->quote == '\0' &&
	    memchr(p, '/', len) != NULL)))
		return (1);
	if (r->quote != '\0' || l->other > 0)
		return (0);
	if (joined && (r->sep == ':' || !r->tight) && l->digit < 5)
		return (1);
	return (!chosen && l->digit < 4 && (l->upper == 0 || l->lower == 0 ||
	    joined));
}

static int
looks_secret(const struct reading *r)
{
	const char *p = (const char *)r->v->p + r->value;
	int chosen = r->kind == SECRET_PASSWORD || r->kind == SECRET_SECRET;
	size_t len = r->len;
	struct letters l;
	char next = r->next;

	if (len < 4 || stands_in(p, len))
		return (0);
	l = letters(p, len);
	if (l.same)
		return (0);
	if (r->sep == '>' && next != '<' && next != '\0')
		return (0);
	if (r->quote == '\0' && (r->compared || next == '(' || next == '[' ||
	    next == '{' || (next == '<' && r->sep != '>')))
		return (0);
	if (l.blank > 0)
		return (holds((const char *)r->v->p + r->name, r->name_len,
		    "passphrase"));
	if (l.digit == len)
		return (r->kind == SECRET_PASSWORD &&
		    (r->quote != '\0' || r->tight));
	if (l.version)
		return (0);
	if (l.digit == 0 && l.other == 0 && !is_random(&l, len))
		return (words_are_secret(r, p, len));
	/* Paths and URLs have rows of their own. */
	if (p[0] == '/' || p[0] == '~' || strncmp(p, "./", 2) == 0 ||
	    holds(p, len, "://"))
		return (0);
	if (code_like(r, p, len, &l))
		return (0);
	if (l.other == 0 && redact_secret_name(p, len))
		return (0);
	return (len >= (chosen ? 4 : 8));
}

/* ---- a named value ---- */

/* Its length; MORE where its end is not here and more of it would count. */
static enum secret_answer
measure(struct reading *r)
{
	struct secret_going g = { .rest = r->rest };
	size_t left = r->v->len - r->i;

	r->value = r->i;
	r->len = secret_go_on(&g, r->v->p + r->i,
	    left < VALUE_MOST ? left : VALUE_MOST);
	if (r->len == left && left < VALUE_MOST && !r->v->final)
		return (SECRET_MORE);
	r->next = r->len < VALUE_MOST ? here(r, r->len) : '\0';
	/* Who goes on from here must see the backslash. */
	r->len -= g.escaped;
	r->i += r->len;
	return (r->len > 0 ? SECRET_YES : SECRET_NO);
}

static enum secret_answer
named_value(struct reading *r, struct secret_match *m)
{
	enum secret_answer a;

	if ((a = separator(r)) != SECRET_YES)
		return (a == SECRET_NO ? a : more(r, m, r->v->len, 0));
	if (!redact_secret_name((const char *)r->v->p + r->name,
	    r->name_len) || name_about((const char *)r->v->p + r->name,
	    r->name_len))
		return (SECRET_NO);
	r->kind = name_kind((const char *)r->v->p + r->name, r->name_len);
	if ((a = opening(r)) != SECRET_YES)
		return (a == SECRET_NO ? a : more(r, m, r->i, 0));
	if (at_end(r))
		return (more(r, m, r->i, 0));
	if (scheme(r) == SECRET_MORE && !r->v->final)
		return (more(r, m, r->i, 1));
	if (at_end(r))
		return (more(r, m, r->i, 0));
	if ((a = measure(r)) != SECRET_YES)
		return (a == SECRET_NO ? a : more(r, m, r->value, 1));
	if (!looks_secret(r))
		return (SECRET_NO);
	m->start = r->value;
	m->end = r->i;
	m->kind = r->kind;
	m->rest = r->rest;
	return (SECRET_YES);
}

enum secret_answer
secret_named_at(const struct secret_view *v, size_t word,
    struct secret_match *m)
{
	struct reading r = { .v = v };
	size_t end = v->at + word, most;

	most = v->len - end > NAME_MOST ? end + NAME_MOST : v->len;
	while (end < most && name_char(v->p[end]))
		end++;
	if (end == v->len)
		return (more(&r, m, v->len, 0));
	r.name = name_start(v->p, v->at);
	r.name_len = end - r.name;
	r.i = end;
	if (r.name_len > NAME_MOST)
		return (SECRET_NO);
	return (named_value(&r, m));
}

/* ---- "Bearer abc" without a header's name before it ---- */

/* 1 if it is base64 of printable text with a colon in it. */
static int
is_user_and_password(const char *p, size_t len)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, have = 0, byte;
	const char *q;
	int colon = 0;

	for (; len > 0 && *p != '='; p++, len--) {
		if ((q = memchr(alphabet, *p, 64)) == NULL)
			return (0);
		bits = (bits << 6 | (unsigned)(q - alphabet)) & 0xfff;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		byte = bits >> have & 0xff;
		if (byte < ' ' || byte > '~')
			return (0);
		colon |= byte == ':';
	}
	return (colon);
}

enum secret_answer
secret_scheme_at(const struct secret_view *v, size_t word,
    struct secret_match *m)
{
	const char *p = (const char *)v->p + v->at + word;
	size_t left = v->len - v->at - word, n;
	struct reading r = { .v = v };
	struct letters l;

	if (!secret_may_start(v->p, v->at) && v->at > 0 &&
	    v->p[v->at - 1] != '-')
		return (SECRET_NO);
	if (left > VALUE_MOST)
		left = VALUE_MOST;
	for (n = 0; n < left; n++)
		if (!name_char((unsigned char)p[n]) &&
		    (p[n] == '\0' || strchr("~+/=", p[n]) == NULL))
			break;
	if (n == left && left < VALUE_MOST && !v->final)
		return (more(&r, m, v->at + word, n > 0));
	l = letters(p, n);
	if (word == sizeof("basic ") - 1) {
		if (n < 8 || !is_user_and_password(p, n))
			return (SECRET_NO);
	} else if (n < 16 || l.digit == 0 || l.upper + l.lower == 0 ||
	    stands_in(p, n)) {
		return (SECRET_NO);
	}
	m->start = v->at + word;
	m->end = m->start + n;
	m->kind = word == sizeof("basic ") - 1 ? SECRET_BASIC : SECRET_BEARER;
	m->rest = REST_BARE;
	return (SECRET_YES);
}

/* ---- scheme://user:password@host ---- */

enum secret_answer
secret_url_at(const struct secret_view *v, struct secret_match *m)
{
	struct reading r = { .v = v };
	size_t i, colon = 0, most;
	const uint8_t *p = v->p;

	if (v->at == 0 || !name_char(p[v->at - 1]))
		return (SECRET_NO);
	most = v->len - v->at > URL_MOST ? v->at + URL_MOST : v->len;
	for (i = v->at + 3; i < most; i++) {
		if (p[i] <= ' ' || strchr("/?#\"'<>\\`", p[i]) != NULL)
			return (SECRET_NO);
		if (p[i] == ':' && colon == 0)
			colon = i;
		if (p[i] == '@')
			break;
	}
	if (i == most && v->final != SECRET_IDLE)
		return (most < v->at + URL_MOST ?
		    more(&r, m, colon > 0 ? colon + 1 : v->len, 1) :
		    SECRET_NO);
	if (colon == 0 || i - colon < 4 || p[v->at + 3] == '[' ||
	    strchr("${*[%", p[colon + 1]) != NULL ||
	    redact_secret_name((const char *)p + colon + 1, i - colon - 1))
		return (SECRET_NO);
	/* No port, so there will be an @. */
	if (i == most && letters((const char *)p + colon + 1,
	    i - colon - 1).digit == i - colon - 1)
		return (SECRET_NO);
	m->start = colon + 1;
	m->end = i;
	m->kind = SECRET_URL_PASSWORD;
	m->rest = i == most ? REST_URL : REST_NONE;
	return (SECRET_YES);
}
