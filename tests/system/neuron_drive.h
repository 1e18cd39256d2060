/*
 * What the files of neuron_drive share: what was asked for, and what is known.
 */
#ifndef NEURON_DRIVE_H
#define NEURON_DRIVE_H

#include <sys/types.h>
#include <stdint.h>

#include "imsg.h"
#include "limits.h"

extern struct options {
	const char	*build;
	const char	*instance;
	const char	*parent;
	const char	*workspace;
	const char	*cwd;
	const char	*input;
	const char	*env[16];
	uint32_t	 nenv;
	uint32_t	 uid;
	uint32_t	 gid;
	uint32_t	 timeout;
	uint32_t	 start;
	unsigned	 count;
	unsigned	 pause;		/* ms between calls */
	unsigned	 cancel;	/* ms after the start, 0 never */
	int		 stream;
	int		 warm;
	int		 quiet;
	int		 at_once;	/* calls that run together, warm */
	const char	*kill;		/* maker, spawner, neurond */
	const char	*home;		/* id of a neuron whose home stays */
	const char	*state;		/* directory that stays, and its homes */
	int		 kept;		/* the home must be there */
	int		 list;		/* say which homes there are */
	int		 drop;		/* destroy the home, run nothing */
	struct limits	 limits;
	char		**argv;
} opt;

extern struct state {
	pid_t		 neurond;
	struct channel	*control;
	struct channel	*launch;
	int		 ready;
	int		 dead;
	int		 up;
	int		 gone;
	int		 answered;	/* HOMES_ASK, HOME_DROP */
	unsigned	 gone_cause;
	char		 gone_why[1024];
	uint64_t	 layers;
	uint32_t	 up_us;
	unsigned	 started;
	unsigned	 ended;
	unsigned	 failures;
	pid_t		 helper[2];	/* maker, spawner */
	uint32_t	 restarts[2];
	unsigned	 helper_state[2];
	double		*step[5];	/* queue start run end up */
	unsigned	 steps;
	int		 last_code;
	int		 last_sig;
	unsigned	 last_cause;
} st;

/* What neurond says on its two channels goes to st. */
extern const struct channel_ops control_ops, launch_ops;

/* Shows what is known of ends: behind the output of their programs. */
void	show_ends(void);

#endif
