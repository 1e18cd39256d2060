/* When a process that died is started again. */
#include <string.h>
#include <time.h>

#include "restart.h"

int64_t
restart_clock(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000);
}

int
restart_died(struct restart *r, int64_t now, int64_t up, int64_t window)
{
	int wait;

	/* One that ran well for a while starts with a clean record. */
	if (up != -1 && now - up >= window) {
		r->next = 0;
		r->ndeaths = 0;
	}
	if (r->ndeaths == RESTART_DEATHS) {
		memmove(&r->deaths[0], &r->deaths[1],
		    sizeof(r->deaths) - sizeof(r->deaths[0]));
		r->ndeaths--;
	}
	r->deaths[r->ndeaths++] = now;
	if (r->ndeaths == RESTART_DEATHS && now - r->deaths[0] < window)
		return (-1);
	wait = r->next;
	r->next = wait == 0 ? RESTART_FIRST : wait * 2;
	if (r->next > RESTART_MOST)
		r->next = RESTART_MOST;
	return (wait);
}
