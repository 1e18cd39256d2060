/*
 * One call, seen from PID 1: from the run block to the executed program.
 */
#ifndef MYELIN_INIT_RUN_H
#define MYELIN_INIT_RUN_H

#include <sys/types.h>
#include <stdint.h>

#include "ids.h"
#include "../steps.h"

struct native;

struct run_request {
	char		 neuron[ID_SIZE];
	char		 session[ID_SIZE];
	char		 call[ID_SIZE];
	int		 block;
	int		 out;
	int		 err;
	int		 leaf;
	int		 in;		/* -1: /dev/null */
	int		 egress;	/* a proxy listens in its neuron */
	const char	*apparmor;	/* the profile, or NULL */
	/* Set by run_start: */
	pid_t		 relay;		/* of the call's terminal; 0: none */
	int		 orders;	/* to it, the caller's to close; -1 */
};

struct run_failure {
	uint32_t	 where;		/* enum run_where */
	uint32_t	 error;
};

/*
 * Once: memory that PID 1 and a child share until the child executes, and
 * RULES_FD.  0, or -1 with errno.
 */
int	run_prepare(const struct native *);

/*
 * Starts the program, or a body of neuron-tool.  Returns its pid after it was
 * executed; or -1 and *failure, with nothing left of it.  The workspace (""
 * for none) or else the home is the default directory.
 */
pid_t	run_start(const struct native *, struct run_request *,
	    const char *workspace, struct run_failure *failure);

/*
 * The environment of a call, made from nothing and the block's entries, each
 * of which passes C1 once more.  Returns a vector to be freed with free(3),
 * whose strings live in it and in extra; or NULL with errno, EPERM for an
 * entry that C1 refuses.
 */
char	**run_environment(const struct run_request *, char *const *extra,
	    uint32_t nextra);

/* Kills and reaps the relay of a run that came to nothing. */
void	run_no_relay(struct run_request *);

#endif
