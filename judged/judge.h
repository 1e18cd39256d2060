/*
 * Judging a call: bytes in, a verdict and a run block out.  No state.
 *
 * from and to are bytes of the judged text (both 0: no part of it decided),
 * command the words of what decided there, as far as they are known.
 */
#ifndef JUDGED_JUDGE_H
#define JUDGED_JUDGE_H

#include <stddef.h>
#include <stdint.h>

#include "limits.h"
#include "tool.h"
#include "why.h"

struct judgement {
	unsigned	 verdict;	/* enum verdict */
	unsigned	 effect;
	uint32_t	 marks;
	uint32_t	 from;
	uint32_t	 to;
	unsigned	 flags;		/* VERDICT_F_* */
	const char	*class;
	char		 rule[256];
	char		 where[512];	/* "FILE:LINE" of a rule, or "" */
	char		 command[1024];
	struct why	 reason;
	const char	*next;		/* what the caller could do instead */
	int		 run_fd;	/* the run block, or -1 */
	int		 explain_fd;	/* protocol.h's explanation, or -1 */
};

/* Where the call would run, on what, whose it is and what JUDGE says of it. */
struct judge_place {
	const char	*workspace;	/* "" for none */
	const char	*principal;	/* "uid:1000" */
	const char	*rules;		/* the session's, JSON; "" for none */
	int		 streamed;	/* its stdin comes while it runs */
	int		 egress;	/* its neuron has egress */
	int		 grants;	/* request_egress can grant it more */
	int		 explain;	/* also what is not asked about */
};

/* Always a verdict.  The caller closes run_fd and explain_fd. */
void	judge(const struct tools *, const struct limits *, const char *tool,
	    const struct judge_place *, const uint8_t *, size_t,
	    struct judgement *);

#endif
