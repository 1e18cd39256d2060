/*
 * Paths: from an argument to an open file.
 */
#include <sys/stat.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "limits.h"
#include "path.h"
#include "path_int.h"
#include "tool.h"

#define TRIES_MAX	16	/* of a path that is exchanged meanwhile */

/* ---- cleaning up ---- */

struct clean {
	char		*out;
	size_t		 n;
	size_t		 real;	/* so much of it has no links: from getcwd */
	int		 dotted;	/* a .. was left in: no more folding */
};

static void
clean_up(struct tool *t, struct clean *c)
{
	/*
	 * a/.. is not the directory of a if a is a link.  What stands in a
	 * root's own path or comes from getcwd(2) is none.
	 */
	if (c->dotted || (c->n > c->real && !root_above(t, c->out, c->n))) {
		memcpy(c->out + c->n, "/..", 3);
		c->n += 3;
		c->dotted = 1;
		return;
	}
	while (c->n > 0 && c->out[c->n - 1] != '/')
		c->n--;
	c->n -= c->n > 0;
	if (c->real > c->n)
		c->real = c->n;
}

static void
clean_add(struct tool *t, struct clean *c, const char *p, size_t len)
{
	size_t n;

	for (; len > 0; p += n, len -= n) {
		if (*p == '/') {
			n = 1;
			continue;
		}
		for (n = 1; n < len && p[n] != '/';)
			n++;
		if (n == 1 && p[0] == '.')
			continue;
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			clean_up(t, c);
			continue;
		}
		c->out[c->n++] = '/';
		memcpy(c->out + c->n, p, n);
		c->n += n;
	}
}

int
path_make(struct tool *t, const char *bytes, size_t len, struct path *p)
{
	struct clean c = { .n = 0 };
	size_t ncwd = 0;
	int root;

	memset(p, 0, sizeof(*p));
	if (len == 0)
		return (tool_fail(t, TOOL_BAD_PATH, "the path is empty"));
	if (memchr(bytes, '\0', len) != NULL)
		return (tool_fail(t, TOOL_BAD_PATH,
		    "the path has a NUL in it: %s", result_quote(bytes, len)));
	if (bytes[0] != '/') {
		if (t->cwd == NULL || t->cwd[0] != '/')
			return (tool_fail(t, TOOL_BAD_PATH,
			    "the path is relative, and the working directory "
			    "is gone: %s", result_quote(bytes, len)));
		ncwd = strlen(t->cwd);
	}
	if (len + ncwd + 1 > PATH_ARG_MAX)
		return (tool_fail(t, TOOL_BAD_PATH,
		    "the path has %zu bytes; the limit is %d", len + ncwd + 1,
		    PATH_ARG_MAX - 1));
	/* Each component costs what it has and a slash. */
	if ((c.out = malloc(len + ncwd + 3)) == NULL)
		return (tool_fail(t, TOOL_IO, "out of memory"));
	if (ncwd > 0) {
		clean_add(t, &c, t->cwd, ncwd);
		c.real = c.n;
	}
	clean_add(t, &c, bytes, len);
	if (c.n == 0)
		c.out[c.n++] = '/';
	c.out[c.n] = '\0';
	p->bytes = c.out;
	p->len = c.n;
	if ((root = root_of(t, p->bytes, p->len)) == -1)
		return (tool_fail(t, TOOL_OUTSIDE,
		    "%s is outside of the home and the workspace",
		    result_quote(p->bytes, p->len)));
	p->root = (size_t)root;
	p->below = p->bytes + t->root[root].len;
	p->below = *p->below == '\0' ? "." : p->below + 1;
	return (0);
}

int
path_arg(struct tool *t, const char *initial, struct path *p)
{
	const char *bytes;
	char *freed;
	size_t len;
	int ok;

	memset(p, 0, sizeof(*p));
	if (arg_bytes(t, "path", &bytes, &len, &freed) == -1)
		return (-1);
	if (bytes == NULL && initial == NULL)
		return (tool_fail(t, TOOL_BAD_ARGUMENT,
		    "neither path nor path_base64 is given"));
	if (bytes == NULL) {
		bytes = initial;
		len = strlen(initial);
	}
	ok = path_make(t, bytes, len, p);
	if (p->bytes != NULL)
		result_bytes(t, "path", p->bytes, p->len);
	else
		result_bytes(t, "path", bytes, len);
	free(freed);
	return (ok);
}

void
path_free(struct path *p)
{
	free(p->bytes);
	p->bytes = NULL;
	p->below = NULL;
}

/* ---- opening ---- */

