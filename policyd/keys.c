/* API keys. */

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <sha2.h>

#include "audit.h"
#include "auth.h"
#include "call.h"
#include "conf.h"
#include "ids.h"
#include "keys.h"
#include "protocol.h"
#include "session.h"
#include "sync.h"
#include "token.h"
#include "without.h"

#define USED_EVERY_US	60000000	/* between writes of a last use */
#define NAMES_MOST	65536		/* that were ever given */

/* A name's number, for good. */
struct key_name {
	uint32_t	 number;
	char		 name[NAME_BYTES_MAX];
};

static TAILQ_HEAD(, key) keys = TAILQ_HEAD_INITIALIZER(keys);
static size_t		 nkeys;
static struct key_name	*names;
static size_t		 nnames;

/* ---- names ---- */

static const struct key_name *
name_find(const char *name)
{
	size_t i;

	for (i = 0; i < nnames; i++)
		if (strcmp(names[i].name, name) == 0)
			return (&names[i]);
	return (NULL);
}

static int
name_keep(void *arg, uint32_t number, const char *name)
{
	struct key_name *n;

	(void)arg;
	n = reallocarray(names, nnames + 1, sizeof(*names));
	if (n == NULL)
		fatal("keys");
	names = n;
	names[nnames].number = number;
	strlcpy(names[nnames++].name, name, NAME_BYTES_MAX);
	return (0);
}

/* The number of a name, which is given one if it is new; 0: it can't be. */
static uint32_t
name_number(const char *name)
{
	const struct key_name *known = name_find(name);
	uint32_t number = PRINCIPAL_KEYS;

	if (known != NULL)
		return (known->number);
	if (nnames > 0)
		number = names[nnames - 1].number + 1;
	if (store_key_name_add(number, name) == -1)
		return (0);
	name_keep(NULL, number, name);
	return (number);
}

void
principal_text(uint32_t number, char *dst, size_t size)
{
	size_t i;

	for (i = 0; i < nnames && number >= PRINCIPAL_KEYS; i++) {
		if (names[i].number == number) {
			snprintf(dst, size, "key:%s", names[i].name);
			return;
		}
	}
	snprintf(dst, size, "uid:%u", (unsigned)number);
}

int
principal_number(const char *text, uint32_t *number)
{
	const struct key_name *known;
	const char *error;

	if (strncmp(text, "uid:", 4) == 0) {
		*number = (uint32_t)strtonum(text + 4, 0, UINT32_MAX, &error);
		return (error == NULL ? 0 : -1);
	}
	if (strncmp(text, "key:", 4) != 0 ||
	    (known = name_find(text + 4)) == NULL)
		return (-1);
	*number = known->number;
	return (0);
}

json_t *
principal_json(uint32_t number)
{
	char text[PEER_WHO];

	principal_text(number, text, sizeof(text));
	return (json_text(text));
}

/* ---- the list ---- */

static void
drop(struct key *key)
{
	TAILQ_REMOVE(&keys, key, entry);
	nkeys--;
	free(key);
}

static struct key *
keep(const struct key_row *row, uint32_t number)
{
	struct key *key;

	if ((key = calloc(1, sizeof(*key))) == NULL)
		fatal("keys");
	key->row = *row;
	key->number = number;
	key->used_kept = row->used;
	TAILQ_INSERT_TAIL(&keys, key, entry);
	nkeys++;
	return (key);
}

static int
read_row(void *arg, const struct key_row *row)
{
	const struct key_name *name = name_find(row->name);

	(void)arg;
	/* Without its name's number it could be nobody. */
	if (name != NULL)
		(void)keep(row, name->number);
	return (0);
}

int
keys_start(void)
{
	if (store_key_names(name_keep, NULL) == 0 &&
	    store_keys(read_row, NULL) == 0)
		return (0);
	log_warnx("state.db: the keys can not be read");
	return (-1);
}

void
keys_end(void)
{
	while (!TAILQ_EMPTY(&keys))
		drop(TAILQ_FIRST(&keys));
	free(names);
	names = NULL;
	nnames = 0;
}

