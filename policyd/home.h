/*
 * Persistent neurons: what outlives their sessions.  Here is the list, a row
 * of the database each; the homes themselves are neurond's.  A neuron's
 * processes go with the session that uses it, and only its home stays.
 */
#ifndef MYELIN_POLICYD_HOME_H
#define MYELIN_POLICYD_HOME_H

#include <stdint.h>
#include <sys/queue.h>

#include <jansson.h>

#include "api.h"
#include "decide.h"
#include "query.h"
#include "store.h"

struct neuron;

struct home {
	TAILQ_ENTRY(home) entry;	/* newest first */
	struct home_row	 row;
	struct neuron	*neuron;	/* NULL: none lives */
	int		 seen;		/* the last inventory has it */
	int		 lost;		/* it was made, and is not there */
	uint64_t	 bytes;		/* on the disk, as of that */
	int		 dropping;	/* HOME_DROP was sent */
	struct reply_to	 ending;	/* who waits for that */
};
TAILQ_HEAD(home_list, home);

/* Reads them from the database.  0, or -1 after saying why. */
int	homes_start(void);
void	homes_end(void);
/* Once a minute. */
void	homes_chores(void);

const struct home_list *home_all(void);
struct home *home_find(const char *id);
/* A new one, whose row has been written. */
struct home *home_add(const struct home_row *);
/* The time of the day, later than any that it gave before. */
uint64_t home_stamp(void);

/*
 * The one of an id, if it is this principal's and a neuron can be made for
 * it; or NULL and a refusal.
 */
struct home *home_ready(const char *id, const struct ident *,
	    struct refusal *);
/* What it was made from, for decide_build(). */
void	home_wanted(const struct home *, struct wanted *);
/* MAKE_F_PERSISTENT, and whether its home must be there; NULL: neither. */
uint32_t home_make_flags(const struct home *);
/* It has a neuron, which has come up, or is gone. */
void	home_taken(struct home *, struct neuron *);
void	home_up(struct home *);
void	home_down(struct home *);
/* A process before was used by a session to its end. */
void	home_was_used(const char *id);

/* neurond is there, and is asked which homes there are; or it is gone. */
void	homes_launch_up(void);
void	homes_launch_lost(void);
/* HOME, HOMES_END, HOME_DROPPED. */
int	home_on_home(void *, struct imsg *);
int	home_on_end(void *, struct imsg *);
int	home_on_dropped(void *, struct imsg *);

/*
 * Destroys it and all it holds, and answers when it is gone (to may be NULL).
 * by: who, or NULL.
 */
void	home_destroy(struct home *, const char *reason, const char *by,
	    const struct reply_to *to);
/* DELETE of a neuron by its principal, or (operator) by anybody. */
void	home_end(const struct reply_to *, const struct peer *, const char *id,
	    int operator);
/* HOME_MAKE, NEURONS_FOR. */
int	home_on_make(void *, struct imsg *);
int	home_on_find(void *, struct imsg *);

/* As the API shows it. */
json_t	*home_json(const struct home *);
json_t	*homes_status(void);

#endif
