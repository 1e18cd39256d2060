/*
 * What the parts of "backup" and "restore" share.
 */
#ifndef MYELINCTL_BACKUP_H
#define MYELINCTL_BACKUP_H

#define DIR_FLAGS	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/*
 * Runs tar(1), with fd as its descriptor `to`: its exit status; 127 if it
 * can't be run.
 */
int	tar(const char *const *argv, int fd, int to);

/* How many homes are in a backup, and how many are not. */
struct homes {
	unsigned	 copied;
	unsigned	 live;
};

/*
 * Appends to the archive out, which is a file, the homes that nobody uses,
 * each locked while it is copied; those in use are named.  0, or -1 after
 * complaining.
 */
int	backup_homes(const char *state, int out, struct homes *);

/*
 * Moves to `to`, a state, the homes of `from`, another one beside it, that it
 * does not have.  0, or -1 after complaining.
 */
int	restore_homes(const char *from, const char *to);

#endif
