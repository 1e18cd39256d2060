/*
 * Session ids of MCP's handshake era.  They name everything that we would have
 * to remember and carry a mark that only the holder of policyd's key can make,
 * over the principal as well: an id is worth nothing to anybody else, outlives
 * a restart, and costs no memory.
 */
#ifndef APID_SEAL_H
#define APID_SEAL_H

#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_SIZE	32
#define SEAL_NAME_SIZE	21	/* 20 letters and digits, NUL */
#define SEAL_ID_SIZE	128	/* of a whole id, NUL included */

struct seal {
	char		 name[SEAL_NAME_SIZE];	/* of policyd's OPEN_NAMED */
	unsigned	 version;	/* a row of mcp_versions */
	uint64_t	 expires;	/* s of the day clock */
};

void	seal_set_key(const uint8_t[SEAL_KEY_SIZE]);
/* A name that nobody can guess. */
void	seal_name(char[SEAL_NAME_SIZE]);
/* The id of a session of that principal's ("uid:1000"). */
void	seal_make(const struct seal *, const char *who, char[SEAL_ID_SIZE]);
/*
 * Reads an id that somebody sent.  0, or -1: it is none, not this
 * principal's, or over at `now`.
 */
int	seal_read(struct seal *, const char *id, const char *who,
	    uint64_t now);

#endif
