/*
 * Making and removing placeholders, as the workspace's owner.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "placeholder.h"
#include "sys.h"
#include "without.h"

#define ENTRIES_MAX	4096	/* of a record: each is written twice */

static int
open_name(int dir, const char *path, uint64_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		    RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV
	};

	return (sys_openat2(dir, path, &how));
}

int
placeholder_header(int record, struct place_header *h)
{
	if (pread(record, h, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->magic, PLACE_MAGIC, sizeof(PLACE_MAGIC)) != 0 ||
	    h->ngroups > GROUPS_MAX || h->path[0] != '/' ||
	    h->path[sizeof(h->path) - 1] != '\0')
		return (-1);
	return (0);
}

/* ---- making ---- */

struct maker {
	int		 ws;
	int		 record;
	uid_t		 owner;
	const char	**why;
};

static int
refuse(const struct maker *mk, const char *what, const char *path)
{
	static char words[PROTECTED_NAME_MAX + 96];

	snprintf(words, sizeof(words), "%s %s, which is protected", what, path);
	*mk->why = words;
	return (-1);
}

/* By what the kernel says of a component of path. */
static int
refuse_errno(const struct maker *mk, const char *path)
{
	switch (errno) {
	case ELOOP:
		return (refuse(mk, "has a symbolic link at", path));
	case EXDEV:
		return (refuse(mk, "has a mount point at", path));
	case EACCES:
	case EPERM:
		return (refuse(mk, "does not let its owner make", path));
	case ENOSPC:
	case EDQUOT:
		return (refuse(mk, "has no space for", path));
	default:
		return (refuse(mk, "can't hold", path));
	}
}

static int
note(const struct maker *mk, const struct place_entry *e)
{
	return (write(mk->record, e, sizeof(*e)) == sizeof(*e) ? 0 : -1);
}

static int
make_file(int dir, const char *leaf, const char *text)
{
	size_t size = strlen(text);
	int fd;

	fd = openat(dir, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
	    O_CLOEXEC, 0644);
	if (fd != -1 && write(fd, text, size) != (ssize_t)size) {
		close(fd);
		unlinkat(dir, leaf, 0);
		errno = ENOSPC;
		return (-1);
	}
	if (fd != -1)
		close(fd);
	return (fd == -1 ? -1 : 0);
}

/*
 * path below the workspace, whose last component leaf is absent in dir.  Where
 * the owner can't make it, because dir is not his, the neuron can't either.
 */
