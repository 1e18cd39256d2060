/*
 * The routes: which method and path reach which handler, on which plane.
 */
#ifndef APID_ROUTES_H
#define APID_ROUTES_H

#include "conn.h"

enum route_body {
	BODY_NONE,	/* none, or a Content-Length of 0 */
	BODY_EMPTY,	/* that, or a small object: {} is what many send */
	BODY_JSON,	/* application/json, read before the handler runs */
	BODY_ANY,	/* the same, whose type is the handler's to look at */
	BODY_RAW	/* the handler takes it as it comes */
};

#define ON_AGENT	0x01
#define ON_OPERATOR	0x02
#define ON_BOTH		(ON_AGENT | ON_OPERATOR)

struct route {
	const char	*method;
	const char	*path;		/* "{n}", "{s}", "{c}", "{a}": an id; "{name}";
					 * "{*}": the rest, which may be empty */
	unsigned	 planes;
	enum route_body	 body;
	int		 anybody;	/* needs no identity */
	const char *const *query;	/* names it takes; NULL for none */
	void		 (*fn)(struct conn *);
};

/*
 * Finds the route of a request and sets c->route and c->id.  Returns 0, or -1
 * after answering.
 */
int	route_find(struct conn *);
/* The methods of the path that was asked for: "GET, POST". */
const char *route_allow(const struct conn *);

/* Handlers: route_*.c */
void	route_call_once(struct conn *);
void	route_call_session(struct conn *);
void	route_call_get(struct conn *);
/* A call was asked for by a key that it has already: as if it was new. */
void	route_call_same(struct conn *, const char *id, int wants_events,
	    uint32_t wait_ms);
void	route_call_events(struct conn *);
void	route_call_cancel(struct conn *);
void	route_call_stdin(struct conn *);
void	route_call_signal(struct conn *);
void	route_call_resize(struct conn *);
void	route_session_events(struct conn *);
void	route_session_open(struct conn *);
void	route_session_end(struct conn *);
void	route_neuron_make(struct conn *);
void	route_neuron_end(struct conn *);
void	route_health(struct conn *);
void	route_openapi(struct conn *);	/* openapi.c */
void	route_metrics(struct conn *);
void	route_whoami(struct conn *);
void	route_tools(struct conn *);
void	route_limits(struct conn *);
void	route_status(struct conn *);
void	route_audit(struct conn *);
void	route_neurons(struct conn *);
void	route_neuron_get(struct conn *);
void	route_sessions(struct conn *);
void	route_session_get(struct conn *);
void	route_calls(struct conn *);
void	route_call_look(struct conn *);
void	route_secrets(struct conn *);
void	route_secret_add(struct conn *);
void	route_secret_delete(struct conn *);
void	route_keys(struct conn *);
void	route_key_add(struct conn *);
void	route_key_revoke(struct conn *);
void	route_key_rotate(struct conn *);
void	route_drain(struct conn *);
void	route_drain_end(struct conn *);
void	route_session_calls(struct conn *);
void	route_session_transcript(struct conn *);
void	route_prune(struct conn *);
void	route_log_level(struct conn *);
void	route_backup(struct conn *);
void	route_approvals(struct conn *);
void	route_approval_get(struct conn *);
void	route_approval_decide(struct conn *);
void	route_approval_revoke(struct conn *);
void	route_events(struct conn *);	/* watch.c */

#endif
