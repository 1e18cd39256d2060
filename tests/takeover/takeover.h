/*
 * What the files of a takeover build share.
 */
#ifndef MYELIN_TAKEOVER_H
#define MYELIN_TAKEOVER_H

#include <stddef.h>

#include "protocol.h"

/* Reads the script of that process and maps the page; nothing if none. */
void	takeover_begin(const char *name);
/* The script's name, "" for none. */
const char *takeover_script(void);
/* What stands behind its name and a blank, or "". */
const char *takeover_extra(void);
void	takeover_say(const char *, ...)
	    __attribute__((__format__(__printf__, 1, 2)));
/* The newest end of that kind, -1 for none. */
int	takeover_channel(enum channel_kind);

/* ---- raw.c: packets as no honest process sends them ---- */

/*
 * Sends one packet: type, size bytes of payload, n copies of fd.  It waits
 * for room.  0, or -1 with errno.
 */
int	raw_send(int sock, unsigned type, const void *payload, size_t size,
	    int fd, unsigned n);
/* The same whose first eight bytes are the caller's, too. */
int	raw_bytes(int sock, const void *, size_t, int fd, unsigned n);
/* Packets one after the other until one can't be sent; how many could. */
unsigned raw_flood(int sock, unsigned type, const void *payload, size_t size,
	    unsigned count);

/* ---- scripts.c ---- */

int	script_known(const char *name);
void	script_run(const char *name);

#endif
