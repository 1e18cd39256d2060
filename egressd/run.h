/*
 * Calls that egressd itself carries out: fetch, and what request_egress was
 * granted.
 */
#ifndef EGRESSD_RUN_H
#define EGRESSD_RUN_H

#include "neuron.h"

struct run_ask {
	const char	*call;
	uint32_t	 timeout;	/* ms */
	unsigned	 what;		/* EGRESS_FETCH ... */
	uint64_t	 most;		/* bytes of output */
	int		 block;		/* run block */
	int		 out, err;
};

/* Begins it; takes the fds over.  EGRESS_ENDED follows in any case. */
void	run_start(struct neuron *, const struct run_ask *);
/* Ends the call, if it is there, for that cause (END_*). */
void	run_kill(const char *call, unsigned cause);
/* Ends all of the neuron's. */
void	runs_close(struct neuron *);

/* The CA certificates that fetch trusts: a PEM file's bytes, NULL for none. */
void	run_trust(const char *pem, size_t size);
void	run_trust_free(void);

#endif
