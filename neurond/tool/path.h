/*
 * Paths: from an argument to an open file beneath home or workspace.
 *
 * Nothing is ever opened by a string that was looked at before: an open goes
 * from the O_PATH fd of a root by openat2(2) with RESOLVE_BENEATH and
 * RESOLVE_NO_MAGICLINKS, and everything else from the fd that came of it.
 */
#ifndef MYELIN_TOOL_PATH_H
#define MYELIN_TOOL_PATH_H

#include <sys/stat.h>
#include <stddef.h>

struct tool;

#define PATH_ARG_MAX	65536	/* bytes of a path, however it is given */
#define PATH_LINKS_MAX	40	/* symbolic links on the way, as the kernel */

struct path {
	char		*bytes;	/* absolute, without . // and safe .. */
	size_t		 len;
	size_t		 root;	/* index of the root that it begins with */
	const char	*below;	/* the rest, "." for the root itself */
};

/*
 * Takes path or path_base64 from the arguments, or initial where neither is
 * there (NULL: that is an error), cleans it up and puts it into the result.
 * Free with path_free() also after -1.
 */
int	path_arg(struct tool *, const char *initial, struct path *);

/* The same of bytes; into the result only if path_arg() is used. */
int	path_make(struct tool *, const char *bytes, size_t len, struct path *);
void	path_free(struct path *);

/*
 * Opens a path; links that stay inside are followed (O_NOFOLLOW: not a last
 * one).  O_CLOEXEC, O_NOCTTY and O_NONBLOCK are added.  The fd, or -1 after
 * tool_fail(): a link that leaves is TOOL_OUTSIDE and the error has a member
 * target, where it leads, if that could be found out.
 */
int	path_open(struct tool *, const struct path *, int flags);

/* A regular file for reading (anything else is not even opened), its stat. */
int	path_open_file(struct tool *, const struct path *, struct stat *);

/* A directory for reading. */
int	path_open_dir(struct tool *, const struct path *);

/*
 * The directory that holds the path's last component, for reading, and that
 * component in *name (malloc).  Links are followed, also a last one, so the
 * name is no link unless one was made meanwhile: act on it by fd and name
 * alone.  With made, missing directories are made (0777 less umask) and
 * counted there; path_unmake() takes them away again, if they are empty.
 */
int	path_open_parent(struct tool *, const struct path *, unsigned *made,
	    char **name);
void	path_unmake(struct tool *, const struct path *, unsigned made);

/* TOOL_NOT_A_FILE or TOOL_IS_A_DIRECTORY, in words, unless it is regular. */
int	path_check_file(struct tool *, const struct path *, mode_t);

#endif
