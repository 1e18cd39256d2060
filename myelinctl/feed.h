/*
 * The standard input of a call: our own, passed on.
 */
#ifndef MYELINCTL_FEED_H
#define MYELINCTL_FEED_H

#include <sys/types.h>
#include <jansson.h>
#include <poll.h>

#include "conn.h"

#define FEED_PIECE	(64 * 1024)

/*
 * A file goes inline if the request stays within the body that the service
 * takes by default (16 MiB), base64 and the rest included.
 */
#define FEED_INLINE_MAX	(11 * 1024 * 1024)

enum feed_kind { FEED_NONE, FEED_INLINE, FEED_STREAM };

struct feed {
	enum feed_kind	 kind;
	off_t		 at;		/* where a file stood at first */
	json_t		*inline_text;	/* {"base64": "..."} */
	const char	*socket;
	char		 target[96];	/* of the requests, once started */
	int		 started;
	int		 ended;		/* nothing more is read or sent */
	int		 eof;
	int		 always;	/* a file that poll(2) can't wait for */
	/* What was typed, before it is sent; NULL: as it is.  out has room for
	 * one byte more than there are. */
	size_t		 (*typed)(void *, const char *, size_t, char *out);
	void		*typed_arg;
	struct conn	 conn;
	int		 connected;
	size_t		 len;
	char		 piece[FEED_PIECE];
};

/* Looks at fd 0.  0, or -1 after a complaint. */
int	feed_init(struct feed *, const char *socket);
/* A file is streamed after all: the service takes no body of that size. */
int	feed_stream(struct feed *);
void	feed_free(struct feed *);

/* The member "stdin" of the request, or NULL for none. */
json_t	*feed_member(const struct feed *);

/* The call runs: reading may begin. */
void	feed_start(struct feed *, const char *call);
/* Fills two entries of poll(2); returns 1 if it need not wait at all. */
int	feed_poll(struct feed *, struct pollfd pfd[2]);
void	feed_io(struct feed *, const struct pollfd pfd[2]);

#endif
