/*
 * Who is at the other end of a connection.  apid passes the connected socket;
 * what it says about it is never asked.
 */
#ifndef MYELIN_POLICYD_PEER_H
#define MYELIN_POLICYD_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "slice.h"

/*
 * What the kernel says: the uid, the primary gid and all other groups.  Of a
 * key there is its name; its ids are its number (PRINCIPAL_KEYS).
 */
struct peer_ids {
	uid_t		 uid;
	gid_t		 gid;
	uint32_t	 ngroups;
	gid_t		 groups[GROUPS_MAX];
	char		 key[NAME_BYTES_MAX];	/* "": none */
};

/*
 * Reads the ids of a socket that was accepted by a listener of this plane.
 * Anything else (a socketpair, the listener itself, a connecting end, another
 * plane's socket) would answer with the ids of whoever made it, root perhaps,
 * and is refused.  Returns 0, or -1 and a reason in static storage.
 */
int	peer_read(int fd, enum cf_plane, const struct slice *,
	    struct peer_ids *, const char **why);

/* 1 if the gid is the primary one or among the others. */
int	peer_in_group(const struct peer_ids *, gid_t);

/*
 * The principal line of somebody: of the lines that name the user the first;
 * if there is none, of those that name a group of his the first; a key's is
 * the one of its name.  NULL: none.
 */
const struct cf_principal *peer_principal(const struct slice *,
	    const struct peer_ids *);

/*
 * The rights of an operator: those of the first line that names the user; if
 * there is none, those of all lines that name a group of his together.  *known
 * is set where any line matched, since a line may give no rights.
 */
unsigned peer_rights(const struct slice *, const struct peer_ids *,
	    int *known);

/* "uid:1000" or "key:NAME" */
void	peer_who(const struct peer_ids *, char *dst, size_t size);

/* What would have to be there for him to be let in, in words. */
void	peer_missing(const struct slice *, enum cf_plane,
	    const struct peer_ids *, char *dst, size_t size);

#endif
