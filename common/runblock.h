/*
 * The run block: what init starts.  judged builds it, policyd, neurond and
 * the channel pass it unread, PID 1 of the neuron decodes it inside.
 *
 *	u16 version, u32 flags, S working directory ("" for the default),
 *	u32 argc, S argv..., u32 envc, S "NAME=VALUE"...
 *	with RUNBLOCK_F_BODY: S the arguments, JSON
 *	with RUNBLOCK_F_HOOK: S the program itself, its bytes
 *	with RUNBLOCK_F_PTY: u32 the terminal's size
 *
 * With RUNBLOCK_F_BODY the program is neuron-tool and argv[0] the name of one
 * of its bodies, which is handed the block and reads the arguments itself:
 * PID 1 does not look at them.  With RUNBLOCK_F_HOOK argv[0] is a name, and
 * what is executed, confined like any program, are the bytes in the block.
 * A block has one of the two flags at most.
 */
#ifndef MYELIN_RUNBLOCK_H
#define MYELIN_RUNBLOCK_H

#include <stddef.h>
#include <stdint.h>

#define RUNBLOCK_VERSION	1
#define RUNBLOCK_MAX		(2 * 1024 * 1024)	/* bytes, all told */
/* With a body's arguments: as many as "body", the limit, can ever allow. */
#define RUNBLOCK_BODY_MAX	(258 * 1024 * 1024)
#define RUNBLOCK_ARGS_MAX	4096
#define RUNBLOCK_ENV_MAX	256

#define RUNBLOCK_F_BODY		0x1U
#define RUNBLOCK_F_PTY		0x2U	/* the size of a terminal is there */
#define RUNBLOCK_F_HOOK		0x4U	/* the program is in the block */
#define RUNBLOCK_F_CARRIES	(RUNBLOCK_F_BODY | RUNBLOCK_F_HOOK)
#define RUNBLOCK_FLAGS		(RUNBLOCK_F_CARRIES | RUNBLOCK_F_PTY)

struct runblock {
	uint32_t	 flags;		/* RUNBLOCK_F_* */
	char		*cwd;
	uint32_t	 argc;
	char		**argv;		/* NULL-terminated */
	uint32_t	 envc;
	char		**env;		/* NULL-terminated */
	/* With one of RUNBLOCK_F_CARRIES, else NULL; not terminated by a NUL.
	 * Of a decoded block a view: valid as long as the bytes are. */
	const uint8_t	*args;
	size_t		 args_size;
	uint32_t	 pty;		/* PTY_SIZE, with RUNBLOCK_F_PTY */
};

/* A sealed memfd that holds rb, or -1 with errno (E2BIG: over a bound). */
int	runblock_encode(const struct runblock *rb);

/*
 * Decodes size bytes.  Everything is bounded and checked: argc at least 1 (with
 * a body exactly 1), no NUL inside a string, every environment entry of the
 * form NAME=VALUE, the size of a terminal within its bounds.
 * Returns a block to be freed with runblock_free, or NULL and a reason.
 */
struct runblock *runblock_decode(const uint8_t *, size_t size,
	    const char **why);
void	runblock_free(struct runblock *);

#endif
