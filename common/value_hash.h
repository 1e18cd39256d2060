/*
 * How a registered value is known without being told: by the keyed hash of
 * its first bytes, which finds places where it may stand, a quick one of all
 * of it, which passes over nearly all that are not it, and its HMAC, which
 * decides.  The keys are random and new with each policyd.
 *
 * The quick ones have 24 bits, so that they say little; the second is of the
 * whole, so that no part of a value can be sought by itself.
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
	uint32_t	 whole;		/* quick hash of it all */
	uint8_t		 mac[VALUE_MAC];
};

/* The window moves byte by byte: it costs a multiplication. */
static inline uint32_t
value_first(uint64_t mix, uint64_t by, const uint8_t *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return ((uint32_t)(((x ^ mix) * (by | 1)) >> 40));
}

uint32_t value_whole(const struct value_key *, const uint8_t *, size_t);
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
