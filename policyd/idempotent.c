/* Idempotency keys. */

#include <string.h>

#include <sha2.h>

#include "asked.h"
#include "call.h"
#include "call_list.h"
#include "codec.h"
#include "session.h"
#include "without.h"

/* ---- digests ---- */

/* Its length first, so that no two lists of fields have the same bytes. */
static void
field(SHA2_CTX *sha, const void *bytes, size_t len)
{
	uint8_t prefix[8];
	size_t i;

	for (i = 0; i < sizeof(prefix); i++)
		prefix[i] = (uint8_t)((uint64_t)len >> (8 * i));
	SHA256Update(sha, prefix, sizeof(prefix));
	SHA256Update(sha, bytes, len);
}

static void
text(SHA2_CTX *sha, const char *s)
{
	field(sha, s, strlen(s));
}

static void
number(SHA2_CTX *sha, uint32_t n)
{
	const uint8_t bytes[4] = { (uint8_t)n, (uint8_t)(n >> 8),
	    (uint8_t)(n >> 16), (uint8_t)(n >> 24) };

	field(sha, bytes, sizeof(bytes));
}

static int
content(SHA2_CTX *sha, int fd, size_t max)
{
	const uint8_t *bytes;
	size_t size;

	if ((bytes = memfd_map(fd, max, &size)) == NULL)
		return (-1);
	field(sha, bytes, size);
	memfd_unmap(bytes, size);
	return (0);
}

static void
key_digest(struct call *c, const struct asked *a)
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	text(&sha, WITHOUT(key_principal) ? "" : c->who);
	text(&sha, WITHOUT(key_session) ? "" : a->session);
	text(&sha, a->key);
	SHA256Final(c->key.key, &sha);
}

static int
same_digest(struct call *c, const struct asked *a)
{
	SHA2_CTX sha;

	SHA256Init(&sha);
	text(&sha, a->tool);
	number(&sha, a->in);
	/* how it is answered is no part of what is asked */
	number(&sha, a->flags & ~(uint32_t)ASK_F_PATIENT);
	number(&sha, a->timeout);
	number(&sha, a->wanted.owner_uid);
	number(&sha, a->wanted.owner_gid);
	text(&sha, a->wanted.profile);
	text(&sha, a->wanted.workspace);
	text(&sha, a->wanted.preset);
	if (content(&sha, c->fds[CALL_ARGS], ARGUMENTS_MAX) == -1 ||
	    (a->in == STDIN_INLINE && content(&sha, c->fds[CALL_INPUT],
	    conf_limit(LIMIT_BODY)) == -1))
		return (-1);
	SHA256Final(c->key.same, &sha);
	return (0);
}

/* ---- asking again ---- */

static void
tell_same(const struct reply_to *to, const char *id)
{
	struct imsg *m;

	if (!reply_possible(to))
		return;
	if ((m = imsg_new(MSG_CALL_SAME)) == NULL)
		fatal("idempotency key");
	imsg_put_u32(m, to->request);
	imsg_put_str(m, id);
	channel_send(to->api->channel, m);
}

static int
is_same(const uint8_t a[KEY_SHA], const uint8_t b[KEY_SHA])
{
	return (memcmp(a, b, KEY_SHA) == 0 || WITHOUT(key_digest));
}

static int
refuse_other(struct refusal *r, const char *call)
{
	return (refuse(r, 409, "conflict", "idempotency_key: it is that of "
	    "%s, which was asked with another request", *call != '\0' ? call :
	    "a call that waits for its neuron"));
}

int
idempotent_matches(const struct call *c, const struct call_key *key)
{
	return (c->key.keyed && c->step == STEP_WAITING &&
	    memcmp(c->key.key, key->key, KEY_SHA) == 0);
}

/* The call has no id yet: the answer is that of its first asker. */
static int
join(struct call *first, const struct call *c, struct refusal *r)
{
	struct call_key *key = &first->key;

	if (!is_same(key->same, c->key.same))
		return (refuse_other(r, ""));
	if (key->nmore == KEY_MORE)
		return (refuse_later(r, 429, "too_many", 1, "idempotency_key: "
		    "%u have asked for this call while it waits for its "
		    "neuron", KEY_MORE + 1));
	key->more[key->nmore++] = c->to;
	return (1);
}

static int
look(struct call *c, struct refusal *r)
{
	struct call *first;
	struct idempotent_row row;
	int found;

	if ((first = call_waiting_with(&c->key)) != NULL)
		return (join(first, c, r));
	if ((found = store_idempotent(c->key.key, wall_us(),
	    conf_limit(LIMIT_RESULT_KEPT) * 1000000, &row)) == -1)
		return (refuse_later(r, 503, "unavailable", 5,
		    "the keys of calls can not be read"));
	if (found == 0)
		return (0);
	if (!is_same(row.same, c->key.same))
		return (refuse_other(r, row.call));
	tell_same(&c->to, row.call);
	return (1);
}

int
idempotent_look(struct call *c, const struct asked *a, struct refusal *r)
{
	if (a->key[0] == '\0' || WITHOUT(idempotency))
		return (0);
	if (a->in == STDIN_STREAM)
		return (refuse(r, 400, "bad_request", "idempotency_key: not "
		    "with streamed stdin, whose bytes can't be compared"));
	if ((a->flags & ASK_F_DRY_RUN) != 0)
		return (refuse(r, 400, "bad_request", "idempotency_key: not "
		    "with dry_run, which makes no call"));
	key_digest(c, a);
	if (same_digest(c, a) == -1)
		return (refuse(r, 400, "bad_request", "arguments or stdin "
		    "are over their limits, %u and %llu bytes",
		    ARGUMENTS_MAX, (unsigned long long)
		    conf_limit(LIMIT_BODY)));
	/* before it is, so that it is not found itself */
	switch (look(c, r)) {
	case 1:
		return (1);
	case -1:
		return (-1);
	}
	c->key.keyed = 1;
	return (0);
}

void
idempotent_asked(const struct call *c)
{
	unsigned i;

	for (i = 0; i < c->key.nmore; i++)
		tell_same(&c->key.more[i], c->row.id);
}

void
idempotent_refused(const struct call *c, const struct refusal *r)
{
	unsigned i;

	for (i = 0; i < c->key.nmore; i++)
		reply_refusal(&c->key.more[i], r);
}

void
idempotent_sweep(void)
{
	(void)store_idempotent_trim(wall_us(), conf_limit(LIMIT_RESULT_KEPT) *
	    1000000);
}
