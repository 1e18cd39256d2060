/*
 * Where in a value (or a schema) one is: "args.argv[2]".
 */
#ifndef JUDGED_PLACE_H
#define JUDGED_PLACE_H

#include <stddef.h>

#include "why.h"

#define PLACE_ROOM	512

struct place {
	char		 path[PLACE_ROOM];	/* cut where it is longer */
	size_t		 len;
	unsigned	 depth;
	struct why	*why;
};

/* One step down; text is appended as it is. */
void	place_push(struct place *, const char *text);
/* A member: ".name", or ["name"] with escapes where it is not plain. */
void	place_push_name(struct place *, const char *name, size_t nlen);
void	place_push_index(struct place *, size_t index);
/* One step up, to the length the path had. */
void	place_pop(struct place *, size_t len);

#endif
