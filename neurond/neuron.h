/*
 * Neurons, from NEURON_MAKE to the removal of their cgroups.
 */
#ifndef MYELIN_NEUROND_NEURON_H
#define MYELIN_NEUROND_NEURON_H

#include <sys/queue.h>
#include <sys/types.h>
#include <stdint.h>

#include "cgroup.h"
#include "helper.h"
#include "ids.h"
#include "listeners.h"
#include "pool_list.h"
#include "shown.h"
#include "slot.h"
#include "workspace.h"

struct call;
struct channel;
struct event;
struct imsg;
struct place;

enum neuron_state {
	NEURON_WAITING,		/* for a slot, or a helper */
	NEURON_WALKING,		/* the maker looks for its workspace, or
				 * makes its listeners */
	NEURON_BUILDING,	/* the spawner clones, init sets up */
	NEURON_UP_,		/* calls run */
	NEURON_DYING		/* its cgroups are emptied and removed */
};

enum neuron_home {
	HOME_NONE,		/* one of its own that goes with it */
	HOME_OWN,		/* one that stays, made if it is not there */
	HOME_KEPT		/* one that must be there */
};

struct neuron {
	TAILQ_ENTRY(neuron) entry;
	char		 id[ID_SIZE];	/* "": the pool's */
	enum neuron_state state;
	struct pooled	 pooled;
	struct slot	*slot;
	struct limits	 limits;
	struct owner	 owner;
	char		*workspace;	/* "" without one */
	int		 tree;
	int		 read_only;	/* its workspace is */
	struct shown	 shown;
	struct listeners listeners;
	struct place	*place;		/* its workspace's, NULL without one */
	uint32_t	 ticket;	/* of what it asked for its place */
	uint32_t	 guessed;	/* the place asked for with the walk */
	int		 placed;	/* protected names are there */
	int		 mapped;	/* the slot has its workspace's idmap */
	enum neuron_home persistent;
	int		 home;		/* its mount, until init has it */
	int		 home_lock;	/* -1 until it is opened */
	int		 strict;	/* the strict variant */
	uint64_t	 device;
	uint64_t	 inode;
	struct channel	*channel;	/* to its PID 1 */
	int		 pidfd;
	pid_t		 pid;		/* 0: unknown, or reaped */
	uint64_t	 layers;
	int		 built;
	int		 ready;
	int		 was_up;
	uint64_t	 asked;		/* us */
	struct event	*timer;		/* building; then dying */
	unsigned	 wait;		/* ms that are left; then until the timer
					 * comes again */
	unsigned	 cause;		/* enum gone_cause */
	char		*why;
	/* Calls. */
	TAILQ_HEAD(, call) calls;
	unsigned	 ncalls;
	uint32_t	 leaves;	/* bits of those in use */
	struct cg_counts counts;	/* as last read */
	uint64_t	 cpu[NEURON_RUNNING_MAX];	/* of a leaf, so far */
};

struct neuron_request {
	char		 id[ID_SIZE];
	char		 profile[NAME_BYTES_MAX];
	char		 workspace[PATH_BYTES_MAX];
	uint32_t	 generation;	/* of the configuration it counts in */
	uint32_t	 line;		/* index of the principal's line */
	int		 no_egress;	/* though the profile has it */
	enum neuron_home persistent;
	int		 read_only;	/* though the profile says nothing */
	struct owner	 owner;
};

void	neuron_make(const struct neuron_request *);
/* Builds one for the pool, in that slot. */
void	neuron_ahead(const struct cf_profile *, struct slot *);
/*
 * One that is up and nobody's is the request's from now on, as if it had been
 * made for it.  0, or -1: nothing has changed, and it is not to be used.
 */
int	neuron_take(struct neuron *, const struct neuron_request *,
	    const struct limits *);
struct neuron *neuron_find(const char *id);
struct call *neurons_find_call(const char *id);
/* Ends it and its calls; NEURON_GONE follows when nothing is left of it. */
void	neuron_end(struct neuron *, unsigned cause, const char *fmt, ...)
	    __attribute__((__format__(__printf__, 3, 4)));

/* Those that wait for a slot. */
unsigned neurons_waiting(void);
/* 1 while a neuron is on its way up or a call on its way to its program. */
int	neurons_busy(void);
/* There may be something now for those that wait. */
void	neurons_poke(void);
void	neurons_helper_down(enum helper_which);
/* An egressd that is new wants the listeners of all that are up. */
void	neurons_tell_listeners(void);
/* A child was reaped; 1 if it was a PID 1. */
int	neuron_reaped(pid_t);
/* policyd is gone: nothing may run without it. */
void	neurons_end_all(const char *why);

/* The one behind that, or the first for NULL; NULL behind the last. */
struct neuron *neurons_next(struct neuron *);
/* The one in a slot of that generation, or NULL. */
struct neuron *neuron_of_slot(uint32_t slot, uint32_t generation);
/* Asks the maker for its workspace: 0, or -1 if there is no maker. */
int	neuron_walk(struct neuron *);

/*
 * What the maker says of what a neuron asked it for.  nfds come with a result,
 * and none with an error (errno or WALK_REFUSED).  -1 if that can't be right;
 * the neuron is NULL if it was dropped meanwhile.
 */
#define ANY_FDS	(~0U)	/* who takes them counts */
struct maker_says {
	struct neuron	*neuron;
	uint32_t	 error;
	char		 why[TREE_PATH_MAX];
};
int	neuron_answer(struct imsg *, unsigned nfds, struct maker_says *);

/* The maker made what it was asked for: the next step. */
void	neuron_walked_on(struct neuron *);
/* The maker's answer for who asked it with that ticket: errno or
 * WALK_REFUSED. */
void	neuron_placed(const struct place *, uint32_t ticket, uint32_t error,
	    const char *why);
/* Those that wait for this place may ask for theirs now. */
void	neurons_place(const struct place *);

/* Message handlers. */
int	neuron_on_walked(void *, struct imsg *);
int	neuron_on_listening(void *, struct imsg *);
int	neuron_on_built(void *, struct imsg *);

uint64_t now_us(void);

#endif
