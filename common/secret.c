/*
 * Shapes of keys: the table, and what matches a row of it.
 */
#include <ctype.h>
#include <string.h>

#include "secret.h"

#define DIGIT_WITHIN	256	/* of a tail that must hold a digit */
#define JWT_HEADER	4096	/* bytes of a token's first part */
#define PEM_LABEL	64	/* bytes of "-----BEGIN ... KEY-----" */
#define PEM_LEAST	16	/* letters of base64 that make it a key */

#define SHAPE_EXACT	0x01	/* the tail is exactly as long as least */
#define SHAPE_DIGIT	0x02	/* the tail holds a digit: not a plain word */

struct shape {
	const char	*prefix;
	uint8_t		 alphabet;	/* of `least` bytes behind it */
	uint8_t		 rest;		/* of what follows those */
	uint16_t	 least;
	uint8_t		 flags;
	uint8_t		 kind;
};

#define ROW(prefix, a, least, flags, kind)	\
	{ prefix, REST_##a, REST_##a, least, flags, SECRET_##kind }

/* A longer prefix stands before a shorter one of the same beginning; of one
 * prefix, the row that is surer without a digit. */
static const struct shape shapes[] = {
	ROW("sk-ant-",		URLSAFE, 16, 0, ANTHROPIC),
	ROW("sk-proj-",		URLSAFE, 16, 0, OPENAI),
	ROW("sk-svcacct-",	URLSAFE, 16, 0, OPENAI),
	ROW("sk-admin-",	URLSAFE, 40, SHAPE_DIGIT, OPENAI),
	ROW("sk-or-",		URLSAFE, 16, SHAPE_DIGIT, API_KEY),
	{ "sk-", REST_ALNUM, REST_URLSAFE, 20, SHAPE_DIGIT, SECRET_OPENAI },
	ROW("xai-",		ALNUM,	 40, 0, XAI),
	ROW("AIza",		URLSAFE, 35, SHAPE_EXACT, GOOGLE),
	ROW("ya29.",		URLSAFE, 20, 0, GOOGLE),
	ROW("1//0",		URLSAFE, 40, 0, GOOGLE),
	ROW("GOCSPX-",		URLSAFE, 20, 0, GOOGLE),
	ROW("AKIA",		UPPER,	 16, SHAPE_EXACT, AWS),
	ROW("ASIA",		UPPER,	 16, SHAPE_EXACT, AWS),
	ROW("ABIA",		UPPER,	 16, SHAPE_EXACT, AWS),
	ROW("ACCA",		UPPER,	 16, SHAPE_EXACT, AWS),
	ROW("A3T",		UPPER,	 17, SHAPE_EXACT, AWS),
	ROW("ABSK",		BASE64,	 100, 0, AWS),
	ROW("github_pat_",	WORD,	 22, 0, GITHUB),
	ROW("ghp_",		ALNUM,	 30, 0, GITHUB),
	ROW("gho_",		ALNUM,	 30, 0, GITHUB),
	ROW("ghu_",		ALNUM,	 30, 0, GITHUB),
	ROW("ghs_",		ALNUM,	 30, 0, GITHUB),
	ROW("ghr_",		ALNUM,	 30, 0, GITHUB),
	ROW("glpat-",		URLSAFE, 20, 0, GITLAB),
	ROW("glptt-",		URLSAFE, 20, 0, GITLAB),
	ROW("gldt-",		URLSAFE, 20, 0, GITLAB),
	ROW("glrt-",		URLSAFE, 20, 0, GITLAB),
	ROW("glcbt-",		URLSAFE, 20, 0, GITLAB),
	ROW("glft-",		URLSAFE, 20, 0, GITLAB),
	ROW("glimt-",		URLSAFE, 20, 0, GITLAB),
	ROW("glagent-",		URLSAFE, 20, 0, GITLAB),
	ROW("gloas-",		URLSAFE, 20, 0, GITLAB),
	ROW("glsoat-",		URLSAFE, 20, 0, GITLAB),
	ROW("glffct-",		URLSAFE, 20, 0, GITLAB),
	ROW("GR1348941",	URLSAFE, 20, 0, GITLAB),
	{ "xoxe.xox", REST_ALNUM, REST_URLSAFE, 1, 0, SECRET_SLACK },
	ROW("bedrock-api-key-",	BASE64,	 20, 0, AWS),
	ROW("_gitlab_session=",	ALNUM,	 32, SHAPE_EXACT, GITLAB),
	ROW("xoxb-",		URLSAFE, 10, SHAPE_DIGIT, SLACK),
	ROW("xoxp-",		URLSAFE, 10, SHAPE_DIGIT, SLACK),
	ROW("xoxa-",		URLSAFE, 8, 0, SLACK),
	ROW("xoxr-",		URLSAFE, 8, 0, SLACK),
	ROW("xoxs-",		URLSAFE, 10, SHAPE_DIGIT, SLACK),
	ROW("xoxo-",		URLSAFE, 10, SHAPE_DIGIT, SLACK),
	ROW("xoxe-",		URLSAFE, 10, SHAPE_DIGIT, SLACK),
	ROW("xapp-",		URLSAFE, 10, SHAPE_DIGIT, SLACK),
	ROW("hooks.slack.com/",	BASE64,	 40, 0, SLACK),
	ROW("npm_",		ALNUM,	 36, SHAPE_EXACT, NPM),
	ROW("pypi-AgE",		URLSAFE, 40, 0, PYPI),
	ROW("sk_live_",		ALNUM,	 16, 0, STRIPE),
	ROW("sk_live_",		ALNUM,	 10, SHAPE_DIGIT, STRIPE),
	ROW("sk_test_",		ALNUM,	 16, 0, STRIPE),
	ROW("sk_test_",		ALNUM,	 10, SHAPE_DIGIT, STRIPE),
	ROW("sk_prod_",		ALNUM,	 16, 0, STRIPE),
	ROW("sk_prod_",		ALNUM,	 10, SHAPE_DIGIT, STRIPE),
	ROW("rk_live_",		ALNUM,	 16, 0, STRIPE),
	ROW("rk_live_",		ALNUM,	 10, SHAPE_DIGIT, STRIPE),
	ROW("rk_test_",		ALNUM,	 16, 0, STRIPE),
	ROW("rk_test_",		ALNUM,	 10, SHAPE_DIGIT, STRIPE),
	ROW("rk_prod_",		ALNUM,	 16, 0, STRIPE),
	ROW("rk_prod_",		ALNUM,	 10, SHAPE_DIGIT, STRIPE),
	ROW("whsec_",		ALNUM,	 20, 0, STRIPE),
	ROW("SG.",		DOTTED,	 60, 0, SENDGRID),
	ROW("hf_",		ALNUM,	 30, 0, API_KEY),
	ROW("gsk_",		ALNUM,	 40, 0, API_KEY),
	ROW("r8_",		ALNUM,	 37, 0, API_KEY),
	ROW("pplx-",		ALNUM,	 40, 0, API_KEY),
	ROW("tvly-",		URLSAFE, 20, SHAPE_DIGIT, API_KEY),
	ROW("nvapi-",		URLSAFE, 40, 0, API_KEY),
	ROW("dop_v1_",		HEX,	 64, SHAPE_EXACT, API_KEY),
	ROW("doo_v1_",		HEX,	 64, SHAPE_EXACT, API_KEY),
	ROW("dor_v1_",		HEX,	 64, SHAPE_EXACT, API_KEY),
	ROW("dckr_pat_",	URLSAFE, 20, 0, API_KEY),
	ROW("shpat_",		HEX,	 32, SHAPE_EXACT, API_KEY),
	ROW("shpss_",		HEX,	 32, SHAPE_EXACT, API_KEY),
	ROW("shpca_",		HEX,	 32, SHAPE_EXACT, API_KEY),
	ROW("shppa_",		HEX,	 32, SHAPE_EXACT, API_KEY),
	ROW("lin_api_",		ALNUM,	 32, 0, API_KEY),
	ROW("hvs.",		URLSAFE, 24, 0, API_KEY),
	ROW("hvb.",		URLSAFE, 100, 0, API_KEY),
	ROW("AGE-SECRET-KEY-1",	UPPER,	 58, SHAPE_EXACT, API_KEY),
	/* common/token.h; one that was cut is most of a key, still */
	ROW("myelin_",		ALNUM,	 32, 0, MYELIN)
};
#define NSHAPES	(sizeof(shapes) / sizeof(shapes[0]))

/* Shapes that are more than a prefix and a tail. */
static const char jwt_prefix[] = "eyJ", pem_prefix[] = "-----BEGIN ";

static const struct secret_anchor words[] = {
	{ jwt_prefix,	3, ANCHOR_KEY },
	{ pem_prefix,	11, ANCHOR_KEY },
	{ "token",	5, ANCHOR_NAME },
	{ "secret",	6, ANCHOR_NAME },
	{ "pass",	4, ANCHOR_NAME },
	{ "credential",	10, ANCHOR_NAME },
	/* "key" alone is everywhere: what a secret's name has before it. */
	{ "_key",	4, ANCHOR_NAME },
	{ "-key",	4, ANCHOR_NAME },
	{ ".key",	4, ANCHOR_NAME },
	{ "ikey",	4, ANCHOR_NAME },	/* api */
	{ "skey",	4, ANCHOR_NAME },	/* access */
	{ "ekey",	4, ANCHOR_NAME },	/* private, service, license */
	{ "tkey",	4, ANCHOR_NAME },	/* secret, client, account */
	{ "gkey",	4, ANCHOR_NAME },	/* signing */
	{ "nkey",	4, ANCHOR_NAME },	/* encryption, admin, session */
	{ "hkey",	4, ANCHOR_NAME },	/* auth */
	{ "rkey",	4, ANCHOR_NAME },	/* master */
	{ "ykey",	4, ANCHOR_NAME },	/* deploy */
	{ "pkey",	4, ANCHOR_NAME },	/* app */
	{ "auth",	4, ANCHOR_NAME },
	{ "pwd",	3, ANCHOR_NAME },
	{ "_pat",	4, ANCHOR_NAME },
	{ "-pat",	4, ANCHOR_NAME },
	{ "cookie",	6, ANCHOR_NAME },
	{ "bearer ",	7, ANCHOR_SCHEME },
	{ "basic ",	6, ANCHOR_SCHEME },
	{ "://",	3, ANCHOR_URL }
};
#define NWORDS	(sizeof(words) / sizeof(words[0]))

static const char *const kinds[SECRET_KINDS] = {
	"anthropic", "openai", "xai", "google", "aws", "github", "gitlab",
	"slack", "npm", "pypi", "stripe", "sendgrid", "api-key", "jwt", "private-key", "bearer", "basic", "password", "token",
	"secret", "key", "url-password", "registered", "myelin"
};

const char *
secret_kind_name(unsigned kind)
{
	return (kind < SECRET_KINDS ? kinds[kind] : "?");
}

/* ---- alphabets ---- */

/* A bit for each alphabet that a byte is in, and one for what ends a value. */
static uint8_t	alphabets[256];

#define BARE_END	0x80

/* The shapes by their first letters: which one follows, plus 1; 0: none. */
static uint8_t	first_shape[256], next_shape[NSHAPES], prefix_size[NSHAPES];

static void
init(void)
{
	static const char extra[REST_BASE64 + 1][5] = {
		[REST_WORD] = "_", [REST_URLSAFE] = "_-",
		[REST_DOTTED] = "_-.", [REST_BASE64] = "+/="
	};
	unsigned c, rest, i;

	for (i = NSHAPES; i > 0; i--) {
		c = (unsigned char)shapes[i - 1].prefix[0];
		next_shape[i - 1] = first_shape[c];
		first_shape[c] = (uint8_t)i;
		prefix_size[i - 1] = (uint8_t)strlen(shapes[i - 1].prefix);
	}
	for (rest = REST_ALNUM; rest <= REST_BASE64; rest++)
		for (c = 1; c < 128; c++)
			if (strchr(extra[rest], (int)c) != NULL ||
			    (c >= '0' && c <= '9') || (c >= 'A' && c <=
			    (rest == REST_HEX ? 'F' : 'Z')) ||
			    (rest != REST_UPPER && c >= 'a' && c <=
			    (rest == REST_HEX ? 'f' : 'z')))
				alphabets[c] |= (uint8_t)
				    (1U << (rest - REST_ALNUM));
	for (c = 0; c < 128; c++)
		if (c <= ' ' || strchr(SECRET_BARE_ENDS, (int)c) != NULL)
			alphabets[c] |= BARE_END;
}

static int
in_alphabet(uint8_t alphabet, unsigned char c)
{
	if (alphabets['a'] == 0)
		init();
	return (alphabets[c] >> (alphabet - REST_ALNUM) & 1);
}

size_t
secret_run(uint8_t alphabet, const char *text, size_t left)
{
	size_t n;

	for (n = 0; n < left; n++)
		if (!in_alphabet(alphabet, (unsigned char)text[n]))
			break;
	return (n);
}

static int
has_digit(const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (text[i] >= '0' && text[i] <= '9')
			return (1);
	return (0);
}

/* ---- one row ---- */

/* YES sets *length. */
static enum secret_answer
shape_at(const struct shape *shape, const char *text, size_t left, int final,
    size_t *length)
{
	size_t plen = prefix_size[shape - shapes], n, seen;

	if (memcmp(shape->prefix, text, left < plen ? left : plen) != 0)
		return (SECRET_NO);
	if (left < plen)
		return (final ? SECRET_NO : SECRET_MORE);
	text += plen;
	left -= plen;
	if (shape->flags & SHAPE_EXACT) {
		/* One more than wanted is enough to know it is too long. */
		seen = left < shape->least + 1U ? left : shape->least + 1U;
		n = secret_run(shape->alphabet, text, seen);
		if (n == left && n <= shape->least && !final)
			return (SECRET_MORE);
		*length = plen + n;
		return (n == shape->least ? SECRET_YES : SECRET_NO);
	}
	n = secret_run(shape->alphabet, text, left);
	if (n < shape->least)
		return (n == left && !final ? SECRET_MORE : SECRET_NO);
	if (shape->flags & SHAPE_DIGIT) {
		seen = n < DIGIT_WITHIN ? n : DIGIT_WITHIN;
		if (!has_digit(text, seen))
			return (seen < DIGIT_WITHIN && n == left && !final ?
			    SECRET_MORE : SECRET_NO);
	}
	if (shape->rest != shape->alphabet)
		n += secret_run(shape->rest, text + n, left - n);
	*length = plen + n;
	return (SECRET_YES);
}

/* A JSON web token: two parts that begin with {" in base64. */
static enum secret_answer
jwt_at(const char *text, size_t left, int final, size_t *length)
{
	static const char second[] = ".ey";
	size_t n, part;

	n = secret_run(REST_URLSAFE, text,
	    left < JWT_HEADER ? left : JWT_HEADER);
	if (n == JWT_HEADER)
		return (SECRET_NO);
	if (n == left)
		return (final ? SECRET_NO : SECRET_MORE);
	if (n < 10)
		return (SECRET_NO);
	part = left - n < 3 ? left - n : 3;
	if (memcmp(text + n, second, part) != 0)
		return (SECRET_NO);
	if (part < 3)
		return (final ? SECRET_NO : SECRET_MORE);
	n++;
	part = secret_run(REST_URLSAFE, text + n, left - n);
	if (part < 10)
		return (n + part == left && !final ? SECRET_MORE : SECRET_NO);
	*length = n + secret_run(REST_DOTTED, text + n, left - n);
	return (SECRET_YES);
}

/*
 * A private key in PEM: the label, then base64 (perhaps behind headers, with
 * line ends that may be escaped).  The label alone, as programs that handle
 * keys have it in their text, is none.
 */
static enum secret_answer
pem_at(const char *text, size_t left, int final, size_t *length)
{
	static const char last[] = "PRIVATE KEY";
	size_t label, n, i, plen = sizeof(pem_prefix) - 1;
	const char *end;

	n = left < plen ? left : plen;
	if (memcmp(text, pem_prefix, n) != 0)
		return (SECRET_NO);
	label = left < PEM_LABEL ? left : PEM_LABEL;
	for (n = plen; n < label && text[n] != '-'; n++)
		if (text[n] != ' ' && !in_alphabet(REST_ALNUM,
		    (unsigned char)text[n]))
			return (SECRET_NO);
	if (n >= label)
		return (label < PEM_LABEL && !final ? SECRET_MORE : SECRET_NO);
	end = memmem(text, n, last, sizeof(last) - 1);
	if (end == NULL)
		return (SECRET_NO);
	for (i = 0; n < left && text[n] == '-' && i < 5; i++)
		n++;
	/* What stands between the label and the key. */
	for (label = 0; n < left && label < 8; label++, n++)
		if (strchr("\r\n\\rnt \t?|", text[n]) == NULL ||
		    text[n] == '\0')
			break;
	i = secret_run(REST_BASE64, text + n, left - n);
	if (i < PEM_LEAST) {
		/* "Proc-Type: 4,ENCRYPTED" and the like. */
		label = left - n < 10 ? left - n : 10;
		if (memcmp(text + n, "Proc-Type:", label) == 0 ||
		    memcmp(text + n, "Version: G", label) == 0)
			i = label == 10 ? PEM_LEAST : i;
		else if (n + i < left)
			return (SECRET_NO);
		if (i < PEM_LEAST)
			return (final ? SECRET_NO : SECRET_MORE);
		i = label;
	}
	*length = n + i;
	return (SECRET_YES);
}

/* ---- what stands at a place ---- */

int
secret_may_start(const uint8_t *p, size_t at)
{
	unsigned char before;
	size_t i;

	if (at == 0)
		return (1);
	before = p[at - 1];
	/* Only those that no shape can read over again and again, which is
	 * what keeps a scan linear. */
	if (before == '_' || before == '-')
		return (strchr("sxte", p[at]) == NULL || p[at] == '\0');
	if (!in_alphabet(REST_ALNUM, before))
		return (1);
	/* The letter of \n in JSON text, the digit of %20 in a URL. */
	if (at > 1 && p[at - 2] == '\\' && strchr("nrt", before) != NULL)
		return (1);
	if (at > 2 && p[at - 3] == '%' &&
	    in_alphabet(REST_HEX, before) && in_alphabet(REST_HEX, p[at - 2]))
		return (1);
	/* The letter that ends a colour. */
	for (i = at - 1; i > 0 && at - i < 12; i--)
		if (p[i - 1] == '[')
			return (i > 1 && p[i - 2] == 0x1b);
		else if ((p[i - 1] < '0' || p[i - 1] > '9') &&
		    p[i - 1] != ';')
			break;
	return (0);
}

static enum secret_answer
key_at(const char *text, size_t left, int final, struct secret_match *m,
    size_t *length)
{
	enum secret_answer a = SECRET_NO;
	size_t i;

	(void)in_alphabet(REST_ALNUM, 0);	/* the tables are there */
	m->rest = REST_DOTTED;
	m->kind = SECRET_JWT;
	if (left >= 3 && memcmp(text, jwt_prefix, 3) == 0)
		return (jwt_at(text, left, final, length));
	m->rest = REST_PEM;
	m->kind = SECRET_PRIVATE_KEY;
	if (*text == '-')
		return (pem_at(text, left, final, length));
	for (i = first_shape[(unsigned char)*text]; i > 0 && a == SECRET_NO;
	    i = next_shape[i]) {
		i--;
		a = shape_at(&shapes[i], text, left, final, length);
		m->kind = shapes[i].kind;
		m->rest = shapes[i].flags & SHAPE_EXACT ? REST_NONE :
		    shapes[i].rest;
	}
	return (a);
}

enum secret_answer
secret_key_at(const struct secret_view *v, struct secret_match *m)
{
	enum secret_answer a;
	size_t n = 0;

	if (v->at >= v->len || !secret_may_start(v->p, v->at))
		return (SECRET_NO);
	a = key_at((const char *)v->p + v->at, v->len - v->at, v->final, m,
	    &n);
	m->start = m->safe = v->at;
	m->end = v->at + n;
	m->strong = 1;
	return (a);
}

size_t
secret_key_length(const char *text, size_t left)
{
	struct secret_match m;
	size_t n = 0;

	return (left > 0 && key_at(text, left, 1, &m, &n) == SECRET_YES ?
	    n : 0);
}

/* ---- anchors ---- */

/* 1 if a shape of a shorter prefix is found by this one's anchor. */
static int
has_shorter(size_t which)
{
	size_t i, n;

	for (i = 0; i < NSHAPES; i++) {
		n = strlen(shapes[i].prefix);
		if (i != which && n < strlen(shapes[which].prefix) &&
		    memcmp(shapes[i].prefix, shapes[which].prefix, n) == 0)
			return (1);
	}
	return (0);
}

size_t
secret_anchors(struct secret_anchor *v)
{
	size_t i, n = 0;

	for (i = 0; i < NSHAPES; i++)
		if (!has_shorter(i)) {
			v[n].text = shapes[i].prefix;
			v[n].size = (uint8_t)strlen(shapes[i].prefix);
			v[n++].what = ANCHOR_KEY;
		}
	memcpy(v + n, words, sizeof(words));
	return (n + NWORDS);
}

enum secret_answer
secret_at(const struct secret_view *v, const struct secret_anchor *a,
    struct secret_match *m)
{
	switch (a->what) {
	case ANCHOR_KEY:
		return (secret_key_at(v, m));
	case ANCHOR_NAME:
		return (secret_named_at(v, a->size, m));
	case ANCHOR_SCHEME:
		return (secret_scheme_at(v, a->size, m));
	default:
		return (secret_url_at(v, m));
	}
}

static int
begins_key(const char *text, size_t n)
{
	size_t i;

	if ((n < sizeof(jwt_prefix) && memcmp(text, jwt_prefix, n) == 0) ||
	    (n < sizeof(pem_prefix) && memcmp(text, pem_prefix, n) == 0))
		return (1);
	for (i = first_shape[(unsigned char)*text]; i > 0;
	    i = next_shape[i - 1])
		if (n < prefix_size[i - 1] &&
		    memcmp(shapes[i - 1].prefix, text, n) == 0)
			return (1);
	return (0);
}

size_t
secret_tail(const uint8_t *p, size_t len)
{
	size_t n = len < SECRET_ANCHOR_MAX ? len : SECRET_ANCHOR_MAX;

	(void)in_alphabet(REST_ALNUM, 0);	/* the tables are there */
	for (; n > 0; n--)
		if (begins_key((const char *)p + len - n, n) &&
		    secret_may_start(p, len - n))
			return (n);
	return (0);
}

int
secret_aws_at(const struct secret_view *v)
{
	const char *text = (const char *)v->p + v->at;
	size_t left = v->len - v->at, n, i;
	int upper = 0, lower = 0, digit = 0, beyond = 0;

	if (v->at > 0 && in_alphabet(REST_BASE64, v->p[v->at - 1]) &&
	    v->p[v->at - 1] != '=')
		return (0);
	n = secret_run(REST_BASE64, text, left < 41 ? left : 41);
	if (n == left && n <= 40 && !v->final)
		return (-1);
	if (n != 40)
		return (0);
	for (i = 0; i < n; i++) {
		upper += text[i] >= 'A' && text[i] <= 'Z';
		lower += text[i] >= 'a' && text[i] <= 'z';
		digit += text[i] >= '0' && text[i] <= '9';
		beyond += (text[i] | 0x20) > 'f' && (text[i] | 0x20) <= 'z';
	}
	/* Neither a hash in hexadecimal nor a path. */
	return (upper > 0 && lower > 0 && digit > 0 && beyond > 0 ? 40 : 0);
}

/* ---- going on ---- */

/* To the tenth dash of the last line, or what can't be inside a block. */
static size_t
pem_rest(struct secret_going *g, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (p[i] == '-') {
			if (++g->dashes < 5)
				continue;
			g->dashes = 0;
			if (g->last_line) {
				g->rest = REST_NONE;
				return (i + 1);
			}
			g->last_line = 1;
			continue;
		}
		g->dashes = 0;
		if (!in_alphabet(REST_BASE64, p[i]) && (p[i] == '\0' ||
		    strchr(" \t\r\n\\,:.?|>\"'", p[i]) == NULL)) {
			g->rest = REST_NONE;
			break;
		}
	}
	return (i);
}

