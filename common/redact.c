/*
 * The small redactor for lines of text: keys known by their shape, and values
 * of properties that are named like secrets.  Every scan is linear in the
 * text, whatever the text.
 */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "redact.h"

#define MASK		"***"
#define BEARER_LEAST	16	/* shorter words after "Bearer" are prose */

/* ---- shapes of keys ---- */

enum alphabet { ALNUM, UPPER, HEX, WORD, URLSAFE, DOTTED };

#define SHAPE_EXACT	0x01	/* the tail is exactly as long as least */
#define SHAPE_DIGIT	0x02	/* the tail holds a digit: not a plain word */

struct shape {
	const char	*prefix;
	enum alphabet	 alphabet;
	uint16_t	 least;		/* characters after the prefix */
	uint8_t		 flags;
};

/* A longer prefix stands before a shorter one of the same beginning. */
static const struct shape shapes[] = {
	{ "sk-ant-",		URLSAFE, 16, 0 },
	{ "sk-proj-",		URLSAFE, 16, 0 },
	{ "sk-or-",		URLSAFE, 16, 0 },
	{ "sk-",		URLSAFE, 20, SHAPE_DIGIT },
	{ "sk_live_",		ALNUM,	 16, 0 },
	{ "sk_test_",		ALNUM,	 16, 0 },
	{ "rk_live_",		ALNUM,	 16, 0 },
	{ "rk_test_",		ALNUM,	 16, 0 },
	{ "whsec_",		ALNUM,	 20, 0 },
	{ "github_pat_",	WORD,	 22, 0 },
	{ "ghp_",		ALNUM,	 30, 0 },
	{ "gho_",		ALNUM,	 30, 0 },
	{ "ghu_",		ALNUM,	 30, 0 },
	{ "ghs_",		ALNUM,	 30, 0 },
	{ "ghr_",		ALNUM,	 30, 0 },
	{ "glpat-",		URLSAFE, 20, 0 },
	{ "glptt-",		URLSAFE, 20, 0 },
	{ "gldt-",		URLSAFE, 20, 0 },
	{ "xoxb-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "xoxp-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "xoxa-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "xoxr-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "xoxs-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "xoxe-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "xapp-",		URLSAFE, 10, SHAPE_DIGIT },
	{ "AKIA",		UPPER,	 16, SHAPE_EXACT },
	{ "ASIA",		UPPER,	 16, SHAPE_EXACT },
	{ "AIza",		URLSAFE, 35, SHAPE_EXACT },
	{ "ya29.",		URLSAFE, 20, 0 },
	{ "GOCSPX-",		URLSAFE, 20, 0 },
	{ "npm_",		ALNUM,	 36, SHAPE_EXACT },
	{ "pypi-AgE",		URLSAFE, 40, 0 },
	{ "hf_",		ALNUM,	 30, 0 },
	{ "gsk_",		ALNUM,	 40, 0 },
	{ "xai-",		ALNUM,	 40, 0 },
	{ "r8_",		ALNUM,	 37, 0 },
	{ "pplx-",		ALNUM,	 40, 0 },
	{ "tvly-",		URLSAFE, 20, SHAPE_DIGIT },
	{ "nvapi-",		URLSAFE, 40, 0 },
	{ "dop_v1_",		HEX,	 64, SHAPE_EXACT },
	{ "dckr_pat_",		URLSAFE, 20, 0 },
	{ "shpat_",		HEX,	 32, SHAPE_EXACT },
	{ "shpss_",		HEX,	 32, SHAPE_EXACT },
	{ "shpca_",		HEX,	 32, SHAPE_EXACT },
	{ "lin_api_",		ALNUM,	 32, 0 },
	{ "hvs.",		URLSAFE, 24, 0 },
	{ "SG.",		DOTTED,	 60, 0 },
	{ "AGE-SECRET-KEY-1",	UPPER,	 58, SHAPE_EXACT },
};

static int
in_alphabet(enum alphabet alphabet, unsigned char c)
{
	int alnum = c < 0x80 && isalnum(c);

	switch (alphabet) {
	case ALNUM:
		return (alnum);
	case UPPER:
		return (alnum && !islower(c));
	case HEX:
		return (c < 0x80 && isxdigit(c));
	case WORD:
		return (alnum || c == '_');
	case URLSAFE:
		return (alnum || c == '_' || c == '-');
	case DOTTED:
		return (alnum || c == '_' || c == '-' || c == '.');
	}
	return (0);
}

