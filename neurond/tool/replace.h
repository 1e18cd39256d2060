/*
 * Replacing a file as a whole: readers see the old content or the new, and a
 * failure leaves the old one.  Writers of one directory take turns (flock(2)
 * on the directory), so that between the look at the old content and the
 * rename no other body comes in.
 */
#ifndef MYELIN_TOOL_REPLACE_H
#define MYELIN_TOOL_REPLACE_H

#include <sys/stat.h>
#include <stddef.h>

#include "path.h"

struct tool;

#define REPLACE_PARENTS	0x1	/* make missing directories */
#define REPLACE_OLD	0x2	/* the file has to be there */
#define REPLACE_READ	0x4	/* old_fd is wanted */
#define REPLACE_LATER	0x8	/* not locked yet: replace_lock() follows */

struct replace {
	unsigned	 flags;
	int		 dir;
	char		*name;
	int		 exists;	/* there is a file to replace */
	struct stat	 old;		/* its stat */
	int		 old_fd;	/* for reading, else -1 */
	int		 fd;		/* write the new content here */
	char		 temporary[32];	/* "" while it has no name */
	unsigned	 made;		/* directories */
	int		 absent;	/* nothing may be replaced */
	mode_t		 mode;		/* after replace_commit() */
};

/*
 * Opens and locks the directory, looks at the file (a regular one or none)
 * and makes a temporary file.  TOOL_BUSY when the lock can't be had in time.
 * After 0 end with replace_end() or replace_undo(), after -1 nothing is left.
 */
int	replace_begin(struct tool *, const struct path *, unsigned flags,
	    struct replace *);

/* The same in a directory that the caller has opened and gives away. */
int	replace_begin_at(struct tool *, const struct path *, int dir,
	    const char *name, unsigned flags, struct replace *);

/*
 * With REPLACE_LATER, once the content is there (it may have come slowly):
 * locks the directory and looks at the file again.
 */
int	replace_lock(struct tool *, const struct path *, struct replace *);

/*
 * Compares expect ("absent", or 64 hexadecimal digits; NULL: anything will
 * do) with what is there.  Needs REPLACE_READ.
 */
int	replace_expect(struct tool *, const struct path *, struct replace *,
	    const char *expect);

/*
 * Gives the new file mode and owner of the old one (or mode less umask) and
 * renames it into place.
 */
int	replace_commit(struct tool *, const struct path *, struct replace *,
	    mode_t mode);

/*
 * Closes everything.  What was not committed is gone, with replace_undo() also
 * the directories that were made for it; the error stays.
 */
void	replace_end(struct replace *);
void	replace_undo(struct tool *, const struct path *, struct replace *);

#endif
