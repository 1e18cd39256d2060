/*
 * Unpacking an archive into a new directory.
 *
 * Every name is opened beneath the directory and through no link, each file
 * is made and never opened: what is there already is an error.
 */
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unpack.h"

static int
open_beneath(int top, const char *name, uint64_t flags, unsigned mode)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC | O_NOFOLLOW,
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		    RESOLVE_NO_MAGICLINKS
	};

	return ((int)syscall(SYS_openat2, top, name, &how, sizeof(how)));
}

static int
failed(struct unpack *u, const char *name)
{
	u->error = errno;
	(void)snprintf(u->what, sizeof(u->what), "%s", name);
	return (-1);
}

/* The directory that a name stands in; *last is the rest.  -1 with errno. */
static int
open_parent(struct unpack *u, const char *name, const char **last)
{
	char parent[TAR_NAME_MAX];
	const char *slash = strrchr(name, '/');

	*last = slash == NULL ? name : slash + 1;
	if (slash == NULL)
		return (dup(u->top));
	memcpy(parent, name, (size_t)(slash - name));
	parent[slash - name] = '\0';
	return (open_beneath(u->top, parent, O_PATH | O_DIRECTORY, 0));
}

/* It may be there: an archive may name one twice, or first a file in it. */
static int
make_directory(struct unpack *u, const char *name, unsigned mode)
{
	const char *last;
	int parent, r = 0;

	if ((parent = open_parent(u, name, &last)) == -1)
		return (failed(u, name));
	if (mkdirat(parent, last, mode) == -1 && errno != EEXIST)
		r = failed(u, name);
	close(parent);
	return (r);
}

static int
make_parents(struct unpack *u, const char *name)
{
	char path[TAR_NAME_MAX];
	size_t i;

	for (i = 0; name[i] != '\0'; i++) {
		path[i] = name[i];
		path[i + 1] = '\0';
		if (name[i + 1] == '/' &&
		    make_directory(u, path, 0777) == -1)
			return (-1);
	}
	return (0);
}

static int
on_directory(void *arg, const char *name, unsigned mode)
{
	struct unpack *u = arg;

	if (name[0] == '\0')
		return (0);
	/* Ours to write into, or nothing below it can be made. */
	return (make_parents(u, name) == -1 ||
	    make_directory(u, name, mode | 0700) == -1 ? -1 : 0);
}

static int
on_file(void *arg, const char *name, unsigned mode, uint64_t size)
{
	struct unpack *u = arg;

	(void)size;
	if (make_parents(u, name) == -1)
		return (-1);
	u->fd = open_beneath(u->top, name, O_WRONLY | O_CREAT | O_EXCL,
	    mode | 0600);
	return (u->fd == -1 ? failed(u, name) : 0);
}

static int
on_bytes(void *arg, const uint8_t *p, size_t n)
{
	struct unpack *u = arg;
	ssize_t wrote;

	while (n > 0) {
		wrote = write(u->fd, p, n);
		if (wrote == -1 && errno == EINTR)
			continue;
		if (wrote == -1)
			return (failed(u, "writing"));
		p += wrote;
		n -= (size_t)wrote;
	}
	return (0);
}

static int
on_end(void *arg)
{
	struct unpack *u = arg;
	int fd = u->fd;

	u->fd = -1;
	u->files++;
	return (close(fd) == -1 ? failed(u, "writing") : 0);
}

static const struct tar_ops ops = { on_directory, on_file, on_bytes, on_end };

int
unpack_open(struct unpack *u, const char *directory)
{
	memset(u, 0, sizeof(*u));
	u->fd = -1;
	tar_init(&u->tar, &ops, u);
	if (mkdir(directory, 0777) == -1)
		return (-1);
	u->top = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	return (u->top == -1 ? -1 : 0);
}

int
unpack_feed(struct unpack *u, const uint8_t *p, size_t n)
{
	return (tar_feed(&u->tar, p, n));
}

int
unpack_end(struct unpack *u)
{
	return (tar_end(&u->tar));
}

void
unpack_close(struct unpack *u)
{
	if (u->fd != -1)
		close(u->fd);
	close(u->top);
}
