/*
 * Keyed hashes of registered values and of the forms in which they turn up.
 */
#include <sys/types.h>
#include <sha2.h>
#include <stdio.h>

#include "value_hash.h"

#define BLOCK	64	/* of SHA-256 */

uint32_t
value_whole(const struct value_key *key, const uint8_t *p, size_t n)
{
	uint64_t h = key->mix[1] ^ n, x;

	for (; n > 0; p += sizeof(x)) {
		x = 0;
		memcpy(&x, p, n < sizeof(x) ? n : sizeof(x));
		h = (h ^ x) * (key->mix[0] | 1);
		/* The upper half, which mixes more, to the lower. */
		h ^= h >> 32;
		n -= n < sizeof(x) ? n : sizeof(x);
	}
	return ((uint32_t)((h * (key->mix[1] | 1)) >> 40));
}

void
value_mac(const struct value_key *key, const uint8_t *p, size_t n,
    uint8_t mac[VALUE_MAC])
{
	uint8_t pad[BLOCK];
	SHA2_CTX ctx;
	size_t i;

	memset(pad, 0x36, sizeof(pad));
	for (i = 0; i < sizeof(key->mac); i++)
		pad[i] ^= key->mac[i];
	SHA256Init(&ctx);
	SHA256Update(&ctx, pad, sizeof(pad));
	SHA256Update(&ctx, p, n);
	SHA256Final(mac, &ctx);
	for (i = 0; i < sizeof(pad); i++)
		pad[i] ^= 0x36 ^ 0x5c;
	SHA256Init(&ctx);
	SHA256Update(&ctx, pad, sizeof(pad));
	SHA256Update(&ctx, mac, VALUE_MAC);
	SHA256Final(mac, &ctx);
	explicit_bzero(pad, sizeof(pad));
}

void
value_form(const struct value_key *key, const uint8_t *p, size_t n,
    struct value_form *f)
{
	f->length = (uint32_t)n;
	f->first = value_first(key->mix[0], key->mix[1], p);
	f->whole = value_whole(key, p, n);
	value_mac(key, p, n, f->mac);
}

/* ---- forms ---- */

static int
unreserved(uint8_t c)
{
	return ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	    (c >= 'a' && c <= 'z') || (c != '\0' &&
	    strchr("-_.~", c) != NULL));
}

/* RFC 3986, or as forms do it, with "+" for a blank. */
static size_t
url_encode(uint8_t *dst, const uint8_t *p, size_t n, const char *hex,
    int plus)
{
	size_t i, m = 0;

	for (i = 0; i < n; i++) {
		if (unreserved(p[i])) {
			dst[m++] = p[i];
		} else if (plus && p[i] == ' ') {
			dst[m++] = '+';
		} else {
			dst[m++] = '%';
			dst[m++] = (uint8_t)hex[p[i] >> 4];
			dst[m++] = (uint8_t)hex[p[i] & 15];
		}
	}
	return (m);
}

/* As a string in JSON; 0 where it would be longer than a form may be. */
static size_t
json_encode(uint8_t *dst, const uint8_t *p, size_t n)
{
	static const char plain[] = "\"\\\b\f\n\r\t";
	static const char letters[] = "\"\\bfnrt";
	size_t i, m = 0;
	const char *at;

	for (i = 0; i < n; i++) {
		at = p[i] != '\0' ? strchr(plain, p[i]) : NULL;
		if (m + 2 > VALUE_FORM_MOST || (at == NULL && p[i] < ' '))
			return (0);
		if (at != NULL)
			dst[m++] = '\\';
		dst[m++] = at != NULL ? (uint8_t)letters[at - plain] : p[i];
	}
	return (m);
}

/*
 * The letters of base64 that the value alone decides, where `skip` bytes
 * (0 to 2) of something else are encoded before it and more may follow.
 */
static size_t
base64_encode(uint8_t *dst, const uint8_t *p, size_t n, size_t skip,
    int urlsafe)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789";
	size_t bit = skip * 8, first, last, m = 0, i, b;
	unsigned six;

	first = (bit + 5) / 6;
	last = (bit + n * 8) / 6;
	for (i = first; i < last; i++) {
		for (six = 0, b = i * 6 - bit; b < i * 6 - bit + 6; b++)
			six = six << 1 | (p[b / 8] >> (7 - b % 8) & 1U);
		dst[m++] = six < 62 ? (uint8_t)letters[six] : (uint8_t)
		    (six == 62 ? (urlsafe ? '-' : '+') :
		    (urlsafe ? '_' : '/'));
	}
	return (m);
}

static int
add_form(const struct value_key *key, const uint8_t *p, size_t n,
    struct value_form *forms, size_t *count)
{
	size_t i;

	value_form(key, p, n, &forms[*count]);
	for (i = 0; i < *count; i++)
		if (forms[i].length == n && memcmp(forms[i].mac,
		    forms[*count].mac, VALUE_MAC) == 0)
			return (0);
	(*count)++;
	return (1);
}

size_t
value_forms(const struct value_key *key, const uint8_t *p, size_t n,
    struct value_form *forms)
{
	static uint8_t buf[VALUE_FORM_MOST];
	static const char upper[] = "0123456789ABCDEF";
	static const char lower[] = "0123456789abcdef";
	size_t count = 0, skip, m;
	int i;

	add_form(key, p, n, forms, &count);
	if ((m = json_encode(buf, p, n)) > 0)
		add_form(key, buf, m, forms, &count);
	for (i = 0; i < 4; i++)
		add_form(key, buf, url_encode(buf, p, n,
		    i & 1 ? lower : upper, i & 2), forms, &count);
	for (i = 0; i < 2; i++)
		for (skip = 0; skip < 3; skip++)
			add_form(key, buf, base64_encode(buf, p, n, skip, i),
			    forms, &count);
	explicit_bzero(buf, sizeof(buf));
	return (count);
}
