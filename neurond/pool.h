/*
 * The pool: whole neurons that were built before somebody asked.
 *
 * They are of no principal and have no name until one is taken, which it is
 * once: what served is ended like any other.
 */
#ifndef MYELIN_NEUROND_POOL_H
#define MYELIN_NEUROND_POOL_H

struct limits;
struct neuron;
struct neuron_request;
struct slice;

/* Once, when slots are there. */
void	pool_init(void);
/* 1 if the request was met by one of the pool: its NEURON_UP is sent. */
int	pool_serve(const struct neuron_request *, const struct slice *,
	    const struct limits *);
/* There may be something to make, or to end: later, after the replies. */
void	pool_poke(void);
/* A configuration is in force: what nobody would build any more ends. */
void	pool_reload(void);
/* One is up, or will never be. */
void	pool_is_up(struct neuron *);
void	pool_is_over(struct neuron *);
/* A policyd that is new hears how the pool is. */
void	pool_report(void);

#endif
