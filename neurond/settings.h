/*
 * The configuration in force, as neurond uses it.
 */
#ifndef MYELIN_NEUROND_SETTINGS_H
#define MYELIN_NEUROND_SETTINGS_H

#include <stdint.h>

#include "slice.h"

/* Ids of the block that are not neurons': the daemons' and the homes'. */
#define KUID_FIRST	16
#define HOMES_UID	7
/* Slots beyond the neurons that may live: stock, and some that still die. */
#define SLOTS_STOCK	8
#define SLOTS_DYING	8
/* Neurons that are ready before they are asked for, all profiles together. */
#define SLOTS_POOL	16

/* 0, or -1 after slice_bad().  old is in force or NULL: some things stay. */
int	settings_check(struct slice *, const struct slice *old);
/*
 * Takes the slice over.  The one before is kept for what policyd asked before
 * it had the new one, until settings_forget().
 */
void	settings_set(struct slice *);
void	settings_forget(void);
const struct slice *settings(void);
/* The slice of a generation: the one in force or the one before; or NULL. */
const struct slice *settings_of(uint32_t generation);

/* The limits of a profile, "default" being there always; NULL if unknown. */
const struct limits *settings_profile(const struct slice *,
	    const char *name);
/* 1 if its neurons can't write to their workspaces. */
int	settings_read_only(const struct slice *, const char *name);
/* What they are built from, or NULL. */
const struct cf_trees *settings_trees(const struct slice *, const char *name);
/* 1 if a workspace meets one of its mounts. */
int	settings_shows(const struct slice *, const char *name,
	    const char *workspace);
/* LISTENER_* that its neurons have; 0 for one without egress. */
unsigned settings_listeners(const struct slice *, const char *name);
/*
 * 1 if its neurons have nothing that only some have: they can be made before
 * they are asked for.  no_egress: in spite of its egress.
 */
int	settings_plain(const struct slice *, const char *name, int no_egress);
/* 1 if its neurons are of the strict variant. */
int	settings_strict(const struct slice *, const char *name);
/* As many as the first configuration needs. */
unsigned settings_slots(void);

#endif
