/*
 * A call that egressd carries out, to run.c and run_fetch.c.
 */
#ifndef EGRESSD_RUN_INT_H
#define EGRESSD_RUN_INT_H

#include "buf.h"
#include "run.h"

struct fetching;		/* run_fetch.c */

struct run {
	TAILQ_ENTRY(run) entry;
	struct neuron	*neuron;
	char		 call[NAME_BYTES_MAX];
	unsigned	 what;		/* EGRESS_FETCH ... */
	uint64_t	 most;		/* bytes of output */
	uint64_t	 began;		/* ms */
	int		 out, err;
	struct event	 out_ev, timer;
	struct buf	 text;		/* for out */
	struct fetching	*fetching;
};

/* Each of these ends the run: it is gone. */
void	run_end(struct run *, unsigned cause, int code, const char *detail);
void	run_result(struct run *, const char *json, int failed);
void	run_error(struct run *, const char *code, const char *message,
	    const char *next);

/* Writes what there is of r->text; tells run_fetch_written() when all is. */
void	run_write(struct run *);

void	run_fetch(struct run *, const char *arguments, size_t size);
void	run_fetch_written(struct run *);
void	run_fetch_free(struct run *);

#endif
