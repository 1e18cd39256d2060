/*
 * The process: start and end of what its parts share.  Everything here runs
 * without supervisord as well, for the tests.
 */
#ifndef MYELIN_POLICYD_H
#define MYELIN_POLICYD_H

#include <stdint.h>
#include <sys/types.h>

#include "proc.h"
#include "slice.h"

/* The seccomp table beyond what all processes share (seccomp.c). */
extern const struct proc_syscall policyd_syscalls[];
extern const size_t policyd_nsyscalls;

struct event_base *policyd_base(void);
/* Microseconds since policyd_start(). */
uint64_t policyd_uptime(void);

/*
 * Opens the store in a directory ("/" after the chroot), mends what a process
 * before left half done, and starts the timers.  conf_set() was before it.
 * 0, or -1 after saying why.
 */
int	policyd_start(struct event_base *, const char *dir);
/* The same without a directory: everything in memory (fuzz targets). */
int	policyd_start_memory(struct event_base *);
/* Another configuration is in force: recorded. */
void	policyd_reloaded(void);
/* Ends all that runs, says so in the log and syncs. */
void	policyd_stop(void);

/* supervisord's RELOAD (query_status.c). */
void	reload_set(uint32_t generation, unsigned result, int news,
	    const char *why);

/* A row of supervisord's or neurond's processes. */
struct process_row {
	char		 name[32];
	pid_t		 pid;
	uint32_t	 restarts;
	unsigned	 state;		/* PROC_ST_* */
};
#define PROCESSES_MAX	16

void	processes_set(const char *name, pid_t, uint32_t restarts,
	    unsigned state);
const struct process_row *processes_row(size_t n);
/* neurond's neurons that are ready before they are asked for. */
struct pool_row {
	uint32_t	 wanted;
	uint32_t	 ready;
	uint64_t	 hits;		/* requests met by one */
	uint64_t	 misses;	/* that would have been */
};

/* As neurond says, or all zero while there is none. */
void	pool_set(const struct pool_row *);

/* supervisord's pid, where no row said it. */
void	processes_supervisor(pid_t);

#endif