/* The length of the run of the alphabet's characters at text. */
static size_t
run(enum alphabet alphabet, const char *text, size_t left)
{
	size_t n;

	for (n = 0; n < left; n++) {
		if (!in_alphabet(alphabet, (unsigned char)text[n]))
			break;
	}
	return (n);
}

static size_t
shape_at(const struct shape *shape, const char *text, size_t left)
{
	size_t plen = strlen(shape->prefix), n, i;

	if (left < plen + shape->least ||
	    memcmp(text, shape->prefix, plen) != 0)
		return (0);
	left -= plen;
	/* One character more than wanted is enough to know it is too long. */
	if ((shape->flags & SHAPE_EXACT) && left > shape->least + 1U)
		left = shape->least + 1U;
	n = run(shape->alphabet, text + plen, left);
	if (n < shape->least ||
	    ((shape->flags & SHAPE_EXACT) && n != shape->least))
		return (0);
	if (shape->flags & SHAPE_DIGIT) {
		for (i = 0; i < n; i++) {
			if (isdigit((unsigned char)text[plen + i]))
				break;
		}
		if (i == n)
			return (0);
	}
	return (plen + n);
}

/* A JSON web token: two parts that begin with {" in base64, and a third. */
static size_t
jwt_at(const char *text, size_t left)
{
	size_t n, part;

	if (left < 3 || memcmp(text, "eyJ", 3) != 0)
		return (0);
	n = run(URLSAFE, text, left);
	if (n < 10 || left - n < 5 || memcmp(text + n, ".eyJ", 4) != 0)
		return (0);
	n++;
	part = run(URLSAFE, text + n, left - n);
	n += part;
	if (part < 10 || n == left || text[n] != '.')
		return (0);
	n++;
	return (n + run(URLSAFE, text + n, left - n));
}

static const char *
find(const char *text, size_t left, const char *what)
{
	return (memmem(text, left, what, strlen(what)));
}

/* A private key in PEM, up to its last line or the end of the text. */
static size_t
pem_at(const char *text, size_t left)
{
	static const char begin[] = "-----BEGIN ", last[] = "PRIVATE KEY";
	const char *end, *p;

	if (left < sizeof(begin) - 1 ||
	    memcmp(text, begin, sizeof(begin) - 1) != 0 ||
	    find(text, left < 64 ? left : 64, last) == NULL)
		return (0);
	p = text + sizeof(begin) - 1;
	if ((end = find(p, (size_t)(text + left - p), "-----END ")) == NULL)
		return (left);
	end += sizeof("-----END ") - 1;
	if ((p = find(end, (size_t)(text + left - end), "-----")) == NULL)
		return (left);
	return ((size_t)(p - text) + 5);
}

size_t
redact_key_at(const char *text, size_t left)
{
	size_t i, n;

	if (left == 0)
		return (0);
	if (*text == 'e')
		return (jwt_at(text, left));
	if (*text == '-')
		return (pem_at(text, left));
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (shapes[i].prefix[0] == *text &&
		    (n = shape_at(&shapes[i], text, left)) != 0)
			return (n);
	}
	return (0);
}

/*
 * 1 if a key may start at p.  A key stands alone: "task-..." is no "sk-...".
 * It may follow an underscore or a dash only if no shape can read over them
 * again and again, which is what keeps a scan linear; those that can begin
 * with 's', 'x', 't' or 'e'.
 */
static int
may_start(const char *text, const char *p)
{
	unsigned char before;

	if (p == text)
		return (1);
	before = (unsigned char)p[-1];
	if (before < 0x80 && isalnum(before))
		return (0);
	if (before == '_' || before == '-')
		return (strchr("sxte", *p) == NULL);
	return (1);
}

/*
 * The password of scheme://user:password@host, if text is its "://".  Sets
 * *start to its offset and returns its length, or 0.
 */
static size_t
url_password_at(const char *text, size_t left, size_t *start)
{
	size_t i, colon = 0;

	if (left < 3 || memcmp(text, "://", 3) != 0)
		return (0);
	for (i = 3; i < left; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c <= ' ' || strchr("/?#\"'<>", c) != NULL)
			return (0);
		if (c == ':' && colon == 0)
			colon = i;
		if (c == '@')
			break;
	}
	if (i == left || colon == 0 || i - colon < 2)
		return (0);
	*start = colon + 1;
	return (i - colon - 1);
}

