/* Filling the slice: what clients connect to. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "conf_int.h"
#include "without.h"

#define HOST_BYTES_MAX	255	/* of a name, as apid takes it */

static struct cf_listen *
listen_current(struct parser *ps)
{
	struct slice *s = ps->conf->slice;

	return (s->nlistens == 0 ? NULL : &s->listens[s->nlistens - 1]);
}

static struct cf_listen *
listen_add(struct parser *ps, struct pos pos, enum cf_plane plane,
    const char *path)
{
	struct slice *s = ps->conf->slice;
	struct cf_listen *l;

	s->listens = set_grow(s->listens, &s->nlistens, sizeof(*l));
	l = &s->listens[s->nlistens - 1];
	set_where(&l->where, pos);
	l->plane = plane;
	l->path = conf_copy(path);
	l->gid = (gid_t)-1;
	l->mode = 0660;
	return (l);
}

/* ---- paths ---- */

void
set_listen(struct parser *ps, struct pos pos, enum cf_plane plane,
    const char *path)
{
	struct slice *s = ps->conf->slice;
	size_t i, len = strlen(path);

	for (i = 0; i < s->nlistens; i++) {
		if ((s->listens[i].flags & LISTEN_TCP) != 0)
			continue;
		if (s->listens[i].plane == plane)
			conf_error(ps, pos, "a socket for this was given "
			    "already, at %s:%u", s->listens[i].where.file,
			    s->listens[i].where.line);
		else if (strcmp(s->listens[i].path, path) == 0)
			conf_error(ps, pos, "\"%s\" is the other socket's "
			    "path, at %s:%u", path, s->listens[i].where.file,
			    s->listens[i].where.line);
	}
	if (path[0] != '/')
		conf_error(ps, pos, "listen \"%s\": a Unix socket's absolute "
		    "path is needed, or tcp \"ADDRESS\" port \"NUMBER\" { "
		    "authentication required }", path);
	else if (!path_clean(path) || len == 1)
		conf_error(ps, pos, "listen \"%s\": a path without empty, . "
		    "or .. parts is needed", path);
	else if (len > SOCKET_PATH_MAX)
		conf_error(ps, pos, "listen: a socket path of %zu bytes; the "
		    "most is %d", len, SOCKET_PATH_MAX);
	if (s->nlistens < CONF_ERRORS_MAX)
		(void)listen_add(ps, pos, plane, path);
}

void
set_listen_group(struct parser *ps, struct pos pos, const char *name)
{
	struct cf_listen *l = listen_current(ps);
	gid_t gid;

	if (ps->opts->names->group(name, &gid) == -1)
		conf_error(ps, pos, "there is no group \"%s\"", name);
	else if (l != NULL) {
		l->gid = gid;
		free(l->group);
		l->group = conf_copy(name);
	}
}

void
set_listen_mode(struct parser *ps, struct pos pos, const char *text)
{
	struct cf_listen *l = listen_current(ps);
	uint64_t mode;

	if (!set_number(text, 8, 0777, &mode) || (mode & 0600) != 0600 ||
	    (mode & 0111) != 0)
		conf_error(ps, pos, "mode \"%s\": a socket's mode is octal, "
		    "0600 to 0666, without execute bits", text);
	else if (l != NULL)
		l->mode = (mode_t)mode;
}

/* ---- addresses ---- */

/* 1 for an address of the loopback, 0 for another, -1 for none. */
static int
is_loopback(const char *address)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, address, &four) == 1)
		return (ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET);
	/* One family in the other's clothes is written as what it is. */
	if (inet_pton(AF_INET6, address, &six) != 1 ||
	    IN6_IS_ADDR_V4MAPPED(&six))
		return (-1);
	return (IN6_IS_ADDR_LOOPBACK(&six));
}

