/*
 * Calls: from LAUNCH to ENDED, exactly one each.
 */
#ifndef MYELIN_NEUROND_CALL_H
#define MYELIN_NEUROND_CALL_H

#include <sys/queue.h>
#include <stdint.h>

#include "cgroup.h"
#include "ids.h"

struct event;
struct neuron;

enum call_state {
	CALL_QUEUED,		/* its neuron is not up yet, or no leaf free */
	CALL_SENT,		/* init has it */
	CALL_RUNNING,		/* its program was executed */
	CALL_DRAINING		/* the leader is gone, the leaf not empty */
};

struct call_request {
	char		 neuron[ID_SIZE];
	char		 call[ID_SIZE];
	char		 session[ID_SIZE];
	uint32_t	 timeout;	/* ms */
	int		 block;
	int		 out;
	int		 err;
	int		 in;		/* -1 for none */
};

struct call {
	TAILQ_ENTRY(call) entry;
	struct call_request req;
	struct neuron	*neuron;
	enum call_state	 state;
	uint32_t	 run;
	int		 leaf;		/* -1 before it runs */
	int		 killed;	/* the leaf was */
	unsigned	 cause;		/* enum end_cause: what we did, or 0 */
	unsigned	 flags;		/* ENDED_F_* */
	int		 code;
	int		 sig;
	uint32_t	 leftovers;
	uint64_t	 peak;
	struct cg_counts before;
	struct event	*clock;
	unsigned	 stage;		/* of the clock */
	unsigned	 wait;		/* ms: looks at a leaf that empties */
	unsigned	 waited;
	char		 detail[256];
	/* us */
	uint64_t	 launched;
	uint64_t	 sent;
	uint64_t	 started;
	uint64_t	 exited;
};

/* How a run ended: an exit code, or -1 and a signal; its peak in bytes. */
struct run_end {
	int		 code;
	int		 sig;
	uint64_t	 peak;
};

/* Takes the fds of the request over. */
void	call_launch(struct call_request *);
/* KILL: cause is an enum end_cause. */
void	call_kill(const char *call, unsigned cause);

/* To the program's group, or the one in its terminal's foreground. */
void	call_signal(const char *call, unsigned signal);
/* size: PTY_SIZE.  Nothing for a call without a terminal. */
void	call_resize(const char *call, uint32_t size);

/* The neuron is up: starts what waits. */
void	calls_start(struct neuron *);
/* The neuron ends: all its calls do. */
void	calls_end_all(struct neuron *, int was_up, unsigned gone,
	    const char *why);

/* What init says about a run.  0, or -1 for what can't be. */
int	call_started(struct neuron *, uint32_t run);
int	call_failed(struct neuron *, uint32_t run, unsigned where, int error);
int	call_ended(struct neuron *, uint32_t run, const struct run_end *);
/* Both at once: it ran for us. */
int	call_ran(struct neuron *, uint32_t run, const struct run_end *,
	    uint32_t us);

#endif
