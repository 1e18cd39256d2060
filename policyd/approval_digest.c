/*
 * What an approval is of, as one SHA-256.  A field is its length in eight
 * bytes, least first, and its bytes; what is not there has the length
 * 2^64 - 1.  So no two calls have the same stream of bytes.
 */

#include <string.h>

#include <sha2.h>

#include "approval.h"
#include "without.h"

#define VERSION		"myelin approval 1"
#define VERSION_MEMORY	"myelin approval 1, any limits"

static void
put_u64(SHA2_CTX *sha, uint64_t n)
{
	uint8_t bytes[8];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(n >> (8 * i));
	SHA256Update(sha, bytes, sizeof(bytes));
}

static void
put_bytes(SHA2_CTX *sha, const void *bytes, size_t size)
{
	if (bytes == NULL) {
		put_u64(sha, UINT64_MAX);
		return;
	}
	put_u64(sha, size);
	if (size > 0)
		SHA256Update(sha, bytes, size);
}

static void
put_text(SHA2_CTX *sha, const char *text)
{
	put_bytes(sha, text, strlen(text));
}

static void
put_number(SHA2_CTX *sha, uint64_t n)
{
	put_u64(sha, sizeof(n));
	put_u64(sha, n);
}

void
approval_digest(const struct approval_subject *s, int with_limits,
    uint8_t digest[APPROVAL_DIGEST])
{
	SHA2_CTX sha;
	size_t i;

	SHA256Init(&sha);
	put_text(&sha, with_limits ? VERSION : VERSION_MEMORY);
	put_text(&sha, s->principal);
	put_text(&sha, s->session);
	put_text(&sha, s->neuron);
	put_text(&sha, s->tool);
	put_bytes(&sha, s->declaration, APPROVAL_DIGEST);
	if (!WITHOUT(approval_arguments)) {
		put_bytes(&sha, s->arguments, s->arguments_size);
		put_bytes(&sha, s->run, s->run_size);
	}
	if (!WITHOUT(approval_input))
		put_bytes(&sha, s->input, s->input_size);
	put_number(&sha, s->device);
	put_number(&sha, s->inode);
	if (with_limits) {
		put_number(&sha, s->timeout);
		for (i = 0; i < LIMIT_COUNT; i++) {
			if (limit_of_neuron(i))
				put_number(&sha, s->limits->v[i]);
		}
	}
	SHA256Final(digest, &sha);
}
