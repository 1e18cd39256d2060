/*
 * judged as a process, with supervisord and policyd played.
 */
#ifndef JUDGED_RIG_H
#define JUDGED_RIG_H

#include <sys/types.h>
#include <stdint.h>

#include "codec.h"
#include "imsg.h"

#define WAIT		60000	/* ms, for a message */

extern struct judged_rig {
	pid_t		 pid;
	struct channel	*control;
	struct channel	*judge;
	int		 config_ok;
	int		 ready;
	char		 bad[512];
	uint32_t	 bad_line;
	unsigned	 tools;
	int		 ended;
	/* The last verdict. */
	uint64_t	 sequence;
	unsigned	 verdict;
	char		 class[64];
	char		 reason[1200];
	char		 command[64];
	uint32_t	 from, to;
	unsigned	 unresolved;
	int		 run_fd;
	int		 explain_fd;
	uint8_t		 flags;		/* of the next question */
	int		 verdicts;
	int		 judge_dead;
	int		 lost;
} t;

/* judged, before it has a configuration; finish() sees it end well. */
void	start(void);
/* The whole of it: three tools, and a channel that judges. */
void	start_whole(void);
void	finish(void);

void	send_config(const char *const files[], unsigned n);
void	commit(void);
/* A new judge channel. */
void	plumb(void);
/* Reads the channel until a handler sets the flag. */
void	until(struct channel *, const int *flag);
/* One question; the verdict is in t. */
void	ask(uint64_t sequence, const char *tool, const void *bytes,
	    size_t size);

#endif
