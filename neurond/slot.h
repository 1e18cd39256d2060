/*
 * Slots: the uids of neurons, and the stock of namespaces and cgroups that
 * are made for them off the path.
 */
#ifndef MYELIN_NEUROND_SLOT_H
#define MYELIN_NEUROND_SLOT_H

#include <sys/types.h>
#include <stdint.h>

#include "cgroup.h"

struct imsg;

enum slot_state {
	SLOT_EMPTY, SLOT_MAKING, SLOT_READY, SLOT_USED,
	SLOT_SPENT		/* nothing runs in it; its cgroups are there */
};

struct slot {
	uint32_t	 n;
	uint32_t	 generation;	/* of the neuron in it: never reused */
	enum slot_state	 state;
	uint32_t	 kuid;
	int		 user_ns;
	int		 net_ns;
	int		 map_ns;	/* for the idmap of a workspace, if it */
	uid_t		 map_uid;	/* is this owner's; -1: none */
	gid_t		 map_gid;
	struct cg_neuron cg;
	struct limits	 limits;	/* as written to cg */
};

/* Once, when the first configuration is in force. */
void	slots_init(struct cg_base *, unsigned n);
struct cg_base *slots_base(void);

/*
 * A ready one, now used; NULL if there is none: neurons_poke() tells.  The
 * caller pokes the stock when its own work is under way.
 */
struct slot *slot_take(void);
/* The same where it leaves enough for who asks. */
struct slot *slot_take_spare(void);
/*
 * The owner that the next workspace is likely to have: stock that is made from
 * now on has a namespace for its idmap.  uid 0: nobody knows.
 */
void	slots_expect(uid_t, gid_t);
/* 1 if the slot has that namespace for this owner. */
int	slot_is_mapped(const struct slot *, uid_t, gid_t);
/* Closes one that its neuron did not want; after some, nobody is expected. */
void	slot_unmap(struct slot *);
/*
 * Nothing runs in it any more.  Its cgroups are removed later, after the
 * replies; then a new generation may be made of it.
 */
void	slot_free(struct slot *);
/* The slot of that number and generation, or NULL. */
struct slot *slot_find(uint32_t n, uint32_t generation);

/* Makes stock if there is less than wanted. */
void	slots_poke(void);
/* How many are ready. */
unsigned slots_ready(void);
/* How many the maker works on. */
unsigned slots_making(void);
void	slots_maker_down(void);
/* Message handler. */
int	slot_on_ns_made(void *, struct imsg *);

#endif
