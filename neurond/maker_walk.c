/*
 * The walk to a workspace, as its owner: root can't be led where the owner
 * may not go, and no link, magic link or mount on the way leads elsewhere.
 */
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "maker.h"
#include "sys.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC	0x58465342
#endif

#define RESOLVE		(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |	\
	RESOLVE_NO_MAGICLINKS)

static const struct {
	long		 magic;
	const char	*name;
} filesystems[] = {
	{ EXT4_SUPER_MAGIC,	"ext4" },
	{ XFS_SUPER_MAGIC,	"xfs" },
	{ BTRFS_SUPER_MAGIC,	"btrfs" },
	{ TMPFS_MAGIC,		"tmpfs" }	/* if the idmap works: 6.3 */
};

int
walk_gid_map(char *out, size_t size, gid_t gid, uint32_t kuid)
{
	const uint32_t end = PARKED_COUNT, start = PARKED_START;
	int n;

	if (gid >= end)
		n = snprintf(out, size, "%u %u 1\n0 %u %u\n", gid, kuid,
		    start, end);
	else if (gid == 0)
		n = snprintf(out, size, "0 %u 1\n1 %u %u\n", kuid, start + 1,
		    end - 1);
	else if (gid == end - 1)
		n = snprintf(out, size, "0 %u %u\n%u %u 1\n", start, gid,
		    gid, kuid);
	else
		n = snprintf(out, size, "0 %u %u\n%u %u 1\n%u %u %u\n", start,
		    gid, gid, kuid, gid + 1, start + gid + 1, end - gid - 1);
	return (n < 0 || (size_t)n >= size ? -1 : 0);
}

int
walk_map(const struct walk *w, const char **step)
{
	char uids[48], gids[160];

	/* Other uids stay unmapped: what is root's can't be touched. */
	snprintf(uids, sizeof(uids), "%u %u 1", w->uid, w->kuid);
	if (walk_gid_map(gids, sizeof(gids), w->gid, w->kuid) == -1) {
		errno = EINVAL;
		return (-1);
	}
	return (userns_make(uids, gids, NULL, step));
}

int
walk_become(const struct walk *w)
{
	if (setgroups(w->ngroups, w->groups) == -1 ||
	    setresgid(w->gid, w->gid, w->gid) == -1 ||
	    setresuid(w->uid, w->uid, w->uid) == -1)
		return (-1);
	if (setresuid(0, 0, 0) != -1) {
		errno = EPERM;
		return (-1);
	}
	/* The change of ids cleared it. */
	return (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
}

static int
open_beneath(int dir, const char *path, uint64_t extra)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE | extra
	};

	return (sys_openat2(dir, path, &how));
}

/*
 * The longest prefix of path, by whole components and shorter than path, that
 * is a mount point; its length, 0 for none.
 */
static size_t
mount_prefix(const char *path)
{
	char *line = NULL, point[PATH_BYTES_MAX];
	size_t size = 0, len, best = 0;
	FILE *f;

	if ((f = fopen("/proc/self/mountinfo", "re")) == NULL)
		return (0);
	while (getline(&line, &size, f) != -1) {
		if (sscanf(line, "%*s %*s %*s %*s %4095s", point) != 1)
			continue;
		len = strlen(point);
		if (len > best && len < strlen(path) && path[len] == '/' &&
		    strncmp(path, point, len) == 0)
			best = len;
	}
	free(line);
	fclose(f);
	return (best);
}

/* path is absolute and clean, neurond has seen to that. */
int
walk_open(const char *path)
{
	char prefix[PATH_BYTES_MAX];
	int root, at, fd;
	size_t n;

	if ((root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return (-1);
	fd = open_beneath(root, path + 1, RESOLVE_NO_XDEV);
	if (fd != -1 || errno != EXDEV)
		return (fd);
	/* /home may be a filesystem of its own: from its root, no further. */
	if ((n = mount_prefix(path)) == 0) {
		errno = EXDEV;
		return (-1);
	}
	memcpy(prefix, path, n);
	prefix[n] = '\0';
	if ((at = open_beneath(root, prefix + 1, 0)) == -1)
		return (-1);
	return (open_beneath(at, path + n + 1, RESOLVE_NO_XDEV));
}

static const char *
walk_words(int error)
{
	switch (error) {
	case ELOOP:
		return ("has a symbolic link in its path");
	case EXDEV:
		return ("is a mount point");
	case ENOENT:
		return ("does not exist");
	case ENOTDIR:
		return ("is not a directory");
	case EACCES:
		return ("can't be reached by its owner");
	default:
		return ("can't be opened");
	}
}

/* NULL if the directory may be a workspace of the owner. */
static const char *
unfit(int fd, const struct walk *w)
{
	static char words[128];
	struct statfs fs;
	struct stat st;
	size_t i;

	if (fstat(fd, &st) == -1 || fstatfs(fd, &fs) == -1)
		return ("can't be examined");
	if (!S_ISDIR(st.st_mode))
		return ("is not a directory");
	if (st.st_uid != w->uid) {
		snprintf(words, sizeof(words),
		    "belongs to uid %u, not to its owner, uid %u", st.st_uid,
		    w->uid);
		return (words);
	}
	for (i = 0; i < sizeof(filesystems) / sizeof(filesystems[0]); i++)
		if ((long)fs.f_type == filesystems[i].magic)
			return (NULL);
	snprintf(words, sizeof(words),
	    "is on a filesystem of type 0x%lx; ext4, xfs and btrfs can be "
	    "mapped to their owner", (unsigned long)fs.f_type);
	return (words);
}

static struct imsg *
answer(const struct walk *w, int error, const char *why)
{
	return (maker_reply(MSG_WALKED, w->slot, w->generation, error, why));
}

/* The answer; *dir is -1 if it is none that neurond can use. */
static struct imsg *
walk(const struct walk *w, int *dir)
{
	const char *step = "becoming the owner", *why;
	struct imsg *m;
	int ns = -1, fd;

	*dir = -1;
	if ((!w->mapped && (ns = walk_map(w, &step)) == -1) ||
	    walk_become(w) == -1)
		return (answer(w, errno, step));
	FAULT("worker.owner");
	fd = walk_open(w->path);
	why = fd == -1 ? walk_words(errno) : unfit(fd, w);
	if (why != NULL)
		return (answer(w, WALK_REFUSED, why));
	FAULT("worker.walked");
	m = answer(w, 0, "");
	if (w->ticket != 0)
		*dir = dup(fd);
	imsg_put_fd(m, fd);
	if (!w->mapped)
		imsg_put_fd(m, ns);
	return (m);
}

_Noreturn void
maker_walk(const struct walk *w)
{
	struct imsg *m;
	int dir;

	m = walk(w, &dir);
	if (w->ticket == 0)
		maker_answer(m);
	if (maker_say(m) == -1)
		_exit(1);
	maker_place_walked(w, dir);
}
