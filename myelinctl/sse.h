/*
 * Server-sent events, decoded piece by piece.
 */
#ifndef MYELINCTL_SSE_H
#define MYELINCTL_SSE_H

#include <stddef.h>
#include <stdint.h>

#define SSE_EVENT_MAX	(128 * 1024 * 1024)	/* bytes of one event */

struct sse_event {
	const char	*name;		/* "call.output" */
	uint64_t	 id;		/* of the last event that had one */
	char		*data;		/* may be changed; NUL-terminated */
	size_t		 len;
};

/* -1 ends the decoding. */
typedef int sse_fn(void *arg, const struct sse_event *);

struct sse_text {
	char	*p;
	size_t	 len;
	size_t	 room;
};

struct sse {
	struct sse_text	 line;		/* begun, not yet ended */
	struct sse_text	 data;
	char		 name[64];
	uint64_t	 id;
	int		 has_data;
	sse_fn		*fn;
	void		*arg;
};

void	sse_init(struct sse *, sse_fn *, void *arg);
/* 0, or -1 if an event is malformed or too large, or fn said so. */
int	sse_feed(struct sse *, const uint8_t *, size_t);
void	sse_free(struct sse *);

#endif
