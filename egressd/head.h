/*
 * What the heads of requests and of answers of HTTP/1.1 have in common: lines
 * that end in CR LF, and fields.  Strict: whatever two readers could
 * understand differently is refused.
 */
#ifndef EGRESSD_HEAD_H
#define EGRESSD_HEAD_H

#include <stddef.h>
#include <stdint.h>

#include "refusal.h"

#define HEAD_MAX	32768	/* bytes, the empty line included */
#define HEAD_FIELDS_MAX	128

struct span {
	const char	*p;
	size_t		 n;
};

struct head_field {
	struct span	 name, value;	/* the value without blanks around */
};

/* Views of the bytes that were read: valid as long as these are. */
struct head {
	struct span	 first;		/* the first line */
	struct head_field fields[HEAD_FIELDS_MAX];
	size_t		 nfields;
};

enum head_result { HEAD_MORE, HEAD_OK, HEAD_BAD };

struct head_bad {
	enum refusal	 why;
	char		 detail[REFUSAL_DETAIL_MAX];
};

/* Fills bad, the detail cut to its size.  Returns HEAD_BAD. */
enum head_result head_refuse(struct head_bad *, enum refusal,
	    const char *detail);

/*
 * Looks for a whole head at the front of size bytes.  *scanned is 0 at first
 * and carries over what needs no second look.  HEAD_OK sets *used to its size.
 */
enum head_result head_read(const uint8_t *, size_t size, size_t *scanned,
	    struct head *, size_t *used, struct head_bad *);

/*
 * The value of the only field of that name (any case): 1, 0 if there is none,
 * -1 if there are several.
 */
int	head_one(const struct head *, const char *name, struct span *);

/*
 * 1 if a field is for this hop alone: Connection and what it names,
 * Proxy-*, Keep-Alive, TE, Trailer, Transfer-Encoding, Upgrade and what
 * belongs to that.
 */
int	head_hop(const struct head *, const struct head_field *);
/* 1 if Connection or Proxy-Connection has that word. */
int	head_connection(const struct head *, const char *word);
/* 1 if it names a field that frames or addresses the message. */
int	head_hides(const struct head *);

int	span_is(struct span, const char *);	/* any case */

/*
 * Where a message's body ends.
 */
enum framing { FRAME_NONE, FRAME_LENGTH, FRAME_CHUNKED, FRAME_CLOSE };

/*
 * The framing that the fields give, FRAME_NONE without any: exactly one
 * Content-Length of digits, or exactly "chunked".  0, or -1 with bad filled.
 */
int	head_framing(const struct head *, int minor, enum framing *,
	    uint64_t *length, struct head_bad *);

struct body {
	enum framing	 framing;
	uint64_t	 left;		/* bytes of the length or the chunk */
	int		 state;
	unsigned	 line;		/* bytes of a line so far */
	int		 answer;	/* of an answer: extensions and trailers
					   are let through, bounded */
};

enum body_result { BODY_MORE, BODY_DONE, BODY_BAD };

void	body_start(struct body *, enum framing, uint64_t length, int answer);
/*
 * Follows size bytes of the stream.  *used is how many belong to this body
 * (all of them with BODY_MORE); they go on as they are.  With BODY_BAD nothing
 * from *used on may go on, and the connection ends.
 */
enum body_result body_feed(struct body *, const uint8_t *, size_t size,
	    size_t *used);
/*
 * The same, but *data and *ndata are the first run of the body's own bytes
 * within (NULL and 0: none before *used).  For who reads the body.
 */
enum body_result body_data(struct body *, const uint8_t *, size_t size,
	    size_t *used, const uint8_t **data, size_t *ndata);
/* The stream ended: 1 if the body is whole. */
int	body_end(const struct body *);

#endif
