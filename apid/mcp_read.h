/*
 * Messages of MCP, decoded and checked against the HTTP fields around them.
 * Nothing here knows a connection, so that it can be fuzzed as it is.
 */
#ifndef APID_MCP_READ_H
#define APID_MCP_READ_H

#include <jansson.h>
#include <stddef.h>

#include "http.h"
#include "slice.h"

#define MCP_ID_MAX	256	/* bytes of a string that is an id or token */

/* JSON-RPC's codes, and those of 2026-07-28. */
#define RPC_PARSE	(-32700)
#define RPC_INVALID	(-32600)
#define RPC_NO_METHOD	(-32601)
#define RPC_BAD_PARAMS	(-32602)
#define RPC_INTERNAL	(-32603)
#define RPC_HEADERS	(-32020)	/* a header is not the body's */
#define RPC_CAPABILITY	(-32021)	/* the client lacks a capability */
#define RPC_VERSION	(-32022)	/* of the protocol */

/* What is answered instead of a result. */
struct mcp_problem {
	int		 status;	/* HTTP's */
	int		 code;
	char		 why[320];
	json_t		*data;		/* NULL for none; taken over */
};

/* Fills it; returns -1 for the caller to return. */
int	mcp_problem(struct mcp_problem *, int status, int code,
	    const char *fmt, ...)
	    __attribute__((__format__(__printf__, 4, 5)));

enum mcp_kind { MCP_REQUEST, MCP_NOTIFICATION, MCP_RESPONSE };

struct mcp_message {
	json_t		*root;
	enum mcp_kind	 kind;
	/* These are parts of root. */
	json_t		*id;		/* NULL for a notification */
	const char	*method;	/* "" for a response */
	json_t		*params;	/* an object, or NULL */
	json_t		*meta;		/* an object, or NULL */
};

/*
 * Reads one message.  0, or -1 after filling the problem; where the message
 * had an id that could be understood, it is kept for the answer.  Free in
 * either case.
 */
int	mcp_read(struct mcp_message *, const char *, size_t,
	    struct mcp_problem *);
void	mcp_message_free(struct mcp_message *);

/* ---- versions and eras ---- */

enum mcp_era { MCP_LEGACY, MCP_MODERN };

struct mcp_version {
	const char	*name;		/* "2025-11-25" */
	enum mcp_era	 era;
};

/* Newest first. */
#define MCP_VERSIONS	4
extern const struct mcp_version mcp_versions[MCP_VERSIONS];
/* The row of a name, or -1. */
int	mcp_version_find(const char *name);
/* What initialize answers to a client that wants this version. */
unsigned mcp_version_for(const char *wanted);

/* 1 if a header names a version of the modern era, known or not. */
int	mcp_names_modern(const struct http_head *);
enum mcp_era mcp_era_of(const struct http_head *, const struct mcp_message *);

/*
 * The checks of an era, in their order.  0, or -1 after filling the problem.
 */
int	mcp_check_modern(const struct http_head *, const struct mcp_message *,
	    struct mcp_problem *);
int	mcp_check_legacy(const struct http_head *, struct mcp_problem *);

/* ---- Host and Origin ---- */

/*
 * NULL if these are a program's on this host: Host names the loopback, and
 * Origin, if there is one, is the same.  Else what is wrong.
 */
const char *mcp_host_wrong(const char *host, const char *origin);
/* The same where more names are right: those, and an address (or NULL). */
const char *host_wrong(const char *host, const char *origin,
	    const struct strings *names, const char *address);

#endif
