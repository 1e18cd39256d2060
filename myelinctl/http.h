/*
 * HTTP/1.1 responses, decoded piece by piece as they come.  Strict: CRLF
 * only, a head of at most 16 KiB, one Content-Length or chunked, nothing
 * folded.
 */
#ifndef MYELINCTL_HTTP_H
#define MYELINCTL_HTTP_H

#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX	(16 * 1024)

/* Takes a piece of the body; -1 ends the decoding. */
typedef int http_body_fn(void *arg, const uint8_t *, size_t);

enum http_state {
	HTTP_HEAD, HTTP_FIXED, HTTP_UNTIL_CLOSE, HTTP_CHUNK_SIZE, HTTP_CHUNK,
	HTTP_CHUNK_END, HTTP_TRAILER, HTTP_DONE, HTTP_BAD
};

struct http_response {
	/* Known once the head was read (http_headed). */
	int		 status;
	uint32_t	 retry_after;	/* seconds, 0: none */
	int		 keep_alive;
	char		 type[64];	/* media type, lower case */
	char		 session[256];	/* Mcp-Session-Id, "" for none */
	int		 over;		/* Myelin-Session-Ended was there */

	enum http_state	 state;
	const char	*why;		/* HTTP_BAD */
	uint64_t	 left;		/* of the body or chunk */
	int		 chunked;
	int		 sized;		/* Content-Length was there */
	size_t		 len;
	char		 head[HTTP_HEAD_MAX];	/* the head, a chunk's line */
	http_body_fn	*body;
	void		*arg;
};

void	http_init(struct http_response *, http_body_fn *, void *arg);

/*
 * Decodes size bytes.  1: the response is complete; 0: more must come; -1: it
 * is malformed (why says how).  *used says how many bytes were taken.
 */
int	http_feed(struct http_response *, const uint8_t *, size_t,
	    size_t *used);

/* The connection ended: 1 if that completes the response, else -1. */
int	http_end(struct http_response *);

int	http_headed(const struct http_response *);

#endif
