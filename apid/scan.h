/*
 * Redaction of a stream: secrets in it become "[redacted:KIND]" before
 * anything is kept, counted as an event or sent.
 *
 * vectorscan, in streaming mode, finds the anchors of secret.h: each byte
 * passes it once.  Whether a secret stands at an anchor the matchers of
 * secret.h say, on the bytes themselves.  Values that operators registered
 * (values.h) are found beside them.
 *
 * The bytes stay where the caller has them.  It presents them as one region:
 * those that an earlier call asked it to keep, then fresh ones.  Where a
 * secret may have begun, the rest is held back until it is decided, but:
 *
 *	what can't be part of a secret whatever follows is never held;
 *	when the pipe idles, scan_idle decides by what is there.  What is no
 *	secret yet goes out, and stays known: if its rest comes after all,
 *	that rest is masked, so that the secret never goes out whole.
 */
#ifndef APID_SCAN_H
#define APID_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* How long the pipe idles before what is held goes out. */
#define SCAN_WEAK_MS	50	/* the first letters of a key at most */
#define SCAN_STRONG_MS	500	/* a key or a value that is under way */

/* A part of the region that is not to go out. */
struct scan_span {
	size_t	 start;
	size_t	 end;
	uint8_t	 kind;		/* SECRET_* */
	uint8_t	 quiet;		/* goes on: its marker is out already */
};

/* What was decided; valid until the scanner's next call. */
struct scan_result {
	/* Up to here the region may go out, but for the spans, which are in
	 * order and begin where the last result's upto was, or later. */
	size_t			 upto;
	const struct scan_span	*spans;
	size_t			 nspans;
	/* From here on the region must be presented again. */
	size_t			 keep;
	/* Something is held back: ms until scan_idle is due; else 0. */
	unsigned		 wait;
};

struct scan;

/*
 * Once, before the drop: it compiles the anchors.  -1 after saying why: the
 * processor lacks what vectorscan needs (SSE4.2 on amd64), or memory.
 */
int	scan_init(void);

struct scan *scan_new(void);		/* NULL: memory */
void	scan_free(struct scan *);	/* NULL is nothing */

/*
 * The region has `fresh` new bytes at its end (0 to SCAN_FRESH_MAX); those
 * before them are the ones kept.  final: the stream ends here.  Returns 0, or
 * -1: memory, and nothing more of the stream may go out.
 */
#define SCAN_FRESH_MAX	(1024 * 1024)
int	scan_feed(struct scan *, const uint8_t *region, size_t size,
	    size_t fresh, int final, struct scan_result *);
/* The same region as the last time: nothing new has come for a while. */
int	scan_idle(struct scan *, const uint8_t *region, size_t size,
	    struct scan_result *);

/* Secrets of the stream that were replaced so far. */
uint64_t scan_count(const struct scan *);

/* Writes "[redacted:KIND]", at most SCAN_MARKER bytes; returns how many. */
#define SCAN_MARKER	32
size_t	scan_marker(char *dst, unsigned kind);

/*
 * A whole text at once.  Returns NULL if there is no secret in it, else the
 * text without them (to be freed) and sets *n to its length.  Memory is
 * fatal.
 */
char	*scan_text(const char *text, size_t size, size_t *n);
/* 1 if there is a secret in it. */
int	scan_dirty(const char *text, size_t size);

#endif
