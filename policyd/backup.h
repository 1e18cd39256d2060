/*
 * Backups while the service runs: the database is copied to a file beside it,
 * which whoever asked copies with the audit log and the transcripts.  These
 * are longer than the copy knows, never shorter.
 */
#ifndef MYELIN_POLICYD_BACKUP_H
#define MYELIN_POLICYD_BACKUP_H

#include "api.h"

/* What a process before left goes.  dirfd: the state's, -1 for none. */
int	backup_start(int dirfd);
/* An operator who may manage asks; the answer comes when it is whole. */
void	backup_ask(const struct reply_to *, const struct peer *);
/* 1 while somebody may copy files of the audit log: no new one is begun. */
int	backup_copies(void);
void	backup_end(void);

#endif
