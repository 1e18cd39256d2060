/*
 * The placeholders of workspaces: one record for each workspace that a neuron
 * has, in STATE/neurons, and the maker's workers who carry it out.
 */
#ifndef MYELIN_NEUROND_PLACE_H
#define MYELIN_NEUROND_PLACE_H

#include <stdint.h>

struct imsg;
struct neuron;
struct place;

/* Once, at the start: what a neurond before us recorded is removed. */
void	places_load(const char *state);
/*
 * The neuron uses its workspace from now on.  dir, of the directory, is taken
 * over.  0, or -1 with errno: there can be no record.
 */
int	place_hold(struct neuron *, int dir);
/*
 * Before its workspace is walked to: puts into the WALK what asks for its
 * placeholders as well, if the place is known that is most likely its own.
 */
void	place_guess(struct neuron *, struct imsg *walk);
/* 1 if that was the place which it now has: neuron_placed() follows. */
int	place_guessed(const struct neuron *);
/* Asks for its placeholders; neuron_placed() follows. */
void	place_ask(struct neuron *);
/* The last neuron of a workspace takes the placeholders away. */
void	place_release(struct place *);
/* The maker is there again, or may have room: what is to go goes. */
void	places_poke(void);
void	places_maker_down(void);
/* No neuron lives and no helper: removes all, in at most ms. */
void	places_stop(unsigned ms);

/* Message handlers. */
int	place_on_placed(void *, struct imsg *);
int	place_on_cleared(void *, struct imsg *);

#endif
