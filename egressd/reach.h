/*
 * The way to a host that was judged: its name is resolved once, every address
 * checked, and one of those dialled.
 */
#ifndef EGRESSD_REACH_H
#define EGRESSD_REACH_H

#include "neuron.h"

struct reach;

/*
 * What came of it.  fd is the caller's, or -1; address is the one that was
 * dialled, or the bad one, or "".
 */
struct reached {
	enum refusal	 why;
	int		 fd;
	char		 address[ADDRESS_TEXT_MAX];
	char		 detail[REFUSAL_DETAIL_MAX];
};

/* Told once, never from inside reach_start(); the reach is gone after it. */
typedef void reach_cb(void *arg, const struct reached *);

/* flags: HOST_F_* of the verdict.  NULL when memory is out. */
struct reach *reach_start(struct neuron *, const struct host *, uint16_t port,
	    unsigned flags, reach_cb *, void *arg);
void	reach_cancel(struct reach *);	/* NULL is fine */

#endif
