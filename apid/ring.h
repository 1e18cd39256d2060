/*
 * The events of a call, in order, for readers that come, go and come back.
 *
 * Ids count from 1 without a hole.  Output that no longer fits goes, oldest
 * first; the few events that are not output stay for good.  A reader that
 * finds a later id than the one it wants has met a gap.
 */
#ifndef APID_RING_H
#define APID_RING_H

#include <stddef.h>
#include <stdint.h>

#include "chunk.h"

#define RING_BYTES	(1024 * 1024)	/* of output and its rows */

enum event_kind {
	EVENT_JUDGED, EVENT_STARTED, EVENT_OUTPUT, EVENT_FINISHED,
	EVENT_ASKING, EVENT_RESOLVED
};

/* "call.judged" ... */
const char *event_name(enum event_kind);

struct event_row {
	uint64_t	 id;		/* within the call */
	uint64_t	 number;	/* within the session */
	uint8_t		 kind;
	/* EVENT_OUTPUT: */
	uint8_t		 stream;
	uint8_t		 base64;
	struct chunk	*chunk;
	uint32_t	 off;
	uint32_t	 len;
	uint32_t	 coded;		/* bytes as text in JSON */
	uint64_t	 seq;		/* bytes of the stream before it */
	/* The others: the whole data, JSON. */
	char		*json;
};

#define RING_PINNED	8

struct ring {
	struct event_row *v;		/* circular */
	size_t		 size;		/* a power of 2, or 0 */
	size_t		 first;
	size_t		 count;
	size_t		 bytes;
	uint64_t	 last_id;
	struct event_row pinned[RING_PINNED];	/* before all in v */
	size_t		 npinned;
};

void	ring_free(struct ring *);
/* Takes over chunk reference and json.  The row, or NULL: memory is out (or
 * too many events that are not output), and both are let go. */
struct event_row *ring_add(struct ring *, const struct event_row *);
/* What one event of len bytes of output costs. */
size_t	ring_cost(uint32_t len);
/* The id of the oldest output, or 0 if there is none. */
uint64_t ring_oldest(struct ring *);
/* Lets the oldest output go. */
void	ring_drop(struct ring *);
/* The first event at or after an id, or a number in the session; or NULL. */
const struct event_row *ring_find(const struct ring *, uint64_t id);
const struct event_row *ring_find_number(const struct ring *, uint64_t);

#endif
