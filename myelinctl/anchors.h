/*
 * Anchors of the audit log: what the journal says that records had for their
 * hashes.  A log that was written anew from some record on is a whole chain;
 * it is not the one that the anchors name.
 */
#ifndef MYELINCTL_ANCHORS_H
#define MYELINCTL_ANCHORS_H

#include <stddef.h>
#include <stdint.h>

#include "chain.h"
#include "ctl.h"

struct anchor {
	uint64_t	 sequence;
	char		 hash[CHAIN_HASH];
};

struct anchors {
	struct anchor	*v;		/* ascending once they are read */
	size_t		 n;
	size_t		 next;		/* the first that was not met yet */
	size_t		 met;
	char		 why[320];	/* they can't be read */
};

/* What the options name.  0, or -1 and why. */
int	anchors_read(struct anchors *, const struct options *);
void	anchors_free(struct anchors *);

/* After each record: 0, or -1 and the chain's why. */
int	anchors_check(struct anchors *, struct chain *);
/* At the end: -1 if there are anchors behind it. */
int	anchors_end(struct anchors *, struct chain *);

#endif
