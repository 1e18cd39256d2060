/*
 * Whether a process that is not ready yet is at work, or stands still.
 */
#ifndef MYELIN_WORK_H
#define MYELIN_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * 1 if a child, which has not been reaped, has used the processor since *cpu
 * (ns; 0 at first) was set here, or waits for it or for a disk just now.
 */
bool	work_goes_on(pid_t, uint64_t *cpu);

#endif
