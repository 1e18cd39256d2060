/*
 * Globs, matched in time bounded by pattern times name: no pattern makes the
 * match explode.
 *
 *	*	any characters but /		?	one of them
 *	[a-z]	one of a set, [!a-z] not of it	\c	the character c
 *	**	between slashes (or ends): any number of directories
 *	{a,b}	with GLOB_BRACES: either
 *
 * Characters are those of UTF-8; a byte that is none counts as one.  A set or
 * brace that is not closed stands for itself.
 */
#ifndef MYELIN_TOOL_GLOBS_H
#define MYELIN_TOOL_GLOBS_H

#include <stddef.h>

#define GLOB_BYTES_MAX	4096	/* of a pattern, expanded */
#define GLOB_EITHER_MAX	64	/* patterns that braces expand to */

#define GLOB_BRACES	0x1

struct glob;

/*
 * Compiles a pattern of len bytes; the caller frees it with glob_free().
 * NULL and a reason in static storage if it is over a bound or memory is out.
 */
struct glob *glob_make(const char *pattern, size_t len, unsigned flags,
	    const char **why);
void	glob_free(struct glob *);

/* 1 if all of the name matches. */
int	glob_match(const struct glob *, const char *name, size_t len);

#endif