/* -1 after tool_fail().  target: where the path leads, or NULL. */
static int
fail(struct tool *t, const struct path *p, int error, const char *target)
{
	const char *name = result_quote(p->bytes, p->len);
	char what[4200];

	if (error == EXDEV && target != NULL) {
		(void)tool_fail(t, TOOL_OUTSIDE, "%s leads to %s, which is "
		    "outside of the home and the workspace", name,
		    result_quote(target, strlen(target)));
		result_bytes_into(t->error, "target", target, strlen(target));
		return (-1);
	}
	if (error == ELOOP)
		return (tool_fail(t, TOOL_BAD_PATH,
		    "%s goes through more than %d links", name,
		    PATH_LINKS_MAX));
	(void)snprintf(what, sizeof(what), "%s", name);
	return (tool_fail_errno(t, error, what));
}

/*
 * What the kernel did not open, by hand.  *real is the path without links, to
 * be freed, if the fd is not -1.
 */
static int
open_slowly(struct tool *t, const struct path *p, int flags, char **real)
{
	unsigned how = (flags & O_NOFOLLOW) != 0 ? 0 : RESOLVE_FOLLOW_LAST;
	int fd = -1, error = ELOOP, i;

	*real = NULL;
	for (i = 0; i < TRIES_MAX; i++) {
		free(*real);
		if (resolve(t, p->bytes, how, real) == -1) {
			fail(t, p, errno, *real);
			goto failed;
		}
		if ((fd = open_real(t, *real, flags)) != -1)
			return (fd);
		/* A link where there was none when it was resolved. */
		if ((error = errno) != ELOOP)
			break;
	}
	if (error == ELOOP)
		(void)tool_fail(t, TOOL_BUSY, "%s is being exchanged for "
		    "links", result_quote(p->bytes, p->len));
	else
		fail(t, p, error, NULL);
failed:
	free(*real);
	*real = NULL;
	return (-1);
}

int
path_open(struct tool *t, const struct path *p, int flags)
{
	char *real;
	int fd, error;

	error = ENAMETOOLONG;
	if (strlen(p->below) < PATH_BYTES_MAX) {
		fd = open_beneath(t->root[p->root].fd, p->below, flags, 0);
		if (fd != -1)
			return (fd);
		error = errno;
	}
	if (error != EXDEV && error != ELOOP && error != ENAMETOOLONG &&
	    error != EAGAIN)
		return (fail(t, p, error, NULL));
	fd = open_slowly(t, p, flags, &real);
	free(real);
	return (fd);
}

int
path_check_file(struct tool *t, const struct path *p, mode_t mode)
{
	const char *name = result_quote(p->bytes, p->len);

	if (S_ISREG(mode))
		return (0);
	if (S_ISDIR(mode))
		return (tool_fail(t, TOOL_IS_A_DIRECTORY,
		    "%s is a directory", name));
	return (tool_fail(t, TOOL_NOT_A_FILE, "%s is not a regular file but "
	    "a %s", name, S_ISFIFO(mode) ? "FIFO" : S_ISSOCK(mode) ?
	    "socket" : S_ISLNK(mode) ? "link" : "device"));
}

int
path_open_file(struct tool *t, const struct path *p, struct stat *st)
{
	int fd, error;

	/*
	 * Looked at before it is opened: to open a FIFO wakes its writer, to
	 * open a device may do anything.
	 */
	if ((fd = path_open(t, p, O_PATH)) == -1)
		return (-1);
	error = fstat(fd, st) == -1 ? errno : 0;
	(void)close(fd);
	if (error != 0)
		return (fail(t, p, error, NULL));
	if (path_check_file(t, p, st->st_mode) == -1 ||
	    (fd = path_open(t, p, O_RDONLY)) == -1)
		return (-1);
	if (fstat(fd, st) == -1)
		fail(t, p, errno, NULL);
	else if (path_check_file(t, p, st->st_mode) == 0)
		return (fd);
	(void)close(fd);
	return (-1);
}

int
path_open_dir(struct tool *t, const struct path *p)
{
	return (path_open(t, p, O_RDONLY | O_DIRECTORY));
}

/* ---- the directory above ---- */

/* The part of p above its last component, as a path that shares its bytes. */
static int
above(struct tool *t, const struct path *p, struct path *dir)
{
	size_t n = p->len;

	while (n > 0 && p->bytes[n - 1] != '/')
		n--;
	n -= n > 0;
	return (path_make(t, p->bytes, n, dir));
}

static const char *
last_name(const struct path *p)
{
	return (strrchr(p->bytes, '/') + 1);
}

/*
 * Cuts the last component off a path that owns its bytes.  0 once only the
 * root is left, or a ".." that nothing can be made for.
 */
