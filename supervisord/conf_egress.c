/* Filling the slice: what a profile's neurons may reach. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"

static struct cf_profile *
current(struct parser *ps)
{
	struct slice *s = ps->conf->slice;

	return (&s->profiles[s->nprofiles - 1]);
}

void
set_egress(struct parser *ps, struct pos pos)
{
	struct cf_egress *e = &current(ps)->egress;

	if (e->on)
		conf_error(ps, pos, "egress was given already in this "
		    "profile");
	e->on = 1;
	e->transparent = 1;
}

void
set_egress_transparent(struct parser *ps, struct pos pos, const char *word)
{
	struct given *given = &ps->given[ps->conf->slice->nprofiles - 1];

	if (given->transparent)
		conf_error(ps, pos, "transparent was given already in this "
		    "profile");
	given->transparent = true;
	if (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0)
		conf_error(ps, pos, "transparent is yes or no, not \"%s\"",
		    word);
	current(ps)->egress.transparent = strcmp(word, "no") != 0;
}

/* ---- names ---- */

/* Hexadecimal, as inet_aton(3) takes it too: 0x7f, but no 7f. */
static bool
all_digits(const char *label, size_t len)
{
	if (len > 1 && label[0] == '0' && label[1] == 'x')
		return (strspn(label + 2, "0123456789abcdef") >= len - 2);
	return (strspn(label, "0123456789") >= len);
}

/* NULL, or what is wrong with a name in lower case without its last dot. */
static const char *
name_bad(const char *name)
{
	const char *label = name, *end;
	size_t len;

	if (strlen(name) > EGRESS_NAME_MAX)
		return ("it is over 253 bytes");
	for (;; label = end + 1) {
		end = strchrnul(label, '.');
		len = (size_t)(end - label);
		if (len == 0)
			return ("one of its labels is empty");
		if (len > 63)
			return ("one of its labels is over 63 bytes");
		if (strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") <
		    len)
			return ("a name is of letters, digits, - and _; other "
			    "letters are written in their A-labels "
			    "(xn--...)");
		if (label[0] == '-' || label[len - 1] == '-')
			return ("one of its labels begins or ends with -");
		if (*end == '\0')
			break;
	}
	if (all_digits(label, len))
		return ("it ends like an address and is none");
	return (NULL);
}

/* An address in the one form that egressd compares, if it is one. */
static bool
address(const char *text, char out[INET6_ADDRSTRLEN])
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, text, &four) == 1)
		return (inet_ntop(AF_INET, &four, out, INET6_ADDRSTRLEN) !=
		    NULL);
	return (inet_pton(AF_INET6, text, &six) == 1 &&
	    inet_ntop(AF_INET6, &six, out, INET6_ADDRSTRLEN) != NULL);
}

/* The name that a slice has, for the caller to free; NULL after an error. */
static char *
name_of(struct parser *ps, struct pos pos, const char *text, int *suffix)
{
	char numeric[INET6_ADDRSTRLEN];
	const char *why;
	char *name, *p;
	size_t n;

	*suffix = strncmp(text, "*.", 2) == 0;
	if (!*suffix && address(text, numeric))
		return (conf_copy(numeric));
	name = conf_copy(text + (*suffix ? 2 : 0));
	for (p = name; *p != '\0'; p++) {
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	}
	if ((n = strlen(name)) > 1 && name[n - 1] == '.')
		name[n - 1] = '\0';
	why = strchr(name, '*') != NULL ? "a * stands for whole labels, at the "
	    "beginning: *.example.org" : name_bad(name);
	if (why != NULL) {
		conf_error(ps, pos, "host \"%s\": %s", text, why);
		free(name);
		name = NULL;
	}
	return (name);
}

/* ---- a line ---- */

void
set_host_drop(struct parser *ps)
{
	strings_free(&ps->host.methods);
	strings_free(&ps->host_names);
	memset(&ps->host, 0, sizeof(ps->host));
}

void
set_host(struct parser *ps, struct pos pos, bool allow,
    const struct strings *names)
{
	size_t i;

	set_host_drop(ps);
	ps->here = pos;
	ps->host.allow = allow;
	for (i = 0; i < names->n; i++) {
		if (strings_add(&ps->host_names, names->v[i]) == -1)
			fatalx("out of memory");
	}
}

