/*
 * The neurons that have egress: their listeners, which say who asks, their
 * rules, what they may use of the line, and the connections they have open.
 */
#ifndef EGRESSD_NEURON_H
#define EGRESSD_NEURON_H

#include <event2/event_struct.h>
#include <sys/queue.h>
#include <stddef.h>
#include <stdint.h>

#include "dns.h"
#include "hosts.h"
#include "protocol.h"
#include "report.h"
#include "slice.h"

#define LISTENERS	4		/* bits of LISTENER_* */

struct conn;
struct neuron;
struct run;

struct listener {
	struct event	 ev;
	struct neuron	*neuron;
	unsigned	 which;		/* LISTENER_* */
	int		 fd;		/* -1: none */
};

struct running {
	char		 id[NAME_BYTES_MAX];
	int		 writes;	/* a human let it write */
	uint64_t	 bytes;		/* both ways, while it ran */
};

/* Who waits until the neuron may move bytes again. */
struct waiter {
	TAILQ_ENTRY(waiter) entry;
	int		 waits;
	void		(*wake)(void *);
	void		*arg;
};

struct neuron {
	LIST_ENTRY(neuron) entry;
	char		 id[NAME_BYTES_MAX];
	char		 profile[NAME_BYTES_MAX];
	const struct cf_egress *egress;	/* NULL: the profile is gone */
	const struct limits *limits;
	struct listener	 listeners[LISTENERS];
	struct grants	*grants;
	struct names	*names;
	struct cache	*cache;
	TAILQ_HEAD(, conn) conns;
	size_t		 nconns;
	TAILQ_HEAD(, run) runs;		/* EGRESS_RUNs under way */
	struct running	 calls[NEURON_RUNNING_MAX];
	size_t		 ncalls;
	uint64_t	 bytes;		/* of the session */
	uint64_t	 tokens;	/* bytes that may be moved now */
	uint64_t	 filled;	/* ms: when tokens were last added */
	struct event	 refill;
	TAILQ_HEAD(waiters, waiter) waiters;
	struct event	 resume;	/* listeners that were put to rest */
	int		 paused;
	struct denials	 denials;
};

/* From now on these profiles count; NULL: none, as it ends. */
void	neurons_configure(const struct slice *);
struct neuron *neuron_find(const char *id);
/* Finds or makes it; NULL when memory is out. */
struct neuron *neuron_open(const char *id, const char *profile);
/* Its listeners, connections and calls end with it. */
void	neuron_close(struct neuron *);
void	neurons_close(void);
/* Calls fn for each; fn may not close any. */
void	neurons_each(void (*fn)(struct neuron *));

/* Takes fd over as that listener, in the place of one that is there. */
void	neuron_listen(struct neuron *, unsigned which, int fd);
/* No new connection for a moment: there are too many, or policyd is busy. */
void	neuron_pause(struct neuron *, unsigned ms);

void	neuron_call(struct neuron *, const char *call, int begins, int writes);

/*
 * The verdict on a host.  Where once is NULL it only looks.  Else what it
 * stands on is used, so that is asked once for each connection or request, and
 * *once says whether it was a grant that is used up now.
 */
enum refusal neuron_judge(struct neuron *, const struct host *, uint16_t port,
	    const char *method, int *once, struct host_verdict *);

/* Bytes that may be moved now, at most `want`; 0: neuron_wait(). */
size_t	neuron_allowance(struct neuron *, size_t want);
void	neuron_wait(struct neuron *, struct waiter *);
void	neuron_wait_end(struct neuron *, struct waiter *);
/* Bytes that were moved.  -1 if that was one too many, else 0. */
int	neuron_moved(struct neuron *, size_t);
int	neuron_over(const struct neuron *);	/* it has moved too many */

static inline uint64_t
neuron_limit(const struct neuron *n, enum limit l)
{
	return (n->limits->v[l]);
}

#endif
