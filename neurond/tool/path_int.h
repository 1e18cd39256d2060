/*
 * What path.c and resolve.c share.
 */
#ifndef MYELIN_TOOL_PATH_INT_H
#define MYELIN_TOOL_PATH_INT_H

#include <stddef.h>
#include <stdint.h>

struct tool;

/* openat2(2) with the flags that every open here has, and resolve beside
 * BENEATH and NO_MAGICLINKS.  The fd, or -1 with errno. */
int	open_beneath(int dir, const char *path, int flags, uint64_t resolve);

/* The root that the clean path lies in, the deepest one; -1 if none. */
int	root_of(const struct tool *, const char *path, size_t len);

/* 1 if the clean path is a root, or a directory above one. */
int	root_above(const struct tool *, const char *path, size_t len);

#define RESOLVE_FOLLOW_LAST	0x1
#define RESOLVE_MAY_MISS	0x2	/* the last component */

/*
 * Follows the links of a clean path by hand and gives the path without them
 * (malloc).  0; or -1 with errno, EXDEV if it leads out of the roots: *real
 * is then where to, or NULL.
 */
int	resolve(struct tool *, const char *path, unsigned flags, char **real);

/*
 * Opens what resolve() gave: no link on the way is followed any more, so ELOOP
 * says that somebody made one since.  Longer paths than PATH_MAX are opened
 * piece by piece.  The fd, or -1 with errno.
 */
int	open_real(struct tool *, const char *real, int flags);

#endif
