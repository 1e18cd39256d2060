/* Tokens of API keys: making one, and telling whether one is whole. */
#include <sys/random.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "token.h"

#define PREFIX	(sizeof(TOKEN_PREFIX) - 1)
#define LETTERS	62
#define FAIR	(256 / LETTERS * LETTERS) /* bytes below it: each letter alike */

static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    "abcdefghijklmnopqrstuvwxyz";

static uint32_t
crc32_of(const char *p, size_t n)
{
	uint32_t crc = UINT32_MAX;
	int bit;

	while (n-- > 0) {
		crc ^= (uint8_t)*p++;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return (~crc);
}

/* In the same letters, the last digit first. */
static void
put_check(const char *text, char check[TOKEN_CHECK])
{
	uint32_t crc = crc32_of(text, PREFIX + TOKEN_RANDOM);
	int i;

	for (i = 0; i < TOKEN_CHECK; i++) {
		check[i] = alphabet[crc % LETTERS];
		crc /= LETTERS;
	}
}

int
token_make(char token[TOKEN_SIZE])
{
	uint8_t bytes[64];
	size_t i, n = 0;
	ssize_t got;

	memcpy(token, TOKEN_PREFIX, PREFIX);
	while (n < TOKEN_RANDOM) {
		got = getrandom(bytes, sizeof(bytes), 0);
		if (got == -1 && errno == EINTR)
			continue;
		if (got != (ssize_t)sizeof(bytes))
			return (-1);
		for (i = 0; i < sizeof(bytes) && n < TOKEN_RANDOM; i++)
			if (bytes[i] < FAIR)
				token[PREFIX + n++] =
				    alphabet[bytes[i] % LETTERS];
	}
	explicit_bzero(bytes, sizeof(bytes));
	put_check(token, token + PREFIX + TOKEN_RANDOM);
	token[TOKEN_LENGTH] = '\0';
	return (0);
}

int
token_whole(const char *text, size_t n)
{
	char check[TOKEN_CHECK];
	size_t i;

	if (n != TOKEN_LENGTH || memcmp(text, TOKEN_PREFIX, PREFIX) != 0)
		return (0);
	for (i = PREFIX; i < n; i++)
		if (text[i] == '\0' || strchr(alphabet, text[i]) == NULL)
			return (0);
	put_check(text, check);
	return (memcmp(text + PREFIX + TOKEN_RANDOM, check,
	    sizeof(check)) == 0);
}
