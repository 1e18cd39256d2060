/*
 * A client's request: to the proxy (CONNECT, or a whole URL), or to the host
 * that it thinks it has reached (a path, and Host).  One reading, and the head
 * that goes on is written new from it.
 */
#ifndef EGRESSD_REQUEST_H
#define EGRESSD_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "head.h"
#include "host.h"

#define REQUEST_METHOD_MAX	32	/* bytes, NUL included */

enum request_place {
	REQUEST_PROXY,		/* the proxy's port: CONNECT, http:// */
	REQUEST_PLAIN,		/* port 80: a path, or http:// */
	REQUEST_TUNNEL		/* the same on any port: the caller compares */
};

struct request {
	int		 connect;
	char		 method[REQUEST_METHOD_MAX];
	struct host	 host;
	uint16_t	 port;
	int		 minor;		/* HTTP/1.minor */
	int		 close;		/* no request may follow */
	int		 expect;	/* 100-continue */
	enum framing	 framing;	/* NONE, LENGTH or CHUNKED */
	uint64_t	 length;
	struct span	 path;		/* with its query; of the bytes read */
	struct head	 head;		/* the same */
};

/*
 * Looks for a whole head at the front of size bytes; as head_read().  With
 * HEAD_BAD the connection ends after the answer; request->method is then what
 * could be read of it, or "", and host.name the host's, or "".
 */
enum head_result request_read(const uint8_t *, size_t size, size_t *scanned,
	    enum request_place, struct request *, size_t *used,
	    struct head_bad *);

/*
 * The head as it goes to the host: the path, Host as it is canonical, framing,
 * and the fields that are not for this hop, in the version that it came in.
 * The bytes that were read must still be there.  Returns fresh memory, *size
 * bytes, or NULL when memory is out.
 */
char	*request_head(const struct request *, size_t *size);

#endif
