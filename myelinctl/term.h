/*
 * The terminal that "shell" runs on: raw while the call does, as it was
 * before at every end, its size passed on when it changes.
 */
#ifndef MYELINCTL_TERM_H
#define MYELINCTL_TERM_H

#include <jansson.h>
#include <poll.h>

#include "conn.h"
#include "escape.h"

struct term {
	const char	*socket;
	char		 target[96];	/* of a resize, once started */
	int		 started;
	struct escape	 escape;
	unsigned short	 rows;		/* that the call has */
	unsigned short	 cols;
	char		 text[64];	/* of the request under way */
	struct conn	 conn;
	int		 connected;
};

/*
 * Looks at standard input and output, and catches signals that would leave the
 * terminal raw.  0, or -1 after a complaint.
 */
int	term_init(struct term *, const char *socket);
/* The member "pty" of the request; NULL when memory is out. */
json_t	*term_member(const struct term *);
/* The call runs: the terminal is its own now. */
void	term_start(struct term *, const char *call);
void	term_free(struct term *);

/* What was typed: for struct feed.  Returns how many bytes of out go on. */
size_t	term_typed(void *, const char *, size_t, char *out);

/* Before and after poll(2); sizes are sent from here. */
void	term_poll(struct term *, struct pollfd *);
void	term_io(struct term *, const struct pollfd *);

#endif
