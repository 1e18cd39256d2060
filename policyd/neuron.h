/*
 * Neurons as the broker sees them: a slot within the caps, an id, what it is
 * made from, and whether neurond has said that it stands.
 */
#ifndef MYELIN_POLICYD_NEURON_H
#define MYELIN_POLICYD_NEURON_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/tree.h>

#include "budget.h"
#include "decide.h"
#include "ids.h"

struct call;
struct egress;
struct home;
struct event;
struct session;

enum neuron_state {
	NEURON_NEW,		/* has its slot; neurond knows nothing of it */
	NEURON_MAKING,
	NEURON_UP,
	NEURON_GOING		/* dropped; the slot is held until it is gone */
};

struct neuron {
	RB_ENTRY(neuron) entry;
	TAILQ_ENTRY(neuron) order;
	char		 id[ID_SIZE];
	enum neuron_state state;
	struct ident	*ident;
	struct build	 build;
	int		 no_egress;	/* a hook's */
	struct limits	 limits;	/* of its profile, as it was made */
	struct home	*home;		/* a persistent one's; NULL: none */
	struct session	*session;	/* either of them, or none any more */
	struct call	*call;
	struct egress	*egress;	/* its listeners; NULL: none */
	unsigned	 calls;		/* live in it */
	uint64_t	 layers;	/* what NEURON_UP said */
	uint64_t	 device, inode;	/* of the workspace; both 0: none */
	uint32_t	 made_us;
	uint64_t	 created;	/* no two are the same */
};
TAILQ_HEAD(neuron_list, neuron);

/*
 * A wish for a slot.  fn is told once: granted, or not within neuron-wait,
 * and then which limit it was.
 */
struct neuron_wait {
	TAILQ_ENTRY(neuron_wait) entry;
	struct ident	*ident;
	struct event	*timer;
	int		 waiting;
	void		(*fn)(void *, int granted, const struct refusal *);
	void		*arg;
};

/* Tells fn at once if there is a slot and nobody waits for it before. */
void	neuron_ask(struct neuron_wait *, struct ident *,
	    void (*fn)(void *, int, const struct refusal *), void *);
/* Waits no more; fn is not told. */
void	neuron_unask(struct neuron_wait *);

/*
 * A neuron in the slot that was just granted to this identity; of a home
 * (NULL: none) that has no other.
 */
struct neuron *neuron_new(struct ident *, const struct build *,
	    struct home *);
struct neuron *neuron_find(const char *id);
const struct neuron_list *neuron_all(void);
unsigned neuron_count(void);

/* NEURON_MAKE; -1 and why, where it may not be made or nobody makes it. */
int	neuron_make(struct neuron *, struct refusal *);
/*
 * Nobody needs it any more.  Returns 1 if it is gone only when neurond says
 * so (session_neuron_freed() is told then), 0 if it is gone now.
 */
int	neuron_drop(struct neuron *);
/*
 * A cause of our own beside GONE_*: another neuron has the workspace, which
 * only showed when this one had it as well.
 */
#define GONE_BUSY	(GONE_LOST + 1)
/* What neurond said. */
void	neuron_is_up(struct neuron *, uint64_t layers, uint32_t us);
void	neuron_is_gone(struct neuron *, unsigned cause, const char *why);
/* neurond is gone, and all neurons with it. */
void	neuron_all_lost(void);

#endif
