/*
 * AUTH: one answer to every token that is not good, after the same work.
 */

#include <string.h>

#include "api.h"
#include "audit.h"
#include "auth.h"
#include "conf.h"
#include "keys.h"
#include "sync.h"
#include "token.h"
#include "without.h"

#define TOKEN_MOST	1024	/* bytes that are looked at as a token */
#define SOURCE_MOST	64
#define SOURCES		256	/* counted apart; more share */
#define RECORDS_MINUTE	30	/* of refusals, in the audit log, each kind */

/*
 * Failures by source: how many more are answered plainly.  Addresses that
 * meet in one slot share it, so that no number of them takes memory; a right
 * token is never refused for others' wrong ones.
 */
static struct slot {
	uint64_t	 spent;		/* of the limit, times 60,000,000 us */
	uint64_t	 last;		/* us */
} slots[SOURCES];

/* [1]: of keys that there are, which strangers' tokens are not to drown. */
static uint64_t	record_minute;
static unsigned	recorded[2], unrecorded[2];

static struct slot *
slot_of(const char *source)
{
	uint32_t hash = UINT32_C(2166136261);

	for (; *source != '\0'; source++)
		hash = (hash ^ (uint8_t)*source) * UINT32_C(16777619);
	return (&slots[(hash ^ hash >> 16) % SOURCES]);
}

#define MINUTE_US	UINT64_C(60000000)

uint32_t
auth_failed(const char *source)
{
	uint64_t most = conf_limit(LIMIT_AUTH_FAILURES), now = now_us(), back;
	struct slot *s = slot_of(source);

	/* A whole limit comes back in a minute. */
	back = now - s->last < MINUTE_US ? (now - s->last) * most : s->spent;
	s->spent = s->spent > back ? s->spent - back : 0;
	s->last = now;
	if (s->spent + MINUTE_US > most * MINUTE_US && !WITHOUT(auth_failures))
		return ((uint32_t)((s->spent + MINUTE_US - most * MINUTE_US +
		    most * 1000000 - 1) / (most * 1000000)));
	s->spent += MINUTE_US;
	return (0);
}

/* Wrong tokens cost nothing: they are not to fill the disk either. */
static void
record_refused(const char *why, const struct key *key, const char *source)
{
	uint64_t minute = now_us() / MINUTE_US;
	int known = key != NULL;
	json_t *members;

	if (minute != record_minute) {
		record_minute = minute;
		recorded[0] = recorded[1] = 0;
	}
	if (recorded[known] >= RECORDS_MINUTE) {
		unrecorded[known]++;
		return;
	}
	recorded[known]++;
	members = json_pack("{s:s,s:o,s:o,s:i}", "why", why,
	    "key", json_text_or_null(key != NULL ? key->row.id : NULL),
	    "source", json_text(source),
	    "unrecorded", (int)unrecorded[known]);
	unrecorded[known] = 0;
	audit_append("key.refused", members);
	sync_soon();
}

static void
auth_no(struct api *api, uint32_t connection, unsigned status,
    uint32_t retry, const char *who, const char *words)
{
	struct imsg *m;

	if (api->channel == NULL)
		return;
	if ((m = imsg_new(MSG_AUTH_NO)) == NULL)
		fatal("auth");
	imsg_put_u32(m, connection);
	imsg_put_u16(m, (uint16_t)status);
	imsg_put_u32(m, retry);
	imsg_put_str(m, who);
	imsg_put_str(m, words);
	channel_send(api->channel, m);
}

/* 1 if a socket of the agents' asks for tokens. */
static int
tokens_taken(void)
{
	const struct slice *s = conf();
	size_t i;

	for (i = 0; i < s->nlistens; i++)
		if (s->listens[i].plane == PLANE_AGENT &&
		    (s->listens[i].flags & LISTEN_TOKEN) != 0)
			return (1);
	return (0);
}

static void
refused(struct api *api, uint32_t connection, const char *why,
    const struct key *key, const char *source)
{
	char words[160];
	uint32_t retry;

	record_refused(why, key, source);
	if ((retry = auth_failed(source)) == 0) {
		auth_no(api, connection, 401, 0, "", "");
		return;
	}
	snprintf(words, sizeof(words), "more wrong tokens from there than the "
	    "limit \"%s\", %llu a minute",
	    limit_table[LIMIT_AUTH_FAILURES].keyword,
	    (unsigned long long)conf_limit(LIMIT_AUTH_FAILURES));
	auth_no(api, connection, 429, retry, "", words);
}

static void
accepted(struct api *api, uint32_t connection, struct key *key,
    const char *source)
{
	char who[PEER_WHO], words[512];
	struct peer_ids ids;

	memset(&ids, 0, sizeof(ids));
	ids.uid = key->number;
	ids.gid = key->number;
	strlcpy(ids.key, key->row.name, sizeof(ids.key));
	if (peer_principal(conf(), &ids) == NULL) {
		peer_who(&ids, who, sizeof(who));
		peer_missing(conf(), PLANE_AGENT, &ids, words, sizeof(words));
		record_refused("no_line", key, source);
		auth_no(api, connection, 403, 0, who, words);
		return;
	}
	key_used(key);
	api_peer_add(api, connection, &ids, key->row.id);
}

/*
 * What a token is, is decided after all the work is done.  None at all is no
 * failure: a client asks what is wanted.
 */
static void
decide(struct api *api, uint32_t connection, const char *token, size_t n,
    const char *source)
{
	struct key *key = key_find(token, n);
	int whole = token_whole(token, n);
	const char *why = key == NULL ? NULL : key_unusable(key);

	if (n == 0 && key == NULL)
		auth_no(api, connection, 401, 0, "", "");
	else if (key == NULL)
		refused(api, connection, whole ? "unknown" : "malformed",
		    NULL, source);
	else if (why != NULL)
		refused(api, connection, why, key, source);
	else if (api->npeers >= PEERS_MAX)
		auth_no(api, connection, 429, 1, "", "there are too many "
		    "connections");
	else
		accepted(api, connection, key, source);
}

int
auth_on_auth(void *arg, struct imsg *m)
{
	char source[SOURCE_MOST];
	struct api *api = arg;
	const uint8_t *token;
	uint32_t connection;
	size_t n;

	connection = imsg_get_u32(m);
	token = imsg_get_bytes(m, &n);
	get_words(m, source, sizeof(source));
	if (imsg_end(m) == -1 || n > TOKEN_MOST || !tokens_taken())
		return (-1);
	decide(api, connection, (const char *)token, n, source);
	return (0);
}

void
auth_key_gone(const char *id)
{
	struct api *api = &api_agent;
	struct peer *peer;

	if (WITHOUT(key_gone))
		return;
	while ((peer = api_peer_of_key(api, id)) != NULL) {
		auth_no(api, peer->connection, 401, 0, "", "");
		api_peer_free(api, peer);
	}
}
