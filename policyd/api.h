/*
 * An apid: the agent socket's or the operator socket's.  One handle a
 * connection; whatever a message says, it speaks for the handle it names, and
 * a handle is good on the channel that it was given out on alone.
 */
#ifndef MYELIN_POLICYD_API_H
#define MYELIN_POLICYD_API_H

#include <stdint.h>

#include <sys/tree.h>

#include "budget.h"
#include "ids.h"
#include "imsg.h"
#include "text.h"
#include "peer.h"
#include "util.h"

#define PEER_WHO	(NAME_BYTES_MAX + 4) /* "key:NAME" and its NUL */
/* The most that "connections" can say, of each socket. */
#define PEERS_MAX	(LISTENS_MAX * 8192)

struct event_base;

struct peer {
	RB_ENTRY(peer)	 entry;
	uint64_t	 handle;
	struct peer_ids	 ids;
	struct ident	*ident;
	char		 who[PEER_WHO];
	uint32_t	 connection;
	char		 key[ID_SIZE];	/* whose token it came with, or "" */
};
RB_HEAD(peer_tree, peer);

struct api {
	enum channel_kind kind;
	enum cf_plane	 plane;
	struct channel	*channel;	/* NULL: none, or dead */
	unsigned	 generation;	/* of the channel: goes up */
	struct peer_tree peers;
	unsigned	 npeers;
	uint32_t	 said;		/* of which request REQUEST spoke */
	uint64_t	 said_id;
};

/* Where an answer goes, if its channel is still the same by then. */
struct reply_to {
	struct api	*api;
	unsigned	 generation;
	uint32_t	 request;
	uint64_t	 id;		/* request_id(); 0: it has none */
};

extern struct api api_agent, api_operator;

/* A new channel end for it, or the channel for tests. */
void	api_plumb(struct api *, int fd, struct event_base *);
/* Forgets channel and handles; an agent's calls are interrupted. */
void	api_lost(struct api *);

/* The peer of a handle, or NULL and a refusal. */
struct peer *api_peer(struct api *, uint64_t handle, struct refusal *);

/* Lets somebody in, with PEER_OK.  key: the id of his, or "". */
void	api_peer_add(struct api *, uint32_t connection,
	    const struct peer_ids *, const char *key);
void	api_peer_free(struct api *, struct peer *);
/* Somebody who came with that key, or NULL. */
struct peer *api_peer_of_key(struct api *, const char *key);

struct reply_to reply_to(struct api *, uint32_t request);
/* 1 if the asker can still be answered. */
int	reply_possible(const struct reply_to *);
/* Sends JSON, which is consumed; a big one goes in a memfd. */
void	reply_json(const struct reply_to *, unsigned status, json_t *);
void	reply_refusal(const struct reply_to *, const struct refusal *);
/* Sends lines of JSON, as transcripts are; a NUL is behind them. */
void	reply_lines(const struct reply_to *, const char *, size_t len);

/*
 * audit_append() of what was asked so: with the request's id, if it has one;
 * NULL: nobody asked.
 */
void	audit_append_for(const struct reply_to *, const char *event,
	    json_t *members);
/* That member of a record that is written as text. */
void	audit_request(struct text *, const struct reply_to *);
/* The id of the request, or null. */
json_t	*request_json(const struct reply_to *);

/* REQUEST, PEER, PEER_GONE: both planes' handlers (arg is the struct api). */
int	api_on_request(void *, struct imsg *);
int	api_on_peer(void *, struct imsg *);
int	api_on_peer_gone(void *, struct imsg *);

/* The planes' tables. */
extern const struct channel_ops agent_ops, operator_ops;

#endif
