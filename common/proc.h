/*
 * How every process of Myelin but supervisord starts and ends: one way.
 *
 * supervisord executes the program with its control channel as fd 3 and, if
 * there is a journal, a datagram socket to it as fd 4.  proc_main then
 *
 *	takes START; calls role->preload (libraries that need files);
 *	drops (proc_drop.c): chroot, groups, gid, uid, capabilities,
 *	no_new_privs, rlimits, close_range, seccomp, and proves each;
 *	hands CONFIG and its files to role->config, answers CONFIG_OK or
 *	CONFIG_BAD, and calls role->commit on COMMIT; so again for each
 *	generation that comes later, answering COMMITTED when it is in force;
 *	hands each new channel end to role->plumb;
 *	says READY once it is committed, every channel in role->channels is
 *	plumbed and role->ready, if there, agrees (proc_check_ready asks again);
 *	runs the event loop until STOP_PROC or the control channel's end, then
 *	calls role->stop and exits 0.
 *
 * Whatever fails before READY ends the process: supervisord has a deadline.
 * With PROC_F_CHECK (myelind -n) the process reads its slice as whoever it
 * is, answers, and exits: no drop but no_new_privs and seccomp.
 */
#ifndef MYELIN_PROC_H
#define MYELIN_PROC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "imsg.h"

#define PROC_CONTROL_FD	3
#define PROC_LOG_FD	4

struct event_base;
struct slice;			/* slice.h */

/*
 * A row of a seccomp table: a system call that is allowed if argument number
 * arg, masked, has the value; whatever the arguments where arg is -1.
 */
struct proc_syscall {
	const char	*name;
	int		 arg;
	uint64_t	 mask;
	uint64_t	 value;
};

#define PROC_ROOT	0x01	/* stays uid 0 with role->caps: neurond */
#define PROC_FILES	0x02	/* may write files: no RLIMIT_FSIZE of 0 */
#define PROC_FORK	0x04	/* may start processes: no RLIMIT_NPROC of 0 */

struct proc_role {
	const char	*name;		/* "policyd" */
	unsigned	 flags;		/* PROC_* */
	unsigned	 channels;	/* CH_*, or'd: plumbed before READY */
	const int	*caps;		/* PROC_ROOT: CAP_* kept, then -1 */
	/* Allowed beyond the table that all share (proc_filter.c); NULL: no
	 * filter, which only PROC_ROOT may say. */
	const struct proc_syscall *syscalls;
	size_t		 nsyscalls;

	/* Before the drop.  0, or -1 after saying why. */
	int	(*preload)(void);
	/*
	 * A new configuration, not in force yet, which the role may keep until
	 * the next one.  Returns 0, or -1 after slice_bad() named file and line.
	 */
	int	(*config)(struct slice *);
	/* The configuration last accepted is in force from now on. */
	void	(*commit)(void);
	/* It never will be: forget it.  The one before stays in force. */
	void	(*abort)(void);
	/* A channel's new end; the role makes the channel and frees the old. */
	void	(*plumb)(enum channel_kind, int fd);
	int	(*ready)(void);		/* may be NULL */
	/* PROCS from supervisord; policyd's alone. */
	void	(*procs)(const char *name, pid_t, uint32_t restarts,
		    unsigned status);
	/* RELOAD from supervisord; policyd's alone. */
	void	(*reload)(uint32_t generation, unsigned result, int news,
		    const char *why);
	void	(*stop)(void);		/* may be NULL */
};

/* Never returns. */
_Noreturn void	proc_main(const struct proc_role *, int argc, char **argv);

/* Of the running process, from START on. */
struct event_base *proc_base(void);
const char *proc_instance(void);
unsigned proc_flags(void);		/* PROC_F_* */
uint32_t proc_nofile(void);

/*
 * The channel of that kind is dead, whichever end closed it: every role says
 * so from its dead callback.  supervisord knows whether the other process died
 * with it; if not, it sees to it that there is a new channel.
 */
void	proc_channel_lost(enum channel_kind);
/* Asks supervisord that all log so from now on, also this process. */
void	proc_log_ask(int verbose);

/* Something that role->ready looks at has changed. */
void	proc_check_ready(void);
/* Ends the loop as STOP_PROC does, with this exit status. */
void	proc_exit(int status);

/* ---- the drop (proc_drop.c, proc_filter.c) ---- */

struct proc_drop {
	const char	*name;
	unsigned	 flags;		/* PROC_* */
	const char	*root;		/* "" for none */
	uid_t		 uid;
	gid_t		 gid;
	uint32_t	 nofile;
	const int	*caps;
	const struct proc_syscall *syscalls;
	size_t		 nsyscalls;
	int		 keep_fd;	/* highest fd that stays open */
};

/* Drops for good and proves it; fatal where anything is missing. */
void	proc_drop(const struct proc_drop *);
/* Its last step alone: the filter of what all share and of these rows. */
void	proc_filter(const struct proc_syscall *, size_t n);

/*
 * Dies with the parent, however stuck: at once, or, with PROC_ROOT, which has
 * to take its neurons down and does so at its control channel's end, after
 * PROC_GRACE seconds.  A change of ids or capabilities undoes it.
 */
#define PROC_GRACE	5
void	proc_die_with_parent(unsigned flags);

/* no_new_privs and the filter alone, for a program run by a person. */
void	proc_confine(const struct proc_syscall *, size_t);

/* Names and pids that a person sees: the kernel's name of this process. */
void	proc_title(const char *);

#endif
