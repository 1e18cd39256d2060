/* The channels to the two apids: handles and answers. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>

#include "api.h"
#include "audit.h"
#include "call.h"
#include "codec.h"
#include "conf.h"
#include "ids.h"
#include "mcpkey.h"
#include "secrets.h"
#include "without.h"

#define INLINE_MAX	(12 * 1024)	/* bytes of JSON in a REPLY */

static int peer_cmp(const struct peer *, const struct peer *);

RB_PROTOTYPE(peer_tree, peer, entry, peer_cmp)
RB_GENERATE(peer_tree, peer, entry, peer_cmp)

struct api api_agent = {
	.kind = CH_AGENT, .plane = PLANE_AGENT,
	.peers = RB_INITIALIZER(&api_agent.peers),
};
struct api api_operator = {
	.kind = CH_OPERATOR, .plane = PLANE_OPERATOR,
	.peers = RB_INITIALIZER(&api_operator.peers),
};

static int
peer_cmp(const struct peer *a, const struct peer *b)
{
	return (a->handle < b->handle ? -1 : a->handle > b->handle);
}

static void
send_mcpkey(struct api *api)
{
	struct imsg *m;

	if ((m = imsg_new(MSG_SEAL_KEY)) == NULL)
		fatal("the key of session ids");
	imsg_put_raw(m, mcpkey(), MCPKEY_SIZE);
	channel_send(api->channel, m);
}

void
api_plumb(struct api *api, int fd, struct event_base *base)
{
	const struct channel_ops *ops;

	api_lost(api);
	ops = api->plane == PLANE_AGENT ? &agent_ops : &operator_ops;
	if ((api->channel = channel_new(fd, api->kind, END_A, ops, api)) ==
	    NULL || channel_attach(api->channel, base) == -1)
		fatalx("the channel %s can not be made",
		    channel_name(api->kind));
	if (api->plane == PLANE_AGENT)
		send_mcpkey(api);
	/* Before any call can come from it. */
	secrets_tell(api);
}

void
api_peer_free(struct api *api, struct peer *peer)
{
	RB_REMOVE(peer_tree, &api->peers, peer);
	api->npeers--;
	ident_put(peer->ident);
	free(peer);
}

void
api_lost(struct api *api)
{
	struct peer *peer, *next;

	RB_FOREACH_SAFE(peer, peer_tree, &api->peers, next)
		api_peer_free(api, peer);
	if (api->channel != NULL)
		channel_free(api->channel);
	api->channel = NULL;
	api->said = 0;
	api->said_id = 0;
	api->generation++;
	if (api->plane == PLANE_AGENT) {
		kept_reader_lost();
		call_agent_lost();
	}
}

struct peer *
api_peer(struct api *api, uint64_t handle, struct refusal *r)
{
	struct peer key, *peer;

	key.handle = handle;
	if ((peer = RB_FIND(peer_tree, &api->peers, &key)) == NULL)
		refuse(r, 403, "forbidden", "this connection has no identity "
		    "here (any more); connect again");
	return (peer);
}

struct peer *
api_peer_of_key(struct api *api, const char *key)
{
	struct peer *peer;

	RB_FOREACH(peer, peer_tree, &api->peers)
		if (strcmp(peer->key, key) == 0)
			return (peer);
	return (NULL);
}

struct reply_to
reply_to(struct api *api, uint32_t request)
{
	struct reply_to to;

	to.api = api;
	to.generation = api->generation;
	to.request = request;
	to.id = api->said == request ? api->said_id : 0;
	return (to);
}

int
api_on_request(void *arg, struct imsg *m)
{
	struct api *api = arg;

	api->said = imsg_get_u32(m);
	api->said_id = imsg_get_u64(m);
	return (imsg_end(m));
}

json_t *
request_json(const struct reply_to *to)
{
	char id[REQUEST_ID_SIZE];

	return (json_text_or_null(request_id(to->id, id)));
}

void
audit_append_for(const struct reply_to *to, const char *event,
    json_t *members)
{
	if (members == NULL)
		members = json_object();
	if (to != NULL && to->id != 0 && !WITHOUT(request_ids))
		json_object_set_new(members, "request_id", request_json(to));
	audit_append(event, members);
}

void
audit_request(struct text *t, const struct reply_to *to)
{
	char id[REQUEST_ID_SIZE];

	if (to->id != 0 && !WITHOUT(request_ids))
		text_word(t, "request_id", request_id(to->id, id));
}

int
reply_possible(const struct reply_to *to)
{
	return (to->api != NULL && to->api->channel != NULL &&
	    to->generation == to->api->generation);
}