/* Whether there is room for one more, and none of the same. */
static void
check_others(struct parser *ps, struct pos pos, const char *address,
    uint64_t port)
{
	const struct slice *s = ps->conf->slice;
	const struct cf_listen *l;
	size_t i, n = 0;

	for (i = 0; i < s->nlistens; i++) {
		l = &s->listens[i];
		if ((l->flags & LISTEN_TCP) == 0)
			continue;
		n++;
		if (l->port == port && strcmp(l->path, address) == 0)
			conf_error(ps, pos, "%s port %u was given already, at "
			    "%s:%u", address, l->port, l->where.file,
			    l->where.line);
	}
	if (n >= LISTENS_MAX - 1)
		conf_error(ps, pos, "more than %d addresses to listen on",
		    LISTENS_MAX - 1);
}

void
set_listen_tcp(struct parser *ps, struct pos pos, enum cf_plane plane,
    const char *address, const char *text)
{
	struct slice *s = ps->conf->slice;
	struct cf_listen *l;
	uint64_t port = 0;

	if (plane == PLANE_OPERATOR)
		conf_error(ps, pos, "listen operator tcp: operators are users "
		    "of this host; their socket is a path");
	if (is_loopback(address) == -1)
		conf_error(ps, pos, "listen tcp \"%s\": a numeric IPv4 or IPv6 "
		    "address is needed", address);
	if (!set_number(text, 10, 65535, &port) || port == 0)
		conf_error(ps, pos, "port \"%s\" is outside its range, 1 to "
		    "65535", text);
	check_others(ps, pos, address, port);
	if (s->nlistens >= CONF_ERRORS_MAX) {
		ps->ended = true;
		return;
	}
	l = listen_add(ps, pos, plane, address);
	l->flags = LISTEN_TCP;
	l->port = (uint32_t)port;
}

void
set_listen_flag(struct parser *ps, struct pos pos, unsigned flag)
{
	struct cf_listen *l = listen_current(ps);

	if (l == NULL)
		return;
	if ((l->flags & flag) != 0)
		conf_error(ps, pos, "%s was given already", flag ==
		    LISTEN_CLEARTEXT ? "cleartext" : (l->flags & LISTEN_TCP) !=
		    0 ? "authentication" : "require token");
	if (flag == LISTEN_TOKEN && l->plane == PLANE_OPERATOR)
		conf_error(ps, pos, "no token is required of operators: they "
		    "are users of this host, and keys have no rights of "
		    "theirs");
	l->flags |= flag;
}

void
set_listen_hosts(struct parser *ps, struct pos pos,
    const struct strings *list)
{
	struct cf_listen *l = listen_current(ps);
	const char *name;
	size_t i;

	for (i = 0; l != NULL && i < list->n; i++) {
		name = list->v[i];
		if (name[0] == '\0' || strlen(name) > HOST_BYTES_MAX ||
		    strspn(name, "abcdefghijklmnopqrstuvwxyz"
		    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") !=
		    strlen(name))
			conf_error(ps, pos, "host \"%s\": a host's name is "
			    "needed, without a port", name);
		else if (strings_has(&l->hosts, name))
			conf_error(ps, pos, "host \"%s\" was given already",
			    name);
		else if (l->hosts.n >= CONF_ENTRIES_MAX)
			conf_error(ps, pos, "more than %d hosts",
			    CONF_ENTRIES_MAX);
		else if (strings_add(&l->hosts, name) == -1)
			fatalx("out of memory");
	}
}

/* Guarantee C8: nothing that others reach, unless they must say who they are. */
void
set_listen_tcp_end(struct parser *ps)
{
	const struct cf_listen *l = listen_current(ps);
	struct pos pos;

	if (l == NULL || WITHOUT(listen_tcp))
		return;
	pos = set_pos(&l->where);
	if ((l->flags & LISTEN_TOKEN) == 0)
		conf_error(ps, pos, "listen tcp \"%s\": TCP needs "
		    "\"authentication required\"", l->path);
	if ((l->flags & LISTEN_CLEARTEXT) == 0 && is_loopback(l->path) == 0)
		conf_error(ps, pos, "listen tcp \"%s\": other hosts may reach "
		    "this address, and tokens and results pass in the clear: "
		    "say \"cleartext\" as well, or listen on the loopback "
		    "behind a proxy that does TLS", l->path);
}
