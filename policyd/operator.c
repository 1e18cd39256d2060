/* The operator socket's apid: it may ask, and nothing else yet. */

#include "api.h"
#include "proc.h"
#include "query.h"

static void	operator_dead(void *, const char *);

static const struct channel_handler handlers[] = {
	{ MSG_PEER,		api_on_peer },
	{ MSG_PEER_GONE,	api_on_peer_gone },
	{ MSG_QUERY,		query_on_query },
};

const struct channel_ops operator_ops = {
	.handlers = handlers,
	.nhandlers = sizeof(handlers) / sizeof(handlers[0]),
	.dead = operator_dead,
};

static void
operator_dead(void *arg, const char *reason)
{
	log_info("the operator socket's apid is gone: %s", reason);
	api_lost(arg);
	proc_channel_lost(CH_OPERATOR);
}
