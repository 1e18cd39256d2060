/*
 * A walk through a directory tree that follows no link.
 *
 * It holds what it needs for the way back and nothing else, so its memory
 * goes with the depth and not with the size of the tree, and a bounded number
 * of descriptors.  Whoever moves directories about meanwhile makes it miss or
 * repeat some; it never leaves the tree.
 */
#ifndef MYELIN_TOOL_FIND_WALK_H
#define MYELIN_TOOL_FIND_WALK_H

#include <stddef.h>
#include <stdint.h>

#define WALK_PATH_MAX	65535	/* bytes of a path; what is deeper is passed */
#define WALK_OPEN	16	/* directories open at a time */

struct walk_entry {
	const char	*path;		/* below the directory; no NUL behind */
	size_t		 len;
	const char	*name;		/* its last component, with a NUL */
	unsigned char	 type;		/* DT_..., never DT_UNKNOWN */
	int		 dir;		/* directory that holds it */
};

struct walk {
	/* set by the caller */
	int		 root;		/* a root that the tree is in, O_PATH */
	const char	*below;		/* from there to the tree, "." for it */
	int		 ignored;	/* also what .gitignore excludes, and */
	int		 hidden;	/* hidden entries, but not below */
	int64_t		 depth;		/* levels, 0: all */
	int64_t		 milliseconds;	/* that it may take */
	int		(*visit)(void *, const struct walk_entry *);
	void		*arg;

	/* set by the walk */
	uint64_t	 unread;	/* directories that could not be read */
	int		 late;		/* the time was not enough */
};

/*
 * Walks through the directory dir, which it closes.  visit() is called for
 * each entry, in no order; it returns 0, or -1 to end the walk.  0, or -1
 * after that or when memory is out.
 */
int	walk_tree(struct walk *, int dir);

#endif
