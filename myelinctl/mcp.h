/*
 * myelinctl mcp: the stdio server of MCP, in front of POST /mcp.
 *
 * Each line of standard input is one message and becomes one request, on a
 * connection of its own while it is under way; what comes back is a line of
 * standard output.  The service decides and checks everything; what is kept
 * here is what HTTP needs and a line does not have.
 */
#ifndef MYELINCTL_MCP_H
#define MYELINCTL_MCP_H

#include <sys/queue.h>
#include <jansson.h>
#include <stdint.h>

#include "api.h"
#include "conn.h"
#include "ctl.h"
#include "ids.h"
#include "sink.h"
#include "sse.h"

#define MCP_POSTS_MAX	64		/* under way at once; others wait */
#define MCP_HELD_MAX	1024		/* from then on input waits */
#define MCP_LINE_MAX	(16 * 1024 * 1024)	/* bytes of one message */
#define MCP_RETRY_MS	5000		/* for a service that is starting */
#define MCP_VALUE_MAX	512		/* bytes of a header's value */

enum post_kind {
	POST_MESSAGE,		/* one of the client's */
	POST_OPEN		/* ours: POST /v1/sessions */
};

enum post_state {
	POST_READY,		/* to be sent when there is room */
	POST_HELD,		/* waits for initialize, or for a session */
	POST_SENT
};

struct link {
	TAILQ_ENTRY(link)	 entry;		/* of the idle ones */
	struct conn		 conn;
	int64_t			 since;		/* ms: idle */
};

struct post {
	TAILQ_ENTRY(post)	 entry;
	struct bridge		*bridge;
	enum post_kind		 kind;
	enum post_state		 state;
	char			*body;
	size_t			 len;
	int64_t			 begun;		/* ms */
	int64_t			 not_before;	/* ms */

	/* What the message says; root is NULL if it is no JSON. */
	json_t			*root;
	json_t			*id;		/* NULL: expects no answer */
	const char		*method;	/* "" for none */
	const char		*version;	/* modern era; else NULL */
	int			 calls;		/* tools/call */
	int			 initializes;

	int			 dropped;	/* its answer is not wanted */
	int			 answered;
	int			 again;		/* it was asked once before */
	struct link		*link;		/* POST_SENT */
	struct api_body		 got;
	struct sse		 sse;
};

enum session { SESSION_NONE, SESSION_OPENING, SESSION_OPEN };

struct bridge {
	const struct options	*options;
	const char		*socket;
	struct sink		 out;
	TAILQ_HEAD(posts, post)	 posts;		/* in the order they came */
	TAILQ_HEAD(, link)	 idle;
	unsigned		 nposts;
	unsigned		 nsent;

	/* The handshake era. */
	int			 initializing;
	char			 mcp_session[256];
	char			 mcp_version[32];

	/* Our session of Myelin's. */
	enum session		 session;
	char			 id[ID_SIZE];
	int			 lost;		/* a connection, since */
};

int64_t	mcp_now(void);

/* ---- mcp_post.c ---- */

/* Takes a line over. */
void	mcp_line(struct bridge *, char *line, size_t len);
/* Sends what can be sent; returns ms until it must be called again, or -1. */
int	mcp_start(struct bridge *);
/* Reads and writes what can be; the post may be over and gone then. */
void	mcp_post_io(struct bridge *, struct post *, short revents);
void	mcp_post_free(struct bridge *, struct post *);
void	mcp_link_close(struct bridge *, struct link *);

/* ---- mcp_answer.c ---- */

/* A line of standard output. */
void	mcp_put(struct bridge *, const char *, size_t);
/*
 * An answer of our own to a message that will get none: a tool's result that
 * says so to the model, or an error.
 */
void	mcp_put_failure(struct bridge *, struct post *, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 3, 4)));
/* The service's answer to a message, which is whole. */
void	mcp_put_answer(struct bridge *, struct post *);
/* 1 if it is an answer to the message, and no refusal to hear it. */
int	mcp_is_answer(const struct post *);

/* ---- mcp_headers.c ---- */

/* Reads what the message says. */
void	mcp_parse(struct post *);
/* The header lines of a message, in static storage. */
const char *mcp_headers(const struct bridge *, const struct post *);

#endif
