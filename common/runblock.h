/*
 * The run block: what init starts.  judged builds it, policyd, neurond and
 * the channel pass it unread, PID 1 of the neuron decodes it inside.
 *
 *	u16 version, u32 flags, S working directory ("" for the default),
 *	u32 argc, S argv..., u32 envc, S "NAME=VALUE"...[, u32 terminal]
 */
#ifndef MYELIN_RUNBLOCK_H
#define MYELIN_RUNBLOCK_H

#include <stddef.h>
#include <stdint.h>

#define RUNBLOCK_VERSION	1
#define RUNBLOCK_MAX		(2 * 1024 * 1024)	/* bytes, all told */
#define RUNBLOCK_ARGS_MAX	4096
#define RUNBLOCK_ENV_MAX	256

#define RUNBLOCK_F_PTY		0x2	/* the size of a terminal is there */

struct runblock {
	uint32_t	 flags;		/* RUNBLOCK_F_* */
	char		*cwd;
	uint32_t	 argc;
	char		**argv;		/* NULL-terminated */
	uint32_t	 envc;
	char		**env;		/* NULL-terminated */
	uint32_t	 pty;		/* PTY_SIZE, with RUNBLOCK_F_PTY */
};

/* A sealed memfd that holds rb, or -1 with errno (E2BIG: over a bound). */
int	runblock_encode(const struct runblock *rb);

/*
 * Decodes size bytes.  Everything is bounded and checked: argc at least 1,
 * no NUL inside a string, every environment entry of the form NAME=VALUE, the
 * size of a terminal within its bounds.
 * Returns a block to be freed with runblock_free, or NULL and a reason.
 */
struct runblock *runblock_decode(const uint8_t *, size_t size,
	    const char **why);
void	runblock_free(struct runblock *);

#endif