int
redact_has_key(const char *value)
{
	size_t left = strlen(value), start;
	const char *p;

	for (p = value; left > 0; p++, left--) {
		if (*p == ':' && url_password_at(p, left, &start) != 0)
			return (1);
		if (may_start(value, p) && redact_key_at(p, left) != 0)
			return (1);
	}
	return (0);
}

/* ---- names of secrets ---- */

/*
 * Words that make a name a secret's.  LAST counts only as the last word
 * (a number behind it aside): SESSION_COOKIE is one, COOKIE_JAR is not.
 */
enum place { ANYWHERE, LAST };

static const struct {
	const char	*word;
	enum place	 place;
} secret_words[] = {
	{ "token", ANYWHERE },
	{ "secret", ANYWHERE },
	{ "secrets", ANYWHERE },
	{ "password", ANYWHERE },
	{ "passwd", ANYWHERE },
	{ "passphrase", ANYWHERE },
	{ "passcode", ANYWHERE },
	{ "credential", ANYWHERE },
	{ "credentials", ANYWHERE },
	{ "apikey", ANYWHERE },
	{ "privatekey", ANYWHERE },
	{ "accesskey", ANYWHERE },
	{ "secretkey", ANYWHERE },
	{ "authtoken", ANYWHERE },
	{ "accesstoken", ANYWHERE },
	{ "refreshtoken", ANYWHERE },
	{ "clientsecret", ANYWHERE },
	{ "pgpassword", ANYWHERE },
	{ "authorization", LAST },
	{ "pwd", LAST },
	{ "pass", LAST },
	{ "auth", LAST },
	{ "pat", LAST },
	{ "cookie", LAST },
	{ "apitoken", LAST },
};

/* "..._KEY" is a secret's name only with one of these before it. */
static const char *const key_words[] = {
	"api", "access", "private", "secret", "signing", "encryption", "auth",
	"master", "deploy", "account", "service", "license", "subscription",
	"admin", "client", "session", "app"
};

struct word {
	const char	*p;
	size_t		 len;
};

static int
word_is(const struct word *word, const char *text)
{
	return (word->len == strlen(text) &&
	    strncasecmp(word->p, text, word->len) == 0);
}

/*
 * Cuts the next word off a name: at '_', '-' and '.', and where camelCase
 * goes up ("clientSecret", but "APIKey" is "API", "Key").
 */
static int
next_word(const char **p, const char *end, struct word *word)
{
	const char *s = *p;

	while (s < end && (*s == '_' || *s == '-' || *s == '.'))
		s++;
	word->p = s;
	while (s < end && *s != '_' && *s != '-' && *s != '.') {
		if (s > word->p && isupper((unsigned char)*s) &&
		    (islower((unsigned char)s[-1]) || (s + 1 < end &&
		    isupper((unsigned char)s[-1]) &&
		    islower((unsigned char)s[1]))))
			break;
		s++;
	}
	word->len = (size_t)(s - word->p);
	*p = s;
	return (word->len > 0);
}

static int
word_numeric(const struct word *word)
{
	size_t i;

	for (i = 0; i < word->len; i++) {
		if (!isdigit((unsigned char)word->p[i]))
			return (0);
	}
	return (1);
}

static int
word_secret(const struct word *word, enum place place)
{
	size_t i;

	for (i = 0; i < sizeof(secret_words) / sizeof(secret_words[0]); i++) {
		if (secret_words[i].place == place &&
		    word_is(word, secret_words[i].word))
			return (1);
	}
	return (0);
}

static int
word_before_key(const struct word *word)
{
	size_t i;

	for (i = 0; i < sizeof(key_words) / sizeof(key_words[0]); i++) {
		if (word_is(word, key_words[i]))
			return (1);
	}
	return (0);
}

int
redact_secret_name(const char *name, size_t nlen)
{
	struct word word, last = { "", 0 }, before = { "", 0 };
	const char *p = name, *end = name + nlen;

	while (next_word(&p, end, &word)) {
		if (word_secret(&word, ANYWHERE))
			return (1);
		if (word_numeric(&word))
			continue;
		before = last;
		last = word;
	}
	if (word_secret(&last, LAST))
		return (1);
	return (word_is(&last, "key") && word_before_key(&before));
}

/* ---- lines ---- */

/* Text that is being closed up: everything before w is final. */
struct line {
	char	*text;
	size_t	 len;
	size_t	 r;		/* read up to here */
	size_t	 w;		/* written up to here */
	size_t	 matches;
};

static void
keep(struct line *line, size_t n)
{
	memmove(line->text + line->w, line->text + line->r, n);
	line->r += n;
	line->w += n;
}

