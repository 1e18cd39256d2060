/*
 * Hosts: one canonical form, from whatever a client wrote.
 *
 * ASCII goes through no library: what is not a letter, a digit, '-' or '_' is
 * no part of a name, and A-labels stand as they are.  What is not ASCII is
 * mapped by libidn2 once, and what comes out is read like any ASCII name: so
 * dots and digits of full width are what they look like, or refused.
 */
#include <idn2.h>

#include <stdio.h>
#include <string.h>

#include "host.h"

#define LABEL_MAX	63

static int
lower(int c)
{
	return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static int
is_digit(int c)
{
	return (c >= '0' && c <= '9');
}

static int
is_hex(int c)
{
	return (is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f'));
}

static int
is_ascii(const char *p, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if ((unsigned char)p[i] > 0x7f)
			return (0);
	return (1);
}

/*
 * 1 if readers of numbers would take the last label for one: all digits, or
 * 0x and what hexadecimal digits follow.
 */
static int
ends_in_number(const char *p, size_t size)
{
	size_t i;

	if (size > 0 && p[size - 1] == '.')
		size--;
	for (i = size; i > 0 && p[i - 1] != '.'; i--)
		;
	p += i;
	size -= i;
	if (size == 0 || !is_digit((unsigned char)p[0]))
		return (0);
	i = 0;
	if (size >= 2 && p[0] == '0' && lower((unsigned char)p[1]) == 'x') {
		for (i = 2; i < size && is_hex((unsigned char)p[i]); i++)
			;
		return (i == size);
	}
	while (i < size && is_digit((unsigned char)p[i]))
		i++;
	return (i == size);
}

/* One label; its size, or 0 with *why. */
static size_t
read_label(const char *p, size_t size, char *out, const char **why)
{
	size_t n;
	int c;

	for (n = 0; n < size && p[n] != '.'; n++) {
		c = lower((unsigned char)p[n]);
		if (!is_digit(c) && (c < 'a' || c > 'z') && c != '-' &&
		    c != '_') {
			*why = c == '@' ? "a user's name stands before the host"
			    : c == '%' ? "a host's name has no escapes" :
			    "a host's name has letters, digits, '-' and '_'";
			return (0);
		}
		if (n == LABEL_MAX) {
			*why = "a part of the host's name is over 63 bytes";
			return (0);
		}
		out[n] = (char)c;
	}
	if (n == 0)
		*why = "a part of the host's name is empty";
	else if (p[0] == '-' || p[n - 1] == '-') {
		*why = "a part of the host's name begins or ends with '-'";
		return (0);
	}
	return (n);
}

static enum refusal
read_name(const char *p, size_t size, struct host *h, const char **why)
{
	size_t done = 0, n;

	if (size > 0 && p[size - 1] == '.')
		size--;
	if (size == 0 || size > EGRESS_NAME_MAX) {
		*why = size == 0 ? "the host's name is empty" :
		    "the host's name is over 253 bytes";
		return (REFUSE_BAD_HOST);
	}
	for (;;) {
		n = read_label(p + done, size - done, h->name + done, why);
		if (n == 0)
			return (REFUSE_BAD_HOST);
		done += n;
		if (done == size)
			break;
		h->name[done++] = '.';
		if (done == size) {
			*why = "a part of the host's name is empty";
			return (REFUSE_BAD_HOST);
		}
	}
	h->name[size] = '\0';
	return (REFUSE_NOT);
}

/* An ASCII host without brackets; mapped: libidn2 made it. */
static enum refusal
read_ascii(const char *p, size_t size, int mapped, struct host *h,
    const char **why)
{
	if (ends_in_number(p, size)) {
		if (mapped || address_read(p, size, &h->address) == -1 ||
		    h->address.family != AF_INET) {
			*why = "an address is four decimal numbers from 0 to "
			    "255 without leading zeros";
			return (REFUSE_BAD_ADDRESS);
		}
		host_of_address(&h->address, h);
		return (REFUSE_NOT);
	}
	return (read_name(p, size, h, why));
}

static enum refusal
read_unicode(const char *p, size_t size, struct host *h, const char **why)
{
	char text[EGRESS_NAME_MAX + 2], *ascii = NULL;
	enum refusal r;

	if (memchr(p, '\0', size) != NULL) {
		*why = "the host's name holds a NUL";
		return (REFUSE_BAD_HOST);
	}
	memcpy(text, p, size);
	text[size] = '\0';
	if (idn2_to_ascii_8z(text, &ascii, IDN2_NONTRANSITIONAL) != IDN2_OK) {
		*why = "the host's name is no internationalised name";
		return (REFUSE_BAD_HOST);
	}
	r = read_ascii(ascii, strlen(ascii), 1, h, why);
	idn2_free(ascii);
	return (r);
}

static enum refusal
read_brackets(const char *p, size_t size, struct host *h, const char **why)
{
	if (size < 2 || p[size - 1] != ']' ||
	    address_read(p + 1, size - 2, &h->address) == -1 ||
	    h->address.family != AF_INET6) {
		*why = "brackets are for an IPv6 address without a zone";
		return (REFUSE_BAD_ADDRESS);
	}
	host_of_address(&h->address, h);
	return (REFUSE_NOT);
}

enum refusal
host_read(const char *p, size_t size, struct host *h, const char **why)
{
	enum refusal r;

	memset(h, 0, sizeof(*h));
	*why = "";
	/* A name of 253 bytes may have a dot behind it. */
	if (size > EGRESS_NAME_MAX + 1) {
		*why = "the host's name is over 253 bytes";
		return (REFUSE_BAD_HOST);
	}
	if (size > 0 && p[0] == '[')
		r = read_brackets(p, size, h, why);
	else if (is_ascii(p, size))
		r = read_ascii(p, size, 0, h, why);
	else
		r = read_unicode(p, size, h, why);
	if (r != REFUSE_NOT)
		memset(h, 0, sizeof(*h));
	return (r);
}

static int
read_port(const char *p, size_t size, uint16_t *port)
{
	unsigned value = 0;
	size_t i;

	if (size == 0 || size > 5 || p[0] == '0')
		return (-1);
	for (i = 0; i < size; i++) {
		if (!is_digit((unsigned char)p[i]))
			return (-1);
		value = value * 10 + (unsigned)(p[i] - '0');
	}
	if (value > UINT16_MAX)
		return (-1);
	*port = (uint16_t)value;
	return (0);
}

enum refusal
host_port_read(const char *p, size_t size, uint16_t usual, struct host *h,
    uint16_t *port, const char **why)
{
	const char *colon, *end;
	size_t n = size;

	memset(h, 0, sizeof(*h));
	*why = "";
	*port = usual;
	end = size > 0 && p[0] == '[' ? memchr(p, ']', size) : NULL;
	if (end != NULL)
		colon = end + 1 < p + size ? end + 1 : NULL;
	else
		colon = memchr(p, ':', size);
	if (colon != NULL) {
		n = (size_t)(colon - p);
		if (*colon != ':' || read_port(colon + 1, size - n - 1,
		    port) == -1) {
			*why = memchr(p, '@', size) != NULL ?
			    "a user's name stands before the host" :
			    "a port is a number from 1 to 65535";
			return (memchr(p, '@', size) != NULL ?
			    REFUSE_BAD_HOST : REFUSE_BAD_REQUEST);
		}
	} else if (usual == 0) {
		*why = "the port is missing";
		return (REFUSE_BAD_REQUEST);
	}
	return (host_read(p, n, h, why));
}

void
host_of_address(const struct address *a, struct host *h)
{
	struct address copy = *a;

	memset(h, 0, sizeof(*h));
	h->is_address = 1;
	h->address = copy;
	address_text(&copy, h->name);
}

int
host_same(const struct host *a, const struct host *b)
{
	if (a->is_address != b->is_address)
		return (0);
	if (a->is_address)
		return (address_same(&a->address, &b->address));
	return (strcmp(a->name, b->name) == 0);
}

void
host_port_text(const struct host *h, uint16_t port, uint16_t usual,
    char text[HOST_PORT_MAX])
{
	int v6 = h->is_address && h->address.family == AF_INET6;
	char tail[8] = "";

	if (port != usual)
		(void)snprintf(tail, sizeof(tail), ":%u", port);
	(void)snprintf(text, HOST_PORT_MAX, "%s%s%s%s", v6 ? "[" : "",
	    h->name, v6 ? "]" : "", tail);
}
