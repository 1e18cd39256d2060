/*
 * SHA-256.
 */
#include <nettle/base16.h>

#include "hash.h"

void
hash_begin(struct hash *hash)
{
	sha256_init(&hash->ctx);
}

void
hash_add(struct hash *hash, const void *bytes, size_t size)
{
	sha256_update(&hash->ctx, size, bytes);
}

void
hash_end(struct hash *hash, struct sha256_text *digest)
{
	uint8_t bytes[SHA256_DIGEST_SIZE];

	sha256_digest(&hash->ctx, sizeof(bytes), bytes);
	base16_encode_update(digest->text, sizeof(bytes), bytes);
	digest->text[DIGEST_TEXT - 1] = '\0';
}
