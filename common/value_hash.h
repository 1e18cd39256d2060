/*
 * How a registered value is known without being told: by the keyed hash of
 * its first bytes, which finds places where it may stand, and the HMAC of all
 * of it, which decides.  The keys are random and new with each policyd.
 *
 * The first hash has 24 bits, so that it says little about those bytes.
 */
#ifndef MYELIN_VALUE_HASH_H
#define MYELIN_VALUE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VALUE_WINDOW	8	/* bytes that the first hash is of */
#define VALUE_MAC	32	/* HMAC-SHA256 */
#define VALUE_LEAST	8	/* bytes of a value */
#define VALUE_MOST	4096
#define VALUES_MOST	256	/* values registered at a time */
#define VALUE_FORMS	12	/* forms of one value at most */
/* Bytes of the longest form: all of it %XX. */
#define VALUE_FORM_MOST	(3 * VALUE_MOST)

struct value_key {
	uint64_t	 mix[2];
	uint8_t		 mac[32];
};

/* A form of a value: in URLs, in base64, as it is. */
struct value_form {
	uint32_t	 length;
	uint32_t	 first;		/* hash of the first VALUE_WINDOW */
	uint8_t		 mac[VALUE_MAC];
};

/* One byte after the other moves the window; it costs a multiplication. */
static inline uint32_t
value_first(const struct value_key *key, const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	x = (x ^ key->mix[0]) * (key->mix[1] | 1);
	/* The lower half of a product mixes less than the upper. */
	x ^= x >> 32;
	return ((uint32_t)((x * (key->mix[0] | 1)) >> 40));
}

void	value_mac(const struct value_key *, const uint8_t *, size_t,
	    uint8_t mac[VALUE_MAC]);
/* Of one form; it is at least VALUE_WINDOW bytes long. */
void	value_form(const struct value_key *, const uint8_t *, size_t,
	    struct value_form *);
/*
 * The forms of a value of VALUE_LEAST to VALUE_MOST bytes.  Returns how many,
 * at most VALUE_FORMS.
 */
size_t	value_forms(const struct value_key *, const uint8_t *, size_t,
	    struct value_form *);

#endif
