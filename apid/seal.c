/*
 * Sealed session ids: "m1.NAME.VERSION.EXPIRES.MARK"; and sealed states of
 * requests: "s1.CALL.ROUND.MARK".
 *
 * What is in one is no secret, so it is not encrypted; MARK is the HMAC of
 * RFC 2104 with SHA-256 over the rest and the principal, in hexadecimal, and
 * of a state over the digest of what was asked as well.  As each kind begins
 * with its own letters, none is ever taken for one of the other.
 */
#include <sys/types.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ids.h"
#include "log.h"
#include "seal.h"
#include "without.h"

#define BLOCK		64	/* bytes, of SHA-256 */
#define MARK_HEX	(2 * SHA256_DIGEST_LENGTH)

static const char	letters[] = "abcdefghijklmnopqrstuvwxyz012345";
static const char	hex[] = "0123456789abcdef";
static uint8_t		key[SEAL_KEY_SIZE];

void
seal_set_key(const uint8_t fresh[SEAL_KEY_SIZE])
{
	memcpy(key, fresh, sizeof(key));
}

void
seal_name(char name[SEAL_NAME_SIZE])
{
	uint64_t bits = 0;
	int i;

	for (i = 0; i < SEAL_NAME_SIZE - 1; i++) {
		if (i % 12 == 0)
			bits = id_random64();
		name[i] = letters[bits & 31];
		bits >>= 5;
	}
	name[i] = '\0';
}

/* ---- the mark ---- */

static void
hmac_half(uint8_t pad, const void *text, size_t n, const void *more,
    size_t nmore, uint8_t digest[SHA256_DIGEST_LENGTH])
{
	uint8_t block[BLOCK];
	SHA2_CTX ctx;
	size_t i;

	memset(block, pad, sizeof(block));
	for (i = 0; i < sizeof(key); i++)
		block[i] ^= key[i];
	SHA256Init(&ctx);
	SHA256Update(&ctx, block, sizeof(block));
	SHA256Update(&ctx, text, n);
	SHA256Update(&ctx, more, nmore);
	SHA256Final(digest, &ctx);
	explicit_bzero(block, sizeof(block));
}

/*
 * Over the n bytes of text, a NUL (the principal's first) and who; and, unless
 * it is NULL, another and the subject.
 */
static void
make_mark(const char *text, size_t n, const char *who,
    const uint8_t *subject, char mark[MARK_HEX + 1])
{
	uint8_t inner[SHA256_DIGEST_LENGTH], outer[SHA256_DIGEST_LENGTH];
	char bound[256 + 1 + SEAL_SUBJECT];
	size_t size, i;

	bound[0] = '\0';
	size = 1 + (size_t)snprintf(bound + 1, 256 - 1, "%s",
	    WITHOUT(mcp_principal) ? "" : who);
	if (size > 256)
		fatalx("a principal of %zu bytes", size);
	if (subject != NULL && !WITHOUT(mcp_subject)) {
		bound[size] = '\0';
		memcpy(bound + size + 1, subject, SEAL_SUBJECT);
		size += 1 + SEAL_SUBJECT;
	}
	hmac_half(0x36, text, n, bound, size, inner);
	hmac_half(0x5c, inner, sizeof(inner), "", 0, outer);
	for (i = 0; i < sizeof(outer); i++) {
		mark[2 * i] = hex[outer[i] >> 4];
		mark[2 * i + 1] = hex[outer[i] & 15];
	}
	mark[MARK_HEX] = '\0';
}

/* In a time that does not tell where they differ. */
static int
same_mark(const char *a, const char *b)
{
	unsigned differ = 0;
	size_t i;

	for (i = 0; i < MARK_HEX; i++)
		differ |= (unsigned)(a[i] ^ b[i]);
	return (differ == 0 || WITHOUT(mcp_seal));
}

void
seal_make(const struct seal *s, const char *who, char id[SEAL_ID_SIZE])
{
	size_t n;

	n = (size_t)snprintf(id, SEAL_ID_SIZE, "m1.%s.%u.%llu", s->name,
	    s->version, (unsigned long long)s->expires);
	id[n] = '.';
	make_mark(id, n, who, NULL, id + n + 1);
}

/* ---- reading one ---- */

/* A decimal number without sign, blank or leading zero, up to the dot. */
static const char *
read_number(const char *p, uint64_t *value)
{
	size_t n = strspn(p, "0123456789");

	if (n == 0 || n > 18 || p[n] != '.' || (n > 1 && p[0] == '0'))
		return (NULL);
	*value = strtoull(p, NULL, 10);
	return (p + n + 1);
}

int
seal_read(struct seal *s, const char *id, const char *who, uint64_t now)
{
	char mark[MARK_HEX + 1];
	const char *p = id;
	uint64_t version;
	size_t n;

	if (strlen(id) >= SEAL_ID_SIZE || strncmp(p, "m1.", 3) != 0)
		return (-1);
	p += 3;
	n = strspn(p, letters);
	if (n != SEAL_NAME_SIZE - 1 || p[n] != '.')
		return (-1);
	memcpy(s->name, p, n);
	s->name[n] = '\0';
	p += n + 1;
	if ((p = read_number(p, &version)) == NULL || version > 99 ||
	    (p = read_number(p, &s->expires)) == NULL ||
	    strlen(p) != MARK_HEX)
		return (-1);
	s->version = (unsigned)version;
	make_mark(id, (size_t)(p - 1 - id), who, NULL, mark);
	if (!same_mark(p, mark) || s->expires <= now)
		return (-1);
	return (0);
}

/* ---- states of requests ---- */

void
seal_state_make(const struct seal_state *s, const char *who,
    const uint8_t subject[SEAL_SUBJECT], char state[SEAL_STATE_SIZE])
{
	size_t n;

	n = (size_t)snprintf(state, SEAL_STATE_SIZE, "s1.%s.%u", s->call,
	    s->round);
	state[n] = '.';
	make_mark(state, n, who, subject, state + n + 1);
}

int
seal_state_read(struct seal_state *s, const char *state, const char *who,
    const uint8_t subject[SEAL_SUBJECT])
{
	char mark[MARK_HEX + 1];
	const char *p = state;
	uint64_t round;
	size_t n;

	if (strlen(state) >= SEAL_STATE_SIZE || strncmp(p, "s1.", 3) != 0)
		return (-1);
	p += 3;
	n = strcspn(p, ".");
	if (n >= sizeof(s->call) || p[n] != '.')
		return (-1);
	memcpy(s->call, p, n);
	s->call[n] = '\0';
	if (!id_ok(ID_CALL, s->call))
		return (-1);
	if ((p = read_number(p + n + 1, &round)) == NULL ||
	    round > UINT32_MAX || strlen(p) != MARK_HEX)
		return (-1);
	s->round = (unsigned)round;
	make_mark(state, (size_t)(p - 1 - state), who, subject, mark);
	return (same_mark(p, mark) ? 0 : -1);
}
