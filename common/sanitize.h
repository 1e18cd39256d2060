/*
 * The system calls that a build with sanitizers adds to every filter.
 */
#ifndef MYELIN_SANITIZE_H
#define MYELIN_SANITIZE_H

/* Ends with NULL; empty in an ordinary build. */
extern const char *const sanitize_syscalls[];

#endif
