/* Identity: the socket's proof, and the lines that match it. */

#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "peer.h"
#include "protocol.h"
#include "without.h"

static int
option_is(int fd, int option, int value)
{
	socklen_t len = sizeof(int);
	int v;

	return (getsockopt(fd, SOL_SOCKET, option, &v, &len) == 0 &&
	    len == sizeof(int) && v == value);
}

/* 1 if the socket is bound to a listener's path of this plane. */
static int
socket_ours(int fd, enum cf_plane plane, const struct slice *s)
{
	struct sockaddr_un sun;
	socklen_t len = sizeof(sun);
	size_t i, n;

	memset(&sun, 0, sizeof(sun));
	if (getsockname(fd, (struct sockaddr *)&sun, &len) == -1 ||
	    sun.sun_family != AF_UNIX || len > sizeof(sun) ||
	    len <= offsetof(struct sockaddr_un, sun_path) ||
	    sun.sun_path[0] == '\0')
		return (0);
	n = strnlen(sun.sun_path,
	    len - offsetof(struct sockaddr_un, sun_path));
	for (i = 0; i < s->nlistens; i++) {
		if (s->listens[i].plane == plane &&
		    strlen(s->listens[i].path) == n &&
		    memcmp(s->listens[i].path, sun.sun_path, n) == 0)
			return (1);
	}
	return (0);
}

int
peer_read(int fd, enum cf_plane plane, const struct slice *s,
    struct peer_ids *ids, const char **why)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	memset(ids, 0, sizeof(*ids));
	if (!option_is(fd, SO_DOMAIN, AF_UNIX) ||
	    !option_is(fd, SO_TYPE, SOCK_STREAM)) {
		*why = "the descriptor is no stream socket of this host";
		return (-1);
	}
	if (!option_is(fd, SO_ACCEPTCONN, 0)) {
		*why = "the descriptor is a listening socket";
		return (-1);
	}
	if (!socket_ours(fd, plane, s) && !WITHOUT(peer_socket)) {
		*why = "the socket was not accepted on this plane's listener";
		return (-1);
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1 ||
	    len != sizeof(cred) || cred.uid == (uid_t)-1) {
		*why = "the kernel does not know the peer";
		return (-1);
	}
	if (cred.uid >= PRINCIPAL_KEYS) {
		*why = "the peer's uid is among the numbers that stand for "
		    "keys here";
		return (-1);
	}
	ids->uid = WITHOUT(peer_credentials) ? 0 : cred.uid;
	ids->gid = cred.gid;
	len = sizeof(ids->groups);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, ids->groups,
	    &len) == -1) {
		*why = errno == ERANGE ? "the peer is in more than 256 groups"
		    : "the kernel does not know the peer's groups";
		return (-1);
	}
	ids->ngroups = len / sizeof(gid_t);
	return (0);
}

int
peer_in_group(const struct peer_ids *ids, gid_t gid)
{
	uint32_t i;

	if (ids->gid == gid)
		return (1);
	for (i = 0; i < ids->ngroups; i++) {
		if (ids->groups[i] == gid)
			return (1);
	}
	return (0);
}

static const struct cf_principal *
key_line(const struct slice *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->nprincipals; i++) {
		if (s->principals[i].who == WHO_KEY &&
		    strcmp(s->principals[i].name, name) == 0)
			return (&s->principals[i]);
	}
	return (NULL);
}

const struct cf_principal *
peer_principal(const struct slice *s, const struct peer_ids *ids)
{
	size_t i;

	if (ids->key[0] != '\0')
		return (key_line(s, ids->key));
	for (i = 0; i < s->nprincipals; i++) {
		if (s->principals[i].who == WHO_USER &&
		    s->principals[i].id == ids->uid)
			return (&s->principals[i]);
	}
	for (i = 0; i < s->nprincipals; i++) {
		if (s->principals[i].who == WHO_GROUP &&
		    peer_in_group(ids, s->principals[i].id))
			return (&s->principals[i]);
	}
	if (WITHOUT(principal_match) && s->nprincipals > 0)
		return (&s->principals[0]);
	return (NULL);
}

unsigned
peer_rights(const struct slice *s, const struct peer_ids *ids, int *known)
{
	unsigned rights = 0;
	size_t i;

	*known = 0;
	if (ids->key[0] != '\0')
		return (0);
	for (i = 0; i < s->noperators; i++) {
		if (s->operators[i].who == WHO_USER &&
		    s->operators[i].id == ids->uid) {
			*known = 1;
			return (s->operators[i].rights);
		}
	}
	for (i = 0; i < s->noperators; i++) {
		if (s->operators[i].who == WHO_GROUP &&
		    peer_in_group(ids, s->operators[i].id)) {
			*known = 1;
			rights |= s->operators[i].rights;
		}
	}
	return (rights);
}

void
peer_who(const struct peer_ids *ids, char *dst, size_t size)
{
	if (ids->key[0] != '\0')
		snprintf(dst, size, "key:%s", ids->key);
	else
		snprintf(dst, size, "uid:%u", (unsigned)ids->uid);
}

void
peer_missing(const struct slice *s, enum cf_plane plane,
    const struct peer_ids *ids, char *dst, size_t size)
{
	const char *line = plane == PLANE_AGENT ? "principal" : "operator";
	const char *group = NULL;
	size_t i;

	if (ids->key[0] != '\0') {
		snprintf(dst, size, "you are key:%s, and no principal line is "
		    "for that key: \"principal key \"%s\" { preset "
		    "\"standard\" }\" in the configuration would be",
		    ids->key, ids->key);
		return;
	}
	for (i = 0; plane == PLANE_AGENT && i < s->nprincipals; i++) {
		if (s->principals[i].who == WHO_GROUP && group == NULL)
			group = s->principals[i].name;
	}
	for (i = 0; plane == PLANE_OPERATOR && i < s->noperators; i++) {
		if (s->operators[i].who == WHO_GROUP && group == NULL)
			group = s->operators[i].name;
	}
	if (group != NULL)
		snprintf(dst, size, "you are uid %u, and no %s line names "
		    "you: join the group \"%s\" and log in again, or add "
		    "\"%s user %u\" to the configuration",
		    (unsigned)ids->uid, line, group, line,
		    (unsigned)ids->uid);
	else
		snprintf(dst, size, "you are uid %u, and no %s line names "
		    "you or a group of yours: add \"%s user %u\" to the "
		    "configuration", (unsigned)ids->uid, line, line,
		    (unsigned)ids->uid);
}
