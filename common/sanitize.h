/*
 * The system calls that a build with sanitizers adds to every filter.
 */
#ifndef MYELIN_SANITIZE_H
#define MYELIN_SANITIZE_H

/* Ends with NULL; empty in an ordinary build. */
extern const char *const sanitize_syscalls[];

/*
 * Does nothing but bring the options of sanitize.c into a program that has no
 * filter of its own and no leave to be looked at when it ends.
 */
void	sanitize_options(void);

#endif
