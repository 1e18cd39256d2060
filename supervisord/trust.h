/*
 * Opening what root is about to believe or execute: configuration files, tool
 * declarations, programs.  The open file is judged, never its name.
 */
#ifndef MYELIN_TRUST_H
#define MYELIN_TRUST_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "why.h"

/*
 * Opens a regular file for reading, close-on-exec.  It must belong to root,
 * to the caller, or to the uid "also" ((uid_t)-1: nobody else), and only its
 * owner may write it.  Returns the fd, or -1 after putting words into why.
 */
int	trust_open(const char *path, uid_t also, struct stat *,
	    char why[WHY_MAX]);

/* The same for a directory: 0, or -1 and why.  A sticky one may be shared. */
int	trust_dir(const char *path, uid_t also, char why[WHY_MAX]);

/*
 * Reads a whole file that trust_open() would open, at most max bytes.
 * Returns fresh memory with a NUL behind its *size bytes, or NULL and why.
 */
char	*trust_read(const char *path, uid_t also, size_t max, size_t *size,
	    char why[WHY_MAX]);

#endif
