/*
 * Judging a call: bytes in, a verdict and a run block out.  No state.
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
	const char	*class;
	char		 rule[NAME_BYTES_MAX + 16];
	struct why	 reason;
	const char	*next;		/* what the caller could do instead */
	int		 run_fd;	/* the run block, or -1 */
};

/* Where the call would run, and on what. */
struct judge_place {
	const char	*workspace;	/* "" for none */
	int		 streamed;	/* its stdin comes while it runs */
};

/* Always a verdict.  The caller closes run_fd. */
void	judge(const struct tools *, const struct limits *, const char *tool,
	    const struct judge_place *, const uint8_t *, size_t,
	    struct judgement *);

#endif
