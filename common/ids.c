/*
 * Typed random ids.
 */
#include <sys/random.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ids.h"

#define ID_CHARS	20

/* Crockford's alphabet in lower case: no i, l, o, u. */
static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

static int
random_bytes(void *dst, size_t size)
{
	ssize_t n;

	do
		n = getrandom(dst, size, 0);
	while (n == -1 && errno == EINTR);
	/* Up to 256 bytes come whole or not at all, getrandom(2). */
	return (n == (ssize_t)size ? 0 : -1);
}

int
id_make(char type, char id[ID_SIZE])
{
	unsigned char r[ID_CHARS];
	size_t i;

	if (random_bytes(r, sizeof(r)) == -1)
		return (-1);
	id[0] = type;
	id[1] = '-';
	for (i = 0; i < ID_CHARS; i++)
		id[2 + i] = alphabet[r[i] & 31];
	id[2 + ID_CHARS] = '\0';
	return (0);
}

int
id_ok(char type, const char *text)
{
	if (text[0] != type || text[1] != '-')
		return (0);
	return (strlen(text) == 2 + ID_CHARS &&
	    strspn(text + 2, alphabet) == ID_CHARS);
}

const char *
request_id(uint64_t number, char id[REQUEST_ID_SIZE])
{
	id[0] = '\0';
	if (number != 0)
		(void)snprintf(id, REQUEST_ID_SIZE, "r-%016llx",
		    (unsigned long long)number);
	return (id);
}

int
request_id_ok(const char *text)
{
	return (strncmp(text, "r-", 2) == 0 &&
	    strlen(text) == REQUEST_ID_SIZE - 1 &&
	    strspn(text + 2, "0123456789abcdef") == REQUEST_ID_SIZE - 3);
}

uint64_t
id_random64(void)
{
	uint64_t v;

	do {
		if (random_bytes(&v, sizeof(v)) == -1)
			return (0);
	} while (v == 0);
	return (v);
}