static size_t
quoted_rest(struct secret_going *g, const uint8_t *p, size_t len, char quote)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (p[i] == '\n' || p[i] == '\r') {
			g->rest = REST_NONE;
			break;
		}
		if (g->escaped) {
			g->escaped = 0;
		} else if (p[i] == quote) {
			g->rest = REST_NONE;
			break;
		} else if (p[i] == '\\') {
			g->escaped = 1;
		}
	}
	return (i);
}

static size_t
until(struct secret_going *g, const uint8_t *p, size_t len, const char *ends)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (p[i] <= ' ' || strchr(ends, p[i]) != NULL) {
			g->rest = REST_NONE;
			break;
		}
	return (i);
}

size_t
secret_go_on(struct secret_going *g, const uint8_t *p, size_t len)
{
	size_t n;

	switch (g->rest) {
	case REST_NONE:
		return (0);
	case REST_PEM:
		return (pem_rest(g, p, len));
	case REST_DOUBLE:
		return (quoted_rest(g, p, len, '"'));
	case REST_SINGLE:
		return (quoted_rest(g, p, len, '\''));
	case REST_BACKTICK:
		return (quoted_rest(g, p, len, '`'));
	case REST_ESCAPED:
		return (until(g, p, len, "\\\""));
	case REST_URL:
		return (until(g, p, len, "@/?#\"'<>\\`"));
	case REST_BARE:
		(void)in_alphabet(REST_ALNUM, 0);	/* the table is there */
		for (n = 0; n < len && !(alphabets[p[n]] & BARE_END); n++)
			;
		if (n < len)
			g->rest = REST_NONE;
		return (n);
	}
	n = secret_run(g->rest, (const char *)p, len);
	if (n < len)
		g->rest = REST_NONE;
	return (n);
}
