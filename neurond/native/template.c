/*
 * Building the template mount namespace from the table of inside.c.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../sys.h"
#include "inside.h"
#include "template.h"
#include "without.h"

/* Bounds on what is copied from the host's /etc. */
#define COPY_BYTES	(1024 * 1024)
#define COPY_ENTRIES	256
#define COPY_DEPTH	4

/* Where the new root is put together; any directory of the host serves. */
#define WORK		"/tmp"

static int
set_flags(int tree, unsigned flags)
{
	struct mount_attr attr = { .propagation = MS_PRIVATE };

	flags &= ~(unsigned)(WITHOUT(read_only_root) ? IN_RO : 0);
	flags &= ~(unsigned)(WITHOUT(nosuid) ? IN_NOSUID : 0);
	attr.attr_set = (flags & IN_RO ? MOUNT_ATTR_RDONLY : 0) |
	    (flags & IN_NOSUID ? MOUNT_ATTR_NOSUID : 0) |
	    (flags & IN_NODEV ? MOUNT_ATTR_NODEV : 0) |
	    (flags & IN_NOEXEC ? MOUNT_ATTR_NOEXEC : 0);
	return (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)));
}

static int
new_tmpfs(const char *size, const char *inodes)
{
	int fs, tree = -1;

	if ((fs = fsopen("tmpfs", FSOPEN_CLOEXEC)) == -1)
		return (-1);
	if (fsconfig(fs, FSCONFIG_SET_STRING, "mode", "0755", 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "size", size, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) == 0 &&
	    fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		tree = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	close(fs);
	return (tree);
}

/* ---- copies of the host's small files ---- */

static int	copy_at(int, const char *, int, const char *, int, int *);

static int
copy_file(int from, int dir, const char *name)
{
	char buf[16384];
	off_t left = COPY_BYTES;
	ssize_t n;
	int to;

	to = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (to == -1)
		return (-1);
	while ((n = read(from, buf, sizeof(buf))) > 0 && left > 0) {
		left -= n;
		if (write(to, buf, (size_t)n) != n)
			break;
	}
	close(to);
	if (n != 0 && left <= 0)
		errno = EFBIG;
	return (n == 0 ? 0 : -1);
}

static int
copy_dir(int from, int dir, const char *name, int depth, int *entries)
{
	struct dirent *d;
	DIR *list;
	int to = -1, failed = 0;

	if ((list = fdopendir(dup(from))) == NULL)
		return (-1);
	if (mkdirat(dir, name, 0755) == -1 || (to = openat(dir, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) == -1)
		failed = 1;
	while (!failed && (d = readdir(list)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			failed = copy_at(from, d->d_name, to, d->d_name,
			    depth + 1, entries) == -1;
	closedir(list);
	if (to != -1)
		close(to);
	return (failed ? -1 : 0);
}

static int
copy_link(int from_dir, const char *from, int dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n;

	n = readlinkat(from_dir, from, target, sizeof(target) - 1);
	if (n == -1)
		return (-1);
	target[n] = '\0';
	return (symlinkat(target, dir, name));
}

/* A file, a link or a directory; whatever else is there is left out. */
static int
copy_at(int from_dir, const char *from, int dir, const char *name, int depth,
    int *entries)
{
	struct stat st;
	int fd, r = 0;

	if (depth > COPY_DEPTH || ++*entries > COPY_ENTRIES) {
		errno = E2BIG;
		return (-1);
	}
	if (fstatat(from_dir, from, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return (-1);
	if (S_ISLNK(st.st_mode))
		return (copy_link(from_dir, from, dir, name));
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return (0);
	/* What the host keeps from others stays out of a neuron too. */
	if ((st.st_mode & S_IROTH) == 0)
		return (0);
	fd = openat(from_dir, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_CLOEXEC);
	if (fd == -1)
		return (-1);
	if (S_ISREG(st.st_mode))
		r = copy_file(fd, dir, name);
	else
		r = copy_dir(fd, dir, name, depth, entries);
	close(fd);
	return (r);
}

/* ---- one function a kind of row ---- */

struct build {
	int		 root;		/* the new root */
	int		 host;		/* the host's */
	struct plan	*plan;
};

static int
make_dir(struct build *b, const struct inside_row *row)
{
	return (mkdirat(b->root, row->path, 0755));
}

static int
make_mount(struct build *b, const struct inside_row *row)
{
	int tree, r;

	if (row->flags & IN_BIND)
		tree = open_tree(b->host, row->text + 1, OPEN_TREE_CLONE |
		    OPEN_TREE_CLOEXEC);
	else
		tree = new_tmpfs("16m", "4096");
	if (tree == -1)
		return (-1);
	/* A tmpfs is made read-only at the end, when it has its files. */
	r = set_flags(tree, row->flags & IN_BIND ? row->flags :
	    row->flags & ~(unsigned)IN_RO);
	if (r == 0)
		r = mkdirat(b->root, row->path, 0755);
	if (r == 0)
		r = move_mount(tree, "", b->root, row->path,
		    MOVE_MOUNT_F_EMPTY_PATH);
	close(tree);
	return (r);
}

static int
make_link(struct build *b, const struct inside_row *row)
{
	return (symlinkat(row->text, b->root, row->path));
}

static int
make_file(struct build *b, const struct inside_row *row)
{
	size_t size = strlen(row->text);
	ssize_t n;
	int fd;

	fd = openat(b->root, row->path, O_WRONLY | O_CREAT | O_EXCL |
	    O_CLOEXEC, 0644);
	if (fd == -1)
		return (-1);
	n = write(fd, row->text, size);
	close(fd);
	return (n == (ssize_t)size ? 0 : -1);
}

static int
make_node(struct build *b, const struct inside_row *row)
{
	unsigned major, minor;

	if (sscanf(row->text, "%u:%u", &major, &minor) != 2) {
		errno = EINVAL;
		return (-1);
	}
	return (mknodat(b->root, row->path, S_IFCHR | 0666,
	    makedev(major, minor)));
}

static int
make_host_link(struct build *b, const struct inside_row *row)
{
	struct stat st;

	if (fstatat(b->host, row->path, &st, AT_SYMLINK_NOFOLLOW) == -1)
		return (-1);
	/* Debian has merged /usr since 12: a directory here is another host. */
	if (!S_ISLNK(st.st_mode)) {
		errno = EISDIR;
		return (-1);
	}
	return (copy_link(b->host, row->path, b->root, row->path));
}

static int
make_host_copy(struct build *b, const struct inside_row *row)
{
	int entries = 0;

	return (copy_at(b->host, row->path, b->root, row->path, 0, &entries));
}

static int
make_host_copies(struct build *b, const struct inside_row *row)
{
	struct dirent *d;
	DIR *list;
	int from, to, entries = 0, r = 0;

	from = openat(b->host, row->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (from == -1 || (list = fdopendir(from)) == NULL)
		return (-1);
	to = openat(b->root, row->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (r == 0 && (d = readdir(list)) != NULL)
		if (strncmp(d->d_name, row->text, strlen(row->text)) == 0)
			r = copy_at(dirfd(list), d->d_name, to, d->d_name, 0,
			    &entries);
	closedir(list);
	close(to);
	return (r);
}

static int (*const makers[])(struct build *, const struct inside_row *) = {
	[IN_DIR] = make_dir,
	[IN_MOUNT] = make_mount,
	[IN_LINK] = make_link,
	[IN_FILE] = make_file,
	[IN_NODE] = make_node,
	[IN_HOST_LINK] = make_host_link,
	[IN_HOST_COPY] = make_host_copy,
	[IN_HOST_COPIES] = make_host_copies
};

/* ---- the whole ---- */

static char paths[PLAN_MAX][64];

static int
plan_row(struct plan *plan, const struct inside_row *row)
{
	snprintf(paths[plan->n], sizeof(paths[0]), "/%s", row->path);
	return (plan_add(plan, paths[plan->n],
	    row->flags & IN_BIND ? NULL : "tmpfs", row->flags));
}

static int
fill(struct build *b, const char **step)
{
	const struct inside_row *row;
	size_t i;

	for (i = 0; i < inside_nrows; i++) {
		row = &inside_rows[i];
		if (makers[row->kind](b, row) == -1) {
			if ((row->flags & IN_OPTIONAL) && errno == ENOENT)
				continue;
			*step = row->path;
			return (-1);
		}
		if (row->kind == IN_MOUNT && plan_row(b->plan, row) == -1)
			return (-1);
	}
	return (0);
}

static int
read_only(const char **step)
{
	const struct inside_row *row;
	char path[64];
	size_t i;
	int fd, r;

	for (i = 0; i < inside_nrows; i++) {
		row = &inside_rows[i];
		if (row->kind != IN_MOUNT || (row->flags & IN_BIND))
			continue;
		*step = row->path;
		snprintf(path, sizeof(path), "/%s", row->path);
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = fd == -1 ? -1 : set_flags(fd, row->flags);
		close(fd);
		if (r == -1)
			return (-1);
	}
	*step = "dev/pts";
	if (WITHOUT(own_terminals) && mount("devpts", "/dev/pts", "devpts",
	    MS_NOSUID | MS_NOEXEC, "ptmxmode=0666") == -1)
		return (-1);
	*step = "/";
	if ((fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	r = set_flags(fd, IN_RO | IN_NOSUID | IN_NODEV);
	close(fd);
	return (r);
}

int
template_build(struct plan *plan, const char **step)
{
	struct build b = { .plan = plan, .root = -1, .host = -1 };

	*step = "a mount namespace";
	if (unshare(CLONE_NEWNS) == -1 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1)
		return (-1);
	umask(0);
	b.host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	*step = "a root directory";
	if (b.host == -1 || (b.root = new_tmpfs("1m", "256")) == -1 ||
	    move_mount(b.root, "", AT_FDCWD, WORK,
	    MOVE_MOUNT_F_EMPTY_PATH) == -1 ||
	    plan_add(plan, "/", "tmpfs", IN_RO | IN_NOSUID | IN_NODEV) == -1)
		return (-1);
	if (fill(&b, step) == -1)
		return (-1);
	close(b.host);
	*step = "pivot_root";
	if (fchdir(b.root) == -1 || syscall(SYS_pivot_root, ".", ".") == -1 ||
	    (!WITHOUT(old_root) && umount2(".", MNT_DETACH) == -1) ||
	    chdir("/") == -1)
		return (-1);
	close(b.root);
	umask(077);
	return (read_only(step));
}
