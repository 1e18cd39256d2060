/*
 * The key of MCP's session ids: made once, kept in the state, and handed to
 * the agent socket's apid alone, which has no file to keep it in.
 */
#ifndef MYELIN_POLICYD_MCPKEY_H
#define MYELIN_POLICYD_MCPKEY_H

#include <stdint.h>

#define MCPKEY_SIZE	32

/*
 * Reads the key beneath a directory, or makes it; dirfd -1: one that nobody
 * keeps.  0, or -1 after saying why.
 */
int	mcpkey_start(int dirfd);
const uint8_t *mcpkey(void);

#endif
