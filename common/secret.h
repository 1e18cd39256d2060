/*
 * What secrets look like: the one table of known shapes, the names that hold
 * secrets, and the matchers that tell whether one stands at a place.  The
 * log's redactor (redact.h) and the stream's (apid/scan.h) both use these, so
 * that a secret which one knows is known to the other.
 *
 * Matchers work on text that is still coming: where what is there does not
 * decide, they answer MORE.  None looks further than SECRET_BACK bytes back
 * or SECRET_AHEAD ahead, so each costs a bounded time and holds a bounded
 * number of bytes back.
 */
#ifndef MYELIN_SECRET_H
#define MYELIN_SECRET_H

#include <stddef.h>
#include <stdint.h>

#define SECRET_BACK	96	/* bytes before an anchor that may matter */
#define SECRET_AHEAD	4352	/* bytes from an anchor on that may */

/* The KIND of "[redacted:KIND]", by secret_kind_name(). */
enum secret_kind {
	SECRET_ANTHROPIC, SECRET_OPENAI, SECRET_XAI, SECRET_GOOGLE, SECRET_AWS,
	SECRET_GITHUB, SECRET_GITLAB, SECRET_SLACK, SECRET_NPM, SECRET_PYPI,
	SECRET_STRIPE, SECRET_SENDGRID, SECRET_API_KEY, SECRET_JWT,
	SECRET_PRIVATE_KEY, SECRET_BEARER, SECRET_BASIC,
	SECRET_PASSWORD, SECRET_TOKEN, SECRET_SECRET, SECRET_KEY,
	SECRET_URL_PASSWORD, SECRET_REGISTERED, SECRET_MYELIN, SECRET_KINDS
};
const char *secret_kind_name(unsigned kind);

/* How a secret goes on behind what is masked of it already. */
enum secret_rest {
	REST_NONE, REST_ALNUM, REST_UPPER, REST_HEX, REST_WORD, REST_URLSAFE,
	REST_DOTTED, REST_BASE64,
	REST_PEM,	/* to its last line, or what can't be part of one */
	REST_BARE,	/* a value: to a blank or what ends a bare one */
	REST_DOUBLE,	/* to the quote, not one behind a backslash */
	REST_SINGLE,
	REST_URL,	/* to the @ */
	REST_BACKTICK,
	REST_ESCAPED	/* JSON in a JSON string: to a backslash or quote */
};

enum secret_answer { SECRET_NO, SECRET_MORE, SECRET_YES };

/*
 * The text as far as it is here.  p[0] is the text's first byte, or there are
 * SECRET_BACK bytes before `at`, where the anchor begins.
 */
struct secret_view {
	const uint8_t	*p;
	size_t		 len;
	size_t		 at;
	int		 final;		/* nothing follows; or SECRET_IDLE */
};

/* Nothing follows for now: what can't well be anything else is a secret. */
#define SECRET_IDLE	2

struct secret_match {
	/* YES: these bytes are masked, and as many more as `rest` says. */
	size_t		 start;
	size_t		 end;
	uint8_t		 kind;
	uint8_t		 rest;
	/* MORE: nothing before this will be masked, whatever follows. */
	size_t		 safe;
	int		 strong;	/* more than the first few letters */
};

/* ---- anchors: words at which it pays to ask a matcher ---- */

enum anchor_what {
	ANCHOR_KEY,		/* a shape begins */
	ANCHOR_NAME,		/* inside a name; whatever its case */
	ANCHOR_SCHEME,		/* "bearer ", "basic "; whatever its case */
	ANCHOR_URL		/* "://" */
};

struct secret_anchor {
	const char	*text;
	uint8_t		 size;
	uint8_t		 what;
};

#define SECRET_ANCHOR_MAX	16	/* bytes of the longest */
#define SECRET_ANCHORS_MAX	128

/* Fills v (SECRET_ANCHORS_MAX), returns how many there are. */
size_t	secret_anchors(struct secret_anchor *v);

/*
 * What stands at an anchor.  The match is filled for MORE and YES; offsets
 * count from view->p.
 */
enum secret_answer secret_at(const struct secret_view *,
	    const struct secret_anchor *, struct secret_match *);

/*
 * How many bytes at the end of the text may be the beginning of a key's
 * anchor; 0 if none.
 */
size_t	secret_tail(const uint8_t *, size_t len);

/*
 * A 40-letter secret that belongs to an access key id seen shortly before
 * (AWS): the length if one is at p[at], 0 if not, and -1 if it takes more to
 * tell.
 */
int	secret_aws_at(const struct secret_view *);

/* What goes on behind a match, as far as it was seen. */
struct secret_going {
	uint8_t		 rest;		/* REST_NONE: nothing does, or more */
	uint8_t		 dashes;	/* PEM: in a row */
	uint8_t		 last_line;	/* PEM */
	uint8_t		 escaped;	/* quoted: behind a backslash */
};

/*
 * How many of the bytes go on as `rest` says; rest becomes REST_NONE once the
 * end was seen.
 */
size_t	secret_go_on(struct secret_going *, const uint8_t *, size_t len);

/* ---- shapes, for whole texts ---- */

/* The length of a key of a known shape at text, or 0. */
size_t	secret_key_length(const char *text, size_t left);

/* ---- for secret*.c and redact.c ---- */

/* What ends a value without quotes, beside blanks. */
#define SECRET_BARE_ENDS	",;&\"'`{}[]()<>\\"

size_t	secret_run(uint8_t rest, const char *, size_t left);
enum secret_answer secret_key_at(const struct secret_view *,
	    struct secret_match *);
enum secret_answer secret_named_at(const struct secret_view *, size_t word,
	    struct secret_match *);
enum secret_answer secret_scheme_at(const struct secret_view *, size_t word,
	    struct secret_match *);
enum secret_answer secret_url_at(const struct secret_view *,
	    struct secret_match *);
/* 1 if a shape may begin at p[at]: it does not go on from a word. */
int	secret_may_start(const uint8_t *, size_t at);

#endif
