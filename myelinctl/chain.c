/*
 * Checking the audit log's chain.
 */
#include <sys/types.h>
#include <inttypes.h>
#include <jansson.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "without.h"

static const char hash_key[] = ",\"hash\":\"";

void
chain_init(struct chain *chain)
{
	memset(chain, 0, sizeof(*chain));
	memset(chain->hash, '0', CHAIN_HASH - 1);
}

void
chain_init_from(struct chain *chain, enum chain_start from)
{
	chain_init(chain);
	chain->from = from;
}

void
chain_start(struct chain *chain, uint64_t sequence, const char *hash)
{
	chain_init(chain);
	chain->sequence = sequence;
	snprintf(chain->hash, sizeof(chain->hash), "%s", hash);
}

static int
wrong(struct chain *chain, const char *what)
{
	snprintf(chain->why, sizeof(chain->why), "record %" PRIu64 ": %s",
	    chain->sequence + 1, what);
	return (-1);
}

static void
hash_of(const char *line, size_t len, char hex[CHAIN_HASH])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;
	size_t i;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)line, len);
	SHA256Final(digest, &ctx);
	for (i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* The first one says where the chain begins, if it may. */
static void
begin(struct chain *chain, const json_t *record, uint64_t sequence,
    const char *prev)
{
	const char *event = json_string_value(json_object_get(record,
	    "event"));

	if (chain->sequence == 0 && sequence > 1 &&
	    strlen(prev) == CHAIN_HASH - 1 && (chain->from == CHAIN_PART ||
	    (chain->from == CHAIN_FILES && event != NULL &&
	    strcmp(event, "audit.rotated") == 0))) {
		chain->sequence = sequence - 1;
		memcpy(chain->hash, prev, CHAIN_HASH);
	}
	chain->first = chain->sequence + 1;
	memcpy(chain->before, chain->hash, CHAIN_HASH);
}

static int
check_members(struct chain *chain, const json_t *record)
{
	const json_t *sequence = json_object_get(record, "seq");
	const char *prev;

	prev = json_string_value(json_object_get(record, "prev"));
	if (!json_is_integer(sequence) || json_integer_value(sequence) <= 0 ||
	    prev == NULL)
		return (wrong(chain, "no \"seq\" or no \"prev\""));
	if (chain->first == 0)
		begin(chain, record, (uint64_t)json_integer_value(sequence),
		    prev);
	if ((uint64_t)json_integer_value(sequence) <= chain->sequence &&
	    !WITHOUT(audit_sequence)) {
		snprintf(chain->why, sizeof(chain->why), "after record %"
		    PRIu64 " comes %" JSON_INTEGER_FORMAT " again: a record "
		    "was inserted, or moved", chain->sequence,
		    json_integer_value(sequence));
		return (-1);
	}
	if ((uint64_t)json_integer_value(sequence) != chain->sequence + 1 &&
	    !WITHOUT(audit_sequence)) {
		snprintf(chain->why, sizeof(chain->why), "record %" PRIu64
		    " is missing: after %" PRIu64 " comes %"
		    JSON_INTEGER_FORMAT, chain->sequence + 1, chain->sequence,
		    json_integer_value(sequence));
		return (-1);
	}
	if (strcmp(prev, chain->hash) != 0 && !WITHOUT(audit_previous))
		return (wrong(chain, "it does not follow the record before: "
		    "one of them was changed, removed or moved"));
	return (0);
}

int
chain_add(struct chain *chain, const char *line, size_t len)
{
	const size_t klen = sizeof(hash_key) - 1;
	const size_t tail = klen + CHAIN_HASH - 1 + 2;
	char hash[CHAIN_HASH];
	json_t *record;
	const char *key;
	int ok;

	key = len > tail ? line + len - tail : line;
	if (len <= tail || memcmp(key, hash_key, klen) != 0 ||
	    memcmp(line + len - 2, "\"}", 2) != 0)
		return (wrong(chain, "it does not end with its hash: cut, or "
		    "changed"));
	hash_of(line, len - tail, hash);
	if (memcmp(hash, key + klen, CHAIN_HASH - 1) != 0 &&
	    !WITHOUT(audit_hash))
		return (wrong(chain, "its hash is not that of its text: it was "
		    "changed"));
	record = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (record == NULL)
		return (wrong(chain, "not JSON"));
	ok = check_members(chain, record);
	json_decref(record);
	if (ok == -1)
		return (-1);
	chain->sequence++;
	memcpy(chain->hash, hash, sizeof(hash));
	return (0);
}

int
chain_mark(struct chain *chain, uint64_t sequence, const char *hash)
{
	if (chain->sequence == sequence ?
	    strcmp(chain->hash, hash) == 0 :
	    chain->first != sequence + 1 || sequence == 0 ||
	    strcmp(chain->before, hash) == 0)
		return (0);
	snprintf(chain->why, sizeof(chain->why), "record %" PRIu64 " is not "
	    "the one that the mark names: the log was written anew", sequence);
	return (-1);
}

void
chain_in(struct chain *chain, const char *file)
{
	char why[sizeof(chain->why)];

	memcpy(why, chain->why, sizeof(why));
	(void)snprintf(chain->why, sizeof(chain->why), "%.60s: %.250s", file,
	    why);
}

int
chain_end(struct chain *chain, uint64_t sequence)
{
	if (chain->sequence >= sequence || WITHOUT(audit_mark))
		return (0);
	snprintf(chain->why, sizeof(chain->why), "the log ends after record %"
	    PRIu64 ", the mark says %" PRIu64 ": its end was cut off",
	    chain->sequence, sequence);
	return (-1);
}
