/*
 * Sessions by a name that apid chose: those of MCP clients, whose own session
 * ids carry it.  A name belongs to the principal that used it first and means
 * nothing to another; once its session has ended it is used up.
 */
#ifndef MYELIN_POLICYD_NAMED_H
#define MYELIN_POLICYD_NAMED_H

#include <stdint.h>
#include <sys/types.h>

#include "imsg.h"

#define SESSION_NAME	24	/* bytes, NUL included */

/*
 * OPEN_NAMED, OPEN_NAMED_RO, END_NAMED, TOOLS_FOR: handlers (arg is the
 * struct api).
 */
int	named_on_open(void *, struct imsg *);
int	named_on_open_ro(void *, struct imsg *);
int	named_on_end(void *, struct imsg *);
int	named_on_tools(void *, struct imsg *);

/* No session of that name from now on, as far back as we remember. */
void	named_over(uid_t, const char *name);
int	named_is_over(uid_t, const char *name);

#endif