static int
place(const struct maker *mk, int dir, const char *path, const char *leaf,
    const char *text)
{
	struct place_entry e = { .directory = text == NULL };
	struct stat st;
	int error;

	snprintf(e.path, sizeof(e.path), "%s", path);
	e.size = text == NULL ? 0 : strlen(text);
	if (note(mk, &e) == -1)
		return (refuse(mk, "has no record for", path));
	if ((text == NULL ? mkdirat(dir, leaf, 0755) :
	    make_file(dir, leaf, text)) == -1) {
		error = errno;
		if (error == EEXIST || error == EROFS)
			return (0);
		if ((error == EACCES || error == EPERM) &&
		    fstat(dir, &st) == 0 && st.st_uid != mk->owner)
			return (0);
		errno = error;
		return (refuse_errno(mk, path));
	}
	if (fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return (refuse_errno(mk, path));
	e.inode = st.st_ino;
	if (note(mk, &e) == -1)
		return (refuse(mk, "has no record for", path));
	return (0);
}

/* The leaf of a name, in the directory that holds it. */
static int
make_leaf(const struct maker *mk, int dir, const struct protected_name *name,
    const char *leaf)
{
	struct stat st;

	if (fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = ELOOP;
		return (S_ISLNK(st.st_mode) ? refuse_errno(mk, name->path) : 0);
	}
	if (errno != ENOENT)
		return (refuse_errno(mk, name->path));
	return (place(mk, dir, name->path, leaf, name->text));
}

/*
 * The directory path of a name, made if it is absent, in dir.  Its fd; -1 with
 * errno 0 if there is nothing to protect below; or -1 after refuse().
 */
static int
make_above(const struct maker *mk, int dir, const char *path)
{
	const char *leaf = strrchr(path, '/');
	int fd;

	fd = open_name(mk->ws, path, O_PATH | O_DIRECTORY);
	if (fd == -1 && errno == ENOENT) {
		if (place(mk, dir, path, leaf == NULL ? path : leaf + 1,
		    NULL) == -1) {
			errno = EPERM;
			return (-1);
		}
		fd = open_name(mk->ws, path, O_PATH | O_DIRECTORY);
	}
	/* A file there has nothing below; for ENOENT see place(). */
	if (fd == -1 && (errno == ENOTDIR || errno == ENOENT))
		errno = 0;
	else if (fd == -1) {
		(void)refuse_errno(mk, path);
		errno = EPERM;
	}
	return (fd);
}

static int
make_name(const struct maker *mk, const struct protected_name *name)
{
	char path[PROTECTED_NAME_MAX];
	const char *leaf = name->path, *slash;
	int dir = dup(mk->ws), next, r;

	while (dir != -1 && (slash = strchr(leaf, '/')) != NULL) {
		snprintf(path, sizeof(path), "%.*s", (int)(slash - name->path),
		    name->path);
		next = make_above(mk, dir, path);
		r = errno;
		close(dir);
		if (next == -1)
			return (r == 0 ? 0 : -1);
		dir = next;
		leaf = slash + 1;
	}
	r = dir == -1 ? refuse_errno(mk, name->path) :
	    make_leaf(mk, dir, name, leaf);
	if (dir != -1)
		close(dir);
	return (r);
}

int
placeholder_make(int ws, int record, uid_t owner, const char **why)
{
	const struct maker mk = { ws, record, owner, why };
	struct stat st;
	size_t i;
	int git;

	git = fstatat(ws, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;
	for (i = 0; i < protected_nnames; i++)
		if ((git || !protected_names[i].git) &&
		    make_name(&mk, &protected_names[i]) == -1)
			return (-1);
	return (0);
}

/* ---- removing ---- */

/* An entry that was never finished: the last one of that name counts. */
static int
superseded(const struct place_entry *e, size_t n, size_t i)
{
	size_t j;

	for (j = i + 1; j < n; j++)
		if (strcmp(e[j].path, e[i].path) == 0)
			return (1);
	return (0);
}

/* Only what is still as it was made: an empty directory, the same file. */
static void
clear_entry(int ws, const struct place_header *h, const struct place_entry *e)
{
	char path[PROTECTED_NAME_MAX], *leaf;
	struct stat st;
	int dir = -1;

	snprintf(path, sizeof(path), "%s", e->path);
	if ((leaf = strrchr(path, '/')) != NULL) {
		*leaf++ = '\0';
		dir = open_name(ws, path, O_PATH | O_DIRECTORY);
	} else {
		leaf = path;
		dir = dup(ws);
	}
	if (dir != -1 &&
	    fstatat(dir, leaf, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_uid == h->uid && st.st_dev == h->device &&
	    (e->inode == 0 || st.st_ino == e->inode)) {
		if (e->directory && S_ISDIR(st.st_mode))
			(void)unlinkat(dir, leaf, AT_REMOVEDIR);
		else if (!e->directory && S_ISREG(st.st_mode) &&
		    st.st_nlink == 1 && (uint64_t)st.st_size == e->size)
			(void)unlinkat(dir, leaf, 0);
	}
	if (dir != -1)
		close(dir);
}

int
placeholder_clear(int ws, int record)
{
	static struct place_entry e[ENTRIES_MAX];
	struct place_header h;
	ssize_t got;
	size_t n, i;

	if (placeholder_header(record, &h) == -1) {
		errno = EINVAL;
		return (-1);
	}
	if ((got = pread(record, e, sizeof(e), sizeof(h))) == -1)
		return (-1);
	n = (size_t)got / sizeof(e[0]);
	for (i = n; i-- > 0;) {
		e[i].path[sizeof(e[i].path) - 1] = '\0';
		if (!WITHOUT(placeholder_clear) &&
		    (e[i].inode != 0 || !superseded(e, n, i)))
			clear_entry(ws, &h, &e[i]);
	}
	return (ftruncate(record, sizeof(h)));
}
