/*
 * What a judging holds; for judged/shell alone.
 */
#ifndef SHELL_JUDGING_INTERNAL_H
#define SHELL_JUDGING_INTERNAL_H

#include <setjmp.h>

#include "shell/judging.h"

struct chunk;
struct results;
struct resolver;

struct judging {
	struct judge_context	 context;
	struct chunk		*chunks;
	size_t			 allocated;
	size_t			 fail_at;	/* a test's bound, or 0 */
	jmp_buf			 caught;
	int			 catches;

	struct finding		 decides;
	struct finding		 exhausted;
	struct finding		 kept;		/* decided before a probe */
	const char		*bounded;	/* a bound that was hit */
	struct finding		*findings;
	size_t			 nfindings;
	size_t			 maxfindings;
	enum effect		 effect;
	uint32_t		 marks;

	uint32_t		 length;	/* of the outermost text */
	size_t			 again;		/* bytes parsed again */
	size_t			 again_over;	/* commands in them, over the
						 * bound of commands ... */
	size_t			 again_bytes;	/* ... and bytes begun then */
	size_t			 braces;	/* words that braces made */
	struct results		*results;	/* free ones of them */
	size_t			 grown;		/* bytes that expansions made */
	uint64_t		 steps;
	unsigned		 commands;
	size_t			 words;	/* of them, long ones as several */
	unsigned		 depth;
	int			 over;		/* the bound of commands */

	struct resolver		*resolver;	/* the innermost shell */
};

/*
 * Calls body; when memory runs out in it, returns all the same, with a
 * finding that asks.
 */
void	judging_guard(struct judging *, void (*)(struct judging *, void *),
	    void *);
/* A finding that asks because a bound was hit; no probe takes it back. */
void	judging_bound(struct judging *, const char *rule,
	    const struct command *);
/* So many words are judged; 0 if the bound of them is passed by that. */
int	judging_words(struct judging *, size_t n);
/* For tests: as if no memory was left beyond so many bytes. */
void	judging_fail_at(struct judging *, size_t bytes);

#endif
