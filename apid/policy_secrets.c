/*
 * The channel to policyd: the registered values that are redacted, and the key
 * that what comes back to us is sealed with.
 */
#include <string.h>

#include "policy_internal.h"
#include "seal.h"
#include "values.h"

int
policy_on_seal_key(void *arg, struct imsg *m)
{
	uint8_t key[SEAL_KEY_SIZE];

	(void)arg;
	imsg_get_raw(m, key, sizeof(key));
	if (imsg_end(m) == -1)
		return (-1);
	seal_set_key(key);
	explicit_bzero(key, sizeof(key));
	return (0);
}

int
policy_on_secrets(void *arg, struct imsg *m)
{
	struct value_key key;

	(void)arg;
	key.mix[0] = imsg_get_u64(m);
	key.mix[1] = imsg_get_u64(m);
	imsg_get_raw(m, key.mac, sizeof(key.mac));
	if (imsg_end(m) == -1)
		return (-1);
	values_begin(&key);
	return (0);
}

static uint32_t
le32(const uint8_t *p)
{
	return ((uint32_t)p[0] | (uint32_t)p[1] << 8 |
	    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
}

int
policy_on_secret(void *arg, struct imsg *m)
{
	struct value_form form;
	const uint8_t *p;
	size_t n;

	(void)arg;
	p = imsg_get_bytes(m, &n);
	if (imsg_end(m) == -1 || n % SECRET_FORM_BYTES != 0)
		return (-1);
	for (; n > 0; n -= SECRET_FORM_BYTES, p += SECRET_FORM_BYTES) {
		form.length = le32(p);
		form.first = le32(p + 4);
		form.whole = le32(p + 8);
		memcpy(form.mac, p + 12, sizeof(form.mac));
		if (values_add(&form) == -1)
			return (-1);
	}
	return (0);
}

int
policy_on_secrets_end(void *arg, struct imsg *m)
{
	uint32_t n;

	(void)arg;
	n = imsg_get_u32(m);
	return (imsg_end(m) == -1 ? -1 : values_end(n));
}
