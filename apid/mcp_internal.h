/*
 * What the parts of MCP share: one message under way.
 */
#ifndef APID_MCP_INTERNAL_H
#define APID_MCP_INTERNAL_H

#include <sys/queue.h>
#include <jansson.h>
#include <stdint.h>

#include "chunk.h"
#include "conn.h"
#include "mcp.h"
#include "mcp_read.h"
#include "request.h"
#include "seal.h"

struct event;

struct mcp {
	TAILQ_ENTRY(mcp)	 entry;
	struct conn		*conn;
	struct mcp_message	 message;
	enum mcp_era		 era;
	struct seal		 session;	/* legacy; name "" for none */

	/* tools/call */
	struct request		 request;
	int			 has_request;
	char			 in[ID_SIZE];	/* Myelin-Session, or "" */
	json_t			*tool;		/* its declaration */
	struct call		*call;		/* once it has its id */
	int			 cancelled;	/* before that */
	json_t			*token;		/* progressToken, or NULL */
	struct event		*timer;
	int			 streaming;	/* the head of a stream is out */
	int64_t			 begun;		/* ms */
	int64_t			 spoke;		/* ms: last byte of the stream */
	uint64_t		 told;		/* last event that was told */
	uint8_t			 subject[SEAL_SUBJECT];	/* what is asked for */
	json_t			*task;		/* the result's, or NULL */
};

/* A call that its client may come back for. */
struct mcp_held {
	TAILQ_ENTRY(mcp_held)	 entry;
	struct call		*call;
	enum mcp_era		 era;
	char			 session[SEAL_NAME_SIZE];	/* legacy */
	uint8_t			 subject[SEAL_SUBJECT];
	unsigned		 round;	/* of the state that is good */
	int			 task;	/* it is one, and has no state */
	int64_t			 since;	/* ms */
};

/* mcp.c: every message under way, of all clients. */
TAILQ_HEAD(mcps, mcp);
extern struct mcps	mcps;

/* ---- mcp_answer.c ---- */

/*
 * Bytes that stand in a result as base64: the first item of its content, whose
 * JSON is head, the base64, tail.
 */
struct mcp_blob {
	char		*head;
	struct seglist	 bytes;
	const char	*tail;
};

/*
 * Each answers the message for good.  The result is taken over, and the blob's
 * parts as well (NULL for none): it goes out as the client reads it.
 */
void	mcp_result(struct mcp *, json_t *result);
void	mcp_result_blob(struct mcp *, json_t *result, struct mcp_blob *);
void	mcp_fail(struct mcp *, struct mcp_problem *);
/* The same of a connection whose message could not be taken. */
void	mcp_fail_conn(struct conn *, json_t *id, struct mcp_problem *);

/* A stream: its head, a comment, a notification (taken over). */
void	mcp_stream_begin(struct mcp *);
void	mcp_stream_comment(struct mcp *);
void	mcp_stream_put(struct mcp *, json_t *message);

/* ---- mcp_session.c: the handshake era ---- */

void	mcp_initialize(struct mcp *);
/* Reads Mcp-Session-Id.  0, or -1 after filling the problem. */
int	mcp_session_read(struct conn *, struct seal *, int needed,
	    struct mcp_problem *);
void	mcp_session_over(const char *name);
/* The names of the server and what it can do, as both eras tell. */
json_t	*mcp_server_info(void);
json_t	*mcp_capabilities(void);
extern const char mcp_instructions[];

/* ---- mcp_tools.c ---- */

void	mcp_tools_list(struct mcp *);
/*
 * One page of a list of tools, of at most `most`, behind the cursor ("" for
 * the first).  tools: policyd's list; NULL if the cursor is none of ours.
 */
json_t	*mcp_tools_page(const json_t *tools, const char *cursor, size_t most);

/* ---- mcp_call.c, mcp_result.c ---- */

void	mcp_tools_call(struct mcp *);
/* Its call has its id: the dress's. */
void	mcp_call_begun(struct conn *, void *, struct call *);
void	mcp_cancel(struct mcp *);	/* notifications/cancelled */
/* The connection is going: stops what ends with it. */
void	mcp_leave(struct mcp *);

/* ---- mcp_tasks.c ---- */

/* 1 if the client said with this request that it does. */
int	mcp_knows_tasks(const struct mcp *);
json_t	*mcp_extensions(void);	/* that are offered */
/* What is said of the task that a held call is. */
json_t	*mcp_task(const struct call *);
void	mcp_tasks_get(struct mcp *);
void	mcp_tasks_cancel(struct mcp *);
void	mcp_tasks_update(struct mcp *);

/* ---- mcp_held.c ---- */

/* What the request is about; while it is there. */
void	mcp_held_subject(struct mcp *);
/* Its call waits for a person, and it does no longer; answers. */
void	mcp_hand_out(struct mcp *);
/*
 * The call that it comes back for, or NULL: it is a new one.  0, or -1 after
 * filling the problem.
 */
int	mcp_held_find(struct mcp *, struct call **, struct mcp_problem *);
/* A refusal that the model should read, as a result. */
void	mcp_refused(struct mcp *, enum api_error, unsigned retry,
	    const char *why);
/* The result of a finished call; answers. */
void	mcp_call_result(struct mcp *, struct call *);

#endif
