/*
 * What MCP's clients keep for us: session ids of the handshake era, and states
 * of requests in the modern one.  They name everything that we would have to
 * remember and carry a mark that only the holder of policyd's key can make,
 * over the principal as well: they are worth nothing to anybody else, outlive
 * a restart, and cost no memory.
 */
#ifndef APID_SEAL_H
#define APID_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "ids.h"

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

/* ---- states of requests ---- */

#define SEAL_SUBJECT	32	/* bytes of a digest of what was asked */
#define SEAL_STATE_SIZE	128	/* of a whole state, NUL included */

struct seal_state {
	char		 call[ID_SIZE];	/* that waits */
	unsigned	 round;		/* of its states: each is good once */
};

/* The state of a call of that principal's, asked for as the digest says. */
void	seal_state_make(const struct seal_state *, const char *who,
	    const uint8_t subject[SEAL_SUBJECT], char[SEAL_STATE_SIZE]);
/*
 * Reads a state that somebody sent.  0, or -1: it is none, not this
 * principal's, or not of this subject.  Whether it was used the caller knows.
 */
int	seal_state_read(struct seal_state *, const char *state,
	    const char *who, const uint8_t subject[SEAL_SUBJECT]);

#endif
