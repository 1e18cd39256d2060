/*
 * The names of a directory in order, however many there are: piece by piece,
 * the smallest first, in bounded memory.
 */
#ifndef MYELIN_TOOL_NAMES_H
#define MYELIN_TOOL_NAMES_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_BYTES_MAX	(16 * 1024 * 1024)	/* of one piece */

struct name {
	unsigned char	 type;		/* DT_..., maybe DT_UNKNOWN */
	char		 text[];
};

struct names {
	struct name	**v;		/* sorted bytewise */
	size_t		 n;
	size_t		 bytes;
	uint64_t	 seen;		/* names of the whole directory */
	int		 more;		/* some follow the last one here */
};

/* 1 if a name is wanted. */
typedef int names_filter(const char *name);

/*
 * The (at most) most names that follow after ("" for the first ones), fewer if
 * they would need more than NAMES_BYTES_MAX.  Reads the whole directory.
 * filter: NULL for all but . and ..; 0, or -1 with errno.  Free with
 * names_free() in any case.
 */
int	names_next(DIR *, const char *after, size_t most, names_filter *,
	    struct names *);
void	names_free(struct names *);

/* A stream of an fd, which is closed if that fails. */
DIR	*names_open(int fd);

#endif
