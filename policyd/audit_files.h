/*
 * The files of the audit log.  audit.jsonl is the one that is written to;
 * audit.N.jsonl are those before it, N being the sequence of the last record
 * in each.  An operator may take old ones away.
 */
#ifndef MYELIN_POLICYD_AUDIT_FILES_H
#define MYELIN_POLICYD_AUDIT_FILES_H

#include <stdint.h>

#include "audit.h"

#define AUDIT_FILE_NAME	48	/* "audit.N.jsonl" and its NUL */

/* Looks what there is; dirfd stays the caller's (-1: none, ever).  0, or -1
 * with errno. */
int	audit_files_open(int dirfd);
void	audit_files_close(void);

/* The name of the file that ends with this record. */
void	audit_files_name(uint64_t last, char name[AUDIT_FILE_NAME]);

/*
 * The old file that has this record or the first one after it, open for
 * reading; *last is its last record.  -1 where only audit.jsonl can.
 */
int	audit_files_find(uint64_t sequence, uint64_t *last);

/* 1 if an old file ends with exactly this record. */
int	audit_files_ends(const struct audit_mark *);

/*
 * Makes what is audit.jsonl an old file, whose last record this is, and a new
 * audit.jsonl.  Returns its fd, or -1 with errno and all as it was.
 */
int	audit_files_next(uint64_t last);

#endif
