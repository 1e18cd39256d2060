/* Sealing with libcrypto. */

#include <sys/random.h>
#include <sys/types.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sha2.h>

#include "log.h"
#include "seal.h"
#include "util.h"
#include "without.h"

static EVP_CIPHER	*cipher;
static uint8_t		 key[SHA256_DIGEST_LENGTH];
static char		 key_id[SEAL_KEY_ID];

int
seal_preload(void)
{
	/* No configuration file: what it names could not be opened later. */
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1 ||
	    (cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL)) == NULL) {
		log_warnx("libcrypto can not be set up");
		return (-1);
	}
	return (0);
}

/* A key of its own for each use, so that no use gives another one away. */
static void
derive(const char *use, const uint8_t *secret, size_t n, uint8_t *digest)
{
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)use, strlen(use) + 1);
	SHA256Update(&ctx, secret, n);
	SHA256Final(digest, &ctx);
	explicit_bzero(&ctx, sizeof(ctx));
}

int
seal_key(int fd)
{
	uint8_t secret[SEAL_MOST + 1], digest[SHA256_DIGEST_LENGTH];
	char hex[SHA_HEX];
	size_t n = 0;
	ssize_t got;
	int r = -1;

	if (fd == -1)
		return (0);
	do {
		got = read(fd, secret + n, sizeof(secret) - n);
		if (got > 0)
			n += (size_t)got;
	} while (got > 0 || (got == -1 && errno == EINTR));
	close(fd);
	if (got == -1)
		log_warn("the credential myelin-seal");
	else if (n < SEAL_LEAST || n > SEAL_MOST)
		log_warnx("the credential myelin-seal has %zu bytes, not %d "
		    "to %d: it is not used", n, SEAL_LEAST, SEAL_MOST);
	else {
		derive("myelin seal key", secret, n, key);
		derive("myelin seal key id", secret, n, digest);
		hex_sha(digest, hex);
		memcpy(key_id, hex, sizeof(key_id) - 1);
		r = 0;
	}
	explicit_bzero(secret, sizeof(secret));
	return (r);
}

void
seal_forget(void)
{
	explicit_bzero(key, sizeof(key));
	key_id[0] = '\0';
}

const char *
seal_key_id(void)
{
	return (key_id[0] != '\0' ? key_id : NULL);
}

int
seal_close(const char *name, const uint8_t *p, size_t n,
    uint8_t nonce[SEAL_NONCE], uint8_t *out)
{
	EVP_CIPHER_CTX *ctx;
	int len, r = -1;

	if (key_id[0] == '\0' || (ctx = EVP_CIPHER_CTX_new()) == NULL)
		return (-1);
	if (getrandom(nonce, SEAL_NONCE, 0) == SEAL_NONCE &&
	    EVP_EncryptInit_ex2(ctx, cipher, key, nonce, NULL) == 1 &&
	    EVP_EncryptUpdate(ctx, NULL, &len, (const uint8_t *)name,
	    (int)strlen(name)) == 1 &&
	    EVP_EncryptUpdate(ctx, out, &len, p, (int)n) == 1 &&
	    EVP_EncryptFinal_ex(ctx, out + len, &len) == 1 &&
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, SEAL_TAG,
	    out + n) == 1)
		r = 0;
	EVP_CIPHER_CTX_free(ctx);
	return (r);
}

int
seal_open(const char *name, const uint8_t *p, size_t n,
    const uint8_t nonce[SEAL_NONCE], uint8_t *out)
{
	uint8_t tag[SEAL_TAG];
	EVP_CIPHER_CTX *ctx;
	int len, r = -1;

	if (key_id[0] == '\0' || n < SEAL_TAG ||
	    (ctx = EVP_CIPHER_CTX_new()) == NULL)
		return (-1);
	n -= SEAL_TAG;
	memcpy(tag, p + n, sizeof(tag));
	if (EVP_DecryptInit_ex2(ctx, cipher, key, nonce, NULL) == 1 &&
	    EVP_DecryptUpdate(ctx, NULL, &len, (const uint8_t *)name,
	    (int)strlen(name)) == 1 &&
	    EVP_DecryptUpdate(ctx, out, &len, p, (int)n) == 1 &&
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, SEAL_TAG,
	    tag) == 1 && (EVP_DecryptFinal_ex(ctx, out + len, &len) == 1 ||
	    WITHOUT(seal_tag)))
		r = 0;
	EVP_CIPHER_CTX_free(ctx);
	if (r == -1)
		explicit_bzero(out, n);
	return (r);
}
