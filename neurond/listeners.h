/*
 * The sockets on which egressd hears a neuron.
 *
 * They are made in its network namespace before anything runs in there, and
 * kept for as long as the neuron lives; no process of it ever has one.
 */
#ifndef MYELIN_NEUROND_LISTENERS_H
#define MYELIN_NEUROND_LISTENERS_H

struct imsg;
struct neuron;
struct slot;

#define LISTENERS_MAX	4

struct listeners {
	unsigned	 which;		/* LISTENER_*; 0: no egress */
	unsigned	 n;		/* of fd; 0 until they are there */
	int		 fd[LISTENERS_MAX];	/* in the order of their bits */
};

void	listeners_init(struct listeners *, unsigned which);
void	listeners_close(struct listeners *);

/* Asks the maker: LISTENING is its answer.  0, or -1 if it is gone. */
int	listeners_ask(const struct slot *, unsigned which);
/* What came with LISTENING.  0, or -1 for the wrong number. */
int	listeners_take(struct listeners *, struct imsg *);

/* Sends LISTENER, if the neuron has any. */
void	listeners_tell(const struct neuron *);

#endif
