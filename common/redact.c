/*
 * The small redactor for lines of text: keys known by their shape (secret.h),
 * and values of properties that are named like secrets.  Every scan is linear in the
 * text, whatever the text.
 */
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "redact.h"
#include "secret.h"

#define MASK		"***"
#define BEARER_LEAST	16	/* shorter words after "Bearer" are prose */

/* ---- keys ---- */

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
	return (left > 0 && *text == '-' ? pem_at(text, left) :
	    secret_key_length(text, left));
}

/* 1 if a key may start at p: "task-..." is no "sk-...". */
static int
may_start(const char *text, const char *p)
{
	return (secret_may_start((const uint8_t *)text, (size_t)(p - text)));
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

#define WORD(word, place)	{ word, sizeof(word) - 1, place }

static const struct {
	const char	*word;
	size_t		 len;
	enum place	 place;
} secret_words[] = {
	WORD("token", ANYWHERE),
	WORD("secret", ANYWHERE),
	WORD("secrets", ANYWHERE),
	WORD("password", ANYWHERE),
	WORD("passwd", ANYWHERE),
	WORD("passphrase", ANYWHERE),
	WORD("passcode", ANYWHERE),
	WORD("credential", ANYWHERE),
	WORD("credentials", ANYWHERE),
	WORD("apikey", ANYWHERE),
	WORD("privatekey", ANYWHERE),
	WORD("accesskey", ANYWHERE),
	WORD("secretkey", ANYWHERE),
	WORD("authtoken", ANYWHERE),
	WORD("accesstoken", ANYWHERE),
	WORD("refreshtoken", ANYWHERE),
	WORD("clientsecret", ANYWHERE),
	WORD("pgpassword", ANYWHERE),
	WORD("authorization", LAST),
	WORD("pwd", LAST),
	WORD("pass", LAST),
	WORD("auth", LAST),
	WORD("pat", LAST),
	WORD("cookie", LAST),
	WORD("apitoken", LAST),
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
		if (secret_words[i].len == word->len &&
		    secret_words[i].place == place &&
		    strncasecmp(word->p, secret_words[i].word, word->len) == 0)
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

/* What stands before a value that is masked: a key may be a part of it. */
static void
keep_before(struct line *line, size_t n)
{
	const char *p;
	size_t end = line->r + n, left, key;

	while (line->r < end) {
		p = line->text + line->r;
		left = line->len - line->r;
		if (may_start(line->text, p) &&
		    (key = redact_key_at(p, left)) != 0)
			mask(line, key);
		else
			keep(line, 1);
	}
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
		keep_before(line, n);
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
			keep_before(&line, start);
			mask(&line, n);
			continue;
		}
		if (may_start(text, p) && (n = redact_key_at(p, left)) != 0) {
			mask(&line, n);
			continue;
		}
		/* Each run of a name's characters is looked at once. */
		if (line.r >= name_end && (n = secret_run(REST_DOTTED, p, left)) != 0) {
			name_end = line.r + n;
			if (mask_named(&line, n))
				continue;
		}
		keep(&line, 1);
	}
	text[line.w] = '\0';
	return (line.matches);
}
