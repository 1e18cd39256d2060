/*
 * The strict HTTP/1.1 reader: the head of one request, out of bytes that
 * somebody untrusted sent.  It knows no socket and keeps no state, so that it
 * can be fuzzed as it is.
 *
 * Whatever two readers could understand differently is refused: bare CR or
 * LF, NUL and other controls, folded lines, blanks before a colon, a second
 * Host or Content-Length, Transfer-Encoding.
 */
#ifndef APID_HTTP_H
#define APID_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "errors.h"

#define HTTP_HEAD_MAX	16384	/* bytes, the empty line included */
/* Bytes of the path, NUL included: one of PATH_MAX may be all escapes. */
#define HTTP_PATH_MAX	12544
#define HTTP_QUERY_MAX	1024	/* the same of the query */
#define HTTP_FIELDS_MAX	100	/* header fields */
#define HTTP_TEXT_MAX	512	/* bytes of a field kept as text, NUL included */
#define HTTP_TOKEN_MAX	512	/* the same of a bearer token */

enum http_type { HTTP_TYPE_NONE, HTTP_TYPE_JSON, HTTP_TYPE_OTHER };

/* Fields that are kept as they came: of /mcp and of what stands before it. */
enum http_text {
	TEXT_HOST, TEXT_ORIGIN, TEXT_MCP_VERSION, TEXT_MCP_METHOD,
	TEXT_MCP_NAME, TEXT_MCP_SESSION, TEXT_SESSION, TEXT_PROFILE,
	TEXT_PRESET, TEXT_WORKSPACE, TEXT_READ_ONLY, TEXT_TIMEOUT, TEXT_COUNT
};

struct http_head {
	char		 method[16];
	char		 path[HTTP_PATH_MAX];
	char		 query[HTTP_QUERY_MAX];	/* "" for none */
	int		 has_length;
	uint64_t	 length;
	int		 close;			/* Connection: close */
	int		 expect;		/* 100-continue */
	int		 wants_events;		/* Accept: text/event-stream */
	int		 has_last_id;
	uint64_t	 last_id;		/* Last-Event-ID */
	enum http_type	 type;			/* Content-Type */
	/*
	 * Authorization: "" if it did not come.  What is no bearer token, or
	 * comes twice, or is too long, is HTTP_TOKEN_NONE: wrong like any
	 * other token, and never an error of its own.
	 */
	char		 token[HTTP_TOKEN_MAX];
	uint32_t	 has_text;		/* a bit of each that came */
	char		 text[TEXT_COUNT][HTTP_TEXT_MAX];
};

#define HTTP_TOKEN_NONE	"?"

/* The value of a field, without blanks around it; NULL if it did not come. */
const char *http_text(const struct http_head *, enum http_text);

struct http_bad {
	enum api_error	 code;
	int		 huge;		/* the head is too large to be read */
	char		 why[200];
};

enum http_result { HTTP_MORE, HTTP_OK, HTTP_BAD };

/*
 * Looks for a whole head at the front of size bytes.  *scanned is 0 for a new
 * request and carries over, while the answer is HTTP_MORE, what needs no
 * second look.  HTTP_OK fills head and sets *used to its size.  HTTP_BAD fills
 * bad; where the next request starts is then unknown.
 */
enum http_result http_head_read(const uint8_t *, size_t size,
	    size_t *scanned, struct http_head *, size_t *used,
	    struct http_bad *);

/*
 * The value of a name in the query, decimal digits alone.  Returns 1 and sets
 * *value, 0 if the name is not there, -1 if its value is no such number.
 */
int	http_query_number(const struct http_head *, const char *name,
	    uint64_t *value);
/*
 * The same as text, with a NUL and as it stands: -1 if it has no room in size
 * bytes.
 */
int	http_query_text(const struct http_head *, const char *name, char *,
	    size_t size);
/*
 * Checks that the query has no names but those in the list that ends in NULL,
 * and none twice.  NULL, or the first name that is wrong, cut to size bytes.
 */
const char *http_query_stray(const struct http_head *,
	    const char *const *names, char *buf, size_t size);

#endif
