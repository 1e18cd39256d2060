/*
 * The unified diff of two buffers, line by line, three lines of context.
 *
 * The work is bounded: what begins and ends alike is left aside, the rest is
 * compared by Myers's greedy algorithm, and where that would take too long the
 * rest becomes one change (or, with as many lines on both sides, is compared
 * line with line).  It is a right diff in any case, if not the shortest.
 */
#ifndef MYELIN_TOOL_DIFF_H
#define MYELIN_TOOL_DIFF_H

#include <stddef.h>

#define DIFF_CONTEXT	3	/* lines around a change */

/* Lines a to a + na of the old text became b to b + nb; from 0. */
struct diff_change {
	size_t		 a, na;
	size_t		 b, nb;
};

struct diff {
	struct diff_change *change;
	size_t		 n;
	size_t		 from;		/* bytes alike at the begin */
	size_t		 line;		/* lines in them, all whole */
};

struct diff_text {
	char		*text;		/* malloc, with a NUL behind */
	size_t		 len;
	int		 cut;		/* whole lines are missing at its end */
};

/*
 * The changes from a to b, in order, none next to another; lines count from
 * the first one after "from".  0, or -1 when memory is out.  Free with
 * diff_free().
 */
int	diff_make(const char *a, size_t na, const char *b, size_t nb,
	    struct diff *);
void	diff_free(struct diff *);

/*
 * The text of it, at most max bytes; empty if there are no changes.  The name
 * of the file (any bytes) goes into the head, quoted where a newline or the
 * like would break it.  0, or -1 when memory is out; free(text).
 */
int	diff_unified(const char *a, size_t na, const char *b, size_t nb,
	    const char *name, size_t namelen, size_t max, struct diff_text *);

#endif
