/*
 * Fault points: places where a process kills itself, so that a test can see
 * what its death there leaves behind.  Only in builds with --enable-faults;
 * in every other FAULT() is nothing, and a test looks for their names.
 *
 * The test writes a plan to STATE/fault.  neurond maps it, hands it to maker
 * and spawner as fd HELPER_FAULT_FD, and PID 1 and its calls have it by fork:
 * no message and no argument carries it.  Whoever reaches the point that the
 * plan names counts it down, and dies when it gets to 0.
 */
#ifndef MYELIN_FAULT_H
#define MYELIN_FAULT_H

#include "config.h"

#ifdef WITH_FAULTS

#include <stdint.h>

#define FAULT_FILE	"fault"		/* in the state directory */
#define HELPER_FAULT_FD	5

struct fault_plan {
	char	 point[56];		/* "" for none */
	uint32_t left;			/* dies at the one that makes it 0 */
	uint32_t deaths;
};

/* Maps the plan and leaves fd open; without one, nothing ever dies. */
void	fault_map(int fd);
/* Opens or makes the plan below a state directory; -1 if it can't. */
int	fault_open(const char *state);
/* The fd of fault_open, or -1. */
int	fault_fd(void);
void	fault_at(const char *point);
/* A point of many of one kind: "build" and 7 are "build.7". */
void	fault_step(const char *kind, unsigned step);

#define FAULT(point)		fault_at(point)
#define FAULT_STEP(kind, step)	fault_step(kind, step)

#else

#define FAULT(point)		((void)0)
#define FAULT_STEP(kind, step)	((void)0)

#endif

#endif
