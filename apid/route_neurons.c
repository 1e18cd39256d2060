/*
 * Handlers of the routes of neurons; policyd answers.
 */
#include <string.h>

#include "labels.h"
#include "policy.h"
#include "request.h"
#include "routes.h"

#define PAGE_DEFAULT	100
#define PAGE_MAX	500

void
route_neuron_make(struct conn *c)
{
	struct http_bad bad;
	struct request q;

	if (request_read(&q, REQUEST_NEURON, c->body, c->body_size,
	    conns_limits(), &bad) == -1)
		conn_error(c, bad.code, "%s", bad.why);
	else
		policy_home_make(c, &q);
	request_free(&q);
}

void
route_neuron_get(struct conn *c)
{
	policy_query(c, QUERY_NEURON, 0, 0, c->id, NULL, NULL);
}

void
route_neuron_end(struct conn *c)
{
	policy_end(c, c->id, NULL, NULL);
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	return (c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1);
}

/*
 * What a query has for a name, its percent signs decoded.  -1: too long, or
 * it decodes to no text.
 */
static int
query_decoded(struct conn *c, const char *name, char *dst, size_t size)
{
	char raw[3 * LABEL_SIZE];
	const char *p = raw;
	size_t n = 0;
	int high, low;

	dst[0] = '\0';
	switch (http_query_text(&c->head, name, raw, sizeof(raw))) {
	case 0:
		return (0);
	case -1:
		return (-1);
	}
	while (*p != '\0') {
		if (n + 1 >= size)
			return (-1);
		if (*p != '%') {
			dst[n++] = *p++;
			continue;
		}
		if ((high = hex(p[1])) == -1 || (low = hex(p[2])) == -1 ||
		    high * 16 + low < 0x20)
			return (-1);
		dst[n++] = (char)(high * 16 + low);
		p += 3;
	}
	dst[n] = '\0';
	return (0);
}

void
route_neurons(struct conn *c)
{
	char name[NAME_BYTES_MAX], label[LABEL_SIZE];
	uint64_t cursor = 0, most = PAGE_DEFAULT;

	if (http_query_number(&c->head, "cursor", &cursor) == -1)
		conn_error(c, API_BAD_REQUEST, "cursor: not a number");
	else if (http_query_number(&c->head, "limit", &most) == -1 ||
	    most < 1 || most > PAGE_MAX)
		conn_error(c, API_BAD_REQUEST,
		    "limit: not a number from 1 to %d", PAGE_MAX);
	else if (query_decoded(c, "name", name, sizeof(name)) == -1)
		conn_error(c, API_BAD_REQUEST, "name: not a name");
	else if (query_decoded(c, "label", label, sizeof(label)) == -1)
		conn_error(c, API_BAD_REQUEST,
		    "label: neither KEY nor KEY=VALUE");
	else if (name[0] == '\0' && label[0] == '\0')
		policy_query(c, QUERY_NEURONS, cursor, (uint32_t)most, "",
		    NULL, NULL);
	else
		policy_neurons(c, cursor, (uint32_t)most, name, label);
}
