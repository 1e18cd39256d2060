/*
 * A host's answer to a plain request: its head, and where it ends.
 */
#ifndef EGRESSD_RESPONSE_H
#define EGRESSD_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#include "head.h"

struct response {
	unsigned	 status;	/* 100 to 999 */
	int		 minor;
	int		 interim;	/* 1xx: another head follows */
	int		 close;		/* the host's side is used up */
	enum framing	 framing;
	uint64_t	 length;
	struct head	 head;		/* views of the bytes read */
};

/*
 * As head_read(), for the answer to a request of that method.  101 is bad, for
 * no request that goes on asks for it.
 */
enum head_result response_read(const uint8_t *, size_t size, size_t *scanned,
	    const char *method, struct response *, size_t *used,
	    struct head_bad *);

/*
 * The head as it goes to the client; closing: with Connection: close.
 * Returns fresh memory, *size bytes, or NULL when memory is out.
 */
char	*response_head(const struct response *, int closing, size_t *size);

#endif
