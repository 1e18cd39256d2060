/*
 * The key of MCP's session ids: made once, kept in the state, and handed to
 * the agent socket's apid alone, which has no file to keep it in.
 */
#ifndef MYELIN_POLICYD_SEAL_H
#define MYELIN_POLICYD_SEAL_H

#include <stdint.h>

#define SEAL_KEY_SIZE	32

/*
 * Reads the key beneath a directory, or makes it; dirfd -1: one that nobody
 * keeps.  0, or -1 after saying why.
 */
int	seal_start(int dirfd);
const uint8_t *seal_key(void);

#endif
