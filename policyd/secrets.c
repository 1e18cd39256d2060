/* Registered secrets: the list, its rows in the database, what apids know. */

#include <sys/queue.h>
#include <sys/random.h>

#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "secrets.h"
#include "seal.h"
#include "store.h"
#include "sync.h"
#include "value_hash.h"
#include "without.h"

#define NO_STORE	"no credential store here"

struct secret {
	TAILQ_ENTRY(secret) entry;
	char		 name[NAME_BYTES_MAX];
	uint8_t		*value;		/* NULL: needs to be entered again */
	size_t		 length;
	uint64_t	 registered;
	int		 sealed;	/* its row can be read here */
};

static TAILQ_HEAD(, secret) secrets = TAILQ_HEAD_INITIALIZER(secrets);
static size_t		nsecrets;
static struct value_key	hash_key;

int
secrets_preload(void)
{
	if (getrandom(&hash_key, sizeof(hash_key), 0) != sizeof(hash_key)) {
		log_warn("getrandom");
		return (-1);
	}
	return (seal_preload());
}

static struct secret *
find(const char *name)
{
	struct secret *s;

	TAILQ_FOREACH(s, &secrets, entry)
		if (strcmp(s->name, name) == 0)
			return (s);
	return (NULL);
}

static void
drop(struct secret *s)
{
	TAILQ_REMOVE(&secrets, s, entry);
	nsecrets--;
	freezero(s->value, s->length);
	free(s);
}

static struct secret *
keep(const char *name, const uint8_t *value, size_t n, uint64_t registered)
{
	struct secret *s;

	if ((s = calloc(1, sizeof(*s))) == NULL ||
	    (value != NULL && (s->value = malloc(n)) == NULL))
		fatal("secrets");
	strlcpy(s->name, name, sizeof(s->name));
	if (value != NULL)
		memcpy(s->value, value, n);
	s->length = n;
	s->registered = registered;
	TAILQ_INSERT_TAIL(&secrets, s, entry);
	nsecrets++;
	return (s);
}

/* ---- at rest ---- */

static int
read_row(void *arg, const struct secret_row *row)
{
	uint8_t value[VALUE_MOST];
	struct secret *s;
	int known = 0;

	(void)arg;
	if (nsecrets == VALUES_MOST || row->length < VALUE_LEAST ||
	    row->length > VALUE_MOST)
		return (0);
	if (seal_key_id() != NULL && strcmp(row->key, seal_key_id()) == 0 &&
	    row->sealed_size == row->length + SEAL_TAG)
		known = seal_open(row->name, row->sealed, row->sealed_size,
		    row->nonce, value) == 0;
	s = keep(row->name, known ? value : NULL, row->length,
	    row->registered);
	s->sealed = known;
	explicit_bzero(value, sizeof(value));
	return (0);
}

int
secrets_start(void)
{
	struct secret *s;
	size_t closed = 0;

	if (store_secrets(read_row, NULL) == -1) {
		log_warnx("state.db: the secrets can not be read");
		return (-1);
	}
	TAILQ_FOREACH(s, &secrets, entry)
		closed += s->value == NULL;
	if (closed > 0)
		log_warnx("%zu of %zu registered secrets need re-entry: %s",
		    closed, nsecrets, seal_key_id() == NULL ? NO_STORE :
		    "another key sealed them");
	return (0);
}

void
secrets_end(void)
{
	while (!TAILQ_EMPTY(&secrets))
		drop(TAILQ_FIRST(&secrets));
	seal_forget();
}

static int
seal(struct secret *s)
{
	uint8_t sealed[VALUE_MOST + SEAL_TAG];
	struct secret_row row;

	memset(&row, 0, sizeof(row));
	strlcpy(row.name, s->name, sizeof(row.name));
	strlcpy(row.key, seal_key_id() != NULL ? seal_key_id() : "",
	    sizeof(row.key));
	row.length = s->length;
	row.registered = s->registered;
	row.sealed = sealed;
	row.sealed_size = s->length + SEAL_TAG;
	if (WITHOUT(secrets_sealed) || WITHOUT(secrets_memory)) {
		memset(sealed, 0, sizeof(sealed));
		memcpy(sealed, s->value, s->length);
	} else if (seal_close(s->name, s->value, s->length, row.nonce,
	    sealed) == -1)
		return (-1);
	return (store_secret_set(&row));
}

