/*
 * ripgrep as a child: confined to reading one root, its output bounded in
 * bytes and time, and this process without exec from then on.
 */
#ifndef MYELIN_TOOL_GREP_RUN_H
#define MYELIN_TOOL_GREP_RUN_H

#include <stddef.h>
#include <stdint.h>

#define RG_PROGRAM	"/usr/bin/rg"
#define RG_ARGS_MAX	48
#define RG_STDERR_MAX	4096		/* bytes kept of its messages */
#define RG_OUTPUT_MAX	((size_t)256 << 20)	/* bytes taken of its output */
#define RG_TIME_MS	45000

struct tool;

enum rg_stop { RG_DONE, RG_STOPPED, RG_LATE, RG_TOO_MUCH };

struct rg_run {
	/* set by the caller */
	const char	*argv[RG_ARGS_MAX];	/* NULL-terminated */
	int		 root;		/* fd: all that it may read */
	int		 dir;		/* to search, or -1 */
	int		 file;		/* its standard input instead, or -1 */
	int64_t		 time_ms;	/* that it may take: RG_TIME_MS */
	/* Takes output; 0, 1 to stop, -1 if it is not understood. */
	int		(*output)(void *, const char *, size_t);
	void		*arg;

	/* set by the run */
	enum rg_stop	 stop;
	int		 status;	/* its exit status; -1: not by itself */
	char		 message[RG_STDERR_MAX + 1];
	size_t		 nmessage;
};

/* Runs it to its end, or until it is stopped.  0, or -1 after tool_fail(). */
int	rg_run(struct tool *, struct rg_run *);

#endif
