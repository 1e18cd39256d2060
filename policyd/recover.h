/*
 * What the process before left behind, found and mended at the start.
 *
 * The database has all calls up to the mark.  Those that were asked or ended
 * after it are found in the audit log, whose records come first; then what is
 * still live is told to have been interrupted.
 */
#ifndef MYELIN_POLICYD_RECOVER_H
#define MYELIN_POLICYD_RECOVER_H

#include <stdint.h>

#include "audit.h"
#include "store.h"

/*
 * After audit_open(), homes_start() and keys_start().  0, or -1 after saying
 * why.
 */
int	recover(const struct audit_mark *, uint64_t live_from);
/*
 * The call of that id if it ended after the mark, or NULL: only its transcript
 * may be on the disk without being in the index.
 */
const struct call_row *recover_ended(const char *id);
/* Forgets those. */
void	recover_done(void);

#endif