/* ---- what apids know ---- */

/* Forms of several values, as many as a message holds. */
struct telling {
	struct api	*api;
	uint8_t		 forms[SECRET_FORMS_MOST * SECRET_FORM_BYTES];
	size_t		 n;
	size_t		 all;
};

static void
tell_flush(struct telling *t)
{
	struct imsg *m;

	if (t->n == 0)
		return;
	m = imsg_new(MSG_SECRET);
	imsg_put_bytes(m, t->forms, t->n * SECRET_FORM_BYTES);
	channel_send(t->api->channel, m);
	t->n = 0;
}

static uint8_t *
put_le32(uint8_t *p, uint32_t n)
{
	*p++ = (uint8_t)n;
	*p++ = (uint8_t)(n >> 8);
	*p++ = (uint8_t)(n >> 16);
	*p++ = (uint8_t)(n >> 24);
	return (p);
}

static void
tell_secret(struct telling *t, const struct secret *s)
{
	struct value_form forms[VALUE_FORMS];
	size_t n, i;
	uint8_t *p;

	n = value_forms(&hash_key, s->value, s->length, forms);
	for (i = 0; i < n; i++) {
		if (t->n == SECRET_FORMS_MOST)
			tell_flush(t);
		p = t->forms + t->n++ * SECRET_FORM_BYTES;
		p = put_le32(p, forms[i].length);
		p = put_le32(p, forms[i].first);
		p = put_le32(p, forms[i].whole);
		memcpy(p, forms[i].mac, VALUE_MAC);
	}
	t->all += n;
}

void
secrets_tell(struct api *api)
{
	struct telling t = { .api = api };
	struct secret *s;
	struct imsg *m;

	if (api->channel == NULL)
		return;
	m = imsg_new(MSG_SECRETS);
	imsg_put_u64(m, hash_key.mix[0]);
	imsg_put_u64(m, hash_key.mix[1]);
	imsg_put_raw(m, hash_key.mac, sizeof(hash_key.mac));
	channel_send(api->channel, m);
	TAILQ_FOREACH(s, &secrets, entry)
		if (s->value != NULL)
			tell_secret(&t, s);
	tell_flush(&t);
	m = imsg_new(MSG_SECRETS_END);
	imsg_put_u32(m, (uint32_t)t.all);
	channel_send(api->channel, m);
}

void
secrets_mask(char *text, size_t size)
{
	static const char stars[] = "***";
	const struct secret *s;
	char *p, *end;

	(void)size;
	TAILQ_FOREACH(s, &secrets, entry) {
		if (s->value == NULL || WITHOUT(registered_values))
			continue;
		while ((p = memmem(text, strlen(text), s->value,
		    s->length)) != NULL) {
			end = p + s->length;
			memcpy(p, stars, sizeof(stars) - 1);
			p += sizeof(stars) - 1;
			memmove(p, end, strlen(end) + 1);
		}
	}
}

/* ---- words ---- */

static json_t *
secret_json(const struct secret *s)
{
	char when[TIME_TEXT];

	return (json_pack("{s:s,s:I,s:s,s:s,s:s}", "name", s->name,
	    "length", (json_int_t)s->length,
	    "registered", time_text(s->registered, when),
	    "kept", s->value == NULL || s->sealed ? "sealed" : "memory",
	    "state", s->value == NULL ? "needs re-entry" : "active"));
}

static const char *
store_words(void)
{
	return (seal_key_id() != NULL ? "credential store" : NO_STORE);
}

json_t *
query_secrets(const struct query *q, struct refusal *r)
{
	json_t *list = json_array();
	struct secret *s;

	(void)q;
	(void)r;
	TAILQ_FOREACH(s, &secrets, entry)
		json_array_append_new(list, secret_json(s));
	return (json_pack("{s:o,s:s}", "secrets", list, "store",
	    store_words()));
}

json_t *
secrets_status(void)
{
	struct secret *s;
	int closed = 0;

	TAILQ_FOREACH(s, &secrets, entry)
		closed += s->value == NULL;
	return (json_pack("{s:i,s:i,s:s}", "count", (int)nsecrets,
	    "needs_reentry", closed, "store", store_words()));
}

/* ---- adding and deleting ---- */

