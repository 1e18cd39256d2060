/*
 * The operator's own notifier: a program that gets one JSON object on standard
 * input.  No shell is involved.  Nothing here waits for it.
 */
#ifndef MYELINCTL_NOTIFY_H
#define MYELINCTL_NOTIFY_H

#include <sys/types.h>
#include <stdint.h>

#define NOTIFY_AT_ONCE	4	/* that run beside each other */
#define NOTIFY_QUEUE	64	/* that wait; more are dropped, and counted */
#define NOTIFY_SECONDS	15	/* then it is killed, and its group */

struct notify {
	char		**argv;		/* NULL: there is none */
	int		 quiet;		/* its output goes nowhere */
	struct {
		pid_t	 pid;		/* 0: none */
		int64_t	 deadline;	/* ms */
	} running[NOTIFY_AT_ONCE];
	char		*queue[NOTIFY_QUEUE];
	unsigned	 queued;
	unsigned	 dropped;
	char		 said[128];	/* of what failed last; the caller's to
					 * clear */
};

/* Takes a copy of text; it is handed over by notify_run. */
void	notify_push(struct notify *, const char *text);
/*
 * Starts what waits, sees what has ended (after SIGCHLD, at any time) and
 * kills what is late.  now: monotonic ms.
 */
void	notify_run(struct notify *, int64_t now);
/* Those that run go on, for NOTIFY_SECONDS at most. */
void	notify_free(struct notify *);

#endif
