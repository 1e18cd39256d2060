/*
 * The terminal of a call: its slave is the program's, its master stays with a
 * relay, a process between it and the call's pipes.
 *
 * The relay is a fork of PID 1 that never executes anything: with F0, Landlock
 * and the ids of all that runs here, not dumpable, in the call's leaf, so that
 * whatever ends the call ends it too.  As a process of its own it can wait for
 * a slow reader without PID 1 waiting, and no byte that a program wrote is in
 * PID 1's memory.
 */
#ifndef MYELIN_INIT_PTY_H
#define MYELIN_INIT_PTY_H

#include <sys/types.h>
#include <stdint.h>

struct pty {
	int	 master;
	int	 slave;
	int	 orders;	/* PID 1's words to the relay */
	int	 said;		/* the relay's end of them */
};

#define PTY_NONE	{ -1, -1, -1, -1 }

/* What PID 1 says.  That the leader is gone it says by closing its end. */
enum pty_order {
	PTY_RESIZE = 1,		/* value: PTY_SIZE */
	PTY_SIGNAL		/* value: to the group in the foreground */
};

/* Makes a terminal of that size and the pipe for orders.  0, or -1 with
 * errno and what was made to be closed. */
int	pty_make(struct pty *, uint32_t size);
/* Closes what is open of it. */
void	pty_close(struct pty *);

/* The child: the terminal becomes fds 0 to 2 and the controlling one. */
int	pty_enter(const struct pty *);

/*
 * Starts the relay in the cgroup leaf.  in is -1 for no input; out is the
 * pipe for all output.  Returns its pid, or -1 with errno.
 */
pid_t	pty_relay(const struct pty *, int in, int out, int leaf);

/* One order to a relay; one that is lost by then has no one to hear it. */
void	pty_order(int orders, enum pty_order, uint32_t value);

#endif
