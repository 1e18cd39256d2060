/*
 * A root of its own: the template's mounts move into it, or an image takes
 * their place, and what the profile names is mounted there.
 *
 * An image is the lower layer of an overlay.  What it needs to be a neuron's
 * root lies above: mount points, and the few files of /etc that speak of the
 * neuron's only user.  So nothing depends on what the image has or lacks, and
 * nothing is ever written to it.
 */
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../sys.h"
#include "build_int.h"
#include "inside.h"
#include "layers.h"
#include "without.h"

#define IMAGE		NEW_ROOT "/image"	/* the lower layer */
#define OURS		NEW_ROOT "/ours"	/* the upper one */
#define WORK		NEW_ROOT "/work"	/* overlayfs's own */

int
root_is_own(const struct build_request *req)
{
	return (req->tree != -1 || req->root != -1 || req->nmounts > 0);
}

int
root_point(int root, const char *path)
{
	char name[NAME_MAX + 1];
	const char *end;
	int dir = dup(root), next;

	while (dir != -1 && *path != '\0') {
		path += strspn(path, "/");
		end = strchrnul(path, '/');
		if ((size_t)(end - path) >= sizeof(name)) {
			close(dir);
			errno = ENAMETOOLONG;
			return (-1);
		}
		memcpy(name, path, (size_t)(end - path));
		name[end - path] = '\0';
		if (mkdirat(dir, name, WITHOUT(mount_points) ? 0777 : 0755) ==
		    -1 && errno != EEXIST) {
			close(dir);
			return (-1);
		}
		next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
		close(dir);
		dir = next;
		path = end;
	}
	return (dir);
}

/* ---- of the template's mounts ---- */

/* They move over; the template's plain entries are made again. */
static int
from_template(struct builder *b)
{
	const struct inside_row *row;
	char from[64], target[64];
	ssize_t n;
	size_t i;

	if (mount("tmpfs", NEW_ROOT, "tmpfs", SAFE,
	    "mode=0755,size=1m,nr_inodes=1024") == -1)
		return (-1);
	b->prefix = NEW_ROOT;
	for (i = 0; i < inside_nrows; i++) {
		row = &inside_rows[i];
		/* What lies in a mount comes with it. */
		if (strncmp(row->path, "dev/", 4) == 0 ||
		    strncmp(row->path, "etc", 3) == 0)
			continue;
		snprintf(from, sizeof(from), "/%s", row->path);
		if (row->kind == IN_DIR || row->kind == IN_MOUNT) {
			if (mkdir(build_at(b, from), 0755) == -1)
				return (-1);
		} else if (row->kind == IN_LINK || row->kind == IN_HOST_LINK) {
			n = readlink(from, target, sizeof(target) - 1);
			if (n == -1)
				continue;
			target[n] = '\0';
			if (symlink(target, build_at(b, from)) == -1)
				return (-1);
		}
	}
	if (mkdir(build_at(b, "/etc"), 0755) == -1 ||
	    mount("/usr", build_at(b, "/usr"), NULL, MS_MOVE, NULL) == -1 ||
	    mount("/etc", build_at(b, "/etc"), NULL, MS_MOVE, NULL) == -1 ||
	    mount("/dev", build_at(b, "/dev"), NULL, MS_MOVE, NULL) == -1)
		return (-1);
	return (0);
}

/* ---- of an image ---- */

static int
write_file(int dir, const struct inside_row *row)
{
	size_t size = strlen(row->text);
	ssize_t n;
	int fd;

	fd = openat(dir, row->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0644);
	if (fd == -1)
		return (-1);
	n = write(fd, row->text, size);
	close(fd);
	return (n == (ssize_t)size ? 0 : -1);
}

/* One row of what every neuron has; the rest of /etc is the image's. */
static int
lay_row(int ours, const struct inside_row *row)
{
	int in_etc = strncmp(row->path, "etc/", 4) == 0;

	if (strncmp(row->path, "dev/", 4) == 0 ||
	    strcmp(row->path, "usr") == 0)
		return (0);
	switch (row->kind) {
	case IN_FILE:
		return (write_file(ours, row));
	case IN_LINK:
		return (symlinkat(row->text, ours, row->path));
	case IN_DIR:
	case IN_MOUNT:
		return (in_etc ? 0 : mkdirat(ours, row->path, 0755));
	default:
		return (0);
	}
}

