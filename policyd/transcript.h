/*
 * Transcripts: what each call was asked and what came of it, kept on disk.
 *
 * Files in transcripts/ (0700, files 0600), each for BLOCK serials, append
 * only; a transcript is two lines of JSON: policyd's own record of the call,
 * and the bytes that apid sent, which nobody here reads.  state.db has the
 * index.  A transcript is in the file first and in the index then, so that a
 * file may be longer than its index says, but never shorter; transcript_open()
 * takes into it what is of calls that ended after the mark, and cuts the rest.
 */
#ifndef MYELIN_POLICYD_TRANSCRIPT_H
#define MYELIN_POLICYD_TRANSCRIPT_H

#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "codec.h"
#include "store.h"

#define TRANSCRIPT_BLOCK	1000	/* serials of a file */

/*
 * Opens the directory beneath state's, which myelind has made, and brings
 * index and files to agree.  -1 (as dirfd): nothing is kept.  Returns 0, or
 * -1 after saying why.
 */
int	transcript_open(int dirfd);
void	transcript_close(void);

/*
 * Keeps a call's record and the bytes of its transcript (NULL: there are
 * none).  0; or -1 where they can't be written or are not one line.  A row
 * that has a transcript is refused.
 */
int	transcript_store(const struct call_row *, const char *record,
	    const uint8_t *bytes, size_t size);

/*
 * Appends a transcript's two lines.  record: another first line in place of
 * the stored one, or NULL; alone: without the second line's content.  1; or 0
 * if there is none.
 */
int	transcript_read(uint64_t serial, const char *record, int alone,
	    struct enc *);

/* What is kept, all told. */
uint64_t transcript_bytes(void);

/* ---- removing (transcript_prune.c) ---- */

/* Timers; without a base nothing is pruned by itself. */
int	prune_start(struct event_base *);
void	prune_end(void);
/* Once a day those that are too old, and at once what is over the size. */
void	prune_chores(void);
/*
 * An operator's wish: what is older than so many seconds; look: only says
 * what would go.  Answers when it is done.
 */
void	prune_ask(const struct reply_to *, const struct peer *,
	    uint32_t seconds, int look);

/* ---- between the two ---- */

/* Deletes rows in (serial order) and their bytes.  0, or -1. */
int	transcript_remove(const struct transcript_row *, size_t n);

#endif