void
set_host_ports(struct parser *ps, struct pos pos, const struct strings *list)
{
	struct cf_host *h = &ps->host;
	uint64_t port;
	size_t i, k;

	if (h->nports > 0) {
		conf_error(ps, pos, "port was given already in this line");
		return;
	}
	if (list->n > EGRESS_PORTS_MAX) {
		conf_error(ps, pos, "%zu ports; the most are %d", list->n,
		    EGRESS_PORTS_MAX);
		return;
	}
	for (i = 0; i < list->n; i++) {
		if (!set_number(list->v[i], 10, 65535, &port) || port == 0) {
			conf_error(ps, pos, "port \"%s\" is outside its "
			    "range, 1 to 65535", list->v[i]);
			continue;
		}
		for (k = 0; k < h->nports && h->ports[k] != port; k++)
			;
		if (k < h->nports)
			conf_error(ps, pos, "port %s was given already in "
			    "this line", list->v[i]);
		else
			h->ports[h->nports++] = (uint16_t)port;
	}
}

void
set_host_methods(struct parser *ps, struct pos pos,
    const struct strings *list)
{
	struct cf_host *h = &ps->host;
	const char *m;
	size_t i;

	if (h->methods.n > 0) {
		conf_error(ps, pos, "method was given already in this line");
		return;
	}
	if (list->n > EGRESS_METHODS_MAX) {
		conf_error(ps, pos, "%zu methods; the most are %d", list->n,
		    EGRESS_METHODS_MAX);
		return;
	}
	for (i = 0; i < list->n; i++) {
		m = list->v[i];
		if (m[0] == '\0' || strlen(m) > EGRESS_METHOD_MAX ||
		    m[strspn(m, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")] != '\0')
			conf_error(ps, pos, "method \"%s\": a method is of "
			    "A-Z and -, at most %d bytes", m,
			    EGRESS_METHOD_MAX);
		else if (strcmp(m, "CONNECT") == 0)
			conf_error(ps, pos, "method \"CONNECT\" is how a "
			    "client asks for a connection; port says which "
			    "it may have");
		else if (strings_has(&h->methods, m))
			conf_error(ps, pos, "method \"%s\" was given already "
			    "in this line", m);
		else if (strings_add(&h->methods, m) == -1)
			fatalx("out of memory");
	}
}

void
set_host_flag(struct parser *ps, struct pos pos, unsigned flag)
{
	const char *word = flag == HOST_F_OPAQUE ? "opaque" : "private";

	if ((ps->host.flags & flag) != 0)
		conf_error(ps, pos, "%s was given already in this line",
		    word);
	else if (!ps->host.allow)
		conf_error(ps, pos, "%s widens what is allowed: it has no "
		    "place behind deny", word);
	ps->host.flags |= flag;
}

static void
add_host(struct parser *ps, char *name, int suffix)
{
	struct cf_egress *e = &current(ps)->egress;
	struct cf_host *h;
	size_t i;

	e->hosts = set_grow(e->hosts, &e->nhosts, sizeof(*h));
	h = &e->hosts[e->nhosts - 1];
	*h = ps->host;
	h->methods = (struct strings){ NULL, 0 };
	set_where(&h->where, ps->here);
	h->name = name;
	h->suffix = suffix;
	for (i = 0; i < ps->host.methods.n; i++) {
		if (strings_add(&h->methods, ps->host.methods.v[i]) == -1)
			fatalx("out of memory");
	}
}

void
set_host_end(struct parser *ps)
{
	struct cf_egress *e = &current(ps)->egress;
	char *name;
	size_t i;
	int suffix;

	for (i = 0; i < ps->host_names.n; i++) {
		if (e->nhosts >= EGRESS_HOSTS_MAX) {
			conf_error(ps, ps->here, "more than %d hosts in one "
			    "profile", EGRESS_HOSTS_MAX);
			break;
		}
		name = name_of(ps, ps->here, ps->host_names.v[i], &suffix);
		if (name != NULL)
			add_host(ps, name, suffix);
	}
	set_host_drop(ps);
}