static int
cut_last(struct tool *t, struct path *p)
{
	const char *name = last_name(p);

	if (strcmp(p->below, ".") == 0 || strcmp(name, "..") == 0)
		return (0);
	p->len = (size_t)(name - p->bytes) - 1;
	p->bytes[p->len] = '\0';
	if (p->len == t->root[p->root].len)
		p->below = ".";
	return (1);
}

/* One directory of dir, opened.  -1 with errno. */
static int
make_one(int dir, const char *name, size_t n, unsigned *made)
{
	char one[256];

	if (n >= sizeof(one)) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	memcpy(one, name, n);
	one[n] = '\0';
	if (mkdirat(dir, one, 0777) == 0)
		(*made)++;
	else if (errno != EEXIST)
		return (-1);
	return (openat(dir, one, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC));
}

/* Makes what is missing of dir and opens it.  The fd, or -1 and an error. */
static int
make_missing(struct tool *t, const struct path *dir, unsigned *made)
{
	struct path up;
	const char *name;
	size_t n;
	int fd = -1, next, error;

	if (path_make(t, dir->bytes, dir->len, &up) == -1)
		goto out;
	do {
		if (!cut_last(t, &up)) {
			(void)fail(t, dir, ENOENT, NULL);
			goto out;
		}
		tool_clear(t);
		fd = path_open_dir(t, &up);
	} while (fd == -1 && t->code == TOOL_NOT_FOUND);
	for (name = dir->bytes + up.len; fd != -1 && *name != '\0';
	    name += n) {
		name += *name == '/';
		n = strcspn(name, "/");
		next = make_one(fd, name, n, made);
		error = errno;
		(void)close(fd);
		if ((fd = next) == -1)
			(void)fail(t, dir, error, NULL);
	}
out:
	path_free(&up);
	return (fd);
}

void
path_unmake(struct tool *t, const struct path *p, unsigned made)
{
	struct path dir;
	char *name;
	int fd;

	if (made == 0 || path_make(t, p->bytes, p->len, &dir) == -1)
		return;
	while (made-- > 0 && cut_last(t, &dir) &&
	    (fd = path_open_parent(t, &dir, NULL, &name)) != -1) {
		(void)unlinkat(fd, name, AT_REMOVEDIR);
		(void)close(fd);
		free(name);
	}
	path_free(&dir);
}

/* The last component is a link: the directory and name of where it leads. */
static int
parent_of_target(struct tool *t, const struct path *p, char **name)
{
	char *real, *slash;
	int fd;

	if (resolve(t, p->bytes, RESOLVE_FOLLOW_LAST | RESOLVE_MAY_MISS,
	    &real) == -1) {
		(void)fail(t, p, errno, real);
		free(real);
		return (-1);
	}
	slash = strrchr(real, '/');
	*name = strdup(slash + 1);
	*slash = '\0';
	if (root_of(t, real, strlen(real)) == -1)
		/* The link leads to a root itself, whose parent is not ours. */
		fd = tool_fail(t, TOOL_IS_A_DIRECTORY, "%s is a link to a "
		    "directory", result_quote(p->bytes, p->len));
	else if ((fd = open_real(t, real, O_RDONLY | O_DIRECTORY)) == -1)
		(void)fail(t, p, errno, NULL);
	free(real);
	return (fd);
}

int
path_open_parent(struct tool *t, const struct path *p, unsigned *made,
    char **name)
{
	struct path dir = { .bytes = NULL };
	struct stat st;
	int fd = -1, to;

	*name = NULL;
	if (strcmp(p->below, ".") == 0 || strcmp(last_name(p), "..") == 0)
		return (tool_fail(t, TOOL_IS_A_DIRECTORY,
		    "%s is a directory", result_quote(p->bytes, p->len)));
	if (above(t, p, &dir) == -1)
		goto out;
	fd = path_open_dir(t, &dir);
	if (fd == -1 && made != NULL && t->code == TOOL_NOT_FOUND) {
		tool_clear(t);
		fd = make_missing(t, &dir, made);
	}
	if (fd == -1)
		goto out;
	if (fstatat(fd, last_name(p), &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode)) {
		to = parent_of_target(t, p, name);
		(void)close(fd);
		fd = to;
	} else
		*name = strdup(last_name(p));
	if (fd != -1 && *name == NULL) {
		(void)close(fd);
		fd = tool_fail(t, TOOL_IO, "out of memory");
	}
out:
	path_free(&dir);
	if (fd == -1) {
		free(*name);
		*name = NULL;
	}
	return (fd);
}
