/*
 * A program to be executed in neurons, as a file that no mount shows and
 * nobody can change.
 */
#ifndef MYELIN_NEUROND_PROGRAM_H
#define MYELIN_NEUROND_PROGRAM_H

#include <stddef.h>

/*
 * A sealed, executable memfd with the bytes of an open file, which stays open;
 * CLOEXEC.  Returns it, or -1 with errno.
 */
int	program_memfd(int file, const char *name);
/* The same of bytes in memory. */
int	program_of_bytes(const void *, size_t, const char *name);
/* 0 if an fd is one, else -1 with errno. */
int	program_check(int fd);

#endif
