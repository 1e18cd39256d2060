/*
 * The audit log's chain of hashes.
 *
 * A record is one line: a JSON object that begins with "seq" and ends with
 * "prev", the hash of the record before, and "hash": SHA-256 of the line up
 * to `,"hash":`.
 */
#ifndef MYELINCTL_CHAIN_H
#define MYELINCTL_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#define CHAIN_HASH	65	/* 64 hexadecimal digits and NUL */

/* Where the first record that is seen may stand. */
enum chain_start {
	CHAIN_WHOLE,		/* it is the log's first */
	CHAIN_FILES,		/* that, or a file's first: audit.rotated */
	CHAIN_PART		/* anywhere */
};

struct chain {
	enum chain_start from;
	uint64_t	 first;		/* record that was seen, 0 for none */
	char		 before[CHAIN_HASH];	/* its prev */
	uint64_t	 sequence;	/* of the last record, 0 at first */
	char		 hash[CHAIN_HASH];
	char		 why[320];	/* what is wrong, after -1 */
};

/* At the log's first record; for CHAIN_WHOLE. */
void	chain_init(struct chain *);
void	chain_init_from(struct chain *, enum chain_start);
/* To begin in the middle: what the record before had. */
void	chain_start(struct chain *, uint64_t sequence, const char *hash);
/* One record without its newline.  0, or -1 and why. */
int	chain_add(struct chain *, const char *line, size_t len);
/*
 * The mark: the last record that is known to be on disk.  Called after each
 * record.  0, or -1 if this record has the mark's number but not its hash.
 */
int	chain_mark(struct chain *, uint64_t sequence, const char *hash);
/* Puts a file's name before why. */
void	chain_in(struct chain *, const char *file);
/* At the end: 0, or -1 if the records end before the mark. */
int	chain_end(struct chain *, uint64_t sequence);

#endif
