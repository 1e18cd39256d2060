/*
 * The channel to judged: its tools, questions and verdicts.
 */
#ifndef MYELIN_POLICYD_JUDGE_H
#define MYELIN_POLICYD_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "imsg.h"
#include "limits.h"

#define TOOLS_MAX	256

struct call;
struct event_base;

struct tool {
	char		 name[NAME_BYTES_MAX];
	unsigned	 effect;
	uint32_t	 marks;
	int		 asks;
	uint32_t	 timeout;	/* ms; 0: the limit's */
	uint8_t		 digest[32];	/* SHA-256 of the declaration */
	char		 group[NAME_BYTES_MAX];	/* "" for none */
	unsigned	 egress;	/* EGRESS_*; 0: a neuron runs it */
};

/*
 * What judged said of a call, each string cut to what is here.  from and to
 * are bytes of the judged text, both 0 where no part of it decided; where is
 * "FILE:LINE" of an operator's rule, or "".
 */
struct judgement {
	unsigned	 verdict;
	unsigned	 effect;
	uint32_t	 marks;
	uint32_t	 from;
	uint32_t	 to;
	unsigned	 flags;		/* VERDICT_F_* */
	char		 class[64];
	char		 rule[256];
	char		 where[512];
	char		 command[512];
	char		 reason[1024];
	char		 next[1024];
};

extern const struct channel_ops judge_ops;

void	judge_plumb(int fd, struct event_base *);
/* Forgets the channel and its tools; calls being judged wait for the next. */
void	judge_lost(void);
/* 1 once the tools are all there. */
int	judge_up(void);
/* The tool of a name, or NULL; the n-th, or NULL. */
const struct tool *judge_tool(const char *name);
const struct tool *judge_tool_n(size_t n);

/* Asks about a call, by its sequence.  -1 where there is no judged. */
int	judge_ask(struct call *);

#endif