static void
hash_token(const char *token, size_t n, uint8_t hash[KEY_HASH])
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)token, n);
	SHA256Final(hash, &ctx);
	explicit_bzero(&ctx, sizeof(ctx));
}

struct key *
key_find(const char *token, size_t n)
{
	struct key *key, *found = NULL;
	uint8_t hash[KEY_HASH];

	hash_token(token, n, hash);
	/* To the end, whatever was found. */
	TAILQ_FOREACH(key, &keys, entry)
		if (CRYPTO_memcmp(key->row.hash, hash, sizeof(hash)) == 0 ||
		    WITHOUT(key_compare))
			found = key;
	return (found);
}

const char *
key_unusable(const struct key *key)
{
	if (key->row.revoked != 0 && !WITHOUT(key_revoked))
		return ("revoked");
	if (key->row.expires != 0 && key->row.expires <= wall_us() &&
	    !WITHOUT(key_expired))
		return ("expired");
	return (NULL);
}

void
key_used(struct key *key)
{
	key->row.used = wall_us();
	if (key->row.used < key->used_kept + USED_EVERY_US &&
	    key->used_kept != 0 && key->row.used >= key->used_kept)
		return;
	/* If it can't be written it is known in memory, at least. */
	if (store_key_set(&key->row) == 0)
		key->used_kept = key->row.used;
	sync_soon();
}

static struct key *
find_id(const char *id)
{
	struct key *key;

	TAILQ_FOREACH(key, &keys, entry)
		if (strcmp(key->row.id, id) == 0)
			return (key);
	return (NULL);
}

/* One that may be used, of this name, other than that. */
static struct key *
find_usable(const char *name, const struct key *but)
{
	struct key *key;

	TAILQ_FOREACH(key, &keys, entry)
		if (key != but && strcmp(key->row.name, name) == 0 &&
		    key_unusable(key) == NULL)
			return (key);
	return (NULL);
}

/* 1 if a principal line is for keys of that name. */
static int
has_line(const char *name)
{
	struct peer_ids ids;

	memset(&ids, 0, sizeof(ids));
	strlcpy(ids.key, name, sizeof(ids.key));
	return (peer_principal(conf(), &ids) != NULL);
}

/* ---- words ---- */

static json_t *
key_json(const struct key *key)
{
	const char *why = key_unusable(key);

	return (json_pack("{s:s,s:o,s:o,s:s,s:b,s:o,s:o,s:o,s:o}",
	    "key", key->row.id, "name", json_text(key->row.name),
	    "principal", principal_json(key->number),
	    "state", why != NULL ? why : "active",
	    "has_line", has_line(key->row.name),
	    "created", json_when(key->row.created),
	    "expires", json_when(key->row.expires),
	    "last_used", json_when(key->row.used),
	    "revoked", json_when(key->row.revoked)));
}

json_t *
query_keys(const struct query *q, struct refusal *r)
{
	json_t *list = json_array();
	struct key *key;

	(void)q;
	(void)r;
	TAILQ_FOREACH(key, &keys, entry)
		json_array_append_new(list, key_json(key));
	return (json_pack("{s:o}", "keys", list));
}

/* ---- letting go ---- */

/*
 * Whoever came with it is nobody from now on.  Where no other key of the name
 * is left, all that its principal runs ends as well.
 */
static void
let_go(struct key *key, int end_all)
{
	auth_key_gone(key->row.id);
	if (!end_all || WITHOUT(key_sessions) ||
	    find_usable(key->row.name, key) != NULL)
		return;
	session_end_of(key->number, "key_revoked");
	call_end_of(key->number);
}

void
keys_chores(void)
{
	struct key *key;

	TAILQ_FOREACH(key, &keys, entry)
		if (key_unusable(key) != NULL)
			let_go(key, 0);
}

/* ---- adding, rotating, revoking ---- */

/* Which operator, by which request. */
struct asker {
	const struct reply_to	*to;
	const struct peer	*peer;
};

static int
not_recorded(struct refusal *r, const char *words)
{
	sync_failed();
	return (refuse_later(r, 503, "unavailable", 5, "store_full: %s",
	    words));
}

