/*
 * Egress in a slice: encoding, decoding, freeing.
 */
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "protocol.h"
#include "slice.h"
#include "without.h"

void
egress_free(struct cf_egress *e)
{
	size_t i;

	for (i = 0; i < e->nhosts; i++) {
		free(e->hosts[i].where.file);
		free(e->hosts[i].name);
		strings_free(&e->hosts[i].methods);
	}
	free(e->hosts);
	e->hosts = NULL;
	e->nhosts = 0;
}

int
egress_allows(const struct cf_egress *e)
{
	size_t i;

	for (i = 0; i < e->nhosts; i++) {
		if (e->hosts[i].allow)
			return (1);
	}
	return (0);
}

unsigned
egress_listeners(const struct cf_egress *e)
{
	if (!e->on)
		return (0);
	if (!e->transparent || WITHOUT(egress_transparent))
		return (LISTENER_PROXY);
	return (LISTENERS_ALL);
}

/* ---- encoding ---- */

static void
put_host(struct enc *e, const struct cf_host *h)
{
	size_t i;

	enc_str(e, h->where.file);
	enc_u32(e, h->where.line);
	enc_u8(e, h->allow != 0);
	enc_u8(e, h->suffix != 0);
	enc_u8(e, (uint8_t)h->flags);
	enc_str(e, h->name);
	enc_u8(e, (uint8_t)h->nports);
	for (i = 0; i < h->nports; i++)
		enc_u16(e, h->ports[i]);
	enc_u8(e, (uint8_t)h->methods.n);
	for (i = 0; i < h->methods.n; i++)
		enc_str(e, h->methods.v[i]);
}

void
egress_put(struct enc *e, const struct cf_egress *eg)
{
	size_t i;

	enc_u8(e, eg->on != 0);
	enc_u8(e, eg->transparent != 0);
	enc_u32(e, (uint32_t)eg->nhosts);
	for (i = 0; i < eg->nhosts; i++)
		put_host(e, &eg->hosts[i]);
}

/* ---- decoding ---- */

static size_t
get_number(struct dec *d, uint32_t n, size_t most)
{
	if (n > most)
		d->error = 1;
	return (d->error ? 0 : n);
}

static void
get_host(struct dec *d, struct cf_host *h)
{
	size_t i, n;
	char *s;

	h->where.file = dec_strdup(d, PATH_BYTES_MAX);
	h->where.line = dec_u32(d);
	h->allow = dec_u8(d) != 0;
	h->suffix = dec_u8(d) != 0;
	h->flags = dec_u8(d);
	if ((h->flags & ~(unsigned)HOST_FLAGS) != 0)
		d->error = 1;
	h->name = dec_strdup(d, EGRESS_NAME_MAX);
	h->nports = get_number(d, dec_u8(d), EGRESS_PORTS_MAX);
	for (i = 0; i < h->nports; i++)
		h->ports[i] = dec_u16(d);
	n = get_number(d, dec_u8(d), EGRESS_METHODS_MAX);
	for (i = 0; i < n && !d->error; i++) {
		if ((s = dec_strdup(d, EGRESS_METHOD_MAX)) == NULL ||
		    strings_add(&h->methods, s) == -1)
			d->error = 1;
		free(s);
	}
}

void
egress_get(struct dec *d, struct cf_egress *e)
{
	size_t i, n;

	e->on = dec_u8(d) != 0;
	e->transparent = dec_u8(d) != 0;
	if ((n = get_number(d, dec_u32(d), EGRESS_HOSTS_MAX)) == 0)
		return;
	if ((e->hosts = calloc(n, sizeof(*e->hosts))) == NULL) {
		d->error = 1;
		return;
	}
	e->nhosts = n;
	for (i = 0; i < n && !d->error; i++)
		get_host(d, &e->hosts[i]);
}