static void
reply_text(const struct reply_to *to, unsigned status, uint32_t retry,
    const char *text, size_t len)
{
	struct imsg *m;
	int fd = -1;

	if (!reply_possible(to))
		return;
	if (len > INLINE_MAX &&
	    (fd = memfd_sealed("reply", text, len)) == -1) {
		log_warn("reply of %zu bytes", len);
		status = 503;
		text = "{\"error\":{\"code\":\"unavailable\",\"message\":"
		    "\"the answer can not be passed on\"}}";
	}
	if ((m = imsg_new(MSG_REPLY)) == NULL)
		fatal("reply");
	imsg_put_u32(m, to->request);
	imsg_put_u16(m, (uint16_t)status);
	imsg_put_u32(m, retry);
	imsg_put_str(m, fd == -1 ? text : "");
	if (fd != -1)
		imsg_put_fd(m, fd);
	channel_send(to->api->channel, m);
}

void
reply_lines(const struct reply_to *to, const char *text, size_t len)
{
	reply_text(to, 200, 0, text, len);
}

void
reply_json(const struct reply_to *to, unsigned status, json_t *json)
{
	char *text;

	if (json == NULL || (text = json_dumps(json, JSON_COMPACT)) == NULL)
		fatalx("an answer can not be made");
	json_decref(json);
	reply_text(to, status, 0, text, strlen(text));
	free(text);
}

void
reply_refusal(const struct reply_to *to, const struct refusal *r)
{
	json_t *json;
	char *text;

	json = json_pack("{s:{s:s,s:o}}", "error", "code", r->code,
	    "message", json_text(r->words));
	if (json == NULL || (text = json_dumps(json, JSON_COMPACT)) == NULL)
		fatalx("an answer can not be made");
	json_decref(json);
	reply_text(to, r->status, r->retry, text, strlen(text));
	free(text);
}

static void
peer_no(struct api *api, uint32_t connection, const char *who,
    const char *missing)
{
	struct imsg *m;

	if ((m = imsg_new(MSG_PEER_NO)) == NULL)
		fatal("peer");
	imsg_put_u32(m, connection);
	imsg_put_str(m, who);
	imsg_put_str(m, missing);
	channel_send(api->channel, m);
}

/* 1 if a line of the plane names the peer. */
static int
peer_known(const struct api *api, const struct peer_ids *ids)
{
	int known;

	if (api->plane == PLANE_AGENT)
		return (peer_principal(conf(), ids) != NULL);
	(void)peer_rights(conf(), ids, &known);
	return (known);
}

void
api_peer_add(struct api *api, uint32_t connection, const struct peer_ids *ids,
    const char *key)
{
	struct peer *peer;
	struct imsg *m;

	if ((peer = calloc(1, sizeof(*peer))) == NULL ||
	    (peer->ident = ident_get(ids->uid)) == NULL)
		fatal("peer");
	peer->ids = *ids;
	peer->connection = connection;
	strlcpy(peer->key, key, sizeof(peer->key));
	peer_who(ids, peer->who, sizeof(peer->who));
	do
		peer->handle = id_random64();
	while (RB_INSERT(peer_tree, &api->peers, peer) != NULL);
	api->npeers++;
	if ((m = imsg_new(MSG_PEER_OK)) == NULL)
		fatal("peer");
	imsg_put_u32(m, connection);
	imsg_put_u64(m, peer->handle);
	imsg_put_u32(m, (uint32_t)ids->uid);
	imsg_put_str(m, peer->who);
	channel_send(api->channel, m);
}

int
api_on_peer(void *arg, struct imsg *m)
{
	char who[PEER_WHO] = "nobody", missing[512];
	struct api *api = arg;
	struct peer_ids ids;
	uint32_t connection;
	const char *why;
	int fd, r;

	connection = imsg_get_u32(m);
	if (imsg_end(m) == -1 || api->npeers >= PEERS_MAX)
		return (-1);
	if ((fd = imsg_claim_fd(m, 0)) == -1)
		return (-1);
	r = peer_read(fd, api->plane, conf(), &ids, &why);
	close(fd);
	if (r == -1) {
		log_warnx("%s: a peer is refused: %s",
		    channel_name(api->kind), why);
		peer_no(api, connection, who, why);
		return (0);
	}
	if (!peer_known(api, &ids)) {
		peer_who(&ids, who, sizeof(who));
		peer_missing(conf(), api->plane, &ids, missing,
		    sizeof(missing));
		peer_no(api, connection, who, missing);
		return (0);
	}
	api_peer_add(api, connection, &ids, "");
	return (0);
}

int
api_on_peer_gone(void *arg, struct imsg *m)
{
	struct api *api = arg;
	struct refusal r;
	struct peer *peer;
	uint64_t handle;

	handle = imsg_get_u64(m);
	if (imsg_end(m) == -1)
		return (-1);
	if ((peer = api_peer(api, handle, &r)) != NULL)
		api_peer_free(api, peer);
	return (0);
}
