/*
 * The audit log: audit.jsonl, one compact JSON object a line, append-only.
 *
 *	{"seq":N,"time":"...","event":"...", ... ,"prev":"H","hash":"H"}
 *
 * hash is the SHA-256 of the line's bytes before ,"hash": and prev the hash
 * of the record before, so that a record that was changed, removed or moved
 * shows.  The mark, kept in state.db, is the last record that was synced: the
 * file is synced first and the mark written then, so that the file is never
 * shorter than its mark, unless somebody cut it.
 *
 * Where the file has its size a new one is begun (audit_files.h).  Its first
 * record is audit.rotated, and its prev the hash of the last of the file
 * before: the chain goes on over the files.
 */
#ifndef MYELIN_POLICYD_AUDIT_H
#define MYELIN_POLICYD_AUDIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "text.h"
#include "util.h"

#define AUDIT_LINE_MAX	65536	/* bytes of one record */
#define AUDIT_ROTATED	"audit.rotated"	/* the first of a file but the first */

struct audit_mark {
	uint64_t	 sequence;	/* 0: nothing yet */
	char		 hash[SHA_HEX];	/* of that record; zeros for none */
};

enum audit_verdict {
	AUDIT_WHOLE,		/* the chain holds from the mark to the end */
	AUDIT_CUT,		/* the file ends before the mark */
	AUDIT_CHANGED,		/* the marked record is another one */
	AUDIT_DAMAGED,		/* bytes after the mark are no chain */
	AUDIT_UNMARKED		/* there are records, but no mark */
};

/* What a look at the file found (audit_tail.c). */
struct audit_found {
	enum audit_verdict verdict;
	struct audit_mark head;	/* the chain goes on from here */
	off_t		 good;		/* bytes that belong to the chain */
	off_t		 size;		/* bytes of the file */
	uint64_t	 last;		/* sequence of its last whole record */
};

void	audit_mark_init(struct audit_mark *);
const char *audit_verdict_words(enum audit_verdict);

/* Reads the file from the mark on.  0, or -1 with errno. */
int	audit_examine(int fd, const struct audit_mark *, struct audit_found *);
/* The offset of the record with this sequence or the next one after it;
 * size if there is none, -1 with errno if it can't be read. */
off_t	audit_seek(int fd, off_t size, uint64_t sequence);
/*
 * Reads the line at offset, without its newline, into buf with a NUL.
 * Returns its length; 0 at the end or where no whole line of at most
 * AUDIT_LINE_MAX bytes is; -1 with errno.
 */
ssize_t	audit_line(int fd, off_t offset, char *buf);
/* The sequence at the front of a line, or 0. */
uint64_t audit_line_sequence(const char *line);
/* 1 if a line is the record of this event. */
int	audit_line_is(const char *line, const char *event);
/* 1 if a line is a record of this sequence and predecessor with a right
 * hash, which is copied to mark along with the sequence. */
int	audit_line_check(const char *line, size_t len, uint64_t sequence,
	    const char *prev, struct audit_mark *mark);

/*
 * Takes the file over and continues its chain.  What is after the chain's
 * last good record is moved to the directory's audit.damaged.N first.  Where
 * anything was wrong a record audit.gap says so.  0, or -1 after saying why.
 */
int	audit_open(int fd, int dirfd, const struct audit_mark *);
void	audit_close(void);
/*
 * The records after a mark, in their order, as far as their chain holds; fn
 * returns 0 to go on.  0; or -1 where they can't be read, or fn said so.
 */
int	audit_since(const struct audit_mark *, int (*fn)(void *,
	    const char *line, size_t len), void *);

/*
 * Appends a record to the chain; members is an object (may be NULL) and is
 * consumed.  It is written by audit_flush(), in order, for as long as it
 * takes: what can't be written now is kept.
 */
void	audit_append(const char *event, json_t *members);
/*
 * The same where it is done for every call, without a tree: members are
 * written (text.h) behind those that begin it, and then it is ended.  Nothing
 * else is appended meanwhile.
 */
struct text *audit_begin(const char *event);
void	audit_end(struct text *);
/* One write of all that is pending.  -1: the disk is full or broken. */
int	audit_flush(void);
/* Flushes and syncs; *mark is then the last record on the disk. */
int	audit_sync(struct audit_mark *mark);
/*
 * Begins a new file if this one has that many bytes: after a sync, and once
 * the mark is written.
 */
int	audit_rotate(uint64_t size);	/* 1 if it did */
/*
 * 1 if since the last time there was a record of one who decides or sets
 * something, or of the log itself.
 */
int	audit_weighs(void);

void	audit_head(struct audit_mark *);
/* The number of gaps met since this process started. */
unsigned audit_gaps(void);
/* Lines after a sequence, at most `most`, into a JSON array of strings;
 * *next is the last one's sequence, or 0 where the log ends.  0, or -1. */
int	audit_read(uint64_t after, unsigned most, json_t *lines,
	    uint64_t *next);

#endif