static void
record(const struct asker *by, const char *event, const struct key *key,
    const char *replaces)
{
	json_t *members = json_pack("{s:s,s:o,s:s}", "key", key->row.id,
	    "name", json_text(key->row.name), "operator", by->peer->who);

	if (replaces != NULL)
		json_object_set_new(members, "replaces",
		    json_string(replaces));
	if (key->row.expires != 0)
		json_object_set_new(members, "expires",
		    json_when(key->row.expires));
	audit_append_for(by->to, event, members);
}

/* Room for one more: the oldest of no use go. */
static int
make_room(struct refusal *r)
{
	struct key *key, *next;

	TAILQ_FOREACH_SAFE(key, &keys, entry, next) {
		if (nkeys < KEYS_MOST)
			return (0);
		if (key_unusable(key) != NULL &&
		    store_key_delete(key->row.id) == 0)
			drop(key);
	}
	if (nkeys < KEYS_MOST)
		return (0);
	return (refuse(r, 409, "conflict", "there are %d keys in use, the "
	    "most there may be", KEYS_MOST));
}

/* A row of a new key, and its token. */
static int
make_key(const char *name, uint64_t expires, struct key_row *row,
    char token[TOKEN_SIZE])
{
	memset(row, 0, sizeof(*row));
	if (id_make(ID_KEY, row->id) == -1 || token_make(token) == -1) {
		log_warn("getrandom");
		return (-1);
	}
	strlcpy(row->name, name, sizeof(row->name));
	if (WITHOUT(key_hash))
		memcpy(row->hash, token, sizeof(row->hash));
	else
		hash_token(token, TOKEN_LENGTH, row->hash);
	row->created = wall_us();
	row->expires = expires;
	return (0);
}

/* The only time that anybody sees the token. */
static void
reply_token(const struct reply_to *to, const struct key *key,
    char token[TOKEN_SIZE])
{
	json_t *json = key_json(key);

	json_object_set_new(json, "token", json_string(token));
	explicit_bzero(token, TOKEN_SIZE);
	reply_json(to, 201, json);
}

static int
name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return (n > 0 && n < NAME_BYTES_MAX && name[n] == '\0' &&
	    name[0] != '-' && name[0] != '_');
}

static int
check_add(const char *name, uint32_t seconds, struct refusal *r)
{
	struct key *other;

	if (!name_ok(name))
		return (refuse(r, 400, "bad_request", "name: not a name of 1 "
		    "to %d of a-z, 0-9, \"-\" and \"_\", a letter or digit "
		    "first", NAME_BYTES_MAX - 1));
	if (seconds > KEY_LIFE_MOST)
		return (refuse(r, 400, "bad_request", "expires_s is %u; the "
		    "most is %u s", seconds, KEY_LIFE_MOST));
	if (!has_line(name))
		return (refuse(r, 409, "conflict", "no principal line is for "
		    "this key, so that it could do nothing: add \"principal "
		    "key \"%s\" { preset \"standard\" }\" to the "
		    "configuration first", name));
	if ((other = find_usable(name, NULL)) != NULL)
		return (refuse(r, 409, "conflict", "there is a key of that "
		    "name, %s: rotate or revoke it", other->row.id));
	if (name_find(name) == NULL && nnames >= NAMES_MOST)
		return (refuse(r, 409, "conflict", "%d names were given to "
		    "keys, the most there may be", NAMES_MOST));
	return (make_room(r));
}

/* The record is on the disk before anybody has the token. */
static int
add(const struct asker *by, const char *name, uint32_t seconds,
    struct key **key, char token[TOKEN_SIZE], struct refusal *r)
{
	struct key_row row;
	uint32_t number;

	if (check_add(name, seconds, r) == -1)
		return (-1);
	if (make_key(name, seconds == 0 ? 0 : wall_us() +
	    UINT64_C(1000000) * seconds, &row, token) == -1 ||
	    (number = name_number(name)) == 0 || store_key_set(&row) == -1)
		return (not_recorded(r, "the key can not be written, and is "
		    "not made"));
	*key = keep(&row, number);
	record(by, "key.added", *key, NULL);
	if (sync_now() == 0)
		return (0);
	(void)store_key_delete(row.id);
	drop(*key);
	return (not_recorded(r, "the key can not be recorded, and is not "
	    "made"));
}

