/* The operator socket's apid: QUERY, END, MANAGE, DECIDE. */

#include "api.h"
#include "approval.h"
#include "audit.h"
#include "backup.h"
#include "drain.h"
#include "home.h"
#include "ids.h"
#include "keys.h"
#include "proc.h"
#include "query.h"
#include "secrets.h"
#include "session.h"
#include "sync.h"
#include "transcript.h"

static int	on_end(void *, struct imsg *);
static int	on_manage(void *, struct imsg *);
static int	on_secret_set(void *, struct imsg *);
static int	on_key_set(void *, struct imsg *);
static void	operator_dead(void *, const char *);

static const struct channel_handler handlers[] = {
	{ MSG_REQUEST,		api_on_request },
	{ MSG_PEER,		api_on_peer },
	{ MSG_PEER_GONE,	api_on_peer_gone },
	{ MSG_END,		on_end },
	{ MSG_QUERY,		query_on_query },
	{ MSG_MANAGE,		on_manage },
	{ MSG_SECRET_SET,	on_secret_set },
	{ MSG_DECIDE,		approval_on_decide },
	{ MSG_KEY_SET,		on_key_set },
	{ MSG_NEURONS_FOR,	home_on_find },
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

/* The peer of a handle, if it may manage; else it is answered. */
static struct peer *
manager(const struct reply_to *to, uint64_t handle)
{
	struct refusal r;
	struct peer *peer;
	unsigned rights;

	if ((peer = api_peer(to->api, handle, &r)) != NULL &&
	    operator_may(peer, RIGHT_MANAGE, &rights, &r) == 0)
		return (peer);
	reply_refusal(to, &r);
	return (NULL);
}

/* The kill switch, for anybody's session; and anybody's neuron goes. */
static int
on_end(void *arg, struct imsg *m)
{
	struct reply_to to;
	struct session *s;
	struct refusal r;
	struct peer *peer;
	char id[ID_SIZE];
	uint64_t handle;
	int bad;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	bad = get_text(m, id, sizeof(id));
	if (imsg_end(m) == -1)
		return (-1);
	if ((peer = manager(&to, handle)) == NULL)
		return (0);
	if (bad == 0 && id[0] == ID_NEURON) {
		home_end(&to, peer, id, 1);
		return (0);
	}
	s = bad == 0 && id_ok(ID_SESSION, id) ? session_find(id) : NULL;
	if (s == NULL) {
		refuse(&r, 404, "not_found", "there is no live session "
		    "\"%s\"", id);
		reply_refusal(&to, &r);
		return (0);
	}
	log_info_of(&(struct log_about){ .request = to.id, .session = id },
	    "session %s is ended by operator %s", id, peer->who);
	audit_append_for(&to, "session.killed", json_pack("{s:s,s:s}",
	    "session", id, "operator", peer->who));
	session_end(s, "ended_by_operator", &to);
	return (0);
}

/* Until the next configuration, or the end of the service. */
static void
set_log_level(const struct reply_to *to, const struct peer *peer, int verbose)
{
	const char *level = verbose ? "verbose" : "brief";

	audit_append_for(to, "log.level", json_pack("{s:s,s:s}",
	    "level", level, "operator", peer->who));
	sync_soon();
	proc_log_ask(verbose);
	log_info_of(&(struct log_about){ .request = to->id },
	    "the log is %s, as operator %s asked", level, peer->who);
	reply_json(to, 200, json_pack("{s:s}", "level", level));
}

static int
on_manage(void *arg, struct imsg *m)
{
	struct reply_to to;
	struct refusal r;
	struct peer *peer;
	uint64_t handle;
	unsigned what;
	uint32_t ms;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	what = imsg_get_u8(m);
	ms = imsg_get_u32(m);
	if (imsg_end(m) == -1 || what < MANAGE_DRAIN || what > MANAGE_LAST)
		return (-1);
	if ((peer = manager(&to, handle)) == NULL)
		return (0);
	if (what == MANAGE_LOG_BRIEF || what == MANAGE_LOG_VERBOSE)
		set_log_level(&to, peer, what == MANAGE_LOG_VERBOSE);
	else if (what == MANAGE_BACKUP)
		backup_ask(&to, peer);
	else if (what == MANAGE_RESUME)
		drain_resume(&to, peer);
	else if (what == MANAGE_PRUNE || what == MANAGE_PRUNE_LOOK)
		prune_ask(&to, peer, ms, what == MANAGE_PRUNE_LOOK);
	else if (ms > DRAIN_WAIT_MAX) {
		refuse(&r, 400, "bad_request", "timeout_ms is %u; the most is "
		    "%u ms", ms, DRAIN_WAIT_MAX);
		reply_refusal(&to, &r);
	} else
		drain_begin(&to, peer, ms);
	return (0);
}

static int
on_secret_set(void *arg, struct imsg *m)
{
	char name[NAME_BYTES_MAX];
	struct reply_to to;
	struct peer *peer;
	const uint8_t *value;
	uint64_t handle;
	unsigned what;
	size_t n;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	what = imsg_get_u8(m);
	/* one that is too long is "", which is no name */
	(void)get_text(m, name, sizeof(name));
	value = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1 || what < SECRET_ADD || what > SECRET_DELETE)
		return (-1);
	if ((peer = manager(&to, handle)) != NULL)
		secrets_set(&to, peer, what, name, value, n);
	return (0);
}

static int
on_key_set(void *arg, struct imsg *m)
{
	char text[NAME_BYTES_MAX];
	struct reply_to to;
	struct peer *peer;
	uint32_t seconds;
	uint64_t handle;
	unsigned what;

	to = reply_to(arg, imsg_get_u32(m));
	handle = imsg_get_u64(m);
	what = imsg_get_u8(m);
	seconds = imsg_get_u32(m);
	/* one that is too long is "", which is neither name nor id */
	(void)get_text(m, text, sizeof(text));
	if (imsg_end(m) == -1 || what < KEY_ADD || what > KEY_ROTATE)
		return (-1);
	if ((peer = manager(&to, handle)) != NULL)
		keys_set(&to, peer, what, seconds, text);
	return (0);
}
