/*
 * Following links by hand.
 *
 * RESOLVE_BENEATH refuses each absolute link, also one to the next file, and
 * each step up through a root although it may lead to the other root.  What
 * the kernel refused so is resolved here to a path without links, which is
 * then opened with no link followed: whatever is exchanged meanwhile, no open
 * leaves the roots.
 */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "limits.h"
#include "path.h"
#include "path_int.h"
#include "tool.h"
#include "without.h"

#define RACES_MAX	64	/* openat2(2) gives EAGAIN when renames race */

int
open_beneath(int dir, const char *path, int flags, uint64_t extra)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | extra
	};
	int fd, i;

	if (WITHOUT(tool_beneath))
		how.resolve = 0;
	if ((flags & O_PATH) == 0)
		how.flags |= O_NOCTTY | O_NONBLOCK;
	for (i = 0; i < RACES_MAX; i++) {
		fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
		if (fd != -1 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (fd);
}

static int
begins(const char *path, size_t len, const char *with, size_t n)
{
	return (len >= n && memcmp(path, with, n) == 0 &&
	    (len == n || path[n] == '/' || WITHOUT(tool_prefix)));
}

int
root_of(const struct tool *t, const char *path, size_t len)
{
	size_t i, most = 0;
	int found = -1;

	for (i = 0; i < t->nroots; i++) {
		if (t->root[i].len < most ||
		    !begins(path, len, t->root[i].path, t->root[i].len))
			continue;
		most = t->root[i].len;
		found = (int)i;
	}
	return (found);
}

int
root_above(const struct tool *t, const char *path, size_t len)
{
	size_t i;

	if (len == 0 || (len == 1 && path[0] == '/'))
		return (1);
	for (i = 0; i < t->nroots; i++)
		if (begins(t->root[i].path, t->root[i].len, path, len))
			return (1);
	return (0);
}

int
open_real(struct tool *t, const char *real, int flags)
{
	size_t len = strlen(real), cut;
	int root = root_of(t, real, len), dir, next, saved;
	char piece[PATH_BYTES_MAX];
	const char *rest;

	if (root == -1) {
		errno = EXDEV;
		return (-1);
	}
	dir = t->root[root].fd;
	rest = real + t->root[root].len;
	rest += *rest == '/';
	while (strlen(rest) >= PATH_BYTES_MAX) {
		/* Names have at most 255 bytes, so there is a slash. */
		for (cut = PATH_BYTES_MAX - 1; cut > 0 && rest[cut] != '/';)
			cut--;
		memcpy(piece, rest, cut);
		piece[cut] = '\0';
		errno = ENAMETOOLONG;
		next = cut == 0 ? -1 : open_beneath(dir, piece, O_PATH |
		    O_DIRECTORY, RESOLVE_NO_SYMLINKS);
		saved = errno;
		if (dir != t->root[root].fd)
			close(dir);
		errno = saved;
		if ((dir = next) == -1)
			return (-1);
		rest += cut + 1;
	}
	next = open_beneath(dir, *rest == '\0' ? "." : rest, flags,
	    RESOLVE_NO_SYMLINKS);
	saved = errno;
	if (dir != t->root[root].fd)
		close(dir);
	errno = saved;
	return (next);
}

/* ---- the walk ---- */

struct walk {
	struct tool	*t;
	unsigned	 flags;
	char		*done;		/* without links; "" is the root dir */
	size_t		 ndone;
	char		*rest;		/* still to go */
	char		*buffer;	/* what rest lies in */
	int		 fd;		/* of done; -1 above the roots */
	int		 links;
};

/* -1 with errno. */
static int
stand(struct walk *w)
{
	if (w->fd != -1)
		close(w->fd);
	w->fd = -1;
	w->done[w->ndone] = '\0';
	if (root_of(w->t, w->done, w->ndone) == -1) {
		if (root_above(w->t, w->done, w->ndone))
			return (0);
		errno = EXDEV;
		return (-1);
	}
	w->fd = open_real(w->t, w->done, O_PATH | O_DIRECTORY);
	return (w->fd == -1 ? -1 : 0);
}

static void
append(struct walk *w, const char *name, size_t n)
{
	w->done[w->ndone++] = '/';
	memcpy(w->done + w->ndone, name, n);
	w->ndone += n;
	w->done[w->ndone] = '\0';
}

static int
up(struct walk *w)
{
	while (w->ndone > 0 && w->done[w->ndone - 1] != '/')
		w->ndone--;
	w->ndone -= w->ndone > 0;
	return (stand(w));
}

/* Puts the target of the link at fd before what is still to go. */
static int
follow(struct walk *w, int fd)
{
	char target[PATH_BYTES_MAX], *buffer;
	ssize_t n;
	size_t nrest = strlen(w->rest);

	if (++w->links > PATH_LINKS_MAX) {
		errno = ELOOP;
		return (-1);
	}
	if ((n = readlinkat(fd, "", target, sizeof(target))) == -1)
		return (-1);
	if ((size_t)n >= sizeof(target) || nrest + (size_t)n + 2 >
	    PATH_ARG_MAX) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	if (n == 0) {
		errno = ENOENT;
		return (-1);
	}
	if ((buffer = malloc((size_t)n + nrest + 2)) == NULL)
		return (-1);
	memcpy(buffer, target, (size_t)n);
	buffer[n] = '/';
	memcpy(buffer + n + 1, w->rest, nrest + 1);
	free(w->buffer);
	w->rest = w->buffer = buffer;
	if (target[0] != '/')
		return (0);
	w->ndone = 0;
	return (stand(w));
}

/* One name that is no link of the path so far.  -1 with errno. */
static int
enter(struct walk *w, const char *name, size_t n, int last)
{
	struct stat st;
	char one[256];
	int fd, saved;

	if (n >= sizeof(one)) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	if (w->ndone + n + 2 > PATH_ARG_MAX) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	if (w->fd == -1) {
		append(w, name, n);
		return (stand(w));
	}
	memcpy(one, name, n);
	one[n] = '\0';
	fd = openat(w->fd, one, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 && errno == ENOENT && last &&
	    (w->flags & RESOLVE_MAY_MISS) != 0) {
		append(w, name, n);
		return (0);
	}
	if (fd == -1)
		return (-1);
	if (fstat(fd, &st) == -1)
		goto bad;
	if (S_ISLNK(st.st_mode) && (!last ||
	    (w->flags & RESOLVE_FOLLOW_LAST) != 0)) {
		if (follow(w, fd) == -1)
			goto bad;
		close(fd);
		return (0);
	}
	errno = ENOTDIR;
	if (!last && !S_ISDIR(st.st_mode))
		goto bad;
	append(w, name, n);
	if (!S_ISDIR(st.st_mode)) {
		close(fd);
		return (0);
	}
	close(w->fd);
	w->fd = fd;
	return (0);
bad:
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

static int
step(struct walk *w)
{
	const char *name = w->rest;
	size_t n = strcspn(name, "/");
	int last;

	w->rest += n;
	w->rest += strspn(w->rest, "/");
	last = *w->rest == '\0';
	if (n == 0 || (n == 1 && name[0] == '.'))
		return (0);
	if (n == 2 && name[0] == '.' && name[1] == '.')
		return (up(w));
	return (enter(w, name, n, last));
}

/* Where a path that leaves leads to, as far as it is known: for people. */
static char *
beyond(const struct walk *w)
{
	size_t nrest = strlen(w->rest);
	char *text = malloc(w->ndone + nrest + 2);

	if (text == NULL)
		return (NULL);
	memcpy(text, w->done, w->ndone);
	text[w->ndone] = '/';
	memcpy(text + w->ndone + 1, w->rest, nrest + 1);
	if (nrest == 0 && w->ndone > 0)
		text[w->ndone] = '\0';
	else if (nrest > 0 && text[w->ndone + nrest] == '/')
		text[w->ndone + nrest] = '\0';
	return (text);
}

int
resolve(struct tool *t, const char *path, unsigned flags, char **real)
{
	struct walk w = { .t = t, .flags = flags, .fd = -1 };
	int error = 0;

	*real = NULL;
	w.done = malloc(PATH_ARG_MAX + 1);
	w.rest = w.buffer = strdup(path);
	if (w.done == NULL || w.rest == NULL) {
		error = ENOMEM;
		goto out;
	}
	w.done[0] = '\0';
	while (error == 0 && *w.rest != '\0')
		if (step(&w) == -1)
			error = errno;
	if (error == 0 && root_of(t, w.done, w.ndone) == -1)
		error = EXDEV;
	if (error == 0 || error == EXDEV)
		*real = error == 0 ? strdup(w.done) : beyond(&w);
	if (error == 0 && *real == NULL)
		error = ENOMEM;
out:
	if (w.fd != -1)
		close(w.fd);
	free(w.buffer);
	free(w.done);
	errno = error;
	return (error == 0 ? 0 : -1);
}