static int
rotate_rows(const struct key_row *fresh, struct key_row *old, uint32_t overlap)
{
	uint64_t now = wall_us(), end = now + UINT64_C(1000000) * overlap;

	if (overlap == 0)
		old->revoked = now;
	else if (old->expires == 0 || old->expires > end)
		old->expires = end;
	return (store_keys_set(fresh, old));
}

/* A key's life is as long as its predecessor's was to be. */
static uint64_t
life_again(const struct key_row *old)
{
	return (old->expires == 0 ? 0 : wall_us() + old->expires -
	    old->created);
}

static int
rotate(const struct asker *by, const char *id, uint32_t overlap,
    struct key **key, char token[TOKEN_SIZE], struct refusal *r)
{
	struct key *old = find_id(id), *newer;
	struct key_row fresh, row;
	const char *why;

	if (old == NULL)
		return (refuse(r, 404, "not_found", "there is no key \"%s\"",
		    id_ok(ID_KEY, id) ? id : ""));
	if ((why = key_unusable(old)) != NULL)
		return (refuse(r, 409, "conflict", "key %s is %s: add one of "
		    "its name", id, why));
	newer = find_usable(old->row.name, old);
	if (newer != NULL && newer->row.created >= old->row.created)
		return (refuse(r, 409, "conflict", "key %s has taken the "
		    "place of %s already", newer->row.id, id));
	if (overlap > KEY_OVERLAP_MOST)
		return (refuse(r, 400, "bad_request", "overlap_s is %u; the "
		    "most is %u s", overlap, KEY_OVERLAP_MOST));
	if (make_room(r) == -1)
		return (-1);
	row = old->row;
	if (make_key(row.name, life_again(&row), &fresh, token) == -1 ||
	    rotate_rows(&fresh, &row, overlap) == -1)
		return (not_recorded(r, "the key can not be written, and is "
		    "not rotated"));
	old->row = row;
	*key = keep(&fresh, old->number);
	record(by, "key.rotated", *key, id);
	if (overlap == 0)
		let_go(old, 0);
	if (sync_now() == 0)
		return (0);
	return (not_recorded(r, "the rotation can not be recorded: the key "
	    "before is revoked; revoke this one and add another"));
}

/* It takes effect whether it can be written or not: that is the safe side. */
static int
revoke(const struct asker *by, const char *id, struct key **key,
    struct refusal *r)
{
	struct key *k = find_id(id);
	int bad;

	if (k == NULL || k->row.revoked != 0)
		return (refuse(r, 404, "not_found", "there is no key \"%s\" "
		    "that is not revoked yet", id_ok(ID_KEY, id) ? id : ""));
	*key = k;
	k->row.revoked = wall_us();
	bad = store_key_set(&k->row);
	record(by, "key.revoked", k, NULL);
	let_go(k, 1);
	if (sync_now() == 0 && bad == 0)
		return (0);
	return (not_recorded(r, "the key is revoked, but that can not be "
	    "written: it would be good again after a restart"));
}

void
keys_set(const struct reply_to *to, const struct peer *peer, unsigned what,
    uint32_t seconds, const char *text)
{
	const struct asker by = { to, peer };
	char token[TOKEN_SIZE];
	struct key *key = NULL;
	struct refusal r;
	int bad;

	if (what == KEY_REVOKE)
		bad = revoke(&by, text, &key, &r);
	else if (what == KEY_ROTATE)
		bad = rotate(&by, text, seconds, &key, token, &r);
	else
		bad = add(&by, text, seconds, &key, token, &r);
	if (bad == -1) {
		explicit_bzero(token, sizeof(token));
		reply_refusal(to, &r);
		return;
	}
	log_info_of(&(struct log_about){ .request = to->id },
	    "key %s (%s) is %s by %s", key->row.id, key->row.name,
	    what == KEY_REVOKE ? "revoked" : what == KEY_ROTATE ? "rotated in" :
	    "added", peer->who);
	if (what == KEY_REVOKE)
		reply_json(to, 200, key_json(key));
	else
		reply_token(to, key, token);
}
