/*
 * What others need of the agent socket's part.
 */
#ifndef MYELIN_POLICYD_AGENT_H
#define MYELIN_POLICYD_AGENT_H

#include <stdint.h>

#include "api.h"
#include "decide.h"

/*
 * Opens a session for whoever has that handle; name: "" for none.  0, and the
 * answer comes when it stands; or -1 and a refusal.
 */
int	agent_open(const struct reply_to *, uint64_t handle,
	    const struct wanted *, uint32_t expires, const char *name,
	    struct refusal *);

#endif