static int
lay_points(int ours, const struct build_request *req)
{
	int i, point;

	for (i = -1; i < req->nmounts; i++) {
		if (i == -1 && req->tree == -1)
			continue;
		point = root_point(ours, i == -1 ? req->workspace :
		    req->mount_at[i]);
		if (point == -1)
			return (-1);
		close(point);
	}
	return (0);
}

static int
lay_ours(const struct build_request *req)
{
	/* What the neuron may change belongs to it, as the image's does. */
	static const char *const own[] = { "", "/etc", "/home", "/var" };
	char path[64];
	size_t i;
	int ours, r = 0;

	ours = open(OURS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ours == -1)
		return (-1);
	for (i = 0; r == 0 && i < inside_nrows; i++)
		r = lay_row(ours, &inside_rows[i]);
	if (r == 0)
		r = lay_points(ours, req);
	close(ours);
	for (i = 0; r == 0 && req->overlay && i < sizeof(own) /
	    sizeof(own[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", OURS, own[i]);
		r = chown(path, req->kuid, req->kuid);
	}
	/* Empty, whatever the image has there. */
	if (r == 0)
		r = setxattr(OURS "/run", "trusted.overlay.opaque", "y", 1, 0);
	return (r);
}

static int
scratch(const struct build_request *req)
{
	char options[128];

	if (req->overlay)
		snprintf(options, sizeof(options),
		    "mode=0755,size=%llu,nr_inodes=%llu",
		    WITHOUT(tmpfs_bounds) ? 0ULL :
		    (unsigned long long)req->tmp_bytes,
		    WITHOUT(tmpfs_bounds) ? 0ULL :
		    (unsigned long long)req->inodes);
	else
		snprintf(options, sizeof(options),
		    "mode=0755,size=1m,nr_inodes=1024");
	if (mount("tmpfs", NEW_ROOT, "tmpfs", SAFE, options) == -1 ||
	    mkdir(IMAGE, 0700) == -1 || mkdir(OURS, 0755) == -1 ||
	    mkdir(WORK, 0700) == -1)
		return (-1);
	return (move_mount(req->root, "", AT_FDCWD, IMAGE,
	    MOVE_MOUNT_F_EMPTY_PATH));
}

static int
from_image(struct builder *b)
{
	static const char read_only[] = "lowerdir=" OURS ":" IMAGE;
	static const char changing[] = "lowerdir=" IMAGE ",upperdir=" OURS
	    ",workdir=" WORK;
	const struct build_request *req = b->req;
	int keeps = req->overlay || WITHOUT(read_only_root);

	if (scratch(req) == -1 || lay_ours(req) == -1 ||
	    mount("overlay", NEW_ROOT, "overlay", SAFE | (keeps ? 0 :
	    MS_RDONLY), keeps ? changing : read_only) == -1)
		return (-1);
	b->prefix = NEW_ROOT;
	b->layers |= LAYER_BIT(OVERLAY);
	if (mount("/dev", build_at(b, "/dev"), NULL, MS_MOVE, NULL) == -1)
		return (-1);
	/* Of the template's mounts nothing else is left then. */
	plan_only(&b->native->plan, "/dev");
	return (plan_add(&b->native->plan, "/", "overlay", SAFE_FLAGS |
	    (keeps ? 0 : IN_RO)));
}

int
root_make(struct builder *b)
{
	if (!root_is_own(b->req))
		return (0);
	return (b->req->root != -1 ? from_image(b) : from_template(b));
}

/* ---- what the profile names ---- */

int
root_mounts(struct builder *b)
{
	const struct build_request *req = b->req;
	int root, point, i, r = 0;

	if (req->nmounts == 0)
		return (0);
	root = open(NEW_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; r == 0 && i < req->nmounts; i++) {
		point = root == -1 ? -1 : root_point(root, req->mount_at[i]);
		r = point == -1 ? -1 : move_mount(req->mounts[i], "", point,
		    "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
		if (r == 0)
			r = plan_add(&b->native->plan, req->mount_at[i], NULL,
			    SAFE_FLAGS | (WITHOUT(shown_read_only) ? 0 :
			    IN_RO));
		if (point != -1)
			close(point);
	}
	if (root != -1)
		close(root);
	return (r);
}

int
root_read_only(struct builder *b)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	/* One that it may change is in memory, and gone with it. */
	b->layers |= LAYER_BIT(ROOT);
	if (!root_is_own(b->req) || b->req->overlay ||
	    WITHOUT(read_only_root))
		return (0);	/* the template's is */
	return (mount_setattr(AT_FDCWD, NEW_ROOT, 0, &attr, sizeof(attr)));
}
