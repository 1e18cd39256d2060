/*
 * When a process that died is started again: a rule without a clock of its
 * own, so that it can be tested.
 */
#ifndef MYELIN_RESTART_H
#define MYELIN_RESTART_H

#include <stdint.h>

#define RESTART_DEATHS		5	/* within the window: too many */
#define RESTART_FIRST		100	/* ms; the very first one is at once */
#define RESTART_MOST		5000	/* ms */

struct restart {
	int64_t		deaths[RESTART_DEATHS];	/* ms, the oldest first */
	unsigned	ndeaths;
	int		next;			/* ms */
};

/*
 * A death at now, of a process that had been up since up (-1: never was).
 * All in ms.  Returns how long to wait before it is started again, or -1 when
 * it died too often within the window.
 */
int	restart_died(struct restart *, int64_t now, int64_t up,
	    int64_t window);

/* Milliseconds of a clock that only goes forward. */
int64_t	restart_clock(void);

#endif
