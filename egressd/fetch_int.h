/*
 * What a fetch is made of, to fetch.c, fetch_arguments.c and fetch_result.c.
 */
#ifndef EGRESSD_FETCH_INT_H
#define EGRESSD_FETCH_INT_H

#include <jansson.h>

#include "fetch.h"
#include "response.h"
#include "url.h"

struct fetch {
	enum fetch_state state;
	const struct fetch_trust *trust;
	fetch_sink	*sink;
	void		*arg;

	/* What was asked. */
	int		 head;		/* HEAD, not GET */
	json_t		*headers;	/* an object of strings, or NULL */
	uint64_t	 most;

	/* The hop. */
	struct url	 url;
	int		 away;		/* from whom the headers were for */
	struct tls	*tls;
	int		 shaken;	/* TLS: the handshake is done */
	char		*out;		/* the request */
	size_t		 nout, sent;
	uint8_t		*in;		/* the answer's head so far */
	size_t		 nin, scanned;
	unsigned	 interims;
	int		 has_head;
	struct body	 body;

	/* What came of it. */
	json_t		*redirects;	/* URLs, an array */
	json_t		*answer;	/* its headers, an object */
	unsigned	 status;
	uint64_t	 bytes;
	int		 truncated;
	enum refusal	 why;
	char		 detail[REFUSAL_DETAIL_MAX];
	char		 rule[256];
};

/* The hop before it failed; for good.  detail NULL: the usual sentence. */
void	fetch_fail(struct fetch *, enum refusal, const char *detail);

/* Fills url, head, headers and most, or fails the fetch. */
void	fetch_arguments(struct fetch *, const char *, size_t size);

/*
 * The request of the hop, as it is sent.  Fresh memory, or NULL when memory is
 * out.
 */
char	*fetch_request(const struct fetch *, size_t *size);

/* Keeps the fields of an answer for the result.  -1 when memory is out. */
int	fetch_keep_headers(struct fetch *, const struct response *);

#endif
