/* Loop devices: which of them has a file. */
#ifndef MYELIN_LOOP_H
#define MYELIN_LOOP_H

/*
 * The number of the loop device that has the open file, -1 for none, -2 with
 * errno.  Waits ms for one that is on its way to let it go.  As root: who may
 * not open a device does not see what it has.
 */
int	loop_of(int file, unsigned ms);

#endif