static void
mask(struct line *line, size_t n)
{
	size_t stars = n < sizeof(MASK) - 1 ? n : sizeof(MASK) - 1;

	memcpy(line->text + line->w, MASK, stars);
	line->r += n;
	line->w += stars;
	line->matches++;
}

static size_t
blanks(const char *p, size_t left)
{
	size_t n;

	for (n = 0; n < left && (p[n] == ' ' || p[n] == '\t'); n++)
		;
	return (n);
}

/*
 * The length of a value: to its closing quote, or to what ends a bare one.
 * In JSON inside a JSON string (escaped) the closing quote is \" as well.
 */
static size_t
value_length(const char *p, size_t left, char quote, int escaped)
{
	size_t n;

	for (n = 0; n < left; n++) {
		if (escaped && p[n] == '\\')
			break;
		if (quote != '\0') {
			if (p[n] == quote)
				break;
			if (p[n] == '\\' && n + 1 < left)
				n++;
		} else if ((unsigned char)p[n] <= ' ' ||
		    strchr(",;&\"'{}[]()<>", p[n]) != NULL)
			break;
	}
	return (n < left ? n : left);
}

/* "Bearer abc": the word stays, what follows it is the value. */
static size_t
scheme_length(const char *p, size_t left)
{
	static const char *const schemes[] = { "Bearer ", "Basic ", "Token " };
	size_t i, len;

	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		len = strlen(schemes[i]);
		if (left > len && strncasecmp(p, schemes[i], len) == 0)
			return (len);
	}
	return (0);
}

/*
 * After a name that was just kept: if a value follows, masks it.  Forms:
 * name=value, name: value, "name": "value", \"name\": \"value\", and for an
 * option also --name value.
 */
static void
mask_value(struct line *line, int option)
{
	const char *p = line->text + line->r, *end = line->text + line->len;
	size_t n;
	char quote = '\0';
	int escaped = 0;

	if (p < end && *p == '\\')
		p++;
	if (p < end && (*p == '"' || *p == '\''))
		p++;
	n = blanks(p, (size_t)(end - p));
	p += n;
	if (p < end && (*p == '=' || *p == ':'))
		p++;
	else if (!option || n == 0)
		return;
	p += blanks(p, (size_t)(end - p));
	if (p + 1 < end && *p == '\\' && p[1] == '"') {
		escaped = 1;
		p++;
	}
	if (p < end && (*p == '"' || *p == '\''))
		quote = *p++;
	p += scheme_length(p, (size_t)(end - p));
	n = value_length(p, (size_t)(end - p), quote, escaped);
	if (n == 0)
		return;
	keep(line, (size_t)(p - (line->text + line->r)));
	mask(line, n);
}

/* "Bearer abc" without a header's name before it. */
static void
mask_bearer(struct line *line)
{
	const char *p = line->text + line->r;
	size_t left = line->len - line->r, n;

	n = value_length(p + 1, left - 1, '\0', 0);
	if (n >= BEARER_LEAST) {
		keep(line, 1);
		mask(line, n);
	}
}

/*
 * What begins at line->r: a whole name, whose value is masked.  Returns 0 if
 * it is no name of a secret.
 */
static int
mask_named(struct line *line, size_t n)
{
	const char *p = line->text + line->r;
	int option = n > 2 && p[0] == '-' && p[1] == '-';

	if (redact_secret_name(p, n)) {
		keep(line, n);
		mask_value(line, option);
		return (1);
	}
	if (n == 6 && strncasecmp(p, "bearer", n) == 0 && p[n] == ' ') {
		keep(line, n);
		mask_bearer(line);
		return (1);
	}
	return (0);
}

size_t
redact_line(char *text)
{
	struct line line = { text, strlen(text), 0, 0, 0 };
	const char *p;
	size_t left, n, start, name_end = 0;

	while (line.r < line.len) {
		p = text + line.r;
		left = line.len - line.r;
		if (*p == ':' && (n = url_password_at(p, left, &start)) != 0) {
			keep(&line, start);
			mask(&line, n);
			continue;
		}
		if (may_start(text, p) && (n = redact_key_at(p, left)) != 0) {
			mask(&line, n);
			continue;
		}
		/* Each run of a name's characters is looked at once. */
		if (line.r >= name_end && (n = run(DOTTED, p, left)) != 0) {
			name_end = line.r + n;
			if (mask_named(&line, n))
				continue;
		}
		keep(&line, 1);
	}
	text[line.w] = '\0';
	return (line.matches);
}
