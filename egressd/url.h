/*
 * URLs of http and https, and what a redirect's Location means.
 */
#ifndef EGRESSD_URL_H
#define EGRESSD_URL_H

#include <stddef.h>
#include <stdint.h>

#include "host.h"

#define URL_MAX		8192	/* bytes that are read */
/* Bytes of a path as it is sent, NUL included: each may become an escape. */
#define URL_PATH_MAX	(3 * URL_MAX + 2)
#define URL_TEXT_MAX	(URL_PATH_MAX + HOST_PORT_MAX + 8)

struct url {
	int		 tls;			/* https */
	struct host	 host;
	uint16_t	 port;
	char		 path[URL_PATH_MAX];	/* and query, from '/' on */
};

/*
 * Reads exactly size bytes.  What stands behind '#' goes; blanks, quotes and
 * bytes that are not ASCII are escaped, controls refused, as is a user's name.
 * Returns REFUSE_NOT, or REFUSE_BAD_URL, _BAD_HOST, _BAD_ADDRESS or
 * _BAD_REQUEST (the port) with *why a constant.
 */
enum refusal url_read(const char *, size_t size, struct url *,
	    const char **why);

/*
 * The same of a reference, which may be relative to base (RFC 3986, 5.2).
 * url may be base.
 */
enum refusal url_join(const struct url *base, const char *, size_t size,
	    struct url *, const char **why);

void	url_text(const struct url *, char [URL_TEXT_MAX]);

/* 1 if scheme, host and port are the same. */
int	url_same_origin(const struct url *, const struct url *);

#endif