static int
name_ok(const char *name)
{
	size_t n = strlen(name);

	return (n > 0 && n < NAME_BYTES_MAX && strspn(name,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "0123456789_.-") == n);
}

/* What a list shows in the place of a value must not become one. */
static int
is_mask(const uint8_t *value, size_t n)
{
	static const char marker[] = "[redacted";
	size_t i;

	if (n >= sizeof(marker) - 1 &&
	    memcmp(value, marker, sizeof(marker) - 1) == 0)
		return (1);
	for (i = 0; i < n && value[i] == '*'; i++)
		;
	return (i == n && !WITHOUT(secret_mask));
}

static int
check_value(const char *name, const uint8_t *value, size_t n,
    struct refusal *r)
{
	if (!name_ok(name))
		return (refuse(r, 400, "bad_request", "name: not a name of 1 "
		    "to %d letters, digits, \"_\", \".\" and \"-\"",
		    NAME_BYTES_MAX - 1));
	if (n < VALUE_LEAST)
		return (refuse(r, 400, "bad_request", "value: %zu bytes; "
		    "fewer than %d would turn up in harmless text", n,
		    VALUE_LEAST));
	if (n > VALUE_MOST)
		return (refuse(r, 400, "bad_request", "value: %zu bytes; the "
		    "most is %d", n, VALUE_MOST));
	if (is_mask(value, n))
		return (refuse(r, 400, "bad_request", "value: that is what "
		    "stands in the place of a secret, and none itself"));
	if (find(name) == NULL && nsecrets == VALUES_MOST)
		return (refuse(r, 409, "conflict", "%d secrets are "
		    "registered, the most there may be", VALUES_MOST));
	return (0);
}

static void
changed(const struct reply_to *to, const char *event,
    const struct peer *peer, const char *name, const char *kept)
{
	json_t *members = json_pack("{s:s,s:s}", "name", name,
	    "operator", peer->who);

	if (kept != NULL)
		json_object_set_new(members, "kept", json_string(kept));
	audit_append_for(to, event, members);
	if (sync_now() == -1)
		sync_failed();
	secrets_tell(&api_agent);
	secrets_tell(&api_operator);
}

static void
add(const struct reply_to *to, const struct peer *peer, const char *name,
    const uint8_t *value, size_t n)
{
	struct secret *s, *old = find(name);
	struct refusal r;

	s = keep(name, value, n, wall_us());
	/* Without a key nothing is written, not even for a moment. */
	if (seal_key_id() != NULL || WITHOUT(secrets_memory)) {
		if (seal(s) == -1) {
			drop(s);
			refuse_later(&r, 503, "unavailable", 5, "the secret "
			    "can not be written, and is not registered");
			reply_refusal(to, &r);
			return;
		}
		s->sealed = 1;
	}
	if (old != NULL)
		drop(old);
	log_info_of(&(struct log_about){ .request = to->id },
	    "secret %s is registered by %s", name, peer->who);
	changed(to, "secret.added", peer, name, s->sealed ? "sealed" :
	    "memory");
	reply_json(to, old != NULL ? 200 : 201, secret_json(s));
}

static void
delete(const struct reply_to *to, const struct peer *peer, const char *name)
{
	struct secret *s = find(name);
	struct refusal r;

	if (s == NULL) {
		refuse(&r, 404, "not_found", "there is no secret \"%s\"",
		    name_ok(name) ? name : "");
		reply_refusal(to, &r);
		return;
	}
	if (store_secret_delete(name) == -1) {
		refuse_later(&r, 503, "unavailable", 5, "the secret can not "
		    "be deleted from the disk, and stays");
		reply_refusal(to, &r);
		return;
	}
	drop(s);
	log_info_of(&(struct log_about){ .request = to->id },
	    "secret %s is deleted by %s", name, peer->who);
	changed(to, "secret.deleted", peer, name, NULL);
	reply_json(to, 200, json_pack("{s:s}", "deleted", name));
}

void
secrets_set(const struct reply_to *to, const struct peer *peer, unsigned what,
    const char *name, const uint8_t *value, size_t n)
{
	struct refusal r;

	if (what == SECRET_DELETE)
		delete(to, peer, name);
	else if (check_value(name, value, n, &r) == -1)
		reply_refusal(to, &r);
	else
		add(to, peer, name, value, n);
}
