/*
 * The homes of persistent neurons: STATE/neurons/ID/home.img, and the maker's
 * workers who make, mount and remove them.
 */
#ifndef MYELIN_NEUROND_HOME_H
#define MYELIN_NEUROND_HOME_H

struct imsg;
struct neuron;

/* Once, at the start: what was being made when a neurond before us died. */
void	homes_load(const char *state);
/* Asks the maker for the neuron's home: 0, or -1 if it is gone.
 * home_on_opened() follows. */
int	home_ask(struct neuron *);
/* NULL if a home may have the neuron's limits; else why not. */
const char *home_refused(const struct neuron *);
/* What it has of its home is let go. */
void	home_close(struct neuron *);
/* Removals that were under way are answered as failed. */
void	homes_maker_down(void);

/* Message handlers: of policyd, then of the maker. */
int	home_on_ask(void *, struct imsg *);
int	home_on_drop(void *, struct imsg *);
int	home_on_opened(void *, struct imsg *);
int	home_on_erased(void *, struct imsg *);

#endif
